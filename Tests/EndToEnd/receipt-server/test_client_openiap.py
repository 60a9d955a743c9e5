# SPDX-License-Identifier: Apache-2.0
"""The protocol `openiap`: what the clients of react-native-iap, expo-iap, flutter_inapp_purchase and others send and read. Every
field, state, error, limit, header and alias; signed transactions offline and with the App Store, tokens with Google Play and
with the ledger."""

import itertools
import json
import os
import re
import signal
import time
import uuid

import pytest
import requests
from cryptography.hazmat.primitives import serialization

import samples
from emulator import Emulator
from independent import jws
from service import Service
from test_console import Session
from test_google_play import Google
from test_service import operations

pytestmark = pytest.mark.server

PATH = "/v1/purchase/verify"
ALIASES = ["/api/v1/purchase/verify", "/v1/verify-purchase"]
OF_PROTOCOLS = [PATH, *ALIASES, "/v1/validate", "/verifyReceipt"]

ENTITLING = ("ENTITLED", "PENDING_ACKNOWLEDGMENT", "READY_TO_CONSUME")
STATES = (*ENTITLING, "PENDING", "CONSUMED", "CANCELED", "EXPIRED", "INAUTHENTIC", "UNKNOWN")

DAY = 86_400_000
NOW = int(time.time() * 1000)
MONTHLY, COINS, PRO = (f"{samples.BUNDLE}.{name}" for name in ("monthly", "coins", "pro"))
OTHER_BUNDLE = "com.example.other"
# The discard port: nothing listens there.
NOWHERE = "http://127.0.0.1:9"
TRACE = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}

numbers = itertools.count(1)


# A client, which is as strict as the contract


def identified(answer: requests.Response) -> str:
    """The identifier that every answer has."""
    identifier = answer.headers["X-Correlation-Id"]
    assert str(uuid.UUID(identifier)) == identifier.lower()
    return identifier


def read(answer: requests.Response, store: str) -> dict:
    """The verdict in an answer, as a client of section 1.1 reads it, to whom nothing else may be sent."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].partition(";")[0] == "application/json"
    assert "no-store" in answer.headers["Cache-Control"]
    identified(answer)
    found = answer.json()
    assert type(found) is dict and not found.get("errors")
    assert type(found["isValid"]) is bool and found["store"] == store
    assert found["state"] in STATES and found["isValid"] is (found["state"] in ENTITLING)
    assert found.get("productId", "") is not None and type(found.get("productId", "")) is str
    assert set(found) <= {"store", "isValid", "state", "productId"}, found
    return found


def errors(answer: requests.Response, status: int) -> list[dict]:
    """The errors in an answer, each of which a client can show."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"].partition(";")[0] == "application/json"
    identified(answer)
    assert list(answer.json()) == ["errors"]
    found = answer.json()["errors"]
    assert found
    for error in found:
        assert {"code", "message"} <= set(error) <= {"code", "message", "path"}, error
        assert all(type(value) is str and value for value in error.values()), error
    return found


def assert_refused(answer: requests.Response, status: int, code: str) -> None:
    assert [error["code"] for error in errors(answer, status)] == [code]


def assert_issues(answer: requests.Response, *paths: str) -> None:
    """One error for each issue, which names the member."""
    found = [(error["code"], error.get("path")) for error in errors(answer, 400)]
    assert sorted(found) == sorted(("INVALID_INPUT", path) for path in paths)


def assert_busy(answer: requests.Response) -> None:
    assert_refused(answer, 503, "SERVICE_BUSY")
    assert re.fullmatch(r"[1-9]\d*", answer.headers["Retry-After"])


def verdict(store: str, state: str, product: str | None = None) -> dict:
    found = {"store": store, "isValid": state in ENTITLING, "state": state}
    return found if product is None else found | {"productId": product}


class Client:
    """An app on a device, with its publishable key."""

    def __init__(self, service: Service, key: str):
        self.service, self.key = service, key

    def send(self, body: dict | bytes, path: str = PATH, **headers: str | None) -> requests.Response:
        """Headers are named with `_` for `-`; one that is None is not sent."""
        named = {"Content-Type": "application/json", "X-OpenIAP-Spec": "3.2.1"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {name: value for name, value in named.items() if value is not None}
        return self.service.post(path, key=self.key, data=data, headers=sent)

    def apple(self, signed: str, **more) -> requests.Response:
        return self.send({"store": "apple", "jws": signed} | more)

    def google(self, token: str, **more) -> requests.Response:
        return self.send({"store": "google", "purchaseToken": token} | more)

    def verify_apple(self, signed: str, **more) -> dict:
        return read(self.apple(signed, **more), "apple")

    def verify_google(self, token: str, **more) -> dict:
        return read(self.google(token, **more), "google")


def make_key(service: Service, *scopes: str, app: str | None) -> dict:
    answer = service.post("/v1/keys", json={"name": "app", "app": app, "scopes": scopes})
    assert answer.status_code == 201, answer.text
    return answer.json()


def client(service: Service, app: str = "demo", *scopes: str) -> Client:
    return Client(service, make_key(service, *(scopes or ("client",)), app=app)["key"])


# The servers


def app(bundle: str = samples.BUNDLE, policy: dict | None = None, **members) -> dict:
    default = {"bundleIds": [bundle], "environments": ["production", "sandbox"], "trust": ["identity/root.cer"]}
    return {"clientProtocols": ["openiap"], "policy": {"default": default | (policy or {})}} | members


def serve(service: Service, apps: dict[str, dict], **settings) -> Service:
    def change(configuration):
        configuration.update({"apps": list(apps), "app": apps} | settings)
        if len(apps) > 1:
            configuration["allowSharedBundleIds"] = True

    service.configure(change)
    return service.start()


class Signer:
    """Signs with the identity of a server's folder, as of now."""

    def __init__(self, receipt_tool, service: Service):
        self.tool, self.identity = receipt_tool, service.folder / "identity"

    def sign(self, payload: dict, kind: str = "signed-transaction") -> str:
        payload = {"signedDate": int(time.time() * 1000)} | payload
        run = self.tool.run("sign", "--identity", self.identity, "--format", kind, "-", stdin=json.dumps(payload).encode())
        assert run.code == 0, run.err
        return run.out

    def transaction(self, **changes) -> str:
        return self.sign(transaction(**changes))


def transaction(**changes) -> dict:
    """A purchase of its own: a subscription that runs, unless it is changed; what is changed to None is left out."""
    identifier = f"4{next(numbers):015}"
    payload = samples.TRANSACTION | {
        "transactionId": identifier, "originalTransactionId": identifier, "purchaseDate": NOW - DAY,
        "originalPurchaseDate": NOW - DAY, "expiresDate": NOW + 30 * DAY,
    }  # fmt: skip
    del payload["signedDate"]
    return {name: value for name, value in (payload | changes).items() if value is not None}


@pytest.fixture(scope="module")
def offline(tmp_path_factory):
    """A server that asks nobody, for several apps."""
    apps = {
        "demo": app(record=True, notifications=True, checkers=["ledger"]),
        "quiet": app(),
        "production": app(policy={"environments": ["production"]}),
        "other": app(OTHER_BUNDLE),
        "closed": {name: value for name, value in app().items() if name != "clientProtocols"},
    }
    service = serve(Service(tmp_path_factory.mktemp("offline") / "data"), apps)
    yield service
    assert service.end() == 0


@pytest.fixture(scope="module")
def signer(receipt_tool, offline) -> Signer:
    return Signer(receipt_tool, offline)


@pytest.fixture(scope="module")
def demo(offline) -> Client:
    return client(offline)


# The App Store's transactions

ONE_TIME = {"expiresDate": None, "subscriptionGroupIdentifier": None, "webOrderLineItemId": None}
CONSUMABLE = ONE_TIME | {"type": "Consumable", "transactionReason": "PURCHASE"}
REFUNDED = {"revocationDate": NOW - 1000, "revocationReason": 0}
ENDED = {"purchaseDate": NOW - 60 * DAY, "originalPurchaseDate": NOW - 60 * DAY, "expiresDate": NOW - 30 * DAY}

LIVES = {
    "a subscription that runs": ({}, "ENTITLED"),
    "a subscription that was just bought": ({"transactionReason": "PURCHASE"}, "ENTITLED"),
    "a subscription that the family shares": ({"inAppOwnershipType": "FAMILY_SHARED"}, "ENTITLED"),
    "a subscription in the sandbox": ({"environment": "Sandbox"}, "ENTITLED"),
    "a product for ever": (ONE_TIME | {"type": "Non-Consumable"}, "ENTITLED"),
    "a subscription that does not renew": (ONE_TIME | {"type": "Non-Renewing Subscription"}, "ENTITLED"),
    "a consumable that was bought": (CONSUMABLE, "READY_TO_CONSUME"),
    "consumables": (CONSUMABLE | {"quantity": 5}, "READY_TO_CONSUME"),
    "a consumable without a reason": (CONSUMABLE | {"transactionReason": None}, "READY_TO_CONSUME"),
    "a consumable that was renewed": (CONSUMABLE | {"transactionReason": "RENEWAL"}, "ENTITLED"),
    "a period that ended": (ENDED, "EXPIRED"),
    "a subscription that was upgraded": ({"isUpgraded": True}, "EXPIRED"),
    "a refund in the period": (REFUNDED, "CANCELED"),
    "a refund in a period that ended": (ENDED | {"revocationDate": NOW - 40 * DAY, "revocationReason": 1}, "CANCELED"),
    "a refund in part": (REFUNDED | {"revocationType": "REFUND_PRORATED", "revocationPercentage": 50000}, "CANCELED"),
    "a refund of a product for ever": (ONE_TIME | {"type": "Non-Consumable"} | REFUNDED, "CANCELED"),
    "a refund of a consumable": (CONSUMABLE | REFUNDED, "CANCELED"),
    "sharing that ended": (REFUNDED | {"revocationType": "FAMILY_REVOKE"}, "CANCELED"),
    "a subscription without an end": ({"expiresDate": None}, "UNKNOWN"),
}


@pytest.mark.parametrize("life", LIVES)
def test_the_state_of_a_transaction(demo, signer, life):
    changes, state = LIVES[life]
    assert demo.verify_apple(signer.transaction(**changes)) == verdict("apple", state, MONTHLY)


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({}, "INAUTHENTIC"), (ONE_TIME | {"type": "Non-Consumable"}, "INAUTHENTIC"), (CONSUMABLE, "INAUTHENTIC"),
        (ENDED, "INAUTHENTIC"), ({"isUpgraded": True}, "INAUTHENTIC"), ({"expiresDate": None}, "INAUTHENTIC"),
        (REFUNDED, "CANCELED"), (ENDED | {"revocationDate": NOW - 40 * DAY}, "CANCELED"),
    ],
    ids=["subscription", "product", "consumable", "expired", "upgraded", "without an end", "refunded", "refunded and expired"],
)  # fmt: skip
def test_another_product_than_the_expected_one(demo, signer, changes, state):
    """It is told which product it is; only a refund counts more."""
    signed = signer.transaction(**changes)
    assert demo.verify_apple(signed, expectedProductId=f"{MONTHLY}.2") == verdict("apple", state, MONTHLY)


