# SPDX-License-Identifier: Apache-2.0
"""receipt-tool audit and verify --audit: recording, look-up and proofs, which are checked independently."""

import base64
import hashlib
import json
import os
import re
import sqlite3
import stat

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

import samples
from independent import jws, pki
from tool import INVALID, UNREADABLE, USAGE, VALID

CANNOT_CREATE, NOT_STORED = 73, 74
TOKEN = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"


@pytest.fixture
def trail(receipt_tool, tmp_path):
    """A new trail."""
    path = tmp_path / "verdicts.audit"
    run = receipt_tool.run("audit", "init", path, "--origin", "example.com/verdicts")
    assert run.code == VALID, run.err
    return path


@pytest.fixture(scope="module")
def sign(store):
    """Signs a transaction with the changes in the arguments."""
    leaf = store.leaf()
    return lambda **changes: jws.sign(samples.TRANSACTION | changes, leaf)


@pytest.fixture
def record(receipt_tool, trail, trust):
    """Verifies a receipt, recording the verdict; returns the JSON."""

    def record(receipt, *options):
        run = receipt_tool.run("verify", "--json", "--audit", trail, *trust, *options, "-", stdin=receipt.encode())
        assert run.code in (0, 1, 2), run.err
        (line,) = run.lines
        return line

    return record


class TestInit:
    def test_the_files(self, receipt_tool, tmp_path):
        path = tmp_path / "t"
        run = receipt_tool.run("audit", "init", path, "--json", "--origin", "example.com/t")
        assert run.code == VALID, run.err
        (line,) = run.lines
        assert line["origin"] == "example.com/t"
        assert stat.S_IMODE(os.stat(f"{path}.key").st_mode) == 0o600
        assert open(f"{path}.pub").read().strip() == line["publicKey"]
        assert line["publicKey"].startswith("example.com/t+")
        assert open(f"{path}.checkpoint").read().startswith("example.com/t\n0\n")

    def test_what_is_there_is_not_touched(self, receipt_tool, trail):
        before = {path: path.read_bytes() for path in trail.parent.iterdir() if not path.name.endswith(("-shm", "-wal"))}
        run = receipt_tool.run("audit", "init", trail)
        assert run.code == CANNOT_CREATE
        assert {path: path.read_bytes() for path in before} == before

    def test_a_taken_path_leaves_no_keys(self, receipt_tool, tmp_path):
        path = tmp_path / "t"
        path.write_text("mine")
        assert receipt_tool.run("audit", "init", path).code == CANNOT_CREATE
        assert [file.name for file in tmp_path.iterdir()] == ["t"]
        assert path.read_text() == "mine"

    def test_a_key_of_ones_own(self, receipt_tool, tmp_path):
        first, second = tmp_path / "first", tmp_path / "second"
        receipt_tool.run("audit", "init", first, "--origin", "example.com/same")
        run = receipt_tool.run(
            "audit", "init", second, "--origin", "example.com/same", "--private-key", f"{first}.key"
        )
        assert run.code == VALID, run.err
        assert open(f"{first}.pub").read() == open(f"{second}.pub").read()
        assert not (tmp_path / "second.key").exists()

    @pytest.mark.parametrize("options", [["--origin", "with space"], ["--once", "0"], ["--once", "soon"]])
    def test_wrong_command_lines(self, receipt_tool, tmp_path, options):
        assert receipt_tool.run("audit", "init", tmp_path / "t", *options).code == USAGE
        assert not list(tmp_path.iterdir())


