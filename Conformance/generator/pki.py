# SPDX-License-Identifier: Apache-2.0
"""Certificates and chains, right and wrong (RFC 5280)."""

import base64
import dataclasses
from collections.abc import Callable

import der
import keys

# Dates of the sample receipts, in seconds since 1970.
SIGNED = 1_759_302_552  # 2025-10-01T07:09:12Z
PURCHASED = SIGNED - 2
EXPIRES = 1_761_980_950  # 2025-11-01T07:09:10Z
NOT_BEFORE = 1_577_836_800  # 2020-01-01T00:00:00Z
NOT_AFTER = 2_524_607_999  # 2049-12-31T23:59:59Z

LEAF_MARKER = "1.2.840.113635.100.6.11.1"
INTERMEDIATE_MARKER = "1.2.840.113635.100.6.2.1"
ALGORITHMS = {
    "ecdsa-sha256": ("1.2.840.10045.4.3.2", "sha256", b""),
    "ecdsa-sha384": ("1.2.840.10045.4.3.3", "sha384", b""),
    "rsa-sha256": ("1.2.840.113549.1.1.11", "sha256", der.null()),
    "rsa-sha1": ("1.2.840.113549.1.1.5", "sha1", der.null()),
    "rsa-md5": ("1.2.840.113549.1.1.4", "md5", der.null()),
    "rsa-sha512": ("1.2.840.113549.1.1.13", "sha512", der.null()),
}


def name(common: str, organization: str = "Receipt Conformance Test") -> bytes:
    """A Name of a common name and an organization."""
    return der.sequence(
        der.set_of(der.sequence(der.oid("2.5.4.3"), der.utf8(common))),
        der.set_of(der.sequence(der.oid("2.5.4.10"), der.utf8(organization))),
    )


def algorithm(label: str) -> bytes:
    """The AlgorithmIdentifier of a signature."""
    identifier, _, parameters = ALGORITHMS[label]
    return der.sequence(der.oid(identifier), parameters)


def extension(identifier: str, value: bytes, critical: bool = False) -> bytes:
    return der.sequence(der.oid(identifier), der.boolean(True) if critical else b"", der.octet_string(value))


def basic_constraints(authority: bool, path_length: int | None = None, critical: bool = True) -> bytes:
    content = der.boolean(True) if authority else b""
    return extension("2.5.29.19", der.sequence(content, b"" if path_length is None else der.integer(path_length)), critical)


def key_usage(bits: str, critical: bool = True) -> bytes:
    """The usages of a text of 0 and 1 in the order of RFC 5280 4.2.1.3, such as 1 for digitalSignature alone and 0000011
    for keyCertSign and cRLSign."""
    bits = bits.rstrip("0")
    octets = int(bits.ljust((len(bits) + 7) // 8 * 8, "0"), 2).to_bytes((len(bits) + 7) // 8, "big") if bits else b""
    return extension("2.5.29.15", der.bit_string(octets, -len(bits) % 8), critical)


def marker(identifier: str) -> bytes:
    """An extension without meaning of its own, as Apple marks certificates that may sign receipts."""
    return extension(identifier, der.null())


@dataclasses.dataclass(frozen=True)
class Template:
    """What a certificate states. `key` is the subject's private key, of which the certificate has the public one."""

    subject: bytes
    issuer: bytes
    serial: int
    key: object
    issuer_key: object
    algorithm: str
    extensions: tuple[bytes, ...] = ()
    not_before: int = NOT_BEFORE
    not_after: int = NOT_AFTER
    version: int = 2
    # The algorithm of the outer AlgorithmIdentifier, where it differs from the one that is signed.
    outer_algorithm: str | None = None
    # What is done to the encoded TBSCertificate before it is signed, and to the certificate afterwards.
    change_signed: Callable[[bytes], bytes] = lambda encoded: encoded
    change: Callable[[bytes], bytes] = lambda encoded: encoded

    def encoded(self) -> bytes:
        signed = self.change_signed(
            der.sequence(
                der.context(0, der.integer(self.version)) if self.version else b"",
                der.integer(self.serial),
                algorithm(self.algorithm),
                self.issuer,
                der.sequence(der.time(self.not_before), der.time(self.not_after)),
                self.subject,
                keys.public(self.key),
                der.context(3, der.sequence(*self.extensions)) if self.extensions else b"",
            )
        )
        signature = keys.sign(self.issuer_key, signed, ALGORITHMS[self.algorithm][1])
        return self.change(
            der.sequence(signed, algorithm(self.outer_algorithm or self.algorithm), der.bit_string(signature))
        )

    def but(self, **changes) -> "Template":
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass(frozen=True)
class Authority:
    """A root, an intermediate and a signer, as templates that a case changes."""

    root: Template
    intermediate: Template
    leaf: Template

    @property
    def chain(self) -> list[bytes]:
        """The leaf, the intermediate and the root, in DER."""
        return [self.leaf.encoded(), self.intermediate.encoded(), self.root.encoded()]

    def but(self, root: dict | None = None, intermediate: dict | None = None, leaf: dict | None = None) -> "Authority":
        """The same with other members of one or more certificates."""
        return Authority(
            self.root.but(**(root or {})), self.intermediate.but(**(intermediate or {})), self.leaf.but(**(leaf or {}))
        )

    def with_second_intermediate(self) -> tuple["Authority", Template]:
        """The same with a second intermediate, which is returned as well, between the first one and the leaf."""
        second = self.intermediate.but(
            subject=name("Conformance Second Intermediate CA"), issuer=self.intermediate.subject,
            issuer_key=self.intermediate.key, serial=20, key=keys.rsa_key("app"),
        )  # fmt: skip
        _, *others = self.intermediate.extensions
        changed = self.but(
            intermediate={"extensions": (basic_constraints(True, 1), *others)},
            leaf={"issuer": second.subject, "issuer_key": second.key},
        )
        return changed, second


def authority(kind: str = "ES256", foreign: bool = False) -> Authority:
    """The authority of JWS (ES256) or of app receipts and transaction receipts (RSA). A foreign one has the same names
    and other keys."""
    word = "foreign" if foreign else None
    if kind == "ES256":
        root, intermediate, leaf = (keys.elliptic(word or label) for label in ("root", "intermediate", "leaf"))
        label = "ecdsa-sha256"
    else:
        root, intermediate, leaf = (keys.rsa_key(word or label) for label in ("root", "intermediate", "leaf"))
        label = "rsa-sha256"
    root_name, intermediate_name = name(f"Conformance Root CA {kind}"), name(f"Conformance Intermediate CA {kind}")
    return Authority(
        Template(
            root_name, root_name, 1, root, root, label,
            (basic_constraints(True), key_usage("0000011")), not_after=4_102_444_799,
        ),
        Template(
            intermediate_name, root_name, 2, intermediate, root, label,
            (basic_constraints(True, 0), key_usage("0000011"), marker(INTERMEDIATE_MARKER)), not_after=3_155_759_999,
        ),
        Template(
            name(f"Conformance Receipt Signing {kind}"), intermediate_name, 3, leaf, intermediate, label,
            (basic_constraints(False), key_usage("1"), marker(LEAF_MARKER)),
        ),
    )  # fmt: skip


def pem(certificate: bytes) -> str:
    lines = base64.encodebytes(certificate).decode().replace("\n", "")
    body = "\n".join(lines[i : i + 64] for i in range(0, len(lines), 64))
    return f"-----BEGIN CERTIFICATE-----\n{body}\n-----END CERTIFICATE-----\n"
