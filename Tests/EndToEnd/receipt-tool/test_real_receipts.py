# SPDX-License-Identifier: Apache-2.0
"""Genuine receipts of the App Store and Xcode, compared with their manifest.

They are not part of this repository: see `shared` in conftest.py.
"""

import json

import pytest

from conftest import SHARED

MANIFEST = SHARED / "receipts" / "manifest.json"
ENTRIES = json.loads(MANIFEST.read_text()) if MANIFEST.is_file() else []

KINDS = {
    "transaction": "signed-transaction",
    "renewal-info": "signed-renewal-info",
    "app-transaction": "signed-app-transaction",
    "notification": "signed-notification",
}
ENVIRONMENTS = {
    "Production": "Production",
    "Sandbox": "Sandbox",
    "ProductionSandbox": "Sandbox",
    "Xcode": "Xcode",
}


def entries(*kinds: str):
    chosen = [entry for entry in ENTRIES if entry["kind"] in kinds]
    return pytest.mark.parametrize("entry", chosen, ids=lambda entry: entry["file"])


@pytest.fixture(scope="session")
def intermediates(shared) -> list[str]:
    """Apple's intermediates as files, as a caller may name them."""
    files = sorted((shared / "receipts" / "trust").glob("Apple*CA*.cer"))
    roots = {"AppleRootCA.cer", "AppleRootCA-G2.cer", "AppleRootCA-G3.cer"}
    return [option for file in files if file.name not in roots for option in ("--intermediate", str(file))]


def verify(receipt_tool, shared, entry, *options):
    run = receipt_tool.run("verify", "--json", *options, shared / "receipts" / entry["file"])
    assert len(run.lines) == 1, run.out + run.err
    assert run.code == {"valid": 0, "invalid": 1, "undetermined": 2}[run.lines[0]["verdict"]]
    return run.lines[0]


def seconds(instant: str | None) -> str | None:
    """An ISO 8601 instant to the second: only some dates in the manifests have milliseconds."""
    return instant and instant.removesuffix("Z").split(".")[0]


def transactions_of(expected: dict) -> dict:
    """A notification's transaction is in its signed part."""
    return (expected.get("nested") or {}).get("signedTransactionInfo") or expected


@entries("transaction-receipt")
def test_apples_issuers_of_transaction_receipts_are_built_in(receipt_tool, shared, entry):
    verdict = verify(receipt_tool, shared, entry)
    assert verdict["verdict"] == "valid", verdict
    assert verdict["signer"]["sha256"] == entry["leaf"]["sha256"]


@entries("jws", "app-receipt", "transaction-receipt", "transaction-receipt-outer-edited")
def test_genuine_ones_are_valid_and_say_what_they_must(receipt_tool, shared, intermediates, entry):
    expected = entry["expected"]
    verdict = verify(receipt_tool, shared, entry, *intermediates)
    assert verdict["verdict"] == "valid", verdict

    if entry["kind"] == "jws":
        assert verdict["format"] == KINDS[expected["type"]]
        assert verdict["signer"]["algorithm"] == "ES256"
    else:
        assert verdict["format"] == entry["kind"].removesuffix("-outer-edited")
        digest = expected.get("digest") or expected["hash"][0]
        assert verdict["signer"]["algorithm"] == f"RSA-{digest.upper()}"
    assert verdict["signer"]["sha256"] == entry["leaf"]["sha256"]
    assert verdict["signer"]["rootSha256"] == expected["chain"][-1]["sha256"]

    assert verdict.get("bundleId") == expected["bundle_id"]
    environment = expected["environment"]
    assert verdict.get("environment") == ENVIRONMENTS.get(environment and environment.split()[0])
    signed = expected.get("signed_date") or expected.get("receipt_creation_date")
    if signed:
        assert seconds(verdict["signedDate"]) == seconds(signed)

    transactions = verdict.get("transactions", [])
    stated = transactions_of(expected)

    def reported(field):
        return sorted(t[field] for t in transactions if field in t)

    if stated.get("in_app_count") is not None:
        assert len(transactions) == stated["in_app_count"]
    assert reported("transactionId") == sorted(stated["transaction_ids"])
    if transactions:
        assert sorted(set(reported("originalTransactionId"))) == sorted(set(stated["original_transaction_ids"]))
        assert sorted(set(reported("productId"))) == sorted(set(stated["product_ids"]))
        dates = sorted({seconds(date) for date in stated["purchase_dates"]})
        assert sorted({seconds(date) for date in reported("purchaseDate")}) == dates


@entries("jws-negative", "app-receipt-negative", "transaction-receipt-negative")
def test_false_ones_are_invalid(receipt_tool, shared, intermediates, entry):
    verdict = verify(receipt_tool, shared, entry, *intermediates)
    assert verdict["verdict"] == "invalid", verdict
    assert verdict["reason"]["code"]
    assert "transactions" not in verdict and "signer" not in verdict


