# SPDX-License-Identifier: Apache-2.0
"""Apple's signed JWS (RFC 7515): payloads of the five kinds, and a builder in which every part can be changed.

What a case expects follows two rules. `invalid` is what a standard or Apple's documentation obliges a verifier to refuse,
or what harms whoever accepts it. `either` is what a standard forbids only to the one who signs or issues, or leaves open.
"""

import base64
import copy
import dataclasses
import datetime
import functools
import hashlib
import json
from collections.abc import Callable

import der
import keys
import pki
import suite as suites
from cryptography.hazmat.primitives.asymmetric import utils

# ecdsa-with-SHA1 (RFC 3279) and ecdsa-with-SHA512 (RFC 5758), which no other subject needs.
pki.ALGORITHMS.setdefault("ecdsa-sha1", ("1.2.840.10045.4.1", "sha1", b""))
pki.ALGORITHMS.setdefault("ecdsa-sha512", ("1.2.840.10045.4.3.4", "sha512", b""))

BUNDLE = "com.example.app"
OTHER_BUNDLE = "com.example.other"
APP = 1_234_567_890
PRODUCT = "com.example.app.monthly"
ORIGINAL = "2000000001"
SIGNED = pki.SIGNED * 1000
PURCHASED = pki.PURCHASED * 1000
EXPIRES = pki.EXPIRES * 1000
DEVICE = "00112233-4455-6677-8899-aabbccddeeff"
NONCE = "0f8fad5b-d9cb-469f-a165-70867728950e"
# In place of the value of a member: the member is left out.
ABSENT = object()

TRANSACTION = {
    "originalTransactionId": ORIGINAL,
    "transactionId": ORIGINAL,
    "webOrderLineItemId": "3000000001",
    "bundleId": BUNDLE,
    "productId": PRODUCT,
    "subscriptionGroupIdentifier": "20600001",
    "purchaseDate": PURCHASED,
    "originalPurchaseDate": PURCHASED,
    "expiresDate": EXPIRES,
    "quantity": 1,
    "type": "Auto-Renewable Subscription",
    "appAccountToken": "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f",
    "inAppOwnershipType": "PURCHASED",
    "signedDate": SIGNED,
    "environment": "Sandbox",
    "storefront": "USA",
    "storefrontId": "143441",
    "transactionReason": "PURCHASE",
    "currency": "USD",
    "price": 9990,
}
RENEWAL_INFO = {
    "originalTransactionId": ORIGINAL,
    "autoRenewProductId": PRODUCT,
    "productId": PRODUCT,
    "autoRenewStatus": 1,
    "signedDate": SIGNED,
    "environment": "Sandbox",
    "recentSubscriptionStartDate": PURCHASED,
    "renewalDate": EXPIRES,
    "currency": "USD",
    "renewalPrice": 9990,
}
APP_TRANSACTION = {
    "receiptType": "Sandbox",
    "appAppleId": APP,
    "bundleId": BUNDLE,
    "applicationVersion": "2.1",
    "receiptCreationDate": SIGNED,
    "originalPurchaseDate": PURCHASED,
    "originalApplicationVersion": "1.0",
    "appTransactionId": "704289572311513293",
    "originalPlatform": "iOS",
}
NOTIFICATION = {
    "notificationType": "TEST",
    "notificationUUID": "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11",
    "version": "2.0",
    "signedDate": SIGNED,
    "data": {"environment": "Sandbox", "appAppleId": APP, "bundleId": BUNDLE, "bundleVersion": "2.1"},
}
REALTIME_REQUEST = {
    "originalTransactionId": ORIGINAL,
    "appAppleId": APP,
    "productId": PRODUCT,
    "userLocale": "en-US",
    "requestIdentifier": "5f1f7b43-7d0e-4c2b-8f7e-0d9a6c3e1b22",
    "environment": "Sandbox",
    "signedDate": SIGNED,
}


@dataclasses.dataclass(frozen=True)
class Kind:
    """A kind of signed JWS: its sample, and the members, as dotted paths, in which it states what a policy asks for."""

    name: str
    article: str
    sample: dict
    date: str
    environment: str
    bundle: str | None = None
    app: str | None = None
    # A text that tells one receipt of the kind from another and that no policy looks at.
    detail: str = "productId"
    # Whether Apple documents every member as required.
    is_complete: bool = False

    def payload(self, changes: dict | None = None) -> dict:
        return changed(self.sample, changes or {})

    def with_date(self, milliseconds) -> dict:
        return self.payload({self.date: milliseconds})

    def within(self, environment) -> dict:
        return self.payload({self.environment: environment})


