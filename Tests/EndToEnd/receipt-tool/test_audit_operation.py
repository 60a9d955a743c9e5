# SPDX-License-Identifier: Apache-2.0
"""receipt-tool audit backup, restore-keys and reindex."""

import hashlib
import json
import os
import pathlib
import shutil
import sqlite3
import stat
import subprocess

import pytest
import samples
from independent import jws

from tool import INVALID, UNREADABLE, USAGE, VALID

CANNOT_CREATE = 73
TOKEN = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"


@pytest.fixture
def trail(receipt_tool, tmp_path):
    """A trail with 600 entries."""
    path = tmp_path / "verdicts.audit"
    assert receipt_tool.run("audit", "init", path, "--origin", "example.com/verdicts").code == VALID
    append(receipt_tool, path, range(600))
    return path


def append(receipt_tool, path, numbers):
    lines = [
        json.dumps({"id": f"record-{n}", "kind": "verdict", "verdict": "valid", "transactionId": str(n), "customer": TOKEN})
        for n in numbers
    ]
    run = receipt_tool.run("audit", "append", path, "-", stdin="\n".join(lines).encode())
    assert run.code == VALID, run.err


def beside(trail):
    return ["--key", f"{trail}.pub", "--checkpoint", f"{trail}.checkpoint"]


def intact(receipt_tool, *arguments):
    run = receipt_tool.run("audit", "fsck", *arguments)
    assert run.code == VALID, run.out + run.err


class TestBackup:
    def test_the_copy_has_no_keys_and_they_are_put_back(self, receipt_tool, trail, tmp_path):
        copy, keys = tmp_path / "copy.audit", tmp_path / "copy.keys"
        run = receipt_tool.run("audit", "backup", trail, copy, "--keys", keys, "--json")
        assert run.code == VALID, run.err
        assert run.lines == [
            {"type": "audit-backup", "version": 1, "trail": str(trail), "copy": str(copy), "keysFile": str(keys)}
        ]
        assert stat.S_IMODE(os.stat(keys).st_mode) == 0o600
        kept = keys.read_bytes().split(b"\n", 1)[1]
        contents = copy.read_bytes()
        assert not any(kept[at : at + 32] in contents for at in range(0, len(kept), 32))
        assert sqlite3.connect(copy).execute("SELECT count(*) FROM keys").fetchone() == (0,)

        intact(receipt_tool, copy, "--without-keys", *beside(trail))
        assert receipt_tool.run("audit", "fsck", copy, *beside(trail)).code == INVALID
        assert receipt_tool.run("audit", "prove", copy, "5", "-o", tmp_path / "proof", *beside(trail)).code == VALID
        run = receipt_tool.run("audit", "show", copy, "5", "--json", *beside(trail))
        assert run.lines[0]["erasable"] == "no-keys"
        found = receipt_tool.run("audit", "find", copy, "--transaction", "7", *beside(trail))
        assert found.code == VALID, found.err
        found = receipt_tool.run("audit", "find", copy, "--customer", TOKEN, *beside(trail))
        assert found.code == UNREADABLE and "restore-keys" in found.err

        for file in "key", "pub", "checkpoint":
            shutil.copy(f"{trail}.{file}", f"{copy}.{file}")
        run = receipt_tool.run("audit", "append", copy, "-", stdin=b'{"kind":"verdict","verdict":"valid","transactionId":"x"}')
        assert run.code == UNREADABLE and "restore-keys" in run.err

        run = receipt_tool.run("audit", "restore-keys", copy, keys)
        assert run.code == VALID, run.err
        intact(receipt_tool, copy)
        append(receipt_tool, copy, range(600, 610))
        assert receipt_tool.run("audit", "restore-keys", copy, keys).code == CANNOT_CREATE

    def test_what_is_there_is_not_touched(self, receipt_tool, trail, tmp_path):
        taken = tmp_path / "taken"
        taken.write_text("mine")
        assert receipt_tool.run("audit", "backup", trail, taken).code == CANNOT_CREATE
        assert receipt_tool.run("audit", "backup", trail, tmp_path / "c", "--keys", taken).code == CANNOT_CREATE
        assert taken.read_text() == "mine" and not (tmp_path / "c").exists()

    def test_a_file_that_holds_no_keys(self, receipt_tool, trail, tmp_path):
        copy = tmp_path / "copy.audit"
        assert receipt_tool.run("audit", "backup", trail, copy).code == VALID
        run = receipt_tool.run("audit", "restore-keys", copy, f"{trail}.pub")
        assert run.code == UNREADABLE and "no keys of a trail" in run.err

    def test_a_trail_on_a_server(self, receipt_tool, tmp_path):
        run = receipt_tool.run("audit", "backup", "postgresql://me:secret@db/trail", tmp_path / "copy")
        assert run.code == USAGE and "--exclude-table-data" in run.err and "secret" not in run.err


