# SPDX-License-Identifier: Apache-2.0
"""Named entitlements of receipt-server: whether a customer has what an app promises, from purchases in both stores and under the
app's rules; what changes and webhooks tell of it; to whom a purchase belongs; and that erasure and isolation hold for all of it."""

import base64
import contextlib
import datetime
import http.server
import json
import os
import threading
import time
import urllib.parse
import uuid

import pytest
import requests

import samples
from emulator import Emulator
from independent import jws, pki
from service import Service
from test_client_verify_receipt import milliseconds, now
from test_webhooks_revenuecat import GIVEN_UP, NO_SUBSCRIPTION, Purchase

pytestmark = pytest.mark.server

MONTHLY, YEARLY, COINS, PRO = (f"com.example.app.{name}" for name in ("monthly", "yearly", "coins", "pro"))
DAY, MONTH = 86_400_000, 30 * 86_400_000
# The names of every app, in this order, which is not that of the alphabet. Of `early` only Google Play has a product.
NAMES = {"premium": [MONTHLY, YEARLY], "pro": [PRO, YEARLY], "early": [f"{MONTHLY}:p1m"], "nothing": []}
NOBODY = [{"name": name, "standing": "none", "grantsAccess": False, "reasons": []} for name in NAMES]
SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
TESTER = "0b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d2e4b"
# The apps of a shop, with the settings by which each differs.
APPS = {
    "shop": {}, "keep": {"transfers": "keep"}, "move-expired": {"transfers": "move-expired"}, "share": {"transfers": "share"},
    "strict": {"testPurchases": "refuse", "familySharing": False}, "accepting": {"testPurchases": "accept"},
    "testers": {"testPurchases": "accept", "testCustomers": [TESTER.upper(), "tester of ours"]},
    "narrow": {},
    "plain": {"entitlements": None, "entitlement": None},
}  # fmt: skip


