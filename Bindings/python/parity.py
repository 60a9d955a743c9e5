#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: parity.py

Reads lines {"policy": {...}, "receipts": ["BASE64", ...]} and prints for each receipt a line with the verdict, the code, the
place and the transaction identifiers, made of what the package returns. Fails if `verify` and `verify_many` differ.
"""

import base64
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "src"))

from receiptkit import Verdict, Verifier  # noqa: E402


def described(verdict: Verdict) -> dict:
    reason = verdict.reason
    return {
        "verdict": verdict.verdict.value,
        "code": reason.code if reason else None,
        "place": reason.place if reason else None,
        "transactions": [purchase.transaction_id for purchase in verdict.transactions or ()],
    }


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        receipts = [base64.b64decode(receipt) for receipt in request["receipts"]]
        with Verifier(request["policy"]) as verifier:
            single = [described(verifier.verify(receipt)) for receipt in receipts]
            together = [described(verdict) for verdict in verifier.verify_many(receipts)]
        if single != together:
            sys.exit(f"parity: verify and verify_many differ: {single} {together}")
        for each in single:
            print(json.dumps(each))


if __name__ == "__main__":
    main()
