# SPDX-License-Identifier: Apache-2.0
"""Transaction receipts (OpenStep property lists around signed property lists), right and wrong."""

import base64
import dataclasses
import datetime
from collections.abc import Callable

import cms
import keys
import pki
import suite

DIGESTS = {2: "sha1", 3: "sha1", 4: "sha256"}
NAMES = {2: "RSA-SHA1", 3: "RSA-SHA1", 4: "RSA-SHA256"}
# The markers of the certificates of version 2.
MUSIC_LEAF, MUSIC_INTERMEDIATE = "1.2.840.113635.100.6.5.1", "1.2.840.113635.100.6.2.2"
VENDOR = "00112233-4455-6677-8899-AABBCCDDEEFF"


def dates(name: str, seconds: int, bare: str | None = None) -> dict[str, str]:
    """The three forms of a date; what the store wrote for Los Angeles is seven hours earlier in October."""
    words = (name, f"{name}-ms", f"{name}-pst") if bare is None else bare
    greenwich, pacific = (
        datetime.datetime.fromtimestamp(seconds - offset, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
        for offset in (0, 7 * 3600)
    )
    return {
        words[1]: str(seconds * 1000),
        words[0]: f"{greenwich} Etc/GMT",
        words[2]: f"{pacific} America/Los_Angeles",
    }


INFO = {
    **dates("original-purchase-date", pki.PURCHASED),
    "original-transaction-id": "1000000001",
    "transaction-id": "1000000001",
    "quantity": "1",
    "unique-vendor-identifier": VENDOR,
    "item-id": "555555555",
    "bvrs": "2.1",
    "product-id": "com.example.app.coins",
    **dates("purchase-date", pki.PURCHASED),
    "bid": "com.example.app",
}
EXPIRES = dates("", pki.EXPIRES, ("expires-date-formatted", "expires-date", "expires-date-formatted-pst"))
VALUES = {
    "transactionId": "1000000001",
    "originalTransactionId": "1000000001",
    "productId": "com.example.app.coins",
    "quantity": 1,
    "purchaseDate": "2025-10-01T07:09:10.000Z",
    "originalPurchaseDate": "2025-10-01T07:09:10.000Z",
}


def quoted(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(entries: dict[str, str] | list[tuple[str, str]], more: str = "") -> str:
    """A property list as the store writes it, and what else is to stand before the closing brace."""
    pairs = entries.items() if isinstance(entries, dict) else entries
    return "{\n" + "".join(f"\t{quoted(key)} = {quoted(value)};\n" for key, value in pairs) + more + "}"


def info(changes: dict | None = None, more: str = "") -> bytes:
    """The text of purchase-info: the sample with other entries, and without those that become None."""
    return write(cms.merged(INFO, changes or {}), more).encode()


@dataclasses.dataclass(frozen=True)
class Receipt:
    """A transaction receipt. Each member can be changed by itself; what is None follows from the others."""

    purchase_info: bytes
    leaf: pki.Template
    version: int = 4
    environment: str | None = "Sandbox"
    key: object = None
    signed: bytes | None = None
    signature: bytes | None = None
    digest: str | None = None
    certificate: bytes | None = None
    certificate_length: int | None = None
    after: bytes = b""
    # The members signature and purchase-info as texts, and the rest of the outer list.
    signature_text: str | None = None
    info_text: str | None = None
    outer: tuple[tuple[str, str | None], ...] = ()

    def but(self, **changes) -> "Receipt":
        return dataclasses.replace(self, **changes)

    def blob(self) -> bytes:
        signature = self.signature
        if signature is None:
            signed = bytes([self.version]) + self.purchase_info if self.signed is None else self.signed
            signature = keys.sign(self.key or self.leaf.key, signed, self.digest or DIGESTS.get(self.version, "sha256"))
        certificate = cms.encoded(self.leaf) if self.certificate is None else self.certificate
        count = len(certificate) if self.certificate_length is None else self.certificate_length
        return bytes([self.version]) + signature + count.to_bytes(4, "big") + certificate + self.after

    def entries(self) -> dict[str, str]:
        """The entries of the outer list."""
        entries = {
            "signature": base64.b64encode(self.blob()).decode() if self.signature_text is None else self.signature_text,
            "purchase-info": base64.b64encode(self.purchase_info).decode() if self.info_text is None else self.info_text,
            "environment": self.environment,
            "pod": "100",
            "signing-status": "0",
        }
        return cms.merged(entries, dict(self.outer))

    def text(self, more: str = "") -> str:
        return write(self.entries(), more)


def music_store() -> pki.Authority:
    """The authority of version 2: a key of 1,024 bits, and other markers."""
    of = cms.authority()
    return of.but(
        intermediate={"extensions": (*of.intermediate.extensions[:2], pki.marker(MUSIC_INTERMEDIATE))},
        leaf={"key": keys.rsa_key("short"), "extensions": (*of.leaf.extensions[:2], pki.marker(MUSIC_LEAF))},
    )


def receipt(purchase_info: bytes | None = None, of: pki.Authority | None = None, version: int = 4, **members) -> Receipt:
    """A receipt of the sample purchase by the authority of the suite, with other members."""
    of = of or (music_store() if version == 2 else cms.authority())
    return Receipt(info() if purchase_info is None else purchase_info, of.leaf, version, **members)


def policy(of: pki.Authority | None = None) -> Callable[..., dict]:
    """The policy of most cases, which has the intermediate: no receipt embeds it."""
    of = of or cms.authority()
    supplied = {"intermediates": [pki.pem(cms.encoded(of.intermediate))]}
    return lambda **changes: suite.base_policy(of, **{**supplied, **changes})


# Cases

KIND = "transaction-receipt"
DUPLICATE_KEY = suite.flag(
    "PropertyListDuplicateKey",
    "A key occurs twice in a property list.",
    "One program takes the first, another the last: what is verified is not what is read.",
)
SYNTAX = suite.flag(
    "PropertyListSyntax",
    "The property list uses forms that receipts do not have, or is not well formed.",
    "Two programs read two different lists.",
)
UNSIGNED_KEY = suite.flag(
    "PropertyListUnsignedKey",
    "A key outside purchase-info, which nobody signed, is missing or changed.",
    "A purchase of the sandbox, which costs nothing, is taken for one of production.",
)
BLOB = suite.flag(
    "TransactionReceiptSignatureBlob",
    "The parts of the value of the key signature do not fit together.",
    "Reading past the end, or a certificate that is not the one that was verified.",
)
DATES = suite.flag(
    "TransactionReceiptDate",
    "A date is missing, impossible, or its forms differ.",
    "Certificates are judged at a wrong time.",
)


def values(
    environment: str = "sandbox",
    bundle: str = "com.example.app",
    signed: str | None = "2025-10-01T07:09:10.000Z",
    version: int = 4,
    **changes,
) -> dict:
    """What a verifier reports of a valid receipt, by default of the sample."""
    stated = {"environment": environment, "bundleId": bundle, "signedAt": signed, "algorithm": NAMES[version]}
    found = {name: value for name, value in stated.items() if value is not None}
    return found | {"transactions": [cms.merged(VALUES, changes)]}