class TestVerify:
    def test_a_verdict_is_recorded_once(self, receipt_tool, trail, record, sign):
        receipt = sign(appAccountToken=TOKEN.upper())
        line = record(receipt)
        assert (line["entry"], line["repeated"]) == (0, False)
        line = record(receipt)
        assert (line["entry"], line["repeated"]) == (0, True)
        (shown,) = receipt_tool.run("audit", "show", trail, "0", "--json", "--customer").lines
        signing_input = receipt.rpartition(".")[0]
        assert shown["receiptSha256"] == hashlib.sha256(signing_input.encode()).hexdigest()
        assert shown["encodingSha256"] == hashlib.sha256(receipt.encode()).hexdigest()
        assert shown["format"] == "signed-transaction"
        assert shown["transactionId"] == samples.TRANSACTION["transactionId"]
        assert shown["originalTransactionId"] == samples.TRANSACTION["originalTransactionId"]
        assert shown["verdict"] == "valid"
        assert shown["expiresDate"] == "2025-04-01T10:00:00.000Z"
        assert shown["customer"] == TOKEN
        assert receipt_tool.run("audit", "show", trail, "0", "--receipt").out == receipt
        assert receipt_tool.run("audit", "stats", trail, "--json").lines[0]["entries"] == 1

    def test_another_policy_is_another_verdict(self, record, sign):
        receipt = sign()
        assert record(receipt)["entry"] == 0
        assert record(receipt, "--bundle-id", samples.BUNDLE)["entry"] == 1
        refused = record(receipt, "--bundle-id", "com.example.other")
        assert (refused["verdict"], refused["entry"]) == ("invalid", 2)

    def test_a_forged_receipt_claims_nothing(self, receipt_tool, trail, record):
        line = record(jws.sign(samples.TRANSACTION | {"appAccountToken": TOKEN}, pki.Store().leaf()))
        assert line["verdict"] == "invalid"
        (shown,) = receipt_tool.run("audit", "show", trail, "0", "--json", "--customer").lines
        assert set(shown) == {
            "type", "version", "index", "time", "kind", "receiptSha256", "encodingSha256", "verdict", "reason",
            "policySha256", "commitment", "erasable",
        }  # fmt: skip
        assert shown["receiptSha256"] == shown["encodingSha256"]

    def test_a_thousand_lines(self, receipt_tool, trail, trust, sign, tmp_path):
        receipts = [sign(transactionId=str(number)) for number in range(50)]
        lines = tmp_path / "lines"
        lines.write_text("\n".join(receipts * 20) + "\n")
        run = receipt_tool.run("verify", "--lines", "--json", "--audit", trail, *trust, lines)
        assert run.code == VALID, run.err
        entries = {}
        for line in run.lines:
            entries.setdefault(line["transactions"][0]["transactionId"], set()).add(line["entry"])
        assert sorted(entry for (entry,) in entries.values()) == list(range(50))
        for transaction in ("0", "49"):
            (found,) = receipt_tool.run("audit", "find", trail, "--transaction", transaction, "--json").lines
            assert {found["index"]} == entries[transaction]

    def test_what_cannot_be_recorded_is_not_printed(self, receipt_tool, trail, trust, sign):
        run = receipt_tool.run("verify", "--audit", f"{trail}.absent", *trust, "-", stdin=sign().encode())
        assert run.code == UNREADABLE and not run.out
        os.rename(f"{trail}.key", f"{trail}.away")
        run = receipt_tool.run("verify", "--audit", trail, *trust, "-", stdin=sign().encode())
        assert run.code == UNREADABLE and not run.out
        assert "--private-key" in run.err

    def test_replays_are_refused(self, receipt_tool, trail, record, sign):
        subscription = sign()
        another = ["--refuse-replay", "another-customer"]
        assert record(subscription, *another, "--customer", "anna")["verdict"] == "valid"
        refused = record(subscription, *another, "--customer", "bert")
        assert refused["reason"]["code"] == "checker-refused"
        assert "anna" not in json.dumps(refused)
        assert record(subscription, *another, "--customer", "anna")["verdict"] == "valid"
        again = ["--refuse-replay", "consumable-again"]
        coins = {"transactionId": "1", "originalTransactionId": "1", "type": "Consumable"}
        assert record(sign(**coins), *again)["verdict"] == "valid"
        assert record(sign(**coins, signedDate=samples.SIGNED + 1), *again)["verdict"] == "invalid"
        (found,) = receipt_tool.run("audit", "find", trail, "--transaction", "1", "--json", "--limit", "1").lines
        assert found["checks"] == [{"name": "replay", "answer": "refused"}]


class TestAppend:
    def test_what_is_shown_can_be_appended(self, receipt_tool, trail, tmp_path):
        record = {
            "kind": "verdict", "time": "2025-01-01T00:00:00.123Z", "id": "an id", "format": "signed-notification",
            "notificationType": "REFUND", "subtype": "of tomorrow", "receiptSha256": "ab" * 32, "encodingSha256": "cd" * 32,
            "transactionId": "1", "originalTransactionId": "2", "productId": "a product % \n", "bundleId": "b",
            "environment": "Production", "expiresDate": "1969-12-31T00:00:00.000Z",
            "revocationDate": "2025-01-02T00:00:00.000Z", "verdict": "invalid", "reason": "revoked",
            "signerSha256": "01" * 32, "rootSha256": "02" * 32, "policySha256": "03" * 32,
            "checks": [{"name": "app-store", "answer": "revoked"}],
        }  # fmt: skip
        run = receipt_tool.run("audit", "append", trail, "-", "--json", stdin=json.dumps(record).encode())
        assert (run.code, run.lines) == (
            VALID, [{"type": "audit-acknowledgement", "version": 1, "index": 0, "repeated": False}]
        ), run.err
        shown = receipt_tool.run("audit", "show", trail, "0", "--json")
        assert shown.lines == [{"type": "audit-entry", "version": 1, "index": 0} | record]
        other = tmp_path / "other"
        receipt_tool.run("audit", "init", other)
        run = receipt_tool.run("audit", "append", other, "-", stdin=shown.out.encode())
        assert run.code == VALID, run.err
        raw = [receipt_tool.run("audit", "show", path, "0", "--raw").out for path in (trail, other)]
        assert raw[0] == raw[1]

    def test_an_id_is_entered_once(self, receipt_tool, trail):
        records = [
            {"kind": "command", "id": "1", "productId": "a"}, {"kind": "command", "id": "2"},
            {"kind": "command", "id": "1", "productId": "b"}, {"kind": "command"}, {"kind": "command"},
        ]  # fmt: skip
        stdin = "\n".join(map(json.dumps, records)).encode()
        run = receipt_tool.run("audit", "append", trail, "-", "--json", stdin=stdin)
        assert [line["index"] for line in run.lines] == [0, 1, 0, 2, 3], run.err
        assert [line["repeated"] for line in run.lines] == [False, False, True, False, False]
        (shown,) = receipt_tool.run("audit", "show", trail, "0", "--json").lines
        assert (shown["id"], shown["productId"]) == ("1", "a")

    @pytest.mark.parametrize(("facts", "is_genuine"), [({"verdict": "valid"}, True), ({"verdict": "invalid"}, False)])
    def test_receipt_data_names_the_receipt(self, receipt_tool, trail, sign, facts, is_genuine):
        receipt = sign().encode()
        record = {"kind": "verdict", "receiptData": base64.b64encode(receipt).decode()} | facts
        run = receipt_tool.run("audit", "append", trail, "-", stdin=json.dumps(record).encode())
        assert run.code == VALID, run.err
        (shown,) = receipt_tool.run("audit", "show", trail, "0", "--json").lines
        named = receipt.rpartition(b".")[0] if is_genuine else receipt
        assert shown["receiptSha256"] == hashlib.sha256(named).hexdigest()
        assert shown["encodingSha256"] == hashlib.sha256(receipt).hexdigest()

    @pytest.mark.parametrize(
        "line",
        ["[]", "{}", "{", '{"kind":""}', '{"kind":"verdict","verdict":"perhaps"}', '{"kind":"verdict","receiptSha256":"00"}',
         '{"kind":"verdict","note":"x"}', '{"kind":"verdict","time":"yesterday"}', '{"kind":"verdict","time":-1}',
         '{"kind":"verdict","time":9000000000000}', '{"kind":"verdict","expiresDate":9223372036854775807}',
         '{"kind":"verdict","productId":"' + "p" * 70000 + '"}'],
        ids=lambda line: line[:40],
    )  # fmt: skip
    def test_a_record_that_cannot_be(self, receipt_tool, trail, line):
        good = '{"kind":"verdict","transactionId":"1"}\n'
        run = receipt_tool.run("audit", "append", trail, "-", stdin=(good + line).encode())
        assert run.code == UNREADABLE
        assert run.err

    def test_time_does_not_run_backwards(self, receipt_tool, trail):
        lines = '{"kind":"x","time":1700000000000}\n{"kind":"x","time":1600000000000}\n'
        assert receipt_tool.run("audit", "append", trail, "-", stdin=lines.encode()).code == VALID
        times = [line["time"] for line in receipt_tool.run("audit", "show", trail, "0", "1", "--json").lines]
        assert times == ["2023-11-14T22:13:20.000Z"] * 2


