# SPDX-License-Identifier: Apache-2.0
"""Lives of purchases: a receipt of every kind and store, and the standing that each interface must answer for it."""

import base64
import json
from dataclasses import dataclass

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

import samples
from independent import app_receipt, der, jws, transaction_receipt

BOUGHT, BOUGHT_TEXT = 1740823200000, "2025-03-01T10:00:00.000Z"
EXPIRES, EXPIRES_TEXT = 1743501600000, "2025-04-01T10:00:00.000Z"
TAKEN_BACK, TAKEN_BACK_TEXT = 1741428000000, "2025-03-08T10:00:00.000Z"
GRACE, GRACE_TEXT = 1744884000000, "2025-04-17T10:00:00.000Z"
FAR, FAR_TEXT = 4_000_000_000_000, "2096-10-02T07:06:40.000Z"
# Instants at which a life is looked at, by --time.
DURING, AFTER = "2025-03-20T00:00:00Z", "2025-04-10T00:00:00Z"

# The number of lives, so that each is a test of its own, and those of notifications.
COUNT, NOTIFIED = 49, range(14, 21)


@dataclass(frozen=True)
class Life:
    """A receipt, and what it must be answered."""

    name: str
    receipt: bytes
    standing: str | None
    since: str | None = None
    until: str | None = None
    source: str = "receipt"
    at: str = "now"
    quantity: int | None = None

    @property
    def grants_access(self) -> bool:
        return self.standing == "active"

    @property
    def options(self) -> list[str]:
        return [] if self.at == "now" else ["--time", self.at]

    @property
    def current(self) -> tuple[str, str | None]:
        """The verdict and the reason where a current purchase is required."""
        if self.grants_access:
            return "valid", None
        return ("undetermined", "standing-unknown") if self.standing == "unknown" else ("invalid", "not-current")


class AppKey:
    """The key with which Google Play or Huawei signs the purchases of an app."""

    def __init__(self):
        self.key = rsa.generate_private_key(65537, 2048)
        public = self.key.public_key()
        form = serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
        self.public = base64.b64encode(public.public_bytes(*form))

    def sign(self, data: dict, digest=None) -> bytes:
        text = json.dumps(data, separators=(",", ":"))
        signature = self.key.sign(text.encode(), padding.PKCS1v15(), digest or hashes.SHA1())
        return json.dumps({"data": text, "signature": base64.b64encode(signature).decode()}).encode()


PLAY = {
    "orderId": "GPA.1234-5678-9012-34567",
    "packageName": samples.BUNDLE,
    "productId": "coins",
    "purchaseTime": BOUGHT,
    "purchaseState": 0,
    "purchaseToken": "token.AO-J1Oz",
    "quantity": 3,
}
HUAWEI = {
    "orderId": "1.100",
    "packageName": samples.BUNDLE,
    "applicationId": 100,
    "productId": "coins",
    "kind": 0,
    "purchaseTime": BOUGHT,
    "purchaseState": 0,
    "purchaseToken": "token.100",
    "quantity": 1,
}


def without(values: dict, *names: str) -> dict:
    return {name: value for name, value in values.items() if name not in names}


