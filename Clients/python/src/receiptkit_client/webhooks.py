# SPDX-License-Identifier: Apache-2.0
"""Checks the signatures of webhooks (https://www.standardwebhooks.com), with nothing but the standard library.

    def receive(body: bytes, headers: Mapping[str, str]) -> int:
        try:
            webhook = webhooks.verify(body, headers, secret)
        except webhooks.WebhookRefused:
            return 400
        ...  # once for each webhook.id, in the commit that does the work
        return 204
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ._codec import Unreadable, parse
from ._models import Change

__all__ = ["Webhook", "WebhookRefused", "verify"]


class WebhookRefused(Exception):
    """A request is no webhook that was signed with the secret, or is too old. Answer it with 400."""


@dataclass(frozen=True)
class Webhook:
    """A webhook whose signature is right."""

    id: str
    """Identifies the change, however often it is delivered: act on it once."""
    timestamp: int
    """When it was sent, in seconds since 1970."""
    change: Change
    """What changed. Act on `data.access`, not on the type of the change."""


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < 16:
        raise ValueError("A secret of webhooks is whsec_ and at least 16 bytes in base64, as in the configuration of the server.") from None
    return key


def verify(
    body: bytes, headers: Mapping[str, str], secrets: str | Sequence[str], *, tolerance: float = 300, now: float | None = None
) -> Webhook:
    """Checks the signature of a request before anything in it is believed, and reads it.

    Args:
        body: The body of the request, exactly as it arrived.
        headers: Its headers, in any case.
        secrets: The secret, `whsec_…`, or several while one is replaced.
        tolerance: The greatest difference between the time of sending and now, in seconds: older ones may be repeated by others.
        now: The time, in seconds since 1970; by default the clock's.

    Raises:
        WebhookRefused: The signature is not right, or the request is too old.
    """
    keys = [_key(each) for each in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("At least one secret is needed.")
    found = {name.lower(): value for name, value in headers.items()}
    identifier, sent, signatures = (found.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not identifier or not signatures or not (sent.isascii() and sent.isdecimal()) or len(sent) > 12:
        raise WebhookRefused("The request has no webhook-id, webhook-timestamp and webhook-signature.")
    signed = f"{identifier}.{sent}.".encode() + body
    expected = [base64.b64encode(hmac.digest(key, signed, hashlib.sha256)) for key in keys]
    # Each is compared, in a time that does not depend on where they differ.
    results = [
        hmac.compare_digest(signature.partition(",")[2].encode(), each)
        for signature in signatures.split()[:16]
        if signature.startswith("v1,")
        for each in expected
    ]
    if not any(results):
        raise WebhookRefused("The signature is not that of the secret.")
    if abs((time.time() if now is None else now) - int(sent)) > tolerance:
        raise WebhookRefused("The request was sent too long ago, or one of the clocks is wrong.")
    problem = ""
    try:
        return Webhook(identifier, int(sent), Change.from_json(parse(body)))
    except Unreadable as error:
        problem = str(error)
    raise WebhookRefused(f"The content is not what the API says: {problem}")
