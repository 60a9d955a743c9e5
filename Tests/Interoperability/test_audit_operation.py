# SPDX-License-Identifier: Apache-2.0
"""receipt-tool audit backup, restore-keys and reindex."""

import json
import os
import shutil
import sqlite3
import stat

import pytest

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
        json.dumps({"id": f"record-{n}", "kind": "verdict", "verdict": "valid", "transaction": str(n), "customer": TOKEN})
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
        assert run.lines == [{"trail": str(trail), "copy": str(copy), "keys": str(keys)}]
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
        run = receipt_tool.run("audit", "append", copy, "-", stdin=b'{"kind":"verdict","verdict":"valid","transaction":"x"}')
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


class TestReindex:
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
        assert run.lines == [{"trail": str(trail), "indexed": 512}]
        intact(receipt_tool, trail)
        run = receipt_tool.run("audit", "find", trail, "--transaction", "7", "--json")
        assert [line["index"] for line in run.lines] == [7]

    def test_without_the_private_key(self, receipt_tool, trail):
        os.rename(f"{trail}.key", f"{trail}.elsewhere")
        assert receipt_tool.run("audit", "reindex", trail).code == UNREADABLE
