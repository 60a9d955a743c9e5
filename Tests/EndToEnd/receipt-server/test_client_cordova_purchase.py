# SPDX-License-Identifier: Apache-2.0
"""The validator of cordova-plugin-purchase, `POST /v1/validate`: requests as the plugin sends them, and answers read as the plugin
reads them, down to what it then says that the customer owns."""

import base64
import copy
import dataclasses
import datetime
import itertools
import json
import os
import random
import ssl
import time
import uuid
import zoneinfo
from dataclasses import dataclass, field

import jsonschema
import pytest
import requests
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import lives
import samples
from emulator import Emulator
from independent import app_receipt, der, jws, pki, transaction_receipt
from service import Service
from test_google_play import Google

pytestmark = pytest.mark.server

BUNDLE = samples.BUNDLE
COINS, MONTHLY, YEARLY, PRO = (f"{BUNDLE}.{name}" for name in ("coins", "monthly", "yearly", "pro"))
DAY = 86_400_000
MAXIMUM_BODY = 1 << 20

# The codes of the validator, and the statuses that come with them.
INVALID, NO_CONNECTION, EXPIRED, CONSUMED, INTERNAL, MORE_DATA = range(6778001, 6778007)
STATUSES = {INVALID: 400, NO_CONNECTION: 503, EXPIRED: 419, CONSUMED: 400, INTERNAL: 500, MORE_DATA: 400}
# Those that the plugin has for answers that it cannot use.
COMMUNICATION, BAD_RESPONSE = 6777014, 6777018

CANCELATIONS = [
    "", "Developer", "System", "System.Replaced", "System.ProductUnavailable", "System.BillingError", "System.Deleted", "Customer",
    "Customer.TechnicalIssues", "Customer.PriceIncrease", "Customer.Cost", "Customer.FoundBetterApp", "Customer.NotUsefulEnough",
    "Customer.OtherReason", "Unknown",
]  # fmt: skip
INSTANT = {"type": "integer", "minimum": 1_000_000_000_000, "maximum": 9_999_999_999_999}
PURCHASE = {
    "type": "object",
    "required": ["id", "platform", "purchaseId", "isExpired", "quantity"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string", "minLength": 1}, "platform": {"enum": ["ios-appstore", "android-playstore"]},
        "purchaseId": {"type": "string", "minLength": 1}, "transactionId": {"type": "string", "minLength": 1},
        "purchaseDate": INSTANT, "expiryDate": INSTANT, "lastRenewalDate": INSTANT, "renewalIntentChangeDate": INSTANT,
        "isExpired": {"type": "boolean"}, "isAcknowledged": {"type": "boolean"}, "isConsumed": {"type": "boolean"},
        "isBillingRetryPeriod": {"type": "boolean"}, "isTrialPeriod": {"type": "boolean"}, "isIntroPeriod": {"type": "boolean"},
        "renewalIntent": {"enum": ["Lapse", "Renew"]}, "cancelationReason": {"enum": CANCELATIONS},
        "discountId": {"type": "string", "minLength": 1}, "priceConsentStatus": {"enum": ["Notified", "Agreed"]},
        "quantity": {"type": "integer", "minimum": 1},
    },
}  # fmt: skip
KINDS = [f"androidpublisher#{name}" for name in ("productPurchase", "subscriptionPurchase", "subscriptionPurchaseV2")]
SUCCESS = {
    "type": "object",
    "required": ["ok", "data"],
    "additionalProperties": False,
    "properties": {
        "ok": {"const": True},
        "data": {
            "type": "object",
            "required": ["id", "latest_receipt", "transaction", "collection", "date"],
            "additionalProperties": False,
            "properties": {
                "id": {"type": "string", "minLength": 1}, "latest_receipt": {"type": "boolean"}, "date": {"type": "string"},
                "warning": {"type": "string"}, "ineligible_for_intro_price": {"type": "array", "items": {"type": "string"}},
                "collection": {"type": "array", "items": PURCHASE},
                "transaction": {
                    "type": "object",
                    "required": ["type"],
                    "properties": {"type": {"enum": ["ios-appstore", "apple-sk2", "android-playstore"]}},
                    "if": {"properties": {"type": {"const": "android-playstore"}}},
                    "then": {"required": ["kind"], "properties": {"kind": {"enum": KINDS}}},
                },
            },
        },
    },
}  # fmt: skip
FAILURE = {
    "type": "object",
    "required": ["ok", "status", "code", "message", "data"],
    "additionalProperties": False,
    "properties": {
        "ok": {"const": False}, "status": {"type": "integer"}, "code": {"enum": list(STATUSES)},
        "message": {"type": "string", "minLength": 1},
        "data": {
            "type": "object",
            "required": ["latest_receipt", "code", "error"],
            "additionalProperties": False,
            "properties": {
                "latest_receipt": {"type": "boolean"}, "code": {"enum": list(STATUSES)},
                "error": {
                    "type": "object", "required": ["message"], "properties": {"message": {"type": "string", "minLength": 1}},
                },
            },
        },
    },
}  # fmt: skip


def now() -> int:
    return int(time.time() * 1000)


# The plugin


@dataclass(frozen=True)
class Answer:
    """What the plugin makes of an answer: a code, its own or the validator's, or a verified receipt."""

    status: int
    code: int | None = None
    message: str = ""
    data: dict = field(default_factory=dict)

    @property
    def collection(self) -> list[dict]:
        return self.data.get("collection", []) if self.code is None else []

    def newest(self, product: str) -> dict | None:
        """The entry of a product that counts."""
        found = None
        for purchase in self.collection:
            if purchase["id"] == product and (found or {}).get("purchaseDate", 0) < purchase.get("purchaseDate", 1):
                found = purchase
        return found

    def owns(self, product: str) -> bool:
        purchase = self.newest(product)
        if purchase is None or purchase["isExpired"]:
            return False
        return "expiryDate" not in purchase or purchase["expiryDate"] > now()

    @property
    def only(self) -> dict:
        (purchase,) = self.collection
        return purchase


def members(pairs: list) -> dict:
    """An object whose members have different names."""
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def read(response: requests.Response) -> Answer:
    """Reads an answer as the plugin of version 13 does."""
    if response.status_code != 200:
        return Answer(response.status_code, COMMUNICATION)
    try:
        content = json.loads(response.content, object_pairs_hook=members)
    except ValueError:
        return Answer(417, COMMUNICATION)
    if content["ok"] is not True:
        return Answer(content["status"], content["code"], content["message"], content["data"])
    data = content["data"]
    if not data.get("id") or not data.get("transaction"):
        return Answer(200, BAD_RESPONSE)
    return Answer(200, data=data)


def read_as_before(response: requests.Response) -> tuple[int, str] | None:
    """The code and the message of a failure for the plugin of version 11, which looks for them elsewhere."""
    content = response.json()
    return None if content["ok"] is True else (content["data"]["code"], content["data"]["error"]["message"])


def checked(response: requests.Response) -> Answer:
    """The verdict in an answer that is as the contract says, whichever it is."""
    assert response.status_code == 200, (response.status_code, response.text)
    assert response.headers["Content-Type"].partition(";")[0] == "application/json"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response.headers
    assert response.headers["Cache-Control"] == "no-store"
    answer = read(response)
    content = response.json()
    if answer.code is None:
        jsonschema.Draft202012Validator(SUCCESS).validate(content)
        assert datetime.datetime.fromisoformat(answer.data["date"]).tzinfo is not None
        # A purchase has one entry, and a product is told by it.
        purchases = [(purchase["id"], purchase["purchaseId"]) for purchase in answer.collection]
        assert len(set(purchases)) == len(purchases)
        assert read_as_before(response) is None
    else:
        jsonschema.Draft202012Validator(FAILURE).validate(content)
        assert answer.status == STATUSES[answer.code], content
        assert read_as_before(response)[0] == answer.code
    return answer


class Plugin:
    """The plugin in an app. Its validator is a URL with the app's publishable key."""

    def __init__(self, service: Service, app: str = "demo", **query: str):
        self.service = service
        made = service.post("/v1/keys", json={"name": "app", "app": app, "scopes": ["client"]})
        assert made.status_code == 201, made.text
        self.key = made.json()["key"]
        self.query = {"appName": app, "apiKey": self.key} | query

    def send(self, body, query: dict | None = None, **headers: str) -> requests.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        wanted = {"Content-Type": "application/json;charset=UTF-8", "Accept": "application/json", "Origin": "ionic://localhost"}
        # It waits for 20 seconds.
        return self.service.session.post(
            f"{self.service.url}/v1/validate", params=self.query if query is None else query, data=content,
            headers=wanted | headers, timeout=20,
        )  # fmt: skip

    def judged(self, body, **query: str) -> Answer:
        return checked(self.send(body, self.query | query))

    def verified(self, body: dict, **query: str) -> Answer:
        answer = self.judged(body, **query)
        assert answer.code is None, answer
        assert answer.data["id"] == body["id"]
        assert answer.data["transaction"]["type"] == body["transaction"]["type"]
        platform = "android-playstore" if body["transaction"]["type"] == "android-playstore" else "ios-appstore"
        assert {purchase["platform"] for purchase in answer.collection} <= {platform}
        return answer

    def refused(self, body, code: int = INVALID, **query: str) -> Answer:
        answer = self.judged(body, **query)
        assert answer.code == code, (answer, str(body)[:500])
        return answer


def fingerprint(text: str) -> str:
    digest = hashes.Hash(hashes.MD5())
    digest.update(text.encode())
    return digest.finalize().hex()


DEVICE = {
    "plugin": "cordova-plugin-purchase/13.12.1", "cordova": "12.0.0", "model": "iPhone14,5", "platform": "iOS", "version": "18.1",
    "manufacturer": "Apple", "isVirtual": True, "fingerprint": fingerprint("device"),
}  # fmt: skip


def request(transaction: dict, identifier: str = BUNDLE, kind: str = "application", **others) -> dict:
    """What the plugin posts about a transaction."""
    user = {"applicationUsername": "alice", "obfuscatedUsername": fingerprint("alice")}
    return {"id": identifier, "type": kind, "transaction": transaction, "additionalData": user, "device": DEVICE} | others


def sk2(signed: str | bytes, product: str = MONTHLY, **others) -> dict:
    text = signed if isinstance(signed, str) else signed.decode()
    return request({"type": "apple-sk2", "id": product, "jwsRepresentation": text}, **others)


def sk1(receipt: bytes, transaction: str | None = None, **others) -> dict:
    identifier = {"id": transaction} if transaction else {}
    encoded = base64.b64encode(receipt).decode()
    return request({"type": "ios-appstore", **identifier, "appStoreReceipt": encoded}, **others)


def play(product: str, token: str, order: str | None = None, kind="consumable", data=None, signature=None, **others) -> dict:
    values = {"id": order, "purchaseToken": token, "receipt": data, "signature": signature}
    transaction = {"type": "android-playstore"} | {name: value for name, value in values.items() if value is not None}
    return request(transaction, product, kind, **others)


def signed_play(receipt: bytes, **others) -> dict:
    """A purchase of Google Play with its signature."""
    signed = json.loads(receipt)
    content = json.loads(signed["data"])
    return play(content["productId"], content["purchaseToken"], content.get("orderId"), **signed, **others)


def with_plugin(body: dict, version: str) -> dict:
    return body | {"device": DEVICE | {"plugin": f"cordova-plugin-purchase/{version}"}}


def before_13(body: dict) -> dict:
    """The same from a version that posts the whole product."""
    product = {
        "alias": "subscription", "state": "approved", "title": "Monthly", "price": "CHF 4.90", "priceMicros": 4_900_000,
        "currency": "CHF",
    }  # fmt: skip
    return {name: value for name, value in body.items() if name != "device"} | product


