# SPDX-License-Identifier: Apache-2.0
"""Refund reviews of receipt-server: a store asks about a purchase whose refund was asked for, the backend states what is known of
its use and answers once, the store decides. Between the server and store-emulator stands a gate that keeps what is sent to the
stores, and stalls, loses or refuses it."""

import base64
import collections
import concurrent.futures
import http.client
import http.server
import json
import os
import re
import signal
import threading
import time
import urllib.parse
import uuid

import pytest
import requests

import samples
from emulator import Emulator
from independent import jws
from test_client_verify_receipt import now
from test_google_play import AUDIENCE, EMAIL, Google
from test_grants_by_hand import acts, asked, at_once
from test_named_entitlements import COINS, MONTHLY, PRO, Shop, customer, path, text, wait
from test_service_stores import free_port
from test_webhooks_revenuecat import NO_SUBSCRIPTION, Purchase
from test_with_server import Shop as EmulatedShop

pytestmark = pytest.mark.server

HOUR = 3_600_000
APPLE, GOOGLE = "app-store", "google-play"
TIME = {APPLE: 12 * HOUR, GOOGLE: 24 * HOUR}
# What every answer states.
STATED = {"customerConsented": True, "deliveryStatus": "DELIVERED", "sampleContentProvided": False}
USED_IN_PART = STATED | {"consumptionPercentage": 50_000}
CONSUMPTION = re.compile(r"^/inApps/v2/transactions/consumption/([^/?]+)$")
REVIEW_REFUND = re.compile(rf"^/androidpublisher/v3/applications/{re.escape(samples.BUNDLE)}/orders/([^/:?]+):reviewrefund$")
both_stores = pytest.mark.parametrize("store_name", [APPLE, GOOGLE])


# MARK: - The gate


class Stall:
    """Holds an answer until it is released: before the store has it, or after that. Its sender hears nothing."""

    def __init__(self, is_taken: bool):
        self.is_taken, self.arrived, self.released = is_taken, threading.Event(), threading.Event()


class Gate(http.server.ThreadingHTTPServer):
    """Stands before the emulator of both stores. Answers about purchases that the emulator does not know it takes itself."""

    daemon_threads = True

    def __init__(self, upstream: int):
        super().__init__(("127.0.0.1", 0), Passage)
        self.upstream, self.url = upstream, f"http://127.0.0.1:{self.server_address[1]}"
        self.google = Google()
        # What arrived: the method and path of each request, and the answers by review; those of them that a store has.
        self.requests: list[tuple[str, str]] = []
        self.arrived: dict[str, list[bytes]] = collections.defaultdict(list)
        self.taken: dict[str, list[bytes]] = collections.defaultdict(list)
        self.own: set[str] = set()
        # By review: a status, a response of HTTP, `cut`, `lose` (once it is taken), or a Stall.
        self.faults: dict[str, object] = {}
        # What a path has whose request fails.
        self.down: str | None = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def sent(self, id: str) -> list[dict]:
        """The answers about a review that arrived."""
        return [json.loads(body) for body in list(self.arrived[id])]

    def close(self):
        self.shutdown()
        self.server_close()
        self.google.server.shutdown()
        self.google.server.server_close()


