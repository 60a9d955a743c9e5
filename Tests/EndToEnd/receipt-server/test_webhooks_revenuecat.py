# SPDX-License-Identifier: Apache-2.0
"""Webhooks in RevenueCat's format, for backends that were made for them: what the App Store and Google Play tell of a purchase
arrives as RevenueCat's events, each member with its type and value, with an authorization and a signature."""

import base64
import hashlib
import hmac
import http.server
import json
import os
import threading
import time
import uuid

import pytest
import requests
from standardwebhooks import Webhook

import samples
from emulator import Emulator
from independent import jws, pki
from service import Service
from test_client_verify_receipt import TEXT, check, milliseconds, now, without_repetition

pytestmark = pytest.mark.server

MONTHLY, YEARLY, COINS = (f"com.example.app.{name}" for name in ("monthly", "yearly", "coins"))
DAY, MONTH = 86_400_000, 30 * 86_400_000
KEYS = [bytes(range(120, 152)), bytes(range(40, 64))]
SECRETS = ["whsec_" + base64.b64encode(key).decode() for key in KEYS]
AUTHORIZATION = "Bearer  of the backend: s3cr3t="
AUDIENCE, EMAIL = "https://example.com/play", "push@example.iam.gserviceaccount.com"
# What each endpoint of the app is configured with; its name is also its path.
ENDPOINTS = {
    "both": {"format": "revenuecat", "authorization": AUTHORIZATION, "secrets": SECRETS},
    "authorized": {"format": "revenuecat", "authorization": AUTHORIZATION},
    "signed": {"format": "revenuecat", "secrets": SECRETS[::-1]}, "standard": {"secrets": SECRETS},
}  # fmt: skip

# MARK: - A strict reader. A member's value is of one of the types, or a string that matches.

INSTANT, FLAG, USERS, NOTHING = {int}, {bool}, {list}, {type(None)}
NUMBER, STRING = {int, float} | NOTHING, {str} | NOTHING
REASON = "UNSUBSCRIBE|BILLING_ERROR|DEVELOPER_INITIATED|PRICE_INCREASE|CUSTOMER_SUPPORT|UNKNOWN"
ALL = {"type": TEXT, "id": TEXT, "app_id": TEXT, "event_timestamp_ms": INSTANT, "environment": "SANDBOX|PRODUCTION"}
ALL |= {"store": "(MAC_)?APP_STORE|PLAY_STORE"}
OF_A_USER = ALL | {
    "app_user_id": TEXT, "original_app_user_id": TEXT, "aliases": USERS, "subscriber_attributes": {dict},
    "product_id": TEXT, "entitlement_id": NOTHING, "entitlement_ids": NOTHING, "is_family_share": FLAG,
    "period_type": "TRIAL|INTRO|NORMAL|PROMOTIONAL|PREPAID", "purchased_at_ms": INSTANT,
    "expiration_at_ms": INSTANT | NOTHING, "price": NUMBER, "price_in_purchased_currency": NUMBER, "currency": STRING,
    "tax_percentage": NOTHING, "commission_percentage": NOTHING, "takehome_percentage": NOTHING, "country_code": NOTHING,
    "transaction_id": TEXT, "original_transaction_id": TEXT, "offer_code": STRING, "presented_offering_id": NOTHING,
    "renewal_number": NOTHING, "metadata": NOTHING,
}  # fmt: skip
OF_A_TYPE = {
    "INITIAL_PURCHASE": {}, "NON_RENEWING_PURCHASE": {}, "UNCANCELLATION": {}, "SUBSCRIPTION_EXTENDED": {},
    "REFUND_REVERSED": {}, "RENEWAL": {"is_trial_conversion": FLAG}, "CANCELLATION": {"cancel_reason": REASON},
    "EXPIRATION": {"expiration_reason": f"{REASON}|SUBSCRIPTION_PAUSED"}, "PRODUCT_CHANGE": {"new_product_id": TEXT},
    "BILLING_ISSUE": {"grace_period_expiration_at_ms": INSTANT | NOTHING}, "SUBSCRIPTION_PAUSED": {"auto_resume_at_ms": INSTANT},
}  # fmt: skip
TRANSFER = ALL | {"transferred_from": USERS, "transferred_to": USERS}