OLD_CLIENTS = {
    "10.6.1": lambda body: with_plugin(body, "10.6.1"),
    "11.0.0": lambda body: with_plugin(body, "11.0.0"),
    "12.0.0": lambda body: with_plugin(body, "12.0.0"),
    "a product with an alias": before_13,
    "a product with an alias, and a device without the plugin": lambda body: before_13(body) | {"device": {"platform": "iOS"}},
    "a product with an alias, of 11": lambda body: before_13(body) | {"device": {"plugin": "cordova-plugin-purchase/11.0.0"}},
}
NEW_CLIENTS = {
    "13.0.0": lambda body: with_plugin(body, "13.0.0"),
    "13.18.0": lambda body: with_plugin(body, "13.18.0"),
    "20.1": lambda body: with_plugin(body, "20.1"),
    "110.0.0": lambda body: with_plugin(body, "110.0.0"),
    "no device": lambda body: {name: value for name, value in body.items() if name != "device"},
    "13 with an alias": lambda body: body | {"alias": "subscription"},
}


def has(purchase: dict, **expected) -> None:
    """Whether an entry has these values; None is for a member that it has not."""
    assert {name: purchase.get(name) for name in expected} == expected, purchase


# The stores


def utc(moment: int) -> str:
    return datetime.datetime.fromtimestamp(moment / 1000, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def three_forms(name: str, moment: int) -> dict:
    """A date as verifyReceipt has it."""
    instant = datetime.datetime.fromtimestamp(moment // 1000, datetime.UTC)
    pacific = instant.astimezone(zoneinfo.ZoneInfo("America/Los_Angeles"))
    return {
        name: f"{instant:%Y-%m-%d %H:%M:%S} Etc/GMT", f"{name}_ms": str(moment),
        f"{name}_pst": f"{pacific:%Y-%m-%d %H:%M:%S} America/Los_Angeles",
    }  # fmt: skip


class AppStore:
    """An App Store: it signs purchases, each with identifiers of its own, and notifications about them."""

    def __init__(self, store: pki.Store, rsa_store: pki.Store):
        century = {"markers": (pki.RECEIPT_LEAF,), "validity": pki.CENTURY}
        self.leaf = store.intermediate.issue("Signing of today", **century)
        self.rsa_leaf = rsa_store.intermediate.issue("Receipts of today", "rsa2048", **century)
        certificates = [store.root, rsa_store.root, rsa_store.intermediate]
        self.roots = "".join(ssl.DER_cert_to_PEM_cert(certificate.der) for certificate in certificates)
        self.numbers = itertools.count(1)

    def identifier(self) -> str:
        return f"2{next(self.numbers):015}"

    def subscription(self, product: str = MONTHLY, begins: int = -10, ends: int = 20, **changes) -> dict:
        """The first period of a subscription, from days before now to days after."""
        identifier, moment = self.identifier(), now()
        purchased = moment + begins * DAY
        return samples.TRANSACTION | {
            "productId": product, "originalTransactionId": identifier, "transactionId": identifier, "purchaseDate": purchased,
            "originalPurchaseDate": purchased, "expiresDate": moment + ends * DAY, "signedDate": purchased + 1000,
            "transactionReason": "PURCHASE", "appTransactionId": f"7{identifier}",
        } | changes  # fmt: skip

    def renewal(self, before: dict, days: int = 30, **changes) -> dict:
        """The period after another."""
        start = before["expiresDate"]
        return before | {
            "transactionId": self.identifier(), "purchaseDate": start, "expiresDate": start + days * DAY,
            "transactionReason": "RENEWAL", "signedDate": now(),
        } | changes  # fmt: skip

    def bought(self, product: str = PRO, kind: str = "Non-Consumable", **changes) -> dict:
        """What is no subscription."""
        lasting = ("expiresDate", "subscriptionGroupIdentifier", "webOrderLineItemId")
        return lives.without(self.subscription(product, type=kind), *lasting) | changes

    def sign(self, payload: dict) -> str:
        return jws.sign(payload, self.leaf)

    def request(self, payload: dict, **others) -> dict:
        """A purchase by StoreKit 2."""
        return sk2(self.sign(payload), payload["productId"], **others)

    def notify(self, service: Service, kind: str, about: dict, renewal: dict | None = None, subtype=None, **changes) -> None:
        """Tells the server of a change of a purchase."""
        signed = about | {"signedDate": now()} | changes
        info = None
        if renewal is not None:
            info = self.sign(
                samples.RENEWAL_INFO | {
                    "originalTransactionId": about["originalTransactionId"], "productId": about["productId"],
                    "autoRenewProductId": about["productId"], "renewalDate": about["expiresDate"], "signedDate": now(),
                } | renewal
            )  # fmt: skip
        payload = samples.notification(self.sign(signed), info) | {
            "notificationType": kind, "notificationUUID": str(uuid.uuid4()), "signedDate": now(),
        } | ({"subtype": subtype} if subtype else {})  # fmt: skip
        answer = service.post("/v1/notifications/demo", json={"signedPayload": self.sign(payload)}, key="")
        assert answer.status_code == 200, answer.text

    def in_app(self, product: str, transaction: str, bought: int, ends: int | None = None, original=None, extra=(), **more) -> bytes:
        """A purchase of an app receipt, from a moment to another."""
        return app_receipt.in_app(
            transaction, original or transaction, product, purchased=utc(bought), first_purchased=utc(bought),
            expires=None if ends is None else utc(ends), extra=extra, **more,
        )  # fmt: skip

    def receipt(self, *purchases: bytes, **options) -> bytes:
        return app_receipt.sign(app_receipt.payload(*purchases, created=utc(now()), **options), self.rsa_leaf)


class PlayKey(lives.AppKey):
    """The key of an identity of receipt-tool."""

    def __init__(self, identity):
        self.key = serialization.load_pem_private_key((identity / "key.pem").read_bytes(), None)

    def purchase(self, token: str, **changes) -> bytes:
        """A purchase of now."""
        return self.sign(lives.PLAY | {"purchaseTime": now() - DAY, "purchaseToken": token, "productId": COINS} | changes)


@pytest.fixture(scope="module")
def app_store(store, rsa_store) -> AppStore:
    return AppStore(store, rsa_store)


@pytest.fixture(scope="module")
def identities(receipt_tool, tmp_path_factory):
    """Identities of receipt-tool: `rsa`, which signs app receipts, and `play`, the key of an app."""
    folder = tmp_path_factory.mktemp("identities")
    for name, algorithm in (("rsa", "rsa2048"), ("play", "rsa2048-sha1")):
        made = receipt_tool.run("identity", "create", folder / name, "--algorithm", algorithm)
        assert made.code == 0, made.err
    return folder


@pytest.fixture(scope="module")
def play_key(identities) -> PlayKey:
    return PlayKey(identities / "play")


@pytest.fixture(scope="module")
def make_service(tmp_path_factory, app_store, identities):
    """Makes a service whose apps have the protocol, with limits that no test meets."""

    def make(apps: dict[str, dict], **settings) -> Service:
        service = Service(tmp_path_factory.mktemp("service") / "data")

        def change(configuration):
            (service.folder / "roots.pem").write_text(app_store.roots)
            trust = ["roots.pem", "identity/root.cer", str(identities / "rsa" / "root.cer")]
            configuration["apps"], configuration["app"] = list(apps), {}
            configuration["limits"] = {"clientRate": 0}
            for name, app in apps.items():
                app = dict(app)
                policy = {"bundleIds": [BUNDLE], "environments": ["production", "sandbox"], "trust": trust} | app.pop("default", {})
                more = app.pop("more", {})
                configuration["app"][name] = {
                    "policies": ["default", "production", *more], "notifications": True, "clientProtocols": ["cordova-purchase"],
                    "policy": {"default": policy, "production": policy | {"environments": ["production"]}}
                    | {other: policy | changes for other, changes in more.items()},
                } | app  # fmt: skip
            configuration.update(settings)

        service.configure(change)
        return service

    return make


@pytest.fixture(scope="module")
def service(make_service, identities, tmp_path_factory):
    """A server whose app `demo` heeds its ledger. `other` has another bundle identifier, `closed` does not open the protocol, and the
    store of `asking` is not there."""
    key = tmp_path_factory.mktemp("key") / "key.p8"
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    key.write_bytes(ec.generate_private_key(ec.SECP256R1()).private_bytes(*form))
    store = {
        "keyFile": str(key), "keyID": "KEY", "issuerID": "00000000-0000-4000-8000-000000000000", "url": "http://127.0.0.1:1",
    }  # fmt: skip
    play_keys = {"playKeys": [f"{BUNDLE}={identities / 'play' / 'public-key.txt'}"]}
    service = make_service({
        "demo": {"checkers": ["ledger"], "default": play_keys},
        "other": {"default": {"bundleIds": ["com.example.other"]}},
        "closed": {"default": {"bundleIds": ["com.example.closed"]}, "clientProtocols": ["verify-receipt"]},
        "asking": {"default": {"bundleIds": ["com.example.asking"]}, "checkers": ["app-store"], "appStore": store},
    })  # fmt: skip
    service.start()
    yield service
    assert service.end() == 0


@pytest.fixture(scope="module")
def plugin(service) -> Plugin:
    return Plugin(service)


# StoreKit 2


def test_a_subscription_that_runs(plugin, app_store):
    payload = app_store.subscription()
    answer = plugin.verified(app_store.request(payload))
    has(
        answer.only, id=MONTHLY, platform="ios-appstore", purchaseId=payload["originalTransactionId"],
        transactionId=payload["transactionId"], purchaseDate=payload["purchaseDate"], expiryDate=payload["expiresDate"],
        isExpired=False, quantity=1,
        # Nobody told.
        renewalIntent=None, isBillingRetryPeriod=None, priceConsentStatus=None, discountId=None,
    )  # fmt: skip
    assert answer.owns(MONTHLY) and not answer.owns(YEARLY)
    assert answer.data["latest_receipt"] is True


def test_the_transaction_is_what_the_store_signed(plugin, app_store):
    payload = app_store.subscription()
    answer = plugin.verified(app_store.request(payload))
    assert answer.data["transaction"] == payload | {"type": "apple-sk2"}


def test_what_is_bought_for_ever(plugin, app_store):
    answer = plugin.verified(app_store.request(app_store.bought()))
    has(answer.only, id=PRO, isExpired=False, expiryDate=None)
    assert answer.owns(PRO)


def test_how_many_were_bought(plugin, app_store):
    answer = plugin.verified(app_store.request(app_store.bought(COINS, "Consumable", quantity=5)))
    has(answer.only, id=COINS, quantity=5, isExpired=False, expiryDate=None)
    assert answer.owns(COINS)


@pytest.mark.parametrize(
    "changes",
    [{"revocationReason": 0}, {"revocationReason": 1}, {"revocationReason": 0, "expiresDate": lives.FAR}],
    ids=["for some reason", "for an issue", "long before it ends"],
)
def test_a_refund_takes_it_back(plugin, app_store, changes):
    payload = app_store.subscription(revocationDate=now() - DAY, **changes)
    answer = plugin.verified(app_store.request(payload))
    has(answer.only, id=MONTHLY, isExpired=True)
    assert answer.only["cancelationReason"].partition(".")[0] == "Customer"
    assert not answer.owns(MONTHLY)


@pytest.mark.parametrize(
    ("offer", "expected"),
    [
        ({"offerType": 1, "offerDiscountType": "FREE_TRIAL"}, (True, False, None)),
        ({"offerType": 1, "offerDiscountType": "PAY_AS_YOU_GO"}, (False, True, None)),
        ({"offerType": 1, "offerDiscountType": "PAY_UP_FRONT"}, (False, True, None)),
        ({"offerType": 2, "offerIdentifier": "spring", "offerDiscountType": "PAY_UP_FRONT"}, (False, False, "spring")),
        ({"offerType": 3, "offerIdentifier": "CODE"}, (False, False, "CODE")),
    ],
    ids=["a free trial", "pay as you go", "pay up front", "a promotional offer", "an offer code"],
)
def test_offers(plugin, app_store, offer, expected):
    purchase = plugin.verified(app_store.request(app_store.subscription(**offer))).only
    found = purchase.get("isTrialPeriod", False), purchase.get("isIntroPeriod", False), purchase.get("discountId")
    assert found == expected, purchase


def test_what_receipt_tool_signs(service, plugin, receipt_tool, identities, app_store):
    def sign(identity, form: str, document: dict, *options: str) -> bytes:
        run = receipt_tool.run(
            "sign", "--identity", identity, "--format", form, *options, "-", stdin=json.dumps(document).encode()
        )  # fmt: skip
        assert run.code == 0, run.err
        return run.out.encode()

    answer = plugin.verified(sk2(service.sample))
    assert answer.owns(MONTHLY) and answer.only["purchaseId"] == "2000000000000001"
    answer = plugin.verified(sk2(sign(service.folder / "identity", "signed-transaction", app_store.subscription(signedDate=now()))))
    assert answer.owns(MONTHLY)
    moment = now()
    period = {
        "productId": MONTHLY, "transactionId": "702", "originalTransactionId": "701", "quantity": 1, "purchaseDate": moment - DAY,
        "originalPurchaseDate": moment - 40 * DAY, "expiresDate": moment + DAY,
    }  # fmt: skip
    document = {
        "bundleId": BUNDLE, "applicationVersion": "2.1", "originalApplicationVersion": "1.0", "environment": "Production",
        "receiptCreationDate": moment, "inApp": [period],
    }  # fmt: skip
    receipt = base64.b64decode(sign(identities / "rsa", "app-receipt", document, "--base64"))
    answer = plugin.verified(sk1(receipt, "702"))
    assert answer.owns(MONTHLY) and (answer.only["purchaseId"], answer.only["transactionId"]) == ("701", "702")
    bought = lives.PLAY | {"productId": COINS, "purchaseToken": "signed-by-the-tool.AO-J1Oz"}
    assert plugin.verified(signed_play(sign(identities / "play", "google-play-purchase", bought))).owns(COINS)


def test_a_transaction_under_another_product_s_name_is_its_own(plugin, app_store):
    answer = plugin.verified(sk2(app_store.sign(app_store.subscription()), PRO))
    assert answer.owns(MONTHLY) and not answer.owns(PRO)


def test_the_same_question_has_the_same_answer(plugin, app_store):
    body = app_store.request(app_store.subscription())
    first, second = plugin.verified(body), plugin.verified(body)
    assert lives.without(first.data, "date") == lives.without(second.data, "date")


# App receipts, of StoreKit 1


def test_an_app_receipt_has_an_entry_for_each_purchase(plugin, app_store):
    moment = now() // 1000 * 1000
    pro, plan, other, first, second, refunded = (app_store.identifier() for _ in range(6))
    period = app_store.identifier()
    in_app = app_store.in_app
    answer = plugin.verified(sk1(app_store.receipt(
        # The newest period is not the last.
        in_app(MONTHLY, period, moment - 5 * DAY, moment + 25 * DAY, plan),
        in_app(MONTHLY, plan, moment - 35 * DAY, moment - 5 * DAY),
        in_app(YEARLY, other, moment - 400 * DAY, moment - 35 * DAY),
        in_app(PRO, pro, moment - 3 * DAY),
        in_app(COINS, first, moment - 2 * DAY, quantity=2), in_app(COINS, second, moment - DAY, quantity=3),
        in_app(f"{BUNDLE}.map", refunded, moment - 9 * DAY, cancelled=utc(moment - 8 * DAY)),
    ), period))  # fmt: skip
    found = {(purchase["id"], purchase["purchaseId"]): purchase for purchase in answer.collection}
    assert set(found) == {
        (MONTHLY, plan), (YEARLY, other), (PRO, pro), (COINS, first), (COINS, second), (f"{BUNDLE}.map", refunded),
    }  # fmt: skip
    has(
        found[MONTHLY, plan], transactionId=period, purchaseDate=moment - 5 * DAY, expiryDate=moment + 25 * DAY, isExpired=False,
        quantity=1,
    )  # fmt: skip
    has(found[YEARLY, other], transactionId=other, expiryDate=moment - 35 * DAY, isExpired=True)
    has(found[PRO, pro], purchaseDate=moment - 3 * DAY, expiryDate=None, isExpired=False)
    assert [found[COINS, coins]["quantity"] for coins in (first, second)] == [2, 3]
    has(found[f"{BUNDLE}.map", refunded], isExpired=True, purchaseDate=moment - 9 * DAY)
    owned = {product for product, _ in found if answer.owns(product)}
    assert owned == {MONTHLY, PRO, COINS}
    assert answer.data["latest_receipt"] is True


def test_the_transaction_of_an_app_receipt_is_that_of_verify_receipt(plugin, app_store):
    moment = now() // 1000 * 1000
    plan, period = app_store.identifier(), app_store.identifier()
    downloaded = moment - 500 * DAY
    answer = plugin.verified(sk1(app_store.receipt(
        app_store.in_app(MONTHLY, plan, moment - 35 * DAY, moment - 5 * DAY, extra=[app_receipt.attribute(1711, der.integer(777))]),
        app_store.in_app(MONTHLY, period, moment - 5 * DAY, moment + 25 * DAY, plan, cancelled=utc(moment - DAY)),
        extra=[app_receipt.attribute(18, der.ia5(utc(downloaded)))],
    ), period))  # fmt: skip
    transaction = answer.data["transaction"]
    expected = {
        "type": "ios-appstore", "bundle_id": BUNDLE, "application_version": "2.1", "receipt_type": "Production",
        "adam_id": samples.APP_ID, "app_item_id": samples.APP_ID,
        # Of these the plugin makes the app's own date of purchase.
        "original_application_version": "1.0", **three_forms("original_purchase_date", downloaded),
    }  # fmt: skip
    assert {name: transaction.get(name) for name in expected} == expected
    for name in ("receipt_creation_date", "request_date"):
        stated = int(transaction[f"{name}_ms"])
        assert {form: transaction[form] for form in three_forms(name, stated)} == three_forms(name, stated)
    first, second = sorted(transaction["in_app"], key=lambda purchase: purchase["transaction_id"])
    expected = {
        "quantity": "1", "product_id": MONTHLY, "transaction_id": plan, "original_transaction_id": plan,
        "web_order_line_item_id": "777", **three_forms("purchase_date", moment - 35 * DAY),
        **three_forms("original_purchase_date", moment - 35 * DAY), **three_forms("expires_date", moment - 5 * DAY),
    }  # fmt: skip
    assert {name: first.get(name) for name in expected} == expected
    assert second["transaction_id"] == period
    cancelled = three_forms("cancellation_date", moment - DAY)
    assert {name: second.get(name) for name in cancelled} == cancelled
    for purchase in (first, second):
        assert all(isinstance(value, str) for value in purchase.values()), purchase


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ((1713, der.integer(1)), (True, False, None)), ((1719, der.integer(1)), (False, True, None)),
        ((1721, der.utf8("spring")), (False, False, "spring")),
    ],
    ids=["a free trial", "an introductory price", "a promotional offer"],
)  # fmt: skip
def test_offers_of_app_receipts(plugin, app_store, attribute, expected):
    identifier, moment = app_store.identifier(), now()
    period = app_store.in_app(MONTHLY, identifier, moment - DAY, moment + DAY, extra=[app_receipt.attribute(*attribute)])
    purchase = plugin.verified(sk1(app_store.receipt(period), identifier)).only
    found = purchase.get("isTrialPeriod", False), purchase.get("isIntroPeriod", False), purchase.get("discountId")
    assert found == expected, purchase