class TestAClientLibraryThatIsMissing:
    """libpq is loaded when a database is opened: without one, everything else works."""

    @pytest.fixture(params=["none", "too old"])
    def environment(self, request, tmp_path):
        library = tmp_path / "libpq.so.5"
        library.write_bytes(b"")
        if request.param == "too old":
            subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", library], check=True)
        return os.environ | {"LD_LIBRARY_PATH": str(tmp_path)}

    def test_a_database_is_refused(self, receipt_tool, trail, environment):
        database = "postgresql://me:secret@db/trail"
        run = receipt_tool.run("audit", "show", database, "0", "--key", f"{trail}.pub", env=environment)
        assert run.code == UNREADABLE and "apt-get install libpq5" in run.err and "secret" not in run.err, run

    def test_a_file_is_opened(self, receipt_tool, trail, environment):
        assert receipt_tool.run("audit", "show", trail, "0", env=environment).code == VALID


def put_back_keys(trail, before):
    """Replaces the keys of erasable parts by those of an older copy of the trail."""
    with sqlite3.connect(trail) as database:
        database.execute("ATTACH ? AS older", (str(before),))
        for table in ("keys", "covers"):
            database.execute(f"DELETE FROM {table}")
            database.execute(f"INSERT INTO {table} SELECT * FROM older.{table}")
    database.close()


class TestKeysThatCameBack:
    @pytest.mark.parametrize("selection", [["7", "555"], ["--customer", TOKEN]], ids=["indexes", "customer"])
    def test_they_are_erased_again(self, receipt_tool, trail, tmp_path, selection):
        before = tmp_path / "before.audit"
        shutil.copy(trail, before)
        assert receipt_tool.run("audit", "erase", trail, "7", "555").code == VALID
        put_back_keys(trail, before)
        run = receipt_tool.run("audit", "show", trail, "555", "--receipt")
        assert run.code == INVALID and "its key is back" in run.err
        run = receipt_tool.run("audit", "fsck", trail, "--json")
        assert run.code == INVALID
        assert [(f["code"], f["index"]) for f in run.lines[0]["faults"]][:2] == [
            ("unrecorded-erasure", 7), ("unrecorded-erasure", 555)
        ]
        run = receipt_tool.run("audit", "erase", trail, *selection, "--json")
        assert run.code == VALID, run.err
        assert [(line["erased"], line["repeated"]) for line in run.lines if line["erased"] in (7, 555)] == [
            (7, True), (555, True)
        ]
        intact(receipt_tool, trail)
        (shown,) = receipt_tool.run("audit", "show", trail, "7", "--json").lines
        assert shown["erasable"] == "erased"

    def test_a_copy_does_not_take_them_back(self, receipt_tool, trail, tmp_path):
        before, target = tmp_path / "before.audit", tmp_path / "moved.audit"
        shutil.copy(trail, before)
        assert receipt_tool.run("audit", "erase", trail, "7", "555").code == VALID
        put_back_keys(trail, before)
        run = receipt_tool.run("audit", "migrate", trail, target)
        assert run.code == VALID, run.err
        intact(receipt_tool, target)
        (shown,) = receipt_tool.run("audit", "show", target, "7", "--json").lines
        assert shown["erasable"] == "erased"