class Passage(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self):
        gate, length = self.server, int(self.headers["Content-Length"] or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            # The server was killed in the midst of the request.
            self.close_connection = True
            return
        gate.requests.append((self.command, self.path))
        target = urllib.parse.unquote(self.path)
        found = {"PUT": CONSUMPTION, "POST": REVIEW_REFUND}.get(self.command, CONSUMPTION).match(target)
        if gate.down and gate.down in target:
            return self.reply(503, refusal(503, False))
        if not found:
            return self.reply(*self.forward(body))
        id = found[1]
        fault = gate.faults.get(id)
        gate.arrived[id].append(body)
        is_stalled = isinstance(fault, Stall)
        if fault == "cut":
            return self.end()
        if isinstance(fault, int):
            return self.reply(fault, refusal(fault, self.command == "PUT"))
        if isinstance(fault, bytes):
            gate.taken[id].append(body)
            self.wfile.write(fault)
            return self.end()
        if is_stalled and not fault.is_taken:
            fault.arrived.set()
            fault.released.wait(60)
            return self.end()
        # The App Store takes it with 202, and Google Play with an empty body.
        status, answer = ((202, b"") if self.command == "PUT" else (200, b"{}")) if id in gate.own else self.forward(body)
        if status < 300:
            gate.taken[id].append(body)
        if is_stalled:
            fault.arrived.set()
            fault.released.wait(60)
        if is_stalled or fault == "lose":
            return self.end()
        self.reply(status, answer)

    do_GET = do_POST = do_PUT = pass_on

    def forward(self, body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.upstream, timeout=30)
        names = ("Authorization", "Content-Type", "Accept")
        headers = {name: self.headers[name] for name in names if self.headers[name]}
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if self.path == "/oauth2/v3/certs":
            # This process signs pushes, too.
            own = self.server.google.respond("GET", "/certs")[1]
            data = json.dumps({"keys": json.loads(data)["keys"] + own["keys"]}).encode()
        return answer.status, data

    def reply(self, status: int, body: bytes):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def end(self):
        self.close_connection = True

    def log_message(self, *arguments):
        pass


def refusal(status: int, is_apple: bool) -> bytes:
    """An error as the stores say it."""
    if is_apple:
        return json.dumps({"errorCode": status * 10_000 + (10 if status == 404 else 6), "errorMessage": "No."}).encode()
    error = {"code": status, "message": "No.", "errors": [{"reason": "invalid", "message": "No.", "domain": "x"}]}
    return json.dumps({"error": error}).encode()


# MARK: - The server and the stores


class Market(Shop):
    """A server with credentials for the emulator's stores, which notify it of `shop`. The app `bare` has no credentials."""

    def __init__(self, folder, store, database=None, schema=""):
        self.emulator = Emulator(
            os.environ["STORE_EMULATOR"], folder / "state", "--no-token-checks",
            "--play-service-account", str(folder / "account.json"),
            "--play-push-audience", AUDIENCE, "--play-push-email", EMAIL,
        )  # fmt: skip
        self.gate, self.database = Gate(self.emulator.ready["port"]), database
        push = {"pushAudience": AUDIENCE, "pushEmail": EMAIL, "pushKeysURL": f"{self.gate.url}/oauth2/v3/certs"}
        google = push | {"serviceAccount": str(folder / "account.json"), "url": self.gate.url}
        super().__init__(folder, store, database, schema, {"shop": {}, "bare": {}}, google)
        # It outlives the process.
        self.settings["listen.port"] = str(free_port())
        address = f"http://127.0.0.1:{self.settings['listen.port']}/v1/notifications/shop"
        self.emulator.seed(notificationURL=address)
        self.control("play/push", url=address)

    def settings_of(self, app: str) -> dict:
        self.policy["trust"] = [self.root, self.emulator.ready["root"]]
        settings, developer = super().settings_of(app), self.emulator.developer
        if app == "bare":
            del settings["googlePlay"]
            return settings
        return settings | {"appStore": {
            "keyFile": self.emulator.ready["developerKey"], "keyID": developer["keyId"],
            "issuerID": developer["issuerId"], "bundleID": samples.BUNDLE, "url": self.gate.url,
        }}  # fmt: skip

    def control(self, name: str, **members) -> dict:
        return self.emulator.control("POST", name, members)

    def begin_another(self) -> "Market":
        port = self.settings["listen.port"]
        self.settings["listen.port"] = "0"
        try:
            other = super().begin_another()
            other.settings = dict(self.settings)
            return other
        finally:
            self.settings["listen.port"] = port

    def restart(self):
        self.end(signal.SIGKILL)
        self.start()

    def stop(self):
        super().stop()
        self.emulator.stop()
        self.gate.close()

    # MARK: What it says of reviews

    def reviews(self, id: str, app="shop", **arguments) -> list[dict]:
        answer = self.get(f"/v1/refund-reviews/{id}", params={"app": app}, **arguments)
        assert answer.status_code == 200, answer.text
        assert answer.json()["type"] == "refund-reviews"
        return answer.json()["reviews"]

    def review(self, id: str, app="shop") -> dict:
        (found,) = self.reviews(id, app)
        return found["review"]

    def state(self, id: str, app="shop") -> str:
        return self.review(id, app)["state"]

    def told_of(self, id: str, app="shop") -> list[dict]:
        """The changes of a review, in order."""
        found, since = [], 0
        while page := self.get("/v1/changes", params={"app": app, "since": since, "limit": 1000}).json()["changes"]:
            found += [line["change"] for line in page if line["change"]["data"]["entitlement"].get("refundReviewId") == id]
            since = page[-1]["sequence"]
        return found

    def types(self, id: str, app="shop") -> list[str]:
        return [change["type"].removeprefix("refund-review.") for change in self.told_of(id, app)]

    # MARK: What is asked of it

    def ask_for(self, what: str, id: str, members, status=200, app="shop", **arguments) -> dict:
        """States evidence for a review, or has its answer shown or sent."""
        method = "PUT" if what == "evidence" else "POST"
        answer = self.request(method, f"/v1/refund-reviews/{id}/{what}", params={"app": app}, json=members, **arguments)
        assert answer.status_code == status, answer.text
        return answer.json()

    def answer(self, id: str, members, status=200, app="shop", **arguments) -> dict:
        found = self.ask_for("answer", id, members, status, app, **arguments)
        return found["reviews"][0]["review"] if status == 200 else found

    def preview(self, id: str, members, status=200, **arguments) -> dict:
        return self.ask_for("preview", id, members, status, **arguments)

    def evidence(self, id: str, members, status=200, **arguments) -> dict:
        found = self.ask_for("evidence", id, members, status, **arguments)
        return found["reviews"][0]["review"] if status == 200 else found


def notify(shop, kind: str, transaction: dict, signed: int, identifier: str | None = None, app="shop", **data) -> None:
    """Notifies of a transaction as the App Store does, with a date of its own."""
    common = {"environment": transaction["environment"], "signedDate": signed}
    payload = samples.notification(jws.sign(transaction | common, shop.leaf), environment=transaction["environment"], **data)
    payload |= {"notificationType": kind, "notificationUUID": identifier or str(uuid.uuid4()), "signedDate": signed}
    answer = shop.post(f"/v1/notifications/{app}", json={"signedPayload": jws.sign(payload, shop.leaf)}, key="")
    assert answer.status_code == 200, answer.text


class ApplePurchase:
    """A purchase of which this process notifies as the App Store."""

    store, sent_name = APPLE, "consumptionPercentage"

    def __init__(self, shop, product=COINS, app="shop", **changes):
        kind = {} if product == MONTHLY else {"type": "Consumable"} | NO_SUBSCRIPTION
        self.shop, self.app = shop, app
        self.purchase = Purchase(shop, productId=product, **kind | changes)
        self.customer = self.purchase.customer
        self.transaction = self.purchase.period()
        self.id = self.transaction["transactionId"]
        self.sold = "SUBSCRIBED" if product == MONTHLY else "ONE_TIME_CHARGE"
        shop.gate.own.add(self.id)

    def buy(self):
        notify(self.shop, self.sold, self.transaction, now() - 30 * HOUR, app=self.app)
        return self

    def ask(self, hours=0.0, identifier: str | None = None, reason: str | None = "UNINTENDED_PURCHASE", date: int | None = None):
        """The store asked so long ago, or then."""
        self.asked = date or now() - int(hours * HOUR)
        data = {"consumptionRequestReason": reason} if reason else {}
        notify(self.shop, "CONSUMPTION_REQUEST", self.transaction, self.asked, identifier, self.app, **data)
        return self

    def decide(self, isRefunded=True, date: int | None = None, **changes):
        kind, date = "REFUND" if isRefunded else "REFUND_DECLINED", date or now()
        revoked = {"revocationDate": date, "revocationReason": 0} if isRefunded else {}
        notify(self.shop, kind, self.transaction | revoked | changes, date, app=self.app)
        return self


class GooglePurchase:
    """A purchase at the emulator, of which this process notifies as Google."""

    store, sent_name = GOOGLE, "consumptionPercentageMilliunits"

    def __init__(self, shop, product=COINS, **members):
        self.shop, self.product, self.customer, self.token = shop, product, customer(), f"token-{uuid.uuid4().hex}"
        members = {"account": str(uuid.uuid4()), "isTest": False, "obfuscatedAccountId": self.customer} | members
        self.bought = shop.control("play/buy", productId=product, **members)
        self.id, self.purchase_token = self.bought["orderId"], self.bought["purchaseToken"]
        shop.gate.own.add(self.id)

    def buy(self):
        return self

    def call(self, name: str):
        """The app calls Google Play about its purchase: `acknowledge`, `consume`."""
        kind = "subscriptions" if self.product == MONTHLY else "products"
        route = f"purchases/{kind}/{self.product}/tokens/{self.purchase_token}:{name}"
        answer = requests.post(
            f"{self.shop.gate.url}/androidpublisher/v3/applications/{samples.BUNDLE}/{route}", json={}, timeout=30
        )  # fmt: skip
        assert answer.ok, answer.text
        return self

    def push(self, date: int, **notification) -> None:
        content = {"version": "1.0", "packageName": samples.BUNDLE, "eventTimeMillis": str(date)} | notification
        data = base64.b64encode(json.dumps(content).encode()).decode()
        message = {"data": data, "messageId": uuid.uuid4().hex}
        headers = {"Authorization": f"Bearer {self.shop.gate.google.token()}"}
        answer = requests.post(
            f"{self.shop.url}/v1/notifications/shop", json={"message": message, "subscription": "s"}, headers=headers, timeout=60
        )  # fmt: skip
        assert answer.status_code in (200, 204), answer.text

    def ask(self, hours=0.0, identifier: str | None = None, date: int | None = None):
        self.asked = date or now() - int(hours * HOUR)
        self.token = identifier or self.token
        self.push(self.asked, pendingRefundReviewNotification={
            "version": "1.0", "pendingRefundToken": self.token, "orderId": self.id, "refundReason": 7,
            "obfuscatedAccountId": self.customer,
        })  # fmt: skip
        return self

    def decide(self, isRefunded=True, date: int | None = None, refundType=1):
        assert isRefunded, "Google says nothing"
        kind = 1 if self.product == MONTHLY else 2
        self.push(date or now(), voidedPurchaseNotification={
            "purchaseToken": self.purchase_token, "orderId": self.id, "productType": kind, "refundType": refundType,
        })  # fmt: skip
        return self


def purchase_in(store_name: str, shop, *arguments, **members):
    return (ApplePurchase if store_name == APPLE else GooglePurchase)(shop, *arguments, **members)


@pytest.fixture(scope="module")
def shop(tmp_path_factory, store):
    shop = Market(tmp_path_factory.mktemp("market"), store)
    shop.start()
    yield shop
    shop.stop()


class TestOpening:
    @pytest.mark.parametrize("product", [COINS, MONTHLY], ids=["consumable", "subscription"])
    def test_a_question_of_the_app_store(self, shop, product):
        purchase = ApplePurchase(shop, product).buy().ask()
        bought = purchase.transaction
        expected = {
            "type": "refund-review", "version": 1, "refundReviewId": purchase.id, "store": APPLE, "environment": "Production",
            "bundleId": samples.BUNDLE, "state": "open", "requestedDate": text(purchase.asked),
            "deadline": text(purchase.asked + 12 * HOUR), "reason": "UNINTENDED_PURCHASE",
            "originalTransactionId": bought["originalTransactionId"], "productId": product, "productType": bought["type"],
            "purchaseDate": text(bought["purchaseDate"]), "price": 4990, "currency": "CHF", "evidence": {},
            "suggestedPreference": "undecided",
        }  # fmt: skip
        if product == MONTHLY:
            expected["expiresDate"] = text(bought["expiresDate"])
        assert shop.reviews(purchase.id) == [{"customer": purchase.customer, "review": expected}]
        (change,) = shop.told_of(purchase.id)
        assert (change["type"], change["data"]["app"]) == ("refund-review.opened", "shop")
        assert (change["data"]["customer"], change["data"]["entitlement"]) == (purchase.customer, expected)
        assert change in shop.told(purchase.customer, count=2)
        # RevenueCat has no such event.
        shop.wait_for_webhooks()
        events = [told["event"]["type"] for told in shop.told(purchase.customer, "cat")]
        assert events == ["INITIAL_PURCHASE" if product == MONTHLY else "NON_RENEWING_PURCHASE"]

    @pytest.mark.parametrize("product", [COINS, MONTHLY], ids=["consumable", "subscription"])
    def test_a_question_of_google_play(self, shop, product):
        """It names an order alone: of the rest Google Play is asked."""
        purchase = GooglePurchase(shop, product).call("acknowledge").ask()
        expected = {
            "type": "refund-review", "version": 1, "refundReviewId": purchase.id, "store": GOOGLE,
            "packageName": samples.BUNDLE, "state": "open", "requestedDate": text(purchase.asked),
            "deadline": text(purchase.asked + 24 * HOUR), "reason": "CHARGEBACK", "purchaseToken": purchase.purchase_token,
            "productId": product, "currency": "USD", "price": 990 if product == COINS else 9990,
            "suggestedPreference": "undecided",
        }  # fmt: skip
        (found,) = shop.reviews(purchase.id)
        review = found["review"]
        assert found["customer"] == purchase.customer
        assert {name: review.get(name) for name in expected} == expected
        assert set(review) - set(expected) == {"purchaseDate", "evidence"} | ({"expiresDate"} if product == MONTHLY else set())
        assert review["evidence"]["isDelivered"] is True and "consumptionPercentage" not in review["evidence"]
        (owned,) = shop.ask(purchase.customer).json()["entitlements"]
        if product == MONTHLY:
            assert review["expiresDate"] == owned["entitlement"]["expiresDate"]
        (change,) = shop.told_of(purchase.id)
        assert change["type"] == "refund-review.opened"
        assert (change["data"]["customer"], change["data"]["entitlement"]) == (purchase.customer, review)
        assert ("GET", f"/androidpublisher/v3/applications/{samples.BUNDLE}/orders/{purchase.id}") in shop.gate.requests

    def test_the_reason_is_the_store_s(self, shop):
        for reason in ("FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER", "A_REASON_OF_NEXT_YEAR", None):
            assert shop.review(ApplePurchase(shop).ask(reason=reason).id).get("reason") == reason

    @pytest.mark.parametrize(("calls", "suggestion", "used"), [
        (["acknowledge"], "undecided", None), (["acknowledge", "consume"], "decline", 100_000), (["consume"], "decline", 100_000),
    ], ids=["acknowledged", "acknowledged and consumed", "consumed"])  # fmt: skip
    def test_google_play_knows_what_was_consumed(self, shop, calls, suggestion, used):
        purchase = GooglePurchase(shop)
        for call in calls:
            purchase.call(call)
        review = shop.review(purchase.ask().id)
        assert review["suggestedPreference"] == suggestion
        assert (review["evidence"]["isDelivered"], review["evidence"].get("consumptionPercentage")) == (True, used)

    @pytest.mark.parametrize("call", ["orders/{order}", "purchases/"], ids=["order", "purchase"])
    def test_a_question_of_google_play_waits_for_its_answers(self, shop, call):
        """It is not acknowledged before, so that it comes again."""
        purchase = GooglePurchase(shop).call("acknowledge")
        shop.gate.down = call.format(order=purchase.id)
        with pytest.raises(AssertionError):
            purchase.ask()
        shop.gate.down = None
        assert shop.types(purchase.id) == []
        purchase.ask(date=purchase.asked)
        assert shop.review(purchase.id)["productId"] == COINS and shop.types(purchase.id) == ["opened"]

    def test_an_order_that_google_play_does_not_know(self, shop):
        purchase = GooglePurchase(shop)
        purchase.id = f"GPA.{uuid.uuid4().int % 10**12}"
        shop.gate.own.add(purchase.id)
        (found,) = shop.reviews(purchase.ask().id)
        assert (found["review"]["state"], found["customer"], "productId" in found["review"]) == ("open", purchase.customer, False)
        shop.answer(purchase.id, STATED)
        assert [sent["pendingRefundToken"] for sent in shop.gate.sent(purchase.id)] == [purchase.token]

    @both_stores
    @pytest.mark.parametrize("is_answered", [False, True], ids=["open", "answered"])
    def test_a_notification_that_is_repeated_opens_nothing_twice(self, shop, store_name, is_answered):
        """Google's comes each time as another message of Pub/Sub."""
        identifier = str(uuid.uuid4())
        purchase = purchase_in(store_name, shop).buy().ask(identifier=identifier)
        if is_answered:
            shop.answer(purchase.id, STATED)
        before, types = shop.reviews(purchase.id), shop.types(purchase.id)
        for _ in range(3):
            purchase.ask(identifier=identifier, date=purchase.asked)
        assert shop.reviews(purchase.id) == before
        assert shop.types(purchase.id) == types == ["opened", "answered"][: 1 + is_answered]

    @pytest.mark.parametrize("is_answered", [False, True], ids=["open", "answered"])
    def test_a_token_of_google_is_of_one_question(self, shop, is_answered):
        """Google may remind of it, with a later time."""
        purchase = GooglePurchase(shop).ask(hours=2)
        if is_answered:
            shop.answer(purchase.id, STATED)
        before, types = shop.reviews(purchase.id), shop.types(purchase.id)
        purchase.ask(hours=1)
        assert shop.types(purchase.id) == types and shop.reviews(purchase.id) == before

    def test_the_list_has_the_latest_question_first(self, shop):
        # One arrives late.
        kinds = [(ApplePurchase, 2), (GooglePurchase, 1), (ApplePurchase, 3), (ApplePurchase, 0)]
        purchases = [kind(shop).ask(hours=hours) for kind, hours in kinds]
        ids = [purchase.id for purchase in purchases]
        # What happens later is no question.
        purchases[2].decide(False)
        shop.evidence(ids[0], STATED)

        def listed(**query) -> list[str]:
            answer = shop.get("/v1/refund-reviews", params={"app": "shop"} | query)
            assert answer.status_code == 200 and answer.json()["type"] == "refund-reviews", answer.text
            return [each["review"]["refundReviewId"] for each in answer.json()["reviews"]]

        everything = listed(limit=1000)
        assert [id for id in everything if id in ids] == [ids[3], ids[1], ids[0], ids[2]]
        assert listed(limit=1) == everything[:1] == ids[3:] and listed(limit=3) == everything[:3]
        opened, declined = listed(state="open", limit=1000), listed(state="declined", limit=1000)
        assert [id for id in opened if id in ids] == [ids[3], ids[1], ids[0]] and ids[2] in declined
        assert listed(state="open", limit=2) == opened[:2] and not set(opened) & set(declined)
        dates = [shop.review(id)["requestedDate"] for id in everything[:20]]
        assert dates == sorted(dates, reverse=True)

    def test_a_query_that_is_wrong(self, shop):
        for name, value in [("state", "unknown"), ("state", "OPEN"), ("limit", "0"), ("limit", "x"), ("limit", "1001")]:
            answer = shop.get("/v1/refund-reviews", params={"app": "shop", name: value})
            assert (answer.status_code, answer.json().get("place")) == (400, name), answer.text

    def test_each_app_has_its_own(self, shop):
        purchase = ApplePurchase(shop, app="bare").ask()
        assert shop.state(purchase.id, "bare") == "open"
        assert shop.get(f"/v1/refund-reviews/{purchase.id}", params={"app": "shop"}).status_code == 404
        listed = shop.get("/v1/refund-reviews", params={"app": "shop", "limit": 1000}).text
        assert purchase.id not in listed
        shop.answer(purchase.id, {"skip": True}, 404)
        assert shop.types(purchase.id) == [] and shop.types(purchase.id, "bare") == ["opened"]

    def test_what_nobody_asked_about_is_not_there(self, shop):
        purchase = ApplePurchase(shop).buy()
        for id in (purchase.id, "GPA.0000-0000-0000-00000"):
            assert shop.get(f"/v1/refund-reviews/{id}", params={"app": "shop"}).status_code == 404
            for what in ("evidence", "preview", "answer"):
                assert shop.ask_for(what, id, STATED, 404)["code"] == "not-found"

    @both_stores
    def test_a_review_is_no_entitlement(self, shop, store_name):
        purchase = purchase_in(store_name, shop).buy()
        before = shop.ask(purchase.customer).json()
        shop.answer(purchase.ask().id, STATED)
        assert shop.ask(purchase.customer).json() == before
        (owned,) = before["entitlements"]
        key = getattr(purchase, "purchase_token", None) or purchase.transaction["originalTransactionId"]
        assert shop.get(f"/v1/entitlements/{key}", params={"app": "shop"}).json()["entitlements"] == [owned]

    def test_a_review_of_the_first_transaction_is_not_among_the_entitlements_of_its_purchase(self, shop):
        """Its identifier is that of the purchase, too."""
        purchase = ApplePurchase(shop)
        purchase.transaction |= {"transactionId": purchase.transaction["originalTransactionId"]}
        purchase.id = purchase.transaction["transactionId"]
        purchase.buy().ask()
        found = shop.get(f"/v1/entitlements/{purchase.id}", params={"app": "shop"}).json()["entitlements"]
        presented = shop.present(purchase.customer, purchase.transaction)["entitlements"]
        types = [[owned["entitlement"]["type"] for owned in each] for each in (found, presented)]
        assert types == [["entitlement"], ["entitlement"]]
        assert shop.state(purchase.id) == "open"

    def test_the_customer_is_the_one_who_has_the_purchase(self, shop):
        """The store names none: the one who presented it last."""
        who, another = customer(), customer()
        purchase = ApplePurchase(shop, appAccountToken=None)
        shop.present(who, purchase.transaction)
        purchase.ask()
        assert [found.get("customer") for found in shop.reviews(purchase.id)] == [who]
        assert [change["data"].get("customer") for change in shop.told_of(purchase.id)] == [who]
        shop.present(another, purchase.transaction | {"signedDate": now()})
        assert shop.ask(another).json()["entitlements"] and not shop.ask(who).json()["entitlements"]
        assert [found.get("customer") for found in shop.reviews(purchase.id)] == [another]
        shop.answer(purchase.id, STATED)
        assert shop.types(purchase.id) == ["opened", "answered"]
        assert [found.get("customer") for found in shop.reviews(purchase.id)] == [another]
        assert shop.told_of(purchase.id)[-1]["data"]["customer"] == another

    def test_a_customer_who_is_known_later(self, shop):
        purchase, who = ApplePurchase(shop, appAccountToken=None).ask(), customer()
        assert [found.get("customer") for found in shop.reviews(purchase.id)] == [None]
        shop.present(who, purchase.transaction | {"signedDate": now()})
        assert [found.get("customer") for found in shop.reviews(purchase.id)] == [who]
        purchase.decide()
        assert [found.get("customer") for found in shop.reviews(purchase.id)] == [who]
        assert shop.types(purchase.id) == ["opened", "decided"]
        assert shop.told_of(purchase.id)[-1]["data"]["customer"] == who


# Values that are wrong for a member.
WRONG = {
    "customerConsented": ["yes", 1, [], {}], "sampleContentProvided": ["false", 0],
    "deliveryStatus": ["LOST", "delivered", "", 5, True, []], "playTime": [-1, "1h", 1.5, [1]],
    "consumptionPercentage": [-1, 100_001, 0.5, "50000", 2**70, True, {}], "usageEvents": [{}, "now", 1, [{}] * 1001],
    "consumed": [1], "Skip": [True], "lifetimeDollarsPurchased": [3],
}  # fmt: skip
WRONG_IN_A_USE = {
    "date": [5, "yesterday", "2026-02-30T00:00:00Z", []], "description": [1, {}], "ipAddress": [["192.0.2.1"], 7],
    "ip": ["192.0.2.1"],
}  # fmt: skip


class TestEvidence:
    @both_stores
    def test_it_is_kept_and_added_to(self, shop, store_name):
        purchase = purchase_in(store_name, shop).ask()
        events = [{"date": text(now() - HOUR), "description": "500 coins for a sword", "ipAddress": "192.0.2.1"}, {}]
        review = shop.evidence(purchase.id, {"customerConsented": True, "playTime": 7200, "usageEvents": events})
        assert review == shop.review(purchase.id) and review["state"] == "open"
        stated = {name: review["evidence"].get(name) for name in ("customerConsented", "playTime", "usageEventCount")}
        assert stated == {"customerConsented": True, "playTime": 7200, "usageEventCount": 2}
        members = {"deliveryStatus": "DELIVERED", "sampleContentProvided": True, "consumptionPercentage": 100_000, "playTime": 0}
        review = shop.evidence(purchase.id, members)
        assert review["evidence"] == members | {"customerConsented": True, "isDelivered": True, "usageEventCount": 2}
        assert review["suggestedPreference"] == "decline"
        # An answer needs nothing else.
        body = json.loads(shop.answer(purchase.id, {})["answer"]["body"])
        assert shop.gate.sent(purchase.id) == [body] and body[purchase.sent_name] == 100_000
        assert body["sampleContentProvided"] is True
        assert shop.types(purchase.id) == ["opened", "answered"]

    @both_stores
    def test_what_is_suggested(self, shop, store_name):
        purchase = purchase_in(store_name, shop).ask()
        for delivery, used, suggestion in [
            ("DELIVERED", None, "undecided"), ("UNDELIVERED_QUALITY_ISSUE", None, "grant"), ("DELIVERED", 0, "grant"),
            ("DELIVERED", 1, "grant-prorated"), ("DELIVERED", 99_999, "grant-prorated"), ("DELIVERED", 100_000, "decline"),
            ("UNDELIVERED_SERVER_OUTAGE", 0, "grant"), ("UNDELIVERED_WRONG_ITEM", None, "grant"),
            ("UNDELIVERED_OTHER", 0, "grant"),
        ]:  # fmt: skip
            members = {"deliveryStatus": delivery} | ({} if used is None else {"consumptionPercentage": used})
            review = shop.evidence(purchase.id, members)
            assert (members, review["suggestedPreference"]) == (members, suggestion)
            assert {name: review["evidence"][name] for name in members} == members

    def test_a_member_that_is_wrong_is_named(self, shop):
        wrong = [(f"$.{name}", {name: value}) for name, values in WRONG.items() for value in values]
        assert self.accepted(shop, wrong) == []

    def test_a_member_of_a_use_that_is_wrong_is_named(self, shop):
        wrong = [
            (f"$.usageEvents[1].{name}", {"usageEvents": [{}, {name: value}]})
            for name, values in WRONG_IN_A_USE.items() for value in values
        ]  # fmt: skip
        wrong += [("$.usageEvents[2]", {"usageEvents": [{}, {}, value]}) for value in (1, "x", [], None)]
        assert self.accepted(shop, wrong) == []

    def test_a_wish_that_is_wrong_is_named(self, shop):
        wishes = {"preference": ["refund", "GRANT_FULL", 1, []], "skip": ["true", 1, []]}
        wrong = [(f"$.{name}", {name: value}) for name, values in wishes.items() for value in values]
        assert self.accepted(shop, wrong, of=("preview", "answer")) == []

    def accepted(self, shop, wrong: list[tuple[str, dict]], of=("evidence", "preview", "answer")) -> list[tuple]:
        """What is wrong and not refused with its place, or changes something."""
        found = []
        for place, members in wrong:
            purchase = ApplePurchase(shop).ask()
            before = shop.reviews(purchase.id)
            for what in of:
                method, route = "PUT" if what == "evidence" else "POST", f"/v1/refund-reviews/{purchase.id}/{what}"
                answer = shop.request(method, route, params={"app": "shop"}, json=STATED | members)
                if (answer.status_code, answer.json().get("place")) != (400, place):
                    found.append((what, str(members)[:80], answer.status_code, answer.json().get("place")))
            if shop.reviews(purchase.id) != before or shop.gate.sent(purchase.id):
                found.append(("changes", str(members)[:80]))
        return found

    def test_whatever_is_wrong_has_one_code(self, shop):
        id = ApplePurchase(shop, MONTHLY).ask().id
        wrong = [{"other": 1}, {"playTime": "x"}, {"playTime": -1}, {"deliveryStatus": "LOST"}, {"consumptionPercentage": 5}]
        codes = {json.dumps(members): shop.answer(id, STATED | members, 400)["code"] for members in wrong}
        assert codes == dict.fromkeys(codes, "invalid-request")

    def test_a_body_that_is_none(self, shop):
        id = ApplePurchase(shop).ask().id
        for body, kind, status in [
            (b"[]", "application/json", 400), (b"{", "application/json", 400), (b"", "application/json", 400),
            (b'{"skip": true, "skip": false}', "application/json", 400), (b"{}", "multipart/form-data; boundary=x", 415),
        ]:  # fmt: skip
            for method, what in (("PUT", "evidence"), ("POST", "preview"), ("POST", "answer")):
                answer = shop.request(
                    method, f"/v1/refund-reviews/{id}/{what}", params={"app": "shop"}, data=body, headers={"Content-Type": kind}
                )  # fmt: skip
                assert answer.status_code == status, (what, body, answer.text)
        assert shop.state(id) == "open"

    def test_a_thousand_uses_are_taken(self, shop):
        purchase = GooglePurchase(shop).ask()
        events = [{"description": f"use {number}", "ipAddress": f"2001:db8::{number:x}"} for number in range(1000)]
        assert shop.evidence(purchase.id, {"usageEvents": events})["evidence"]["usageEventCount"] == 1000
        shop.answer(purchase.id, {"sampleContentProvided": False})
        (sent,) = shop.gate.sent(purchase.id)
        assert [each["ipAddress"] for each in sent["consumptionUsageEvents"]] == [each["ipAddress"] for each in events]


class TestPermission:
    def test_what_each_scope_permits(self, shop):
        id = ApplePurchase(shop).ask().id
        routes = {
            "list": ("GET", "/v1/refund-reviews"), "get": ("GET", f"/v1/refund-reviews/{id}"),
            **{what: ("POST" if what != "evidence" else "PUT", f"/v1/refund-reviews/{id}/{what}")
               for what in ("evidence", "preview", "answer")},
        }  # fmt: skip
        permitted = {
            "read": {"list", "get"}, "review": {"evidence", "preview", "answer"}, "verify": set(), "grant": set(), "admin": set(),
            "client": set(),
        }  # fmt: skip
        for scope, expected in permitted.items():
            key = shop.key_for(scope, app="shop" if scope == "client" else None)
            found = {}
            for name, (method, route) in routes.items():
                body = {} if method == "GET" else {"json": {"customerConsented": True} if name == "evidence" else {"skip": True}}
                answer = shop.request(method, route, key=key, params={"app": "shop"}, **body)
                found[name] = answer.status_code
                if name not in expected:
                    assert answer.json()["code"] == "missing-scope", (scope, name)
            assert found == {name: 200 if name in expected else 403 for name in routes}, scope
        for method, route in routes.values():
            body = {} if method == "GET" else {"json": {}}
            assert shop.request(method, route, key="", params={"app": "shop"}, **body).status_code == 401

    def test_a_key_of_another_app_sees_and_does_nothing(self, shop):
        id, key = ApplePurchase(shop).ask().id, shop.key_for("review", "read", app="bare")
        assert shop.get(f"/v1/refund-reviews/{id}", key=key).status_code == 404
        assert shop.post(f"/v1/refund-reviews/{id}/answer", json={"skip": True}, key=key).status_code == 404
        shop.answer(id, {"skip": True}, 404, key=key)
        assert id not in shop.get("/v1/refund-reviews", key=key).text and shop.state(id) == "open"

    def test_acts_name_the_review_and_not_the_customer(self, shop):
        key, before = shop.key_for("review"), len(acts(shop))
        first, second, third = ApplePurchase(shop).ask(), GooglePurchase(shop).ask(), ApplePurchase(shop).ask()
        shop.evidence(first.id, USED_IN_PART, key=key)
        shop.preview(first.id, {}, key=key)
        assert shop.answer(first.id, {}, key=key)["answer"]["answeredBy"] == key.split("_")[1]
        shop.answer(first.id, {}, key=key)
        shop.answer(first.id, {"preference": "grant"}, 409, key=key)
        shop.answer(second.id, {"skip": True}, key=key)
        shop.answer(second.id, {"skip": True}, key=key)
        shop.answer(third.id, {"sampleContentProvided": True}, 422, key=key)
        new = [act for act in acts(shop)[before:] if act["act"].startswith("refund-review.")]
        assert [(act["act"], act["actor"]) for act in new] == [
            ("refund-review.answer", key.split("_")[1]), ("refund-review.skip", key.split("_")[1])
        ]  # fmt: skip
        assert [id in act["details"] for id, act in zip((first.id, second.id), new, strict=True)] == [True, True]
        assert not [who for who in (first.customer, second.customer) if who in json.dumps(new)]


class TestAnswering:
    # The part that was used, the wish, and what is sent for them.
    @pytest.mark.parametrize(("product", "members", "wish"), [
        (COINS, {}, None), (COINS, {"consumptionPercentage": 7, "preference": "undecided"}, None),
        (COINS, {"consumptionPercentage": 0}, "GRANT_FULL"), (COINS, {"consumptionPercentage": 1}, "GRANT_PRORATED"),
        (COINS, {"consumptionPercentage": 100_000}, "DECLINE"),
        (COINS, {"consumptionPercentage": 99_999, "preference": "grant"}, "GRANT_FULL"),
        (COINS, {"deliveryStatus": "UNDELIVERED_WRONG_ITEM", "sampleContentProvided": True}, "GRANT_FULL"),
        (COINS, {"deliveryStatus": "UNDELIVERED_OTHER", "consumptionPercentage": 0, "preference": "decline"}, "DECLINE"),
        (COINS, {"playTime": 5, "usageEvents": [{"ipAddress": "192.0.2.1"}], "preference": "decline"}, "DECLINE"),
        (MONTHLY, {}, None), (MONTHLY, {"preference": "grant-prorated"}, "GRANT_PRORATED"),
    ], ids=[
        "no wish", "undecided", "unused", "used in part", "used up", "a wish", "not delivered", "another wish",
        "what Apple has no use for", "subscription", "subscription prorated",
    ])  # fmt: skip
    def test_what_the_app_store_is_sent(self, shop, product, members, wish):
        purchase = ApplePurchase(shop, product).ask()
        members = STATED | members
        expected = {name: members[name] for name in USED_IN_PART if name in members}
        expected |= {"refundPreference": wish} if wish else {}
        shown = shop.preview(purchase.id, members)
        assert shown["type"] == "refund-answer" and json.loads(shown["body"]) == expected
        # It sends and changes nothing.
        assert shop.gate.sent(purchase.id) == [] and shop.types(purchase.id) == ["opened"]
        review = shop.review(purchase.id)
        assert (review["state"], review["evidence"], "answer" in review) == ("open", {}, False)
        review = shop.answer(purchase.id, members)
        assert shop.gate.arrived[purchase.id] == [shown["body"].encode()]
        assert review == shop.review(purchase.id) and review["state"] == "answered"
        words = {"DECLINE": "decline", "GRANT_FULL": "grant", "GRANT_PRORATED": "grant-prorated", None: "undecided"}
        answer = review["answer"]
        assert answer == {
            "date": answer["date"], "preference": words[wish], "answeredBy": shop.key.split("_")[1],
            "sentDate": answer["sentDate"], "body": shown["body"],
        }  # fmt: skip
        assert answer["date"] <= answer["sentDate"]
        assert shop.types(purchase.id) == ["opened", "answered"]
        assert shop.told_of(purchase.id)[-1]["data"]["entitlement"] == review

    def test_what_google_play_is_sent(self, shop):
        for members, expected in [
            ({}, {"refundPreference": "NEUTRAL"}), ({"preference": "undecided"}, {"refundPreference": "NEUTRAL"}),
            ({"preference": "decline"}, {"refundPreference": "DECLINE"}),
            ({"preference": "grant"}, {"refundPreference": "APPROVE"}),
            ({"preference": "grant-prorated"}, {"refundPreference": "APPROVE"}),
            ({"consumptionPercentage": 0}, {"refundPreference": "APPROVE", "consumptionPercentageMilliunits": 0}),
            ({"consumptionPercentage": 45_200}, {"refundPreference": "APPROVE", "consumptionPercentageMilliunits": 45_200}),
            ({"consumptionPercentage": 100_000}, {"refundPreference": "DECLINE", "consumptionPercentageMilliunits": 100_000}),
            # It needs no consent.
            ({"customerConsented": False}, {"refundPreference": "NEUTRAL"}),
            ({"sampleContentProvided": True}, {"refundPreference": "NEUTRAL", "sampleContentProvided": True}),
            ({"deliveryStatus": "UNDELIVERED_SERVER_OUTAGE", "playTime": 1}, {"refundPreference": "APPROVE"}),
        ]:  # fmt: skip
            purchase = GooglePurchase(shop).call("acknowledge").ask()
            members = {"sampleContentProvided": False} | members
            expected = {"pendingRefundToken": purchase.token, "sampleContentProvided": False} | expected
            shown = shop.preview(purchase.id, members)
            assert json.loads(shown["body"]) == expected and shop.gate.sent(purchase.id) == []
            review = shop.answer(purchase.id, members)
            assert shop.gate.arrived[purchase.id] == [shown["body"].encode()]
            assert (review["state"], review["answer"]["body"]) == ("answered", shown["body"])
            assert shop.types(purchase.id) == ["opened", "answered"]

    def test_google_play_is_sent_the_uses(self, shop):
        purchase = GooglePurchase(shop).call("acknowledge").ask()
        date, description = text(now() - HOUR), "500 coins for “Excalibur”"
        events = [{"date": date, "description": description, "ipAddress": "192.0.2.1"}, {"description": "a shield"}]
        shop.answer(purchase.id, {"sampleContentProvided": False, "usageEvents": events})
        (sent,) = shop.gate.sent(purchase.id)
        first, second = sent["consumptionUsageEvents"]
        assert first["consumptionTime"] == date and first["ipAddress"] == "192.0.2.1"
        assert first["consumptionItemDescription"] == description
        assert second["consumptionItemDescription"] == "a shield" and not {"consumptionTime", "ipAddress"} & set(second)

    def test_what_apple_would_refuse_is_not_sent(self, shop):
        consent, used, wish = (f"$.{name}" for name in ("customerConsented", "consumptionPercentage", "preference"))
        for product, members, place in [
            (COINS, {"customerConsented": False}, consent), (COINS, {"customerConsented": None}, consent),
            (MONTHLY, {"consumptionPercentage": 50_000}, used), (MONTHLY, {"consumptionPercentage": 0}, used),
            (COINS, {"deliveryStatus": "UNDELIVERED_OTHER", "consumptionPercentage": 1}, used),
            (COINS, {"preference": "grant-prorated"}, wish),
            (COINS, {"preference": "grant-prorated", "consumptionPercentage": 0}, wish),
            (COINS, {"preference": "grant-prorated", "consumptionPercentage": 100_000}, wish),
            (COINS, {"sampleContentProvided": None}, "$.sampleContentProvided"),
            (COINS, {"deliveryStatus": None}, "$.deliveryStatus"),
        ]:  # fmt: skip
            purchase = ApplePurchase(shop, product).ask()
            stated = {name: value for name, value in (STATED | members).items() if value is not None}
            for ask in (shop.preview, shop.answer):
                problem = ask(purchase.id, stated, 422 if place == consent else 400)
                assert (problem["place"], problem["code"] == "no-consent") == (place, place == consent)
            assert shop.gate.sent(purchase.id) == [] and shop.types(purchase.id) == ["opened"]
            review = shop.review(purchase.id)
            assert (review["state"], "answer" in review) == ("open", False)
            shop.answer(purchase.id, STATED)

    @both_stores
    def test_a_review_is_answered_once(self, shop, store_name):
        purchase = purchase_in(store_name, shop).ask()
        first = shop.answer(purchase.id, USED_IN_PART | {"preference": "decline"})
        again = shop.answer(purchase.id, USED_IN_PART | {"preference": "decline"})
        assert again == first == shop.review(purchase.id)
        # The same in other words.
        assert shop.answer(purchase.id, {"preference": "decline"}) == first
        for other in ({"preference": "grant"}, {"preference": "decline", "sampleContentProvided": True}, {"skip": True}):
            problem = shop.answer(purchase.id, USED_IN_PART | other, 409)
            assert problem["code"] == "already-answered"
        assert shop.review(purchase.id) == first and len(shop.gate.arrived[purchase.id]) == 1
        assert shop.types(purchase.id) == ["opened", "answered"]

    @both_stores
    @pytest.mark.parametrize("body", [{}, USED_IN_PART], ids=["all stated before", "all in the request"])
    def test_a_statement_after_the_answer_changes_no_answer(self, shop, store_name, body):
        purchase = purchase_in(store_name, shop).ask()
        shop.evidence(purchase.id, USED_IN_PART)
        first = shop.answer(purchase.id, body)
        later = {"consumptionPercentage": 100_000, "sampleContentProvided": True, "playTime": 60}
        review = shop.evidence(purchase.id, later)
        assert (review["state"], review["answer"]) == ("answered", first["answer"])
        assert review["evidence"]["consumptionPercentage"] == 100_000
        # The request was answered, whoever stated what in the meantime.
        assert shop.answer(purchase.id, body)["answer"] == first["answer"]
        assert len(shop.gate.arrived[purchase.id]) == 1 and shop.types(purchase.id) == ["opened", "answered"]

    @both_stores
    def test_requests_at_once(self, shop, store_name):
        purchase = purchase_in(store_name, shop).ask()
        route = f"/v1/refund-reviews/{purchase.id}/answer"
        wishes = ["decline", "grant", "decline", "undecided", "decline", "grant"]
        answers = at_once(*(
            lambda wish=wish: asked(shop, "POST", route, json=STATED | {"preference": wish}) for wish in wishes
        ))  # fmt: skip
        won = shop.review(purchase.id)["answer"]["preference"]
        assert [answer.status_code for answer in answers] == [200 if wish == won else 409 for wish in wishes]
        assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"already-answered"}
        assert len(set(shop.gate.arrived[purchase.id])) == 1 and shop.types(purchase.id) == ["opened", "answered"]

    @both_stores
    def test_a_decision_in_the_midst_of_the_answer(self, shop, store_name):
        purchase, stall = purchase_in(store_name, shop).buy().ask(), Stall(is_taken=True)
        shop.gate.faults[purchase.id] = stall
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            (begun,) = answered_at_once(pool, shop, {purchase.id: STATED})
            assert stall.arrived.wait(30)
            assert shop.state(purchase.id) == "answering"
            purchase.decide()
            assert shop.state(purchase.id) == "granted"
            del shop.gate.faults[purchase.id]
            stall.released.set()
            assert begun.result(timeout=60) == 200
        assert shop.state(purchase.id) == "granted" and shop.types(purchase.id) == ["opened", "decided"]
        assert shop.answer(purchase.id, STATED, 409)["code"] == "review-closed"
        assert len(set(shop.gate.arrived[purchase.id])) == 1

    @both_stores
    def test_a_review_that_is_skipped(self, shop, store_name):
        purchase = purchase_in(store_name, shop).ask()
        assert "body" not in shop.preview(purchase.id, {"skip": True})
        review = shop.answer(purchase.id, {"skip": True})
        assert (review["state"], "preference" in review["answer"], "body" in review["answer"]) == ("skipped", False, False)
        assert shop.answer(purchase.id, {"skip": True}) == review == shop.review(purchase.id)
        assert shop.answer(purchase.id, STATED, 409)["code"] == "already-answered"
        assert shop.gate.sent(purchase.id) == [] and shop.types(purchase.id) == ["opened", "answered"]
        assert shop.state(purchase.decide().id) == "granted"

    @both_stores
    def test_after_the_deadline(self, shop, store_name):
        purchase = purchase_in(store_name, shop).ask(hours=TIME[store_name] / HOUR + 0.01)
        assert shop.state(purchase.id) == "missed"
        for members in (STATED, {"skip": True}):
            assert shop.answer(purchase.id, members, 409)["code"] == "review-closed"
        wait(lambda: shop.types(purchase.id))
        assert shop.types(purchase.id) == ["missed"] and shop.gate.sent(purchase.id) == []
        # The store decides nevertheless.
        assert shop.state(purchase.decide().id) == "granted" and shop.types(purchase.id) == ["missed", "decided"]

    @both_stores
    def test_shortly_before_the_deadline(self, shop, store_name):
        deadline = TIME[store_name] / HOUR
        early, late = (purchase_in(store_name, shop).ask(hours=hours) for hours in (deadline - 4.01, deadline - 3.99))
        assert [shop.state(purchase.id) for purchase in (early, late)] == ["open", "due"]
        assert [shop.types(purchase.id) for purchase in (early, late)] == [["opened"], ["due"]]
        assert shop.answer(late.id, STATED)["state"] == "answered" and shop.types(late.id) == ["due", "answered"]
        assert shop.told_of(late.id)[0]["data"]["customer"] == late.customer

    @both_stores
    def test_after_the_decision(self, shop, store_name):
        purchase = purchase_in(store_name, shop).buy().ask().decide()
        for members in (STATED, {"skip": True}):
            assert shop.answer(purchase.id, members, 409)["code"] == "review-closed"
        assert shop.gate.sent(purchase.id) == [] and shop.types(purchase.id) == ["opened", "decided"]

    def test_an_app_without_credentials(self, shop):
        purchase = ApplePurchase(shop, app="bare").ask()
        assert "DELIVERED" in shop.preview(purchase.id, STATED, app="bare")["body"]
        assert shop.answer(purchase.id, STATED, 409, "bare")["code"] == "no-credentials"
        assert shop.state(purchase.id, "bare") == "open" and shop.types(purchase.id, "bare") == ["opened"]
        assert shop.answer(purchase.id, {"skip": True}, app="bare")["state"] == "skipped"

    @both_stores
    def test_what_the_store_refuses_leaves_the_review_open(self, shop, store_name):
        purchase = purchase_in(store_name, shop).ask()
        for count, status in enumerate((400, 404, 400), 1):
            shop.gate.faults[purchase.id] = status
            assert shop.answer(purchase.id, STATED | {"preference": "decline"}, 422)["code"] == "refused-by-store"
            assert len(shop.gate.arrived[purchase.id]) == count
            review = shop.review(purchase.id)
            assert (review["state"], "answer" in review) == ("open", False)
            assert shop.types(purchase.id) == ["opened"]
        # Another answer is taken.
        del shop.gate.faults[purchase.id]
        review = shop.answer(purchase.id, STATED | {"preference": "grant"})
        assert (review["state"], review["answer"]["preference"]) == ("answered", "grant")
        assert shop.types(purchase.id) == ["opened", "answered"]
        assert shop.answer(purchase.id, STATED | {"preference": "decline"}, 409)["code"] == "already-answered"

    @both_stores
    @pytest.mark.parametrize("fault", [
        "lose", 503, b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n{]}",
        b"this is not HTTP\r\n\r\n",
    ], ids=["lost", "server error", "no JSON", "no HTTP"])  # fmt: skip
    def test_what_may_have_arrived_is_followed_by_no_other(self, shop, store_name, fault):
        """A store took the answer, and what it said of that is lost or odd: it is no refusal."""
        purchase = purchase_in(store_name, shop).ask()
        shop.gate.faults[purchase.id] = fault
        body = STATED | {"preference": "decline"}
        status = asked(shop, "POST", f"/v1/refund-reviews/{purchase.id}/answer", json=body).status_code
        assert status in (200, 503)
        assert shop.state(purchase.id) == ("answered" if status == 200 else "answering")
        assert shop.answer(purchase.id, STATED | {"preference": "grant"}, 409)["code"] == "already-answered"
        del shop.gate.faults[purchase.id]
        assert shop.answer(purchase.id, body)["state"] == "answered"
        assert len(set(shop.gate.arrived[purchase.id])) == 1
        assert shop.types(purchase.id) == ["opened", "answered"]


