# SPDX-License-Identifier: Apache-2.0
"""usage: verify_entitlements.py KEY-SET APP CUSTOMER NAME < TOKEN

Verifies signed entitlements of receipt-server without asking it, and prints whether the customer has the one of a name.
"""

import base64
import datetime
import json
import pathlib
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils


class Refused(Exception):
    """The token is not accepted."""


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def number(part: str) -> int:
    return int.from_bytes(decoded(part), "big")


def verified(token: str, key_set: dict, app: str, customer: str, now: float) -> list[dict]:
    """The entitlements that a token states, if it is genuine, about this customer of this app, and still alive."""
    header, claims, signature = token.split(".")
    stated = json.loads(decoded(header))
    # The token must not choose the algorithm, and no other token of the same key may pass for this one.
    if (stated["alg"], stated["typ"]) != ("ES256", "entitlements+jwt") or "crit" in stated:
        raise Refused("it is a token of another type")
    keys = [key for key in key_set["keys"] if key["kid"] == stated["kid"] and key["crv"] == "P-256"]
    if not keys:
        raise Refused("the key set has no such key; fetch it again")
    point = ec.EllipticCurvePublicNumbers(number(keys[0]["x"]), number(keys[0]["y"]), ec.SECP256R1())
    raw = decoded(signature)
    if len(raw) != 64:
        raise Refused("the signature has not 64 bytes")
    pair = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    try:
        point.public_key().verify(pair, f"{header}.{claims}".encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise Refused("the signature is not that of the key") from None
    told = json.loads(decoded(claims))
    if (told["aud"], told["sub"]) != (app, customer):
        raise Refused("it is about another app or customer")
    if not told["iat"] - 60 <= now < told["exp"] + 60:
        raise Refused("it is not of this time; ask the server again")
    return told["entitlements"]


def has(entitlements: list[dict], name: str, now: float) -> bool:
    """Whether an entitlement gives access now: a paid period may have ended since the token was signed."""
    for entitlement in entitlements:
        if entitlement["name"] == name and entitlement["standing"] == "active":
            end = entitlement.get("until")
            return end is None or now < datetime.datetime.fromisoformat(end).timestamp()
    return False


if __name__ == "__main__":
    file, app, customer, name = sys.argv[1:]
    now = datetime.datetime.now(datetime.UTC).timestamp()
    key_set = json.loads(pathlib.Path(file).read_text())
    try:
        entitlements = verified(sys.stdin.read().strip(), key_set, app, customer, now)
    except Refused as refusal:
        sys.exit(f"refused: {refusal}")
    print("yes" if has(entitlements, name, now) else "no")
