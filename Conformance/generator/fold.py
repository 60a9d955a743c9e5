# SPDX-License-Identifier: Apache-2.0
"""Receipts of the App Store with little in them, for the cases about what stands and about what follows from several."""

import base64
import functools
import hashlib
import uuid

from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

import der
import keys
import pki
from detached import changed, iso
from suite import b64, json_bytes

APP = "com.example.app"
MONTHLY, YEARLY, COINS = (f"{APP}.{name}" for name in ("monthly", "yearly", "coins"))
SUBSCRIPTION, CONSUMABLE = "Auto-Renewable Subscription", "Consumable"
NON_CONSUMABLE, NON_RENEWING = "Non-Consumable", "Non-Renewing Subscription"
ORIGINAL = "2000000001"
SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000
# Purchase, signature and end of the first period, in milliseconds since 1970.
PURCHASED, SIGNED, EXPIRES = pki.PURCHASED * 1000, pki.SIGNED * 1000, pki.EXPIRES * 1000


def arranged(order: str, news: list) -> list:
    """What arrives, in one of the orders in which it may."""
    orders = {
        "in-order": news, "reversed": news[::-1], "rotated": news[1:] + news[:1], "repeated": news + news[::-1],
    }  # fmt: skip
    return orders[order]


def url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@functools.cache
def signer(foreign: bool = False) -> pki.Authority:
    return pki.authority("ES256", foreign)


@functools.cache
def header(foreign: bool) -> str:
    return url(json_bytes({"alg": "ES256", "x5c": [b64(certificate) for certificate in signer(foreign).chain]}))


def jws(payload: dict, foreign: bool = False) -> str:
    """A JWS in compact serialization, signed under the root of the suite or under a foreign one."""
    text = f"{header(foreign)}.{url(json_bytes(payload))}"
    r, s = decode_dss_signature(keys.sign(signer(foreign).leaf.key, text.encode()))
    return f"{text}.{url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


def transaction(**changes) -> dict:
    """The payload of a signed transaction: the first period of a subscription."""
    members = {
        "originalTransactionId": ORIGINAL,
        "transactionId": ORIGINAL,
        "bundleId": APP,
        "productId": MONTHLY,
        "subscriptionGroupIdentifier": "20600001",
        "purchaseDate": PURCHASED,
        "originalPurchaseDate": PURCHASED,
        "expiresDate": EXPIRES,
        "quantity": 1,
        "type": SUBSCRIPTION,
        "inAppOwnershipType": "PURCHASED",
        "signedDate": SIGNED,
        "environment": "Production",
    }
    return changed(members, changes)


def single(kind: str, **changes) -> dict:
    """The payload of a transaction that is no renewing subscription."""
    return transaction(
        **({"type": kind, "productId": COINS, "subscriptionGroupIdentifier": None, "expiresDate": None} | changes)
    )


def renewal(**changes) -> dict:
    """The payload of signed renewal information."""
    members = {
        "originalTransactionId": ORIGINAL,
        "autoRenewProductId": MONTHLY,
        "productId": MONTHLY,
        "autoRenewStatus": 1,
        "signedDate": SIGNED,
        "environment": "Production",
        "renewalDate": EXPIRES,
    }
    return changed(members, changes)


def notification(
    kind: str, subtype: str | None = None, at: int = SIGNED, of: dict | None = None, renewal: dict | None = None,
    foreign: bool = False, foreign_parts: bool = False, name: str = "", **data,
) -> str:  # fmt: skip
    """A signed notification with its signed parts. Its number follows from what it says."""
    number = uuid.UUID(bytes=hashlib.sha256(f"{kind} {subtype} {at} {name}".encode()).digest()[:16], version=4)
    members = {
        "environment": "Production",
        "appAppleId": 1234567890,
        "bundleId": APP,
        "bundleVersion": "2.1",
        "signedTransactionInfo": jws(of, foreign_parts) if of else None,
        "signedRenewalInfo": jws(renewal, foreign_parts) if renewal else None,
    }
    payload = {
        "notificationType": kind,
        "subtype": subtype,
        "notificationUUID": str(number),
        "version": "2.0",
        "signedDate": at,
        "data": changed(members, data),
    }
    return jws({key: value for key, value in payload.items() if value is not None}, foreign)


# App receipts and transaction receipts


@functools.cache
def rsa_signer() -> pki.Authority:
    return pki.authority("RSA")