class TestOutcome:
    @pytest.mark.parametrize(("kind", "changes", "state", "standing"), [
        ("REFUND", {}, "granted", "refunded"),
        ("REFUND", {"revocationType": "REFUND_FULL", "revocationPercentage": 100_000}, "granted", "refunded"),
        ("REFUND", {"revocationType": "REFUND_PRORATED", "revocationPercentage": 40_000}, "partly-granted", None),
        ("REFUND_DECLINED", {}, "declined", "active"),
    ], ids=["refund", "full", "prorated", "declined"])  # fmt: skip
    def test_of_the_app_store(self, shop, kind, changes, state, standing):
        purchase = ApplePurchase(shop, MONTHLY).buy().ask()
        assert shop.access(purchase.customer)["standing"] == "active"
        shop.answer(purchase.id, STATED)
        date = now() + 1
        purchase.decide(kind == "REFUND", date, **changes)
        wait(lambda: shop.types(purchase.id) == ["opened", "answered", "decided"])
        review = shop.review(purchase.id)
        assert (review["state"], review["decidedDate"]) == (state, text(date))
        assert review["answer"]["preference"] == "undecided"
        told = shop.told_of(purchase.id)[-1]["data"]
        assert (told["customer"], told["entitlement"]) == (purchase.customer, review)
        if standing:
            assert shop.access(purchase.customer)["standing"] == standing

    @pytest.mark.parametrize(("kind", "state"), [(1, "granted"), (2, "partly-granted")], ids=["full", "quantity"])
    def test_of_google_play(self, shop, kind, state):
        purchase = GooglePurchase(shop, quantity=3).ask()
        shop.answer(purchase.id, STATED)
        date = now()
        purchase.decide(date=date, refundType=kind)
        review = shop.review(purchase.id)
        assert (review["state"], review["decidedDate"]) == (state, text(date))
        assert shop.types(purchase.id) == ["opened", "answered", "decided"]

    def test_another_order_decides_nothing(self, shop):
        purchase, other = GooglePurchase(shop).ask(), GooglePurchase(shop)
        other.decide()
        assert shop.state(purchase.id) == "open" and shop.types(purchase.id) == ["opened"]
        assert shop.get(f"/v1/refund-reviews/{other.id}", params={"app": "shop"}).status_code == 404

    def test_while_it_is_open_the_purchase_stands_as_it_did(self, shop):
        purchase = ApplePurchase(shop, MONTHLY).buy()
        before = shop.access(purchase.customer)
        purchase.ask()
        assert shop.access(purchase.customer) == before
        shop.answer(purchase.id, STATED)
        assert shop.access(purchase.customer) == before
        purchase.decide()
        assert shop.access(purchase.customer)["standing"] == "refunded"
        notify(shop, "REFUND_REVERSED", purchase.transaction, now() + 1)
        wait(lambda: shop.types(purchase.id)[3:])
        assert shop.state(purchase.id) == "reversed" and shop.types(purchase.id) == ["opened", "answered", "decided", "decided"]
        assert shop.access(purchase.customer)["grantsAccess"]
        kinds = [change["type"] for change in shop.changes(purchase.customer) if change["type"].startswith("entitlement.")]
        assert kinds[:2] == ["entitlement.granted", "entitlement.refunded"] and len(kinds) == 3

    @both_stores
    def test_a_decision_that_arrives_before_its_question(self, shop, store_name):
        purchase = purchase_in(store_name, shop).buy()
        purchase.decide(date=now() - HOUR)
        assert shop.get(f"/v1/refund-reviews/{purchase.id}", params={"app": "shop"}).status_code == 404
        purchase.ask(hours=2)
        assert shop.state(purchase.id) == "granted"
        assert shop.answer(purchase.id, STATED, 409)["code"] == "review-closed"
        assert shop.types(purchase.id) == ["decided"]

    @pytest.mark.parametrize("is_answered", [True, False], ids=["answered", "not answered"])
    def test_a_question_after_a_decision_opens_it_again(self, shop, is_answered):
        purchase = ApplePurchase(shop).buy().ask(hours=3)
        if is_answered:
            shop.answer(purchase.id, STATED | {"preference": "decline"})
        purchase.decide(False, now() - 2 * HOUR)
        assert shop.state(purchase.id) == "declined"
        purchase.ask(hours=1, reason="LEGAL")
        review = shop.review(purchase.id)
        assert (review["state"], review["reason"], review["deadline"]) == ("open", "LEGAL", text(purchase.asked + 12 * HOUR))
        assert not {"answer", "decidedDate"} & set(review)
        assert shop.answer(purchase.id, STATED | {"preference": "grant"})["answer"]["preference"] == "grant"
        purchase.decide()
        answered = ["answered"] * is_answered
        assert shop.types(purchase.id) == ["opened", *answered, "decided", "opened", "answered", "decided"]
        wishes = [sent.get("refundPreference") for sent in shop.gate.sent(purchase.id)]
        assert wishes == ["DECLINE"] * is_answered + ["GRANT_FULL"]

    def test_a_decision_over_the_first_question_does_not_decide_the_second(self, shop):
        """It arrives late."""
        purchase = ApplePurchase(shop).buy().ask(hours=3).ask(hours=1)
        purchase.decide(False, now() - 2 * HOUR)
        review = shop.review(purchase.id)
        assert (review["state"], review["requestedDate"]) == ("open", text(purchase.asked))

    def test_a_chargeback_after_another_has_another_token(self, shop):
        purchase = GooglePurchase(shop).call("acknowledge").ask(hours=3)
        shop.answer(purchase.id, {"sampleContentProvided": False, "preference": "decline"})
        first = purchase.token
        purchase.ask(hours=1, identifier=f"token-{uuid.uuid4().hex}")
        assert shop.state(purchase.id) == "open"
        shop.answer(purchase.id, {"sampleContentProvided": False, "preference": "grant"})
        assert [sent["pendingRefundToken"] for sent in shop.gate.sent(purchase.id)] == [first, purchase.token]
        assert shop.types(purchase.id) == ["opened", "answered", "opened", "answered"]