@entries("jws-xcode", "app-receipt-xcode")
def test_those_of_xcode_are_refused_unless_asked_for(receipt_tool, shared, intermediates, entry):
    verdict = verify(receipt_tool, shared, entry, *intermediates)
    assert verdict["verdict"] == "invalid", verdict
    # Asking for the environment is not enough: it is the receipt that says so.
    verdict = verify(receipt_tool, shared, entry, "--environment", "xcode")
    assert verdict["verdict"] == "invalid", verdict


@entries("app-receipt-xcode")
def test_app_receipts_of_xcode_are_admitted_by_name(receipt_tool, shared, entry):
    verdict = verify(receipt_tool, shared, entry, "--admit-xcode")
    assert verdict["verdict"] == "valid", verdict
    assert verdict["environment"] == "Xcode"
    assert verdict["bundleId"] == entry["expected"]["bundle_id"]
    assert len(verdict.get("transactions", [])) == entry["expected"]["in_app_count"]
    verdict = verify(receipt_tool, shared, entry, "--admit-xcode", "--environment", "production")
    assert verdict["verdict"] == "invalid", verdict


@pytest.mark.sweep
@entries("jws", "app-receipt", "transaction-receipt")
def test_one_base64_character_changed_is_never_valid_with_other_values(
    receipt_tool, shared, intermediates, entry, tmp_path
):
    """Every 97th byte of the file is changed; a receipt that still verifies must have the same content."""
    path = shared / "receipts" / entry["file"]
    genuine = verify(receipt_tool, shared, entry, *intermediates)
    original = path.read_bytes()
    altered = []
    for index in range(11, len(original), max(97, len(original) // 40)):
        copy = bytearray(original)
        copy[index] ^= 1
        file = tmp_path / str(index)
        file.write_bytes(copy)
        altered.append(file)
    run = receipt_tool.run("verify", "--json", *intermediates, *altered)
    assert len(run.lines) == len(altered)
    for line in run.lines:
        if line["verdict"] == "valid":
            for field in ("bundleId", "signedDate", "signer", "transactions"):
                assert line.get(field) == genuine.get(field), line


def test_the_root_alone_does_not_decide_a_transaction_receipt(receipt_tool, shared):
    # Trusted as a file, so that the intermediates that go with "apple" are left out.
    root = shared / "receipts" / "trust" / "AppleRootCA.cer"
    for entry in ENTRIES:
        if entry["kind"] == "transaction-receipt":
            verdict = verify(receipt_tool, shared, entry, "--trust", root)
            assert (verdict["verdict"], verdict["reason"]["code"]) == ("undetermined", "issuer-missing")


def test_a_removed_environment_does_not_pass_for_production(receipt_tool, shared, intermediates):
    for entry in ENTRIES:
        if entry["kind"].startswith("transaction-receipt") and entry["accept"]:
            verdict = verify(receipt_tool, shared, entry, *intermediates, "--environment", "production")
            assert (verdict["verdict"], verdict["reason"]["code"]) == (
                "undetermined",
                "environment-unproven",
            )


def test_the_device_that_was_published_with_a_receipt(receipt_tool, shared):
    entry = next(e for e in ENTRIES if "mindnode-ios-sandbox-2017-a" in e["file"])
    other = "00112233-4455-6677-8899-aabbccddeeff"
    verdict = verify(receipt_tool, shared, entry, "--device-id", other)
    assert (verdict["verdict"], verdict["reason"]["code"]) == ("invalid", "wrong-device")


def test_all_of_them_at_once(receipt_tool, shared, intermediates):
    """The exit code is that of the worst, and the results come in the order of the arguments."""
    paths = [str(shared / "receipts" / entry["file"]) for entry in ENTRIES]
    run = receipt_tool.run("verify", "--json", *intermediates, *paths)
    assert run.code == 1
    assert [line["source"] for line in run.lines] == paths
    assert [line["verdict"] == "valid" for line in run.lines] == [e["accept"] for e in ENTRIES]


@entries("jws", "jws-xcode", "app-receipt", "app-receipt-xcode")
def test_a_policy_without_apple_says_what_the_root_is(receipt_tool, shared, trust, entry):
    reason = verify(receipt_tool, shared, entry, *trust)["reason"]
    if entry["kind"].endswith("-xcode"):
        assert reason["code"] == ("chain-length" if entry["kind"] == "jws-xcode" else "chain-untrusted")
        assert "--admit-xcode" in reason["message"] and "xcodeCertificates" in reason["message"]
    else:
        assert reason["code"] == "chain-untrusted" and "add apple" in reason["message"], reason