class TestFind:
    @pytest.fixture
    def filled(self, receipt_tool, trail):
        lines = [
            {"kind": "verdict", "verdict": "valid", "transactionId": f"t{n}", "originalTransactionId": f"o{n % 3}",
             "productId": f"p{n % 2}", "time": 1_700_000_000_000 + 1000 * n, "customer": f"c{n % 4}"}
            for n in range(20)
        ]  # fmt: skip
        stdin = "\n".join(map(json.dumps, lines)).encode()
        assert receipt_tool.run("audit", "append", trail, "-", stdin=stdin).code == VALID
        return trail

    @pytest.mark.parametrize(
        ("options", "indexes"),
        [
            (["--transaction", "t7"], [7]),
            (["--original", "o1"], [19, 16, 13, 10, 7, 4, 1]),
            (["--product", "p0", "--limit", "3"], [18, 16, 14]),
            (["--product", "p0", "--limit", "3", "--before", "14"], [12, 10, 8]),
            (["--customer", "c3"], [19, 15, 11, 7, 3]),
            (["--from", "2023-11-14T22:13:25Z", "--to", "2023-11-14T22:13:27Z"], [5, 6, 7]),
            (["--from", "2023-11-14T22:13:38Z"], [18, 19]),
        ],
        ids=str,
    )
    def test_what_is_found(self, receipt_tool, filled, options, indexes):
        run = receipt_tool.run("audit", "find", filled, *options, "--json")
        assert run.code == VALID, run.err
        assert [line["index"] for line in run.lines] == indexes

    @pytest.mark.parametrize(
        "options", [["--transaction", "t"], ["--receipt", "00" * 32], ["--to", "2000-01-01T00:00:00Z"]], ids=str
    )
    def test_nothing(self, receipt_tool, filled, options):
        run = receipt_tool.run("audit", "find", filled, *options)
        assert (run.code, run.out) == (INVALID, "")

    @pytest.mark.parametrize(
        "options",
        [[], ["--transaction", "1", "--product", "p"], ["--receipt", "00"], ["--product", "p", "--limit", "0"]],
        ids=str,
    )
    def test_wrong_command_lines(self, receipt_tool, filled, options):
        assert receipt_tool.run("audit", "find", filled, *options).code == USAGE

    def test_a_receipt_by_its_file(self, receipt_tool, trail, record, sign, tmp_path):
        receipt = sign()
        record(receipt)
        wrapped = tmp_path / "wrapped"
        wrapped.write_text(json.dumps({"signedTransactionInfo": receipt}))
        run = receipt_tool.run("audit", "find", trail, "--receipt-file", wrapped, "--json")
        assert [line["index"] for line in run.lines] == [0]

    def test_a_receipt_in_another_spelling(self, receipt_tool, trail, record, sign, tmp_path):
        receipt, respelled = sign(), tmp_path / "respelled"
        respelled.write_text(respell(receipt))
        assert respelled.read_text() != receipt
        record(receipt)
        run = receipt_tool.run("audit", "find", trail, "--receipt-file", respelled, "--json")
        assert [line["index"] for line in run.lines] == [0]
        line = record(respelled.read_text())
        assert (line["verdict"], line["entry"], line["repeated"]) == ("valid", 0, True)
        refused = record(respelled.read_text(), "--refuse-replay", "same-receipt")
        assert refused["reason"]["code"] == "checker-refused"


def respell(receipt: str) -> str:
    """The JWS with the signature (r, n - s) in place of (r, s)."""
    n = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    signed, _, signature = receipt.rpartition(".")
    octets = base64.urlsafe_b64decode(signature + "==")
    s = n - int.from_bytes(octets[32:])
    return f"{signed}.{jws.base64url(octets[:32] + s.to_bytes(32))}"


