# SPDX-License-Identifier: Apache-2.0
"""A shop with some history, whose console has something on every page."""

import http.server
import json
import pathlib
import random
import threading
import time
import uuid

import samples
from independent import jws, pki
from shops import CUSTOMER, Shops

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
# The library of faketime (Debian: apt-get install faketime); `None` without it.
FAKETIME = next(pathlib.Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
# The customer whose pages have most on them, and their subscription.
PERSON, SUBSCRIPTION, REVIEWED = CUSTOMER, "2000000811223344", "2000000811223352"

# The pages of the console, by the names of their pictures.
PAGES = {
    "home": "/console",
    "verify": "/console/verify",
    "transactions": "/console/transactions",
    "entitlements": "/console/entitlements?app=shop",
    "customer": f"/console/customer?id={PERSON}&app=shop",
    "entitlement": f"/console/entitlements/{SUBSCRIPTION}?app=shop",
    "refund-reviews": "/console/refund-reviews?app=shop",
    "refund-review": f"/console/refund-reviews/{REVIEWED}?app=shop",
    "audit": "/console/audit",
    "entry": "/console/audit/entries/3",
    "proof": "/console/audit/entries/0/proof",
    "load": "/console/load",
    "webhooks": "/console/webhooks?app=shop",
    "keys": "/console/keys",
    "acts": "/console/acts",
    "time-zone": "/console/time-zone",
    "search": f"/console/search?q={PERSON}",
    "search-nothing": "/console/search?q=MK1B2C3D4E",
    "nothing": "/console/transactions?by=customer&value=nobody",
}


class Backend(http.server.BaseHTTPRequestHandler):
    """Accepts webhooks, but for those of one customer, which it answers as gone."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(410 if b"00000000-0000-4000-8000-00000000dead" in body else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


class LivingShop(Shops):
    """A server for `shop` and `other`, with customers, subscriptions, refunds, refused receipts, webhooks and keys."""

    def __init__(self, folder: pathlib.Path, store: pki.Store, takes_a_day: bool = False):
        """With `takes_a_day` things happen during the last day, if the clock of a process can be set (faketime); else now."""
        self.ages = iter([23.5, 22, 20, 17, 15.2, 13, 11.5, 9, 7, 5.4, 3, 1.5])
        self.takes_a_day = takes_a_day and FAKETIME is not None
        self.age = int(24 * HOUR) if self.takes_a_day else 0
        self.backend = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Backend)
        threading.Thread(target=self.backend.serve_forever, daemon=True).start()
        super().__init__(folder, store)

    def configure(self, change) -> None:
        def with_backend(configuration: dict):
            change(configuration)
            shop = configuration["app"]["shop"]
            shop["webhook"]["backend"]["url"] = f"http://127.0.0.1:{self.backend.server_port}/changes"
            shop["webhooks"] = ["backend", "analytics"]
            shop["webhook"]["analytics"] = shop["webhook"]["backend"] | {"url": "http://127.0.0.1:9/events"}

        super().configure(with_backend)

    def transaction(self, **changes) -> str:
        return super().transaction(**{"signedDate": self.now} | changes)

    @property
    def now(self) -> int:
        """The time of the server, in milliseconds."""
        return int(time.time() * 1000) - self.age

    def start(self, *arguments, **options) -> "LivingShop":
        # The library loses the arguments of the first process that loads it if that is written in Swift.
        past = ["env", f"LD_PRELOAD={FAKETIME}", f"FAKETIME=-{self.age // 1000}s", "timeout", "--foreground", "600"]
        self.prefix = past if self.age else []
        key = self.key
        super().start(*arguments, **options)
        self.key = self.key or key
        return self

    def turn(self, hours: float) -> None:
        """Goes on at a number of hours ago."""
        if not self.takes_a_day:
            return
        assert (code := self.end()) == 0, code
        self.age = int(hours * HOUR)
        self.start()

    def live(self) -> "LivingShop":
        """Has things happen to it."""
        chance = random.Random(44)

        def transaction(original: str, number: int, customer: str, product: str, bought: int, days: int, **more) -> dict:
            return {
                "originalTransactionId": original, "transactionId": str(int(original) + number), "productId": product,
                "appAccountToken": customer, "purchaseDate": bought, "originalPurchaseDate": bought - number * days * DAY,
                "expiresDate": bought + days * DAY, "signedDate": bought + MINUTE,
            } | more  # fmt: skip

        def told(kind: str, subtype: str | None, fields: dict, at: int):
            fields = fields | {"signedDate": at}
            payload = {"signedDate": at, "notificationUUID": str(uuid.UUID(int=chance.getrandbits(128))), "notificationType": kind}
            self.deliver(payload | ({"subtype": subtype} if subtype else {}), fields)

        for index in range(24):
            if index % 2 == 0:
                self.turn(next(self.ages))
            now = self.now
            original = str(2000000811300000 + index * 1000)
            customer = str(uuid.UUID(int=chance.getrandbits(128), version=4))
            if index == 5:
                customer = "00000000-0000-4000-8000-00000000dead"
            yearly = index % 4 == 0
            product, days = ("com.example.app.yearly", 365) if yearly else ("com.example.app.monthly", 30)
            start = now - chance.randrange(2, 20) * DAY
            fields = transaction(original, 0, customer, product, start, days)
            told("SUBSCRIBED", "INITIAL_BUY", fields, start + MINUTE)
            if index % 3 == 0:
                self.verify(self.transaction(**fields | {"signedDate": now - index * MINUTE}), "shop")
            if index % 7 == 3:
                told("REFUND", None, fields | {"revocationDate": start + DAY, "revocationReason": 1}, start + DAY)
            elif index % 5 == 1:
                told("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", fields, start + DAY)

        self.turn(0)
        now = self.now
        # The customer whose pages are shown: four months, a refund that was reversed, a question about a refund.
        for number in range(5):
            bought = now - (4 - number) * 30 * DAY - 9 * DAY
            fields = transaction(SUBSCRIPTION, number, PERSON, "com.example.app.monthly", bought, 30)
            told("SUBSCRIBED" if number == 0 else "DID_RENEW", "INITIAL_BUY" if number == 0 else None, fields, bought + MINUTE)
            if number == 2:
                refund = fields | {"revocationDate": bought + 5 * DAY, "revocationReason": 0}
                told("REFUND", None, refund, bought + 5 * DAY)
                told("REFUND_REVERSED", None, fields, bought + 8 * DAY)
        coins = transaction(REVIEWED, 0, PERSON, "com.example.app.coins", now - 2 * DAY, 1) | {"type": "Consumable"}
        coins |= {"expiresDate": None, "subscriptionGroupIdentifier": None}
        told("ONE_TIME_CHARGE", None, coins, now - 2 * DAY)
        told("CONSUMPTION_REQUEST", None, coins, now - 9 * HOUR)
        other = transaction("2000000811390000", 0, PERSON, "com.example.app.monthly", now - 3 * DAY, 30)
        told("CONSUMPTION_REQUEST", None, other, now - 2 * HOUR)
        receipt = self.transaction(**fields | {"signedDate": now})
        self.verify(receipt, "shop")
        self.receipt = receipt
        # Receipts that are refused: altered, of another app, none at all.
        self.verify(receipt[:-8] + "AAAAAAAA", "shop")
        self.verify(self.transaction(bundleId="com.example.copycat", transactionId="2000000811990001"), "shop")
        self.verify("no receipt", "shop")
        sandbox = self.transaction(
            environment="Sandbox", transactionId="2000000811990002", originalTransactionId="2000000811990002",
            appAccountToken=str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        )
        self.verify(sandbox, "shop")
        self.verify(self.transaction(bundleId="com.example.other", originalTransactionId="7", transactionId="9"), "other")
        self.make_some_keys()
        self.app = {"app": "shop"}
        self.proof(0)
        return self

    def deliver(self, payload: dict, fields: dict) -> None:
        body = samples.notification(self.transaction(**fields)) | payload
        answer = self.post("/v1/notifications/shop", data=json.dumps({"signedPayload": jws.sign(body, self.leaf)}))
        assert answer.status_code == 200, answer.text

    def make_some_keys(self) -> None:
        for name, scopes, app in (
            ("backend of the shop", ["verify", "read"], "shop"), ("support", ["verify", "read", "grant", "review"], "shop"),
            ("dashboards", ["read"], None), ("left the team", ["admin"], None),
        ):  # fmt: skip
            answer = self.post("/v1/keys", json={"name": name, "scopes": scopes, "app": app})
            assert answer.status_code == 201, answer.text
        assert self.request("DELETE", f"/v1/keys/{answer.json()['id']}").status_code == 204