class TestReindex:
    @pytest.mark.long
    @pytest.mark.parametrize("damage", ["DELETE FROM runs", "UPDATE runs SET value = zeroblob(64) WHERE key = 0", None])
    def test_a_damaged_index(self, receipt_tool, trail, damage):
        assert receipt_tool.run("audit", "reindex", trail).code == VALID
        if damage:
            with sqlite3.connect(trail) as database:
                database.execute(damage)
            database.close()
            assert receipt_tool.run("audit", "find", trail, "--transaction", "7").code == INVALID
        run = receipt_tool.run("audit", "reindex", trail, "--json")
        assert run.code == VALID, run.err
        assert run.lines == [{"type": "audit-reindexing", "version": 1, "trail": str(trail), "entries": 512}]
        intact(receipt_tool, trail)
        run = receipt_tool.run("audit", "find", trail, "--transaction", "7", "--json")
        assert [line["index"] for line in run.lines] == [7]

    def test_an_old_copy_is_not_signed_anew(self, receipt_tool, trail, tmp_path):
        old = tmp_path / "old"
        shutil.copy(trail, old)
        append(receipt_tool, trail, range(600, 610))
        shutil.copy(old, trail)
        before = sqlite3.connect(trail).execute("SELECT value FROM head").fetchone()
        run = receipt_tool.run("audit", "reindex", trail)
        assert run.code == INVALID and "rolled-back" in run.err
        assert sqlite3.connect(trail).execute("SELECT value FROM head").fetchone() == before

    def test_without_the_private_key(self, receipt_tool, trail):
        os.rename(f"{trail}.key", f"{trail}.elsewhere")
        assert receipt_tool.run("audit", "reindex", trail).code == UNREADABLE


class TestRotateKey:
    def test_who_trusts_the_first_key_follows(self, receipt_tool, trail, tmp_path):
        first = open(f"{trail}.pub").read()
        run = receipt_tool.run("audit", "rotate-key", trail, "--json")
        assert run.code == VALID, run.err
        (line,) = run.lines
        assert line["index"] == 600 and line["publicKey"] != first.strip()
        assert stat.S_IMODE(os.stat(f"{trail}.key").st_mode) == 0o600
        assert open(f"{trail}.pub").read() == first
        append(receipt_tool, trail, range(600, 610))
        intact(receipt_tool, trail)
        proof, keys = tmp_path / "proof", tmp_path / "keys"
        assert receipt_tool.run("audit", "prove", trail, "5", "-o", proof).code == VALID
        assert receipt_tool.run("audit", "check", proof, "--key", f"{trail}.pub").code == INVALID
        run = receipt_tool.run("audit", "keys", trail, "-o", keys, "--json")
        assert run.code == VALID and [entry.get("index") for entry in run.lines] == [None, 600]
        assert receipt_tool.run("audit", "check", proof, "--key", f"{trail}.pub", "--keys", keys).code == VALID
        assert receipt_tool.run("audit", "check", proof, "--key", line["publicKey"]).code == VALID
        folder = tmp_path / "exported"
        assert receipt_tool.run("audit", "export", trail, folder).code == VALID
        intact(receipt_tool, folder, "--key", f"{trail}.pub")
        assert receipt_tool.run("audit", "check", proof, "--key", f"{trail}.pub", "--keys", folder / "keys").code == VALID

    def test_a_checkpoint_of_before_is_followed_in_an_export(self, receipt_tool, trail, tmp_path):
        kept, folder, first = tmp_path / "kept", tmp_path / "web", tmp_path / "first.pub"
        shutil.copy(f"{trail}.pub", first)
        shutil.copy(f"{trail}.checkpoint", kept)
        assert receipt_tool.run("audit", "rotate-key", trail).code == VALID
        append(receipt_tool, trail, range(600, 603))
        latest = tmp_path / "latest"
        shutil.copy(f"{trail}.checkpoint", latest)
        append(receipt_tool, trail, range(603, 606))
        assert receipt_tool.run("audit", "export", trail, folder).code == VALID
        for since in (kept, latest):
            intact(receipt_tool, folder, "--key", first, "--since", since)
        # Another history under the first key, which was replaced.
        (folder / "keys").unlink()
        run = receipt_tool.run("audit", "fsck", folder, "--key", first, "--since", latest)
        assert run.code == UNREADABLE

    def test_the_key_that_was_replaced_writes_no_more(self, receipt_tool, trail):
        shutil.copy(f"{trail}.key", f"{trail}.old")
        assert receipt_tool.run("audit", "rotate-key", trail).code == VALID
        assert open(f"{trail}.old").read() == open(f"{trail}.key.replaced-600").read()
        line = b'{"kind":"verdict","verdict":"valid","transactionId":"x"}'
        run = receipt_tool.run("audit", "append", trail, "-", "--private-key", f"{trail}.old", stdin=line)
        assert run.code == UNREADABLE and "was replaced by entry 600" in run.err
        assert receipt_tool.run("audit", "append", trail, "-", stdin=line).code == VALID

    def test_a_try_that_was_cut_off_is_finished(self, receipt_tool, trail):
        assert receipt_tool.run("audit", "rotate-key", trail).code == VALID
        # As where it was cut off before the files had their new names.
        os.rename(f"{trail}.key", f"{trail}.key.new")
        os.rename(f"{trail}.key.replaced-600", f"{trail}.key")
        assert receipt_tool.run("audit", "append", trail, "-", stdin=b'{"kind":"x"}').code == UNREADABLE
        run = receipt_tool.run("audit", "rotate-key", trail, "--json")
        assert run.code == VALID and run.lines[0]["index"] == 600, run.err
        append(receipt_tool, trail, range(600, 610))
        run = receipt_tool.run("audit", "keys", trail)
        assert len(run.out.splitlines()) == 2
        intact(receipt_tool, trail)


