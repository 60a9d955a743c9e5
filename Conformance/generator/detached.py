# SPDX-License-Identifier: Apache-2.0
"""Purchases of Google Play and of Huawei AppGallery: data, and an RSA signature of its exact bytes beside it."""

import base64
import datetime
import hashlib
import json

import keys
import pki
from suite import b64, json_bytes

APP, OTHER_APP = "com.example.app", "com.example.other"
PURCHASED = pki.PURCHASED * 1000
TOKEN = "abcdefghijklmnopqrstuvwx.AO-J1OzExampleTokenOfATestPurchase"
ORDER = "GPA.1234-5678-9012-34567"
HUAWEI_ORDER = "20251001150910000example.100000001"
HUAWEI_TOKEN = "0000019example.1.100000001"
# What EMSA-PKCS1-v1_5 puts before a digest (RFC 8017 9.2, note 1).
DIGEST_PREFIXES = {
    "sha1": bytes.fromhex("3021300906052b0e03021a05000414"),
    "sha256": bytes.fromhex("3031300d060960864801650304020105000420"),
}


def changed(members: dict, changes: dict) -> dict:
    """The members with others in place of some, and others at the end. `None` removes one."""
    result = {name: changes.get(name, value) for name, value in members.items()}
    result.update({name: value for name, value in changes.items() if name not in members})
    return {name: value for name, value in result.items() if value is not None}


def play(**changes) -> dict:
    """A purchase, with the members in Google's order."""
    members = {
        "orderId": ORDER,
        "packageName": APP,
        "productId": "com.example.app.coins",
        "purchaseTime": PURCHASED,
        "purchaseState": 0,
        "purchaseToken": TOKEN,
        "quantity": 1,
        "acknowledged": False,
    }
    return changed(members, changes)


def order(**changes) -> dict:
    """An order of a list of orders, as Google Play signed them from 2011 to 2014."""
    members = {
        "notificationId": "android.test.notification",
        "orderId": ORDER,
        "packageName": APP,
        "productId": "com.example.app.coins",
        "purchaseTime": PURCHASED,
        "purchaseState": 0,
    }
    return changed(members, changes)


def orders(*list_of_orders: dict, nonce: int = -8_765_432_109_876_543_210) -> dict:
    return {"nonce": nonce, "orders": list(list_of_orders) or [order()]}


def huawei(**changes) -> dict:
    """A subscription, made in the sandbox, with the members in Huawei's order."""
    members = {
        "autoRenewing": True,
        "orderId": HUAWEI_ORDER,
        "packageName": APP,
        "applicationId": 100000001,
        "kind": 2,
        "productId": "com.example.app.monthly",
        "productName": "Monat für 訂閱",
        "purchaseTime": PURCHASED,
        "purchaseState": 0,
        "developerPayload": "",
        "purchaseToken": HUAWEI_TOKEN,
        "purchaseType": 0,
        "currency": "CHF",
        "price": 299,
        "country": "CH",
        "quantity": 1,
        "oriPurchaseTime": PURCHASED,
        "subscriptionId": "sub-1",
        "expirationDate": pki.EXPIRES * 1000,
        "subIsvalid": True,
    }
    return changed(members, changes)


def license_text(
    code: object = 0, nonce: object = 1_234_567_890, package: str = APP, version: object = 42,
    user: str = "ANlOHQOShF3uJUwv3Ql+fbsgEG9FD35Hag==", timestamp: object = pki.SIGNED * 1000, extras: str | None = None,
) -> str:  # fmt: skip
    """The answer of Google Play's licensing service."""
    fields = "|".join(str(field) for field in (code, nonce, package, version, user, timestamp))
    return fields if extras is None else f"{fields}:{extras}"


def encoded(data: dict | str | bytes) -> bytes:
    if isinstance(data, dict):
        return json_bytes(data)
    return data.encode() if isinstance(data, str) else data


def rsa(key, data: bytes, digest: str = "sha1") -> bytes:
    return keys.sign(key, data, digest)


