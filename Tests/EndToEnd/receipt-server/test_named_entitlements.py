# SPDX-License-Identifier: Apache-2.0
"""Named entitlements of receipt-server: whether a customer has what an app promises, from purchases in both stores and under the
app's rules; what changes and webhooks tell of it; to whom a purchase belongs; erasure and isolation of all of it."""

import base64
import contextlib
import copy
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
from test_client_verify_receipt import now
from test_service_settings import checked, configuration
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
    "narrow": {"entitlement": {name: {"products": [f"{MONTHLY}:p1y"] if name == "early" else []} for name in NAMES}},
    "policy": {
        "policies": ["default", "testing"], "policy": {"default": {"environments": ["production"]}, "testing": {}},
    },
    "policy-accepting": {
        "policies": ["default", "testing"], "policy": {"default": {"environments": ["production"]}, "testing": {}},
        "testPurchases": "accept",
    },
    "plain": {"entitlements": None, "entitlement": None},
}  # fmt: skip


def text(instant: int) -> str:
    """An instant as answers state it."""
    date = datetime.datetime.fromtimestamp(instant / 1000, datetime.UTC)
    return date.isoformat(timespec="milliseconds").replace("+00:00", "Z")


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

    def __init__(
        self, folder, store: pki.Store, database=None, schema="", apps: dict[str, dict] | None = None, google: dict | None = None
    ):
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
        self.apps, self.google = APPS if apps is None else apps, google

        def change(configuration):
            configuration |= {"apps": list(self.apps), "allowSharedBundleIds": True}
            configuration["app"] = {name: self.settings_of(name) for name in self.apps}
            if database:
                configuration["database"] = database.trail(f"{schema}_service")
                configuration["audit"] = {"trail": database.trail(f"{schema}_trail"), "files": "audit"}

        self.configure(change)

    def settings_of(self, app: str) -> dict:
        settings = self.common | {"policy": {"default": {}}} | self.apps[app]
        settings["policy"] = {name: self.policy | changes for name, changes in settings["policy"].items()}
        if self.google:
            settings["googlePlay"] = {"package": samples.BUNDLE} | self.google
        if app in ("shop", "share"):
            to = {"url": f"http://127.0.0.1:{self.receiver.server_address[1]}/", "allowPrivateNetworks": True}
            settings |= {"webhooks": ["standard", "cat"], "webhook": {
                "standard": to | {"url": to["url"] + "standard", "secrets": [SECRET]},
                "cat": to | {"url": to["url"] + "cat", "format": "revenuecat", "secrets": [SECRET]},
            }}  # fmt: skip
        return {name: value for name, value in settings.items() if value is not None}

    def begin_another(self) -> "Shop":
        """Another process with the same configuration, on the same database."""
        other = copy.copy(self)
        other.session = requests.Session()
        other.start()
        other.key = self.key
        return other

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

    def present(self, customer: str, transaction: dict, app="shop", status=200, **arguments) -> dict:
        """A customer presents a transaction."""
        receipt = jws.sign(transaction, self.leaf)
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

    def wait_for_webhooks(self, app="shop") -> None:
        """Waits until everything is posted."""
        wait(lambda: not any(
            each["waiting"] for each in self.get("/v1/webhooks", params={"app": app}).json()["endpoints"]))  # fmt: skip

    def told(self, customer: str, endpoint="standard", count=1) -> list[dict]:
        """What was posted about a customer, once it is so much."""

        def posted():
            return [told for name, _, told in list(self.receiver.told) if name == endpoint and customer in json.dumps(told)]

        wait(lambda: len(posted()) >= count)
        return posted()


def path(customer: str, of="entitlements") -> str:
    return f"/v1/customers/{urllib.parse.quote(customer, safe='')}/{of}"


def nameless(shop, **changes) -> Purchase:
    """A purchase whose receipt names no customer."""
    return Purchase(shop, appAccountToken=None, **changes)


def element(name: str, bought: dict, standing="active", **changes) -> dict:
    """What an entitlement is that follows from one purchase in the App Store."""
    common = {"standing": standing, "since": text(bought["purchaseDate"])}
    if "expiresDate" in bought and standing == "active":
        common["until"] = text(bought["expiresDate"])
    common |= changes
    product = {"source": "app-store", "productId": bought["productId"]}
    reason = product | common | {"id": bought["originalTransactionId"]}
    return {"name": name, "grantsAccess": standing == "active", "reasons": [reason]} | product | common


@pytest.fixture(scope="module")
def emulator(tmp_path_factory):
    """A Google Play whose licence testers and other customers buy."""
    folder = tmp_path_factory.mktemp("google")
    emulator = Emulator(
        os.environ["STORE_EMULATOR"], folder / "state", "--clock-rate", "0", "--no-token-checks",
        "--play-service-account", str(folder / "account.json"),
    )  # fmt: skip
    emulator.settings = {
        "serviceAccount": str(folder / "account.json"), "url": emulator.url().replace("localhost", "127.0.0.1")
    }  # fmt: skip
    yield emulator
    emulator.stop()


@pytest.fixture(scope="module")
def shop(tmp_path_factory, store, emulator):
    shop = Shop(tmp_path_factory.mktemp("shop"), store, google=emulator.settings)
    shop.start()
    shop.emulator = emulator
    yield shop
    shop.stop()


def customer() -> str:
    return str(uuid.uuid4())


def sell(shop, product: str, buyer: str | None = None, **members) -> dict:
    """Sells something in Google Play, by default in production and for ever signed as the customer's."""
    account = {"obfuscatedAccountId": buyer} if buyer else {}
    members = {"account": str(uuid.uuid4()), "productId": product, "isTest": False} | account | members
    return shop.emulator.control("POST", "play/buy", members)


def look_up(shop, token: str, app="shop", status=200, **query) -> dict:
    """Has the server ask Google Play about a purchase."""
    reference = {"store": "google-play", "purchaseToken": token}
    answer = shop.post("/v1/lookup", params={"app": app} | query, json=reference)
    assert answer.status_code == status, answer.text
    return answer.json()


