# SPDX-License-Identifier: Apache-2.0
"""App receipts (CMS SignedData, RFC 5652, around a SET of attributes), right and wrong."""

import base64
import dataclasses
import functools
import hashlib
from collections.abc import Callable, Iterable

import der
import keys
import pki
import suite

# Certificates signed with MD5 are of use to this format alone.
pki.ALGORITHMS.setdefault("rsa-md5", ("1.2.840.113549.1.1.4", "md5", der.null()))

DATA, SIGNED_DATA = "1.2.840.113549.1.7.1", "1.2.840.113549.1.7.2"
RSA_ENCRYPTION = "1.2.840.113549.1.1.1"
CONTENT_TYPE, MESSAGE_DIGEST, SIGNING_TIME = "1.2.840.113549.1.9.3", "1.2.840.113549.1.9.4", "1.2.840.113549.1.9.5"
DIGESTS = {
    "md5": "1.2.840.113549.2.5",
    "sha1": "1.3.14.3.2.26",
    "sha256": "2.16.840.1.101.3.4.2.1",
    "sha384": "2.16.840.1.101.3.4.2.2",
    "sha512": "2.16.840.1.101.3.4.2.3",
}
WITH_RSA = {
    "md5": "1.2.840.113549.1.1.4",
    "sha1": "1.2.840.113549.1.1.5",
    "sha256": "1.2.840.113549.1.1.11",
    "sha384": "1.2.840.113549.1.1.12",
    "sha512": "1.2.840.113549.1.1.13",
}
DEVICE = bytes.fromhex("00112233445566778899aabbccddeeff")
OPAQUE = bytes(range(0xA0, 0xB0))

# Paths of parts of an encoded receipt: the index of the child at each level.
SIGNED, VERSION, DIGEST_ALGORITHMS, ENCAPSULATED, CERTIFICATES, SIGNER_INFOS = (
    (1, 0),
    (1, 0, 0),
    (1, 0, 1),
    (1, 0, 2),
    (1, 0, 3),
    (1, 0, 4),
)
CONTENT = (*ENCAPSULATED, 1, 0)
SIGNER_INFO = (*SIGNER_INFOS, 0)


# Values of attributes


def number(value: int) -> bytes:
    return der.integer(value)


def text(value: str) -> bytes:
    return der.utf8(value)


def date(value: str) -> bytes:
    return der.ia5(value)


SIGNED_TEXT, PURCHASED_TEXT, EXPIRES_TEXT = "2025-10-01T07:09:12Z", "2025-10-01T07:09:10Z", "2025-11-01T07:09:10Z"
SUBSCRIPTION = {
    1701: number(1),
    1702: text("com.example.app.monthly"),
    1703: text("2000000001"),
    1704: date(PURCHASED_TEXT),
    1705: text("2000000001"),
    1706: date(PURCHASED_TEXT),
    1707: number(3),
    1708: date(EXPIRES_TEXT),
    1711: number(3_000_000_001),
    1713: number(0),
    1719: number(0),
}
COINS = {
    1701: number(3),
    1702: text("com.example.app.coins"),
    1703: text("2000000002"),
    1704: date(PURCHASED_TEXT),
    1705: text("2000000002"),
    1706: date(PURCHASED_TEXT),
    1707: number(1),
    1711: number(0),
}
FIELDS = {
    0: text("ProductionSandbox"),
    1: number(0),
    2: text("com.example.app"),
    3: text("2.1"),
    12: date(SIGNED_TEXT),
    18: date(PURCHASED_TEXT),
    19: text("1.0"),
}
# What a verifier reports of the two purchases.
MONTHLY_VALUES = {
    "transactionId": "2000000001",
    "originalTransactionId": "2000000001",
    "productId": "com.example.app.monthly",
    "quantity": 1,
    "purchaseDate": "2025-10-01T07:09:10.000Z",
    "originalPurchaseDate": "2025-10-01T07:09:10.000Z",
    "expiresDate": "2025-11-01T07:09:10.000Z",
}
COINS_VALUES = {
    "transactionId": "2000000002",
    "originalTransactionId": "2000000002",
    "productId": "com.example.app.coins",
    "quantity": 3,
    "purchaseDate": "2025-10-01T07:09:10.000Z",
    "originalPurchaseDate": "2025-10-01T07:09:10.000Z",
}