# MARK: - The clock


@both_stores
def test_the_clock_makes_reviews_due_and_then_missed(tmp_path, store_name):
    """The server has the clock of the emulator, whose hours pass at once."""
    shop = EmulatedShop(tmp_path / "state", "--clock-rate", "0", "--no-token-checks")
    try:
        ids = []
        for _ in range(2):
            if store_name == APPLE:
                ids.append(shop.control("buy", account="alice", productId=COINS, appAccountToken=customer())["transactionId"])
                shop.control("request-refund", transactionId=ids[-1], reason="LEGAL")
            else:
                ids.append(shop.control("play/buy", account="alice", productId=COINS)["orderId"])
                shop.control("play/chargeback", orderId=ids[-1])

        def types(id: str) -> list[str]:
            changes = [each["change"] for each in shop.get("/v1/changes?limit=1000")["changes"]]
            found = [change["type"] for change in changes if change["data"]["entitlement"].get("refundReviewId") == id]
            return [name.removeprefix("refund-review.") for name in found]

        def state(id: str) -> str:
            (found,) = shop.get(f"/v1/refund-reviews/{id}")["reviews"]
            return found["review"]["state"]

        skipped = requests.post(
            f"{shop.url}/v1/refund-reviews/{ids[1]}/answer", json={"skip": True}, timeout=30,
            headers={"Authorization": f"Bearer {shop.key}"},
        )  # fmt: skip
        assert skipped.status_code == 200, skipped.text
        hours = TIME[store_name] // HOUR
        shop.control("advance", by=(hours - 4) * 3600 - 60)
        assert state(ids[0]) == "open" and types(ids[0]) == ["opened"]
        shop.control("advance", by=60)
        assert state(ids[0]) == "due"
        wait(lambda: types(ids[0])[1:])
        shop.control("advance", by=4 * 3600)
        assert state(ids[0]) == "missed"
        wait(lambda: types(ids[0])[2:])
        shop.control("advance", by="P1D")
        assert types(ids[0]) == ["opened", "due", "missed"]
        assert (state(ids[1]), types(ids[1])) == ("skipped", ["opened", "answered"])
        if store_name == APPLE:
            shop.control("decline-refund", transactionId=ids[0])
            assert (state(ids[0]), types(ids[0])[3:]) == ("declined", ["decided"])
        else:
            shop.control("play/decide-refund", orderId=ids[0], isRefunded=True)
            assert (state(ids[0]), types(ids[0])[3:]) == ("granted", ["decided"])
    finally:
        shop.stop()