def text(instant: int) -> str:
    """An instant as answers state it."""
    return datetime.datetime.fromtimestamp(instant / 1000, datetime.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def wait(condition, seconds=60):
    """What a condition finds, as soon as it finds something."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return found


def without_reasons(access: list[dict]) -> list[dict]:
    return [{name: value for name, value in element.items() if name != "reasons"} for element in access]


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes what is posted: the name of the endpoint, the headers and what was told."""

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.told.append((self.path.removeprefix("/"), self.headers, told))
        self.send_response_only(204)
        self.end_headers()


class Shop(Service):
    """A server whose apps sell the same in the App Store under different rules. What tells of `shop` and `share` is posted to
    this process."""

    def __init__(self, folder, store: pki.Store, database=None, schema="", apps: dict[str, dict] | None = None):
        super().__init__(folder / "data")
        self.leaf = store.intermediate.issue("Signing of today", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)
        self.receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self.receiver.told = []
        threading.Thread(target=self.receiver.serve_forever, daemon=True).start()
        (folder / "root.cer").write_bytes(store.root.der)
        self.root, self.keys = str(folder / "root.cer"), {}
        # What each app has unless its settings say otherwise.
        self.common = {
            "notifications": True, "record": True, "entitlements": list(NAMES),
            "entitlement": {name: {"products": products} for name, products in NAMES.items()},
        }  # fmt: skip
        both = ["production", "sandbox"]
        self.policy = {"bundleIds": [samples.BUNDLE], "trust": [self.root], "environments": both, "playEnvironments": both}
        self.apps = APPS if apps is None else apps

        def change(configuration):
            configuration |= {"apps": list(self.apps), "allowSharedBundleIds": True}
            configuration["app"] = {name: self.settings_of(name) for name in self.apps}
            if database:
                configuration["database"] = database.trail(f"{schema}_service")
                configuration["audit"] = {"trail": database.trail(f"{schema}_trail"), "files": "audit"}

        self.configure(change)

    def settings_of(self, app: str) -> dict:
        settings = self.common | {"policy": {"default": self.policy}} | self.apps[app]
        if app in ("shop", "share"):
            to = {"url": f"http://127.0.0.1:{self.receiver.server_address[1]}/", "allowPrivateNetworks": True}
            settings |= {"webhooks": ["standard", "cat"], "webhook": {
                "standard": to | {"url": to["url"] + "standard", "secrets": [SECRET]},
                "cat": to | {"url": to["url"] + "cat", "format": "revenuecat", "secrets": [SECRET]},
            }}  # fmt: skip
        return {name: value for name, value in settings.items() if value is not None}

    def stop(self):
        assert self.end() == 0
        self.receiver.shutdown()
        self.receiver.server_close()

    def key_for(self, *scopes: str, app: str | None = None) -> str:
        """A key with these scopes, which the server knows at once."""
        if (scopes, app) not in self.keys:
            answer = self.post("/v1/keys", json={"name": "test", "scopes": scopes, "app": app})
            assert answer.status_code == 201, answer.text
            self.keys[scopes, app] = answer.json()["key"]
        return self.keys[scopes, app]

    # MARK: What it is told

    def deliver(self, kind: str, signed: int, payload: dict, app="shop") -> None:
        """Notifies an app, which has stored what follows when it answers."""
        payload |= {"notificationType": kind, "notificationUUID": str(uuid.uuid4()), "signedDate": signed}
        answer = self.post(f"/v1/notifications/{app}", json={"signedPayload": jws.sign(payload, self.leaf)}, key="")
        assert answer.status_code == 200, answer.text

    def of(self, app: str) -> "ShopOfAnApp":
        return ShopOfAnApp(self, app)

    def present(self, customer: str, transaction: dict, app="shop", status=200, **arguments) -> dict:
        """A customer presents a transaction."""
        receipt = jws.sign(transaction | {"signedDate": now()}, self.leaf)
        answer = self.post(path(customer, "receipts"), params={"app": app}, data=receipt, **arguments)
        assert answer.status_code == status, answer.text
        return answer.json()

    # MARK: What it says

    def ask(self, customer: str, app="shop", **arguments) -> requests.Response:
        return self.get(path(customer), params={"app": app}, **arguments)

    def all_access(self, customer: str, app="shop") -> list[dict]:
        answer = self.ask(customer, app)
        assert answer.status_code == 200, answer.text
        access = answer.json()["access"]
        assert [element["name"] for element in access] == list(NAMES)
        return access

    def access(self, customer: str, name="premium", app="shop") -> dict:
        (found,) = [element for element in self.all_access(customer, app) if element["name"] == name]
        assert found["grantsAccess"] is (found["standing"] == "active")
        return found

    def changes(self, customer: str, app="shop", url: str | None = None) -> list[dict]:
        """The changes about a customer, in order."""
        found, since = [], 0
        while page := self.get("/v1/changes", params={"app": app, "since": since, "limit": 1000}).json()["changes"]:
            found += [line["change"] for line in page if line["change"]["data"].get("customer") == customer]
            since = page[-1]["sequence"]
        return found

    def told(self, customer: str, endpoint="standard", count=1) -> list[dict]:
        """What was posted about a customer, once it is so much."""

        def posted():
            return [told for name, _, told in list(self.receiver.told) if name == endpoint and customer in json.dumps(told)]

        wait(lambda: len(posted()) >= count)
        return posted()


class ShopOfAnApp:
    """What `Purchase` needs of a shop, for one of its apps."""

    def __init__(self, shop: Shop, app: str):
        self.leaf, self.deliver = shop.leaf, lambda *arguments: shop.deliver(*arguments, app=app)


def path(customer: str, of="entitlements") -> str:
    return f"/v1/customers/{urllib.parse.quote(customer, safe='')}/{of}"


def nameless(shop, **changes) -> Purchase:
    """A purchase whose receipt names no customer."""
    return Purchase(shop, appAccountToken=None, **changes)