def verify_proof(text: str, public_key: str) -> tuple[int, bytes, int]:
    """Checks a C2SP tlog-proof independently of our code; returns index, entry and size of the tree."""
    head, checkpoint = text.split("\n\n", 1)
    header, extra, index, *hashes = head.split("\n")
    assert header == "c2sp.org/tlog-proof@v1"
    entry = base64.b64decode(extra.removeprefix("extra "), validate=True)
    index = int(index.removeprefix("index "))
    body, signatures = checkpoint.split("\n\n", 1)
    origin, size, root = body.split("\n")
    name, key_id, key = public_key.split("+", 2)
    key = base64.b64decode(key, validate=True)
    assert origin == name and key[0] == 1
    expected_id = hashlib.sha256(name.encode() + b"\n" + key).digest()[:4]
    assert expected_id.hex() == key_id
    (line,) = signatures.splitlines()
    dash, signer, signature = line.split(" ")
    signature = base64.b64decode(signature, validate=True)
    assert (dash, signer, signature[:4]) == ("—", name, expected_id)
    Ed25519PublicKey.from_public_bytes(key[1:]).verify(signature[4:], (body + "\n").encode())

    # RFC 9162 section 2.1.3.2.
    node, last = index, int(size) - 1
    value = hashlib.sha256(b"\0" + entry).digest()
    for sibling in map(base64.b64decode, hashes):
        if node % 2 or node == last:
            value = hashlib.sha256(b"\1" + sibling + value).digest()
            while node % 2 == 0 and node:
                node, last = node >> 1, last >> 1
        else:
            value = hashlib.sha256(b"\1" + value + sibling).digest()
        node, last = node >> 1, last >> 1
    assert last == 0 and value == base64.b64decode(root)
    return index, entry, int(size)


class TestScopes:
    """The same identifiers in an app's production, in its sandbox, in another app, and where nothing is stated."""

    PLACES = [("a", "Production"), ("a", "Sandbox"), ("b", "Production"), (None, None)]

    @pytest.fixture
    def filled(self, receipt_tool, trail):
        lines = []
        for number, (bundle, environment) in enumerate(self.PLACES):
            line = {"kind": "verdict", "verdict": "valid", "transactionId": "70001", "originalTransactionId": "70001",
                    "customer": f"c{number}"}  # fmt: skip
            line |= {"bundleId": bundle, "environment": environment} if bundle else {}
            lines.append(json.dumps(line))
        assert receipt_tool.run("audit", "append", trail, "-", stdin="\n".join(lines).encode()).code == VALID
        return trail

    @pytest.mark.parametrize(
        ("options", "indexes"),
        [
            ([], [3, 2, 1, 0]), (["--bundle-id", "a"], [3, 1, 0]), (["--environment", "production"], [3, 2, 0]),
            (["--bundle-id", "a", "--environment", "sandbox"], [3, 1]), (["--bundle-id", "c"], [3]),
        ],
        ids=str,
    )  # fmt: skip
    def test_entries_of_one(self, receipt_tool, filled, options, indexes):
        for search in (["find", filled, "--original", "70001"], ["find", filled, "--transaction", "70001"],
                       ["history", filled, "70001"]):  # fmt: skip
            run = receipt_tool.run("audit", *search, *options, "--json")
            assert run.code == VALID, run.err
            found = [line["index"] for line in run.lines]
            assert sorted(found, reverse=True) == indexes, (search, found)

    def test_one_is_erased(self, receipt_tool, filled):
        scope = ["--bundle-id", "a", "--environment", "production"]
        run = receipt_tool.run("audit", "erase", filled, "--original", "70001", *scope, "--json")
        assert run.code == VALID, run.err
        # What states neither may be of it.
        assert sorted(line["erased"] for line in run.lines if line["type"] == "audit-erasure") == [0, 3]
        for customer in ("c1", "c2"):
            assert receipt_tool.run("audit", "find", filled, "--customer", customer).code == VALID

    @pytest.mark.parametrize(
        "arguments",
        [["find", "--product", "p"], ["erase", "0"], ["history", "--customer", "c"], ["history", "1", "--proofs", "p"]],
        ids=str,
    )
    def test_it_is_refused_where_it_has_no_effect(self, receipt_tool, filled, arguments):
        run = receipt_tool.run("audit", arguments[0], filled, *arguments[1:], "--bundle-id", "a")
        assert run.code == USAGE, run.err


