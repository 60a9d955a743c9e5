# SPDX-License-Identifier: Apache-2.0
"""OCSP responses (RFC 6960) and certificate revocation lists (RFC 5280 section 5), right and wrong."""

import dataclasses
import datetime
import functools
import hashlib
from collections.abc import Callable

import der
import jws
import keys
import pki
from suite import TIME, Suite, b64

NOW = int(datetime.datetime.fromisoformat(TIME.replace("Z", "+00:00")).timestamp())
MINUTE, HOUR, DAY, YEAR = 60, 3600, 86_400, 31_536_000
# When a certificate that is revoked was: before its receipts were signed.
REVOKED = pki.SIGNED - 10 * DAY
BASIC, NONCE = "1.3.6.1.5.5.7.48.1.1", "1.3.6.1.5.5.7.48.1.2"
NO_CHECK, OCSP_SIGNING = "1.3.6.1.5.5.7.48.1.5", "1.3.6.1.5.5.7.3.9"
# A private arc, in which nobody defined an extension.
UNKNOWN = "1.3.6.1.4.1.55555.1"
DIGESTS = {"sha1": "1.3.14.3.2.26", "sha256": "2.16.840.1.101.3.4.2.1", "sha384": "2.16.840.1.101.3.4.2.2"}
REASONS = {
    "unspecified": 0, "keyCompromise": 1, "cACompromise": 2, "affiliationChanged": 3, "superseded": 4,
    "cessationOfOperation": 5, "certificateHold": 6, "removeFromCRL": 8, "privilegeWithdrawn": 9, "aACompromise": 10,
}  # fmt: skip


# Certificates


@functools.cache
def authority(kind: str = "ES256", foreign: bool = False) -> pki.Authority:
    """The authority of JWS or of app receipts, or a forger's of the same names."""
    plain = pki.authority(kind, foreign)
    return pki.Authority(*(jws.identified(part) for part in (plain.root, plain.intermediate, plain.leaf)))


def extended_usage(*purposes: str, critical: bool = False) -> bytes:
    return pki.extension("2.5.29.37", der.sequence(*(der.oid(purpose) for purpose in purposes)), critical)


def responder(of: pki.Authority | None = None, **changes) -> pki.Template:
    """The certificate of a responder that the intermediate authorizes."""
    issuer = (of or authority()).intermediate
    template = jws.Certificate(
        pki.name("Conformance OCSP Responder"), issuer.subject, 17, keys.elliptic("responder"), issuer.key, issuer.algorithm,
        (pki.basic_constraints(False), pki.key_usage("1"), extended_usage(OCSP_SIGNING), pki.extension(NO_CHECK, der.null())),
    )  # fmt: skip
    return template.but(**changes)


# OCSP


def generalized(seconds: int) -> bytes:
    instant = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return der.tlv(der.GENERALIZED_TIME, instant.strftime("%Y%m%d%H%M%SZ").encode())


def enumerated(value: int) -> bytes:
    return der.tlv(der.ENUMERATED, bytes([value]))


def key_octets(key) -> bytes:
    """The octets of the BIT STRING subjectPublicKey, as which a key is hashed."""
    _, bits = der.children(der.read(keys.public(key))[1])
    return der.read(bits)[1][1:]


def certificate_id(
    certificate: pki.Template, issuer: pki.Template, digest: str = "sha1", named: str | None = None, **changes
) -> bytes:
    """A CertID. `named` is the digest that it names, where it has hashes of another one."""
    parts = {
        "name": hashlib.new(digest, issuer.subject).digest(),
        "key": hashlib.new(digest, key_octets(issuer.key)).digest(),
        "serial": certificate.serial,
    } | changes
    return der.sequence(
        der.sequence(der.oid(DIGESTS[named or digest]), der.null()),
        der.octet_string(parts["name"]), der.octet_string(parts["key"]), der.integer(parts["serial"]),
    )  # fmt: skip


GOOD = der.context(0, b"", constructed=False)
NOT_KNOWN = der.context(2, b"", constructed=False)


