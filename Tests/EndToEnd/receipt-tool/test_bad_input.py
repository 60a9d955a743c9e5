# SPDX-License-Identifier: Apache-2.0
"""Hostile input gives an error, in time and memory proportional to its size, and never a crash."""

import base64
import json
import os
import random
import subprocess
import time

import pytest

from independent import app_receipt, der, jws, transaction_receipt
from tool import INVALID

MEGABYTE = 1 << 20


def refuses(receipt_tool, data: bytes, *options, megabytes: float, seconds: float, tmp_path):
    file = tmp_path / "input"
    file.write_bytes(data)
    start = time.monotonic()
    run = receipt_tool.run_measured("verify", "--json", *options, file)
    assert run.code == INVALID, (run.code, run.err)
    assert run.lines[0]["reason"]["code"] == "malformed", run.lines
    assert run.peak_kilobytes < megabytes * 1024
    assert time.monotonic() - start < seconds
    return run.lines[0]["reason"]


def test_an_empty_file(receipt_tool, tmp_path):
    refuses(receipt_tool, b"", megabytes=60, seconds=20, tmp_path=tmp_path)
    refuses(receipt_tool, b" \r\n\t", megabytes=60, seconds=20, tmp_path=tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("byte", [b"\0", b"0", b"A", b"{", b"[", b"\x30", b"\x24", b"\xff", b" "])
def test_a_hundred_megabytes_of_one_byte(receipt_tool, byte, tmp_path):
    reason = refuses(receipt_tool, byte * (100 * MEGABYTE), megabytes=120, seconds=60, tmp_path=tmp_path)
    assert "limit" in reason["message"]


def test_a_hundred_megabytes_through_a_pipe(receipt_tool):
    zeros = subprocess.Popen(["head", "-c", str(100 * MEGABYTE), "/dev/zero"], stdout=subprocess.PIPE)
    run = receipt_tool.run_measured("verify", "--json", "-", stdin=zeros.stdout)
    zeros.stdout.close()
    zeros.wait()
    assert run.code == INVALID and run.peak_kilobytes < 120 * 1024


def test_the_limit_can_be_set(receipt_tool, tmp_path):
    data = b"\0" * (20 * MEGABYTE)
    reason = refuses(
        receipt_tool, data, "--max-bytes", 32 * MEGABYTE, megabytes=160, seconds=60, tmp_path=tmp_path
    )
    assert "limit" not in reason["message"]
    reason = refuses(receipt_tool, b"\0" * 1001, "--max-bytes", 1000, megabytes=60, seconds=20, tmp_path=tmp_path)
    assert "1000" in reason["message"]


@pytest.mark.sweep
@pytest.mark.parametrize(
    "piece",
    [
        b"\x30\x80",
        b"\x30\x84\x7f\xff\xff\xff",
        b"\x24\x80",
        b"\x31\x82\xff\xff",
        b"{",
        b"[",
        b'{"a":',
        b'"\\u0000',
        b"MIAG",
        b"e30.",
        b'{ "a" = ',
        b"(",
    ],
)
def test_a_megabyte_of_the_beginning_of_something(receipt_tool, piece, tmp_path):
    data = piece * (MEGABYTE // len(piece))
    refuses(receipt_tool, data, megabytes=100, seconds=30, tmp_path=tmp_path)
    refuses(receipt_tool, base64.b64encode(data), megabytes=100, seconds=30, tmp_path=tmp_path)


def test_depth_bombs_behind_a_valid_signature(receipt_tool, store, rsa_store, trust, rsa_trust, tmp_path):
    leaf = rsa_store.leaf("rsa2048")
    deep = b""
    for _ in range(5000):
        deep = der.sequence(deep)
    bombs = [
        (jws.sign(b'{"transactionId":"1","a":' + b"[" * MEGABYTE + b"]" * MEGABYTE + b"}", store.leaf()).encode(), trust),
        (jws.sign(b'{"a":' * MEGABYTE, store.leaf()).encode(), trust),
        (app_receipt.sign(der.set_of(deep), leaf), rsa_trust),
        (app_receipt.sign(app_receipt.payload(der.set_of(deep)), leaf), rsa_trust),
    ]
    for data, options in bombs:
        refuses(receipt_tool, data, *options, megabytes=120, seconds=30, tmp_path=tmp_path)


def test_a_deep_value_nobody_looks_into_is_just_bytes(receipt_tool, rsa_store, rsa_trust):
    """The value of an unknown attribute is opaque."""
    deep = b""
    for _ in range(5000):
        deep = der.sequence(deep)
    content = app_receipt.payload(extra=(app_receipt.attribute(4711, deep),))
    receipt_tool.accepts(app_receipt.sign(content, rsa_store.leaf("rsa2048")), *rsa_trust)


def many_purchases(count: int) -> bytes:
    """The smallest receipt with this number of in-app purchases, with three attributes each."""
    purchase = der.set_of(
        app_receipt.attribute(1702, der.utf8("p")),
        app_receipt.attribute(1703, der.utf8("1")),
        app_receipt.attribute(1704, der.ia5("2025-03-01T10:00:00Z")),
    )
    one = app_receipt.attribute(17, purchase)
    plain = app_receipt.payload()
    header = 2 + (plain[1] & 0x7F if plain[1] & 0x80 else 0)
    return der.tlv(0x31, plain[header:], one * count)


@pytest.mark.long
def test_a_hundred_thousand_purchases(receipt_tool, rsa_store, rsa_trust, tmp_path):
    def verify(count):
        (tmp_path / "receipt").write_bytes(app_receipt.sign(many_purchases(count), rsa_store.leaf("rsa2048")))
        start = time.monotonic()
        run = receipt_tool.run_measured("verify", "--json", *rsa_trust, tmp_path / "receipt")
        assert run.code == 0, (run.out + run.err)[:500]
        # Without the comparison with the schema, which would take ten seconds.
        assert len(json.loads(run.out)["transactions"]) == count
        return time.monotonic() - start, run.peak_kilobytes

    few, _ = verify(10_000)
    many, peak_kilobytes = verify(100_000)
    # The square would be a hundred times as long.
    assert many < 40 * few
    assert peak_kilobytes < 600 * 1024


@pytest.mark.long
def test_a_million_purchases_are_too_many(receipt_tool, rsa_store, rsa_trust, tmp_path):
    receipt = app_receipt.sign(many_purchases(1_000_000), rsa_store.leaf("rsa2048"))
    refuses(receipt_tool, receipt, *rsa_trust, megabytes=250, seconds=60, tmp_path=tmp_path)
    refuses(
        receipt_tool,
        receipt,
        *rsa_trust,
        *("--max-bytes", 256 * MEGABYTE),
        megabytes=1500,
        seconds=120,
        tmp_path=tmp_path,
    )


def test_many_members_of_json(receipt_tool, store, trust, tmp_path):
    """The cost per member does not grow with their number."""
    names = b",".join(b'"k%d":%d' % (i, i) for i in range(200_000))
    receipt = jws.sign(b'{"transactionId":"1","signedDate":1740823205123,' + names + b"}", store.leaf())
    (tmp_path / "receipt").write_text(receipt)
    start = time.monotonic()
    run = receipt_tool.run_measured("verify", "--json", *trust, tmp_path / "receipt")
    assert run.code in (0, INVALID)
    assert time.monotonic() - start < 60
    assert run.peak_kilobytes < 800 * 1024


def test_random_bytes(receipt_tool):
    source = random.Random(20250301)
    lines = []
    for _ in range(3000):
        data = bytearray(source.randbytes(source.randrange(1, 200)))
        if source.random() < 0.5:
            data[:1] = source.choice([b"\x30", b"{", b"e", b"M", b'"'])
        lines.append(bytes(data).replace(b"\n", b"").replace(b"\r", b"") or b"x")
    run = receipt_tool.run("verify", "--lines", "--json", "-", stdin=b"\n".join(lines))
    assert run.code == INVALID
    assert {line["verdict"] for line in run.lines} == {"invalid"}


@pytest.mark.parametrize("kind", ["jws", "transaction-receipt"])
def test_every_truncation(receipt_tool, store, rsa_store, trust, rsa_trust, kind):
    """App receipts: see test_attacks_app_receipt.py."""
    if kind == "jws":
        whole = jws.sign({"transactionId": "1", "signedDate": 1740823205123}, store.leaf()).encode()
        signature = len(whole) - 86
        lines = [whole[:count] for count in range(1, len(whole))]
    else:
        whole = transaction_receipt.sign(rsa_store.leaf("rsa2048"), encode=False)
        signature = len(whole)
        lines = [base64.b64encode(whole[:count]) for count in range(1, len(whole))]
    run = receipt_tool.run("verify", "--lines", "--json", *trust, *rsa_trust, "-", stdin=b"\n".join(lines))
    assert len(run.lines) == len(lines)
    for count, line in enumerate(run.lines, 1):
        codes = {"malformed"} if count < signature else {"malformed", "signature-mismatch", "unsigned"}
        assert line["verdict"] == "invalid" and line["reason"]["code"] in codes, (count, line)


def test_text_that_is_not_utf8(receipt_tool):
    for data in (b"\xff\xfe\x00", b'"\xc3\x28"', b'{"signedPayload": "\xed\xa0\x80"}', "é".encode("latin-1")):
        verdict = receipt_tool.verify(data)
        assert (verdict["verdict"], verdict["reason"]["code"]) == ("invalid", "malformed")


def test_names_of_files_that_are_not_utf8(receipt_tool, tmp_path):
    name = os.fsencode(tmp_path) + b"/\xff\xfe"
    with open(name, "wb") as file:
        file.write(b"x")
    run = receipt_tool.run("verify", "--json", os.fsdecode(name))
    # It would be shown and stored under another name.
    assert run.code == 64 and "is not UTF-8" in run.out


def test_keys_and_certificates_that_are_none(receipt_tool, tmp_path):
    for data in (b"", b"\0" * 1000, b"-----BEGIN PRIVATE KEY-----\n", b"-----BEGIN CERTIFICATE-----\nAAAA\n" * 3):
        (tmp_path / "file").write_bytes(data)
        for options in (["--trust", tmp_path / "file", "-"], ["--intermediate", tmp_path / "file", "-"]):
            assert receipt_tool.run("verify", *options).code in (64, 66)
        run = receipt_tool.run(
            *("sign", "--key", tmp_path / "file", "--chain", tmp_path / "file"),
            *("--format", "signed-transaction", "-"),
        )
        assert run.code in (64, 66) and run.err