def read(body: bytes) -> dict:
    """The event in a body."""
    told = json.loads(body, object_pairs_hook=without_repetition)
    check(told, {"api_version": r"1\.0", "event": {dict}})
    event = told["event"]
    check(event, TRANSFER if event["type"] == "TRANSFER" else OF_A_USER | OF_A_TYPE[event["type"]])
    assert 10**12 < event["event_timestamp_ms"] < 10**13, event
    return event


def check_headers(endpoint: str, headers, body: bytes) -> None:
    """Whether a request has the headers that its endpoint's settings mean, and none of Standard Webhooks."""
    settings = ENDPOINTS[endpoint]
    assert headers["Content-Type"].partition(";")[0] == "application/json"
    assert headers.get_all("Authorization", []) == [AUTHORIZATION] * ("authorization" in settings)
    signatures = headers.get_all("X-RevenueCat-Webhook-Signature", [])
    assert len(signatures) == ("secrets" in settings)
    for signature in signatures:
        seconds, key = signature.removeprefix("t=").partition(",")[0], KEYS[SECRETS.index(settings["secrets"][0])]
        code = hmac.new(key, f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
        assert signature == f"t={int(seconds)},v1={code}" and abs(time.time() - int(seconds)) < 300, signature
    assert not [name for name in headers if name.lower().startswith("webhook-")]


class Receiver(http.server.BaseHTTPRequestHandler):
    """Takes what is posted: the endpoint, the headers, the body and the status of the answer."""

    requests: list[tuple] = []
    # Users: the next request to `both` about one of them is answered with 500.
    refused: set[str] = set()

    def do_POST(self):
        body, endpoint = self.rfile.read(int(self.headers["Content-Length"])), self.path.removeprefix("/")
        found = {user for user in self.refused if endpoint == "both" and user in body.decode()}
        self.refused.difference_update(found)
        self.requests.append((endpoint, self.headers, body, 500 if found else 200))
        self.send_response_only(500 if found else 200)
        self.end_headers()


class Shop:
    """A server whose app `shop` has an endpoint of each kind, and the stores that notify it."""

    def __init__(self, folder, store: pki.Store):
        self.receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=self.receiver.serve_forever, daemon=True).start()
        self.service, account = Service(folder / "data"), str(folder / "account.json")
        self.leaf = store.intermediate.issue("Signing of today", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)
        (folder / "root.cer").write_bytes(store.root.der)
        self.emulator = Emulator(
            os.environ["STORE_EMULATOR"], folder / "state", "--clock-rate", "0", "--no-token-checks",
            "--play-service-account", account, "--play-push-audience", AUDIENCE, "--play-push-email", EMAIL,
        )  # fmt: skip
        self.google, both = self.emulator.url().replace("localhost", "127.0.0.1"), ["production", "sandbox"]
        policy = {"bundleIds": [samples.BUNDLE], "trust": [str(folder / "root.cer")], "environments": both}
        push = {"pushAudience": AUDIENCE, "pushEmail": EMAIL, "pushKeysURL": f"{self.google}/oauth2/v3/certs"}
        to = {"url": f"http://127.0.0.1:{self.receiver.server_address[1]}/", "allowPrivateNetworks": True}
        app = {
            "notifications": True, "policy": {"default": policy | {"playEnvironments": both}}, "webhooks": list(ENDPOINTS),
            "webhook": {name: to | {"url": to["url"] + name} | settings for name, settings in ENDPOINTS.items()},
            "googlePlay": push | {"package": samples.BUNDLE, "serviceAccount": account, "url": self.google},
        }  # fmt: skip
        self.service.configure(lambda configuration: configuration.update(apps=["shop"], app={"shop": app}))
        self.service.start()
        self.play("push", url=f"{self.service.url}/v1/notifications/shop")

    def play(self, control: str, **members) -> dict:
        return self.emulator.control("POST", f"play/{control}", members)

    def deliver(self, kind: str, signed: int, payload: dict) -> None:
        """Notifies the server, which has stored what follows when it answers."""
        payload |= {"notificationType": kind, "notificationUUID": str(uuid.uuid4()), "signedDate": signed}
        answer = self.service.post("/v1/notifications/shop", json={"signedPayload": jws.sign(payload, self.leaf)}, key="")
        assert answer.status_code == 200, answer.text

    def posted(self, endpoint="both", about="") -> list[tuple]:
        """The requests to an endpoint that have a text, once none is queued any more."""
        deadline = time.monotonic() + 60
        while [each for each in self.service.get("/v1/webhooks").json()["endpoints"] if each["waiting"]]:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        return [request for request in Receiver.requests if request[0] == endpoint and about in request[2].decode()]

    def events(self, user: str, endpoint="both") -> list[dict]:
        """The events about a user that were accepted, without what differs from one to the next."""
        found = self.posted(endpoint, user)
        for _, headers, body, _ in found:
            check_headers(endpoint, headers, body)
        events = [read(body) for _, _, body, status in found if status == 200]
        assert len({event.pop("id") for event in events}) == len(events), found
        return [event for event in events if event.pop("event_timestamp_ms")]


