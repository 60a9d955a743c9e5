# SPDX-License-Identifier: Apache-2.0
"""Reads an audit trail's SQLite file by its documented layout, and computes its Merkle tree (RFC 6962)."""

import base64
import hashlib
import itertools
import sqlite3
import struct

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def leaf_hash(entry: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def signed_lines(note: bytes, key: str) -> dict[str, str]:
    """The lines of a signed note (C2SP signed-note) by their first words; its signature is verified."""
    text, _, signatures = note.decode().rpartition("\n\n")
    name, _, encoded = key.split("+", 2)
    (line,) = [line for line in signatures.splitlines() if line.startswith(f"\u2014 {name} ")]
    signature = base64.b64decode(line.rsplit(" ", 1)[1])[4:]
    Ed25519PublicKey.from_public_bytes(base64.b64decode(encoded)[1:]).verify(signature, (text + "\n").encode())
    return dict(line.split(" ", 1) for line in text.splitlines()[1:])


class Tree:
    """A Merkle tree that grows by leaves and keeps the root of every size."""

    def __init__(self):
        self.roots = [hashlib.sha256().digest()]
        self.peaks: list[tuple[int, bytes]] = []

    def append(self, leaf: bytes):
        height = 0
        while self.peaks and self.peaks[-1][0] == height:
            leaf = node_hash(self.peaks.pop()[1], leaf)
            height += 1
        self.peaks.append((height, leaf))
        root = self.peaks[-1][1]
        for _, peak in reversed(self.peaks[:-1]):
            root = node_hash(peak, root)
        self.roots.append(root)

    @property
    def size(self) -> int:
        return len(self.roots) - 1


class StoredTrail:
    """The entries of a trail that is not being written."""

    def __init__(self, path, known: "StoredTrail | None" = None):
        """Reads the trail; everything that `known` has read before must be unchanged."""
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        (head,) = database.execute("SELECT value FROM head WHERE key = 0").fetchone()
        with open(f"{path}.pub") as file:
            stated = signed_lines(head, file.read().strip())
        self.size = int(stated["size"])
        self.root = base64.b64decode(stated["root"])
        self.entries: list[bytes] = []
        for number, row in self._bundles(database):
            assert number * 256 == len(self.entries), f"bundle {number} is out of order"
            self.entries += self._bundle(row)
        for index, row in database.execute("SELECT key, value FROM tail WHERE value IS NOT NULL ORDER BY key"):
            assert index == len(self.entries), f"entry {index} of the tail is out of order"
            (length,) = struct.unpack(">I", row[1:5])
            entry = row[37 : 37 + length]
            assert row[5:37] == leaf_hash(entry), f"entry {index} does not have its leaf hash"
            self.entries.append(entry)
        database.close()
        assert len(self.entries) == self.size, f"{len(self.entries)} entries, and the head says {self.size}"
        start = known.size if known else 0
        if known:
            assert self.entries[:start] == known.entries, "entries were changed"
        self.tree = known.tree if known else Tree()
        self.transactions = known.transactions if known else []
        for entry in self.entries[start:]:
            self.tree.append(leaf_hash(entry))
            self.transactions.append(self._field(entry, "transaction"))
        assert self.tree.roots[self.size] == self.root, "the head's root is not that of the entries"

    @staticmethod
    def _bundles(database):
        """Each bundle, assembled from its rows: segments of 4,064 bytes, the last of which may be shorter."""
        rows = database.execute("SELECT key >> 17, key & 131071, value FROM bundles ORDER BY key").fetchall()
        for number, segments in itertools.groupby(rows, key=lambda row: row[0]):
            parts = []
            for position, (_, segment, value) in enumerate(segments):
                assert segment == position, f"bundle {number} has no segment {position}"
                assert not parts or len(parts[-1]) == 4064, f"bundle {number} goes on after its last segment"
                assert len(value) <= 4064
                parts.append(value)
            yield number, b"".join(parts)

    @staticmethod
    def _bundle(row: bytes) -> list[bytes]:
        # 256 leaf hashes, the root of each 32 of them, two lengths for each entry.
        for group in range(8):
            tree = Tree()
            for position in range(32 * group, 32 * group + 32):
                tree.append(row[32 * position : 32 * position + 32])
            assert row[8192 + 32 * group :][:32] == tree.roots[32], f"group {group} does not have its root"
        lengths = struct.unpack(">256H", row[8448:8960])
        offset = 8448 + 1024
        entries = []
        for position, length in enumerate(lengths):
            entry = row[offset : offset + length]
            assert row[32 * position : 32 * position + 32] == leaf_hash(entry)
            entries.append(entry)
            offset += length
        return entries

    @staticmethod
    def _field(entry: bytes, name: str) -> str | None:
        """The value of an entry's line that begins with `name`."""
        for line in entry.decode().splitlines()[1:]:
            key, _, value = line.partition(" ")
            if key == name:
                return value
        return None

    def check_checkpoint(self, note: str):
        """Checks that a checkpoint, signed at any time, is of an earlier state of the trail."""
        _, size, root = note.split("\n")[:3]
        assert int(size) <= self.size, f"a checkpoint of {size} entries, and there are {self.size}"
        assert self.tree.roots[int(size)] == base64.b64decode(root), f"the checkpoint of size {size} is of another tree"
