# SPDX-License-Identifier: Apache-2.0
"""Compact JWS as the App Store signs it: ES256, header with `alg` and a three-certificate `x5c` (RFC 7515)."""

import base64
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from .pki import Identity

# The order of P-256's group.
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def raw_signature(signer: Identity, message: bytes, size: int = 32, digest=hashes.SHA256) -> bytes:
    r, s = decode_dss_signature(signer.key.sign(message, ec.ECDSA(digest())))
    return r.to_bytes(size, "big") + s.to_bytes(size, "big")


def header(signer: Identity, chain: list[bytes] | None = None, **fields) -> dict:
    chain = signer.full_chain if chain is None else chain
    return {"alg": "ES256", "x5c": [base64.b64encode(c).decode() for c in chain]} | fields


def sign(
    payload: dict | bytes,
    signer: Identity,
    *,
    chain: list[bytes] | None = None,
    header_bytes: bytes | None = None,
    make_signature=raw_signature,
    **fields,
) -> str:
    """A JWS. `fields` are added to the header; `make_signature(signer, signing_input)` makes another signature."""
    if header_bytes is None:
        header_bytes = json.dumps(header(signer, chain, **fields)).encode()
    if not isinstance(payload, bytes):
        payload = json.dumps(payload).encode()
    signing_input = f"{base64url(header_bytes)}.{base64url(payload)}"
    return f"{signing_input}.{base64url(make_signature(signer, signing_input.encode()))}"
