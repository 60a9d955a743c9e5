# SPDX-License-Identifier: Apache-2.0
"""receipt-tool audit export --table: Python reads each format, with the same values as audit show."""

import csv
import json
import os
import sqlite3
import subprocess

import pytest

from tool import INVALID, USAGE, VALID

CANNOT_CREATE, NOT_WRITTEN = 73, 74
NUMBERS = {"index", "erased", "size", "newest", "count", "previous"}
AWKWARD = ['with "quotes", commas', "two\r\nlines", "a\rb", "50 %", "é\N{GRINNING FACE}", "=1+1", " spaced ", "tab\t"]


@pytest.fixture(scope="module")
def trail(receipt_tool, tmp_path_factory):
    """A full bundle and a tail, with all fields that entries can have."""
    path = tmp_path_factory.mktemp("trail") / "t.audit"
    assert receipt_tool.run("audit", "init", path, "--origin", "example.com/tables").code == VALID
    lines = [
        {"kind": "verdict", "verdict": "valid", "transactionId": f"t{n}", "originalTransactionId": f"o{n % 3}",
         "productId": AWKWARD[n % len(AWKWARD)], "time": 1_700_000_000_000 + n, "customer": f"c{n}",
         "receiptSha256": f"{n:064x}"}
        for n in range(300)
    ]  # fmt: skip
    lines.append({"kind": "purchase", "id": "00123", "originalTransactionId": "o1", "checks": [{"name": "a b", "answer": "revoked"}]})
    lines.append({"kind": "note", "id": "9007199254740993"})
    run = receipt_tool.run("audit", "append", path, "-", stdin="\n".join(map(json.dumps, lines)).encode())
    assert run.code == VALID, run.err
    assert receipt_tool.run("audit", "erase", path, "2", "290").code == VALID
    return path


@pytest.fixture(scope="module")
def shown(receipt_tool, trail):
    """The entries as audit show prints them."""
    entries = receipt_tool.run("audit", "stats", trail, "--json").lines[0]["entries"]
    assert entries == 304
    return receipt_tool.run("audit", "show", trail, *range(entries), "--json").lines


def cells(entry: dict) -> dict:
    """An entry as the cells of a row: checks in JSON."""
    return {
        name: json.dumps(value, separators=(",", ":"), ensure_ascii=False) if name == "checks" else value
        for name, value in entry.items()
        if name not in ("type", "version")
    }


def export(receipt_tool, trail, file, *options):
    return receipt_tool.run("audit", "export", trail, "--table", file, *options)


def test_csv(receipt_tool, trail, shown, tmp_path):
    file = tmp_path / "t.csv"
    run = export(receipt_tool, trail, file, "--json")
    assert run.code == VALID, run.err
    assert run.lines[0]["treeSize"] == 304 and run.lines[0]["table"] == str(file)
    with open(file, newline="", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines, strict=True))
    found = [
        {name: int(cell) if name in NUMBERS else cell for name, cell in row.items() if cell != ""} for row in rows
    ]
    assert found == [cells(entry) for entry in shown]
    content = file.read_bytes()
    assert content.startswith(b"index,time,kind,id,") and content.endswith(b"\r\n")


def test_json_lines(receipt_tool, trail, shown, tmp_path):
    file = tmp_path / "t.jsonl"
    assert export(receipt_tool, trail, file).code == VALID
    assert [json.loads(line) for line in file.read_text().splitlines()] == shown
    found = receipt_tool.run("audit", "find", trail, "--from", "2023-01-01T00:00:00Z", "--limit", "1000", "--json").lines
    assert found == shown


def test_sqlite(receipt_tool, trail, shown, tmp_path):
    file = tmp_path / "t.sqlite"
    assert export(receipt_tool, trail, file).code == VALID
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        database.row_factory = sqlite3.Row
        rows = database.execute('SELECT * FROM entries ORDER BY "index"').fetchall()
        found = [{name: row[name] for name in row.keys() if row[name] is not None} for row in rows]
        assert found == [cells(entry) for entry in shown]
        for column in ("transactionId", "originalTransactionId", "productId", "time", "receiptSha256"):
            plan = database.execute(f'EXPLAIN QUERY PLAN SELECT * FROM entries WHERE "{column}" = ?', ("x",))
            assert "USING INDEX" in plan.fetchone()["detail"]


@pytest.mark.parametrize("form", ["csv", "jsonl", "sqlite"])
class TestWhole:
    def test_what_is_there_is_replaced_only_when_asked(self, receipt_tool, trail, tmp_path, form):
        file = tmp_path / f"t.{form}"
        file.write_text("mine")
        assert export(receipt_tool, trail, file).code == CANNOT_CREATE
        assert file.read_text() == "mine"
        assert export(receipt_tool, trail, file, "--overwrite").code == VALID
        assert len(file.read_bytes()) > 300
        assert os.listdir(tmp_path) == [file.name]

    def test_a_trail_of_no_entries(self, receipt_tool, tmp_path, form):
        trail, file = tmp_path / "t.audit", tmp_path / f"t.{form}"
        receipt_tool.run("audit", "init", trail, "--origin", "example.com/empty")
        assert export(receipt_tool, trail, file).code == VALID
        assert file.exists()

    def test_a_full_disk_leaves_nothing(self, receipt_tool, trail, tmp_path, form):
        mount = tmp_path / "disk"
        mount.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", mount], capture_output=True)
        if mounted.returncode != 0:
            pytest.skip("a small file system cannot be mounted here: that needs root and CAP_SYS_ADMIN")
        try:
            run = export(receipt_tool, trail, mount / f"t.{form}")
            assert run.code == NOT_WRITTEN and f"t.{form}" in run.err, run.err
            assert os.listdir(mount) == []
        finally:
            subprocess.run(["umount", "-l", mount], capture_output=True)

    def test_a_trail_that_was_altered_leaves_nothing(self, receipt_tool, tmp_path, form):
        trail, file = tmp_path / "t.audit", tmp_path / f"t.{form}"
        receipt_tool.run("audit", "init", trail, "--origin", "example.com/altered")
        lines = b"".join(b'{"kind":"note","id":"original %d"}\n' % n for n in range(600))
        assert receipt_tool.run("audit", "append", trail, "-", stdin=lines).code == VALID
        entry = receipt_tool.run("audit", "show", trail, 300, "--raw").out.encode()
        altered = entry.replace(b"original%20300", b"changed.%20300")
        assert altered != entry
        changed = 0
        with sqlite3.connect(trail) as database:
            for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[2] == "BLOB"]
                for column in columns:
                    for row, value in database.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
                        if isinstance(value, bytes) and entry in value:
                            new = value.replace(entry, altered)
                            database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, row))
                            changed += 1
        assert changed == 1
        run = export(receipt_tool, trail, file)
        assert run.code == INVALID and "entry 256" in run.err, run.err
        assert not file.exists() and not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize(
    "options",
    [
        ["--table", "t.xlsx"],
        ["--table", "csv"],
        ["folder", "--table", "t.csv"],
        ["--table", "t.csv", "--with-erasable"],
        ["folder", "--overwrite"],
        [],
    ],
    ids=str,
)
def test_wrong_command_lines(receipt_tool, trail, tmp_path, options):
    assert receipt_tool.run("audit", "export", trail, *options, cwd=tmp_path).code == USAGE
    assert not list(tmp_path.iterdir())