@pytest.fixture(scope="module")
def shop(tmp_path_factory, store):
    shop = Shop(tmp_path_factory.mktemp("shop"), store)
    yield shop
    shop.emulator.stop()
    assert shop.service.end() == 0
    shop.receiver.shutdown()


class Purchase:
    """A customer's purchase at the App Store, by default of a subscription, of which it notifies the server."""

    def __init__(self, shop: Shop, **changes):
        self.shop, self.changes, self.customer = shop, changes, str(uuid.uuid4())
        self.original, self.begin, self.signed = f"{10**12 + uuid.uuid4().int % 10**12}000", now(), now()

    def period(self, number=1, **changes) -> dict:
        """The transaction of a period; a value of None leaves a member out."""
        members = samples.TRANSACTION | {
            "transactionId": str(int(self.original) + number), "originalTransactionId": self.original,
            "purchaseDate": self.begin - DAY + number * 1000, "expiresDate": self.begin + number * MONTH,
            "appAccountToken": self.customer, "appTransactionId": f"7{self.original}", "signedDate": self.signed,
        } | self.changes | changes  # fmt: skip
        return {name: value for name, value in members.items() if value is not None}

    def tell(self, kind: str, transaction: dict, renewal: dict | None = None, subtype: str | None = None) -> dict:
        """Notifies of a transaction, by default one that goes on renewing, later than of the one before."""
        self.signed = max(self.signed + 1, now())
        product, common = transaction["productId"], {"environment": transaction["environment"], "signedDate": self.signed}
        parts = [jws.sign(transaction | common, self.shop.leaf)]
        if "expiresDate" in transaction:
            own = {"originalTransactionId": self.original, "productId": product, "autoRenewProductId": product}
            own |= {"renewalDate": transaction["expiresDate"]} | (renewal or {})
            parts.append(jws.sign(samples.RENEWAL_INFO | common | own, self.shop.leaf))
        payload = samples.notification(*parts, environment=transaction["environment"])
        self.shop.deliver(kind, self.signed, payload | ({"subtype": subtype} if subtype else {}))
        return transaction

    def subscribe(self, **changes) -> "Purchase":
        self.bought = self.tell("SUBSCRIBED", self.period(**changes), subtype="INITIAL_BUY")
        return self

    def goes_on(self, *expected: dict) -> None:
        """Whether these are all the events about the customer after the first."""
        assert self.shop.events(self.customer) == [paid("INITIAL_PURCHASE", self.bought), *expected]


@pytest.fixture
def purchase(shop) -> Purchase:
    return Purchase(shop).subscribe()


def event(kind: str, transaction: dict, **changes) -> dict:
    """The event of a kind about a transaction, where no money moved."""
    user = transaction.get("appAccountToken", transaction["originalTransactionId"])
    return {name: None for name, types in OF_A_USER.items() if types == NOTHING} | {
        "type": kind, "app_id": "shop", "app_user_id": user, "original_app_user_id": user, "aliases": [user],
        "subscriber_attributes": {}, "product_id": transaction["productId"], "period_type": "NORMAL",
        "purchased_at_ms": transaction["purchaseDate"], "expiration_at_ms": transaction.get("expiresDate"),
        "store": transaction.get("store", "APP_STORE"), "environment": transaction["environment"].upper(), "price": 0,
        "price_in_purchased_currency": 0, "currency": transaction.get("currency"), "is_family_share": False, "offer_code": None,
        "transaction_id": transaction["transactionId"], "original_transaction_id": transaction["originalTransactionId"],
    } | changes  # fmt: skip


def paid(kind: str, transaction: dict, sign=1, **changes) -> dict:
    """The event of a kind by which the price was paid, or paid back."""
    price = sign * transaction["price"] / 1000 if "price" in transaction else None
    dollars = price if transaction.get("currency") == "USD" else None
    return event(kind, transaction, **{"price": dollars, "price_in_purchased_currency": price} | changes)