class TestStandings:
    def test_a_customer_whom_nobody_knows_has_none(self, shop):
        answer = shop.ask(customer()).json()
        assert answer == {"type": "entitlements", "version": 1, "access": NOBODY, "entitlements": []}

    @pytest.mark.parametrize(("product", "names"), [
        (MONTHLY, ["premium"]), (YEARLY, ["premium", "pro"]), (COINS, []), (f"{MONTHLY}:p1m", []), (MONTHLY.upper(), []),
    ], ids=["monthly", "yearly", "coins", "a plan", "capitals"])  # fmt: skip
    def test_a_subscription_gives_the_names_of_its_product(self, shop, product, names):
        purchase = Purchase(shop, productId=product).subscribe()
        expected = [element(name, purchase.bought) if name in names else name for name in NAMES]
        found = shop.all_access(purchase.customer)
        assert [each if each["reasons"] else each["name"] for each in found] == expected
        (change,) = shop.changes(purchase.customer)
        assert change["data"].get("names", []) == names
        assert change["data"].get("access", []) == without_reasons([each for each in expected if isinstance(each, dict)])
        assert ("names" in change["data"], "access" in change["data"]) == (bool(names), bool(names))

    def test_what_is_bought_for_ever_has_no_end(self, shop):
        purchase = Purchase(shop, productId=PRO, type="Non-Consumable", **NO_SUBSCRIPTION)
        bought = purchase.tell("ONE_TIME_CHARGE", purchase.period())
        assert shop.access(purchase.customer, "pro") == element("pro", bought)
        assert "until" not in shop.access(purchase.customer, "pro")

    @pytest.mark.parametrize(("standing", "changes"), [
        ("expired", {"expiresDate": now() - DAY}), ("refunded", {"revocationDate": now() - DAY, "revocationReason": 0}),
        ("revoked", {"revocationDate": now() - DAY, "revocationType": "FAMILY_REVOKE"}), ("upgraded", {"isUpgraded": True}),
    ])  # fmt: skip
    def test_a_standing_is_said_in_the_word_of_the_purchase(self, shop, standing, changes):
        who, purchase = customer(), Purchase(shop)
        answer = shop.present(who, purchase.period(appAccountToken=who, **changes))
        owned = answer["entitlements"][0]["entitlement"]
        access = shop.access(who)
        assert (access["standing"], access["grantsAccess"], "until" in access) == (standing, False, False)
        assert (owned["standing"], owned["standingSince"]) == (standing, access["since"])
        (reason,) = access["reasons"]
        assert (reason["standing"], reason["id"], reason["since"]) == (standing, purchase.original, access["since"])

    @pytest.mark.parametrize("order", [1, -1], ids=["longest last", "longest first"])
    @pytest.mark.parametrize("lasting", [False, True], ids=["periods", "for ever"])
    def test_of_what_gives_access_the_longest_decides(self, shop, order, lasting):
        who, ends = customer(), [now() + 5 * DAY, now() + 10 * DAY, now() + 15 * DAY][::order]
        bought = [Purchase(shop, appAccountToken=who, productId=YEARLY).subscribe(expiresDate=end).bought for end in ends]
        if lasting:
            last = Purchase(shop, appAccountToken=who, productId=PRO, type="Non-Consumable", **NO_SUBSCRIPTION)
            bought.append(last.tell("ONE_TIME_CHARGE", last.period()))
        sorted_by_end = sorted(bought, key=lambda each: -each.get("expiresDate", 10**15))
        access = shop.access(who, "pro")
        assert [reason["id"] for reason in access["reasons"]] == [each["originalTransactionId"] for each in sorted_by_end]
        assert without_reasons([access]) == without_reasons([element("pro", sorted_by_end[0])])

    def test_without_access_that_decides_which_began_last(self, shop):
        who = customer()
        ended, refunded, before = (Purchase(shop, appAccountToken=who) for _ in range(3))
        ended.subscribe(expiresDate=now() - 3 * DAY, purchaseDate=now() - 9 * DAY)
        refunded.tell("REFUND", refunded.period(revocationDate=now() - 2 * DAY, revocationReason=0))
        before.subscribe(expiresDate=now() - 4 * DAY, purchaseDate=now() - 8 * DAY)
        access = shop.access(who)
        assert (access["standing"], access["source"], access["productId"]) == ("refunded", "app-store", MONTHLY)
        assert [reason["id"] for reason in access["reasons"]] == [each.original for each in (refunded, ended, before)]

    def test_what_gives_access_decides_before_what_ended_later(self, shop):
        who = customer()
        old = Purchase(shop, appAccountToken=who).subscribe(purchaseDate=now() - 20 * DAY, expiresDate=now() + DAY)
        new = Purchase(shop, appAccountToken=who)
        new.tell("REFUND", new.period(revocationDate=now() - 1000, revocationReason=0))
        access = shop.access(who)
        assert without_reasons([access]) == without_reasons([element("premium", old.bought)])
        assert [reason["standing"] for reason in access["reasons"]] == ["active", "refunded"]

    def test_a_grace_period_is_access_until_its_end(self, shop):
        purchase, end = Purchase(shop).subscribe(), now() + 16 * DAY
        failed = {"isInBillingRetryPeriod": True, "expirationIntent": 2, "gracePeriodExpiresDate": end}
        purchase.tell("DID_FAIL_TO_RENEW", purchase.period(expiresDate=now() - 1000), failed, "GRACE_PERIOD")
        access = shop.access(purchase.customer)
        assert (access["standing"], access["until"]) == ("active", text(end))
        assert shop.changes(purchase.customer)[-1]["data"]["access"] == without_reasons([access])

    def test_a_subscription_that_is_upgraded_gives_the_names_of_the_other_product(self, shop):
        purchase = Purchase(shop).subscribe()
        assert shop.access(purchase.customer, "pro")["standing"] == "none"
        upgraded = purchase.tell("DID_CHANGE_RENEWAL_PREF", purchase.period(2, productId=YEARLY), subtype="UPGRADE")
        assert shop.access(purchase.customer) == element("premium", upgraded)
        assert shop.access(purchase.customer, "pro") == element("pro", upgraded)
        last = shop.changes(purchase.customer)[-1]["data"]
        assert (last["names"], [each["grantsAccess"] for each in last["access"]]) == (["premium", "pro"], [True, True])

    def test_an_app_without_names_says_nothing_of_them(self, shop):
        purchase = Purchase(shop)
        answer = shop.present(purchase.customer, purchase.period(), app="plain")
        assert answer["entitlements"] and "access" not in answer
        asked = shop.ask(purchase.customer, "plain")
        assert asked.json()["entitlements"] == answer["entitlements"] and "access" not in asked.json()
        (change,) = shop.changes(purchase.customer, "plain")
        assert not {"names", "access"} & change["data"].keys()
        again = shop.ask(purchase.customer, "plain", headers={"If-None-Match": asked.headers["ETag"]})
        assert again.status_code == 304