def test_the_expected_product(demo, signer):
    signed = signer.transaction()
    assert demo.verify_apple(signed, expectedProductId=MONTHLY) == verdict("apple", "ENTITLED", MONTHLY)
    # Identifiers are compared exactly.
    assert demo.verify_apple(signed, expectedProductId=MONTHLY.upper())["state"] == "INAUTHENTIC"


def test_no_payload_is_configured_for_clients(demo, signer):
    signed = signer.transaction()
    for asked in (True, False):
        assert demo.verify_apple(signed, includeClientPayload=asked) == verdict("apple", "ENTITLED", MONTHLY)


def test_members_of_a_newer_client_are_ignored(demo, signer):
    assert demo.verify_apple(signer.transaction(), future={"a": 1})["state"] == "ENTITLED"


@pytest.mark.parametrize("path", ALIASES)
def test_aliases(demo, signer, path):
    body = {"store": "apple", "jws": signer.transaction()}
    assert read(demo.send(body, path), "apple") == verdict("apple", "ENTITLED", MONTHLY)
    assert_issues(demo.send({}, path), "store")
    assert_refused(demo.service.post(path, key="", json=body), 401, "MISSING_API_KEY")


def altered(signed: str) -> str:
    """The same with another signature."""
    head, payload, signature = signed.split(".")
    return f"{head}.{payload}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"


def test_another_app_s_transaction(offline, demo, signer):
    other = client(offline, "other")
    own, foreign = signer.transaction(), signer.transaction(bundleId=OTHER_BUNDLE)
    assert demo.verify_apple(own)["state"] == other.verify_apple(foreign)["state"] == "ENTITLED"
    assert_refused(demo.apple(foreign), 400, "APP_STORE_BUNDLE_ID_MISMATCH")
    assert_refused(other.apple(own), 400, "APP_STORE_BUNDLE_ID_MISMATCH")


def test_forged_transactions(demo, signer, store):
    signed = signer.transaction()
    head, _, signature = signed.split(".")
    _, payload, _ = signer.transaction().split(".")
    stranger = transaction(signedDate=samples.SIGNED)
    for forged in (
        altered(signed), f"{head}.{payload}.{signature}", jws.sign(stranger, store.leaf()), ".".join(["A" * 40] * 3),
        # Nothing that an unsigned payload says is believed, not even whose it is.
        altered(signer.transaction(bundleId=OTHER_BUNDLE)),
    ):  # fmt: skip
        assert_refused(demo.apple(forged), 400, "APP_STORE_TRANSACTION_VERIFICATION_FAILED")


def test_another_environment_than_the_policy_accepts(offline, signer):
    production = client(offline, "production")
    assert production.verify_apple(signer.transaction())["state"] == "ENTITLED"
    refused = production.apple(signer.transaction(environment="Sandbox"))
    assert_refused(refused, 400, "APP_STORE_TRANSACTION_VERIFICATION_FAILED")


@pytest.mark.parametrize("kind", ["renewal-info", "app-transaction", "notification", "realtime-request"])
def test_what_is_signed_and_is_no_transaction(demo, signer, kind):
    now = int(time.time() * 1000)
    payload = {
        "renewal-info": samples.RENEWAL_INFO | {"signedDate": now},
        "app-transaction": samples.APP_TRANSACTION | {"receiptCreationDate": now},
        "notification": samples.notification(signer.transaction()) | {"signedDate": now},
        "realtime-request": samples.REALTIME_REQUEST | {"signedDate": now},
    }[kind]
    signed = signer.sign(payload, f"signed-{kind}")
    assert_refused(demo.apple(signed), 400, "APP_STORE_TRANSACTION_VERIFICATION_FAILED")


@pytest.mark.parametrize(
    "change",
    [
        lambda signed: signed.rpartition(".")[0], lambda signed: f"{signed}.AAAA", lambda signed: f"{signed}==",
        lambda signed: signed.replace(".", "+.", 1), lambda signed: f" {signed}", lambda signed: "x" * 100,
        lambda signed: "x" * 16_000, lambda signed: f"é{signed}",
    ],
    ids=["two parts", "four parts", "padding", "base64", "white space", "least length", "greatest length", "no ASCII"],
)  # fmt: skip
def test_what_is_no_compact_jws(demo, signer, change):
    assert_refused(demo.apple(change(signer.transaction())), 400, "APP_STORE_INVALID_JWS_FORMAT")


