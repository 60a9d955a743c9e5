# SPDX-License-Identifier: Apache-2.0
"""Transaction receipts: the property list of `SKPaymentTransaction.transactionReceipt`.

The signature is RSA PKCS#1 v1.5 over the version byte and the decoded purchase-info; SHA-1 in versions 2
and 3, SHA-256 in version 4.
"""

import base64

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding

from .pki import Identity

PURCHASE_INFO = {
    "bid": "com.example.app",
    "bvrs": "2.1",
    "product-id": "com.example.app.gems",
    "item-id": "555000111",
    "quantity": "2",
    "transaction-id": "1000000000000201",
    "original-transaction-id": "1000000000000200",
    "purchase-date": "2025-03-01 10:00:00 Etc/GMT",
    "purchase-date-ms": "1740823200000",
    "purchase-date-pst": "2025-03-01 02:00:00 America/Los_Angeles",
    "original-purchase-date": "2025-02-01 10:00:00 Etc/GMT",
    "original-purchase-date-ms": "1738404000000",
    "original-purchase-date-pst": "2025-02-01 02:00:00 America/Los_Angeles",
    "unique-vendor-identifier": "00112233-4455-6677-8899-AABBCCDDEEFF",
}


def property_list(entries: dict[str, str]) -> bytes:
    lines = [f'\t"{key}" = "{value}";\n' for key, value in entries.items()]
    return ("{\n" + "".join(lines) + "}").encode()


def signature_blob(version: int, purchase_info: bytes, signer: Identity) -> bytes:
    digest = hashes.SHA256() if version == 4 else hashes.SHA1()
    signature = signer.key.sign(bytes([version]) + purchase_info, padding.PKCS1v15(), digest)
    return bytes([version]) + signature + len(signer.der).to_bytes(4, "big") + signer.der


def sign(
    signer: Identity,
    version: int = 4,
    *,
    environment: str | None = "Sandbox",
    purchase_info: bytes | None = None,
    blob: bytes | None = None,
    encode: bool = True,
    **changes: str,
) -> bytes:
    """A receipt; `changes` replace fields of purchase-info before it is signed (`_` for `-`)."""
    if purchase_info is None:
        fields = {key.replace("_", "-"): value for key, value in changes.items()}
        purchase_info = property_list(PURCHASE_INFO | fields)
    if blob is None:
        blob = signature_blob(version, purchase_info, signer)
    outer = {
        "signature": base64.b64encode(blob).decode(),
        "purchase-info": base64.b64encode(purchase_info).decode(),
        "pod": "100",
        "signing-status": "0",
    }
    if environment is not None:
        outer = {"environment": environment} | outer
    plist = property_list(outer)
    return base64.b64encode(plist) if encode else plist