class TestGooglePlay:
    def test_a_base_plan_gives_its_name_and_the_product_all_others(self, shop):
        who = customer()
        token = sell(shop, MONTHLY, who)["purchaseToken"]
        look_up(shop, token)
        for name in ("premium", "early"):
            access = shop.access(who, name)
            assert (access["standing"], access["source"], access["productId"]) == ("active", "google-play", MONTHLY)
            (reason,) = access["reasons"]
            assert (reason["id"], reason["until"]) == (token, access["until"])
        assert shop.access(who, "pro")["reasons"] == []

    def test_another_base_plan_gives_nothing(self, shop):
        who = customer()
        look_up(shop, sell(shop, MONTHLY, who)["purchaseToken"], "narrow")
        assert shop.ask(who, "narrow").json()["entitlements"]
        assert shop.all_access(who, "narrow") == NOBODY

    def test_a_purchase_that_is_not_paid_yet_is_pending(self, shop):
        who = customer()
        token = sell(shop, PRO, who, isPending=True)["purchaseToken"]
        look_up(shop, token)
        assert shop.access(who, "pro")["standing"] == "pending"
        shop.emulator.control("POST", "play/approve", {"purchaseToken": token})
        look_up(shop, token)
        assert shop.access(who, "pro")["standing"] == "active"
        assert [change["data"]["access"][0]["standing"] for change in shop.changes(who)][-1] == "active"

    def test_a_subscription_that_another_replaced_is_upgraded(self, shop):
        who = customer()
        first = sell(shop, MONTHLY, who)["purchaseToken"]
        look_up(shop, first)
        second = shop.emulator.control("POST", "play/change", {"purchaseToken": first, "productId": YEARLY})["purchaseToken"]
        for token in (second, first):
            look_up(shop, token)
        assert [reason["id"] for reason in shop.access(who)["reasons"]] == [second, first]
        assert (shop.access(who)["standing"], shop.access(who)["productId"]) == ("active", YEARLY)
        assert shop.access(who, "pro")["standing"] == "active"
        assert not shop.access(who, "early")["grantsAccess"]

    def test_one_store_takes_over_from_the_other_when_a_subscription_expires(self, shop):
        """The change is about the purchase, and says that the customer still has what it gave."""
        purchase = Purchase(shop)
        bought = sell(shop, MONTHLY, purchase.customer)
        look_up(shop, bought["purchaseToken"])
        purchase.subscribe(expiresDate=now() + 40 * DAY)
        assert shop.access(purchase.customer)["source"] == "app-store"
        ending = purchase.period(expiresDate=now() + 1500)
        purchase.tell("DID_CHANGE_RENEWAL_STATUS", ending, {"autoRenewStatus": 0}, "AUTO_RENEW_DISABLED")
        expired = wait(lambda: [each for each in shop.changes(purchase.customer) if each["type"] == "entitlement.expired"])
        (data,) = [change["data"] for change in expired]
        assert data["entitlement"]["originalTransactionId"] == purchase.original and not data["entitlement"]["grantsAccess"]
        assert data["names"] == ["premium"]
        access = shop.access(purchase.customer)
        assert (access["standing"], access["source"]) == ("active", "google-play")
        assert data["access"] == without_reasons([access])
        assert {reason["standing"] for reason in access["reasons"]} == {"active", "expired"}
        posted = shop.told(purchase.customer, count=len(shop.changes(purchase.customer)))
        (posted,) = [each for each in posted if each["type"] == "entitlement.expired"]
        assert posted["data"] == data

    def test_one_store_takes_over_from_the_other_when_a_purchase_is_refunded(self, shop):
        purchase = Purchase(shop).subscribe(expiresDate=now() + DAY)
        bought = sell(shop, MONTHLY, purchase.customer)
        look_up(shop, bought["purchaseToken"])
        assert shop.access(purchase.customer)["source"] == "google-play"
        shop.emulator.control("POST", "play/refund", {"orderId": bought["orderId"]})
        look_up(shop, bought["purchaseToken"])
        last = shop.changes(purchase.customer)[-1]
        assert not last["data"]["entitlement"]["grantsAccess"] and last["data"]["names"] == ["premium", "early"]
        premium, early = last["data"]["access"]
        assert (premium["standing"], premium["source"], early["grantsAccess"]) == ("active", "app-store", False)
        assert [premium, early] == without_reasons([shop.access(purchase.customer, name) for name in ("premium", "early")])