def revoked(at: int = REVOKED, reason: str | None = None) -> bytes:
    """The status of a certificate that is revoked."""
    return der.context(1, generalized(at) + (der.context(0, enumerated(REASONS[reason])) if reason else b""))


def single(
    identifier: bytes, status: bytes = GOOD, this: int = NOW - HOUR, following: int | None = NOW + DAY, extensions=()
) -> bytes:
    """The answer about one certificate; `following` is nextUpdate."""
    return der.sequence(
        identifier, status, generalized(this),
        b"" if following is None else der.context(0, generalized(following)),
        der.context(1, der.sequence(*extensions)) if extensions else b"",
    )  # fmt: skip


def by_name(name: bytes) -> bytes:
    return der.context(1, name)


def by_key(key) -> bytes:
    return der.context(2, der.octet_string(hashlib.sha1(key_octets(key)).digest()))


@dataclasses.dataclass(frozen=True)
class Response:
    """A response: by default the issuer's own, which it signs."""

    singles: tuple[bytes, ...]
    responder: bytes
    key: object
    algorithm: str = "ecdsa-sha256"
    produced: int = NOW - HOUR
    extensions: tuple[bytes, ...] = ()
    certificates: tuple[bytes, ...] = ()
    status: int = 0
    kind: str = BASIC
    # What is done to the encoded ResponseData before and after it is signed, and what stands for the signature.
    change_signed: Callable[[bytes], bytes] = lambda encoded: encoded
    change_data: Callable[[bytes], bytes] = lambda encoded: encoded
    change_signature: Callable[[bytes], bytes] = lambda signature: signature

    def but(self, **changes) -> "Response":
        return dataclasses.replace(self, **changes)

    def encoded(self) -> bytes:
        data = der.sequence(
            self.responder, generalized(self.produced), der.sequence(*self.singles),
            der.context(1, der.sequence(*self.extensions)) if self.extensions else b"",
        )  # fmt: skip
        data = self.change_signed(data)
        signature = keys.sign(self.key, data, pki.ALGORITHMS[self.algorithm][1])
        basic = der.sequence(
            self.change_data(data), pki.algorithm(self.algorithm), der.bit_string(self.change_signature(signature)),
            der.context(0, der.sequence(*self.certificates)) if self.certificates else b"",
        )  # fmt: skip
        octets = der.sequence(der.oid(self.kind), der.octet_string(basic))
        return der.sequence(enumerated(self.status), der.context(0, octets))


def response(*singles: bytes, of: pki.Authority | None = None, **changes) -> Response:
    issuer = (of or authority()).intermediate
    answers = singles or (single(certificate_id((of or authority()).leaf, issuer)),)
    return Response(answers, by_name(issuer.subject), issuer.key, issuer.algorithm).but(**changes)


def delegated(delegate: pki.Template | None = None, *singles: bytes, **changes) -> Response:
    """A response that a responder signs, with its certificate."""
    delegate = delegate or responder()
    return response(
        *singles,
        **{
            "responder": by_name(delegate.subject), "key": delegate.key, "algorithm": "ecdsa-sha256",
            "certificates": (delegate.encoded(),), **changes,
        },
    )  # fmt: skip


# Lists


def entry(serial: int, at: int = REVOKED, reason: str | None = None, extensions: tuple[bytes, ...] = ()) -> bytes:
    """A revoked certificate."""
    stated = (pki.extension("2.5.29.21", enumerated(REASONS[reason])),) if reason else ()
    extensions = (*stated, *extensions)
    return der.sequence(der.integer(serial), der.time(at), der.sequence(*extensions) if extensions else b"")