class TestPolicy:
    def test_what_the_digest_in_an_entry_stands_for(self, receipt_tool, trail, trust, store, tmp_path):
        receipt = tmp_path / "receipt.jws"
        receipt.write_text(jws.sign(samples.TRANSACTION, store.leaf()))
        for bundle in ["com.example.app", "com.example.other", "com.example.app"]:
            receipt_tool.run("verify", "--audit", trail, *trust, "--bundle-id", bundle, receipt)
        run = receipt_tool.run("audit", "find", trail, "--receipt-file", receipt, "--json")
        digests = {line["policySha256"] for line in run.lines}
        assert len(run.lines) == 2 and len(digests) == 2
        for digest in digests:
            run = receipt_tool.run("audit", "policy", trail, digest)
            assert run.code == VALID and hashlib.sha256(run.out.encode()).hexdigest() == digest
            run = receipt_tool.run("audit", "policy", trail, digest, "--json")
            assert hashlib.sha256(run.lines[0]["text"].encode()).hexdigest() == digest
        assert receipt_tool.run("audit", "policy", trail, "00" * 32).code == INVALID
        assert receipt_tool.run("audit", "policy", trail, "00").code == USAGE
        intact(receipt_tool, trail)
        for digest in digests:
            with sqlite3.connect(trail) as database:
                database.execute("UPDATE notes SET value = CAST('altered' AS BLOB) WHERE key >= 1 << 62")
            run = receipt_tool.run("audit", "policy", trail, digest)
            assert run.code == INVALID and "Another text" in run.err
        run = receipt_tool.run("audit", "fsck", trail, "--json")
        assert run.code == INVALID and {f["code"] for f in run.lines[0]["faults"]} == {"policy-text"}
        assert receipt_tool.run("audit", "export", trail, tmp_path / "web").code == INVALID
        # Recording under the policies puts their texts back.
        for bundle in ["com.example.app", "com.example.other"]:
            receipt_tool.run("verify", "--audit", trail, *trust, "--bundle-id", bundle, receipt)
        intact(receipt_tool, trail)