class TestProofs:
    @pytest.fixture
    def filled(self, receipt_tool, trail):
        lines = "\n".join(f'{{"kind":"verdict","originalTransactionId":"o{n % 5}"}}' for n in range(300))
        assert receipt_tool.run("audit", "append", trail, "-", stdin=lines.encode()).code == VALID
        return trail

    def test_others_accept_them(self, receipt_tool, filled, tmp_path):
        public_key = open(f"{filled}.pub").read().strip()
        for index in (0, 1, 255, 256, 299):
            run = receipt_tool.run("audit", "prove", filled, index)
            assert run.code == VALID, run.err
            raw = receipt_tool.run("audit", "show", filled, index, "--raw").out.encode()
            assert verify_proof(run.out, public_key) == (index, raw, 300)
            file = tmp_path / "proof"
            file.write_text(run.out)
            checked = receipt_tool.run("audit", "check", file, "--key", public_key, "--json")
            assert checked.code == VALID, checked.out
            assert checked.lines[0]["entry"]["index"] == index

    def test_it_needs_nothing_but_the_key(self, receipt_tool, filled, tmp_path):
        proof = tmp_path / "elsewhere" / "p.tlog-proof"
        proof.parent.mkdir()
        assert receipt_tool.run("audit", "prove", filled, 7, "-o", proof).code == VALID
        assert receipt_tool.run("audit", "prove", filled, 7, "-o", proof).code == CANNOT_CREATE
        assert receipt_tool.run("audit", "prove", filled, 7, "-o", proof, "--overwrite").code == VALID
        public_key = open(f"{filled}.pub").read().strip()
        for file in filled.parent.glob("verdicts.audit*"):
            file.unlink()
        assert receipt_tool.run("audit", "check", proof, "--key", public_key).code == VALID

    def test_every_changed_byte_is_refused(self, receipt_tool, filled, tmp_path):
        text = receipt_tool.run("audit", "prove", filled, 7).out.encode()
        files = []
        for offset in range(0, len(text), 3):
            changed = bytearray(text)
            changed[offset] ^= 1
            file = tmp_path / f"{offset}"
            file.write_bytes(changed)
            files.append(file)
        run = receipt_tool.run("audit", "check", *files, "--key", f"{filled}.pub", "--json")
        assert run.code == INVALID
        assert len(run.lines) == len(files)
        assert not [line for line in run.lines if line["proven"]]

    def test_another_key_is_refused(self, receipt_tool, filled, tmp_path):
        proof = tmp_path / "p"
        receipt_tool.run("audit", "prove", filled, 7, "-o", proof)
        receipt_tool.run("audit", "init", tmp_path / "other", "--origin", "example.com/verdicts")
        run = receipt_tool.run("audit", "check", proof, "--key", tmp_path / "other.pub")
        assert run.code == INVALID
        assert "NOT PROVEN" in run.out

    def test_the_receipt_must_be_the_one(self, receipt_tool, trail, record, sign, tmp_path):
        receipt, other = tmp_path / "receipt", tmp_path / "other"
        receipt.write_text(sign())
        other.write_text(sign(transactionId="5"))
        record(receipt.read_text())
        proof = tmp_path / "p"
        receipt_tool.run("audit", "prove", trail, 0, "-o", proof)
        check = ["audit", "check", proof, "--key", f"{trail}.pub", "--receipt"]
        assert receipt_tool.run(*check, receipt).code == VALID
        assert receipt_tool.run(*check, other).code == INVALID
        other.write_text(respell(receipt.read_text()))
        assert receipt_tool.run(*check, other).code == VALID

    def test_a_proof_signs_a_checkpoint_where_it_must(self, receipt_tool, filled):
        os.rename(f"{filled}.key", f"{filled}.away")
        assert receipt_tool.run("audit", "prove", filled, 299).code == VALID
        os.rename(f"{filled}.away", f"{filled}.key")
        assert receipt_tool.run("audit", "prove", filled, 300).code == INVALID

    def test_a_history_is_proven_complete(self, receipt_tool, filled, tmp_path):
        run = receipt_tool.run("audit", "history", filled, "o3", "--json")
        assert [line["index"] for line in run.lines] == list(range(298, 0, -5))
        folder = tmp_path / "proofs"
        run = receipt_tool.run("audit", "history", filled, "o3", "--proofs", folder)
        assert run.code == VALID, run.err
        proofs = sorted(folder.iterdir())
        assert len(proofs) == 61
        check = ["audit", "check", "--key", f"{filled}.pub", "--complete", "--json"]
        run = receipt_tool.run(*check, *proofs)
        assert run.code == VALID, run.err
        assert run.lines[-1] == {
            "type": "audit-completeness", "version": 1, "complete": True, "originalTransactionId": "o3", "entries": 60,
            "treeSize": 300,
        }
        for missing in (0, 30, 60):
            run = receipt_tool.run(*check, *proofs[:missing], *proofs[missing + 1 :])
            assert run.code == INVALID
            assert "not complete" in run.err

    def test_the_history_of_a_customer(self, receipt_tool, trail, record, sign):
        record(sign(transactionId="1", appAccountToken=TOKEN))
        record(sign(transactionId="2"))
        record(sign(transactionId="3", appAccountToken=TOKEN.upper()))
        history = ["audit", "history", trail, "--customer", TOKEN.upper(), "--json"]
        assert [line["transactionId"] for line in receipt_tool.run(*history).lines] == ["3", "1"]
        receipt_tool.run("audit", "erase", trail, "0")
        assert [line["transactionId"] for line in receipt_tool.run(*history).lines] == ["3"]
        assert receipt_tool.run("audit", "history", trail).code == USAGE
        assert receipt_tool.run("audit", "history", trail, "1", "--customer", TOKEN).code == USAGE

    def test_nothing_has_no_history(self, receipt_tool, filled, tmp_path):
        assert receipt_tool.run("audit", "history", filled, "x").code == INVALID
        assert receipt_tool.run("audit", "history", filled, "x", "--proofs", tmp_path / "p").code == INVALID
        assert not (tmp_path / "p").exists()