def scope(*uris: str, users=False, authorities=False, reasons=b"", indirect=False, attributes=False, critical=True) -> bytes:
    """The extension issuingDistributionPoint (RFC 5280 section 5.2.5)."""

    def yes(number: int, stated: bool) -> bytes:
        return der.context(number, b"\xff", constructed=False) if stated else b""

    name = der.context(0, b"".join(der.context(6, uri.encode(), constructed=False) for uri in uris))
    return pki.extension(
        "2.5.29.28",
        der.sequence(
            der.context(0, name) if uris else b"", yes(1, users), yes(2, authorities),
            der.context(3, reasons, constructed=False) if reasons else b"", yes(4, indirect), yes(5, attributes),
        ),
        critical,
    )  # fmt: skip


def relative_scope(common: str) -> bytes:
    """The extension issuingDistributionPoint with a name relative to the issuer's, a common name."""
    attribute = der.sequence(der.oid("2.5.4.3"), der.utf8(common))
    return pki.extension("2.5.29.28", der.sequence(der.context(0, der.context(1, attribute))), True)


def distribution_points(*uris: str) -> bytes:
    """The extension cRLDistributionPoints of a certificate (RFC 5280 section 4.2.1.13), a point for each address."""
    points = []
    for uri in uris:
        name = der.context(0, der.context(0, der.context(6, uri.encode(), constructed=False)))
        points.append(der.sequence(name))
    return pki.extension("2.5.29.31", der.sequence(*points))


@dataclasses.dataclass(frozen=True)
class List:
    """A certificate revocation list."""

    entries: tuple[bytes, ...]
    issuer: bytes
    key: object
    algorithm: str = "ecdsa-sha256"
    this: int = NOW - HOUR
    following: int | None = NOW + DAY
    extensions: tuple[bytes, ...] = ()
    version: int = 1
    change_data: Callable[[bytes], bytes] = lambda encoded: encoded
    change_signature: Callable[[bytes], bytes] = lambda signature: signature

    def but(self, **changes) -> "List":
        return dataclasses.replace(self, **changes)

    def encoded(self) -> bytes:
        data = der.sequence(
            der.integer(self.version) if self.version else b"", pki.algorithm(self.algorithm), self.issuer,
            der.time(self.this), b"" if self.following is None else der.time(self.following),
            der.sequence(*self.entries) if self.entries else b"",
            der.context(0, der.sequence(*self.extensions)) if self.extensions else b"",
        )  # fmt: skip
        signature = keys.sign(self.key, data, pki.ALGORITHMS[self.algorithm][1])
        return der.sequence(
            self.change_data(data), pki.algorithm(self.algorithm), der.bit_string(self.change_signature(signature))
        )


def revocation_list(*entries: bytes, by: pki.Template | None = None, extensions: tuple[bytes, ...] = (), **changes) -> List:
    """A list of an issuer, the intermediate by default, with the two extensions that RFC 5280 demands of issuers."""
    by = by or authority().intermediate
    own = (jws.authority_key(by.key), pki.extension("2.5.29.20", der.integer(7)))
    return List(entries, by.subject, by.key, by.algorithm, extensions=(*own, *extensions)).but(**changes)


# Cases


def inputs(certificate: pki.Template, issuer: pki.Template, nonce: bytes | None = None, **statement) -> dict:
    members = {"certificate": certificate.encoded(), "issuer": issuer.encoded(), **statement, "nonce": nonce}
    return {name: b64(value) for name, value in members.items() if value is not None}


class Statements:
    """Adds the cases of an operation, whose statement about a certificate is signed data or made by `encoded`."""

    def __init__(self, suite: Suite):
        self.suite = suite

    def add(self, name: str, text: str, statement, verdict: str, **options) -> None:
        raise NotImplementedError

    def accept(self, name: str, text: str, statement, values: dict | None = None, **options) -> None:
        self.add(name, text, statement, "valid", values={"status": "good"} if values is None else values, **options)

    def refuse(self, name: str, text: str, statement, reason: str, *flags: str, **options) -> None:
        self.add(name, text, statement, "invalid", reason=reason, flags=flags, **options)

    def either(self, name: str, text: str, statement, *flags: str, **options) -> None:
        options.setdefault("importance", "low")
        self.add(name, text, statement, "either", flags=flags, **options)