class TestResume:
    def test_an_input_that_was_cut_off_and_has_grown(self, receipt_tool, trail):
        lines = [json.dumps({"kind": "login", "productId": f"p{n % 3}"}).encode() + b"\n" for n in range(50)]
        first = receipt_tool.run("audit", "append", trail, "-", "--resume", "--json", stdin=b"".join(lines[:20]))
        assert [line["index"] for line in first.lines] == list(range(600, 620))
        again = receipt_tool.run("audit", "append", trail, "-", "--resume", "--json", stdin=b"".join(lines))
        assert [line["index"] for line in again.lines] == list(range(600, 650))
        assert [line["repeated"] for line in again.lines] == [True] * 20 + [False] * 30
        # Another input, though some of its lines are the same.
        other = receipt_tool.run("audit", "append", trail, "-", "--resume", "--json", stdin=b"".join(lines[1:4]))
        assert not any(line["repeated"] for line in other.lines)
        # Without it, every line is a record of its own.
        run = receipt_tool.run("audit", "append", trail, "-", "--json", stdin=lines[0] * 2)
        assert [line["repeated"] for line in run.lines] == [False, False]

    def test_a_record_is_found_by_its_id(self, receipt_tool, trail):
        run = receipt_tool.run("audit", "find", trail, "--id", "record-41", "--json")
        assert run.code == VALID and [line["index"] for line in run.lines] == [41]
        assert receipt_tool.run("audit", "find", trail, "--id", "record-9999").code == INVALID


class TestReadOnly:
    def test_a_folder_of_somebody_else(self, receipt_tool, trail, tmp_path):
        """The tool runs as a user who may read everything and write nothing."""
        if os.geteuid() != 0:
            for name in os.listdir(tmp_path):
                os.chmod(tmp_path / name, 0o444)
            os.chmod(tmp_path, 0o555)
            as_user = {}
        else:
            for name in os.listdir(tmp_path):
                os.chmod(tmp_path / name, 0o644)
            for folder in [tmp_path, *tmp_path.parents]:
                os.chmod(folder, os.stat(folder).st_mode | 0o055)
            as_user = {"user": 65534, "group": 65534, "extra_groups": []}
        before = sorted(os.listdir(tmp_path))

        def run(*arguments):
            process = subprocess.run(
                [receipt_tool.path, "audit", *map(str, arguments)], capture_output=True, text=True, **as_user
            )
            return process.returncode, process.stdout, process.stderr

        try:
            assert run("fsck", trail)[0] == VALID, run("fsck", trail)
            code, out, _ = run("find", trail, "--transaction", "7", "--json")
            assert code == VALID and json.loads(out)["index"] == 7
            assert run("prove", trail, "5")[0] == VALID
            assert run("show", trail, "5")[0] == VALID
            code, _, err = run("append", trail, os.devnull)
            assert code != VALID and err
            assert sorted(os.listdir(tmp_path)) == before
        finally:
            os.chmod(tmp_path, 0o755)


class TestUncheckpointed:
    def test_entries_that_no_checkpoint_covers_are_told_of(self, receipt_tool, trail, tmp_path):
        kept = open(f"{trail}.checkpoint").read()
        append(receipt_tool, trail, range(600, 605))
        # As when the process that appended ended before it published.
        with open(f"{trail}.checkpoint", "w") as file:
            file.write(kept)
        for arguments in ["show", trail, "602"], ["find", trail, "--transaction", "602"]:
            run = receipt_tool.run("audit", *arguments)
            assert run.code == VALID and "no signed checkpoint covers the entries from 602 on" in run.err
        run = receipt_tool.run("audit", "show", trail, "5")
        assert run.code == VALID and run.err == ""


def test_a_release_is_entered_once(receipt_tool, tmp_path):
    """Packaging/enter-release, which scripts/package runs."""
    root = pathlib.Path(__file__).resolve().parents[3]
    dist = tmp_path / "dist"
    dist.mkdir()
    checksums = dist / "SHA256SUMS"

    def enter(content: str) -> int:
        checksums.write_text(content)
        command = [root / "Packaging" / "enter-release", receipt_tool.path, tmp_path / "log", dist, "1.0.0", "all"]
        return subprocess.run(command, capture_output=True).returncode

    def is_proven() -> bool:
        arguments = ["--key", dist / "releases.pub", "--receipt", checksums]
        return receipt_tool.run("audit", "check", dist / "SHA256SUMS.tlog-proof", *arguments).code == 0

    assert enter("00  receipt-tool\n") == 0 and is_proven()
    assert enter("00  receipt-tool\n") == 0 and is_proven()
    assert enter("01  receipt-tool\n") == 1 and not (dist / "SHA256SUMS.tlog-proof").exists()