# What the ledger knows


def notify(signer: Signer, offline: Service, kind: str, payload: dict, renewal: dict | None = None) -> None:
    """Delivers a notification about a transaction, as the App Store would."""
    parts = [signer.sign(payload), renewal and signer.sign(samples.RENEWAL_INFO | renewal, "signed-renewal-info")]
    content = samples.notification(*parts) | {
        "notificationType": kind, "notificationUUID": str(uuid.uuid4()), "signedDate": int(time.time() * 1000),
    }  # fmt: skip
    body = {"signedPayload": signer.sign(content, "signed-notification")}
    answer = offline.post("/v1/notifications/demo", key="", json=body)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("changes", "before"),
    [
        ({}, "ENTITLED"), (ONE_TIME | {"type": "Non-Consumable"}, "ENTITLED"), (CONSUMABLE, "READY_TO_CONSUME"),
        (ENDED, "EXPIRED"),
    ],
    ids=["subscription", "product", "consumable", "expired"],
)  # fmt: skip
def test_a_refund_that_the_server_was_told(offline, demo, signer, changes, before):
    """The old transaction, which does not state it, is answered with it."""
    bought = transaction(**changes)
    other, old = signer.transaction(**changes), signer.sign(bought)
    notify(signer, offline, "REFUND", bought | REFUNDED)
    assert demo.verify_apple(old) == verdict("apple", "CANCELED", MONTHLY)
    assert demo.verify_apple(old, expectedProductId=PRO)["state"] == "CANCELED"
    assert demo.verify_apple(other) == verdict("apple", before, MONTHLY)


def test_a_refund_after_the_first_verdict_and_its_reversal(offline, demo, signer):
    bought = transaction()
    old = signer.sign(bought)
    assert demo.verify_apple(old)["state"] == "ENTITLED"
    notify(signer, offline, "REFUND", bought | REFUNDED)
    assert demo.verify_apple(old)["state"] == "CANCELED"
    notify(signer, offline, "REFUND_REVERSED", bought)
    assert demo.verify_apple(old)["state"] == "ENTITLED"


def test_sharing_that_ended_as_the_server_was_told(offline, demo, signer):
    bought = transaction(inAppOwnershipType="FAMILY_SHARED")
    old = signer.sign(bought)
    notify(signer, offline, "REVOKE", bought | {"revocationDate": NOW - 1000, "revocationType": "FAMILY_REVOKE"})
    assert demo.verify_apple(old) == verdict("apple", "CANCELED", MONTHLY)


def test_a_renewal_that_the_server_was_told(offline, demo, signer):
    """The first period is over, and the subscription is not."""
    bought = transaction(**ENDED)
    old = signer.sign(bought)
    assert demo.verify_apple(old)["state"] == "EXPIRED"
    renewed = {"transactionId": f"5{next(numbers):015}", "purchaseDate": NOW - DAY, "expiresDate": NOW + 29 * DAY}
    notify(signer, offline, "DID_RENEW", bought | renewed)
    assert demo.verify_apple(old) == verdict("apple", "ENTITLED", MONTHLY)


def test_a_grace_period_that_the_server_was_told(offline, demo, signer):
    bought = transaction(**ENDED | {"expiresDate": NOW - DAY})
    old = signer.sign(bought)
    renewal = {
        "originalTransactionId": bought["originalTransactionId"], "isInBillingRetryPeriod": True, "expirationIntent": 2,
        "gracePeriodExpiresDate": NOW + 10 * DAY, "signedDate": int(time.time() * 1000),
    }  # fmt: skip
    notify(signer, offline, "DID_FAIL_TO_RENEW", bought, renewal)
    assert demo.verify_apple(old) == verdict("apple", "ENTITLED", MONTHLY)


# The body of a request

TOKEN = "aZ09._~-" * 3
AMAZON = {"store": "amazon", "userId": "user-1", "receiptId": "receipt-id-1"}
HORIZON = {"store": "horizon", "userId": "user-1", "sku": "coins"}
SIGNED = ".".join(["e30" * 12] * 3)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"nonsense", b'{"store":"apple"', b"{'store':'apple'}", b'{"store":"apple"} {}', b'\xff{"store":"apple"}'],
    ids=str,
)
def test_a_body_that_is_not_json(demo, body):
    assert errors(demo.send(body), 400) == [{"code": "INVALID_INPUT", "message": "Body is not JSON"}]


@pytest.mark.parametrize("body", [b"[]", b"null", b"7", b'"apple"', b"true"], ids=str)
def test_a_body_that_is_no_object(demo, body):
    assert_refused(demo.send(body), 400, "INVALID_INPUT")


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({}, ["store"]), ({"store": "steam"}, ["store"]), ({"store": "Apple", "jws": SIGNED}, ["store"]),
        ({"store": 7}, ["store"]), ({"store": None}, ["store"]), ({"jws": SIGNED}, ["store"]),
        ({"store": "apple"}, ["jws"]), ({"store": "apple", "jws": 7}, ["jws"]), ({"store": "apple", "jws": ""}, ["jws"]),
        ({"store": "apple", "jws": "x" * 99}, ["jws"]), ({"store": "apple", "jws": "x" * 16_001}, ["jws"]),
        ({"store": "apple", "purchaseToken": TOKEN}, ["jws"]),
        ({"store": "google"}, ["purchaseToken"]), ({"store": "google", "purchaseToken": ["t"]}, ["purchaseToken"]),
        ({"store": "google", "purchaseToken": "t" * 19}, ["purchaseToken"]),
        ({"store": "google", "purchaseToken": "t" * 2001}, ["purchaseToken"]),
        ({"store": "google", "purchaseToken": "t" * 20 + "/"}, ["purchaseToken"]),
        ({"store": "google", "purchaseToken": "t" * 20 + " t"}, ["purchaseToken"]),
        ({"store": "google", "purchaseToken": "t" * 20 + "é"}, ["purchaseToken"]),
        ({"store": "google", "jws": SIGNED}, ["purchaseToken"]),
        ({"store": "amazon"}, ["userId", "receiptId"]), (AMAZON | {"userId": "ab"}, ["userId"]),
        (AMAZON | {"userId": "u" * 513}, ["userId"]), (AMAZON | {"userId": "a/bc"}, ["userId"]),
        (AMAZON | {"userId": 1234}, ["userId"]), (AMAZON | {"receiptId": "r" * 9}, ["receiptId"]),
        (AMAZON | {"receiptId": "r" * 4097}, ["receiptId"]), (AMAZON | {"receiptId": "r" * 10 + "?"}, ["receiptId"]),
        (AMAZON | {"sandbox": "true"}, ["sandbox"]), (AMAZON | {"sandbox": 1}, ["sandbox"]),
        (AMAZON | {"expectedProductId": "a b"}, ["expectedProductId"]),
        ({"store": "horizon"}, ["userId", "sku"]), (HORIZON | {"userId": "ab"}, ["userId"]),
        (HORIZON | {"userId": "u" * 257}, ["userId"]), (HORIZON | {"userId": "a.bc"}, ["userId"]),
        (HORIZON | {"sku": ""}, ["sku"]), (HORIZON | {"sku": "s" * 257}, ["sku"]), (HORIZON | {"sku": "a~b"}, ["sku"]),
        (HORIZON | {"includeClientPayload": 0}, ["includeClientPayload"]),
        ({"store": "apple", "jws": 1, "expectedProductId": 1, "includeClientPayload": "yes"},
         ["jws", "expectedProductId", "includeClientPayload"]),
        ({"store": "amazon", "userId": "a", "receiptId": "b", "sandbox": 0, "expectedProductId": ""},
         ["userId", "receiptId", "sandbox", "expectedProductId"]),
    ],
)  # fmt: skip
def test_each_issue_is_told_with_its_member(demo, body, paths):
    assert_issues(demo.send(body), *paths)