class TestRules:
    """The purchases that do not count. They are told of, and give nothing."""

    def ignored(self, shop, who: str, app: str, rule: str, name="premium") -> None:
        access = shop.access(who, name, app)
        (reason,) = access.pop("reasons")
        assert (reason["standing"], reason["ignored"]) == ("active", rule)
        assert access == {"name": name, "standing": "none", "grantsAccess": False}
        (change,) = shop.changes(who, app)
        assert (change["type"], change["data"]["access"]) == ("entitlement.granted", [access])

    def counts(self, shop, who: str, app: str, name="premium") -> None:
        access = shop.access(who, name, app)
        assert access["grantsAccess"] and "ignored" not in access["reasons"][0]

    @pytest.mark.parametrize(("app", "query", "rule"), [
        ("shop", {}, None), ("accepting", {}, None), ("strict", {}, "environment"),
        ("policy", {"policy": "testing"}, "environment"), ("policy-accepting", {"policy": "testing"}, None),
        ("testers", {}, "test-customer"),
    ], ids=["policy accepts", "accept", "refuse", "policy refuses", "accept what the policy refuses", "no tester"])  # fmt: skip
    def test_a_purchase_in_the_sandbox(self, shop, app, query, rule):
        purchase = Purchase(shop, environment="Sandbox")
        receipt = jws.sign(purchase.period(), shop.leaf)
        answer = shop.post(path(purchase.customer, "receipts"), params={"app": app} | query, data=receipt)
        assert answer.json()["verdict"]["verdict"] == "valid", answer.text
        if rule:
            self.ignored(shop, purchase.customer, app, rule)
        else:
            self.counts(shop, purchase.customer, app)

    @pytest.mark.parametrize(("app", "rule"), [
        ("shop", None), ("accepting", None), ("strict", "environment"), ("testers", "test-customer"),
    ])  # fmt: skip
    def test_a_purchase_of_a_licence_tester(self, shop, app, rule):
        who = customer()
        look_up(shop, sell(shop, PRO, who, isTest=True)["purchaseToken"], app)
        if rule:
            self.ignored(shop, who, app, rule, "pro")
        else:
            self.counts(shop, who, app, "pro")

    @pytest.mark.parametrize("who", [TESTER, TESTER.upper(), "tester of ours"])
    def test_the_purchase_of_a_tester_counts(self, shop, who):
        shop.present(who, nameless(shop, environment="Sandbox").period(), "testers")
        self.counts(shop, who, "testers")

    @pytest.mark.parametrize("app", ["strict", "testers", "policy"])
    def test_a_purchase_in_production_counts_for_everybody(self, shop, app):
        purchase = Purchase(shop)
        shop.present(purchase.customer, purchase.period(), app)
        self.counts(shop, purchase.customer, app)
        look_up(shop, sell(shop, PRO, purchase.customer)["purchaseToken"], app)
        self.counts(shop, purchase.customer, app, "pro")

    @pytest.mark.parametrize(("app", "rule"), [("shop", None), ("strict", "family-sharing")])
    def test_a_purchase_that_a_family_member_shares(self, shop, app, rule):
        purchase = Purchase(shop, inAppOwnershipType="FAMILY_SHARED")
        shop.present(purchase.customer, purchase.period(), app)
        if rule:
            self.ignored(shop, purchase.customer, app, rule)
        else:
            self.counts(shop, purchase.customer, app)

    @pytest.mark.parametrize("standing", ["active", "expired"])
    def test_an_ignored_purchase_does_not_decide(self, shop, standing):
        """Neither for longer, nor because it began last."""
        counting, ignored = Purchase(shop), Purchase(shop, inAppOwnershipType="FAMILY_SHARED")
        end = now() + (DAY if standing == "active" else -DAY)
        for purchase, expires in ((counting, end), (ignored, end + DAY // 2)):
            shop.present(counting.customer, purchase.period(appAccountToken=counting.customer, expiresDate=expires), "strict")
        access = shop.access(counting.customer, app="strict")
        assert access["standing"] == standing
        assert [(reason["id"], reason.get("ignored")) for reason in access["reasons"]] == [
            (counting.original, None), (ignored.original, "family-sharing")
        ]  # fmt: skip


@pytest.fixture(scope="module")
def known(shop):
    """A customer, and the first answer about them."""
    purchase = Purchase(shop).subscribe()
    return purchase.customer, shop.ask(purchase.customer)


class TestConditionalRequests:
    def test_an_answer_says_how_it_may_be_kept(self, shop, known):
        who, answer = known
        assert answer.headers["ETag"][0] == answer.headers["ETag"][-1] == '"'
        assert (answer.headers["Cache-Control"], answer.headers["Vary"]) == ("private, no-cache", "Accept, Authorization")
        again = shop.ask(who)
        assert (again.content, again.headers["ETag"]) == (answer.content, answer.headers["ETag"])

    @pytest.mark.parametrize("form", ["{0}", "W/{0}", '"x", {0}', '{0},"y"', 'W/"x" , W/{0}', "*"])
    def test_the_same_again_is_not_sent_again(self, shop, known, form):
        who, answer = known
        again = shop.ask(who, headers={"If-None-Match": form.format(answer.headers["ETag"])})
        assert (again.status_code, again.content) == (304, b"")
        for name in ("ETag", "Cache-Control", "Vary"):
            assert again.headers[name] == answer.headers[name]

    @pytest.mark.parametrize("form", ['"x"', 'W/"x", "{0}"', "", '""', '"{0}', '"x{0}"', '"x,*,y"'])
    def test_what_is_another_tag_is_answered(self, shop, known, form):
        who, answer = known
        again = shop.ask(who, headers={"If-None-Match": form.format(answer.headers["ETag"].strip('"') + "x")})
        assert (again.status_code, again.content) == (200, answer.content)

    def test_the_tag_of_one_customer_is_not_that_of_another(self, shop, known):
        _, answer = known
        other = Purchase(shop).subscribe().customer
        assert shop.ask(other, headers={"If-None-Match": answer.headers["ETag"]}).status_code == 200

    def test_a_key_that_may_not_read_learns_nothing(self, shop, known):
        who, answer = known
        for key, status in [(shop.key_for("verify"), 403), ("", 401)]:
            for tag in ("*", answer.headers["ETag"]):
                assert shop.ask(who, key=key, headers={"If-None-Match": tag}).status_code == status

    def test_every_change_has_another_tag(self, shop):
        purchase = Purchase(shop)
        who, tags = purchase.customer, []

        def note():
            answer = shop.ask(who, headers={"If-None-Match": tags[-1]} if tags else {})
            assert answer.status_code == 200 and answer.headers["ETag"] not in tags
            tags.append(answer.headers["ETag"])
            assert shop.ask(who, headers={"If-None-Match": tags[-1]}).status_code == 304

        note()
        purchase.subscribe()
        note()
        purchase.tell("DID_RENEW", purchase.period(2))
        note()
        made = shop.post(path(who, "grants"), params={"app": "shop"}, json={"entitlement": "pro", "reason": "tag"}).json()
        note()
        grant = f"{path(who, 'grants')}/{made['grant']['grantId']}"
        assert shop.request("DELETE", grant, params={"app": "shop", "reason": "tag"}).status_code == 200
        note()
        purchase.tell("REFUND", purchase.period(2, revocationDate=now(), revocationReason=0))
        note()

    def test_a_purchase_that_expires_by_itself_has_another_tag(self, shop):
        purchase = Purchase(shop).subscribe(expiresDate=now() + 3000)
        purchase.tell("DID_CHANGE_RENEWAL_STATUS", purchase.bought, {"autoRenewStatus": 0})
        headers = {"If-None-Match": shop.ask(purchase.customer).headers["ETag"]}
        answer = wait(lambda: (answer := shop.ask(purchase.customer, headers=headers)).status_code == 200 and answer)
        assert answer.json()["access"][0]["standing"] == "expired"


class TestWhatIsTold:
    def test_every_change_of_a_life_says_what_the_customer_has(self, shop):
        purchase = Purchase(shop).subscribe()
        renewed = purchase.tell("DID_RENEW", purchase.period(2))
        purchase.tell("DID_CHANGE_RENEWAL_STATUS", renewed, {"autoRenewStatus": 0}, "AUTO_RENEW_DISABLED")
        purchase.tell("REFUND", purchase.period(2, revocationDate=now() - 1000, revocationReason=0))
        changes = shop.changes(purchase.customer)
        assert len(changes) >= 3 and changes[-1]["type"] == "entitlement.refunded"
        for change in changes:
            assert change["data"]["names"] == ["premium"]
            (access,) = change["data"]["access"]
            owned = change["data"]["entitlement"]
            assert (access["standing"], access["since"]) == (owned["standing"], owned["standingSince"])
            assert access.get("until") == owned.get("standingUntil") and "reasons" not in access
        assert changes[-1]["data"]["access"] == without_reasons([shop.access(purchase.customer)])
        assert shop.told(purchase.customer, count=len(changes)) == changes
        history = shop.get(f"/v1/entitlements/{purchase.original}/history", params={"app": "shop"}).json()["changes"]
        assert [line["change"] for line in history] == changes

    def test_of_a_purchase_that_nobody_owns_the_names_are_told(self, shop):
        purchase = nameless(shop).subscribe()
        history = shop.get(f"/v1/entitlements/{purchase.original}/history", params={"app": "shop"}).json()["changes"]
        (data,) = [line["change"]["data"] for line in history]
        assert data["names"] == ["premium"] and not {"access", "customer"} & data.keys()

    def test_a_change_takes_all_names_of_the_product_and_no_others(self, shop):
        purchase = Purchase(shop, productId=YEARLY).subscribe()
        Purchase(shop, appAccountToken=purchase.customer).subscribe()
        first, second = shop.changes(purchase.customer)
        assert [access["name"] for access in first["data"]["access"]] == ["premium", "pro"]
        assert [access["name"] for access in second["data"]["access"]] == ["premium"]

    @pytest.mark.parametrize(("product", "names"), [(MONTHLY, ["premium"]), (YEARLY, ["premium", "pro"]), (COINS, None)])
    def test_the_format_of_revenuecat_has_the_names(self, shop, product, names):
        purchase = Purchase(shop, productId=product).subscribe()
        ended = purchase.period(expiresDate=now() - 1000)
        purchase.tell("EXPIRED", ended, GIVEN_UP)
        events = [each["event"] for each in shop.told(purchase.customer, "cat", 2)]
        assert [(event["type"], event["entitlement_ids"], event["entitlement_id"]) for event in events] == [
            ("INITIAL_PURCHASE", names, None), ("EXPIRATION", names, None)
        ]  # fmt: skip

    def test_who_presents_a_receipt_is_answered_all_that_they_have(self, shop):
        """Also what other purchases give."""
        purchase = Purchase(shop, productId=YEARLY).subscribe()
        other = Purchase(shop, appAccountToken=purchase.customer)
        answer = shop.present(purchase.customer, other.period())
        assert answer["access"] == shop.all_access(purchase.customer)
        assert {reason["id"] for reason in answer["access"][0]["reasons"]} == {purchase.original, other.original}
        assert [len(owned) for owned in (answer["entitlements"], shop.ask(purchase.customer).json()["entitlements"])] == [1, 2]

    def test_what_is_not_valid_gives_nothing(self, shop):
        purchase = Purchase(shop)
        receipt = jws.sign(purchase.period(), shop.leaf)
        answer = shop.post(path(purchase.customer, "receipts"), params={"app": "shop"}, data=receipt[:-8] + "AAAAAAAA").json()
        assert (answer["verdict"]["verdict"], answer["access"]) == ("invalid", NOBODY)


class TestTransfers:
    """A second customer presents a receipt."""

    @pytest.fixture
    def people(self):
        return [f"{which}-{uuid.uuid4().hex}" for which in ("first", "second")]

    def has(self, shop, who: str, app: str) -> bool:
        return shop.access(who, app=app)["grantsAccess"]

    def owners(self, shop, purchase: Purchase, app: str) -> list[str]:
        answer = shop.get(f"/v1/entitlements/{purchase.original}", params={"app": app})
        return [owned["customer"] for owned in answer.json()["entitlements"]]

    def test_it_moves_by_default(self, shop, people):
        (first, second), purchase = people, nameless(shop)
        bought = purchase.period()
        shop.present(first, bought)
        answer = shop.present(second, bought)
        assert answer["access"][0] == element("premium", bought)
        assert answer["access"] == shop.all_access(second) and shop.all_access(first) == NOBODY
        assert self.owners(shop, purchase, "shop") == [second]
        (moved,) = shop.changes(second)
        assert moved["type"] == "entitlement.transferred"
        assert moved["data"]["access"] == without_reasons(answer["access"][:1])
        assert moved["data"]["previous"]["customer"] == first
        assert [change["type"] for change in shop.changes(first)] == ["entitlement.granted"]
        (event,) = [each["event"] for each in shop.told(second, "cat")]
        assert (event["type"], event["transferred_from"], event["transferred_to"]) == ("TRANSFER", [first], [second])

    def test_it_moves_back_and_what_follows_goes_with_it(self, shop, people):
        (first, second), purchase = people, nameless(shop)
        for who in (first, second, first):
            shop.present(who, purchase.period())
        assert (self.has(shop, first, "shop"), self.has(shop, second, "shop")) == (True, False)
        purchase.tell("REFUND", purchase.period(revocationDate=now(), revocationReason=0))
        assert shop.access(first)["standing"] == "refunded" and shop.access(second)["standing"] == "none"
        assert shop.changes(first)[-1]["type"] == "entitlement.refunded"

    def test_presenting_the_same_again_changes_nothing(self, shop, people):
        purchase = nameless(shop)
        for _ in range(2):
            for app in ("shop", "keep", "move-expired", "share"):
                shop.present(people[0], purchase.period(), app)
        for app in ("shop", "keep", "move-expired", "share"):
            assert len(shop.changes(people[0], app)) == 1

    @pytest.mark.parametrize("changes", [
        {}, {"expiresDate": now() - DAY}, {"revocationDate": now() - DAY, "revocationReason": 0},
    ], ids=["active", "expired", "refunded"])  # fmt: skip
    @pytest.mark.parametrize("app", ["keep", "move-expired"])
    def test_it_stays_where_the_rule_says_so(self, shop, people, app, changes):
        (first, second), purchase = people, nameless(shop)
        bought = purchase.period(**changes)
        shop.present(first, bought, app)
        before = shop.ask(first, app).content
        if app == "move-expired" and changes:
            assert shop.present(second, bought, app)["entitlements"][0]["customer"] == second
            assert shop.all_access(first, app) == NOBODY and shop.access(second, app=app)["reasons"]
            assert [change["type"] for change in shop.changes(second, app)] == ["entitlement.transferred"]
            return
        problem = shop.present(second, bought, app, 409)
        assert problem["code"] == "other-customer"
        assert shop.ask(first, app).content == before and shop.all_access(second, app) == NOBODY
        assert (self.owners(shop, purchase, app), shop.changes(second, app)) == ([first], [])

    @pytest.mark.parametrize("how", ["expires", "is refunded"])
    def test_it_may_move_once_it_gives_no_access(self, shop, people, how):
        (first, second), purchase, app = people, nameless(shop), "move-expired"
        bought = purchase.period(expiresDate=now() + 3000) if how == "expires" else purchase.period()
        shop.present(first, bought, app)
        shop.present(second, bought, app, 409)
        if how == "is refunded":
            refunded = bought | {"revocationDate": now() - 1, "revocationReason": 0, "signedDate": now() + 1}
            shop.present(first, refunded, app)
        wait(lambda: not self.has(shop, first, app))
        shop.present(second, bought, app)
        assert self.owners(shop, purchase, app) == [second]
        assert shop.access(second, app=app)["standing"] == ("expired" if how == "expires" else "refunded")
        assert shop.all_access(first, app) == NOBODY

    def test_it_is_shared(self, shop, people):
        (first, second), purchase, third = people, nameless(shop), f"third {uuid.uuid4().hex}"
        bought = purchase.period()
        shop.present(first, bought, "share")
        for who in (second, third, second):
            answer = shop.present(who, bought, "share")
            assert answer["access"] == shop.all_access(who, "share")
            assert answer["access"][0] == element("premium", bought)
        assert self.has(shop, first, "share") and self.owners(shop, purchase, "share") == [first]
        assert [change["type"] for change in shop.changes(first, "share")] == ["entitlement.granted"]
        refunded = bought | {"revocationDate": now() - 1, "revocationReason": 0, "signedDate": now() + 1}
        shop.present(second, refunded, "share")
        assert [shop.access(who, app="share")["standing"] for who in (first, second, third)] == ["refunded"] * 3
        assert self.owners(shop, purchase, "share") == [first]

    def test_what_is_shared_counts_beside_what_one_has(self, shop, people):
        (first, second), shared, own = people, nameless(shop), nameless(shop, productId=YEARLY)
        shop.present(first, shared.period(expiresDate=now() + DAY), "share")
        shop.present(second, own.period(expiresDate=now() + 2 * DAY), "share")
        shop.present(second, shared.period(expiresDate=now() + DAY), "share")
        assert [reason["id"] for reason in shop.access(second, app="share")["reasons"]] == [own.original, shared.original]
        assert [reason["id"] for reason in shop.access(first, app="share")["reasons"]] == [shared.original]

    @pytest.mark.parametrize("changes", [{}, {"expiresDate": now() - DAY}], ids=["active", "expired"])
    @pytest.mark.parametrize("app", ["shop", "keep", "move-expired", "share"])
    def test_a_receipt_that_names_its_customer_stays_with_them(self, shop, people, app, changes):
        purchase = Purchase(shop)
        problem = shop.present(people[1], purchase.period(**changes), app, 409)
        assert problem["code"] == "other-customer" and shop.all_access(people[1], app) == NOBODY
        shop.present(purchase.customer.upper(), purchase.period(**changes), app)
        shop.present(people[1], purchase.period(**changes), app, 409)
        assert self.owners(shop, purchase, app) == [purchase.customer]
        assert shop.access(purchase.customer, app=app)["reasons"] and shop.all_access(people[1], app) == NOBODY

    @pytest.mark.parametrize("app", ["keep", "share", "move-expired"])
    def test_the_receipt_of_a_named_customer_comes_back_from_who_had_it(self, shop, people, app):
        """One presented it while it named nobody, and then the store names its customer."""
        purchase = Purchase(shop)
        shop.present(people[0], purchase.period(appAccountToken=None), app)
        assert self.has(shop, people[0], app)
        shop.present(purchase.customer, purchase.period() | {"signedDate": now() + 1}, app)
        assert self.owners(shop, purchase, app) == [purchase.customer]
        assert (self.has(shop, purchase.customer, app), self.has(shop, people[0], app)) == (True, False)

    def test_what_was_shared_belongs_to_whom_the_store_names_alone(self, shop, people):
        purchase = Purchase(shop)
        for who in people:
            shop.present(who, purchase.period(appAccountToken=None), "share")
        assert [self.has(shop, who, "share") for who in people] == [True, True]
        shop.present(purchase.customer, purchase.period() | {"signedDate": now() + 1}, "share")
        shop.present(people[1], purchase.period() | {"signedDate": now() + 1}, "share", 409)
        assert self.has(shop, purchase.customer, "share")
        assert [self.has(shop, who, "share") for who in people] == [False, False]

    def test_who_shares_a_purchase_may_own_it_later(self, shop, people):
        """The owner is erased, and then the other presents it again."""
        (first, second), purchase = people, nameless(shop)
        for who in people:
            shop.present(who, purchase.period(), "share")
        assert shop.request("DELETE", path(first, "").rstrip("/"), params={"app": "share"}).status_code == 200
        assert shop.all_access(second, "share") == NOBODY
        answer = shop.present(second, purchase.period(), "share")
        assert answer["entitlements"][0]["customer"] == second and self.has(shop, second, "share")
        assert not self.has(shop, first, "share")

    @pytest.mark.parametrize(("app", "status", "owner", "having"), [
        ("shop", 200, 1, [1]), ("keep", 409, 0, [0]), ("move-expired", 409, 0, [0]), ("share", 200, 0, [0, 1]),
    ])  # fmt: skip
    def test_a_purchase_in_google_play_is_looked_up_for_a_second_customer(self, shop, people, app, status, owner, having):
        token = sell(shop, PRO)["purchaseToken"]
        look_up(shop, token, app, customer=people[0])
        look_up(shop, token, app, status, customer=people[1])
        (owned,) = shop.get(f"/v1/entitlements/{token}", params={"app": app}).json()["entitlements"]
        assert owned["customer"] == people[owner]
        assert [number for number in (0, 1) if shop.access(people[number], "pro", app)["grantsAccess"]] == having


class TestIsolation:
    def test_a_key_of_another_app_sees_nothing(self, shop):
        purchase = Purchase(shop, productId=YEARLY).subscribe()
        key = shop.key_for("read", app="share")
        assert shop.get(path(purchase.customer), key=key).json() == {
            "type": "entitlements", "version": 1, "access": NOBODY, "entitlements": []
        }  # fmt: skip
        tag = shop.ask(purchase.customer).headers["ETag"]
        assert shop.ask(purchase.customer, key=key, headers={"If-None-Match": tag}).status_code in (403, 404)
        assert shop.ask(purchase.customer, app="nobody's").status_code in (400, 404)
        own = shop.key_for("read", app="shop")
        assert shop.get(path(purchase.customer), key=own).json() == shop.ask(purchase.customer).json()

    def test_what_is_shared_in_one_app_is_not_in_another(self, shop):
        people, purchase = [f"{number} of {uuid.uuid4().hex}" for number in (1, 2)], nameless(shop)
        for who in people:
            shop.present(who, purchase.period(), "share")
        shop.present(people[0], purchase.period(), "keep")
        assert shop.access(people[1], app="share")["grantsAccess"] and shop.all_access(people[1], "keep") == NOBODY

    @pytest.mark.parametrize("who", [
        "a/b", "a%2Fb", "100%", "ä ö/ü", "日本", "a+b c", "a?b#c", 'a"b\\c', "a;b=c,d", "e\u0301", "a&app=keep",
    ], ids=["slash", "encoded slash", "percent", "umlauts", "kanji", "plus", "query", "quotes", "semicolon", "combined", "and"])
    def test_a_customer_may_have_any_name(self, shop, who):
        who = f"{who} {uuid.uuid4().hex}"
        answer = shop.present(who, nameless(shop).period())
        assert answer["entitlements"][0]["customer"] == who and answer["access"][0]["grantsAccess"]
        assert shop.all_access(who) == answer["access"]
        (change,) = shop.changes(who)
        assert change["data"]["access"] == without_reasons(answer["access"][:1])

    def test_a_uuid_is_the_same_in_capitals(self, shop):
        purchase = Purchase(shop).subscribe()
        lower, upper = shop.ask(purchase.customer), shop.ask(purchase.customer.upper())
        assert lower.json()["access"][0]["grantsAccess"]
        assert (lower.content, lower.headers["ETag"]) == (upper.content, upper.headers["ETag"])


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def place(request, tmp_path_factory, store):
    """A shop on a database, and what looks through all its bytes."""
    database = request.getfixturevalue("postgresql_server") if request.param == "postgresql" else None
    schema = f"names_{uuid.uuid4().hex[:8]}"
    shop = Shop(tmp_path_factory.mktemp("erasure"), store, database, schema, {name: APPS[name] for name in ("shop", "share")})
    shop.database = database
    with open(shop.folder / "log", "w") as log:
        shop.start(log)
    yield shop
    shop.stop()


class TestErasure:
    def files_with(self, place, *texts: str) -> list:
        if place.database:
            place.database.query("CHECKPOINT")
        folders = [place.folder] + ([place.database.data / "base"] if place.database else [])
        bytes_of = [text.encode() for text in texts]
        with contextlib.suppress(ValueError):
            bytes_of += [uuid.UUID(texts[0]).bytes, uuid.UUID(texts[0]).hex.encode()]
        while True:
            found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
            try:
                return [path for path in found if any(each in path.read_bytes() for each in bytes_of)]
            except FileNotFoundError:
                # The server renamed a file meanwhile, so that what was in it may have been missed.
                continue

    def erase(self, place, who: str, app="shop") -> dict:
        answer = place.request("DELETE", path(who, "").rstrip("/"), params={"app": app})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def grant(self, place, who: str, name: str, reason: str, app="shop", **members) -> str:
        body = {"entitlement": name, "reason": reason} | members
        answer = place.post(path(who, "grants"), params={"app": app}, json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()["grant"]["grantId"]

    @pytest.mark.parametrize("name", ["uuid", "text"])
    def test_nothing_of_a_customer_is_left(self, place, name):
        who = customer() if name == "uuid" else f"Erasmus of {uuid.uuid4().hex}"
        reason, withdrawn = (f"{which}-{uuid.uuid4().hex}" for which in ("reason", "withdrawal"))
        place.present(who, nameless(place).period())
        grants = [self.grant(place, who, entitlement, reason) for entitlement in ("pro", "early")]
        answer = place.request("DELETE", f"{path(who, 'grants')}/{grants[1]}", params={"app": "shop", "reason": withdrawn})
        assert answer.status_code == 200
        wait(lambda: len(place.told(who)) >= 4)
        assert self.files_with(place, who) and self.files_with(place, reason) and self.files_with(place, withdrawn)
        erased = self.erase(place, who)
        assert erased["purchases"] >= 1
        assert self.files_with(place, who, reason, withdrawn) == []
        assert place.ask(who).json() == {"type": "entitlements", "version": 1, "access": NOBODY, "entitlements": []}
        assert place.changes(who) == []
        for grant in grants:
            assert place.get(f"/v1/entitlements/{grant}", params={"app": "shop"}).status_code == 404
        acts = json.dumps(place.get("/v1/administrative-acts", params={"limit": 1000}).json())
        assert grants[0] in acts and not [each for each in (who, reason, withdrawn) if each in acts]
        assert self.erase(place, who)["purchases"] == 0

    @pytest.mark.parametrize("erased", [0, 1], ids=["who had it", "who has it"])
    def test_the_change_of_a_transfer_has_nothing_of_who_is_erased(self, place, erased):
        people = [f"{which} {uuid.uuid4().hex}" for which in ("first", "second")]
        ends = [text(now() + (77 + number) * DAY + 123) for number in range(2)]
        for who, end in zip(people, ends, strict=True):
            # It decides, so that the change of the transfer states it.
            self.grant(place, who, "premium", f"reason for {who}", expires=end)
        purchase = nameless(place)
        for who in people:
            place.present(who, purchase.period())
        gone, kept = people[erased], people[1 - erased]
        self.erase(place, gone)
        assert self.files_with(place, gone) == []
        changes = [line["change"] for line in place.get("/v1/changes", params={"app": "shop", "limit": 1000}).json()["changes"]]
        about = [change for change in changes if purchase.original in str(change)]
        (moved,) = [change for change in about if change["type"] == "entitlement.transferred"]
        assert gone not in str(changes) and ends[erased] not in str(changes)
        if erased == 0:
            assert moved["data"]["customer"] == kept and moved["data"]["access"][0]["until"] == ends[1]
            assert place.access(kept)["grantsAccess"]
        else:
            assert "access" not in moved["data"] and "customer" not in moved["data"]
        assert place.access(gone)["standing"] == "none"
        self.erase(place, kept)
        assert not [each for each in (*people, purchase.original) if each in place.get("/v1/changes?app=shop&limit=1000").text]

    def test_who_shares_a_purchase_loses_it_with_its_owner(self, place):
        owner, other = (f"{which}-{uuid.uuid4().hex}" for which in ("owner", "other"))
        purchase = nameless(place)
        for who in (owner, other):
            place.present(who, purchase.period(), "share")
        before = place.ask(other, "share").headers["ETag"]
        self.erase(place, owner, "share")
        answer = place.ask(other, "share", headers={"If-None-Match": before})
        assert answer.json() == {"type": "entitlements", "version": 1, "access": NOBODY, "entitlements": []}
        assert self.files_with(place, owner) == []

    def test_an_owner_keeps_what_one_shared_who_is_erased(self, place):
        owner, other = (f"{which}-{uuid.uuid4().hex}" for which in ("owner", "other"))
        purchase = nameless(place)
        for who in (owner, other):
            place.present(who, purchase.period(), "share")
        before = place.ask(owner, "share").content
        self.erase(place, other, "share")
        assert self.files_with(place, other) == [] and place.all_access(other, "share") == NOBODY
        assert place.ask(owner, "share").content == before


def put(*names: str, value):
    """Sets a setting of the app, or removes it."""

    def change(app: dict):
        *places, last = names
        for place in places:
            app = app[place]
        if value is None:
            app.pop(last, None)
        else:
            app[last] = value

    return change


def without_entitlements(**settings):
    def change(app: dict):
        for name in ("entitlements", "entitlement", "signingKeys"):
            app.pop(name, None)
        app |= settings

    return change


REFUSED = {
    "family sharing alone": (without_entitlements(familySharing=True), "familySharing"),
    "no family sharing alone": (without_entitlements(familySharing=False), "familySharing"),
    "test purchases alone": (without_entitlements(testPurchases="policy"), "testPurchases"),
    "test customers alone": (without_entitlements(testCustomers=["a"]), "testCustomers"),
    "test customers of none": (lambda app: app.update(testPurchases="refuse", testCustomers=["a"]), "testCustomers"),
    "another word of test purchases": (put("testPurchases", value="sandbox"), "testPurchases"),
    "another word of transfers": (put("transfers", value="steal"), "transfers"),
    "a word for family sharing": (put("familySharing", value="often"), "familySharing"),
    "two of one name": (put("entitlements", value=["premium", "premium"]), "entitlements"),
    "a dot": (lambda app: app.update(entitlements=["a.b"], entitlement={"a.b": {"products": ["p"]}}), "entitlements"),
    "a space": (lambda app: app.update(entitlements=["a b"], entitlement={"a b": {"products": ["p"]}}), "entitlements"),
    "no name": (lambda app: app.update(entitlements=[""], entitlement={}), "entitlement"),
    "products of another name": (put("entitlement", "premum", value={"products": ["p"]}), "entitlement.premum"),
    "a setting that is misspelt": (put("entitlement", "premium", "product", value=["p"]), "entitlement.premium.product"),
}  # fmt: skip


@pytest.fixture(scope="module")
def development(tmp_path_factory):
    """A folder for development, in which nothing is stored yet."""
    folder = tmp_path_factory.mktemp("settings") / "data"
    Service(folder).prepare()
    return folder


def check(folder, change):
    """Checks the configuration after a change of its app, which names two entitlements."""
    settings = configuration(folder)
    app = settings["app"]["demo"]
    app.pop("signingKeys", None)
    app |= {"entitlements": ["premium", "pro"], "entitlement": {"premium": {"products": [MONTHLY]}}}
    change(app)
    return checked(folder, settings)


@pytest.mark.parametrize("case", REFUSED)
def test_settings_without_effect_are_refused_at_the_start(development, case):
    change, name = REFUSED[case]
    ended = check(development, change)
    assert ended.returncode == 65 and f"app.demo.{name}" in ended.stderr, ended


@pytest.mark.parametrize("change", [
    lambda app: None, put("transfers", value="share"), without_entitlements(transfers="keep"),
    lambda app: app.update(testPurchases="accept", testCustomers=["a", TESTER], familySharing=False),
    lambda app: app.update(testCustomers=["a"]), put("entitlement", "premium", "products", value=["p:a", "q"]),
    put("entitlement", value=None),
], ids=["names", "transfers", "transfers alone", "rules", "test customers", "plans", "names without products"])  # fmt: skip
def test_settings_with_an_effect_are_accepted(development, change):
    ended = check(development, change)
    assert ended.returncode == 0, ended