KINDS = [
    Kind("signed-transaction", "A signed transaction", TRANSACTION, "signedDate", "environment", "bundleId"),
    Kind("signed-renewal-info", "Signed renewal information", RENEWAL_INFO, "signedDate", "environment"),
    Kind(
        "signed-app-transaction", "A signed app transaction", APP_TRANSACTION, "receiptCreationDate", "receiptType",
        "bundleId", "appAppleId", "applicationVersion",
    ),
    Kind(
        "signed-notification", "A signed notification", NOTIFICATION, "signedDate", "data.environment", "data.bundleId",
        "data.appAppleId", "notificationUUID",
    ),
    Kind(
        "signed-realtime-request", "A signed realtime request", REALTIME_REQUEST, "signedDate", "environment",
        app="appAppleId", is_complete=True,
    ),
]  # fmt: skip
BY_NAME = {kind.name: kind for kind in KINDS}


def changed(payload: dict, changes: dict) -> dict:
    """A copy with other values at dotted paths; ABSENT removes a member."""
    result = copy.deepcopy(payload)
    for path, value in changes.items():
        *parents, last = path.split(".")
        target = result
        for parent in parents:
            target = target[parent]
        if value is ABSENT:
            target.pop(last, None)
        else:
            target[last] = value
    return result


def found(payload: dict, path: str | None):
    """The value at a dotted path; None if it or the path is absent."""
    for name in path.split(".") if path else [""]:
        payload = payload.get(name) if isinstance(payload, dict) else None
    return payload


