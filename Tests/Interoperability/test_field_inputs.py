# SPDX-License-Identifier: Apache-2.0
"""Receipts as editors, forms and logs leave them."""

import base64
import json
import pathlib
import urllib.parse

from tool import INVALID, VALID

VECTORS = pathlib.Path(__file__).resolve().parents[2] / "TestVectors"
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