@pytest.mark.parametrize("store", [{"store": "apple", "jws": SIGNED}, {"store": "google", "purchaseToken": TOKEN}, AMAZON])
@pytest.mark.parametrize("product", ["", "p" * 257, "a b", "a/b", "a:b", "é", 7])
def test_an_expected_product_that_no_store_sells(demo, store, product):
    assert_issues(demo.send(store | {"expectedProductId": product}), "expectedProductId")


@pytest.mark.parametrize("product", ["p", "p" * 256, "AZaz09._-"])
def test_an_expected_product_of_any_length(demo, signer, product):
    assert demo.verify_apple(signer.transaction(), expectedProductId=product)["state"] == "INAUTHENTIC"


@pytest.mark.parametrize("token", ["t" * 20, "t" * 2000, TOKEN], ids=["least", "greatest", "every kind of character"])
def test_a_token_without_credentials_or_ledger(offline, demo, token):
    """Neither Google Play can be asked, nor was this server told."""
    for using in (demo, client(offline, "quiet")):
        assert_refused(using.google(token), 400, "PLAY_STORE_SERVICE_ACCOUNT_NOT_FOUND")


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"userId": "abc"}, {"userId": "u" * 512}, {"userId": "AZaz09._~=-"}, {"receiptId": "r" * 10},
        {"receiptId": "r" * 4096}, {"receiptId": "AZaz09._~:=/+-"}, {"sandbox": True}, {"sandbox": False},
        {"expectedProductId": COINS}, {"includeClientPayload": True},
    ],
)  # fmt: skip
def test_amazon_is_not_configured(demo, changes):
    assert_refused(demo.send(AMAZON | changes), 400, "AMAZON_SHARED_SECRET_NOT_CONFIGURED")


@pytest.mark.parametrize(
    "changes",
    [
        {}, {"userId": "abc"}, {"userId": "u" * 256}, {"userId": "AZaz09_-"}, {"sku": "s"}, {"sku": "s" * 256},
        {"sku": "AZaz09._:-"}, {"includeClientPayload": True},
    ],
)  # fmt: skip
def test_horizon_is_not_configured(demo, changes):
    assert_refused(demo.send(HORIZON | changes), 400, "META_HORIZON_APP_ID_NOT_CONFIGURED")


def test_bodies_of_32_kilobytes(demo, signer):
    body = json.dumps({"store": "apple", "jws": signer.transaction()}).encode()
    largest = body.ljust(32 * 1024)
    assert read(demo.send(largest), "apple")["state"] == "ENTITLED"
    assert_refused(demo.send(largest + b" "), 413, "PAYLOAD_TOO_LARGE")
    # In chunks, the length is not announced.
    headers = {"Content-Type": "application/json"}
    assert read(demo.service.post(PATH, key=demo.key, data=iter([largest]), headers=headers), "apple")["state"] == "ENTITLED"
    refused = demo.service.post(PATH, key=demo.key, data=iter([largest, b" "]), headers=headers)
    assert_refused(refused, 413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "application/vnd.example+json", "application/problem+json"])
def test_content_types_of_json(demo, signer, kind):
    assert read(demo.send({"store": "apple", "jws": signer.transaction()}, Content_Type=kind), "apple")["state"] == "ENTITLED"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/octet-stream", "text/json", None])
def test_another_content_type_reads_as_an_empty_object(demo, signer, kind):
    for body in ({"store": "apple", "jws": signer.transaction()}, b"nonsense"):
        assert_issues(demo.send(body, Content_Type=kind), "store")


# Keys


def test_publishable_keys_are_of_one_app_and_of_nothing_else(offline):
    made = make_key(offline, "client", app="demo")
    assert made["key"].startswith("pk_")
    (listed,) = [key for key in offline.get("/v1/keys").json()["keys"] if key["id"] == made["id"]]
    assert (listed["scopes"], listed["app"]) == (["client"], "demo")
    for scopes, app_name, place in [
        (["client", "verify"], "demo", "$.scopes"), (["admin", "client"], "demo", "$.scopes"), (["client"], None, "$.app"),
    ]:  # fmt: skip
        refused = offline.post("/v1/keys", json={"name": "app", "app": app_name, "scopes": scopes})
        assert refused.status_code == 400, refused.text
        assert (refused.json()["code"], refused.json()["place"]) == ("invalid-request", place)
    assert make_key(offline, "verify", app="demo")["key"].startswith("rk_")


def test_publishable_keys_from_the_command_line(offline, signer):
    key = offline.make_key("client", app="demo")
    assert key.startswith("pk_")
    assert Client(offline, key).verify_apple(signer.transaction())["state"] == "ENTITLED"
    for options in (["--scope=client"], ["--scope=client", "--scope=verify", "--app=demo"]):
        assert offline.command("keys", "create", "--name", "app", *options, check=False).returncode == 64


@pytest.mark.parametrize(
    ("authorization", "status", "code"),
    [
        ("Basic cGtfMDow", 403, "INVALID_API_KEY"), (f"pk_000000000000_{'A' * 43}", 403, "INVALID_API_KEY"),
        ("Bearer pk_000000000000 A", 403, "INVALID_API_KEY"), (f"Bearer {'k' * 129}", 403, "INVALID_API_KEY"),
        (f"Bearer {'k' * 128}", 400, "INVALID_API_KEY"), (f"Bearer pk_000000000000_{'A' * 43}", 400, "INVALID_API_KEY"),
        (f"Bearer rk_000000000000_{'A' * 43}", 400, "INVALID_API_KEY"), ("Bearer x", 400, "INVALID_API_KEY"),
    ],
)  # fmt: skip
def test_keys_that_are_none(demo, signer, authorization, status, code):
    answer = demo.send({"store": "apple", "jws": signer.transaction()}, Authorization=authorization)
    assert_refused(answer, status, code)


def test_no_key(demo, signer):
    answer = Client(demo.service, "").apple(signer.transaction())
    assert_refused(answer, 401, "MISSING_API_KEY")


def test_a_revoked_key(offline, signer):
    made = make_key(offline, "client", app="demo")
    revoked = Client(offline, made["key"])
    assert revoked.verify_apple(signer.transaction())["state"] == "ENTITLED"
    assert offline.request("DELETE", f"/v1/keys/{made['id']}").status_code == 204
    assert_refused(revoked.apple(signer.transaction()), 400, "INVALID_API_KEY")


@pytest.mark.parametrize("scopes", [("admin",), ("read",), ("admin", "read")], ids=str)
def test_a_secret_key_without_the_scope(offline, signer, scopes):
    assert_refused(client(offline, "demo", *scopes).apple(signer.transaction()), 403, "INSUFFICIENT_SCOPE")


def test_a_secret_key_with_the_scope(offline, signer):
    secret = client(offline, "demo", "verify")
    assert secret.key.startswith("rk_")
    answer = secret.apple(signer.transaction())
    assert read(answer, "apple") == verdict("apple", "ENTITLED", MONTHLY)
    assert not [name for name in answer.headers if name.lower().startswith("x-ratelimit")]


@pytest.mark.parametrize("scope", ["client", "verify"])
def test_an_app_that_does_not_open_the_protocol(offline, signer, scope):
    closed = client(offline, "closed", scope)
    for path in (PATH, *ALIASES):
        assert_refused(closed.send({"store": "apple", "jws": signer.transaction()}, path), 404, "NOT_FOUND")


def test_no_app_opens_the_protocol(service):
    """Then there is no such path, with a key and without."""
    for key in (None, "", make_key(service, "client", app="demo")["key"]):
        for path in (PATH, *ALIASES):
            answer, unknown = (service.post(where, key=key, json={"store": "apple"}) for where in (path, "/v1/purchase/verif"))
            assert (answer.status_code, answer.json()) == (unknown.status_code, unknown.json()) and answer.status_code == 404


