# SPDX-License-Identifier: Apache-2.0
"""A simulated year in which an old backend and a new one stand side by side: the stores notify the new one alone, which forwards
to an old one that fails at times. At the end both know the same, and every notification came, in order."""

import base64
import datetime
import json
import os
import random
import signal
import time
import urllib.error
import uuid

import pytest
import requests

import samples
from emulator import Emulator
from old_system import OldSystem, free_port
from service import Service
from test_living_store import all_notifications, payload
from test_webhooks import customer, wait

MONTHLY, YEARLY, COINS = (f"{samples.BUNDLE}.{name}" for name in ("monthly", "yearly", "coins"))
AUDIENCE, EMAIL = "https://example.com/play", "push@example.iam.gserviceaccount.com"
CUSTOMERS = int(os.environ.get("RECEIPTKIT_YEAR_CUSTOMERS", "12"))


class Backend(Service):
    """A receipt-server that takes the notifications of both stores."""

    def __init__(self, folder, apple: Emulator, google: Emulator, account, database=None, forwarding=None):
        super().__init__(folder)
        url = google.url().replace("localhost", "127.0.0.1")

        def change(configuration):
            configuration["limits"] = {"webhookTimeout": 2}
            if database:
                configuration["database"] = database
            app = configuration["app"]["demo"]
            app["policy"]["default"] |= {
                "bundleIds": [samples.BUNDLE], "trust": [apple.ready["root"]], "environments": ["sandbox"],
                "playEnvironments": ["production", "sandbox"],
            }  # fmt: skip
            # The old system verifies Google's token itself.
            app["googlePlay"] = {
                "package": samples.BUNDLE, "serviceAccount": str(account), "url": url, "pushAudience": AUDIENCE,
                "pushEmail": EMAIL, "pushKeysURL": f"{url}/oauth2/v3/certs",
            }  # fmt: skip
            if forwarding:
                app["forwarding"] = {"url": forwarding, "allowPrivateNetworks": True}

        self.configure(change)
        self.settings["listen.port"] = str(free_port())

    @property
    def notifications(self) -> str:
        return f"http://127.0.0.1:{self.settings['listen.port']}/v1/notifications/demo"

    def entitlements(self, who: str) -> list:
        """What a customer has; without the times at which a server asked Google Play, and as of which it answered."""
        found = self.get(f"/v1/customers/{who}/entitlements").json()
        for owned in found["entitlements"]:
            owned["entitlement"].pop("asOfDate", None)
        return found

    def changes(self) -> list[tuple]:
        found, sequence = [], 0
        while page := self.get(f"/v1/changes?since={sequence}&limit=1000").json()["changes"]:
            found += [each["change"] for each in page]
            sequence = page[-1]["sequence"]
        return [(each["type"], each["data"].get("customer"), each["data"]["entitlement"].get("productId")) for each in found]