# MARK: - Erasure


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def place(request, tmp_path_factory, store):
    """A shop on a database whose bytes are looked through."""
    database = request.getfixturevalue("postgresql_server") if request.param == "postgresql" else None
    shop = Market(tmp_path_factory.mktemp("place"), store, database, f"reviews_{uuid.uuid4().hex[:8]}")
    with open(shop.folder / "log", "w") as log:
        shop.start(log)
    yield shop
    shop.stop()


class TestErasure:
    def files_with(self, place, *texts: str) -> list:
        if place.database:
            place.database.query("CHECKPOINT")
        folders = [place.folder] + ([place.database.data / "base"] if place.database else [])
        bytes_of = [each for text in texts for each in (text.encode(), base64.b64encode(text.encode()))]
        while True:
            found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
            try:
                return [path for path in found if any(each in path.read_bytes() for each in bytes_of)]
            except FileNotFoundError:
                # The server renamed a file meanwhile, so that what was in it may have been missed.
                continue

    @pytest.mark.parametrize(("store_name", "whose"), [
        (APPLE, "named"), (GOOGLE, "named"), (APPLE, "presented before"), (APPLE, "presented after"), (APPLE, "transferred"),
    ], ids=lambda value: value)  # fmt: skip
    def test_nothing_of_a_customer_is_left(self, place, store_name, whose):
        nameless = {} if whose == "named" else {"appAccountToken": None}
        purchase, mark = purchase_in(store_name, place, **nameless).buy(), uuid.uuid4().hex
        address, use = f"2001:db8::{mark[:4]}:{mark[4:8]}:{mark[8:12]}", f"a sword of {mark}"
        who, before = purchase.customer if whose == "named" else f"Erasmus of {mark[::-1]}", f"Anselm of {mark[::-1]}"

        def present(customer: str):
            place.present(customer, purchase.transaction | {"signedDate": now()})

        if whose == "presented before":
            present(who)
        elif whose == "transferred":
            present(before)
        purchase.ask()
        events = [{"date": text(now()), "description": use, "ipAddress": address}]
        place.evidence(purchase.id, USED_IN_PART | {"usageEvents": events})
        place.answer(purchase.id, {})
        if whose in ("presented after", "transferred"):
            present(who)
        else:
            purchase.decide()
            assert place.types(purchase.id) == ["opened", "answered", "decided"]
        place.wait_for_webhooks()
        for each in (who, use, address):
            assert self.files_with(place, each), each
        answer = place.request("DELETE", path(who, "").rstrip("/"), params={"app": "shop"})
        assert answer.status_code == 200 and answer.json()["purchases"] >= 1, answer.text
        assert self.files_with(place, who, use, address) == []
        assert place.get(f"/v1/refund-reviews/{purchase.id}", params={"app": "shop"}).status_code == 404
        assert place.changes(who) == [] and who not in json.dumps(acts(place))
        assert purchase.id not in place.get("/v1/refund-reviews", params={"app": "shop", "limit": 1000}).text
        if whose != "transferred":
            assert place.types(purchase.id) == []
        for what in ("evidence", "preview", "answer"):
            place.ask_for(what, purchase.id, STATED, 404)

    def test_who_had_the_purchase_before_is_forgotten(self, place):
        purchase, (gone, kept) = ApplePurchase(place, appAccountToken=None), (f"{name} {uuid.uuid4().hex}" for name in "AB")
        place.present(gone, purchase.transaction)
        purchase.ask()
        place.evidence(purchase.id, STATED)
        place.present(kept, purchase.transaction | {"signedDate": now()})
        assert [found.get("customer") for found in place.reviews(purchase.id)] == [kept]
        assert place.request("DELETE", path(gone, "").rstrip("/"), params={"app": "shop"}).status_code == 200
        assert self.files_with(place, gone) == []
        assert [found.get("customer") for found in place.reviews(purchase.id)] == [kept]

    @both_stores
    def test_reviews_of_others_are_left(self, place, store_name):
        gone, kept = (purchase_in(store_name, place).buy().ask() for _ in range(2))
        before = place.reviews(kept.id)
        assert place.request("DELETE", path(gone.customer, "").rstrip("/"), params={"app": "shop"}).status_code == 200
        assert place.reviews(kept.id) == before and place.types(kept.id) == ["opened"]