def test_a_publishable_key_opens_nothing_else(offline, demo):
    routes = [
        (method, path) for method, path, scope, _ in operations(offline.get("/openapi.json", key="").json())
        if scope is not None and path not in OF_PROTOCOLS
    ]  # fmt: skip
    assert len(routes) >= 18
    for method, path in routes:
        for trace in ({}, TRACE):
            answer = offline.request(method, path, key=demo.key, headers=trace)
            assert (answer.status_code, answer.json()["code"]) == (403, "missing-scope"), (method, path, answer.text)


def test_a_publishable_key_opens_no_console(offline, demo):
    session = Session(offline)
    session.log_in(demo.key)
    assert session.get("/console").status_code == 303
    session.log_in(offline.key)
    assert session.get("/console").status_code == 200


def test_a_protocol_that_does_not_exist(offline):
    service = Service(offline.folder)
    service.settings["app.demo.clientProtocols"] = "openiap,moon"
    ended = service.command("serve", "--check-config", check=False)
    assert ended.returncode == 65 and "moon" in ended.stderr, ended


# Headers and limits


def test_every_answer_has_an_identifier_of_its_own(demo, signer):
    signed = signer.transaction()
    answers = [demo.apple(signed), demo.apple(signed), demo.send({}), Client(demo.service, "").apple(signed)]
    assert len({identified(answer) for answer in answers}) == len(answers)


@pytest.mark.parametrize("is_well_formed", [True, False], ids=["a verdict", "an error"])
def test_the_headers_of_limits(demo, signer, is_well_formed):
    answer = demo.apple(signer.transaction()) if is_well_formed else demo.send({})
    assert (answer.headers["X-RateLimit-Limit"], answer.headers["X-RateLimit-Scope"]) == ("600", "ip")
    assert 0 <= int(answer.headers["X-RateLimit-Remaining"]) < 600
    assert answer.headers["X-Concurrency-Scope"] == "global"
    assert 0 <= int(answer.headers["X-Concurrency-Remaining"]) <= int(answer.headers["X-Concurrency-Limit"])


@pytest.fixture
def limited(tmp_path, receipt_tool):
    """Makes a server with limits, and its signer."""
    services = []

    def make(**settings) -> tuple[Service, Signer]:
        services.append(serve(Service(tmp_path / f"data-{len(services)}"), {"demo": app()}, **settings))
        return services[-1], Signer(receipt_tool, services[-1])

    yield make
    for service in services:
        assert service.end() == 0


# Three at once, and one a second: of fifty that take no minute, the first three are answered and not all of the others.
SMALL, MANY = {"clientBurst": 3, "clientRate": 1}, 50


def until_refused(answers) -> list[requests.Response]:
    """The answers up to the first that is refused for the limit, which must be among them."""
    found = []
    for answer in answers:
        found.append(answer)
        if answer.status_code == 429:
            return found
    pytest.fail("the limit was never exceeded")


def test_an_address_is_limited(limited):
    service, signer = limited(limits=SMALL)
    signed, secret = signer.transaction(), client(service, "demo", "verify")
    clients = [client(service) for _ in range(20)]
    # With keys of one address, each of which is used too seldom to be limited for itself.
    *answered, refused = until_refused(using.apple(signed) for using in clients)
    assert len(answered) >= 3
    assert [read(answer, "apple")["state"] for answer in answered] == ["ENTITLED"] * len(answered)
    first = answered[0].headers
    assert (first["X-RateLimit-Limit"], first["X-RateLimit-Remaining"], first["X-RateLimit-Scope"]) == ("3", "2", "ip")
    assert_refused(refused, 429, "RATE_LIMITED")
    assert re.fullmatch(r"[1-9]\d*", refused.headers["Retry-After"])
    assert (refused.headers["X-RateLimit-Limit"], refused.headers["X-RateLimit-Remaining"]) == ("3", "0")
    assert refused.headers["X-RateLimit-Scope"] == "ip"
    for _ in range(MANY):
        assert secret.verify_apple(signed)["state"] == "ENTITLED"


def test_a_rate_of_zero_is_no_limit(limited):
    service, _ = limited(limits={"clientRate": 0})
    unlimited = client(service)
    assert {unlimited.send({}).status_code for _ in range(605)} == {400}


def test_addresses_behind_a_trusted_proxy(limited):
    service, signer = limited(limits=SMALL, trustedProxies=["127.0.0.1"])
    signed, using = signer.transaction(), client(service)

    def forwarded(addresses: str) -> requests.Response:
        return using.send({"store": "apple", "jws": signed}, X_Forwarded_For=addresses)

    until_refused(forwarded("198.51.100.1") for _ in range(MANY))
    other = forwarded("198.51.100.2")
    assert read(other, "apple")["state"] == "ENTITLED" and other.headers["X-RateLimit-Remaining"] == "2"
    # What a client claims before the proxy adds its address does not make it another client.
    until_refused(forwarded(f"203.0.113.{number}, 198.51.100.3") for number in range(MANY))


def test_the_header_of_a_proxy_that_is_not_trusted(limited):
    service, signer = limited(limits=SMALL)
    body, using = {"store": "apple", "jws": signer.transaction()}, client(service)
    until_refused(using.send(body, X_Forwarded_For=f"198.51.100.{number}") for number in range(MANY))


# The audit trail


def newest(service: Service) -> dict:
    """The newest entry of the trail."""
    (entry,) = service.get("/v1/audit/entries", params={"limit": 1}).json()["entries"]
    return entry


def recorded(entry: dict) -> tuple:
    return tuple(entry.get(name) for name in ("kind", "format", "verdict", "transactionId", "productId", "bundleId"))


def test_verdicts_are_recorded(offline, demo, signer):
    bought = transaction(**ENDED)
    signed = signer.sign(bought)
    assert demo.verify_apple(signed)["state"] == "EXPIRED"
    entry = newest(offline)
    identifier = bought["transactionId"]
    assert recorded(entry) == ("verdict", "signed-transaction", "valid", identifier, MONTHLY, samples.BUNDLE)
    assert_refused(demo.apple(altered(signed)), 400, "APP_STORE_TRANSACTION_VERIFICATION_FAILED")
    refused = newest(offline)
    assert refused["index"] == entry["index"] + 1
    assert (refused["kind"], refused["verdict"], refused["reason"]) == ("verdict", "invalid", "signature-mismatch")
    assert_refused(demo.apple(signer.transaction(bundleId=OTHER_BUNDLE)), 400, "APP_STORE_BUNDLE_ID_MISMATCH")
    foreign = newest(offline)
    assert foreign["index"] == refused["index"] + 1
    assert (foreign["kind"], foreign["verdict"], foreign["reason"]) == ("verdict", "invalid", "wrong-bundle")


def test_what_is_no_verdict_is_not_recorded(offline, demo, signer):
    assert demo.verify_apple(signer.transaction())["state"] == "ENTITLED"
    before = newest(offline)["index"]
    assert_issues(demo.send({"store": "apple", "jws": "short"}), "jws")
    assert_refused(demo.send(HORIZON), 400, "META_HORIZON_APP_ID_NOT_CONFIGURED")
    assert_refused(Client(offline, "").apple(signer.transaction()), 401, "MISSING_API_KEY")
    # An app that does not record.
    assert client(offline, "quiet").verify_apple(signer.transaction())["state"] == "ENTITLED"
    assert newest(offline)["index"] == before


