# SPDX-License-Identifier: Apache-2.0
"""The keys of the suite. They are published, so that they protect nothing: never trust them outside a test.

Keys of elliptic curves are derived from their names; RSA keys, which cannot be, are in the folder keys.
"""

import functools
import hashlib
import pathlib

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "keys"
ORDER = {
    "secp256r1": 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    "secp384r1": int("F" * 48 + "C7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973", 16),
    "secp256k1": 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141,
}
CURVES = {"secp256r1": ec.SECP256R1, "secp384r1": ec.SECP384R1, "secp256k1": ec.SECP256K1}


def seed(name: str) -> bytes:
    return hashlib.sha256(b"receipt-conformance " + name.encode()).digest()


@functools.cache
def elliptic(name: str, curve: str = "secp256r1") -> ec.EllipticCurvePrivateKey:
    """The key of a name on a curve."""
    return ec.derive_private_key(int.from_bytes(seed(name), "big") % (ORDER[curve] - 1) + 1, CURVES[curve]())


@functools.cache
def rsa_key(name: str) -> rsa.RSAPrivateKey:
    """A key of the folder keys, whose name says what it is for: of 2,048 bits, but for short, of 1,024."""
    return serialization.load_pem_private_key((FOLDER / f"{name}.pem").read_bytes(), None)


@functools.cache
def ed25519_key(name: str) -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.from_private_bytes(seed(name))


def public(key) -> bytes:
    """SubjectPublicKeyInfo in DER."""
    return key.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


HASHES = {"sha1": hashes.SHA1, "sha256": hashes.SHA256, "sha384": hashes.SHA384, "sha512": hashes.SHA512, "md5": hashes.MD5}


def sign(key, data: bytes, digest: str = "sha256") -> bytes:
    """RSASSA-PKCS1-v1_5, or ECDSA in DER with the nonce of RFC 6979: the same key and data give the same bytes."""
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(data, padding.PKCS1v15(), HASHES[digest]())
    return key.sign(data, ec.ECDSA(HASHES[digest](), deterministic_signing=True))