def instant(milliseconds: float) -> str:
    """An instant in ISO 8601 with whole milliseconds."""
    whole = int(milliseconds // 1)
    moment = datetime.datetime.fromtimestamp(whole // 1000, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + f".{whole % 1000:03}Z"


ENVIRONMENTS = {"Production": "production", "Sandbox": "sandbox", "Xcode": "xcode", "LocalTesting": "local-testing"}


def transaction_values(payload: dict) -> dict:
    """What a valid case reports of a payload that names a purchase."""
    names = ("transactionId", "originalTransactionId", "productId", "quantity")
    reported = {name: payload[name] for name in names if payload.get(name) is not None}
    for name in ("purchaseDate", "originalPurchaseDate", "expiresDate", "revocationDate"):
        if payload.get(name) is not None:
            reported[name] = instant(payload[name])
    return reported


def values(kind: Kind, payload: dict, transaction: dict | None = None, **changes) -> dict:
    """What a valid case reports. A notification reports the purchase of its signed transaction."""
    environment, signed = found(payload, kind.environment), found(payload, kind.date)
    transactions = []
    if kind.name == "signed-transaction":
        transactions = [transaction_values(payload)]
    elif kind.name in ("signed-renewal-info", "signed-realtime-request"):
        names = ("originalTransactionId", "productId")
        transactions = [{name: payload[name] for name in names if payload.get(name) is not None}]
    elif transaction is not None:
        transactions = [transaction_values(transaction)]
    reported = {
        "environment": ENVIRONMENTS.get(environment) if environment else None,
        "bundleId": found(payload, kind.bundle),
        "signedAt": instant(signed) if signed is not None else None,
        "algorithm": "ES256",
        "transactions": transactions,
        **changes,
    }
    return {name: value for name, value in reported.items() if value is not None}


# The compact serialization


def encode(data: bytes) -> str:
    """base64url without padding (RFC 7515 section 2)."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def key_identifier(key) -> bytes:
    """The identifier of a key in 8 bytes (RFC 5280 section 4.2.1.2, method 2)."""
    _, bits = der.children(der.read(keys.public(key))[1])
    digest = hashlib.sha1(der.read(bits)[1][1:]).digest()
    return bytes([0x40 | digest[12] & 0x0F]) + digest[13:]


def subject_key(key) -> bytes:
    return pki.extension("2.5.29.14", der.octet_string(key_identifier(key)))


def authority_key(key) -> bytes:
    return pki.extension("2.5.29.35", der.sequence(der.context(0, key_identifier(key), constructed=False)))


@dataclasses.dataclass(frozen=True)
class Certificate(pki.Template):
    """A template with the key identifiers that RFC 5280 demands of issuers: Apple's library, with OpenSSL's strict flag,
    refuses certificates without them."""

    has_identifiers: bool = True
    # The key that a forged certificate names as its issuer's, where that is not the key that signed it.
    claimed_issuer_key: object = None

    def encoded(self) -> bytes:
        if not self.has_identifiers:
            return super().encoded()
        added = [subject_key(self.key)]
        if self.issuer != self.subject or self.claimed_issuer_key:
            added.append(authority_key(self.claimed_issuer_key or self.issuer_key))
        return self.but(extensions=(*self.extensions, *added), has_identifiers=False).encoded()


def identified(template: pki.Template) -> Certificate:
    return Certificate(**{field.name: getattr(template, field.name) for field in dataclasses.fields(pki.Template)})


@functools.cache
def authority(foreign: bool = False) -> pki.Authority:
    """The authority of JWS, or a forger's of the same names."""
    plain = pki.authority(foreign=foreign)
    return pki.Authority(identified(plain.root), identified(plain.intermediate), identified(plain.leaf))


@functools.cache
def genuine_chain() -> tuple[bytes, ...]:
    return tuple(authority().chain)


def header(chain=None, **changes) -> dict:
    """The header that Apple writes, with other members; ABSENT removes one."""
    certificates = [suites.b64(certificate) for certificate in (genuine_chain() if chain is None else chain)]
    return changed({"alg": "ES256", "x5c": certificates}, changes)


def raw(signature: bytes, size: int = 32) -> bytes:
    """r and s of so many bytes each (RFC 7518 section 3.4), of an ECDSA signature in DER."""
    r, s = utils.decode_dss_signature(signature)
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def es256(key, data: bytes) -> bytes:
    return raw(keys.sign(key, data, "sha256"), (key.curve.key_size + 7) // 8)


def data(value) -> bytes:
    """Bytes as they are, a text in UTF-8, anything else as JSON."""
    if isinstance(value, bytes):
        return value
    return value.encode() if isinstance(value, str) else suites.json_bytes(value)


def signing_input(payload, head=None) -> str:
    return f"{encode(data(header() if head is None else head))}.{encode(data(payload))}"


def compact(payload, head=None, key=None, signature: bytes | Callable[[bytes], bytes] | None = None, chain=None) -> str:
    """A JWS of a payload: an object, or its text. `signature` is what stands in its place, or makes it of the signed
    bytes; otherwise `key`, the leaf's, signs."""
    signed = signing_input(payload, header(chain) if head is None else head)
    if signature is None:
        signature = es256(key or authority().leaf.key, signed.encode())
    elif callable(signature):
        signature = signature(signed.encode())
    return f"{signed}.{encode(signature)}"


def of(authority: pki.Authority, payload, **options) -> str:
    """A JWS under another authority, with its chain and its leaf's key."""
    return compact(payload, chain=authority.chain, key=authority.leaf.key, **options)


def replaced(token: str, head: str | None = None, payload: str | None = None, signature: str | None = None) -> str:
    """A JWS with one of its encoded parts replaced."""
    parts = token.split(".")
    return ".".join(part if other is None else other for part, other in zip(parts, (head, payload, signature)))


def signature_of(token: str) -> bytes:
    text = token.split(".")[2]
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def member(value) -> str:
    """A value as JSON text, for payloads that are put together by hand."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def with_text(payload: dict, text: str, at_end: bool = False) -> str:
    """The payload as JSON with text added among its members."""
    encoded = member(payload)
    return f"{encoded[:-1]},{text}}}" if at_end else f"{{{text},{encoded[1:]}"


# Cases


@dataclasses.dataclass(frozen=True)
class Cases:
    """Adds the cases of one kind."""

    suite: suites.Suite
    kind: Kind
    # What a program must support for all of these cases to concern it.
    features: tuple[str, ...] = ()

    def _add(
        self,
        name: str,
        text: str,
        receipt,
        verdict: str,
        policy: dict | None = None,
        features: list[str] | tuple = (),
        **options,
    ) -> None:
        self.suite.add(
            f"{self.kind.name}::{name}",
            text,
            suites.receipt(receipt),
            verdict,
            policy=suites.base_policy(authority(), **(policy or {})),
            features=[*self.features, *features],
            **options,
        )

    def accept(self, name: str, text: str, payload: dict | None = None, receipt=None, values=None, **options) -> None:
        """A valid case, of a payload (the sample by default) or of a receipt that says what the payload says."""
        payload = self.kind.sample if payload is None else payload
        receipt = compact(payload) if receipt is None else receipt
        reported = globals()["values"](self.kind, payload) if values is None else values
        self._add(name, text, receipt, "valid", values=reported, **options)

    def refuse(self, name: str, text: str, receipt, reason: str, place: str | None = None, **options) -> None:
        self._add(name, text, receipt, "invalid", reason=reason, place=place, **options)

    def leave(self, name: str, text: str, receipt, reason: str, **options) -> None:
        """An undetermined case."""
        self._add(name, text, receipt, "undetermined", reason=reason, **options)

    def either(self, name: str, text: str, receipt, **options) -> None:
        options.setdefault("importance", "low")
        self._add(name, text, receipt, "either", **options)


def for_kinds(suite: suites.Suite, *names: str) -> list[Cases]:
    return [Cases(suite, BY_NAME[name]) for name in names or BY_NAME]


def moment(seconds: float) -> str:
    """The clock of a case, as an offset in seconds from the signing of the samples."""
    milliseconds = SIGNED + round(seconds * 1000)
    return instant(milliseconds) if milliseconds % 1000 else instant(milliseconds).replace(".000Z", "Z")