@functools.cache
def rsa_chain() -> tuple[bytes, ...]:
    return tuple(rsa_signer().chain)


def rsa_policy(**changes) -> dict:
    """A policy for both: transaction receipts do not embed the certificate of their issuer."""
    _, intermediate, root = rsa_chain()
    members = {
        "trust": [pki.pem(root)],
        "intermediates": [pki.pem(intermediate)],
        "bundleIds": [APP],
        "environments": ["production", "sandbox"],
    }
    return members | changes


def attribute(kind: int, value: bytes) -> bytes:
    return der.sequence(der.integer(kind), der.integer(1), der.octet_string(value))


def date(milliseconds: int) -> bytes:
    return der.ia5(iso(milliseconds)[:19] + "Z")


def in_app(number: str = ORIGINAL, product: str = MONTHLY, purchased: int = PURCHASED, **changes) -> bytes:
    """A purchase of an app receipt: expires and cancelled in milliseconds, line_item and product_type as numbers,
    original as a text, empty as a list of attributes."""
    parts = [
        attribute(1701, der.integer(1)),
        attribute(1702, der.utf8(product)),
        attribute(1703, der.utf8(number)),
        attribute(1704, date(purchased)),
        attribute(1705, der.utf8(changes.get("original", number))),
        attribute(1706, date(PURCHASED)),
    ]
    for kind, name in ((1708, "expires"), (1712, "cancelled")):
        if name in changes:
            parts.append(attribute(kind, date(changes[name])))
    for kind, name in ((1711, "line_item"), (1707, "product_type")):
        if name in changes:
            parts.append(attribute(kind, der.integer(changes[name])))
    # Dates that do not apply are empty texts in many receipts.
    parts += [attribute(kind, der.ia5("")) for kind in changes.get("empty", ())]
    return der.set_of(*parts)


def app_receipt(
    *purchases: bytes, created: int = SIGNED, expires: int | None = None, foreign: bool = False,
    environment: str | None = "Production",
) -> bytes:  # fmt: skip
    """An app receipt: signed data (RFC 5652) of a set of attributes, without signed attributes."""
    parts = [
        *([] if environment is None else [attribute(0, der.utf8(environment))]),
        attribute(1, der.integer(1234567890)),
        attribute(2, der.utf8(APP)),
        attribute(3, der.utf8("2.1")),
        attribute(12, date(created)),
        *(attribute(17, purchase) for purchase in purchases),
    ]
    if expires is not None:
        parts.append(attribute(21, date(expires)))
    content = der.set_of(*parts)
    leaf, data = rsa_signer().leaf, "1.2.840.113549.1.7.1"
    digest = der.sequence(der.oid("2.16.840.1.101.3.4.2.1"), der.null())
    key = keys.rsa_key("foreign") if foreign else leaf.key
    signer_info = der.sequence(
        der.integer(1),
        der.sequence(leaf.issuer, der.integer(leaf.serial)),
        digest,
        der.sequence(der.oid("1.2.840.113549.1.1.1"), der.null()),
        der.octet_string(keys.sign(key, content)),
    )
    signed = der.sequence(
        der.integer(1),
        der.set_of(digest),
        der.sequence(der.oid(data), der.context(0, der.octet_string(content))),
        der.context(0, b"".join(rsa_chain())),
        der.set_of(signer_info),
    )
    return der.sequence(der.oid("1.2.840.113549.1.7.2"), der.context(0, signed))


def property_list(entries: dict) -> bytes:
    return ("{\n" + "".join(f'\t"{name}" = "{value}";\n' for name, value in entries.items()) + "}").encode()


def transaction_receipt(product: str = COINS, **entries) -> bytes:
    """A transaction receipt of version 4, which is signed with SHA-256."""
    information = {
        "original-transaction-id": "1000000001",
        "transaction-id": "1000000001",
        "quantity": "1",
        "bvrs": "2.1",
        "product-id": product,
        "purchase-date-ms": PURCHASED,
        "original-purchase-date-ms": PURCHASED,
        "bid": APP,
    }
    inner = property_list(changed(information, {name.replace("_", "-"): value for name, value in entries.items()}))
    leaf = rsa_chain()[0]
    blob = b"\x04" + keys.sign(rsa_signer().leaf.key, b"\x04" + inner) + len(leaf).to_bytes(4, "big") + leaf
    return property_list(
        {"signature": b64(blob), "purchase-info": b64(inner), "environment": "Sandbox", "pod": "100", "signing-status": "0"}
    )