def test_a_verdict_that_cannot_be_recorded_is_not_given(tmp_path, receipt_tool):
    service = serve(Service(tmp_path / "data"), {"demo": app(record=True)})
    signer, using = Signer(receipt_tool, service), client(service)
    assert using.verify_apple(signer.transaction())["state"] == "ENTITLED"
    for path in service.folder.glob("audit.sqlite*"):
        path.rename(path.with_name(f"gone-{path.name}"))
    assert_busy(using.apple(signer.transaction()))
    service.end(signal.SIGKILL)


# Stores that are asked


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """An App Store and a Google Play."""
    folder = tmp_path_factory.mktemp("stores")
    emulator = Emulator(
        os.environ["STORE_EMULATOR"], folder / "state", "--clock-rate", "0", "--no-token-checks", "--play-service-account",
        str(folder / "account.json"),
    )  # fmt: skip
    emulator.address = emulator.url().replace("localhost", "127.0.0.1")
    emulator.credentials = {
        "package": samples.BUNDLE, "serviceAccount": str(folder / "account.json"), "url": emulator.address,
    }  # fmt: skip
    yield emulator
    emulator.stop()


@pytest.fixture(scope="module")
def asking(stores, tmp_path_factory):
    """A server that asks both, for several apps."""
    sandbox = {
        "trust": [stores.ready["root"], "identity/root.cer"], "environments": ["sandbox"], "allowedClockSkew": 400 * 86_400,
        "playEnvironments": ["production", "sandbox"],
    }  # fmt: skip
    developer = {
        "keyFile": stores.ready["developerKey"], "keyID": stores.developer["keyId"], "issuerID": stores.developer["issuerId"],
        "bundleID": samples.BUNDLE,
    }  # fmt: skip
    google = stores.credentials
    apps = {
        "apple": app(policy=sandbox, checkers=["app-store"], appStore=developer | {"url": stores.address}),
        "play": app(policy=sandbox, record=True, googlePlay=google, consumables=[COINS]),
        "plain": app(policy=sandbox, googlePlay=google),
        "paid": app(policy=sandbox | {"playEnvironments": ["production"]}, googlePlay=google),
        "down": app(
            policy=sandbox, checkers=["app-store"], appStore=developer | {"url": NOWHERE}, googlePlay=google | {"url": NOWHERE},
        ),
    }  # fmt: skip
    service = serve(Service(tmp_path_factory.mktemp("asking") / "data"), apps)
    yield service
    assert service.end() == 0


@pytest.fixture(scope="module")
def play(asking) -> Client:
    return client(asking, "play")


def buy(stores: Emulator, product: str, **members) -> tuple[str, str]:
    """The token and the order of a purchase at Google Play, of a customer of its own."""
    bought = stores.control("POST", "play/buy", {"account": f"customer-{next(numbers)}", "productId": product} | members)
    return bought["purchaseToken"], bought.get("orderId")


def act(stores: Emulator, verb: str, product: str, token: str) -> None:
    """Has the app acknowledge or consume a purchase."""
    kind = "subscriptions" if product == MONTHLY else "products"
    path = f"androidpublisher/v3/applications/{samples.BUNDLE}/purchases/{kind}/{product}/tokens/{token}:{verb}"
    answer = requests.post(f"{stores.address}/{path}", json={}, timeout=30)
    assert answer.status_code in (200, 204), answer.text


def test_the_app_store_is_asked(asking, stores, receipt_tool):
    apple = client(asking, "apple")
    bought = stores.control("POST", "buy", {"account": "alice", "productId": MONTHLY})["transactionId"]
    path = f"{stores.address}/inApps/v1/transactions/{bought}"
    signed = requests.get(path, timeout=30).json()["signedTransactionInfo"]
    assert apple.verify_apple(signed) == verdict("apple", "ENTITLED", MONTHLY)
    stores.control("POST", "refund", {"transactionId": bought})
    assert apple.verify_apple(signed) == verdict("apple", "CANCELED", MONTHLY)
    # It is signed by whom the policy trusts, and Apple does not know it.
    unknown = Signer(receipt_tool, asking).transaction(environment="Sandbox")
    assert_refused(apple.apple(unknown), 400, "APP_STORE_TRANSACTION_VERIFICATION_FAILED")


def test_stores_that_cannot_be_asked(asking, stores, receipt_tool):
    down = client(asking, "down")
    assert_busy(down.apple(Signer(receipt_tool, asking).transaction(environment="Sandbox")))
    assert_busy(down.google(buy(stores, COINS)[0]))


def test_a_product_of_google_play(play, stores):
    token, order = buy(stores, PRO)
    assert play.verify_google(token) == verdict("google", "PENDING_ACKNOWLEDGMENT", PRO)
    act(stores, "acknowledge", PRO, token)
    assert play.verify_google(token) == verdict("google", "ENTITLED", PRO)
    assert play.verify_google(token, expectedProductId=PRO) == verdict("google", "ENTITLED", PRO)
    assert play.verify_google(token, expectedProductId=COINS) == verdict("google", "INAUTHENTIC", PRO)
    for asked in (True, False):
        assert play.verify_google(token, includeClientPayload=asked) == verdict("google", "ENTITLED", PRO)
    stores.control("POST", "play/refund", {"orderId": order})
    assert play.verify_google(token) == verdict("google", "CANCELED", PRO)


def test_a_consumable_of_google_play(asking, play, stores):
    """It is one only to an app that names it."""
    plain = client(asking, "plain")
    token, _ = buy(stores, COINS, quantity=3)
    assert play.verify_google(token) == verdict("google", "READY_TO_CONSUME", COINS)
    assert plain.verify_google(token) == verdict("google", "PENDING_ACKNOWLEDGMENT", COINS)
    act(stores, "acknowledge", COINS, token)
    assert play.verify_google(token) == verdict("google", "READY_TO_CONSUME", COINS)
    assert plain.verify_google(token) == verdict("google", "ENTITLED", COINS)
    act(stores, "consume", COINS, token)
    for using in (play, plain):
        assert using.verify_google(token) == verdict("google", "CONSUMED", COINS)
    token, order = buy(stores, COINS)
    stores.control("POST", "play/refund", {"orderId": order})
    assert play.verify_google(token) == verdict("google", "CANCELED", COINS)


@pytest.mark.parametrize("product", [COINS, MONTHLY])
def test_a_pending_payment(play, stores, product):
    token, _ = buy(stores, product, isPending=True)
    assert play.verify_google(token) == verdict("google", "PENDING", product)
    stores.control("POST", "play/approve", {"purchaseToken": token})
    paid = {COINS: "READY_TO_CONSUME", MONTHLY: "PENDING_ACKNOWLEDGMENT"}[product]
    assert play.verify_google(token) == verdict("google", paid, product)


def test_a_subscription_of_google_play(play, stores):
    token, order = buy(stores, MONTHLY)
    assert play.verify_google(token) == verdict("google", "PENDING_ACKNOWLEDGMENT", MONTHLY)
    act(stores, "acknowledge", MONTHLY, token)
    assert play.verify_google(token) == verdict("google", "ENTITLED", MONTHLY)
    stores.control("POST", "play/cancel", {"purchaseToken": token})
    assert play.verify_google(token) == verdict("google", "ENTITLED", MONTHLY)
    assert play.verify_google(token, expectedProductId=COINS) == verdict("google", "INAUTHENTIC", MONTHLY)
    # Google ends the period of what it refunds.
    stores.control("POST", "play/refund", {"orderId": order})
    assert play.verify_google(token) == verdict("google", "EXPIRED", MONTHLY)


def test_a_token_that_google_play_does_not_know(play):
    for token in ("a" * 24 + ".AO-J1O" + "b" * 80, "t" * 20, "t" * 2000, TOKEN):
        assert_refused(play.google(token), 400, "PLAY_STORE_VERIFICATION_ERROR")