# MARK: - Failures


def answered_at_once(pool, shop, answers: dict[str, dict]) -> list:
    """Begins to answer reviews, each in a connection of its own."""

    def answer(id: str, body: dict) -> int:
        try:
            return asked(shop, "POST", f"/v1/refund-reviews/{id}/answer", json=body).status_code
        except requests.RequestException:
            return 0

    return [pool.submit(answer, id, body) for id, body in answers.items()]


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_life_from_end_to_end_with_kills(tmp_path, request, store, kind):
    """In both stores: a customer buys and asks for the money back, the backend answers, the store decides. The server is killed
    after each step, and in the midst of the answer: before the App Store has it, and after Google Play has it."""
    database = request.getfixturevalue("postgresql_server") if kind == "postgresql" else None
    shop = Market(tmp_path, store, database, f"life_{uuid.uuid4().hex[:8]}")
    shop.start()
    who = {APPLE: customer(), GOOGLE: customer()}
    bought = shop.control("buy", account="alice", productId=PRO, appAccountToken=who[APPLE])
    order = shop.control("play/buy", account="bob", productId=COINS, obfuscatedAccountId=who[GOOGLE], isTest=False)
    ids = {APPLE: bought["transactionId"], GOOGLE: order["orderId"]}
    assert shop.access(who[APPLE], "pro")["grantsAccess"]

    def states() -> list[str]:
        return [shop.state(id) for id in ids.values()]

    # The stores ask.
    shop.control("request-refund", transactionId=ids[APPLE], reason="UNSATISFIED_WITH_PURCHASE")
    shop.control("play/chargeback", orderId=ids[GOOGLE])
    wait(lambda: len(shop.get("/v1/refund-reviews", params={"app": "shop"}).json()["reviews"]) == 2)
    shop.restart()
    assert states() == ["open", "open"] and [shop.types(id) for id in ids.values()] == [["opened"]] * 2
    before = [shop.reviews(id)[0] for id in ids.values()]
    assert [found["customer"] for found in before] == list(who.values())
    assert [found["review"]["productId"] for found in before] == [PRO, COINS]

    # The backend states, and answers.
    events = [{"date": text(now() - HOUR), "description": "500 coins", "ipAddress": "192.0.2.1"}]
    evidence = {APPLE: USED_IN_PART, GOOGLE: USED_IN_PART | {"usageEvents": events}}
    for name, id in ids.items():
        shop.evidence(id, evidence[name])
    shop.restart()
    assert [shop.review(id)["evidence"]["consumptionPercentage"] for id in ids.values()] == [50_000, 50_000]
    stalls = {ids[APPLE]: Stall(is_taken=False), ids[GOOGLE]: Stall(is_taken=True)}
    shop.gate.faults |= stalls
    bodies = {id: {"preference": "decline"} for id in ids.values()}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        begun = answered_at_once(pool, shop, bodies)
        for stall in stalls.values():
            assert stall.arrived.wait(30)
        shop.end(signal.SIGKILL)
        assert [answer.result(timeout=60) for answer in begun] == [0, 0]
    for id, stall in stalls.items():
        del shop.gate.faults[id]
        stall.released.set()
    shop.start()
    assert states() == ["answering", "answering"]
    assert [shop.types(id) for id in ids.values()] == [["opened"]] * 2
    for id in ids.values():
        for other in ({"preference": "grant"}, {"preference": "decline", "sampleContentProvided": True}, {"skip": True}):
            assert shop.answer(id, other, 409)["code"] == "already-answered"
        assert shop.answer(id, bodies[id])["state"] == "answered"
    shop.restart()
    assert states() == ["answered", "answered"]
    count = [len(shop.gate.arrived[id]) for id in ids.values()]
    for id in ids.values():
        assert shop.answer(id, bodies[id])["state"] == "answered"
        assert shop.answer(id, {"preference": "undecided"}, 409)["code"] == "already-answered"
        # What arrived is always the same, and the stores have it.
        assert len(set(shop.gate.arrived[id])) == len(set(shop.gate.taken[id])) == 1
        assert shop.gate.taken[id][0].decode() == shop.review(id)["answer"]["body"]
    assert [len(shop.gate.arrived[id]) for id in ids.values()] == count
    (apple,) = {body.decode() for body in shop.gate.taken[ids[APPLE]]}
    assert json.loads(apple) == USED_IN_PART | {"refundPreference": "DECLINE"}
    kept = shop.emulator.control("GET", f"play/refund-review?orderId={ids[GOOGLE]}")["answer"]
    assert kept == shop.gate.sent(ids[GOOGLE])[0] and kept["refundPreference"] == "DECLINE"
    assert [kept["consumptionPercentageMilliunits"], kept["consumptionUsageEvents"][0]["ipAddress"]] == [50_000, "192.0.2.1"]
    assert shop.access(who[APPLE], "pro")["grantsAccess"]

    # The stores decide.
    shop.control("refund", transactionId=ids[APPLE], reason="ISSUE")
    shop.control("play/decide-refund", orderId=ids[GOOGLE], isRefunded=True)
    wait(lambda: states() == ["granted", "granted"])
    shop.restart()
    assert states() == ["granted", "granted"]
    assert shop.access(who[APPLE], "pro")["standing"] == "refunded"
    assert [owned["entitlement"]["grantsAccess"] for owned in shop.ask(who[GOOGLE]).json()["entitlements"]] == [False]
    for id in ids.values():
        assert shop.answer(id, {"preference": "grant"}, 409)["code"] == "review-closed"
    shop.control("reverse-refund", transactionId=ids[APPLE])
    wait(lambda: shop.state(ids[APPLE]) == "reversed")
    shop.restart()
    assert states() == ["reversed", "granted"] and shop.access(who[APPLE], "pro")["grantsAccess"]

    # Each change is told once.
    expected = {APPLE: ["opened", "answered", "decided", "decided"], GOOGLE: ["opened", "answered", "decided"]}
    for name, id in ids.items():
        assert shop.types(id) == expected[name]
        shop.told(who[name], count=len(shop.changes(who[name])))
        shop.wait_for_webhooks()
        posted = {}
        for endpoint, headers, told in list(shop.receiver.told):
            if endpoint == "standard" and told["data"]["entitlement"].get("refundReviewId") == id:
                assert posted.setdefault(headers["webhook-id"], told) == told
        assert list(posted.values()) == shop.told_of(id)
    done = [act["act"] for act in acts(shop) if act["act"].startswith("refund-review.")]
    assert done == ["refund-review.answer"] * 2
    shop.stop()


