# SPDX-License-Identifier: Apache-2.0
"""App receipts: CMS SignedData (RFC 5652) around a set of attributes."""

import hashlib

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from . import der
from .pki import Identity

DATA = "1.2.840.113549.1.7.1"
SIGNED_DATA = "1.2.840.113549.1.7.2"
CONTENT_TYPE = "1.2.840.113549.1.9.3"
MESSAGE_DIGEST = "1.2.840.113549.1.9.4"
RSA = "1.2.840.113549.1.1.1"
DIGESTS = {"sha1": ("1.3.14.3.2.26", hashes.SHA1), "sha256": ("2.16.840.1.101.3.4.2.1", hashes.SHA256)}

DEVICE = bytes.fromhex("00112233445566778899aabbccddeeff")
OPAQUE = bytes(range(16))


def attribute(kind: int, value: bytes, version: int = 1) -> bytes:
    return der.sequence(der.integer(kind), der.integer(version), der.octets(value))


def in_app(
    transaction: str = "1000000000000101",
    original: str = "1000000000000100",
    product: str = "com.example.app.gems",
    quantity: int = 1,
    purchased: str = "2025-03-01T10:00:00Z",
    first_purchased: str = "2025-02-01T10:00:00Z",
    expires: str | None = None,
    cancelled: str | None = None,
    extra: tuple[bytes, ...] = (),
) -> bytes:
    return der.set_of(
        attribute(1701, der.integer(quantity)),
        attribute(1702, der.utf8(product)),
        attribute(1703, der.utf8(transaction)),
        attribute(1705, der.utf8(original)),
        attribute(1704, der.ia5(purchased)),
        attribute(1706, der.ia5(first_purchased)),
        attribute(1708, der.ia5(expires or "")),
        attribute(1712, der.ia5(cancelled or "")),
        attribute(1709, der.utf8("")),
        attribute(1722, der.integer(7)),
        *extra,
    )


def payload(
    *purchases: bytes,
    bundle: str = "com.example.app",
    environment: str = "Production",
    created: str = "2025-03-01T10:00:05Z",
    app_id: int = 1234567890,
    device: bytes | None = DEVICE,
    extra: tuple[bytes, ...] = (),
    sort: bool = True,
) -> bytes:
    bundle_value = der.utf8(bundle)
    attributes = [
        attribute(0, der.utf8(environment)),
        attribute(1, der.integer(app_id)),
        attribute(2, bundle_value),
        attribute(3, der.utf8("2.1")),
        attribute(4, OPAQUE, version=2),
        attribute(8, der.ia5(created)),
        attribute(12, der.ia5(created)),
        attribute(19, der.utf8("1.0")),
        attribute(6, b"\xde\xad\xbe\xef"),
        *(attribute(17, purchase) for purchase in purchases),
        *extra,
    ]
    if device is not None:
        attributes.append(attribute(5, hashlib.sha1(device + OPAQUE + bundle_value).digest()))
    return der.set_of(*attributes, sort=sort)


def signed_attributes(content: bytes, digest: str, content_type: str = DATA) -> list[bytes]:
    return [
        der.sequence(der.oid(CONTENT_TYPE), der.set_of(der.oid(content_type))),
        der.sequence(
            der.oid(MESSAGE_DIGEST), der.set_of(der.octets(hashlib.new(digest, content).digest()))
        ),
    ]


def signer_info(
    signer: Identity,
    content: bytes,
    *,
    digest: str = "sha256",
    attributes: list[bytes] | None = None,
    named: Identity | None = None,
    signature: bytes | None = None,
) -> bytes:
    """A signerInfo over `content`, or over signed `attributes`; `named` is the certificate it points at."""
    oid, algorithm = DIGESTS[digest]
    message = content if attributes is None else der.set_of(*attributes)
    if signature is None:
        signature = signer.key.sign(message, padding.PKCS1v15(), algorithm())
    certificate = (named or signer).certificate
    digest_algorithm = der.sequence(der.oid(oid), der.null())
    return der.sequence(
        der.integer(1),
        der.sequence(certificate.issuer.public_bytes(), der.integer(certificate.serial_number)),
        digest_algorithm,
        b"" if attributes is None else der.context(0, *sorted(attributes)),
        der.sequence(der.oid(RSA), der.null()),
        der.octets(signature),
    )


def container(
    content: bytes, certificates: list[bytes], signer_infos: list[bytes], digest: str = "sha256"
) -> bytes:
    return der.sequence(
        der.oid(SIGNED_DATA),
        der.context(
            0,
            der.sequence(
                der.integer(1),
                der.set_of(der.sequence(der.oid(DIGESTS[digest][0]), der.null())),
                der.sequence(der.oid(DATA), der.context(0, der.octets(content))),
                der.context(0, *certificates),
                der.set_of(*signer_infos),
            ),
        ),
    )


def indefinite_container(
    content: bytes, certificates: list[bytes], signer_infos: list[bytes], digest: str = "sha256"
) -> bytes:
    """Xcode's encoding: BER, indefinite lengths, the content in a constructed octet string of two parts."""
    half = len(content) // 2
    pieces = [der.octets(content[:half]), der.octets(content[half:])]
    return der.indefinite(
        0x30,
        der.oid(SIGNED_DATA),
        der.indefinite(
            0xA0,
            der.indefinite(
                0x30,
                der.integer(1),
                der.set_of(der.sequence(der.oid(DIGESTS[digest][0]), der.null())),
                der.indefinite(
                    0x30, der.oid(DATA), der.indefinite(0xA0, der.indefinite(0x24, *pieces))
                ),
                der.context(0, *certificates),
                der.set_of(*signer_infos),
            ),
        ),
    )


def sign(
    content: bytes, signer: Identity, *, digest: str = "sha256", attributes: bool = False, ber: bool = False
) -> bytes:
    """A receipt like the App Store's: the whole chain, one signerInfo, no signed attributes."""
    signed = signed_attributes(content, digest) if attributes else None
    write = indefinite_container if ber else container
    return write(
        content,
        signer.full_chain,
        [signer_info(signer, content, digest=digest, attributes=signed)],
        digest,
    )