def test_an_app_receipt_without_a_purchase(plugin, app_store):
    answer = plugin.verified(sk1(app_store.receipt()))
    assert answer.collection == [] and answer.data["transaction"]["in_app"] == []
    # There was one: the app must refresh its receipt.
    plugin.refused(sk1(app_store.receipt(), "1000000000000101"), MORE_DATA)


@pytest.mark.parametrize("receipt", [{}, {"appStoreReceipt": None}, {"appStoreReceipt": ""}], ids=["absent", "null", "empty"])
def test_a_purchase_without_the_app_receipt(plugin, receipt):
    plugin.refused(request({"type": "ios-appstore", "id": "1000000000000101", **receipt}), MORE_DATA)


# What is genuine, and for whom


def flipped(text: str, place: int) -> str:
    """A text in which a letter is another one."""
    return text[:place] + ("A" if text[place] != "A" else "B") + text[place + 1 :]


def test_forged_transactions(plugin, app_store):
    payload = app_store.subscription()
    signed = app_store.sign(payload)
    head, body, signature = signed.split(".")
    longer = jws.base64url(json.dumps(payload | {"expiresDate": lives.FAR}).encode())
    stranger = pki.Store("Nobody's Root")
    unsigned = jws.base64url(json.dumps({"alg": "none"}).encode())
    for forged in [
        f"{head}.{body}.{flipped(signature, 3)}", f"{head}.{longer}.{signature}", f"{head}.{body}.", f"{head}.{body}",
        f"{unsigned}.{body}.", f"{signed}.{signature}", jws.sign(payload, stranger.leaf()), jws.sign(b"nonsense", app_store.leaf),
        jws.sign(b"[]", app_store.leaf), "", "..", "nonsense", body,
    ]:  # fmt: skip
        plugin.refused(sk2(forged))


def test_forged_app_receipts(plugin, app_store):
    identifier, moment = app_store.identifier(), now()
    receipt = app_store.receipt(app_store.in_app(PRO, identifier, moment - DAY))
    stranger = pki.Store("Nobody's RSA Root", "rsa2048").leaf("rsa2048")
    altered = bytearray(receipt)
    altered[receipt.index(PRO.encode())] ^= 1
    for forged in [
        bytes(altered), receipt[:-1], receipt[:100], receipt[1:], b"nonsense", bytes(5000),
        app_receipt.sign(app_receipt.payload(app_store.in_app(PRO, identifier, moment - DAY), created=utc(moment)), stranger),
        app_receipt.payload(app_store.in_app(PRO, identifier, moment - DAY)),
        # What is genuine, and no app receipt.
        app_store.sign(app_store.subscription()).encode(),
        transaction_receipt.sign(app_store.rsa_leaf, environment=None, encode=False),
    ]:  # fmt: skip
        plugin.refused(sk1(forged, identifier))
    body = sk1(receipt, identifier)
    for text in ["?", "a", "====", "é" * 8, "%%%%", base64.b64encode(receipt).decode()[:-7]]:
        transaction = body["transaction"] | {"appStoreReceipt": text}
        plugin.refused(body | {"transaction": transaction})


def test_other_data_that_the_store_signs_is_no_purchase(plugin, app_store):
    payload = app_store.subscription()
    for other in [
        samples.RENEWAL_INFO | {"originalTransactionId": payload["originalTransactionId"]}, samples.APP_TRANSACTION,
        samples.notification(app_store.sign(payload)), samples.REALTIME_REQUEST,
    ]:  # fmt: skip
        plugin.refused(sk2(app_store.sign(other)))


def test_a_receipt_of_one_form_is_none_of_another(plugin, app_store, play_key):
    signed = app_store.sign(app_store.subscription())
    receipt = base64.b64encode(app_store.receipt(app_store.in_app(PRO, app_store.identifier(), now()))).decode()
    for transaction in [
        {"type": "apple-sk2", "id": PRO, "jwsRepresentation": receipt},
        {"type": "apple-sk2", "id": MONTHLY, "appStoreReceipt": signed},
        {"type": "ios-appstore", "id": "1", "appStoreReceipt": signed},
        {"type": "apple-sk2", "id": COINS, "jwsRepresentation": play_key.purchase("no-jws.AO-J1Oz0123456789").decode()},
        {"type": "android-playstore", "purchaseToken": "no-purchase.AO-J1Oz012345", "receipt": signed, "signature": signed},
    ]:  # fmt: skip
        plugin.refused(request(transaction))