@pytest.mark.long
def test_a_store_that_cannot_be_reached_has_the_answer_later(tmp_path, store):
    """The server sends it again by itself, also after it was killed, and not after the deadline. What a store then refuses is
    open again."""
    shop = Market(tmp_path, store)
    shop.start()
    answers: dict[str, dict] = {}
    purchases = [ApplePurchase(shop).ask(), GooglePurchase(shop).ask()]
    late = [ApplePurchase(shop).ask(hours=12 - 45 / 3600), GooglePurchase(shop).ask(hours=24 - 45 / 3600)]
    refused = [ApplePurchase(shop).ask(), GooglePurchase(shop).ask()]
    for number, purchase in enumerate(purchases + late + refused):
        answers[purchase.id] = USED_IN_PART | {"preference": ["decline", "grant"][number % 2]}
        shop.gate.faults[purchase.id] = "cut"
    routes = [f"/v1/refund-reviews/{id}/answer" for id in answers]
    failed = at_once(*(
        lambda route=route, body=body: asked(shop, "POST", route, json=body)
        for route, body in zip(routes, answers.values(), strict=True)
    ))  # fmt: skip
    assert [answer.status_code for answer in failed] == [503] * 6
    for answer in failed:
        assert int(answer.headers["Retry-After"]) > 0
    for purchase in purchases + refused:
        review = shop.review(purchase.id)
        assert review["state"] == "answering" and "sentDate" not in review["answer"]
        assert shop.types(purchase.id) == ["opened"]
        for other in ({"preference": "undecided"}, {"skip": True}):
            assert shop.answer(purchase.id, other, 409)["code"] == "already-answered"
    shop.restart()
    # From the deadline on the stores are there again.
    wait(lambda: now() > max(purchase.asked + TIME[purchase.store] for purchase in late))
    shop.gate.faults = {purchase.id: 400 for purchase in refused}
    begin, tried = time.monotonic(), [len(shop.gate.arrived[purchase.id]) for purchase in late]
    wait(lambda: all(shop.state(purchase.id) == "answered" for purchase in purchases), 100)
    wait(lambda: all(shop.state(purchase.id) == "open" for purchase in refused), 100)
    assert time.monotonic() - begin < 100
    assert [shop.types(purchase.id) for purchase in refused] == [["opened"]] * 2
    for purchase in purchases:
        assert len(set(shop.gate.arrived[purchase.id])) == len(shop.gate.taken[purchase.id]) == 1
        assert shop.types(purchase.id) == ["opened", "answered"]
        assert shop.review(purchase.id)["answer"]["preference"] == answers[purchase.id]["preference"]
    assert [len(shop.gate.arrived[purchase.id]) for purchase in late] == tried
    for purchase in late:
        assert shop.types(purchase.id).count("answered") == 0 and shop.state(purchase.id) != "answered"
        shop.answer(purchase.id, {"preference": "undecided"}, 409)
    shop.stop()