class TestCheckpoint:
    def test_the_last_one_needs_no_private_key(self, receipt_tool, trail, record, sign):
        record(sign())
        signed = receipt_tool.run("audit", "checkpoint", trail)
        assert signed.code == VALID, signed.err
        assert signed.out.startswith("example.com/verdicts\n1\n")
        os.rename(f"{trail}.key", f"{trail}.away")
        assert receipt_tool.run("audit", "checkpoint", trail).code == UNREADABLE
        assert receipt_tool.run("audit", "checkpoint", trail, "--last").out == signed.out

    def test_an_old_copy_is_refused(self, receipt_tool, trail, record, sign, tmp_path):
        record(sign())
        copy = tmp_path / "copy"
        with sqlite3.connect(trail) as source, sqlite3.connect(copy) as target:
            source.backup(target)
        record(sign(transactionId="2"))
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(f"{trail}{suffix}"):
                os.unlink(f"{trail}{suffix}")
        os.rename(copy, trail)
        run = receipt_tool.run("audit", "stats", trail)
        assert run.code == INVALID
        assert "rolled-back" in run.err


class TestErase:
    def test_what_was_erased_is_gone_and_proven_all_the_same(self, receipt_tool, trail, record, sign, tmp_path):
        receipt = sign(appAccountToken=TOKEN)
        record(receipt)
        record(sign(transactionId="5", appAccountToken="00000000-0000-0000-0000-000000000000"))
        proof = tmp_path / "p"
        assert receipt_tool.run("audit", "prove", trail, 0, "-o", proof).code == VALID
        run = receipt_tool.run("audit", "erase", trail, "--customer", TOKEN, "--json")
        assert (run.code, run.lines) == (
            VALID, [{"type": "audit-erasure", "version": 1, "erased": 0, "index": 2, "repeated": False}]
        ), run.err
        (shown,) = receipt_tool.run("audit", "show", trail, "0", "--json", "--customer").lines
        assert shown["erasable"] == "erased" and "customer" not in shown
        assert receipt_tool.run("audit", "show", trail, "0", "--receipt").code == INVALID
        assert receipt_tool.run("audit", "find", trail, "--customer", TOKEN).code == INVALID
        assert receipt_tool.run("audit", "check", proof, "--key", f"{trail}.pub").code == VALID
        (erasure,) = receipt_tool.run("audit", "show", trail, "2", "--json").lines
        assert (erasure["kind"], erasure["erased"]) == ("erasure", 0)
        for file in trail.parent.glob("verdicts.audit*"):
            assert TOKEN.encode() not in file.read_bytes()
            assert receipt.encode() not in file.read_bytes()

    def test_once_is_enough(self, receipt_tool, trail, record, sign):
        record(sign())
        for repeat in (False, True):
            run = receipt_tool.run("audit", "erase", trail, "0", "--json")
            assert (run.code, run.lines) == (
                VALID, [{"type": "audit-erasure", "version": 1, "erased": 0, "index": 1, "repeated": repeat}]
            ), run.err
        assert receipt_tool.run("audit", "erase", trail, "7").code == INVALID
        assert receipt_tool.run("audit", "erase", trail).code == USAGE


class TestTrails:
    @pytest.mark.parametrize("command", [["stats"], ["show", "0"], ["find", "--product", "p"], ["checkpoint"]], ids=str)
    def test_what_is_no_trail(self, receipt_tool, trail, tmp_path, command):
        keys = ["--key", f"{trail}.pub"]
        if command == ["checkpoint"]:
            keys += ["--private-key", f"{trail}.key"]

        def run(path):
            return receipt_tool.run("audit", command[0], path, *command[1:], *keys)

        assert run(tmp_path / "absent").code == UNREADABLE
        (tmp_path / "text").write_text("no trail")
        assert run(tmp_path / "text").code == UNREADABLE
        assert run(tmp_path).code == UNREADABLE

    def test_a_key_that_others_can_read_is_warned_of(self, receipt_tool, trail, record, sign):
        os.chmod(f"{trail}.key", 0o644)
        run = receipt_tool.run("audit", "checkpoint", trail)
        assert run.code == VALID
        assert "warning" in run.err

    def test_an_altered_trail_is_refused(self, receipt_tool, trail, record, sign):
        record(sign())
        checkpoint = open(f"{trail}.checkpoint").read()
        with open(f"{trail}.checkpoint", "w") as file:
            file.write(checkpoint.replace("\n1\n", "\n2\n"))
        run = receipt_tool.run("audit", "stats", trail)
        assert run.code == INVALID
        assert "checkpoint" in run.err