def test_another_app(service, plugin, app_store):
    other = Plugin(service, "other")
    payload = app_store.subscription(bundleId="com.example.other")
    plugin.refused(app_store.request(payload))
    assert other.verified(app_store.request(payload)).owns(MONTHLY)
    other.refused(app_store.request(app_store.subscription()))
    identifier = app_store.identifier()
    receipt = app_store.receipt(app_store.in_app(PRO, identifier, now() - DAY), bundle="com.example.other")
    plugin.refused(sk1(receipt, identifier))
    assert other.verified(sk1(receipt, identifier)).owns(PRO)


def test_another_environment(plugin, app_store):
    payload = app_store.subscription(environment="Sandbox")
    assert plugin.verified(app_store.request(payload)).owns(MONTHLY)
    plugin.refused(app_store.request(payload), policy="production")
    plugin.refused(app_store.request(app_store.subscription(environment="Xcode")))
    identifier = app_store.identifier()
    receipt = app_store.receipt(app_store.in_app(PRO, identifier, now() - DAY), environment="ProductionSandbox")
    assert plugin.verified(sk1(receipt, identifier)).owns(PRO)
    plugin.refused(sk1(receipt, identifier), policy="production")
    assert plugin.verified(app_store.request(app_store.subscription()), policy="production").owns(MONTHLY)


def test_a_store_that_cannot_be_asked_now(service, app_store):
    asking = Plugin(service, "asking")
    answer = asking.refused(app_store.request(app_store.subscription(bundleId="com.example.asking")), NO_CONNECTION)
    assert answer.message
    # What is forged is forged, whatever the store would say.
    asking.refused(sk2(jws.sign(app_store.subscription(bundleId="com.example.asking"), pki.Store("Nobody's Root").leaf())))


@pytest.mark.parametrize(
    "transaction",
    [
        {"type": "windows-store-transaction", "storeId": "9NBLGGH4R315", "skuId": "0010"},
        {"type": "windows-store-transaction", "serviceTicketType": "purchase", "serviceTicket": "ticket"},
        {"type": "braintree", "id": "nonce", "paymentMethodNonce": "n", "paymentMethodType": "CreditCard", "deviceData": "{}",
         "paymentDescription": "Visa"},
        {"type": "iaptic", "adapter": "stripe", "accessToken": "token"}, {"type": "test"}, {"type": ""}, {"type": "Apple-SK2"},
        {"type": "apple-sk2 "}, {},
    ],
    ids=lambda transaction: transaction.get("type", "none"),
)  # fmt: skip
def test_other_types_of_transactions(plugin, app_store, transaction):
    # Whatever else is there.
    signed = {"jwsRepresentation": app_store.sign(app_store.subscription())}
    plugin.refused(request(transaction | signed, MONTHLY, "paid subscription"))


# Lives, and clients of old


@pytest.fixture(scope="module")
def life_plugin(make_service, identities):
    """An app that has no news of its purchases."""
    service = make_service({"demo": {"default": {"playKeys": [f"{BUNDLE}={identities / 'play' / 'public-key.txt'}"]}}})
    yield Plugin(service.start())
    assert service.end() == 0


@pytest.fixture(scope="module")
def found_lives(store, rsa_store, play_key) -> list[lives.Life]:
    found = lives.lives(store.leaf(), rsa_store.leaf("rsa2048"), play_key, lives.AppKey())
    assert len(found) == lives.COUNT
    # The ledger keeps what the plugin presents, so that each transaction is a purchase of its own.
    return [
        dataclasses.replace(life, receipt=lives.with_purchase(life, number, str(uuid.uuid4()), store.leaf()).encode())
        if life.name.startswith("transaction:")
        else life
        for number, life in enumerate(found)
        if life.at == "now"
    ]


def presented(life: lives.Life) -> tuple[dict, str]:
    """A life as the plugin presents it, and its product."""
    kind = life.name.partition(":")[0]
    if kind in ("app receipt", "transaction receipt"):
        product = f"{BUNDLE}.gems"
        return sk1(base64.b64decode(life.receipt)), product
    if kind in ("Google Play", "Huawei"):
        body = signed_play(life.receipt)
        return body, body["id"]
    return sk2(life.receipt), MONTHLY


# Those of which no transaction of the plugin is made. Huawei's key is none of Google Play's.
NO_PURCHASES = ("notification", "renewal info", "app transaction", "transaction receipt", "Huawei")
# Nothing here knows whether it stands, so that the plugin must not finish it.
UNKNOWN_HERE = (
    "Google Play: a subscription, whose end is not signed", "Google Play: a state that does not exist yet", "Google Play: no date",
)  # fmt: skip


def test_what_a_customer_owns_in_every_life(life_plugin, found_lives):
    seen = set()
    for life in found_lives:
        body, product = presented(life)
        answer = life_plugin.judged(body)
        assert answer.owns(product) == (life.grants_access and not life.name.startswith(NO_PURCHASES)), (life.name, answer)
        if life.name.startswith(NO_PURCHASES):
            assert answer.code == INVALID, (life.name, answer)
        elif life.name in UNKNOWN_HERE:
            assert (answer.code, answer.status) == (6778002, 503), (life.name, answer)
        else:
            assert answer.code is None, (life.name, answer)
            assert [purchase["isExpired"] for purchase in answer.collection] == (
                [] if life.standing is None else [not life.grants_access]
            ), life.name
            seen.add((body["transaction"]["type"], life.standing))
    assert seen == {
        *(("apple-sk2", standing) for standing in ("active", "expired", "refunded", "revoked", "upgraded", "unknown")),
        *(("ios-appstore", standing) for standing in ("active", "expired", "refunded", "unknown", None)),
        *(("android-playstore", standing) for standing in ("active", "pending", "revoked", "refunded")),
    }  # fmt: skip


def test_old_clients_are_told_of_nothing_that_the_customer_does_not_own(life_plugin, found_lives):
    """They take each success for a purchase that is owned."""
    for life in found_lives:
        if life.name.startswith(NO_PURCHASES) or life.name in UNKNOWN_HERE or life.standing is None:
            continue
        answer = life_plugin.judged(with_plugin(presented(life)[0], "11.0.0"))
        assert answer.code == (None if life.grants_access else EXPIRED), (life.name, answer)


@pytest.mark.parametrize("client", OLD_CLIENTS)
def test_old_clients_are_told_of_the_end_by_a_code(plugin, app_store, client):
    body = OLD_CLIENTS[client](app_store.request(app_store.subscription(begins=-40, ends=-10)))
    response = plugin.send(body)
    answer = checked(response)
    assert (answer.code, answer.status) == (EXPIRED, 419)
    content = response.json()
    assert content["data"]["code"] == EXPIRED and content["data"]["latest_receipt"] is True
    code, message = read_as_before(response)
    assert code == EXPIRED and message
    # What runs is a success for them, too.
    assert plugin.verified(OLD_CLIENTS[client](app_store.request(app_store.subscription()))).owns(MONTHLY)


@pytest.mark.parametrize("client", NEW_CLIENTS)
def test_new_clients_are_told_of_the_end_by_the_entry(plugin, app_store, client):
    payload = app_store.subscription(begins=-40, ends=-10)
    answer = plugin.verified(NEW_CLIENTS[client](app_store.request(payload)))
    has(answer.only, id=MONTHLY, isExpired=True, expiryDate=payload["expiresDate"])
    assert not answer.owns(MONTHLY)


def test_old_clients_own_what_else_is_in_the_receipt(plugin, app_store):
    plan, pro, moment = app_store.identifier(), app_store.identifier(), now()
    ended = app_store.in_app(MONTHLY, plan, moment - 40 * DAY, moment - 10 * DAY)
    both = app_store.receipt(ended, app_store.in_app(PRO, pro, moment - 50 * DAY))
    answer = plugin.verified(with_plugin(sk1(both, plan), "11.0.0"))
    assert answer.owns(PRO) and not answer.owns(MONTHLY)
    plugin.refused(with_plugin(sk1(app_store.receipt(ended), plan), "11.0.0"), EXPIRED)


def test_old_clients_read_every_failure(plugin, app_store):
    for body, code in [
        (sk2("nonsense"), INVALID), (request({"type": "ios-appstore", "id": "1"}), MORE_DATA),
        (request({"type": "braintree"}), INVALID),
    ]:  # fmt: skip
        response = plugin.send(before_13(body))
        assert checked(response).code == code
        assert read_as_before(response)[0] == code


# The ledger's news


def test_a_refund_that_was_notified_before(service, plugin, app_store):
    payload = app_store.subscription()
    body = app_store.request(payload)
    app_store.notify(service, "REFUND", payload, revocationDate=now(), revocationReason=1)
    answer = plugin.verified(body)
    has(answer.only, id=MONTHLY, purchaseId=payload["originalTransactionId"], isExpired=True)
    assert not answer.owns(MONTHLY)
    # There is no later transaction. What the app signed is answered as it is.
    assert answer.data["latest_receipt"] is True
    assert "revocationDate" not in answer.data["transaction"]
    plugin.refused(with_plugin(body, "11.0.0"), EXPIRED)


def test_a_refund_of_what_is_bought_for_ever(service, plugin, app_store):
    payload = app_store.bought()
    app_store.notify(service, "REFUND", payload, revocationDate=now(), revocationReason=0)
    answer = plugin.verified(app_store.request(payload))
    has(answer.only, id=PRO, isExpired=True)
    assert not answer.owns(PRO)


def test_a_refund_that_was_reversed(service, plugin, app_store):
    payload = app_store.subscription()
    app_store.notify(service, "REFUND", payload, revocationDate=now(), revocationReason=0)
    assert not plugin.verified(app_store.request(payload)).owns(MONTHLY)
    app_store.notify(service, "REFUND_REVERSED", payload)
    answer = plugin.verified(app_store.request(payload))
    has(answer.only, isExpired=False)
    assert answer.owns(MONTHLY)


def test_sharing_that_ended(service, plugin, app_store):
    payload = app_store.subscription(inAppOwnershipType="FAMILY_SHARED")
    app_store.notify(service, "REVOKE", payload, revocationDate=now(), revocationReason=0)
    answer = plugin.verified(app_store.request(payload))
    has(answer.only, isExpired=True)
    assert not answer.owns(MONTHLY)


@pytest.mark.parametrize("begins", [-40, -29], ids=["after its end", "before its end"])
def test_a_renewal_that_was_notified_before(service, plugin, app_store, begins):
    payload = app_store.subscription(begins=begins, ends=begins + 30)
    later = app_store.renewal(payload)
    app_store.notify(service, "DID_RENEW", later, {"autoRenewStatus": 1})
    answer = plugin.verified(app_store.request(payload))
    has(
        answer.only, id=MONTHLY, purchaseId=payload["originalTransactionId"], transactionId=later["transactionId"],
        purchaseDate=later["purchaseDate"], expiryDate=later["expiresDate"], isExpired=False, renewalIntent="Renew",
    )  # fmt: skip
    assert answer.owns(MONTHLY)
    assert answer.data["latest_receipt"] is False
    assert answer.data["transaction"]["transactionId"] == payload["transactionId"]
    # For who comes with the new one, there is none later.
    answer = plugin.verified(app_store.request(later))
    has(answer.only, transactionId=later["transactionId"], expiryDate=later["expiresDate"])
    assert answer.data["latest_receipt"] is True and answer.owns(MONTHLY)
    # Old clients are not told that it ended, either.
    assert plugin.verified(with_plugin(app_store.request(payload), "11.0.0")).owns(MONTHLY)


