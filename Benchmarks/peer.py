#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Apple's Python server library, verifying the same signed transaction: prints verifications a second.

usage: peer.py ROOT.cer TRANSACTION.jws BUNDLE-ID [SECONDS]
"""
import sys
import time

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier


def main() -> None:
    root, transaction, bundle_id = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 2.0
    with open(root, "rb") as file:
        verifier = SignedDataVerifier([file.read()], False, Environment.SANDBOX, bundle_id)
    with open(transaction, encoding="ascii") as file:
        compact = file.read().strip()
    rates = []
    for _ in range(5):
        count, start = 0, time.monotonic()
        while time.monotonic() - start < seconds / 5:
            verifier.verify_and_decode_signed_transaction(compact)
            count += 1
        rates.append(count / (time.monotonic() - start))
    print(f"{sorted(rates)[2]:.0f}")


if __name__ == "__main__":
    main()