def raw(key, block: bytes) -> bytes:
    """The signature whose representative is a block, whatever the block holds."""
    numbers = key.private_numbers()
    modulus = numbers.public_numbers.n
    return pow(int.from_bytes(block, "big"), numbers.d, modulus).to_bytes((modulus.bit_length() + 7) // 8, "big")


def padded(content: bytes, size: int = 256, kind: int = 1, filler: int = 0xFF) -> bytes:
    """The block of PKCS #1 v1.5 with such content."""
    return bytes([0, kind]) + bytes([filler]) * (size - 3 - len(content)) + b"\x00" + content


def mask(seed: bytes, count: int, digest: str) -> bytes:
    """MGF1 (RFC 8017 B.2.1)."""
    result = b""
    for counter in range(count // hashlib.new(digest).digest_size + 1):
        result += hashlib.new(digest, seed + counter.to_bytes(4, "big")).digest()
    return result[:count]


def pss(
    key, data: bytes, digest: str = "sha256", mask_digest: str = "sha256", salt: bytes = b"receipt conformance, fixed salt!",
    trailer: int = 0xBC,
) -> bytes:  # fmt: skip
    """RSASSA-PSS (RFC 8017 9.1.1) with a salt that is always the same, so that the suite is."""
    size = (key.key_size + 7) // 8
    inner = hashlib.new(digest, bytes(8) + hashlib.new(digest, data).digest() + salt).digest()
    count = size - len(inner) - 1
    block = bytes(count - len(salt) - 1) + b"\x01" + salt
    masked = bytearray(a ^ b for a, b in zip(block, mask(inner, count, mask_digest)))
    masked[0] &= 0x7F
    return raw(key, bytes(masked) + inner + bytes([trailer]))


def envelope(data: bytes, signature: bytes | str, algorithm: object = None) -> dict:
    """The input of a case: data and signature in one JSON object."""
    text = signature if isinstance(signature, str) else b64(signature)
    members = {"data": data.decode(), "signature": text}
    if algorithm is not None:
        members["signatureAlgorithm"] = algorithm
    return {"receipt": b64(json_bytes(members))}


def signed(data: dict | str | bytes, key: str = "app", digest: str = "sha1", algorithm: object = None) -> dict:
    """The input of a case with genuine data."""
    content = encoded(data)
    return envelope(content, rsa(keys.rsa_key(key), content, digest), algorithm)


def raw_text(text: bytes) -> dict:
    """The input of a case that is such bytes."""
    return {"receipt": b64(text)}


def key_text(name: str) -> str:
    """A public key as the stores' consoles show it."""
    return base64.b64encode(keys.public(keys.rsa_key(name))).decode()


def app_key(name: str = "app", package: str = APP) -> dict:
    return {"package": package, "key": key_text(name)}


def policy(store: str, **changes) -> dict:
    """The policy of most cases: the key of one app at one store, production and sandbox."""
    members = {"bundleIds": [APP], "environments": ["production", "sandbox"], f"{store}Keys": [app_key()]}
    members.update(changes)
    return {name: value for name, value in members.items() if value is not None}


def iso(milliseconds: int) -> str:
    """An instant as the suite writes it."""
    instant = datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=milliseconds)
    return instant.strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03d}Z"


def defined(**members) -> dict:
    return {name: value for name, value in members.items() if value is not None}


def play_transactions(purchase: dict) -> list[dict]:
    """What a verifier reports of a purchase that is paid for: a transaction for each product."""
    products = list(dict.fromkeys([purchase.get("productId"), *purchase.get("productIds", [])]))
    products = [product for product in products if product] or [None]
    time = purchase.get("purchaseTime")
    return [
        defined(
            transactionId=purchase.get("orderId") or None, productId=product, quantity=purchase.get("quantity"),
            purchaseDate=None if time is None else iso(time), purchaseToken=purchase.get("purchaseToken"),
        )
        for product in products
    ]  # fmt: skip


def is_paid(purchase: dict) -> bool:
    return purchase.get("purchaseState", 0) == 0


def play_values(content: dict, package: str = APP) -> dict:
    """What a verifier reports of a purchase or a list of orders."""
    purchases = content.get("orders", [content])
    times = [purchase["purchaseTime"] for purchase in purchases if "purchaseTime" in purchase]
    return defined(
        bundleId=package, signedAt=iso(max(times)) if times else None, algorithm="RSA-SHA1",
        transactions=[item for purchase in purchases if is_paid(purchase) for item in play_transactions(purchase)],
    )  # fmt: skip


def license_values(code: int = 0, timestamp: int = pki.SIGNED * 1000, valid_until: int | None = None) -> dict:
    return {
        "bundleId": APP,
        "signedAt": iso(timestamp),
        "algorithm": "RSA-SHA1",
        "transactions": [],
        "license": defined(
            responseCode=code, isLicensed=code in (0, 2), validUntil=None if valid_until is None else iso(valid_until)
        ),
    }


def huawei_values(purchase: dict, algorithm: str = "RSA-SHA256") -> dict:
    time = purchase.get("purchaseTime", purchase.get("purchaseTimeMillis"))

    def date(name: str) -> str | None:
        return None if name not in purchase else iso(purchase[name])

    transaction = defined(
        transactionId=purchase.get("orderId"), productId=purchase.get("productId"),
        originalTransactionId=purchase.get("oriSubscriptionId", purchase.get("subscriptionId")),
        quantity=purchase.get("quantity"), purchaseDate=None if time is None else iso(time),
        originalPurchaseDate=date("oriPurchaseTime"), expiresDate=date("expirationDate"),
        purchaseToken=purchase.get("purchaseToken"),
    )  # fmt: skip
    environments = {None: "production", 0: "sandbox", 1: "production"}
    return defined(
        environment=environments.get(purchase.get("purchaseType")), bundleId=purchase["packageName"],
        signedAt=None if time is None else iso(time), algorithm=algorithm,
        transactions=[transaction] if is_paid(purchase) else [],
    )  # fmt: skip


def pretty(data: dict) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False)