class TestEndpoints:
    @pytest.mark.parametrize("endpoint", ["both", "authorized", "signed"])
    def test_an_endpoint_gets_the_headers_that_it_is_configured_with(self, shop, purchase, endpoint):
        assert shop.events(purchase.customer, endpoint) == [paid("INITIAL_PURCHASE", purchase.bought)]

    def test_the_other_format_is_as_before_and_names_the_same_changes(self, shop, purchase):
        purchase.tell("DID_RENEW", purchase.period(2))
        purchase.tell("REFUND", purchase.period(2, revocationDate=now(), revocationReason=0))
        events = [read(body) for _, _, body, _ in shop.posted("both", purchase.customer)]
        requests = [(dict(headers), body) for _, headers, body, _ in shop.posted("standard", purchase.customer)]
        types = [Webhook(SECRETS[0]).verify(body, headers)["type"] for headers, body in requests]
        assert types == ["entitlement.granted", "entitlement.renewed", "entitlement.refunded"]
        assert [headers["webhook-id"] for headers, _ in requests] == [event["id"] for event in events]
        assert not {"authorization", "x-revenuecat-webhook-signature"} & {name.lower() for name in requests[0][0]}

    def test_a_refused_event_comes_again_with_its_id_before_later_ones(self, shop):
        purchase = Purchase(shop)
        Receiver.refused.add(purchase.customer)
        purchase.tell("DID_CHANGE_RENEWAL_STATUS", purchase.subscribe().bought, *OFF)
        purchase.goes_on(event("CANCELLATION", purchase.bought, cancel_reason="UNSUBSCRIBE"))
        first, again, last = shop.posted("both", purchase.customer)
        assert (first[3], again[3], last[3]) == (500, 200, 200)
        assert read(first[2]) == read(again[2])

    @pytest.mark.parametrize("settings", [
        {}, {"format": "revenuecat"}, {"format": "revenuecat", "secrets": []}, {"format": "revenuecat", "authorization": ""},
        {"format": "revenuecat", "secrets": ["s3cr3t"]}, {"format": "RevenueCat", "secrets": SECRETS},
    ], ids=str)  # fmt: skip
    def test_what_cannot_take_effect(self, tmp_path, settings):
        webhook = {"backend": {"url": "https://example.com/hooks"} | settings}
        app = {"policy": {"default": {"bundleIds": [samples.BUNDLE]}}, "webhooks": ["backend"], "webhook": webhook}
        configuration = {"database": "service.sqlite", "apps": ["shop"], "app": {"shop": app}}
        (tmp_path / "receipt-server.json").write_text(json.dumps(configuration))
        ended = Service(tmp_path).command("serve", "--check-config", check=False)
        assert ended.returncode == 65 and "app.shop.webhook.backend." in ended.stderr, ended


ENDED, GRACE = {"expiresDate": now() - 1000}, {"gracePeriodExpiresDate": now() + 16 * DAY}
OFF, ON = ({"autoRenewStatus": 0}, "AUTO_RENEW_DISABLED"), ({"autoRenewStatus": 1}, "AUTO_RENEW_ENABLED")
FAILED, GIVEN_UP = {"isInBillingRetryPeriod": True, "expirationIntent": 2}, {"expirationIntent": 2}
NO_SUBSCRIPTION = dict.fromkeys(("expiresDate", "subscriptionGroupIdentifier", "webOrderLineItemId"))
TOKEN = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"


