# SPDX-License-Identifier: Apache-2.0
"""Certificates: a store's root, intermediate and leaf like Apple's, and flawed ones of every kind."""

import datetime
from dataclasses import dataclass, field

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

RECEIPT_LEAF = "1.2.840.113635.100.6.11.1"
RECEIPT_INTERMEDIATE = "1.2.840.113635.100.6.2.1"
OLD_RECEIPT_LEAF = "1.2.840.113635.100.6.5.1"
OLD_RECEIPT_INTERMEDIATE = "1.2.840.113635.100.6.2.2"
DEVELOPER_LEAF = "1.2.840.113635.100.6.1.4"

NOT_BEFORE = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
NOT_AFTER = datetime.datetime(2025, 6, 1, tzinfo=datetime.timezone.utc)
CENTURY = (
    datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc),
    datetime.datetime(2099, 1, 1, tzinfo=datetime.timezone.utc),
)


def make_key(kind: str):
    """A private key: "p256", "p384", "rsa1024" or "rsa2048"."""
    match kind:
        case "p256":
            return ec.generate_private_key(ec.SECP256R1())
        case "p384":
            return ec.generate_private_key(ec.SECP384R1())
        case "rsa1024" | "rsa2048":
            return rsa.generate_private_key(65537, int(kind[3:]))
    raise ValueError(kind)


@dataclass
class Identity:
    """A key with its certificate; `chain` holds the certificates above it, root last."""

    key: object
    certificate: x509.Certificate
    chain: list[x509.Certificate] = field(default_factory=list)

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.DER)

    @property
    def full_chain(self) -> list[bytes]:
        return [self.der, *(c.public_bytes(serialization.Encoding.DER) for c in self.chain)]

    @property
    def sha256(self) -> str:
        return self.certificate.fingerprint(hashes.SHA256()).hex()

    def issue(self, name: str, kind: str = "p256", **options) -> "Identity":
        """A certificate under this one; see `certificate` for the options."""
        key = options.pop("key", None) or make_key(kind)
        issued = certificate(name, key.public_key(), issuer=self, **options)
        return Identity(key, issued, [self.certificate, *self.chain])


def distinguished_name(common_name: str) -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Independent Store"),
        ]
    )


def certificate(
    name: str,
    public_key,
    *,
    issuer: Identity | None = None,
    issuer_key=None,
    ca: bool = False,
    path_length: int | None = None,
    markers: tuple[str, ...] = (),
    validity: tuple[datetime.datetime, datetime.datetime] = (NOT_BEFORE, NOT_AFTER),
    sign_certificates: bool | None = None,
    serial: int | None = None,
) -> x509.Certificate:
    subject = distinguished_name(name)
    signing_key = issuer_key or (issuer.key if issuer else None)
    sign_certificates = ca if sign_certificates is None else sign_certificates
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(public_key)
        .serial_number(serial or x509.random_serial_number())
        .not_valid_before(validity[0])
        .not_valid_after(validity[1])
        .add_extension(x509.BasicConstraints(ca=ca, path_length=path_length), critical=True)
        .add_extension(
            x509.KeyUsage(
                digital_signature=not sign_certificates,
                key_cert_sign=sign_certificates,
                crl_sign=sign_certificates,
                content_commitment=False,
                key_encipherment=False,
                data_encipherment=False,
                key_agreement=False,
                encipher_only=False,
                decipher_only=False,
            ),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key()), critical=False
        )
    )
    for marker in markers:
        builder = builder.add_extension(
            x509.UnrecognizedExtension(x509.ObjectIdentifier(marker), b"\x05\x00"), critical=False
        )
    return builder.sign(signing_key, hashes.SHA256())


def self_signed(name: str, kind: str = "p384", *, ca: bool = True, **options) -> Identity:
    key = options.pop("key", None) or make_key(kind)
    options.setdefault("validity", CENTURY)
    made = certificate(name, key.public_key(), issuer_key=key, ca=ca, **options)
    return Identity(key, made)


class Store:
    """A root with one intermediate, and a leaf for each kind of key, made when first asked for."""

    def __init__(self, name: str = "Independent Root", key: str = "p384"):
        self.root = self_signed(name, key)
        self.intermediate = self.root.issue(
            "Independent Intermediate",
            key,
            ca=True,
            path_length=0,
            markers=(RECEIPT_INTERMEDIATE,),
            validity=CENTURY,
        )
        self._leaves: dict[str, Identity] = {}

    def leaf(self, kind: str = "p256") -> Identity:
        if kind not in self._leaves:
            self._leaves[kind] = self.intermediate.issue(f"Receipt Signing {kind}", kind, markers=(RECEIPT_LEAF,))
        return self._leaves[kind]

    @property
    def old_leaf(self) -> Identity:
        """A chain of the form of 2009 to 2016, for transaction receipts of version 2."""
        if "old" not in self._leaves:
            intermediate = self.root.issue(
                "Old Intermediate",
                "rsa2048",
                ca=True,
                path_length=0,
                markers=(OLD_RECEIPT_INTERMEDIATE,),
                validity=CENTURY,
            )
            self._leaves["old"] = intermediate.issue(
                "Old Receipt Signing", "rsa1024", markers=(OLD_RECEIPT_LEAF,)
            )
        return self._leaves["old"]