@pytest.fixture(scope="module")
def pair(tmp_path_factory, store, postgresql_server):
    """Two processes on one database."""
    first = Market(tmp_path_factory.mktemp("pair"), store, postgresql_server, f"pair_{uuid.uuid4().hex[:8]}")
    first.start()
    second = first.begin_another()
    yield first, second
    assert second.end() == 0
    first.stop()


class TestTwoServers:
    @both_stores
    def test_of_different_answers_one_is_sent(self, pair, store_name):
        for _ in range(5):
            purchase = purchase_in(store_name, pair[0]).ask()
            # For Google a grant of a part is a grant.
            wishes = ["decline", "grant", "undecided"] + ["grant-prorated"] * (store_name == APPLE)
            route = f"/v1/refund-reviews/{purchase.id}/answer"
            answers = at_once(*(
                lambda server=server, wish=wish, route=route: asked(
                    server, "POST", route, json=USED_IN_PART | {"preference": wish})
                for server in pair for wish in wishes
            ))  # fmt: skip
            wishes = wishes * 2
            won = pair[1].review(purchase.id)
            assert won == pair[0].review(purchase.id) and won["state"] == "answered"
            expected = [200 if wish == won["answer"]["preference"] else 409 for wish in wishes]
            assert [answer.status_code for answer in answers] == expected and expected.count(200) == 2
            assert {answer.json()["code"] for answer in answers if answer.status_code == 409} == {"already-answered"}
            assert {body.decode() for body in pair[0].gate.arrived[purchase.id]} == {won["answer"]["body"]}
            assert pair[0].types(purchase.id) == ["opened", "answered"]
            assert [act["act"] for act in acts(pair[1]) if purchase.id in act["details"]] == ["refund-review.answer"]

    def test_an_answer_and_a_skip(self, pair):
        for _ in range(5):
            purchase = ApplePurchase(pair[0]).ask()
            route = f"/v1/refund-reviews/{purchase.id}/answer"
            answers = at_once(*(
                lambda server=server, body=body, route=route: asked(server, "POST", route, json=body)
                for server, body in zip(pair * 2, [STATED, {"skip": True}] * 2, strict=True)
            ))  # fmt: skip
            state = pair[1].state(purchase.id)
            assert state in ("answered", "skipped")
            assert [answer.status_code for answer in answers] == [200, 409] * 2 if state == "answered" else [409, 200] * 2
            assert bool(pair[0].gate.arrived[purchase.id]) is (state == "answered")
            assert pair[0].types(purchase.id) == ["opened", "answered"]

    def test_a_notification_to_both_opens_one(self, pair):
        for _ in range(5):
            purchase = ApplePurchase(pair[0])
            told = "CONSUMPTION_REQUEST", purchase.transaction, now(), str(uuid.uuid4())
            at_once(*(lambda server=server, told=told: notify(server, *told) for server in pair))
            assert pair[0].types(purchase.id) == ["opened"] and pair[1].state(purchase.id) == "open"