def test_a_licence_tester_s_purchase(asking, play, stores):
    paid = client(asking, "paid")
    for product in (COINS, MONTHLY):
        token, _ = buy(stores, product, isTest=True)
        assert play.verify_google(token)["isValid"] is True
        assert_refused(paid.google(token), 400, "PLAY_STORE_VERIFICATION_ERROR")
    token, _ = buy(stores, COINS, isTest=False)
    assert paid.verify_google(token) == verdict("google", "PENDING_ACKNOWLEDGMENT", COINS)


def test_google_play_does_not_permit_it(play, stores):
    token, _ = buy(stores, COINS)
    stores.control("POST", "play/permissions", {"financial-data": False})
    try:
        assert_refused(play.google(token), 400, "PLAY_STORE_INSUFFICIENT_PERMISSIONS")
    finally:
        stores.control("POST", "play/permissions", {"financial-data": True})
    assert play.verify_google(token)["state"] == "READY_TO_CONSUME"


def test_google_play_fails(play, stores):
    token, _ = buy(stores, COINS)
    stores.control("POST", "play/faults", [{"faults": [{"kind": "status", "status": 503}]}])
    try:
        assert_busy(play.google(token))
    finally:
        stores.control("POST", "play/faults", [])
    assert play.verify_google(token)["state"] == "READY_TO_CONSUME"


def test_the_verdict_on_a_token_is_recorded(asking, play, stores):
    token, order = buy(stores, PRO)
    play.verify_google(token)
    entry = newest(asking)
    assert recorded(entry) == ("verdict", "google-play-purchase", "valid", order, PRO, samples.BUNDLE)
    assert entry["checks"] == [{"name": "google-play", "answer": "confirmed"}]
    assert_refused(play.google("t" * 30), 400, "PLAY_STORE_VERIFICATION_ERROR")
    refused = newest(asking)
    assert (refused["index"], refused["verdict"]) == (entry["index"] + 1, "invalid")


def test_without_credentials_the_ledger_is_asked(stores, tmp_path):
    """It knows what a lookup brought while there were credentials."""
    policy = {"playEnvironments": ["production", "sandbox"]}
    settings = app(policy=policy, checkers=["ledger"], consumables=[COINS], googlePlay=stores.credentials)
    service = serve(Service(tmp_path / "data"), {"demo": settings})
    bought = {name: buy(stores, product) for name, product in [
        ("unacknowledged", PRO), ("acknowledged", PRO), ("refunded", PRO), ("consumable", COINS), ("consumed", COINS),
        ("subscription", MONTHLY), ("unknown", COINS),
    ]}  # fmt: skip
    act(stores, "acknowledge", PRO, bought["acknowledged"][0])
    act(stores, "acknowledge", MONTHLY, bought["subscription"][0])
    act(stores, "consume", COINS, bought["consumed"][0])
    stores.control("POST", "play/refund", {"orderId": bought["refunded"][1]})
    for name, (token, _) in bought.items():
        if name != "unknown":
            found = service.post("/v1/lookup", json={"store": "google-play", "purchaseToken": token})
            assert found.json()["verdict"] == "valid", found.text
    assert service.end() == 0
    del settings["googlePlay"]
    using = client(serve(service, {"demo": settings}))
    for name, state, product in [
        ("unacknowledged", "PENDING_ACKNOWLEDGMENT", PRO), ("acknowledged", "ENTITLED", PRO), ("refunded", "CANCELED", PRO),
        ("consumable", "READY_TO_CONSUME", COINS), ("consumed", "CONSUMED", COINS), ("subscription", "ENTITLED", MONTHLY),
    ]:  # fmt: skip
        assert using.verify_google(bought[name][0]) == verdict("google", state, product), name
    other = using.verify_google(bought["acknowledged"][0], expectedProductId=COINS)
    assert other == verdict("google", "INAUTHENTIC", PRO)
    assert_refused(using.google(bought["unknown"][0]), 400, "PLAY_STORE_SERVICE_ACCOUNT_NOT_FOUND")
    assert service.end() == 0


# Every answer of Google Play, against one of a few lines

FUTURE, PAST = "2099-01-01T00:00:00Z", "2025-01-01T00:00:00Z"


def subscribed(state: str, expires: str | None = FUTURE, *, acknowledged: bool = True, product: str = "monthly", **more) -> dict:
    item = {"productId": product, "latestSuccessfulOrderId": "GPA.1"} | ({"expiryTime": expires} if expires else {})
    return {
        "subscriptionState": f"SUBSCRIPTION_STATE_{state}", "startTime": "2024-12-01T00:00:00Z", "lineItems": [item],
        "acknowledgementState": f"ACKNOWLEDGEMENT_STATE_{'ACKNOWLEDGED' if acknowledged else 'PENDING'}",
    } | more  # fmt: skip


def sold(state: str, product: str = "pro", *, acknowledged: bool = True, consumed: bool = False, refundable: int = 3) -> dict:
    details = {
        "quantity": 3, "refundableQuantity": refundable,
        "consumptionState": f"CONSUMPTION_STATE_{'CONSUMED' if consumed else 'YET_TO_BE_CONSUMED'}",
    }  # fmt: skip
    return {
        "productLineItem": [{"productId": product, "productOfferDetails": details}], "orderId": "GPA.1",
        "purchaseStateContext": {"purchaseState": state}, "purchaseCompletionTime": "2025-01-01T00:00:00Z",
        "acknowledgementState": f"ACKNOWLEDGEMENT_STATE_{'ACKNOWLEDGED' if acknowledged else 'PENDING'}",
    }  # fmt: skip


SUBSCRIPTIONS = {
    "active": (subscribed("ACTIVE"), "ENTITLED"),
    "cancelled and not yet over": (subscribed("CANCELED"), "ENTITLED"),
    "in the grace period": (subscribed("IN_GRACE_PERIOD"), "ENTITLED"),
    "active and not acknowledged": (subscribed("ACTIVE", acknowledged=False), "PENDING_ACKNOWLEDGMENT"),
    "cancelled and not acknowledged": (subscribed("CANCELED", acknowledged=False), "PENDING_ACKNOWLEDGMENT"),
    "not paid": (subscribed("PENDING", None, acknowledged=False), "PENDING"),
    "on hold": (subscribed("ON_HOLD"), "PENDING"),
    "paused": (subscribed("PAUSED"), "PENDING"),
    "on hold after its end": (subscribed("ON_HOLD", PAST), "EXPIRED"),
    "paused after its end": (subscribed("PAUSED", PAST), "EXPIRED"),
    "active after its end": (subscribed("ACTIVE", PAST), "EXPIRED"),
    "cancelled after its end": (subscribed("CANCELED", PAST), "EXPIRED"),
    "in a grace period that ended": (subscribed("IN_GRACE_PERIOD", PAST), "EXPIRED"),
    "over and not acknowledged": (subscribed("ACTIVE", PAST, acknowledged=False), "EXPIRED"),
    "expired before its end": (subscribed("EXPIRED"), "EXPIRED"),
    "of no state": (subscribed("UNSPECIFIED", acknowledged=False), "UNKNOWN"),
    "of a state that does not exist yet": (subscribed("FROZEN", acknowledged=False), "UNKNOWN"),
}
PRODUCTS = {
    "acknowledged": (sold("PURCHASED"), "ENTITLED"),
    "not acknowledged": (sold("PURCHASED", acknowledged=False), "PENDING_ACKNOWLEDGMENT"),
    "not paid": (sold("PENDING", acknowledged=False), "PENDING"),
    "consumed": (sold("PURCHASED", consumed=True), "CONSUMED"),
    "consumed and not acknowledged": (sold("PURCHASED", acknowledged=False, consumed=True), "CONSUMED"),
    "cancelled": (sold("CANCELLED"), "CANCELED"),
    "cancelled and not acknowledged": (sold("CANCELLED", acknowledged=False), "CANCELED"),
    "refunded in part": (sold("PURCHASED", refundable=2), "ENTITLED"),
    "refunded": (sold("PURCHASED", refundable=0), "CANCELED"),
    "of a state that does not exist yet": (sold("LOST", acknowledged=False), "UNKNOWN"),
}
CONSUMABLES = {
    "acknowledged": (sold("PURCHASED", "coins"), "READY_TO_CONSUME"),
    "not acknowledged": (sold("PURCHASED", "coins", acknowledged=False), "READY_TO_CONSUME"),
    "not paid": (sold("PENDING", "coins", acknowledged=False), "PENDING"),
    "consumed": (sold("PURCHASED", "coins", consumed=True), "CONSUMED"),
    "cancelled": (sold("CANCELLED", "coins"), "CANCELED"),
    "refunded": (sold("PURCHASED", "coins", refundable=0), "CANCELED"),
}


