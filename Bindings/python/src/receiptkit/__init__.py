# SPDX-License-Identifier: Apache-2.0
"""Verification of purchase receipts of the App Store, of Google Play and of Huawei, in this process.

```python
from receiptkit import Verifier

verifier = Verifier(bundle_ids=["com.example.app"])
verdict = verifier.verify(receipt)
for purchase in verdict.active_purchases:
    grant(purchase.product_id)
```
"""

from ._documents import Document, FarInstant, Part, Word
from ._errors import ClosedError, InvalidInput, LibraryNotFound, NotValidError, PolicyError, ReceiptKitError
from ._library import load_library
from ._verdict import (
    Assurance,
    AuditEntry,
    EntryCheck,
    Environment,
    PlayLicense,
    ProofCheck,
    Purchase,
    Reason,
    ReceiptSigner,
    RenewalInfo,
    SignedReceipt,
    Standing,
    StandingSource,
    UnpaidPurchase,
    UnverifiedInspection,
    Verdict,
    VerdictWord,
    Version,
)
from ._verifier import Receipt, Signer, Verifier, check_proof, inspect, version
from ._version import VERSION as __version__

__all__ = [
    "Assurance",
    "AuditEntry",
    "ClosedError",
    "Document",
    "EntryCheck",
    "Environment",
    "FarInstant",
    "InvalidInput",
    "LibraryNotFound",
    "NotValidError",
    "Part",
    "PlayLicense",
    "PolicyError",
    "ProofCheck",
    "Purchase",
    "Reason",
    "Receipt",
    "ReceiptKitError",
    "ReceiptSigner",
    "RenewalInfo",
    "SignedReceipt",
    "Signer",
    "Standing",
    "StandingSource",
    "UnpaidPurchase",
    "UnverifiedInspection",
    "Verdict",
    "VerdictWord",
    "Verifier",
    "Version",
    "Word",
    "__version__",
    "check_proof",
    "inspect",
    "load_library",
    "version",
]