def test_a_renewal_is_news_for_an_app_receipt(service, plugin, app_store):
    payload = app_store.subscription(begins=-40, ends=-10)
    pro = app_store.identifier()
    original = payload["originalTransactionId"]
    receipt = app_store.receipt(
        app_store.in_app(MONTHLY, original, payload["purchaseDate"], payload["expiresDate"]),
        app_store.in_app(PRO, pro, payload["purchaseDate"]),
    )
    assert not plugin.verified(sk1(receipt, original)).owns(MONTHLY)
    later = app_store.renewal(payload)
    app_store.notify(service, "DID_RENEW", later, {"autoRenewStatus": 0})
    app_store.notify(service, "REFUND", app_store.bought(
        originalTransactionId=pro, transactionId=pro, purchaseDate=payload["purchaseDate"], revocationDate=now(), revocationReason=0,
    ))  # fmt: skip
    answer = plugin.verified(sk1(receipt, original))
    has(
        answer.newest(MONTHLY), purchaseId=original, transactionId=later["transactionId"], expiryDate=later["expiresDate"],
        isExpired=False, renewalIntent="Lapse",
    )  # fmt: skip
    assert answer.owns(MONTHLY)
    has(answer.newest(PRO), purchaseId=pro, isExpired=True)
    assert not answer.owns(PRO)
    assert answer.data["latest_receipt"] is False
    # The receipt is answered as it was signed, with the refund.
    found = {purchase["transaction_id"]: "cancellation_date" in purchase for purchase in answer.data["transaction"]["in_app"]}
    assert found == {original: False, pro: True}


def test_a_renewal_says_when_it_renewed_last(service, plugin, app_store):
    payload = app_store.subscription(begins=-40, ends=-10)
    later = app_store.renewal(payload)
    app_store.notify(service, "DID_RENEW", later, {"autoRenewStatus": 1})
    has(plugin.verified(app_store.request(payload)).only, lastRenewalDate=later["purchaseDate"])


