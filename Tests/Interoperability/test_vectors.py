# SPDX-License-Identifier: Apache-2.0
"""TestVectors: receipt-tool and other verifiers give the verdicts of the manifest."""

import base64
import json
import pathlib
from collections import Counter

import pytest
from apple_purchase_receipt_verifier import Config, Verifier
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "TestVectors"
# What every kind of receipt can state of a purchase.
SHARED = (
    "transactionId", "originalTransactionId", "productId", "quantity", "purchaseDate", "originalPurchaseDate",
    "expiresDate", "revocationDate", "purchaseToken",
)  # fmt: skip
ENTRIES = json.loads((VECTORS / "manifest.json").read_text())["vectors"]

# Reasons that are about the bytes and the chain alone, and not about a caller's policy: a verifier that has
# no policy must find them too.
BYTES_AND_CHAIN = {"chain-untrusted", "signature-mismatch", "unsigned"}


def trusts(entry, root: str) -> bool:
    return entry["policy"][:2] == ["--trust", f"certificates/{root}.pem"] and "--time" not in entry["policy"]


@pytest.fixture(scope="module")
def roots() -> dict[str, bytes]:
    return {
        path.stem: x509.load_pem_x509_certificate(path.read_bytes()).public_bytes(Encoding.DER)
        for path in (VECTORS / "certificates").glob("*-root.pem")
    }


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry["file"])
def test_the_manifest_holds(receipt_tool, entry):
    run = receipt_tool.run("verify", "--json", *entry["policy"], entry["file"], cwd=VECTORS)
    verdict = run.lines[0]
    assert verdict["verdict"] == entry["verdict"], (entry["summary"], verdict)
    for field, expected in (("environment", "environment"), ("bundleId", "bundleId"), ("signedDate", "signedAt")):
        if expected in entry:
            found = verdict[field].lower() if field == "environment" else verdict[field]
            assert found == entry[expected], entry["summary"]
    if "transactions" in entry:
        # An app receipt is a set: its purchases have no order.
        found, expected = (
            [json.dumps({k: t[k] for k in SHARED if k in t}, sort_keys=True) for t in side["transactions"]]
            for side in (verdict, entry)
        )
        assert sorted(found) == sorted(expected), entry["summary"]
    if "reason" in entry:
        assert verdict["reason"]["code"] == entry["reason"]["code"], entry["summary"]


def test_apples_library_agrees_on_transactions(roots):
    """It accepts valid vectors, and refuses those with flaws in bytes or chain."""
    outcomes = Counter()
    for entry in ENTRIES:
        if entry["kind"] != "signed-transaction" or not trusts(entry, "es256-root"):
            continue
        if entry["verdict"] == "valid" and entry.get("environment") not in ("production", "sandbox"):
            continue
        environment = Environment.PRODUCTION if entry.get("environment") == "production" else Environment.SANDBOX
        verifier = SignedDataVerifier(
            [roots["es256-root"]], False, environment, entry.get("bundleId", "com.example.app"), 1
        )
        text = (VECTORS / entry["file"]).read_text(errors="replace").strip()
        if text.count(".") != 2:
            continue
        try:
            verifier.verify_and_decode_signed_transaction(text)
            accepted = True
        except (VerificationException, Exception):
            accepted = False
        if entry["verdict"] == "valid":
            assert accepted, entry
            outcomes["accepted"] += 1
        elif entry["reason"]["code"] in BYTES_AND_CHAIN:
            assert not accepted, entry
            outcomes["refused"] += 1
    assert outcomes["accepted"] >= 1 and outcomes["refused"] >= 5, outcomes


def test_another_verifier_agrees_on_app_receipts(roots):
    verifier = Verifier(Config(roots=list(roots.values())))
    outcomes = Counter()
    for entry in ENTRIES:
        if entry["kind"] != "app-receipt" or "--admit-xcode" in entry["policy"]:
            continue
        data = (VECTORS / entry["file"]).read_bytes()
        text = base64.b64encode(data).decode() if entry["file"].endswith(".der") else data.decode()
        result = verifier.verify_receipt("".join(text.split()))
        if entry["verdict"] == "valid":
            assert result.verified, (entry, result.failure)
            assert result.payload.bundle_id == entry["bundleId"]
            outcomes["accepted"] += 1
        elif entry["reason"]["code"] in BYTES_AND_CHAIN:
            assert not result.verified, entry
            outcomes["refused"] += 1
    assert outcomes["accepted"] >= 1 and outcomes["refused"] >= 3, outcomes
