# SPDX-License-Identifier: Apache-2.0
"""Verifies signed entitlements (JSON Web Tokens with ES256) without asking the server. Needs `receiptkit-client[signatures]`.

    token = client.get_customer_entitlements_signed(customer)          # in the backend
    signed = entitlements.verify(token, key_set, app="shop", customer=customer)
    if signed.grants("premium"):
        ...
"""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ._codec import Unreadable, parse
from ._models import Access, KeySet

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, utils
except ImportError as error:
    raise ImportError('Signed entitlements need the package cryptography: pip install "receiptkit-client[signatures]"') from error

__all__ = ["CachedKeys", "SignedEntitlements", "TokenRefused", "verify"]

_MAXIMUM_LENGTH = 1 << 18


class TokenRefused(Exception):
    """A token is not accepted. `code` says why: `malformed`, `unsupported`, `unknown-key`, `bad-signature`, `wrong-app`,
    `wrong-customer`, `expired` or `issued-in-future`.
    """

    def __init__(self, code: str, message: str):
        super().__init__(f"{code}: {message}")
        self.code = code


@dataclass(frozen=True)
class SignedEntitlements:
    """What a verified token says."""

    app: str
    """The app, by its name in the configuration of the server."""
    customer: str
    """The customer."""
    issued: datetime
    """When it was signed."""
    expires: datetime
    """When its life ends."""
    access: Sequence[Access]
    """The named entitlements of the customer."""

    def grants(self, name: str, *, now: datetime | None = None) -> bool:
        """Returns `True` if the customer has the named entitlement now, as far as the token tells: until the paid period ends, or
        the life of the token, whichever comes first.
        """
        now = now or datetime.now(UTC)
        if now >= self.expires:
            return False
        return any(
            each.name == name and each.standing == "active" and each.grants_access and (each.until is None or now < each.until)
            for each in self.access
        )


def _decoded(part: str) -> bytes:
    try:
        return base64.b64decode(part.encode("ascii") + b"=" * (-len(part) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        pass
    raise TokenRefused("malformed", "A part of it is not base64url.")


def _object(part: str) -> dict[str, Any]:
    try:
        value = parse(_decoded(part))
    except Unreadable:
        value = None
    if not isinstance(value, dict):
        raise TokenRefused("malformed", "A part of it is no JSON object.")
    return value


def _instant(claims: dict[str, Any], name: str) -> datetime:
    value = claims.get(name)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 253_402_300_800:
        return datetime.fromtimestamp(value, UTC)
    raise TokenRefused("malformed", f"The claim {name} is missing, or of the wrong type.")


def verify(
    token: str, keys: KeySet, *, app: str, customer: str, now: datetime | None = None, clock_skew: float = 60
) -> SignedEntitlements:
    """Verifies a token: its type and signature, its app, its customer and its life.

    Args:
        token: The token, as the server answered it.
        keys: The keys of the server: `client.get_key_set(app)`.
        app: The app, by its name in the configuration of the server.
        customer: The customer who uses the app. A token about another one is refused.
        now: The time; by default the clock's.
        clock_skew: The allowed difference between the clocks, in seconds.

    Raises:
        TokenRefused: The token is not accepted.
    """
    parts = token.strip().split(".")
    if len(parts) != 3 or len(token) > _MAXIMUM_LENGTH:
        raise TokenRefused("malformed", "It is no JSON Web Token.")
    header = _object(parts[0])
    # The token must not choose the algorithm, and no other token of the same key may pass for this one.
    if (header.get("alg"), header.get("typ")) != ("ES256", "entitlements+jwt") or "crit" in header:
        raise TokenRefused("unsupported", "It must have alg ES256 and typ entitlements+jwt, and no crit.")
    found = [key for key in keys.keys if key.kid == header.get("kid") and (key.kty, key.crv) == ("EC", "P-256")]
    if not found:
        raise TokenRefused("unknown-key", "The key set has no such key; fetch it again.")
    signature = _decoded(parts[2])
    if len(signature) != 64 or not _is_signature(signature, ".".join(parts[:2]).encode(), found[0].x, found[0].y):
        raise TokenRefused("bad-signature", "The signature is not that of the key.")
    claims = _object(parts[1])
    issued, expires = _instant(claims, "iat"), _instant(claims, "exp")
    named = claims.get("entitlements")
    if not isinstance(named, list):
        raise TokenRefused("malformed", "The claim entitlements is missing, or of the wrong type.")
    problem = ""
    access: tuple[Access, ...] = ()
    try:
        access = tuple(Access.from_json(each) for each in named)
    except Unreadable as error:
        problem = str(error)
    if problem:
        raise TokenRefused("malformed", f"In the claim entitlements: {problem}")
    if claims.get("aud") != app:
        raise TokenRefused("wrong-app", "It is about another app.")
    stated = claims.get("sub")
    if not isinstance(stated, str) or _canonical(stated) != _canonical(customer):
        raise TokenRefused("wrong-customer", "It is about another customer.")
    instant = (now or datetime.now(UTC)).timestamp()
    if instant >= expires.timestamp() + clock_skew:
        raise TokenRefused("expired", "Its life has ended; ask the server again.")
    if issued.timestamp() > instant + clock_skew:
        raise TokenRefused("issued-in-future", "It was issued in the future.")
    return SignedEntitlements(app, stated, issued, expires, access)


def _canonical(customer: str) -> str:
    """A UUID in lower case, as the App Store writes it; any other customer as it is."""
    is_uuid = len(customer) == 36 and [len(part) for part in customer.split("-")] == [8, 4, 4, 4, 12]
    is_uuid = is_uuid and all(each in "0123456789abcdefABCDEF-" for each in customer)
    return customer.lower() if is_uuid else customer


def _is_signature(signature: bytes, content: bytes, x: str, y: str) -> bool:
    pair = utils.encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    try:
        point = ec.EllipticCurvePublicNumbers(
            int.from_bytes(_decoded(x), "big"), int.from_bytes(_decoded(y), "big"), ec.SECP256R1()
        )
        point.public_key().verify(pair, content, ec.ECDSA(hashes.SHA256()))
    except (InvalidSignature, ValueError):
        return False
    return True


class CachedKeys:
    """The keys of an app, fetched when they are needed and kept for five minutes.

    keys = CachedKeys(lambda: client.get_key_set("shop"))
    signed = keys.verify(token, app="shop", customer=customer)
    """

    def __init__(self, fetch: Callable[[], KeySet], *, lifetime: float = 300):
        self._fetch, self._lifetime = fetch, lifetime
        self._held: tuple[float, KeySet] | None = None

    def verify(self, token: str, *, app: str, customer: str, now: datetime | None = None) -> SignedEntitlements:
        """As the function `verify`. A key that is not known is looked for once more, at most every ten seconds."""
        held = self._held
        if held is None or time.monotonic() - held[0] > self._lifetime:
            held = self._fresh()
        try:
            return verify(token, held[1], app=app, customer=customer, now=now)
        except TokenRefused as refusal:
            if refusal.code != "unknown-key" or time.monotonic() - held[0] < 10:
                raise
        return verify(token, self._fresh()[1], app=app, customer=customer, now=now)

    def _fresh(self) -> tuple[float, KeySet]:
        self._held = held = (time.monotonic(), self._fetch())
        return held