class TestAppStore:
    def test_a_free_trial_is_converted_once(self, shop):
        purchase = Purchase(shop).subscribe(offerType=1, offerDiscountType="FREE_TRIAL", price=0)
        converted, renewed = (purchase.tell("DID_RENEW", purchase.period(number)) for number in (2, 3))
        assert shop.events(purchase.customer) == [
            event("INITIAL_PURCHASE", purchase.bought, period_type="TRIAL"),
            paid("RENEWAL", converted, is_trial_conversion=True), paid("RENEWAL", renewed, is_trial_conversion=False),
        ]  # fmt: skip

    @pytest.mark.parametrize(("changes", "expected"), [
        ({"price": 4990, "currency": "USD"}, {"price": 4.99, "currency": "USD"}),
        ({"price": 500_000, "currency": "JPY"}, {"price_in_purchased_currency": 500, "currency": "JPY"}),
        ({"price": None, "currency": None}, {"price_in_purchased_currency": None, "currency": None}),
        ({"offerType": 1, "offerDiscountType": "PAY_AS_YOU_GO"}, {"period_type": "INTRO"}),
        ({"offerType": 3, "offerIdentifier": "C1", "offerDiscountType": "FREE_TRIAL"}, {"period_type": "TRIAL", "offer_code": "C1"}),
        ({"inAppOwnershipType": "FAMILY_SHARED"}, {"is_family_share": True}),
        ({"environment": "Sandbox"}, {"environment": "SANDBOX"}),
        ({"appAccountToken": TOKEN.upper()}, {"app_user_id": TOKEN, "original_app_user_id": TOKEN, "aliases": [TOKEN]}),
        # `event` has the original transaction.
        ({"appAccountToken": None}, {}),
    ], ids=str)  # fmt: skip
    def test_the_members_of_a_purchase(self, shop, changes, expected):
        purchase = Purchase(shop, **changes).subscribe()
        assert shop.events(purchase.original) == [paid("INITIAL_PURCHASE", purchase.bought, **expected)]

    @pytest.mark.parametrize("type", ["Consumable", "Non-Consumable", "Non-Renewing Subscription"])
    @pytest.mark.parametrize("is_notified", [True, False])
    def test_a_one_time_purchase_and_its_refund(self, shop, type, is_notified):
        """Apple notifies of it, or the backend presents it."""
        purchase = Purchase(shop, productId=COINS, type=type, **NO_SUBSCRIPTION)
        bought, path = purchase.period(), f"/v1/customers/{purchase.customer}/receipts"
        if is_notified:
            purchase.tell("ONE_TIME_CHARGE", bought)
        else:
            assert shop.service.post(path, data=jws.sign(bought, shop.leaf)).status_code == 200
        purchase.tell("REFUND", bought | {"revocationDate": now(), "revocationReason": 1})
        refund = paid("CANCELLATION", bought, -1, cancel_reason="CUSTOMER_SUPPORT")
        assert shop.events(purchase.customer) == [paid("NON_RENEWING_PURCHASE", bought), refund]

    def test_renewal_is_switched_off_and_on(self, purchase):
        for change in (OFF, ON):
            purchase.tell("DID_CHANGE_RENEWAL_STATUS", purchase.bought, *change)
        cancellation = event("CANCELLATION", purchase.bought, cancel_reason="UNSUBSCRIBE")
        purchase.goes_on(cancellation, event("UNCANCELLATION", purchase.bought))

    @pytest.mark.parametrize(("kind", "changes", "renewal", "expected", "members"), [
        ("RENEWAL_EXTENDED", {"expiresDate": now() + 9 * MONTH}, {}, "SUBSCRIPTION_EXTENDED", {}),
        ("DID_CHANGE_RENEWAL_PREF", {}, {"autoRenewProductId": YEARLY}, "PRODUCT_CHANGE", {"new_product_id": YEARLY}),
        ("EXPIRED", ENDED, {"expirationIntent": 1}, "EXPIRATION", {"expiration_reason": "UNSUBSCRIBE"}),
        ("EXPIRED", ENDED, GIVEN_UP, "EXPIRATION", {"expiration_reason": "BILLING_ERROR"}),
        ("EXPIRED", ENDED, {"expirationIntent": 3}, "EXPIRATION", {"expiration_reason": "PRICE_INCREASE"}),
    ], ids=["extended", "another product", "cancelled", "not paid", "dearer"])  # fmt: skip
    def test_what_a_notification_is_told_as(self, purchase, kind, changes, renewal, expected, members):
        told = purchase.tell(kind, purchase.period(**changes), renewal)
        purchase.goes_on(event(expected, told, **members))

    def test_another_product_at_once(self, shop, purchase):
        purchase.tell("DID_CHANGE_RENEWAL_PREF", purchase.period(2, productId=YEARLY), subtype="UPGRADE")
        found = [(event["type"], event["product_id"]) for event in shop.events(purchase.customer)]
        assert found == [("INITIAL_PURCHASE", MONTHLY), ("PRODUCT_CHANGE", MONTHLY), ("RENEWAL", YEARLY)]

    @pytest.mark.parametrize("grace", [{}, GRACE], ids=["retry", "grace"])
    @pytest.mark.parametrize("recovers", [True, False])
    def test_a_failed_payment(self, purchase, grace, recovers):
        ended = purchase.tell("DID_FAIL_TO_RENEW", purchase.period(**ENDED), FAILED | grace)
        failed = [
            event("BILLING_ISSUE", ended, grace_period_expiration_at_ms=grace.get("gracePeriodExpiresDate")),
            event("CANCELLATION", ended, cancel_reason="BILLING_ERROR"),
        ]  # fmt: skip
        expired = [event("EXPIRATION", ended, expiration_reason="BILLING_ERROR")]
        if recovers:
            renewed = purchase.tell("DID_RENEW", purchase.period(2), subtype="BILLING_RECOVERY")
            # Without a grace period access ends at once, and begins again.
            purchase.goes_on(*failed, *([] if grace else expired), paid("RENEWAL", renewed, is_trial_conversion=False))
        else:
            purchase.tell("EXPIRED", ended, GIVEN_UP, "BILLING_RETRY")
            purchase.goes_on(*failed, *expired)

    def test_a_grace_period_and_billing_retry_end_in_one_expiration(self, shop, purchase):
        ended = purchase.tell("DID_FAIL_TO_RENEW", purchase.period(**ENDED), FAILED | GRACE, "GRACE_PERIOD")
        purchase.tell("GRACE_PERIOD_EXPIRED", ended, FAILED | {"gracePeriodExpiresDate": now() - 1})
        purchase.tell("EXPIRED", ended, GIVEN_UP, "BILLING_RETRY")
        events, expected = shop.events(purchase.customer), event("EXPIRATION", ended, expiration_reason="BILLING_ERROR")
        assert [each for each in events if each["type"] == "EXPIRATION"] == [expected], events

    def test_a_subscription_that_was_cancelled_expires_by_itself(self, shop):
        purchase, deadline = Purchase(shop).subscribe(expiresDate=now() + 5000), time.monotonic() + 90
        purchase.tell("DID_CHANGE_RENEWAL_STATUS", purchase.bought, *OFF)
        while len(shop.events(purchase.customer)) < 3:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        cancellation = event("CANCELLATION", purchase.bought, cancel_reason="UNSUBSCRIBE")
        purchase.goes_on(cancellation, event("EXPIRATION", purchase.bought, expiration_reason="UNSUBSCRIBE"))

    @pytest.mark.parametrize("currency", ["CHF", "USD"])
    def test_a_refund(self, shop, currency):
        purchase = Purchase(shop, currency=currency).subscribe()
        refund = purchase.tell("REFUND", purchase.period(revocationDate=now(), revocationReason=0))
        purchase.goes_on(paid("CANCELLATION", refund, -1, cancel_reason="CUSTOMER_SUPPORT"))

    def test_a_refund_that_is_reversed_is_paid_again(self, purchase):
        refund = purchase.tell("REFUND", purchase.period(revocationDate=now(), revocationReason=0))
        reversal = purchase.tell("REFUND_REVERSED", purchase.period())
        cancellation = paid("CANCELLATION", refund, -1, cancel_reason="CUSTOMER_SUPPORT")
        purchase.goes_on(cancellation, paid("REFUND_REVERSED", reversal))

    def test_a_purchase_moves_to_another_customer(self, shop, purchase):
        other = str(uuid.uuid4())
        renewed = purchase.tell("DID_RENEW", purchase.period(2, appAccountToken=other))
        purchase.tell("DID_CHANGE_RENEWAL_STATUS", renewed, *OFF)
        moved = {"type": "TRANSFER", "app_id": "shop", "store": "APP_STORE", "environment": "PRODUCTION"}
        moved |= {"transferred_from": [purchase.customer], "transferred_to": [other]}
        purchase.goes_on(moved)
        assert shop.events(other) == [moved, event("CANCELLATION", renewed, cancel_reason="UNSUBSCRIBE")]

    def test_nothing_is_posted_where_a_guardian_rescinds_consent(self, shop, purchase):
        customer, before = purchase.bought["appTransactionId"], len(shop.posted())
        signed = jws.sign(samples.APP_TRANSACTION | {"appTransactionId": customer, "receiptCreationDate": now()}, shop.leaf)
        data = {"bundleId": samples.BUNDLE, "environment": "Production", "signedAppTransactionInfo": signed}
        shop.deliver("RESCIND_CONSENT", now(), {"version": "2.0", "appData": data})
        told = [json.loads(body)["type"] for _, _, body, _ in shop.posted("standard", customer)]
        assert (told, len(shop.posted())) == (["consent.rescinded"], before)
        renewed = purchase.tell("DID_RENEW", purchase.period(2))
        purchase.goes_on(paid("RENEWAL", renewed, is_trial_conversion=False))