def attribute(kind: int, value: bytes, version: int = 1) -> bytes:
    return der.sequence(der.integer(kind), der.integer(version), der.octet_string(value))


def merged(base: dict, changes: dict) -> dict:
    """A copy with other members, and without those that become None."""
    return {key: value for key, value in {**base, **changes}.items() if value is not None}


def purchase(base: dict | None = None, changes: dict | None = None, more: Iterable[bytes] = ()) -> bytes:
    """The value of an attribute of type 17: the SET of the attributes of a purchase."""
    members = merged(SUBSCRIPTION if base is None else base, changes or {})
    return der.set_of(*(attribute(kind, value) for kind, value in members.items()), *more)


def payload(
    changes: dict | None = None,
    purchases: Iterable[bytes] | None = None,
    more: Iterable[bytes] = (),
    make: Callable[..., bytes] = der.set_of,
) -> bytes:
    """The content of a receipt: the sample with other attributes, purchases, and encoded attributes besides."""
    if purchases is None:
        purchases = [purchase(), purchase(COINS)]
    fields = [attribute(kind, value) for kind, value in merged(FIELDS, changes or {}).items()]
    return make(*fields, *(attribute(17, value) for value in purchases), *more)


def bound(device: bytes = DEVICE, opaque: bytes = OPAQUE, bundle: bytes = FIELDS[2]) -> dict:
    """The attributes that bind a receipt to a device."""
    return {4: opaque, 5: hashlib.sha1(device + opaque + bundle).digest()}


# The container


def algorithm(identifier: str, parameters: bytes | None = der.null()) -> bytes:
    """An AlgorithmIdentifier; parameters None leaves them out."""
    return der.sequence(der.oid(identifier), parameters or b"")


def signed_attribute(identifier: str, *values: bytes) -> bytes:
    return der.sequence(der.oid(identifier), der.set_of(*values))


def signed_attributes(content: bytes, digest: str = "sha256", kind: str = DATA) -> list[bytes]:
    """The two attributes that RFC 5652 section 5.3 requires."""
    return [
        signed_attribute(CONTENT_TYPE, der.oid(kind)),
        signed_attribute(MESSAGE_DIGEST, der.octet_string(hashlib.new(digest, content).digest())),
    ]


@functools.cache
def encoded(template: pki.Template) -> bytes:
    return template.encoded()


@functools.cache
def authority(foreign: bool = False) -> pki.Authority:
    return pki.authority("RSA", foreign)


def chain(of: pki.Authority) -> list[bytes]:
    """The leaf, the intermediate and the root."""
    return [encoded(of.leaf), encoded(of.intermediate), encoded(of.root)]


@dataclasses.dataclass(frozen=True)
class Receipt:
    """An app receipt. Each member can be changed by itself; what is None follows from the others."""

    content: bytes
    signer: pki.Template
    certificates: tuple[bytes, ...] = ()
    key: object = None
    digest: str = "sha256"
    # The encoded contents of the two fields of AlgorithmIdentifiers, and of the SET digestAlgorithms.
    digest_algorithm: bytes | None = None
    signature_algorithm: bytes = algorithm(RSA_ENCRYPTION)
    digest_algorithms: tuple[bytes, ...] | None = None
    # The encoded attributes, in their order in the receipt.
    attributes: tuple[bytes, ...] | None = None
    unsigned: bytes = b""
    signed: bytes | None = None
    signature: bytes | None = None
    version: bytes = der.integer(1)
    signer_version: bytes = der.integer(1)
    signer_identifier: bytes | None = None
    content_type: bytes = der.oid(SIGNED_DATA)
    inner_type: bytes = der.oid(DATA)
    # The encoding of the content, and of the fields certificates and crls.
    octets: bytes | None = None
    certificates_field: bytes | None = None
    crls: bytes = b""
    signer_infos: tuple[bytes, ...] | None = None

    def but(self, **changes) -> "Receipt":
        return dataclasses.replace(self, **changes)

    def signed_bytes(self) -> bytes:
        if self.signed is not None:
            return self.signed
        return self.content if self.attributes is None else der.tlv(der.SET, b"".join(self.attributes))

    def signer_info(self) -> bytes:
        signature = self.signature
        if signature is None:
            signature = keys.sign(self.key or self.signer.key, self.signed_bytes(), self.digest)
        identifier = self.signer_identifier or der.sequence(self.signer.issuer, der.integer(self.signer.serial))
        return der.sequence(
            self.signer_version,
            identifier,
            self.digest_algorithm or algorithm(DIGESTS[self.digest]),
            b"" if self.attributes is None else der.context(0, b"".join(self.attributes)),
            self.signature_algorithm,
            der.octet_string(signature),
            self.unsigned,
        )

    def encoded(self) -> bytes:
        announced = self.digest_algorithms
        if announced is None:
            announced = (self.digest_algorithm or algorithm(DIGESTS[self.digest]),)
        octets = der.octet_string(self.content) if self.octets is None else self.octets
        certificates = self.certificates_field
        if certificates is None:
            certificates = der.context(0, b"".join(self.certificates)) if self.certificates else b""
        infos = (self.signer_info(),) if self.signer_infos is None else self.signer_infos
        return der.sequence(
            self.content_type,
            der.context(
                0,
                der.sequence(
                    self.version,
                    der.set_of(*announced),
                    der.sequence(self.inner_type, der.context(0, octets) if octets else b""),
                    certificates,
                    self.crls,
                    der.set_of(*infos),
                ),
            ),
        )


