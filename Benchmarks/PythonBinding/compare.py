#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: compare.py [--seconds SECONDS] [--rounds ROUNDS] [--python-path FOLDER] [--receipt-bench PROGRAM]

Verifications a second of the Python package of libreceiptkit beside Apple's Python library, on one processor: the
same signed transactions, all different, of one signer, and each library warm. The two take turns, and `openssl speed
ecdsap256` before each round says how fast the processor was then. A second is one of processor time, as openssl has it:
what the process waits for other programs does not count, and what they take of the caches does. Compare the ratios.

Needs app-store-server-library and cryptography; RECEIPTKIT_LIBRARY names libreceiptkit.so. SECONDS (1) is for each
measurement, of which each of ROUNDS (7) has one of every kind; the median is printed. FOLDER has the package
receiptkit, which is otherwise that of this repository. With PROGRAM, the built receipt-bench, a call of the Swift library
verifies the same receipts as well, the best of five in each round.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
APP = "com.example.app"
COUNT = 256


def transactions(signer) -> list:
    """Signed transactions as the App Store signs them, each of another purchase."""
    from independent import jws

    # 1 March 2025, when the certificates were valid.
    now = 1_740_787_200_000
    return [
        jws.sign(
            {
                "transactionId": str(2_000_000_000_000_000 + number),
                "originalTransactionId": "2000000000000000",
                "webOrderLineItemId": str(2_000_000_000_100_000 + number),
                "bundleId": APP,
                "productId": f"{APP}.monthly",
                "subscriptionGroupIdentifier": "20600001",
                "purchaseDate": now - 86_400_000 - number,
                "originalPurchaseDate": now - 86_400_000 * 90,
                "expiresDate": now + 86_400_000 * 29,
                "quantity": 1,
                "type": "Auto-Renewable Subscription",
                "appAccountToken": "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f",
                "inAppOwnershipType": "PURCHASED",
                "signedDate": now - 3_600_000,
                "environment": "Sandbox",
                "transactionReason": "RENEWAL",
                "storefront": "USA",
                "storefrontId": "143441",
                "price": 9990,
                "currency": "USD",
            },
            signer,
        )
        for number in range(COUNT)
    ]


def rate(function, receipts: list, seconds: float) -> float:
    """Receipts a second of processor time, of all threads, of a function that takes all of them."""
    count, start = 0, time.process_time()
    while True:
        function(receipts)
        count += len(receipts)
        elapsed = time.process_time() - start
        if elapsed >= seconds:
            return count / elapsed


def openssl_rate(seconds: float) -> float:
    """ECDSA verifications a second of the command openssl."""
    command = ["openssl", "speed", "-mr", "-seconds", str(max(1, round(seconds))), "ecdsap256"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    fields = next(line for line in output.splitlines() if line.startswith("+F4:")).split(":")
    # The time of one verification, or in newer versions how many there are in a second.
    value = float(fields[-1])
    return value if value > 1 else 1 / value


def swift_rate(program: str, root: bytes, receipts: list) -> float:
    """Receipts a second of one call of the Swift library with all of them, sixteen times each."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "root.cer").write_bytes(root)
        (pathlib.Path(folder) / "receipts").write_bytes(b"\n".join(receipts * 16) + b"\n")
        command = [os.path.abspath(program), "--batch", "root.cer", "receipts"]
        return float(subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--python-path", default=str(ROOT / "Bindings/python/src"))
    parser.add_argument("--receipt-bench", metavar="PROGRAM")
    arguments = parser.parse_args()
    sys.path[:0] = [arguments.python_path, str(ROOT / "Tests/Support")]
    from appstoreserverlibrary.models.Environment import Environment
    from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
    from independent import pki

    import receiptkit

    processor = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processor})
    store = pki.Store()
    receipts = transactions(store.leaf())
    encoded = [receipt.encode() for receipt in receipts]
    verifier = receiptkit.Verifier(bundle_ids=[APP], environments=["sandbox"], trust=[store.root.der])
    apple = SignedDataVerifier([store.root.der], False, Environment.SANDBOX, APP)

    def verify(batch):
        for receipt in batch:
            if not verifier.verify(receipt).is_valid:
                sys.exit("a receipt is not valid")

    def verify_and_read(batch):
        for receipt in batch:
            verdict = verifier.verify(receipt)
            if not verdict.is_valid or verdict.transactions[0].product_id != f"{APP}.monthly":
                sys.exit("a receipt is not valid")

    def verify_many(batch):
        if not all(verdict.is_valid for verdict in verifier.verify_many(batch)):
            sys.exit("a receipt is not valid")

    def verify_many_and_read(batch):
        for verdict in verifier.verify_many(batch):
            if not verdict.is_valid or verdict.transactions[0].product_id != f"{APP}.monthly":
                sys.exit("a receipt is not valid")

    def verify_apple(batch):
        for receipt in batch:
            if apple.verify_and_decode_signed_transaction(receipt).productId != f"{APP}.monthly":
                sys.exit("a receipt is not valid")

    kinds = {
        "verify": (verify, encoded),
        "verify, and read a product": (verify_and_read, encoded),
        "verify_many": (verify_many, encoded),
        "verify_many, and read each product": (verify_many_and_read, encoded),
        "Apple: verify_and_decode_signed_transaction": (verify_apple, receipts[:16]),
    }
    for function, batch in kinds.values():
        function(batch)
    others = {"openssl speed ecdsap256": lambda: openssl_rate(arguments.seconds)}
    if arguments.receipt_bench:
        others["Swift: a batch"] = lambda: swift_rate(arguments.receipt_bench, store.root.der, encoded)
    rates = {name: [] for name in [*others, *kinds]}
    for _ in range(arguments.rounds):
        for name, function in others.items():
            rates[name].append(function())
        for name, (function, batch) in kinds.items():
            rates[name].append(rate(function, batch, arguments.seconds))
    *_, last = kinds
    print(f"{COUNT} signed transactions of {len(encoded[0])} bytes, one processor, receiptkit {receiptkit.__version__}")
    print(f"{'':46}{'per second':>12}{'best':>10}{'of openssl':>12}{'of Apple':>10}")
    for name, found in rates.items():
        # Ratios of what was measured within a round.
        to_openssl = statistics.median(a / b for a, b in zip(found, rates["openssl speed ecdsap256"]))
        to_apple = statistics.median(a / b for a, b in zip(found, rates[last]))
        print(f"{name:46}{statistics.median(found):12,.0f}{max(found):10,.0f}{to_openssl:12.2f}{to_apple:10.1f}")


if __name__ == "__main__":
    main()
