# SPDX-License-Identifier: Apache-2.0
"""Somebody who can write a trail's file, without its key, adds to its schema."""

import sqlite3

import pytest

from audit_load import Trail
from tool import INVALID, VALID

# Keys are copied to where policies' texts are, which backups and exports hold.
COPIES = """CREATE TRIGGER copies AFTER INSERT ON head BEGIN
INSERT OR REPLACE INTO notes SELECT (1 << 62) + 2 * key, value FROM keys; END"""


@pytest.fixture(scope="module")
def base(receipt_tool, tmp_path_factory):
    trail = Trail.create(receipt_tool, tmp_path_factory.mktemp("base") / "trail")
    trail.append(range(300))
    return trail


@pytest.fixture
def trail(base, tmp_path):
    return base.copy(tmp_path / "trail")


def plant(trail, sql, schema=False):
    database = sqlite3.connect(trail.path)
    if schema:
        database.execute("PRAGMA writable_schema = ON")
    database.executescript(sql)
    database.commit()
    database.close()


def alias(page_of, page):
    return f"""UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = '{page_of}')
    WHERE name = '{page}'"""


@pytest.mark.long
@pytest.mark.parametrize(
    "sql, name, schema",
    [
        (COPIES, "trigger copies", False),
        ("CREATE INDEX copied ON keys(value)", "index copied", False),
        ("CREATE VIEW seen AS SELECT * FROM keys", "view seen", False),
        ("ALTER TABLE keys ADD COLUMN copy BLOB", "table keys", False),
        (alias("notes", "keys"), "no pages of its own", True),
        ("UPDATE sqlite_schema SET tbl_name = 'notes' WHERE name = 'keys'", "table keys", True),
        ("INSERT INTO sqlite_schema SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = 'keys'",
         "keys", True),
    ],
)  # fmt: skip
def test_no_command_says_that_all_is_well(receipt_tool, trail, tmp_path, sql, name, schema):
    before = trail.path.read_bytes()
    plant(trail, sql, schema)
    planted = trail.path.read_bytes()
    assert planted != before
    for arguments in (
        ("fsck", trail.path),
        ("erase", trail.path, "1"),
        ("backup", trail.path, tmp_path / "copy"),
        ("export", trail.path, tmp_path / "export"),
        ("append", trail.path, "-"),
        ("show", trail.path, "1"),
        ("migrate", trail.path, tmp_path / "other"),
        ("checkpoint", trail.path),
    ):
        run = receipt_tool.run("audit", *arguments)
        assert run.code == INVALID, (arguments, run.out, run.err)
        assert name in run.err or "malformed database schema" in run.err, (arguments, run.err)
        assert "INTACT" not in run.out or "NOT INTACT" in run.out
    assert not (tmp_path / "copy").exists() and not list(tmp_path.glob("export/checkpoint"))
    # Nothing was done.
    assert trail.path.read_bytes() == planted


def test_after_the_object_is_removed_the_trail_is_as_it_was(receipt_tool, trail):
    plant(trail, COPIES)
    assert receipt_tool.run("audit", "erase", trail.path, "1").code == INVALID
    plant(trail, "DROP TRIGGER copies")
    assert receipt_tool.run("audit", "erase", trail.path, "1").code == VALID
    assert receipt_tool.run("audit", "fsck", trail.path).code == VALID