def receipt(content: bytes | None = None, of: pki.Authority | None = None, **members) -> Receipt:
    """A receipt of the sample payload by the authority of the suite, with other members."""
    of = of or authority()
    members.setdefault("certificates", tuple(chain(of)))
    return Receipt(payload() if content is None else content, members.pop("signer", of.leaf), **members)


def with_attributes(content: bytes | None = None, attributes: Iterable[bytes] | None = None, **members) -> Receipt:
    """A receipt with signed attributes, by default the two that are required."""
    content = payload() if content is None else content
    chosen = signed_attributes(content) if attributes is None else list(attributes)
    return receipt(content, attributes=tuple(sorted(chosen)), **members)


# Changes of what was encoded


def edit(data: bytes, path: tuple[int, ...], change: Callable[[bytes], bytes]) -> bytes:
    """The data in which a value at a path is replaced; the lengths of the values around it follow."""
    if not path:
        return change(data)
    tag, content, _ = der.read(data)
    parts = der.children(content)
    parts[path[0]] = edit(parts[path[0]], path[1:], change)
    return der.tlv(tag, b"".join(parts))


def part(data: bytes, path: tuple[int, ...]) -> bytes:
    for index in path:
        data = der.children(der.read(data)[1])[index]
    return data


def offset(data: bytes, path: tuple[int, ...]) -> int:
    """Where the value at a path begins."""
    at = 0
    for index in path:
        tag, content, end = der.read(data)
        at += end - len(content) + sum(len(value) for value in der.children(content)[:index])
        data = der.children(content)[index]
    return at


def retag(tag: int) -> Callable[[bytes], bytes]:
    return lambda value: bytes([tag]) + value[1:]


def inside(more: bytes) -> Callable[[bytes], bytes]:
    """Appends bytes to the contents of a value."""
    return lambda value: der.tlv(value[0], der.read(value)[1] + more)


def with_length(encode: Callable[[int], bytes]) -> Callable[[bytes], bytes]:
    def change(value: bytes) -> bytes:
        content = der.read(value)[1]
        return value[:1] + encode(len(content)) + content

    return change


def indefinite(value: bytes) -> bytes:
    return der.indefinite(value[0], der.read(value)[1])


def all_indefinite(
    data: bytes, depth: int = 3, content: Callable[[bytes], bytes] = lambda value: value, path: tuple = ()
) -> bytes:
    """The outer constructed values with indefinite lengths, as Xcode writes them. What is within certificates and
    signerInfos stays in DER; the OCTET STRING of the content becomes another encoding."""
    if path == CONTENT:
        return content(data)
    tag, contents, _ = der.read(data)
    if not tag & 0x20 or depth == 0 or path[:-1] in (CERTIFICATES, SIGNER_INFO):
        return data
    parts = enumerate(der.children(contents))
    return der.indefinite(tag, b"".join(all_indefinite(value, depth - 1, content, (*path, index)) for index, value in parts))