def live(month: int, generator: random.Random, apple: Emulator, google: Emulator, sold: dict) -> None:
    """What happens in a month."""

    def control(name, **members):
        return apple.control("POST", name, members)

    for number in range(CUSTOMERS):
        who, account = customer(number), f"account-{number}"
        event = generator.random()
        if who not in sold:
            if number <= month * 2:
                product = generator.choice([MONTHLY, MONTHLY, YEARLY])
                sold[who] = control("buy", account=account, productId=product, appAccountToken=who)["transactionId"]
        elif event < 0.1:
            control("billing", account=account, fails=True)
        elif event < 0.2:
            control("billing", account=account, fails=False)
        elif event < 0.27:
            try:
                control("cancel", originalTransactionId=sold[who])
            except urllib.error.HTTPError as error:
                # It has ended already.
                assert error.code == 400
        elif event < 0.34:
            coins = control("buy", account=account, productId=COINS, appAccountToken=who)["transactionId"]
            if event < 0.31:
                control("refund", transactionId=coins, reason="ISSUE")
        elif event < 0.42:
            members = {"account": f"play-{number}", "productId": generator.choice([MONTHLY, COINS]), "obfuscatedAccountId": who}
            bought = google.control("POST", "play/buy", members)
            if event < 0.38:
                google.control("POST", "play/refund", {"orderId": bought["orderId"]})
    control("advance", by="P1M" if month < 11 else "P20D")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_year_side_by_side(kind, request, tmp_path):
    generator, faults = random.Random(2027), random.Random(11)
    account = tmp_path / "account.json"
    database = None
    if kind == "postgresql":
        server = request.getfixturevalue("postgresql_server")
        schema = f"t{uuid.uuid4().hex[:12]}"
        database = f"{server.url}&schema={schema}"
    port = free_port()
    # The year ends about now.
    begin = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=360)
    apple = Emulator(
        os.environ["STORE_EMULATOR"], tmp_path / "apple", "--no-token-checks", "--clock-rate", "0", "--grace-period", "16",
        "--clock", begin.strftime("%Y-%m-%dT00:00:00Z"), "--notification-url",
        f"http://127.0.0.1:{port}/v1/notifications/demo",
    )  # fmt: skip
    google = Emulator(
        os.environ["STORE_EMULATOR"], tmp_path / "google", "--no-token-checks", "--clock-rate", "0", "--play-service-account",
        str(account), "--play-push-audience", AUDIENCE, "--play-push-email", EMAIL, "--play-push-url",
        f"http://127.0.0.1:{port}/v1/notifications/demo",
    )  # fmt: skip
    between = OldSystem()
    old = Backend(tmp_path / "old", apple, google, account)
    new = Backend(tmp_path / "new", apple, google, account, database, between.url)
    new.settings["listen.port"] = str(port)
    try:
        old.start()
        new.start()
        failures = {}

        def behave(number, body):
            if failures.get(body, 0) < 2 and faults.random() < 0.15:
                failures[body] = failures.get(body, 0) + 1
                return faults.choice([500, 503, 400, "refuse", "close"])
            return 200

        def accept(body, headers) -> int:
            kept = {name: headers[name] for name in ("content-type", "authorization") if name in headers}
            return requests.post(old.notifications, data=body, headers=kept, timeout=30).status_code

        between.behaviour, between.accept = behave, accept
        sold: dict[str, str] = {}
        for month in range(12):
            live(month, generator, apple, google, sold)
            if month == 3:
                # Down for two months.
                between.stop()
            if month == 5:
                between.start()
            if month in (4, 8):
                new.end(signal.SIGKILL)
                new.start()
            if month == 9:
                assert new.end() == 0
                new.start()
        wait(lambda: not new.command("forwarding", "list", "--json").stdout)
        between.assert_in_order()
        taken = [json.loads(body) for body in between.taken]
        # The old system refused nothing, the tokens of Google's pushes included.
        assert {is_taken for body, _, is_taken in between.attempts if failures.get(body, 0) == 0} <= {True}
        identifiers = [payload(each["signedPayload"])["notificationUUID"] for each in taken if "signedPayload" in each]
        told = [each["notificationUUID"] for each in all_notifications(apple)]
        assert identifiers == told and len(told) > 5 * CUSTOMERS
        pushes = [each["message"]["messageId"] for each in taken if "message" in each]
        assert len(pushes) == len(set(pushes)) > 3 and len(pushes) + len(identifiers) == len(taken)
        assert all(base64.b64decode(each["message"]["data"]) for each in taken if "message" in each)
        # Both know the same of everybody, named entitlements included.
        for number in range(CUSTOMERS):
            assert new.entitlements(customer(number)) == old.entitlements(customer(number)), number
        states = [owned["entitlement"]["state"] for number in range(CUSTOMERS)
                  for owned in new.entitlements(customer(number))["entitlements"]]  # fmt: skip
        assert len(set(states)) >= 3, states
        # The same changes were told, though each backend folded at other times.
        assert len(new.changes()) > 5 * CUSTOMERS
        # Switched off, nothing more reaches the old one.
        count = len(between.attempts)
        new.end()
        new.configure(lambda configuration: configuration["app"]["demo"].pop("forwarding"))
        new.start()
        apple.control("POST", "buy", {"account": "late", "productId": COINS, "appAccountToken": customer(99)})
        assert len(new.entitlements(customer(99))["entitlements"]) == 1
        time.sleep(1.5)
        assert len(between.attempts) == count and old.entitlements(customer(99))["entitlements"] == []
    finally:
        for process in (new, old):
            process.end(signal.SIGKILL)
        apple.stop()
        google.stop()
        between.stop()
        if database:
            server.query(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