class TestFsck:
    @pytest.fixture
    def filled(self, receipt_tool, trail):
        lines = "\n".join(f'{{"kind":"verdict","originalTransactionId":"o{n % 5}","customer":"c{n}"}}' for n in range(600))
        assert receipt_tool.run("audit", "append", trail, "-", stdin=lines.encode()).code == VALID
        return trail

    def test_nothing_is_wrong(self, receipt_tool, filled):
        receipt_tool.run("audit", "erase", filled, "3", "599")
        os.rename(f"{filled}.key", f"{filled}.away")
        run = receipt_tool.run("audit", "fsck", filled, "--json")
        assert run.code == VALID, run.out
        (line,) = run.lines
        assert (line["intact"], line["entries"], line["faults"]) == (True, 602, [])

    @pytest.mark.parametrize("index", [0, 255, 256, 511])
    def test_an_altered_entry_is_named(self, receipt_tool, filled, index):
        entry = receipt_tool.run("audit", "show", filled, index, "--raw").out.encode()
        altered = entry.replace(b"original o", b"original q")
        with sqlite3.connect(filled) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[2] == "BLOB"]
                for column in columns:
                    rows = database.execute(f"SELECT rowid, {column} FROM {table}").fetchall()
                    for row, value in rows:
                        if isinstance(value, bytes) and entry in value:
                            changed = value.replace(entry, altered)
                            database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (changed, row))
        run = receipt_tool.run("audit", "fsck", filled, "--json")
        assert run.code == INVALID
        (line,) = run.lines
        assert not line["intact"]
        assert index in {fault.get("index") for fault in line["faults"]}, line

    def test_what_was_exported(self, receipt_tool, filled, tmp_path):
        folder = tmp_path / "web"
        older = tmp_path / "older"
        older.write_text(receipt_tool.run("audit", "checkpoint", filled).out)
        receipt_tool.run("audit", "append", filled, "-", stdin=b'{"kind":"x"}')
        run = receipt_tool.run("audit", "export", filled, folder, "--json")
        assert (run.code, run.lines[0]["treeSize"]) == (VALID, 601), run.err
        assert not (folder / "erasable").exists()
        check = ["audit", "fsck", folder, "--key", f"{filled}.pub", "--json"]
        run = receipt_tool.run(*check, "--since", older)
        assert (run.code, run.lines[0]["faults"]) == (VALID, [])
        leaves = hashlib.sha256(b"\0" + receipt_tool.run("audit", "show", filled, 5, "--raw").out.encode()).digest()
        assert (folder / "tile/0/000").read_bytes()[5 * 32 : 6 * 32] == leaves
        for name in ("tile/0/001", "tile/entries/000", "checkpoint", "tile/1/000.p/2"):
            file = folder / name
            before = file.read_bytes()
            file.write_bytes(before[:40] + bytes([before[40] ^ 1]) + before[41:])
            assert receipt_tool.run(*check).code == INVALID, name
            file.write_bytes(before)
        assert receipt_tool.run(*check).code == VALID

    def test_another_history_is_refused(self, receipt_tool, filled, tmp_path):
        other, folder = tmp_path / "other", tmp_path / "web"
        receipt_tool.run(
            "audit", "init", other, "--origin", "example.com/verdicts", "--private-key", f"{filled}.key"
        )
        receipt_tool.run("audit", "append", other, "-", "--private-key", f"{filled}.key", stdin=b'{"kind":"x"}')
        older = tmp_path / "older"
        older.write_text(receipt_tool.run("audit", "checkpoint", other, "--private-key", f"{filled}.key").out)
        receipt_tool.run("audit", "export", filled, folder)
        run = receipt_tool.run("audit", "fsck", folder, "--key", f"{filled}.pub", "--since", older)
        assert run.code == INVALID
        assert "NOT INTACT" in run.out


class TestExportAgain:
    @staticmethod
    def secrets(folder):
        return set(re.findall(rb"secret-[0-9]+", b"".join(f.read_bytes() for f in folder.rglob("*") if f.is_file())))

    @pytest.fixture
    def folder(self, receipt_tool, trail, tmp_path):
        lines = "\n".join(f'{{"kind":"verdict","customer":"secret-{n}"}}' for n in range(300))
        receipt_tool.run("audit", "append", trail, "-", stdin=lines.encode())
        folder = tmp_path / "web"
        assert receipt_tool.run("audit", "export", trail, folder, "--with-erasable").code == VALID
        assert len(self.secrets(folder)) == 300
        return folder

    def test_without_erasable_parts_none_are_left(self, receipt_tool, trail, folder):
        run = receipt_tool.run("audit", "export", trail, folder)
        assert (run.code, self.secrets(folder)) == (VALID, set()), run.err
        assert sorted(f.name for f in folder.iterdir()) == ["checkpoint", "tile"]
        assert receipt_tool.run("audit", "fsck", folder, "--key", f"{trail}.pub").code == VALID

    def test_what_was_erased_is_gone(self, receipt_tool, trail, folder):
        receipt_tool.run("audit", "erase", trail, "7")
        run = receipt_tool.run("audit", "export", trail, folder, "--with-erasable")
        assert (run.code, len(self.secrets(folder))) == (VALID, 299), run.err
        assert b"secret-7" not in self.secrets(folder)

    def test_a_damaged_file_is_written_anew(self, receipt_tool, trail, folder):
        for name in ("tile/0/000", "tile/entries/000", "erasable/000"):
            for contents in (b"", b"damaged"):
                (folder / name).write_bytes(contents)
                assert receipt_tool.run("audit", "fsck", folder, "--key", f"{trail}.pub").code == INVALID
                assert receipt_tool.run("audit", "export", trail, folder, "--with-erasable").code == VALID
                assert receipt_tool.run("audit", "fsck", folder, "--key", f"{trail}.pub").code == VALID

    @pytest.mark.parametrize("name", ["keys", "policies"])
    def test_files_of_others_are_refused(self, receipt_tool, trail, folder, name):
        (folder / name).write_text("mine")
        run = receipt_tool.run("audit", "export", trail, folder)
        assert run.code == CANNOT_CREATE and name in run.err
        assert (folder / name).read_text() == "mine" and len(self.secrets(folder)) == 300

    def test_what_no_export_writes_is_refused(self, receipt_tool, trail, folder):
        (folder / "tile/notes.txt").write_text("mine")
        run = receipt_tool.run("audit", "export", trail, folder)
        assert run.code == CANNOT_CREATE
        assert "tile/notes.txt" in run.err
        assert len(self.secrets(folder)) == 300


