# SPDX-License-Identifier: Apache-2.0
"""Receipts as editors, forms and logs leave them."""

import base64
import json
import pathlib
import urllib.parse

import pytest
from conftest import SHARED
from tool import INVALID, VALID

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "TestVectors"
RSA = ["--trust", VECTORS / "certificates/rsa-root.pem"]
ES256 = ["--trust", VECTORS / "certificates/es256-root.pem"]
MARK = b"\xef\xbb\xbf"


def test_a_byte_order_mark_is_no_part_of_the_first_key(receipt_tool, tmp_path):
    jws = (VECTORS / "signed-transaction/valid.jws").read_bytes().strip()
    lines = tmp_path / "receipts.tsv"
    lines.write_bytes(MARK + b"a\t" + jws + b"\n" + MARK + b"b\t" + MARK + jws + b"\n")
    run = receipt_tool.run("verify", "--lines", "--keyed", "--json", *ES256, lines)
    assert run.code == VALID, run
    # Within the input it is part of a key, as any other character.
    assert [line["key"] for line in run.lines] == ["a", "\ufeffb"], run


def test_wrappings_with_one_reading_are_read_and_others_named(receipt_tool, tmp_path):
    der = (VECTORS / "app-receipt/valid-binary.der").read_bytes()
    text = base64.b64encode(der).decode()
    assert "+" in text
    pem = "\n".join(["-----BEGIN PKCS7-----", *[text[i : i + 64] for i in range(0, len(text), 64)], "-----END PKCS7-----"])
    jws = (VECTORS / "signed-transaction/valid.jws").read_text().strip()
    digits = der.hex()
    read = [
        pem, f"data:application/octet-stream;base64,{text}", f"Bearer {jws}", urllib.parse.quote(text, safe=""),
        "<" + " ".join(digits[i : i + 8] for i in range(0, len(digits), 8)) + ">", base64.b64encode(text.encode()).decode(),
    ]  # fmt: skip
    path = tmp_path / "receipt"
    for form in read:
        path.write_text(form)
        run = receipt_tool.run("verify", "--json", *RSA, *ES256, path)
        assert run.code == VALID, (form[:40], run)
    for form, words in [
        (text.replace("+", " "), "A space stands"),
        (json.dumps({"hasMore": False, "signedTransactions": [jws]}), "signedTransactions"),
    ]:
        path.write_text(form)
        run = receipt_tool.run("verify", "--json", *RSA, *ES256, path)
        assert run.code == INVALID and words in run.lines[0]["reason"]["message"], (form[:40], run)


def test_the_cases_of_the_field(receipt_tool, tmp_path):
    cases = SHARED / "cases"
    if not cases.is_dir():
        pytest.skip(f"no inputs of the field at {cases}: set RECEIPTKIT_SHARED")
    own = ["--trust", cases / "ec-root.cer", "--trust", cases / "rsa-root.cer", "--trust", "apple"]
    apple_test = ["--trust", cases / "testCA.der", "--bundle-id", "com.example"]

    def verdict(*arguments):
        return receipt_tool.run("verify", "--json", *arguments).lines[0]

    for name in ("testNotification", "transactionInfo"):
        assert verdict(*apple_test, cases / name)["verdict"] == "valid", name
        assert verdict(*own, cases / name)["verdict"] == "invalid", name
    expired = verdict(*own, "--require-current", cases / "f02-vpp-receipt-expired-2021.der")
    assert expired["verdict"] == "invalid" and "2021-01-01" in expired["reason"]["message"], expired
    for key in ("play-key.txt", "f13-play-key-bom.txt"):
        play = verdict("--play-key", f"com.example.app={cases / key}", cases / "f03-play-productIds-two.json")
        assert [purchase["productId"] for purchase in play["transactions"]] == ["a", "b"], play
    trail = tmp_path / "trail"
    assert receipt_tool.run("audit", "init", trail, "--origin", "example.com/trail").code == VALID
    granting = ["--audit", trail, "--refuse-replay", "another-customer", "--customer"]
    for name in ("a-production-alice", "b-sandbox-bob", "c-other-app-carol"):
        assert verdict(*own, *granting, name.rpartition("-")[2], cases / f"f05-{name}.jws")["verdict"] == "valid", name
    assert verdict(*own, *granting, "bob", cases / "f05-a-production-alice.jws")["verdict"] == "invalid"
    catalogue = ["--store", tmp_path / "shop", "--catalog", cases / "f09-flutter-v1.0.storekit"]
    assert receipt_tool.run("store", "init", *catalogue).code == VALID
    wrappings = sorted(cases.glob("f11-*.txt"))
    assert len(wrappings) == 8, wrappings
    for path in wrappings:
        ambiguous = path.stem in ("f11-json-signedTransactions", "f11-space-plus")
        assert verdict(*own, path)["verdict"] == ("invalid" if ambiguous else "valid"), path
    keyed = receipt_tool.run("verify", "--json", "--lines", "--keyed", *own, cases / "f12-keyed-bom.tsv").lines
    assert not keyed[0]["key"].startswith("\ufeff") and keyed[0]["verdict"] == "valid", keyed