def lives(leaf, rsa_leaf, play: AppKey, huawei: AppKey) -> list[Life]:
    """The lives, signed by a store's leaves and by the keys of an app."""

    def transaction(**changes) -> str:
        return jws.sign(samples.TRANSACTION | changes, leaf)

    def apple(name, standing, since=None, *, changes=None, drop=(), **expected):
        payload = without(samples.TRANSACTION | (changes or {}), *drop)
        return Life(f"transaction: {name}", jws.sign(payload, leaf).encode(), standing, since, **expected)

    def notified(name, standing, since=None, *, kind="DID_RENEW", changes=None, renewal=None, **expected):
        parts = [transaction(**(changes or {})), renewal and jws.sign(samples.RENEWAL_INFO | renewal, leaf)]
        payload = samples.notification(*parts) | {"notificationType": kind}
        if renewal:
            payload |= {"signedDate": renewal.get("signedDate", samples.SIGNED)}
        receipt = jws.sign(payload, leaf).encode()
        return Life(f"notification: {name}", receipt, standing, since, source="notification", **expected)

    def in_app(name, standing, since=None, *, purchases, extra=(), **expected):
        receipt = base64.b64encode(app_receipt.sign(app_receipt.payload(*purchases, extra=extra), rsa_leaf))
        return Life(f"app receipt: {name}", receipt, standing, since, **expected)

    def ios6(name, standing, since=None, *, changes=None, **expected):
        receipt = transaction_receipt.sign(rsa_leaf, environment=None, **(changes or {}))
        return Life(f"transaction receipt: {name}", receipt, standing, since, **expected)

    def google(name, standing, since=None, *, changes=None, drop=(), **expected):
        return Life(f"Google Play: {name}", play.sign(without(PLAY | (changes or {}), *drop)), standing, since, **expected)

    def gallery(name, standing, since=None, *, changes=None, **expected):
        return Life(f"Huawei: {name}", huawei.sign(HUAWEI | (changes or {}), hashes.SHA256()), standing, since, **expected)

    subscription = {"kind": 2, "productId": "monthly", "expirationDate": EXPIRES, "subscriptionId": "s1"}
    identifier = app_receipt.attribute(1711, der.integer(777))
    failed = {"isInBillingRetryPeriod": True, "autoRenewStatus": 1, "expirationIntent": 2, "signedDate": EXPIRES}
    one_time = ("expiresDate", "subscriptionGroupIdentifier", "webOrderLineItemId")
    return [
        apple("a paid period", "active", BOUGHT_TEXT, at=DURING, until=EXPIRES_TEXT),
        apple("a period that ended", "expired", EXPIRES_TEXT),
        apple("not for sale any more, to be had for ever", "active", BOUGHT_TEXT,
              changes={"type": "Non-Consumable"}, drop=one_time),
        apple("consumables", "active", BOUGHT_TEXT, changes={"type": "Consumable", "quantity": 5}, drop=one_time,
              quantity=5),
        apple("refunded", "refunded", TAKEN_BACK_TEXT, changes={"revocationDate": TAKEN_BACK, "revocationReason": 0},
              quantity=0),
        apple("refunded later than the instant", "active", BOUGHT_TEXT, changes={"revocationDate": TAKEN_BACK},
              at="2025-03-02T00:00:00Z", until=TAKEN_BACK_TEXT),
        apple("refunded in part", "refunded", TAKEN_BACK_TEXT,
              changes={"revocationDate": TAKEN_BACK, "revocationType": "REFUND_PRORATED", "revocationPercentage": 50000}),
        apple("refunded for ever, in its period", "refunded", TAKEN_BACK_TEXT,
              changes={"revocationDate": TAKEN_BACK, "expiresDate": FAR}),
        apple("no longer shared", "revoked", TAKEN_BACK_TEXT,
              changes={"revocationDate": TAKEN_BACK, "revocationType": "FAMILY_REVOKE"}, quantity=0),
        apple("no longer shared, in data of before 2025", "revoked", TAKEN_BACK_TEXT,
              changes={"revocationDate": TAKEN_BACK, "inAppOwnershipType": "FAMILY_SHARED"}),
        apple("shared with the family", "active", BOUGHT_TEXT, changes={"inAppOwnershipType": "FAMILY_SHARED"},
              at=DURING, until=EXPIRES_TEXT),
        apple("upgraded", "upgraded", samples.SIGNED_TEXT, changes={"isUpgraded": True, "expiresDate": FAR}),
        apple("a subscription without an end", "unknown", drop=("expiresDate",)),
        apple("no date at all", "unknown", changes={"type": "Non-Consumable"}, drop=(*one_time, "purchaseDate")),
        notified("a renewal", "active", BOUGHT_TEXT, at=DURING, until=EXPIRES_TEXT),
        notified("a refund whose transaction does not state it", "refunded", samples.SIGNED_TEXT, kind="REFUND"),
        notified("a refund that was reversed", "active", BOUGHT_TEXT, kind="REFUND_REVERSED",
                 changes={"revocationDate": BOUGHT + 1000}, at=DURING, until=EXPIRES_TEXT),
        notified("sharing ended", "revoked", samples.SIGNED_TEXT, kind="REVOKE"),
        notified("a grace period", "active", BOUGHT_TEXT, kind="DID_FAIL_TO_RENEW", at=AFTER, until=GRACE_TEXT,
                 renewal=failed | {"gracePeriodExpiresDate": GRACE}),
        notified("a grace period that ended", "expired", GRACE_TEXT, kind="DID_FAIL_TO_RENEW",
                 renewal=failed | {"gracePeriodExpiresDate": GRACE}),
        notified("billing retry", "expired", EXPIRES_TEXT, kind="DID_FAIL_TO_RENEW", at=AFTER, renewal=failed),
        Life("renewal info", jws.sign(samples.RENEWAL_INFO, leaf).encode(), "unknown"),
        Life("app transaction", jws.sign(samples.APP_TRANSACTION, leaf).encode(), None),
        in_app("a product for ever", "active", BOUGHT_TEXT, purchases=[app_receipt.in_app()]),
        in_app("a period that ended, and one that runs", "active", BOUGHT_TEXT, at=DURING, until=EXPIRES_TEXT, purchases=[
            app_receipt.in_app("1", expires="2025-03-01T10:00:00Z", purchased="2025-02-01T10:00:00Z"),
            app_receipt.in_app("2", expires="2025-04-01T10:00:00Z"),
        ]),
        in_app("periods that ended", "expired", EXPIRES_TEXT, purchases=[
            app_receipt.in_app("1", expires="2025-03-01T10:00:00Z", purchased="2025-02-01T10:00:00Z"),
            app_receipt.in_app("2", expires="2025-04-01T10:00:00Z"),
        ]),
        in_app("cancelled", "refunded", TAKEN_BACK_TEXT, purchases=[app_receipt.in_app(cancelled="2025-03-08T10:00:00Z")]),
        in_app("a subscription without an end", "unknown", purchases=[app_receipt.in_app(extra=(identifier,))]),
        in_app("no date at all", "unknown", purchases=[app_receipt.in_app(purchased="")]),
        in_app("no purchase", None, purchases=[]),
        in_app("a copy for a time that ended", "expired", EXPIRES_TEXT, purchases=[app_receipt.in_app()],
               extra=(app_receipt.attribute(21, der.ia5("2025-04-01T10:00:00Z")),)),
        ios6("a product for ever", "active", BOUGHT_TEXT, quantity=2),
        ios6("a period that ended", "expired", EXPIRES_TEXT, changes={"expires_date": str(EXPIRES)}),
        google("paid", "active", BOUGHT_TEXT, quantity=3),
        google("pending", "pending", BOUGHT_TEXT, changes={"purchaseState": 4}, drop=("orderId",), quantity=0),
        google("cancelled", "revoked", changes={"purchaseState": 1}, quantity=0),
        google("refunded when it was signed", "refunded", changes={"purchaseState": 2}, quantity=0),
        google("a subscription, whose end is not signed", "unknown", changes={"autoRenewing": True}),
        google("a state that does not exist yet", "unknown", changes={"purchaseState": 9}),
        google("no date", "unknown", drop=("purchaseTime",)),
        gallery("paid", "active", BOUGHT_TEXT),
        gallery("consumed", "consumed", changes={"consumptionState": 1}),
        gallery("refunded", "refunded", TAKEN_BACK_TEXT, changes={"purchaseState": 2, "cancelTime": TAKEN_BACK}),
        gallery("a paid period", "active", BOUGHT_TEXT, changes=subscription, at=DURING, until=EXPIRES_TEXT),
        gallery("a period that ended", "expired", EXPIRES_TEXT, changes=subscription),
        gallery("a grace period", "active", BOUGHT_TEXT, changes=subscription | {"graceExpirationTime": GRACE}, at=AFTER,
                until=GRACE_TEXT),
        gallery("withdrawn", "refunded", TAKEN_BACK_TEXT, changes=subscription | {"cancelTime": TAKEN_BACK}),
        gallery("not in force when it was signed", "expired", FAR_TEXT,
                changes=subscription | {"expirationDate": FAR, "subIsvalid": False}),
        gallery("a subscription without an end", "unknown", changes=without(subscription, "expirationDate")),
    ]


def payload(signed: str) -> dict:
    part = signed.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def with_purchase(life: Life, number: int, customer: str, leaf) -> str:
    """The receipt of a life, about a purchase and a customer of its own."""
    own = {"originalTransactionId": f"4{number:015}", "transactionId": f"5{number:015}", "appAccountToken": customer,
           "appTransactionId": f"8{number:017}"}  # fmt: skip
    told = payload(life.receipt.decode())
    if "data" not in told:
        return jws.sign(told | own, leaf)
    told["data"]["signedTransactionInfo"] = jws.sign(payload(told["data"]["signedTransactionInfo"]) | own, leaf)
    if renewal := told["data"].get("signedRenewalInfo"):
        line = {"originalTransactionId": own["originalTransactionId"]}
        told["data"]["signedRenewalInfo"] = jws.sign(payload(renewal) | line, leaf)
    return jws.sign(told | {"notificationUUID": f"002e14d5-51f5-4503-b5a8-9{number:011}"}, leaf)