class TestImport:
    @pytest.fixture
    def exported(self, receipt_tool, trail, tmp_path):
        lines = "\n".join(f'{{"kind":"verdict","originalTransactionId":"o{n % 5}","customer":"c{n}"}}' for n in range(300))
        receipt_tool.run("audit", "append", trail, "-", stdin=lines.encode())
        receipt_tool.run("audit", "erase", trail, "7")
        run = receipt_tool.run("audit", "export", trail, tmp_path / "exported", "--with-erasable")
        assert run.code == VALID, run.err
        return tmp_path / "exported"

    def test_it_is_the_trail_that_was_exported(self, receipt_tool, trail, exported, tmp_path):
        copy = tmp_path / "copy"
        run = receipt_tool.run("audit", "import", copy, exported, "--private-key", f"{trail}.key", "--json")
        assert run.code == VALID, run.err
        assert run.lines[0]["treeSize"] == 301
        os.rename(f"{trail}.key", f"{copy}.key")
        assert open(f"{copy}.pub").read() == open(f"{trail}.pub").read()
        assert receipt_tool.run("audit", "fsck", copy).code == VALID
        (found,) = receipt_tool.run("audit", "find", copy, "--customer", "c299", "--json").lines
        assert found["index"] == 299
        assert receipt_tool.run("audit", "append", copy, "-", stdin=b'{"kind":"x"}').code == VALID

    def test_an_altered_export_is_refused(self, receipt_tool, trail, exported, tmp_path):
        for name in ("tile/entries/000", "erasable/000", "checkpoint"):
            file = exported / name
            before = file.read_bytes()
            file.write_bytes(before[:90] + bytes([before[90] ^ 1]) + before[91:])
            run = receipt_tool.run("audit", "import", tmp_path / "copy", exported, "--private-key", f"{trail}.key")
            assert run.code in (INVALID, UNREADABLE), name
            assert not (tmp_path / "copy").exists() and not (tmp_path / "copy.pub").exists()
            file.write_bytes(before)

    def test_an_old_export_is_refused(self, receipt_tool, trail, exported, tmp_path):
        receipt_tool.run("audit", "append", trail, "-", stdin=b'{"kind":"x"}')
        options = ["--private-key", f"{trail}.key", "--checkpoint", f"{trail}.checkpoint"]
        run = receipt_tool.run("audit", "import", tmp_path / "copy", exported, *options)
        assert run.code == INVALID
        assert "rolled-back" in run.err
        assert receipt_tool.run("audit", "stats", trail).code == VALID

    def test_what_is_there_stays(self, receipt_tool, trail, exported):
        run = receipt_tool.run("audit", "import", trail, exported)
        assert run.code == CANNOT_CREATE
        assert receipt_tool.run("audit", "fsck", trail).code == VALID


class TestMigrate:
    def test_the_copy_is_the_trail(self, receipt_tool, trail, record, sign, tmp_path):
        record(sign(appAccountToken=TOKEN))
        record(sign(transactionId="5"))
        receipt_tool.run("audit", "erase", trail, "0")
        target = tmp_path / "moved"
        run = receipt_tool.run("audit", "migrate", trail, target, "--json")
        assert run.code == VALID, run.err
        (line,) = run.lines
        assert line["treeSize"] == 3
        assert stat.S_IMODE(os.stat(f"{target}.key").st_mode) == 0o600
        assert receipt_tool.run("audit", "fsck", target).code == VALID
        for option in ("--raw", "--json"):
            shown = [receipt_tool.run("audit", "show", path, "0", "1", "2", option).out for path in (trail, target)]
            assert shown[0] == shown[1]
        proof = tmp_path / "p"
        assert receipt_tool.run("audit", "prove", target, 1, "-o", proof).code == VALID
        assert receipt_tool.run("audit", "check", proof, "--key", f"{trail}.pub").code == VALID
        assert receipt_tool.run("audit", "migrate", trail, target).code == VALID
        assert receipt_tool.run("audit", "append", target, "-", stdin=b'{"kind":"x"}').code == VALID
        assert receipt_tool.run("audit", "migrate", trail, target).code == CANNOT_CREATE

    def test_onto_itself_by_any_name(self, receipt_tool, trail, tmp_path):
        link, hard = tmp_path / "link", tmp_path / "hard"
        link.symlink_to(trail)
        os.link(trail, hard)
        for target in (trail, link, hard):
            run = receipt_tool.run("audit", "migrate", trail, target, timeout=20)
            assert run.code == CANNOT_CREATE, run.err
        assert receipt_tool.run("audit", "fsck", trail).code == VALID

    def test_a_taken_target_is_refused(self, receipt_tool, trail, tmp_path):
        other = tmp_path / "other"
        receipt_tool.run("audit", "init", other)
        assert receipt_tool.run("audit", "migrate", trail, other).code == CANNOT_CREATE
        assert receipt_tool.run("audit", "fsck", other).code == VALID


def test_the_independent_check_would_notice(receipt_tool, trail):
    receipt_tool.run("audit", "append", trail, "-", stdin=b'{"kind":"x"}\n{"kind":"y"}')
    text = receipt_tool.run("audit", "prove", trail, 0).out
    key = open(f"{trail}.pub").read().strip()
    verify_proof(text, key)
    with pytest.raises((AssertionError, InvalidSignature)):
        verify_proof(text.replace("index 0", "index 1"), key)
    with pytest.raises((AssertionError, InvalidSignature)):
        verify_proof(text.replace("\n2\n", "\n3\n"), key)