RENEWALS = {
    "it renews": ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", 20, {"autoRenewStatus": 1}, {"renewalIntent": "Renew"}),
    "it lapses": ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", 20, {"autoRenewStatus": 0}, {"renewalIntent": "Lapse"}),
    "billing retry": (
        "DID_FAIL_TO_RENEW", None, -1, {"autoRenewStatus": 1, "isInBillingRetryPeriod": True, "expirationIntent": 2},
        {"renewalIntent": "Renew", "isBillingRetryPeriod": True, "cancelationReason": "System.BillingError"},
    ),
    "a price that was not accepted": (
        "EXPIRED", "PRICE_INCREASE", -1, {"autoRenewStatus": 0, "expirationIntent": 3},
        {"renewalIntent": "Lapse", "cancelationReason": "Customer.PriceIncrease"},
    ),
    "a product that is gone": (
        "EXPIRED", "PRODUCT_NOT_FOR_SALE", -1, {"autoRenewStatus": 0, "expirationIntent": 4},
        {"renewalIntent": "Lapse", "cancelationReason": "System.ProductUnavailable"},
    ),
    "a price that was told": (
        "PRICE_INCREASE", "PENDING", 20, {"autoRenewStatus": 1, "priceIncreaseStatus": 0},
        {"renewalIntent": "Renew", "priceConsentStatus": "Notified"},
    ),
    "a price that was accepted": (
        "PRICE_INCREASE", "ACCEPTED", 20, {"autoRenewStatus": 1, "priceIncreaseStatus": 1},
        {"renewalIntent": "Renew", "priceConsentStatus": "Agreed"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("news", RENEWALS)
def test_renewal_info(service, plugin, app_store, news):
    kind, subtype, ends, info, expected = RENEWALS[news]
    payload = app_store.subscription(begins=ends - 30, ends=ends)
    app_store.notify(service, kind, payload, info, subtype)
    answer = plugin.verified(app_store.request(payload))
    has(answer.only, id=MONTHLY, isExpired=ends < 0, expiryDate=payload["expiresDate"], **expected)
    assert answer.owns(MONTHLY) == (ends > 0)
    assert answer.data["latest_receipt"] is True


def test_a_customer_who_cancelled(service, plugin, app_store):
    payload = app_store.subscription(begins=-31, ends=-1)
    app_store.notify(service, "EXPIRED", payload, {"autoRenewStatus": 0, "expirationIntent": 1}, "VOLUNTARY")
    purchase = plugin.verified(app_store.request(payload)).only
    has(purchase, isExpired=True, renewalIntent="Lapse")
    assert purchase["cancelationReason"].partition(".")[0] == "Customer"


def test_access_goes_on_in_a_grace_period(service, plugin, app_store):
    payload = app_store.subscription(begins=-31, ends=-1)
    until = now() + 5 * DAY
    info = {"autoRenewStatus": 1, "isInBillingRetryPeriod": True, "expirationIntent": 2, "gracePeriodExpiresDate": until}
    app_store.notify(service, "DID_FAIL_TO_RENEW", payload, info, "GRACE_PERIOD")
    answer = plugin.verified(app_store.request(payload))
    # For the plugin a purchase ends at its expiry date.
    has(answer.only, isExpired=False, expiryDate=until, renewalIntent="Renew", isBillingRetryPeriod=True)
    assert answer.owns(MONTHLY)
    assert plugin.verified(with_plugin(app_store.request(payload), "11.0.0")).owns(MONTHLY)


def test_an_upgrade_that_was_notified_before(service, plugin, app_store):
    payload = app_store.subscription()
    moment = now()
    later = payload | {
        "productId": YEARLY, "transactionId": app_store.identifier(), "purchaseDate": moment - DAY,
        "expiresDate": moment + 364 * DAY,
    }  # fmt: skip
    app_store.notify(service, "DID_CHANGE_RENEWAL_PREF", later, {"autoRenewStatus": 1}, "UPGRADE")
    answer = plugin.verified(app_store.request(payload))
    assert answer.owns(YEARLY) and not answer.owns(MONTHLY)
    assert answer.data["latest_receipt"] is False


def test_only_who_has_a_purchase_is_told_of_it(service, plugin, app_store):
    """A publishable key is in every app: the answer has what its holder could prove."""
    account = str(uuid.uuid4())
    first, second = (app_store.subscription(appAccountToken=account) for _ in range(2))
    app_store.notify(service, "SUBSCRIBED", first, {"autoRenewStatus": 1}, "INITIAL_BUY")
    body = app_store.request(second, additionalData={"applicationUsername": account})
    assert plugin.verified(body).only["purchaseId"] == second["originalTransactionId"]
    # Whether the App Store signs that both are of one customer decides, not the account that the app stated.
    third = app_store.subscription(PRO, appTransactionId=first["appTransactionId"])
    answer = plugin.verified(app_store.request(third))
    assert {purchase["purchaseId"] for purchase in answer.collection} == {
        first["originalTransactionId"], third["originalTransactionId"],
    }  # fmt: skip
    assert answer.owns(MONTHLY) and answer.owns(PRO)
    other = app_store.subscription(appTransactionId=first["appTransactionId"], environment="Sandbox")
    assert plugin.verified(app_store.request(other)).only["purchaseId"] == other["originalTransactionId"]


def test_what_is_not_owned_has_ended(service, plugin, app_store):
    """The plugin's rules for a device without a connection look at expiryDate alone."""
    for payload in [
        app_store.bought(revocationDate=now() - DAY, revocationReason=0), lives.without(app_store.subscription(), "expiresDate"),
        app_store.subscription(revocationDate=now() - DAY, revocationReason=0, expiresDate=lives.FAR),
        app_store.subscription(isUpgraded=True, expiresDate=lives.FAR),
    ]:  # fmt: skip
        (purchase,) = plugin.verified(app_store.request(payload)).collection
        assert purchase["isExpired"] and purchase["expiryDate"] <= now(), payload


def test_the_transaction_of_the_app_itself_is_no_purchase(plugin, app_store):
    """The plugin sends one for each customer, of whom some have bought nothing."""
    receipt = app_store.receipt()
    assert plugin.verified(sk1(receipt, "appstore.application")).collection == []
    plugin.refused(sk1(receipt, "1000000000000001"), MORE_DATA)


def test_an_app_that_the_plugin_does_not_know_yet(plugin, app_store):
    payload = app_store.subscription()
    answer = plugin.judged(app_store.request(payload) | {"id": ""})
    assert answer.data["id"] == samples.BUNDLE and answer.owns(MONTHLY)


# Google Play: what it signed


def test_a_signed_purchase_of_google_play(plugin, play_key):
    bought = now() - DAY
    receipt = play_key.purchase("paid.AO-J1Oz0123456789", purchaseTime=bought, acknowledged=False, orderId="GPA.1-1")
    body = signed_play(receipt)
    answer = plugin.verified(body)
    has(
        answer.only, id=COINS, platform="android-playstore", purchaseId="paid.AO-J1Oz0123456789", transactionId="GPA.1-1",
        purchaseDate=bought, expiryDate=None, isExpired=False, quantity=3, isAcknowledged=False,
    )  # fmt: skip
    assert answer.owns(COINS) and answer.data["latest_receipt"] is True
    assert answer.data["transaction"] == json.loads(body["transaction"]["receipt"]) | {
        "type": "android-playstore", "kind": "androidpublisher#productPurchase"
    }  # fmt: skip
    receipt = play_key.purchase("acknowledged.AO-J1Oz0123456789", acknowledged=True)
    has(plugin.verified(signed_play(receipt)).only, isAcknowledged=None)
    has(plugin.verified(signed_play(receipt) | {"type": "non consumable"}).only, isAcknowledged=True)


def test_states_of_signed_purchases(plugin, play_key):
    for state, owned in [(0, True), (1, False), (2, False), (4, False)]:
        answer = plugin.verified(signed_play(play_key.purchase(f"state-{state}.AO-J1Oz0123456789", purchaseState=state)))
        has(answer.only, id=COINS, isExpired=not owned)
        assert answer.owns(COINS) == owned, state
    future = plugin.judged(signed_play(play_key.purchase("state-9.AO-J1Oz0123456789", purchaseState=9)))
    assert (future.code, future.status) == (6778002, 503)


def test_forged_purchases_of_google_play(plugin, play_key):
    body = signed_play(play_key.purchase("forged.AO-J1Oz0123456789"))
    receipt, signature = body["transaction"]["receipt"], body["transaction"]["signature"]
    dearer = receipt.replace(COINS, PRO)
    other = json.loads(lives.AppKey().sign(json.loads(receipt)))
    assert dearer != receipt
    for forged in [
        {"signature": flipped(signature, 9)}, {"receipt": dearer}, {"receipt": receipt + " "}, {"signature": "nonsense"},
        # The bytes are signed, not what they mean.
        {"receipt": json.dumps(json.loads(receipt), indent=1)}, {"receipt": "nonsense"}, {"receipt": "{}"},
        {"signature": other["signature"]},
    ]:  # fmt: skip
        plugin.refused(body | {"transaction": body["transaction"] | forged})


def test_a_purchase_in_another_app_of_google_play(plugin, play_key):
    plugin.refused(signed_play(play_key.purchase("elsewhere.AO-J1Oz0123456789", packageName="com.example.other")))


def test_the_signature_says_what_was_bought_not_who_presents_it(plugin, play_key):
    body = signed_play(play_key.purchase("mine.AO-J1Oz0123456789"))
    others = body["transaction"] | {"purchaseToken": "yours.AO-J1Oz0123456789", "id": "GPA.9-9"}
    answer = plugin.judged(body | {"transaction": others})
    assert {purchase["purchaseId"] for purchase in answer.collection} <= {"mine.AO-J1Oz0123456789"}
    answer = plugin.judged(body | {"id": PRO})
    assert not answer.owns(PRO)


def test_a_purchase_that_nobody_here_knows(plugin):
    """Neither is it signed, nor are there credentials, nor has it been in the ledger."""
    plugin.refused(play(COINS, "unknown.AO-J1Oz0123456789", "GPA.1-1"))
    plugin.refused(play(MONTHLY, "unknown.AO-J1Oz0123456789", "GPA.1-1", "paid subscription"))


# Google Play: what it answers


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """A Google Play, which sells."""
    folder = tmp_path_factory.mktemp("stores")
    emulator = Emulator(
        os.environ["STORE_EMULATOR"], folder / "state", "--clock-rate", "0", "--play-service-account", str(folder / "account.json")
    )
    emulator.account = folder / "account.json"
    emulator.key = folder / "key.txt"
    emulator.key.write_text(emulator.control("GET", "play/key")["publicKey"])
    yield emulator
    emulator.stop()


def credentials(stores) -> dict:
    url = stores.url().replace("localhost", "127.0.0.1")
    return {"package": BUNDLE, "serviceAccount": str(stores.account), "url": url}


@pytest.fixture(scope="module")
def shop(make_service, stores):
    """An app with credentials for it; its policy `signed` knows its key, too."""
    service = make_service({
        "demo": {
            "checkers": ["ledger"], "googlePlay": credentials(stores), "more": {"signed": {"playKeys": [f"{BUNDLE}={stores.key}"]}},
        }
    })  # fmt: skip
    yield Plugin(service.start())
    assert service.end() == 0


@pytest.fixture
def sell(stores):
    """Sells something to a customer of its own; the result is what the plugin posts of it."""
    def sell(product: str, kind: str = "consumable", **options) -> dict:
        bought = stores.control("POST", "play/buy", {"account": str(uuid.uuid4()), "productId": product} | options)
        return play(
            product, bought["purchaseToken"], bought.get("orderId"), kind, bought["purchaseData"], bought["signature"]
        )

    return sell


def without_signature(body: dict) -> dict:
    return body | {"transaction": lives.without(body["transaction"], "receipt", "signature")}


def test_google_play_is_asked_for_a_one_time_purchase(shop, stores, sell):
    body = sell(COINS, quantity=3)
    transaction = body["transaction"]
    bought = json.loads(transaction["receipt"])
    for presented in (without_signature(body), body):
        answer = shop.verified(presented)
        has(
            answer.only, id=COINS, platform="android-playstore", purchaseId=transaction["purchaseToken"],
            transactionId=transaction["id"], purchaseDate=bought["purchaseTime"], expiryDate=None, isExpired=False, quantity=3,
            isAcknowledged=False, isConsumed=False,
        )  # fmt: skip
        assert answer.owns(COINS)
        assert answer.data["transaction"]["kind"] == "androidpublisher#productPurchase"
    stores.control("POST", "play/refund", {"orderId": transaction["id"]})
    answer = shop.verified(body)
    has(answer.only, isExpired=True)
    assert not answer.owns(COINS)


def test_google_play_is_asked_for_a_subscription(shop, stores, sell):
    body = sell(MONTHLY, "paid subscription")
    token = body["transaction"]["purchaseToken"]
    answer = shop.verified(without_signature(body))
    purchase = answer.only
    has(
        purchase, id=MONTHLY, purchaseId=token, transactionId=body["transaction"]["id"], isExpired=False, renewalIntent="Renew",
        isAcknowledged=False, quantity=1, purchaseDate=json.loads(body["transaction"]["receipt"])["purchaseTime"],
    )  # fmt: skip
    assert purchase["expiryDate"] > now()
    assert answer.owns(MONTHLY) and answer.data["transaction"]["kind"] == "androidpublisher#subscriptionPurchaseV2"
    stores.control("POST", "play/cancel", {"purchaseToken": token})
    answer = shop.verified(without_signature(body))
    has(answer.only, isExpired=False, renewalIntent="Lapse", expiryDate=purchase["expiryDate"])
    assert answer.only["cancelationReason"].partition(".")[0] == "Customer"
    assert answer.owns(MONTHLY)
    stores.control("POST", "play/refund", {"orderId": body["transaction"]["id"]})
    assert not shop.verified(without_signature(body)).owns(MONTHLY)
    shop.refused(with_plugin(without_signature(body), "11.0.0"), EXPIRED)


def test_a_signature_does_not_say_when_a_subscription_ends(shop, stores, sell):
    body = sell(MONTHLY, "paid subscription")
    answer = shop.verified(body, policy="signed")
    assert answer.owns(MONTHLY) and answer.only["expiryDate"] > now()
    stores.control("POST", "play/refund", {"orderId": body["transaction"]["id"]})
    answer = shop.verified(body, policy="signed")
    has(answer.only, isExpired=True)
    assert not answer.owns(MONTHLY)
    # Of what is bought once it says all.
    body = sell(COINS)
    assert shop.verified(body, policy="signed").owns(COINS)
    forged = body["transaction"] | {"signature": flipped(body["transaction"]["signature"], 9)}
    shop.refused(body | {"transaction": forged}, policy="signed")


def test_a_payment_that_is_awaited(shop, stores, sell):
    for product, kind in ((COINS, "consumable"), (MONTHLY, "paid subscription")):
        body = without_signature(sell(product, kind, isPending=True))
        answer = shop.verified(body)
        has(answer.only, id=product, isExpired=True)
        assert not answer.owns(product)
        stores.control("POST", "play/approve", {"purchaseToken": body["transaction"]["purchaseToken"]})
        assert shop.verified(body).owns(product)


def test_a_token_of_another_product_does_not_give_it(shop, sell):
    body = without_signature(sell(COINS)) | {"id": PRO}
    assert not shop.judged(body).owns(PRO)


def test_licence_testers_are_refused_in_production(shop, sell):
    tested, paid = (without_signature(sell(COINS, isTest=is_test)) for is_test in (True, False))
    assert shop.verified(tested).owns(COINS) and shop.verified(paid).owns(COINS)
    shop.refused(tested, policy="production")
    assert shop.verified(paid, policy="production").owns(COINS)


def test_a_token_that_google_play_does_not_know(shop):
    for token in ("a" * 24 + ".AO-J1O" + "b" * 80, "short"):
        shop.refused(play(COINS, token, "GPA.1-1"))
        shop.refused(play(MONTHLY, token, "GPA.1-1", "paid subscription"))


@pytest.mark.parametrize("status", [500, 503, 403], ids=["it fails", "it is busy", "it refuses the credentials"])
def test_google_play_that_does_not_answer(shop, stores, sell, status):
    body = without_signature(sell(COINS))
    stores.control("POST", "play/faults", [{"faults": [{"kind": "status", "status": status}]}])
    try:
        shop.refused(body, NO_CONNECTION)
    finally:
        stores.control("POST", "play/faults", [])
    assert shop.verified(body).owns(COINS)


def test_without_credentials_the_ledger_is_asked(make_service, stores, sell):
    service = make_service({"demo": {"checkers": ["ledger"], "googlePlay": credentials(stores)}})
    service.start()
    kept, refunded = (sell(MONTHLY, "paid subscription") for _ in range(2))

    def look_up(body):
        found = service.post("/v1/lookup", json={"store": "google-play", "purchaseToken": body["transaction"]["purchaseToken"]})
        assert found.json()["verdict"] == "valid", found.text

    look_up(kept)
    stores.control("POST", "play/refund", {"orderId": refunded["transaction"]["id"]})
    look_up(refunded)
    assert service.end() == 0
    service.configure(lambda configuration: configuration["app"]["demo"].pop("googlePlay"))
    plugin = Plugin(service.start())
    answer = plugin.verified(without_signature(kept))
    has(answer.only, id=MONTHLY, purchaseId=kept["transaction"]["purchaseToken"], isExpired=False)
    assert answer.owns(MONTHLY)
    answer = plugin.verified(without_signature(refunded))
    has(answer.only, id=MONTHLY, isExpired=True)
    plugin.refused(without_signature(sell(COINS)))
    assert service.end() == 0


# Google Play: answers that no emulator gives at this hour


@pytest.fixture(scope="module")
def google() -> Google:
    return Google()


@pytest.fixture(scope="module")
def counter(make_service, google, tmp_path_factory):
    """An app with credentials for it."""
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    account = tmp_path_factory.mktemp("account") / "account.json"
    account.write_text(json.dumps({
        "type": "service_account", "private_key_id": "1", "private_key": google.key.private_bytes(*form).decode(),
        "client_email": "play@example.iam.gserviceaccount.com", "token_uri": f"{google.url}/token",
    }))  # fmt: skip
    access = {"package": BUNDLE, "serviceAccount": str(account), "url": google.url, "tokenURL": f"{google.url}/token"}
    service = make_service({"demo": {"googlePlay": access}})
    yield Plugin(service.start())
    assert service.end() == 0


class Sold:
    """A purchase, and Google Play's answer about it."""

    numbers = itertools.count()

    def __init__(self, google: Google):
        self.google = google
        self.token = f"token-{next(self.numbers):018}.AO-J1Oz"
        self.start = now() // 1000 * 1000 - 10 * DAY

    def answers(self, path: str, answer: dict, status: int = 200) -> None:
        self.google.answers["GET", f"/purchases/{path}/tokens/{self.token}"] = status, answer

    def once(self, state: str = "PURCHASED", consumption: str = "YET_TO_BE_CONSUMED", acknowledgement: str = "ACKNOWLEDGED") -> dict:
        self.answers("productsv2", {
            "kind": "androidpublisher#productPurchaseV2", "regionCode": "CH", "orderId": "GPA.1-1",
            "purchaseStateContext": {"purchaseState": state}, "purchaseCompletionTime": utc(self.start),
            "acknowledgementState": f"ACKNOWLEDGEMENT_STATE_{acknowledgement}",
            "productLineItem": [{
                "productId": COINS, "productOfferDetails": {"quantity": 2, "consumptionState": f"CONSUMPTION_STATE_{consumption}"},
            }],
        })  # fmt: skip
        self.answers(f"products/{COINS}", {
            "kind": "androidpublisher#productPurchase", "regionCode": "CH", "orderId": "GPA.1-1", "productId": COINS,
            "purchaseTimeMillis": str(self.start), "purchaseState": ["PURCHASED", "CANCELLED", "PENDING"].index(state),
            "consumptionState": int(consumption == "CONSUMED"), "acknowledgementState": int(acknowledgement == "ACKNOWLEDGED"),
            "quantity": 2,
        })  # fmt: skip
        return play(COINS, self.token, "GPA.1-1")

    def plan(self, state: str = "ACTIVE", ends: int = 20, line: dict | None = None, plan: dict | None = None, **changes) -> dict:
        self.ends = self.start + (10 + ends) * DAY
        self.answers("subscriptionsv2", {
            "kind": "androidpublisher#subscriptionPurchaseV2", "regionCode": "CH", "startTime": utc(self.start),
            "subscriptionState": f"SUBSCRIPTION_STATE_{state}", "latestOrderId": "GPA.2-2",
            "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED", "etag": "1",
            "lineItems": [{
                "productId": MONTHLY, "expiryTime": utc(self.ends), "latestSuccessfulOrderId": "GPA.2-2",
                "autoRenewingPlan": {"autoRenewEnabled": True} | (plan or {}), "offerDetails": {"basePlanId": "monthly"},
            } | (line or {})],
        } | changes)  # fmt: skip
        return play(MONTHLY, self.token, "GPA.2-2", "paid subscription")


@pytest.fixture
def sold(google) -> Sold:
    return Sold(google)


def test_a_consumed_purchase(counter, sold):
    body = sold.once(consumption="CONSUMED")
    answer = counter.verified(body)
    has(
        answer.only, id=COINS, purchaseId=sold.token, transactionId="GPA.1-1", purchaseDate=sold.start, quantity=2, isConsumed=True,
        isAcknowledged=True, isExpired=True,
    )  # fmt: skip
    assert not answer.owns(COINS)


@pytest.mark.parametrize("client", OLD_CLIENTS)
def test_old_clients_are_told_of_consumption_by_a_code(counter, google, sold, client):
    response = counter.send(OLD_CLIENTS[client](sold.once(consumption="CONSUMED")))
    answer = checked(response)
    assert (answer.code, answer.status) == (CONSUMED, 400)
    assert read_as_before(response)[0] == CONSUMED
    assert counter.verified(OLD_CLIENTS[client](Sold(google).once())).owns(COINS)


@pytest.mark.parametrize(
    ("state", "acknowledgement", "expected"),
    [
        # The plugin would not consume what is called acknowledged.
        ("PURCHASED", "ACKNOWLEDGED", {"isExpired": False, "isAcknowledged": None, "isConsumed": False}),
        ("PURCHASED", "PENDING", {"isExpired": False, "isAcknowledged": False, "isConsumed": False}),
        ("PENDING", "PENDING", {"isExpired": True}), ("CANCELLED", "ACKNOWLEDGED", {"isExpired": True}),
    ],
)  # fmt: skip
def test_states_of_one_time_purchases(counter, sold, state, acknowledgement, expected):
    answer = counter.verified(sold.once(state, acknowledgement=acknowledgement))
    has(answer.only, id=COINS, purchaseId=sold.token, **expected)
    assert answer.owns(COINS) is not expected["isExpired"]


PLANS = {
    "active": ({}, {"isExpired": False, "renewalIntent": "Renew", "isAcknowledged": True}),
    "not acknowledged": (
        {"acknowledgementState": "ACKNOWLEDGEMENT_STATE_PENDING"}, {"isExpired": False, "isAcknowledged": False},
    ),
    "cancelled by the customer": (
        {"state": "CANCELED", "plan": {"autoRenewEnabled": False}, "canceledStateContext": {"userInitiatedCancellation": {}}},
        {"isExpired": False, "renewalIntent": "Lapse", "cancelationReason": "Customer"},
    ),
    "cancelled by the developer": (
        {"state": "CANCELED", "plan": {"autoRenewEnabled": False}, "canceledStateContext": {"developerInitiatedCancellation": {}}},
        {"isExpired": False, "renewalIntent": "Lapse", "cancelationReason": "Developer"},
    ),
    "replaced": (
        {"state": "EXPIRED", "ends": -1, "plan": {"autoRenewEnabled": False},
         "canceledStateContext": {"replacementCancellation": {}}},
        {"isExpired": True, "cancelationReason": "System.Replaced"},
    ),
    "a grace period": ({"state": "IN_GRACE_PERIOD"}, {"isExpired": False, "renewalIntent": "Renew"}),
    "on hold": ({"state": "ON_HOLD", "ends": -1}, {"isExpired": True, "isBillingRetryPeriod": True}),
    "paused": ({"state": "PAUSED", "ends": -1}, {"isExpired": True}),
    "pending": (
        {"state": "PENDING", "startTime": None, "line": {"expiryTime": None, "latestSuccessfulOrderId": None}}, {"isExpired": True},
    ),
    "expired": (
        {"state": "EXPIRED", "ends": -1, "plan": {"autoRenewEnabled": False}}, {"isExpired": True, "renewalIntent": "Lapse"},
    ),
    "a state of the future": ({"state": "LEASED", "ends": -1}, {"isExpired": True}),
    "a free trial": (
        {"line": {"offerDetails": {"basePlanId": "monthly", "offerId": "try"}, "offerPhase": {"freeTrial": {}}}},
        {"isExpired": False, "isTrialPeriod": True, "discountId": "try"},
    ),
    "an introductory price": (
        {"line": {"offerDetails": {"basePlanId": "monthly", "offerId": "half"}, "offerPhase": {"introductoryPrice": {}}}},
        {"isExpired": False, "isIntroPeriod": True, "discountId": "half"},
    ),
    "a price that was told": (
        {"plan": {"priceChangeDetails": {"priceChangeMode": "PRICE_INCREASE", "priceChangeState": "OUTSTANDING"}}},
        {"isExpired": False, "priceConsentStatus": "Notified"},
    ),
    "a price that was accepted": (
        {"plan": {"priceChangeDetails": {"priceChangeMode": "PRICE_INCREASE", "priceChangeState": "CONFIRMED"}}},
        {"isExpired": False, "priceConsentStatus": "Agreed"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("state", PLANS)
def test_states_of_subscriptions(counter, sold, state):
    options, expected = PLANS[state]
    answer = counter.verified(sold.plan(**copy.deepcopy(options)))
    has(answer.only, id=MONTHLY, purchaseId=sold.token, platform="android-playstore", **expected)
    if state != "pending":
        has(answer.only, transactionId="GPA.2-2", purchaseDate=sold.start, expiryDate=sold.ends)
    assert answer.owns(MONTHLY) is not expected["isExpired"]
    assert answer.data["transaction"]["kind"] == "androidpublisher#subscriptionPurchaseV2"


@pytest.mark.parametrize("reason", ["NOT_ENOUGH_USAGE", "TECHNICAL_ISSUES", "COST_RELATED", "FOUND_BETTER_APP", "OTHERS"])
def test_what_a_customer_who_cancelled_said(counter, sold, reason):
    said = {"userInitiatedCancellation": {"cancelSurveyResult": {"reason": f"CANCEL_SURVEY_REASON_{reason}"}}}
    answer = counter.verified(sold.plan("CANCELED", plan={"autoRenewEnabled": False}, canceledStateContext=said))
    named = {
        "NOT_ENOUGH_USAGE": "NotUsefulEnough", "TECHNICAL_ISSUES": "TechnicalIssues", "COST_RELATED": "Cost",
        "FOUND_BETTER_APP": "FoundBetterApp", "OTHERS": "OtherReason",
    }[reason]  # fmt: skip
    has(answer.only, cancelationReason=f"Customer.{named}", renewalIntent="Lapse", isExpired=False)


def test_a_subscription_that_google_forgot(counter, sold):
    body = sold.plan()
    gone = {"error": {"code": 410, "message": "Gone.", "errors": [{"reason": "purchaseTokenNoLongerValid"}]}}
    sold.answers("subscriptionsv2", gone, 410)
    assert not counter.judged(body).owns(MONTHLY)


# Keys


def test_where_the_key_may_be(service, plugin, app_store):
    body = app_store.request(app_store.subscription())
    verify = service.make_key("verify", app="demo")
    everywhere = service.make_key("verify")
    for query, key in [
        ({"apiKey": plugin.key}, None), ({"apiKey": plugin.key, "appName": "demo"}, None), ({}, plugin.key), ({}, verify),
        ({"appName": "demo"}, plugin.key), ({"appName": "demo"}, verify), ({"appName": "demo"}, everywhere),
    ]:  # fmt: skip
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        assert checked(plugin.send(body, query, **headers)).owns(MONTHLY), query


def assert_problem(response: requests.Response, status: int) -> None:
    """The answer is problem details, and a web view may read it. The plugin shows the status."""
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"].partition(";")[0] == "application/problem+json"
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.json()["status"] == status and response.json()["title"]
    answer = read(response)
    assert (answer.code, answer.status, answer.collection) == (COMMUNICATION, status, [])


def test_no_key_and_unknown_keys(service, plugin, app_store):
    body = app_store.request(app_store.subscription())
    revoked = Plugin(service)
    assert service.request("DELETE", f"/v1/keys/{revoked.key.split('_')[1]}").ok
    unknown = "pk_" + "0" * 12 + "_" + "A" * 43
    for query, authorization in [
        ({}, None), ({"appName": "demo"}, None), ({"apiKey": ""}, None), ({"apiKey": "x"}, None), ({"apiKey": unknown}, None),
        ({"apiKey": revoked.key}, None), ({"apiKey": flipped(plugin.key, len(plugin.key) - 2)}, None),
        ({}, ""), ({}, "Bearer"), ({}, "Bearer "), ({}, f"Bearer {unknown}"),
        ({}, f"Bearer {revoked.key}"), ({}, "Basic YTpi"), ({}, plugin.key),
    ]:  # fmt: skip
        headers = {} if authorization is None else {"Authorization": authorization}
        assert_problem(plugin.send(body, query, **headers), 401)
    # Nobody without a key is told what is wrong with a body.
    assert_problem(plugin.send(b"nonsense", {}), 401)


def test_a_secret_key_in_the_url_is_refused(service, plugin, app_store):
    body = app_store.request(app_store.subscription())
    made = [service.make_key("verify", app="demo"), service.make_key("verify"), service.make_key("read", app="demo")]
    for secret in (service.key, *made):
        assert secret.startswith("rk_")
        assert_problem(plugin.send(body, {"apiKey": secret}), 401)
        assert_problem(plugin.send(body, {"apiKey": secret, "appName": "demo"}), 401)
        # Nor does another key excuse it: whoever sees the URL has it.
        assert_problem(plugin.send(body, {"apiKey": secret}, Authorization=f"Bearer {plugin.key}"), 401)


def test_the_name_of_the_app_must_be_that_of_the_key(service, plugin, app_store):
    body = app_store.request(app_store.subscription())
    verify = service.make_key("verify", app="demo")
    for name in ("other", "closed", "nobody", "Demo"):
        assert_problem(plugin.send(body, {"apiKey": plugin.key, "appName": name}), 401)
        assert_problem(plugin.send(body, {"appName": name}, Authorization=f"Bearer {verify}"), 401)


def test_keys_without_the_scope(service, plugin, app_store):
    body = app_store.request(app_store.subscription())
    for scope in ("read", "admin"):
        response = plugin.send(body, {}, Authorization=f"Bearer {service.make_key(scope, app='demo')}")
        assert_problem(response, 403)
        assert response.json()["code"] == "missing-scope"


def test_a_publishable_key_opens_nothing_else(service, plugin):
    assert plugin.key.startswith("pk_")
    for method, path in [
        ("POST", "/v1/verify"), ("POST", "/v1/lookup"), ("GET", "/v1/entitlements/1"), ("GET", "/v1/keys"), ("GET", "/v1/changes"),
        ("POST", "/v1/customers/alice/receipts"), ("DELETE", "/v1/customers/alice"),
    ]:  # fmt: skip
        answer = service.request(method, path, key=plugin.key)
        assert (answer.status_code, answer.json()["code"]) == (403, "missing-scope"), path
        assert service.request(method, path, key="", params={"apiKey": plugin.key}).status_code == 401, path


def test_an_app_that_does_not_open_the_protocol(service, plugin, app_store):
    body = app_store.request(app_store.subscription(bundleId="com.example.closed"))
    closed = Plugin(service, "closed")
    assert closed.send(body).status_code == 404
    assert plugin.send(body, {}, Authorization=f"Bearer {service.make_key('verify', app='closed')}").status_code == 404


def test_a_policy_that_there_is_not(plugin, app_store):
    assert_problem(plugin.send(app_store.request(app_store.subscription()), plugin.query | {"policy": "nonsense"}), 400)


def test_without_the_protocol_there_is_no_such_path(make_service):
    for protocols in ([], ["openiap", "verify-receipt"]):
        service = make_service({"demo": {"clientProtocols": protocols}})
        service.start()
        for method in ("POST", "OPTIONS"):
            assert service.request(method, "/v1/validate", data=b"{}").status_code == 404, (protocols, method)
        assert service.end() == 0


# HTTP


def test_a_web_view_may_ask(service, plugin):
    for origin in ("ionic://localhost", "https://app.example.com", "null"):
        answer = requests.options(
            f"{service.url}/v1/validate", params=plugin.query, timeout=20,
            headers={"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"},
        )  # fmt: skip
        # By the Fetch standard an “ok” status.
        assert answer.ok, answer.status_code
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert answer.headers["Access-Control-Allow-Methods"] == "POST"
        allowed = {name.strip().lower() for name in answer.headers["Access-Control-Allow-Headers"].split(",")}
        assert allowed == {"content-type", "authorization"}
        assert "Access-Control-Allow-Credentials" not in answer.headers
    # It has no key, if the key comes in a header.
    assert requests.options(f"{service.url}/v1/validate", timeout=20).headers["Access-Control-Allow-Origin"] == "*"


def test_no_other_route_is_open_to_other_origins(service):
    for method, path in (("POST", "/v1/verify"), ("GET", "/v1/keys"), ("GET", "/healthz")):
        answer = service.request(method, path, headers={"Origin": "https://app.example.com"})
        assert "Access-Control-Allow-Origin" not in answer.headers, path


def test_other_methods(service, plugin):
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        answer = requests.request(method, f"{service.url}/v1/validate", params=plugin.query, timeout=20)
        assert answer.status_code == 405, method
        assert "POST" in answer.headers["Allow"].split(", ")


def test_other_content_types(plugin, app_store):
    body = app_store.request(app_store.subscription())
    for kind in ("application/json", "application/json; charset=utf-8", "APPLICATION/JSON"):
        assert checked(plugin.send(body, **{"Content-Type": kind})).owns(MONTHLY), kind


def test_how_long_a_body_may_be(plugin, app_store):
    body = app_store.request(app_store.subscription())
    padding = MAXIMUM_BODY - len(json.dumps(body | {"products": [""]}))
    assert len(json.dumps(longest := body | {"products": ["x" * padding]})) == MAXIMUM_BODY
    assert plugin.verified(longest).owns(MONTHLY)
    longer = json.dumps(body | {"products": ["x" * (padding + 1)]}).encode()
    assert_problem(plugin.send(longer), 413)
    chunks = (longer[place : place + 50_000] for place in range(0, len(longer), 50_000))
    response = requests.post(
        f"{plugin.service.url}/v1/validate", params=plugin.query, data=chunks, timeout=20,
        headers={"Content-Type": "application/json"},
    )  # fmt: skip
    assert_problem(response, 413)


# Bodies of all shapes


def test_what_else_the_plugin_sends(plugin, app_store):
    phase = {"price": "CHF 4.90", "priceMicros": 4_900_000, "currency": "CHF", "billingPeriod": "P1M", "paymentMode": "PayAsYouGo"}
    catalogue = {
        "products": [{"type": "paid subscription", "id": MONTHLY, "offers": [{"id": "$", "pricingPhases": [phase]}]}],
        "offers": [{"id": "$", "pricingPhases": [phase]}], "currency": "CHF", "priceMicros": 4_900_000, "introPriceMicros": 0,
        "countryCode": "CH", "group": "20900001", "billingPeriod": 1, "billingPeriodUnit": "Month", "introPricePeriod": 1,
        "introPricePeriodUnit": "Week", "trialPeriod": 7, "trialPeriodUnit": "Day",
        "discounts": [{"id": "spring", "type": "Subscription", "price": "CHF 1.00", "priceMicros": 1_000_000}],
        "license": {"applicationUsername": "alice", "storeIdKey_collections": "a", "storeIdKey_purchases": "b"},
        "additionalData": {"applicationUsername": 7, "appStore": {"discount": {}}},
        "device": DEVICE | {"uuid": str(uuid.uuid4()), "serial": "1", "ionic": "7", "isVirtual": False},
        "future": {"member": [None]},
    }  # fmt: skip
    body = app_store.request(app_store.subscription())
    assert plugin.verified(body | catalogue).owns(MONTHLY)
    least = {name: body[name] for name in ("id", "type", "transaction")}
    assert plugin.verified(least).owns(MONTHLY)
    for kind in [
        "application", "paid subscription", "free subscription", "non renewing subscription", "consumable", "non consumable",
    ]:  # fmt: skip
        assert plugin.verified(body | {"type": kind}).owns(MONTHLY)


def test_the_answer_has_the_request_s_id(plugin, app_store):
    for identifier in (BUNDLE, MONTHLY, "subscription", 'é"\\\U0001f600', "x" * 200):
        assert plugin.verified(app_store.request(app_store.subscription(), identifier=identifier)).data["id"] == identifier


WRONG = {
    "null": None, "true": True, "zero": 0, "a number": 7.5, "a large number": 10**400, "a text": "nonsense", "no text": "",
    "an array": [], "an object": {}, "nested": [{"a": [[]]}],
}  # fmt: skip


def put(body: dict, place: str, value) -> dict:
    body = copy.deepcopy(body)
    *parents, name = place.split(".")
    target = body
    for parent in parents:
        target = target[parent]
    target[name] = value
    return body


def bodies(app_store: AppStore, play_key: PlayKey) -> dict[str, dict]:
    """A good request of each type."""
    identifier = app_store.identifier()
    receipt = app_store.receipt(app_store.in_app(PRO, identifier, now() - DAY))
    return {
        "apple-sk2": app_store.request(app_store.subscription()), "ios-appstore": sk1(receipt, identifier),
        "android-playstore": signed_play(play_key.purchase(f"{identifier}.AO-J1Oz0123456789")),
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["apple-sk2", "ios-appstore", "android-playstore"])
def test_needed_members_that_are_missing_or_of_another_type(plugin, app_store, play_key, kind):
    good = bodies(app_store, play_key)[kind]
    assert plugin.judged(good).code is None
    content = {"apple-sk2": "jwsRepresentation", "ios-appstore": "appStoreReceipt", "android-playstore": "receipt"}[kind]
    for place in ("id", "type", "transaction", "transaction.type", f"transaction.{content}"):
        for name, value in WRONG.items():
            # An empty or absent receipt is to be refreshed, and any text may be an identifier.
            if value in (None, "") and place == "transaction.appStoreReceipt" or isinstance(value, str) and place in ("id", "type"):
                continue
            answer = plugin.judged(put(good, place, value))
            assert answer.code == INVALID, (place, name, answer)
    for name in ("id", "type", "transaction"):
        plugin.refused(lives.without(good, name))
    plugin.refused(good | {"transaction": lives.without(good["transaction"], "type")})
    if kind == "apple-sk2":
        plugin.refused(good | {"transaction": lives.without(good["transaction"], content)})
    if kind != "apple-sk2":
        plugin.refused(put(good, "id", ""))


@pytest.mark.parametrize("name", ["signature", "purchaseToken"])
def test_parts_of_a_purchase_of_google_play_of_another_type(plugin, play_key, name):
    good = signed_play(play_key.purchase(f"types-{name}.AO-J1Oz0123456789"))
    for value in (True, 0, 7.5, [], {}, [{"a": [[]]}]):
        plugin.refused(put(good, f"transaction.{name}", value))


@pytest.mark.parametrize("kind", ["apple-sk2", "ios-appstore", "android-playstore"])
def test_other_members_of_another_type_are_no_fault_of_the_server_s(plugin, app_store, play_key, kind):
    good = bodies(app_store, play_key)[kind]
    products = {purchase["id"] for purchase in plugin.verified(good).collection}
    places = [
        "additionalData", "additionalData.applicationUsername", "additionalData.obfuscatedUsername", "device", "device.plugin",
        "device.isVirtual", "products", "offers", "currency", "priceMicros", "introPriceMicros", "countryCode", "group",
        "billingPeriod", "billingPeriodUnit", "discounts", "license", "alias", "state", "title", "price", "transaction.id",
        "transaction.future", "future",
    ]  # fmt: skip
    for place in places:
        for name, value in WRONG.items():
            answer = plugin.judged(put(good, place, value))
            assert answer.code in (None, INVALID), (place, name, answer)
            assert {purchase["id"] for purchase in answer.collection} == (products if answer.code is None else set()), (place, name)


def test_bodies_that_are_no_request(plugin, app_store):
    good = json.dumps(app_store.request(app_store.subscription())).encode()
    for body in [
        b"", b" ", b"\n", b"nonsense", b"{", b"}", b'{"id":', b"null", b"true", b"false", b"7", b"-", b"1e999", b'"text"', b"[]",
        b"[{}]", b"{}", b"\x00", b"\xff\xfe{\x00}\x00", b'{"id":"\xff"}', b"NaN", b"{'id':'a'}", b"id=a&type=b&transaction=c", good[:-1],
        good[: len(good) // 2], good + b"x", good + good, b"[" + good + b"]", b"x" + good, good.replace(b'"id"', b"id", 1),
        json.dumps(good.decode()).encode(), good.decode().encode("utf-16"), b"[" * 100_000, b'{"a":' * 100_000,
        b'{"id":' + b"[" * 5000,
        good.replace(b'"device": {', b'"device": {"a": ' + b"[" * 50_000 + b"]" * 50_000 + b", ", 1)[:-1],
    ]:  # fmt: skip
        plugin.refused(body)


def test_texts_that_are_hard(plugin, app_store):
    good = app_store.request(app_store.subscription())
    for text in ["\x00", "\ud800", "a\nb", "'; DROP TABLE keys; --", "<script>", "\u202e", "x" * 100_000, "../../etc/passwd"]:
        for place in ("transaction.type", "transaction.jwsRepresentation"):
            plugin.refused(put(good, place, text))
        assert plugin.judged(put(good, "additionalData.applicationUsername", text)).code in (None, INVALID)


def test_damaged_bodies(plugin, app_store, play_key):
    generator = random.Random(13)
    for kind, body in bodies(app_store, play_key).items():
        good = json.dumps(body).encode()
        products = {purchase["id"] for purchase in plugin.verified(body).collection}
        for number in range(150):
            damaged = bytearray(good)
            for _ in range(generator.randrange(1, 4)):
                place = generator.randrange(len(damaged))
                action = generator.randrange(3)
                if action == 0:
                    damaged[place] = generator.randrange(256)
                elif action == 1:
                    damaged[place:place] = generator.choice([b'"', b"{", b"}", b",", b":", b"\\", b"null", b"\xff"])
                else:
                    del damaged[place : place + generator.randrange(1, 30)]
            answer = plugin.judged(bytes(damaged))
            assert answer.code in (None, INVALID, MORE_DATA), (kind, number, bytes(damaged))
            assert {purchase["id"] for purchase in answer.collection} <= products, (kind, number)


# Limits


@pytest.fixture
def limited(make_service, app_store):
    """Makes an app whose publishable key an address may use twice, and once a second."""
    services = []

    def make(**settings) -> Plugin:
        service = make_service({"demo": {}}, limits={"clientBurst": 2, "clientRate": 1}, **settings)
        services.append(service)
        return Plugin(service.start())

    yield make
    for service in services:
        assert service.end() == 0


def statuses(plugin: Plugin, body: dict, addresses) -> list[int]:
    found = []
    for address in addresses:
        response = plugin.send(body, **({"X-Forwarded-For": address} if address else {}))
        if response.status_code == 429:
            assert_problem(response, 429)
            assert int(response.headers["Retry-After"]) >= 1
        else:
            checked(response)
        found.append(response.status_code)
    return found


def test_an_address_may_ask_so_often(limited, app_store):
    plugin = limited()
    body = app_store.request(app_store.subscription())
    found = statuses(plugin, body, [None] * 30)
    assert found[:2] == [200, 200] and set(found) == {200, 429}
    # Whatever the request says of its address, and whatever it asks.
    assert 429 in statuses(plugin, body, [f"198.51.100.{number}" for number in range(30)])
    assert 429 in statuses(plugin, {}, [None] * 30)
    # A backend has no such limit.
    verify = plugin.service.make_key("verify", app="demo")
    for _ in range(30):
        assert checked(plugin.send(body, {}, Authorization=f"Bearer {verify}")).owns(MONTHLY)


def test_a_proxy_that_is_trusted_says_whose_address_it_is(limited, app_store):
    plugin = limited(trustedProxies=["127.0.0.1"])
    body = app_store.request(app_store.subscription())
    assert 429 in statuses(plugin, body, ["198.51.100.1"] * 30)
    assert statuses(plugin, body, [f"198.51.100.{number}" for number in range(2, 32)]) == [200] * 30
    # The address that the proxy adds counts, not what the client said before.
    assert 429 in statuses(plugin, body, [f"203.0.113.{number}, 198.51.100.99" for number in range(30)])