def in_pieces(content: bytes, size: int, depth: int = 1, ended: bool = True) -> bytes:
    """A constructed OCTET STRING (BER) of pieces of a size."""
    pieces = b"".join(der.octet_string(content[at : at + size]) for at in range(0, len(content), size))
    for _ in range(depth):
        pieces = der.indefinite(0x24, pieces) if ended else der.tlv(0x24, pieces)
    return pieces


# PKCS #1


def raw_signature(key, message: bytes) -> bytes:
    """The RSA primitive applied to an encoded message that need not have the right padding."""
    numbers = key.private_numbers()
    modulus = numbers.public_numbers.n
    return pow(int.from_bytes(message, "big"), numbers.d, modulus).to_bytes((modulus.bit_length() + 7) // 8, "big")


def digest_info(data: bytes, digest: str = "sha256", parameters: bytes = der.null()) -> bytes:
    hashed = hashlib.new(digest, data).digest()
    return der.sequence(der.sequence(der.oid(DIGESTS[digest]), parameters), der.octet_string(hashed))


def padded(info: bytes, size: int = 256, start: bytes = b"\x00\x01", end: bytes = b"\x00", fill: bytes = b"\xff") -> bytes:
    return start + fill * (size - len(start) - len(end) - len(info)) + end + info


def cube_root_forgery(info: bytes, size: int = 256) -> bytes:
    """A number whose cube begins with a short padding and the DigestInfo, made without the key (Bleichenbacher 2006)."""
    prefix = b"\x00\x01" + b"\xff" * 8 + b"\x00" + info
    target = int.from_bytes(prefix + b"\x00" * (size - len(prefix)), "big")
    low, high = 0, 1 << (8 * size // 3 + 1)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle**3 < target else (low, middle)
    assert (low**3).to_bytes(size, "big").startswith(prefix)
    return low.to_bytes(size, "big")


# Cases

_flag = suite.flag
TRAILING = _flag(
    "CmsTrailingData",
    "Bytes follow a value where the container or the payload should end.",
    "Two programs see two receipts, or bytes that nobody signed travel with a receipt.",
    "X.690 section 8.1",
)
TRUNCATED = _flag(
    "CmsTruncated",
    "The receipt ends before its end.",
    "Reading past the end of the input.",
    "X.690 section 8.1",
)
WRONG_TAG = _flag(
    "CmsWrongTag",
    "A field has the tag of another type.",
    "A value is taken for what it is not.",
    "RFC 5652",
)
LENGTHS = _flag(
    "CmsLength",
    "A length is wrong, too large or in a form that is not the shortest.",
    "Reading past the end, or overflow of an integer.",
    "X.690 sections 8.1.3 and 10.1",
)
BER = _flag(
    "CmsBer",
    "The container uses forms of BER that DER does not have, as Xcode's receipts do.",
    "Genuine receipts are refused, or the bytes that are verified are not those that are decoded.",
    "RFC 5652 section 2",
    "X.690 section 8",
)
DUPLICATE = _flag(
    "CmsDuplicateAttribute",
    "An attribute that may occur once occurs twice.",
    "One program takes the first, another the last: two programs see two receipts.",
)
NUMBERS = _flag(
    "ReceiptInteger",
    "An INTEGER is empty, longer than needed or larger than common types.",
    "A number wraps to another one, which an accepted value may be.",
    "X.690 section 8.3",
)
TEXTS = _flag(
    "ReceiptText",
    "A text holds NUL, invalid UTF-8 or symbols that only look equal.",
    "An identifier is taken for another one.",
    "RFC 3629",
)
DATES = _flag(
    "ReceiptDate",
    "A date has an unusual or an impossible form.",
    "Certificates are judged at a wrong time.",
    "RFC 3339 section 5.6",
)
ATTRIBUTES = _flag(
    "CmsSignedAttributes",
    "The signature is over signed attributes, or should be.",
    "Content that was never signed is accepted, because the attributes do not cover it or are taken for it.",
    "RFC 5652 sections 5.3, 5.4 and 11",
)
SIGNER = _flag(
    "CmsSignerIdentifier",
    "The signer is named in another way, ambiguously, or is another certificate.",
    "The signature is verified with a certificate that was not meant.",
    "RFC 5652 section 5.3",
)
ALGORITHMS = _flag(
    "CmsAlgorithm",
    "An algorithm is not one of receipts, or two fields name different ones.",
    "A weak algorithm is chosen by the attacker.",
    "RFC 5754",
)
PADDING = _flag(
    "RsaPadding",
    "The padding of the signature is not that of RSASSA-PKCS1-v1_5.",
    "Signatures are forged without the key if it has a small exponent.",
    "RFC 8017 section 8.2.2",
    "CVE-2006-4339",
)
FORGERY = _flag(
    "RsaChainForgery",
    "The chain looks like a trusted one and is not.",
    "Receipts are forged by anybody who can make certificates.",
    "RFC 5280 section 6.1",
)
PURPOSE = _flag(
    "RsaChainPurpose",
    "A certificate of the chain is not meant for its part.",
    "Any certificate that the authority issued signs receipts.",
    "RFC 5280 section 4.2.1",
)
CHAIN_TIME = _flag(
    "RsaChainTime",
    "A certificate of the chain is judged at the edge of its validity, or outside.",
    "A stolen key that has expired signs receipts, or genuine receipts are refused.",
    "RFC 5280 section 4.1.2.5",
)
EXHAUSTION = _flag(
    "CmsResources",
    "The receipt is small or well-formed and made to cost much.",
    "Denial of service.",
)
HASH = _flag(
    "DeviceHash",
    "The hash that binds the receipt to a device is wrong or missing.",
    "Receipts are copied from one device to another.",
)
TEST_CERTIFICATE = _flag(
    "XcodeCertificate",
    "The receipt is signed by a certificate of its own, as Xcode signs test data.",
    "Test data, which everybody can make, is taken for purchases.",
)
KIND = "app-receipt"


def values(
    environment: str | None = "sandbox",
    bundle: str | None = "com.example.app",
    signed: str | None = "2025-10-01T07:09:12.000Z",
    algorithm: str = "RSA-SHA256",
    transactions: list[dict] | None = None,
) -> dict:
    """What a verifier reports of a valid receipt, by default of the sample."""
    stated = {"environment": environment, "bundleId": bundle, "signedAt": signed, "algorithm": algorithm}
    found = {name: value for name, value in stated.items() if value is not None}
    found["transactions"] = [MONTHLY_VALUES, COINS_VALUES] if transactions is None else transactions
    return found


def bytes_of(receipt: "Receipt | bytes | str") -> bytes:
    if isinstance(receipt, str):
        return receipt.encode()
    return receipt if isinstance(receipt, bytes) else base64.b64encode(receipt.encoded())


class Cases:
    """Adds cases of a subject. A receipt is given in base64 as apps send it, unless it is bytes already."""

    def __init__(
        self, suite: suite.Suite, subject: str, *flags: str, kind: str = KIND, policy: Callable[..., dict] | None = None
    ):
        self.suite, self.prefix, self.flags = suite, f"{kind}::{subject}::", flags
        self.policy = policy or (lambda **changes: suite_policy(**changes))

    def add(self, name: str, description: str, receipt, verdict: str, policy: dict | None = None, **members) -> None:
        members.setdefault("flags", self.flags)
        self.suite.add(
            self.prefix + name,
            description,
            suite.receipt(bytes_of(receipt)),
            verdict,
            policy=self.policy(**(policy or {})),
            **members,
        )

    def valid(
        self, name: str, description: str, receipt, found: dict | None = None, policy: dict | None = None, **members
    ) -> None:
        found = values() if found is None else found
        self.add(name, description, receipt, "valid", policy, values=found, **members)

    def invalid(self, name: str, description: str, receipt, reason: str, policy: dict | None = None, **members) -> None:
        self.add(name, description, receipt, "invalid", policy, reason=reason, **members)

    def undetermined(self, name: str, description: str, receipt, reason: str, policy: dict | None = None, **members) -> None:
        self.add(name, description, receipt, "undetermined", policy, reason=reason, **members)

    def either(self, name: str, description: str, receipt, policy: dict | None = None, **members) -> None:
        members.setdefault("importance", "low")
        self.add(name, description, receipt, "either", policy, **members)


def suite_policy(**changes) -> dict:
    return suite.base_policy(authority(), **changes)
