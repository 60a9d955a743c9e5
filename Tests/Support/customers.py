# SPDX-License-Identifier: Apache-2.0
"""Shops whose customers have lived: purchases of more than a year, told in another order than they happened, to a backend that
takes what it is told until it is told to refuse."""

import http.server
import json
import random
import threading
import time
import uuid

import samples
from independent import jws
from shops import CUSTOMER, Shops

DAY = 86_400_000
MONTHLY, YEARLY, GEMS = (f"com.example.app.{name}" for name in ("monthly", "yearly", "gems"))
# The first transaction of the customer's subscription, and the first of the gems that they bought.
SUBSCRIPTION, FIRST_GEMS = 2000000000001000, 2000000000009000


class Backend(http.server.ThreadingHTTPServer):
    """Takes webhooks, or refuses them."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response_only(500 if self.server.refuses else 204)
            self.end_headers()

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.refuses = False
        self.daemon_threads = True
        threading.Thread(target=self.serve_forever, daemon=True).start()


class CustomerShops(Shops):
    """Its app `shop` has the named entitlements `premium` and `gems`."""

    def __init__(self, folder, store):
        self.backend = Backend()
        self.now = int(time.time() * 1000)
        super().__init__(folder, store)

    def configure(self, change) -> None:
        def all_of_it(configuration: dict):
            change(configuration)
            shop = configuration["app"]["shop"]
            shop["webhook"]["backend"]["url"] = f"http://127.0.0.1:{self.backend.server_port}/changes"
            shop["entitlements"] = ["premium", "gems"]
            shop["entitlement"] = {"premium": {"products": [MONTHLY, YEARLY]}, "gems": {"products": [GEMS]}}

        super().configure(all_of_it)

    def notification(
        self, kind: str, subtype: str | None, at: int, renewal: dict | None = None, data: dict | None = None, **changes
    ) -> str:
        """A notification that the store signed at an instant."""
        transaction = samples.TRANSACTION | {"signedDate": at, "appAccountToken": CUSTOMER} | changes
        info = None
        if renewal is not None:
            info = samples.RENEWAL_INFO | {
                "originalTransactionId": transaction["originalTransactionId"], "productId": transaction["productId"],
                "autoRenewProductId": transaction["productId"], "signedDate": at,
            } | renewal  # fmt: skip
            info = jws.sign({name: value for name, value in info.items() if value is not None}, self.leaf)
        signed = jws.sign({name: value for name, value in transaction.items() if value is not None}, self.leaf)
        payload = samples.notification(signed, info, **(data or {}))
        payload |= {"signedDate": at, "notificationUUID": str(uuid.uuid4()), "notificationType": kind}
        payload.pop("subtype", None)
        return jws.sign(payload | ({"subtype": subtype} if subtype else {}), self.leaf)

    def deliver(self, signed: str, app: str = "shop") -> None:
        answer = self.post(f"/v1/notifications/{app}", data=json.dumps({"signedPayload": signed}))
        assert answer.status_code == 200, answer.text

    def subscription(self) -> list[str]:
        """The notifications of a subscription, in the order in which the store signed them."""
        told = []
        start = self.now - 400 * DAY
        for period in range(9):
            bought = start + period * 30 * DAY
            common = {
                "originalTransactionId": str(SUBSCRIPTION), "transactionId": str(SUBSCRIPTION + period), "productId": MONTHLY,
                "purchaseDate": bought, "originalPurchaseDate": start, "expiresDate": bought + 30 * DAY,
                "transactionReason": "RENEWAL" if period else "PURCHASE",
            }  # fmt: skip
            kind = ("DID_RENEW", None) if period else ("SUBSCRIBED", "INITIAL_BUY")
            told.append(self.notification(*kind, bought + 5000, {"autoRenewStatus": 1, "renewalDate": None}, **common))
        # The charge fails, the subscription ends, and a year later begins again as another product.
        end = common["expiresDate"]
        off = end - 10 * DAY
        told.append(
            self.notification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", off, {"autoRenewStatus": 0}, **common)
        )
        told.append(
            self.notification("EXPIRED", "VOLUNTARY", end + 5000, {"autoRenewStatus": 0, "expirationIntent": 1}, **common)
        )
        again = self.now - 40 * DAY
        common |= {
            "transactionId": str(SUBSCRIPTION + 20), "productId": YEARLY, "purchaseDate": again, "expiresDate": again + 365 * DAY,
            "transactionReason": "PURCHASE", "price": 39990,
        }  # fmt: skip
        told.append(self.notification("SUBSCRIBED", "RESUBSCRIBE", again + 5000, {"autoRenewStatus": 1}, **common))
        return told

    def gems(self, number: int, days: int, **changes) -> dict:
        """What a transaction of gems states that were bought some days ago."""
        bought = self.now - days * DAY
        return {
            "originalTransactionId": str(FIRST_GEMS + number), "transactionId": str(FIRST_GEMS + number), "productId": GEMS,
            "type": "Consumable", "purchaseDate": bought, "originalPurchaseDate": bought, "expiresDate": None, "quantity": 1,
            "transactionReason": "PURCHASE", "price": 990, "webOrderLineItemId": None, "subscriptionGroupIdentifier": None,
        } | changes  # fmt: skip

    def live(self) -> None:
        """Tells the server the life of the customer, out of order."""
        told = self.subscription()
        for number, days in ((0, 300), (1, 120), (2, 9)):
            told.append(
                self.notification("ONE_TIME_CHARGE", None, self.now - days * DAY + 3000, **self.gems(number, days))
            )
        refund = {"revocationDate": self.now - 100 * DAY, "revocationReason": 0}
        told.append(
            self.notification("REFUND", None, self.now - 100 * DAY + 4000, **self.gems(1, 120, **refund))
        )
        random.Random(7).shuffle(told)
        half = len(told) // 2
        for signed in told[:half]:
            self.deliver(signed)
        # Pages show the second of an arrival: those of the two halves differ.
        time.sleep(1.1)
        for signed in told[half:]:
            self.deliver(signed)
        asked = self.now - 1800_000
        self.deliver(self.notification("CONSUMPTION_REQUEST", None, asked, **self.gems(2, 9)))
        body = {"entitlement": "premium", "reason": "Two weeks for the outage of May", "expires": None}
        answer = self.post(f"/v1/customers/{CUSTOMER}/grants?app=shop", json={k: v for k, v in body.items() if v})
        assert answer.status_code in (200, 201), answer.text