class TestGooglePlay:
    """Its answers do not state what was paid."""

    def ask(self, shop: Shop, method: str, path: str) -> requests.Response:
        url = f"{shop.google}/androidpublisher/v3/applications/{samples.BUNDLE}/purchases/{path}"
        return requests.request(method, url, json={}, timeout=30)

    def buy(self, shop: Shop, product: str, environment="Sandbox") -> tuple[str, dict]:
        """The token of a customer's purchase, and what its events have."""
        customer, is_test = str(uuid.uuid4()), environment == "Sandbox"
        bought = shop.play("buy", account=customer, productId=product, obfuscatedAccountId=customer, isTest=is_test)
        token, order, begin = bought["purchaseToken"], bought["orderId"], json.loads(bought["purchaseData"])["purchaseTime"]
        found = {"productId": product, "appAccountToken": customer, "environment": environment, "store": "PLAY_STORE"}
        if product == MONTHLY:
            (item,) = self.ask(shop, "GET", f"subscriptionsv2/tokens/{token}").json()["lineItems"]
            found |= {"productId": f"{MONTHLY}:p1m", "expiresDate": milliseconds(item["expiryTime"])}
        return token, found | {"purchaseDate": begin, "transactionId": order, "originalTransactionId": order}

    def test_renewal_is_switched_off_and_on(self, shop):
        token, found = self.buy(shop, MONTHLY)
        shop.play("cancel", purchaseToken=token)
        shop.play("resume", purchaseToken=token)
        off, on = event("CANCELLATION", found, cancel_reason="UNSUBSCRIBE"), event("UNCANCELLATION", found)
        assert shop.events(found["appAccountToken"]) == [paid("INITIAL_PURCHASE", found), off, on]

    @pytest.mark.parametrize("environment", ["Sandbox", "Production"])
    def test_a_one_time_purchase_and_its_refund(self, shop, environment):
        _, found = self.buy(shop, COINS, environment)
        shop.play("refund", orderId=found["transactionId"])
        refund = paid("CANCELLATION", found, cancel_reason="CUSTOMER_SUPPORT")
        assert shop.events(found["appAccountToken"]) == [paid("NON_RENEWING_PURCHASE", found), refund]

    def test_a_subscription_that_the_developer_refunds(self, shop):
        """Google ends it, of which there may be an event too, and tells of the order afterwards."""
        _, found = self.buy(shop, MONTHLY)
        shop.play("refund", orderId=found["transactionId"], source="developer")
        first, *others, last = shop.events(found["appAccountToken"])
        ended = found | {"expiresDate": last["expiration_at_ms"]}
        assert (first, last) == (paid("INITIAL_PURCHASE", found), paid("CANCELLATION", ended, cancel_reason="CUSTOMER_SUPPORT"))
        assert others in ([], [event("EXPIRATION", ended, expiration_reason="DEVELOPER_INITIATED")])

    def test_another_product_at_once(self, shop):
        token, found = self.buy(shop, MONTHLY)
        shop.play("change", purchaseToken=token, productId=YEARLY)
        events = [(each["type"], each["product_id"].partition(":")[0]) for each in shop.events(found["appAccountToken"])]
        assert events == [("INITIAL_PURCHASE", MONTHLY), ("INITIAL_PURCHASE", YEARLY)]

    def test_a_pause(self, shop):
        """The last test, as it puts the store's clock forward."""
        token, found = self.buy(shop, MONTHLY)
        self.ask(shop, "POST", f"subscriptions/{MONTHLY}/tokens/{token}:acknowledge")
        shop.play("pause", purchaseToken=token, days=14)
        shop.play("advance", by="P32D")
        answer = self.ask(shop, "GET", f"subscriptionsv2/tokens/{token}").json()["pausedStateContext"]
        paused = event("SUBSCRIPTION_PAUSED", found, auto_resume_at_ms=milliseconds(answer["autoResumeTime"]))
        expired = event("EXPIRATION", found, expiration_reason="SUBSCRIPTION_PAUSED")
        assert shop.events(found["appAccountToken"]) == [paid("INITIAL_PURCHASE", found), paused, expired]
