# SPDX-License-Identifier: Apache-2.0
"""The storages of a trail, a file or a schema on a server, and the traces that they leave in files."""

import pathlib
import shutil
import sqlite3

from postgresql import PostgreSQLServer
from tool import VALID, ReceiptTool, Run

WRAPPING_KEY = 32


def wrapping_keys(rows) -> set[bytes]:
    """The keys in the rows of the table `keys`."""
    return {row[at : at + WRAPPING_KEY] for row in rows for at in range(0, len(row), WRAPPING_KEY)}


def holding(files, needles) -> list[tuple[pathlib.Path, bytes]]:
    """The files that contain one of the given byte strings, with the first one found in each."""
    found = []
    for file in files:
        try:
            contents = file.read_bytes()
        except FileNotFoundError:
            # A server removes its files when it likes.
            continue
        found += [(file, needle) for needle in needles if needle in contents][:1]
    return found


def files_below(folder: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]


class FilePlace:
    """A trail in a SQLite file."""

    def __init__(self, tool: ReceiptTool, folder: pathlib.Path):
        self.tool, self.folder = tool, folder
        self.trail = "verdicts.audit"
        self.make()

    def make(self):
        run = self.run("audit", "init", self.trail, "--origin", "example.com/verdicts")
        assert run.code == VALID, run.err

    def run(self, *arguments, **options) -> Run:
        """Runs receipt-tool in the folder of the trail's keys."""
        return self.tool.run(*arguments, cwd=self.folder, **options)

    @property
    def name(self) -> str:
        """The prefix of the names of the trail's files."""
        return self.trail

    def sibling(self, name: str) -> str:
        """Another place of the same kind, for a copy."""
        return f"{name}.audit"

    def remove(self, sibling: str):
        for path in self.folder.glob(f"{sibling}*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def backup(self, copy: str) -> list[str]:
        """The command that copies the trail without the keys of erasable parts."""
        return [self.tool.path, "audit", "backup", self.trail, copy]

    def check_backup(self, copy: str):
        beside = ["--key", f"{self.name}.pub"]
        run = self.run("audit", "fsck", copy, "--without-keys", *beside, timeout=300)
        assert run.code == VALID, run.out + run.err

    def storage_files(self) -> list[pathlib.Path]:
        """The files of the storage itself."""
        return [path for path in self.folder.glob(f"{self.trail}*") if path.name in self._own_names()]

    def _own_names(self) -> set[str]:
        return {self.trail + suffix for suffix in ("", "-wal", "-shm", "-journal")}

    def wrapping_keys(self) -> set[bytes]:
        return self.wrapping_keys_of(self.folder / self.trail)

    @staticmethod
    def wrapping_keys_of(path) -> set[bytes]:
        """The keys that seal the rows of `covers` in a trail's file."""
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return wrapping_keys(row for (row,) in database.execute("SELECT value FROM keys"))
        finally:
            database.close()

    def spellings(self, key: bytes) -> list[bytes]:
        """A wrapping key in the form that a copy would contain."""
        return [key]


class ServerPlace(FilePlace):
    """A trail in a schema of a PostgreSQL server; its keys are files of the folder."""

    def __init__(self, tool: ReceiptTool, folder: pathlib.Path, server: PostgreSQLServer, schema: str):
        self.tool, self.folder = tool, folder
        self.server, self.schema = server, schema
        self.trail = server.trail(schema)
        self.make()

    @property
    def name(self) -> str:
        return f"audit.{self.schema}"

    def sibling(self, name: str) -> str:
        return self.server.trail(f"{self.schema}_{name.replace('-', '_')}")

    def remove(self, sibling: str):
        schema = sibling.rpartition("=")[2]
        self.server.query(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        super().remove(f"audit.{schema}.")

    def backup(self, copy: str) -> list[str]:
        keys = f"--exclude-table-data={self.schema}.keys"
        return ["pg_dump", f"--schema={self.schema}", keys, f"--file={copy}", self.server.url]

    def check_backup(self, copy: str):
        assert "PostgreSQL database dump complete" in (self.folder / copy).read_text(), copy

    def storage_files(self) -> list[pathlib.Path]:
        # What the server has in memory is written first.
        self.server.query("CHECKPOINT")
        return files_below(self.server.data / "base")

    def wrapping_keys(self) -> set[bytes]:
        rows = self.server.query(f"SELECT encode(value, 'hex') FROM {self.schema}.keys").splitlines()
        return wrapping_keys(bytes.fromhex(row) for row in rows)

    def spellings(self, key: bytes) -> list[bytes]:
        return [key, key.hex().encode()]