class Answering:
    """An app of a server that asks a Google Play of a few lines."""

    def __init__(self, google: Google, service: Service, credentials: dict):
        self.google, self.service, self.credentials = google, service, credentials
        self.client = client(service)

    def having(self, status: int = 200, **answers) -> str:
        """A token, and what Google answers about it as `productsv2` and as `subscriptionsv2`."""
        token = f"{next(numbers):024}.AO-J1O"
        for kind, answer in answers.items():
            self.google.answers["GET", f"/purchases/{kind}/tokens/{token}"] = status, answer
        return token


@pytest.fixture(scope="module")
def answering(tmp_path_factory):
    google = Google()
    folder = tmp_path_factory.mktemp("answering")
    pem = google.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account", "private_key_id": "1", "private_key": pem.decode(),
        "client_email": "play@example.iam.gserviceaccount.com", "token_uri": f"{google.url}/token",
    }  # fmt: skip
    (folder / "account.json").write_text(json.dumps(account))
    google.answers["POST", "/denied"] = 400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
    google.answers["POST", "/busy"] = 503, {}
    credentials = {"package": samples.BUNDLE, "serviceAccount": str(folder / "account.json"), "url": google.url}
    apps = {
        "demo": app(googlePlay=credentials, consumables=["coins", "yearly"]),
        "denied": app(googlePlay=credentials | {"tokenURL": f"{google.url}/denied"}),
        "busy": app(googlePlay=credentials | {"tokenURL": f"{google.url}/busy"}),
    }
    service = serve(Service(folder / "data"), apps)
    yield Answering(google, service, credentials)
    assert service.end() == 0


@pytest.mark.parametrize("life", SUBSCRIPTIONS)
def test_the_state_of_a_subscription(answering, life):
    answer, state = SUBSCRIPTIONS[life]
    token = answering.having(subscriptionsv2=answer)
    assert answering.client.verify_google(token) == verdict("google", state, "monthly")


@pytest.mark.parametrize("life", PRODUCTS)
def test_the_state_of_a_product(answering, life):
    answer, state = PRODUCTS[life]
    token = answering.having(productsv2=answer)
    assert answering.client.verify_google(token) == verdict("google", state, "pro")


@pytest.mark.parametrize("life", CONSUMABLES)
def test_the_state_of_a_consumable(answering, life):
    answer, state = CONSUMABLES[life]
    token = answering.having(productsv2=answer)
    assert answering.client.verify_google(token) == verdict("google", state, "coins")


def test_a_subscription_is_no_consumable(answering):
    token = answering.having(subscriptionsv2=subscribed("ACTIVE", product="yearly"))
    assert answering.client.verify_google(token) == verdict("google", "ENTITLED", "yearly")


def test_the_line_item_that_counts(answering):
    """The expected one; else that which ends last; else the first."""
    items = [("add-on", PAST), ("base", FUTURE), ("extra", "2098-01-01T00:00:00Z")]
    lines = [{"productId": product, "expiryTime": expires, "latestSuccessfulOrderId": "GPA.1"} for product, expires in items]
    token = answering.having(subscriptionsv2=subscribed("ACTIVE", lineItems=lines))
    verify = answering.client.verify_google
    assert verify(token) == verdict("google", "ENTITLED", "base")
    assert verify(token, expectedProductId="extra") == verdict("google", "ENTITLED", "extra")
    assert verify(token, expectedProductId="add-on") == verdict("google", "EXPIRED", "add-on")
    assert verify(token, expectedProductId="monthly")["state"] == "INAUTHENTIC"
    bought = sold("PURCHASED", "gems")
    bought["productLineItem"] += sold("PURCHASED", "pro", consumed=True)["productLineItem"]
    token = answering.having(productsv2=bought)
    assert verify(token) == verdict("google", "ENTITLED", "gems")
    assert verify(token, expectedProductId="pro") == verdict("google", "CONSUMED", "pro")


def test_a_token_of_another_product(answering):
    for answers in ({"productsv2": sold("PURCHASED")}, {"subscriptionsv2": subscribed("ACTIVE", product="pro")}):
        token = answering.having(**answers)
        found = answering.client.verify_google(token, expectedProductId="coins")
        assert found == verdict("google", "INAUTHENTIC", "pro")


def test_a_token_that_is_no_longer_valid(answering):
    error = {"code": 410, "status": "FAILED_PRECONDITION", "errors": [{"reason": "purchaseTokenNoLongerValid"}]}
    token = answering.having(410, subscriptionsv2={"error": error})
    assert answering.client.verify_google(token) == verdict("google", "UNKNOWN")


def test_a_token_that_google_never_gave(answering):
    assert_refused(answering.client.google(answering.having()), 400, "PLAY_STORE_VERIFICATION_ERROR")
    error = {"error": {"code": 400, "status": "INVALID_ARGUMENT", "errors": [{"reason": "invalid"}]}}
    token = answering.having(400, productsv2=error, subscriptionsv2=error)
    assert_refused(answering.client.google(token), 400, "PLAY_STORE_VERIFICATION_ERROR")


def test_a_licence_tester_s_purchase_under_production(answering, tmp_path):
    """As the policy says that is for the App Store, too."""
    settings = app(policy={"environments": ["production"]}, googlePlay=answering.credentials)
    service = serve(Service(tmp_path / "data"), {"demo": settings})
    using = client(service)
    paid = answering.having(subscriptionsv2=subscribed("ACTIVE"))
    tested = answering.having(subscriptionsv2=subscribed("ACTIVE", testPurchase={}))
    assert using.verify_google(paid) == verdict("google", "ENTITLED", "monthly")
    assert_refused(using.google(tested), 400, "PLAY_STORE_VERIFICATION_ERROR")
    assert answering.client.verify_google(tested)["state"] == "ENTITLED"
    assert service.end() == 0


@pytest.mark.parametrize("status", [429, 500, 503])
def test_google_fails(answering, status):
    token = answering.having(status, productsv2={"error": {"code": status}}, subscriptionsv2={"error": {"code": status}})
    assert_busy(answering.client.google(token))


@pytest.mark.parametrize(
    ("status", "reason", "code"),
    [
        (401, "authError", "PLAY_STORE_AUTHENTICATION_FAILED"),
        (403, "permissionDenied", "PLAY_STORE_INSUFFICIENT_PERMISSIONS"),
    ],
)
def test_google_refuses_the_credentials(answering, status, reason, code):
    error = {"error": {"code": status, "errors": [{"reason": reason}]}}
    token = answering.having(status, productsv2=error, subscriptionsv2=error)
    assert_refused(answering.client.google(token), 400, code)


def test_google_issues_no_access_token(answering):
    token = answering.having(productsv2=sold("PURCHASED"))
    denied = client(answering.service, "denied").google(token)
    assert_refused(denied, 400, "PLAY_STORE_AUTHENTICATION_FAILED")
    assert_busy(client(answering.service, "busy").google(token))
