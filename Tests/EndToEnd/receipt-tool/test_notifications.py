# SPDX-License-Identifier: Apache-2.0
"""receipt-tool notifications fold: what a set of notifications means, in any order, and what is no part of it."""

import itertools
import json
import random
import time

import pytest

import samples
from independent import jws, pki
from notifications import body

ORIGINAL = samples.TRANSACTION["originalTransactionId"]


@pytest.fixture(scope="module")
def leaf(store):
    """Signs at any time."""
    return store.intermediate.issue("Receipt Signing", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)


@pytest.fixture
def fold(receipt_tool, trust, tmp_path):
    def run(*notifications: bytes, options=(), stdin=b""):
        files = []
        for number, content in enumerate(notifications):
            files.append(tmp_path / f"{number}.json")
            files[-1].write_bytes(content)
        return receipt_tool.run(
            "notifications", "fold", *(files or ["-"]), *trust, "--bundle-id", samples.BUNDLE, *options, stdin=stdin
        )

    return run


def test_neither_order_nor_repetition_matters(fold, leaf):
    now = int(time.time() * 1000)
    refund = {"notificationType": "REFUND", "subtype": None}
    received = [body(leaf, signed=now - 2000), body(leaf, signed=now - 1000, **refund), body(leaf, original="77", signed=now)]
    results = set()
    for order in itertools.permutations(received):
        run = fold(*order, order[0])
        assert run.code == 0, run.err
        results.add(run.out)
    assert len(results) == 1
    found = {line["originalTransactionId"]: line for line in fold(*received).lines}
    assert found.keys() == {ORIGINAL, "77"}
    assert found["77"]["state"] == "active" and found["77"]["grantsAccess"] is True
    [only] = fold(*received, options=["--original", "77"]).lines
    assert only == found["77"]
    [later] = fold(*received, options=["--original", "77", "--at", "2039-01-01T00:00:00Z"]).lines
    assert later["state"] == "expired"
    nothing = fold(*received, options=["--original", "1", "--json"])
    assert nothing.code == 1 and nothing.lines[-1]["code"] == "not-found"


def test_a_file_has_one_or_one_a_line(fold, leaf):
    bodies = [body(leaf, original=str(number)) for number in range(3)]
    compact = [json.loads(each)["signedPayload"].encode() for each in bodies]
    expected = {line["originalTransactionId"] for line in fold(*bodies).lines}
    assert expected == {"0", "1", "2"}
    for content in (b"\n".join(bodies), b"\r\n\r\n".join(compact) + b"\n", b"\n".join([bodies[0], compact[1], bodies[2]])):
        assert {line["originalTransactionId"] for line in fold(content).lines} == expected
        assert {line["originalTransactionId"] for line in fold(stdin=content).lines} == expected
    pretty = json.dumps(json.loads(bodies[0]), indent=2).encode()
    assert [line["originalTransactionId"] for line in fold(pretty).lines] == ["0"]


def test_a_forged_one_has_no_effect(fold, leaf, store):
    data = body(leaf)
    envelope = json.loads(data)
    head, content, signature = envelope["signedPayload"].split(".")
    other = json.loads(body(leaf))["signedPayload"].split(".")
    stranger = pki.Store("Another Root")
    forged = [
        json.dumps({"signedPayload": f"{head}.{other[1]}.{signature}"}).encode(),
        body(stranger.intermediate.issue("R", "p256", markers=(pki.RECEIPT_LEAF,), validity=pki.CENTURY)),
        body(store.intermediate.issue("Unmarked", "p256", validity=pki.CENTURY)),
        json.dumps({"signedPayload": jws.sign(samples.TRANSACTION, leaf)}).encode(),
        body(leaf, data=samples.NOTIFICATION["data"] | {"bundleId": "com.example.other"}),
        b"", b"{}", b"null", b"[]", b'{"signedPayload":1}', b"\xff" * 100, data[:-40],
    ]  # fmt: skip
    generator = random.Random(7)
    for _ in range(40):
        changed = bytearray(envelope["signedPayload"].encode())
        position = generator.randrange(len(changed))
        changed[position] = generator.choice([c for c in b"Aa0-_." if c != changed[position]])
        forged.append(json.dumps({"signedPayload": changed.decode()}).encode())
    run = fold(*forged)
    assert run.code == 1 and run.out == ""
    assert len(run.err.splitlines()) == len(forged), run.err
    mixed = fold(data, *forged[:3], options=["--json"])
    assert mixed.code == 1
    assert [line["type"] for line in mixed.lines] == ["error"] * 3 + ["entitlement"]
    assert [line["source"].rsplit("/", 1)[-1] for line in mixed.lines[:3]] == ["1.json", "2.json", "3.json"]


def test_age(fold, leaf):
    old = int(time.time() * 1000) - 3_700_000
    run = fold(body(leaf, signed=old), body(leaf, original="9"), options=["--max-age", "3600"])
    assert run.code == 1 and "too-old" in run.err
    assert [line["originalTransactionId"] for line in run.lines] == ["9"]


def test_what_cannot_be_read(receipt_tool, trust, tmp_path):
    command = ["notifications", "fold", tmp_path / "none", *trust]
    assert receipt_tool.run(*command, "--bundle-id", samples.BUNDLE).code == 66
    (tmp_path / "none").write_bytes(b"")
    assert receipt_tool.run(*command).code == 64
