# SPDX-License-Identifier: Apache-2.0
"""The root of a tree over records, and its proofs, as a log makes them (RFC 6962 section 2.1)."""

import log
from suite import Suite, b64

from cases.inclusion import HASHING, POSITION, SHAPE

ALL = 600
RECORDS = [log.record(number) for number in range(ALL)]
# Logs that keep their hashes in tiles (C2SP tlog-tiles) read another number of tiles on each side of these sizes.
TILES = (255, 256, 257, 300, 511, 512, 513)


def add(suite: Suite) -> None:
    add_small(suite)
    add_tiles(suite)
    add_earlier(suite)
    add_records(suite)
    add_positions(suite)


def root_of(hashes: list[bytes]) -> bytes:
    """MTH of RFC 6962 section 2.1."""
    if len(hashes) < 2:
        return hashes[0] if hashes else log.EMPTY_ROOT
    middle = log.left_of(len(hashes))
    return log.node(root_of(hashes[:middle]), root_of(hashes[middle:]))


def path(hashes: list[bytes], index: int) -> list[bytes]:
    """PATH of RFC 6962 section 2.1.1."""
    if len(hashes) == 1:
        return []
    middle = log.left_of(len(hashes))
    if index < middle:
        return [*path(hashes[:middle], index), root_of(hashes[middle:])]
    return [*path(hashes[middle:], index - middle), root_of(hashes[:middle])]


def lines(proof: list[bytes]) -> str:
    return "".join(f"{b64(each)}\n" for each in proof)


def inputs(records: list[bytes], size: int | None, index: int | None, first: int | None) -> dict:
    members = {"records": [b64(record) for record in records], "size": size, "index": index, "from": first}
    return {name: value for name, value in members.items() if value is not None}


def valid(
    suite: Suite, name: str, description: str, records: list[bytes], *, size: int | None = None, index: int | None = None,
    first: int | None = None, flags: tuple = (), importance: str = "high",
) -> None:  # fmt: skip
    """A case whose proofs hold by the checks of RFC 9162, which are other algorithms."""
    hashes = [log.leaf(record) for record in records][:size]
    values = {"rootHash": b64(root_of(hashes))}
    if index is not None:
        proof = path(hashes, index)
        if log.inclusion_fault(hashes[index], index, len(hashes), root_of(hashes), proof):
            raise ValueError(name)
        values["inclusion"] = lines(proof)
    if first is not None:
        proof = log.Tree(len(hashes)).consistency(first) if first else []
        if log.consistency_fault(first, root_of(hashes[:first]), len(hashes), root_of(hashes), proof):
            raise ValueError(name)
        values["consistency"] = lines(proof)
    suite.add(
        f"tree::{name}", description, inputs(records, size, index, first), "valid", operation="tree", values=values,
        flags=list(flags), importance=importance,
    )  # fmt: skip


def add_small(suite: Suite) -> None:
    valid(suite, "size-0::root", "No record.", [])
    for size in range(1, 18):
        for number in sorted({0, size // 2, size - 1}):
            valid(suite, f"size-{size}::record-{number}", f"Record {number} of {size}, and how {number + 1} of them grew.",
                  RECORDS[:size], index=number, first=number + 1, flags=(HASHING,), importance="medium")  # fmt: skip
    valid(suite, "size-7::from-0", "Every tree continues the empty one, with an empty proof.", RECORDS[:7], first=0)


def add_tiles(suite: Suite) -> None:
    for size in TILES:
        for number in sorted({0, 254, 255, 256, size - 1} & set(range(size))):
            valid(suite, f"size-{size}::record-{number}", f"Record {number} of {size}, and how {number + 1} of them grew.",
                  RECORDS[:size], index=number, first=number + 1, flags=(HASHING,))  # fmt: skip


def add_earlier(suite: Suite) -> None:
    """The log has more records than the tree that is asked for."""
    for size, number in ((0, None), (1, 0), (7, 5), (128, 100), (255, 254), (256, 255), (257, 256), (300, 290), (512, 300),
                         (599, 598)):  # fmt: skip
        first = None if number is None else number
        valid(suite, f"earlier::size-{size}", f"The tree of the first {size} records of {ALL}.", RECORDS, size=size,
              index=number, first=first, flags=(SHAPE,))  # fmt: skip


def add_records(suite: Suite) -> None:
    node = b"\1" + log.leaf(b"a") + log.leaf(b"b")
    for name, description, records in (
        ("empty", "Records without octets.", [b"", b"a", b""]),
        ("equal", "Equal records are as many leaves.", [b"a"] * 5),
        ("like-a-node", "A record has the octets of which a node is made.", [b"a", b"b", node]),
        ("binary", "Records of all octets.", [bytes(range(256)), b"\0", b"\0\0", b"\xff" * 300]),
        ("line-feeds", "Records that differ in the line feed at their end.", [b"a", b"a\n", b"a\r\n"]),
    ):
        number = len(records) - 1
        valid(suite, f"records::{name}", description, records, index=number, flags=(HASHING,))


def add_positions(suite: Suite) -> None:
    for name, description, reason, options in (
        ("index-of-size", "The record after the last one.", "wrong-index", {"index": 7}),
        ("index-in-empty", "A record of the empty tree.", "wrong-index", {"index": 0, "size": 0}),
        ("index-beyond-size", "The log has the record, and the tree that is asked for does not.", "wrong-index",
         {"index": 5, "size": 5}),
        ("from-beyond", "The first tree is the larger one.", "wrong-size", {"first": 8}),
        ("from-beyond-size", "The log had as many records, and the tree that is asked for does not.", "wrong-size",
         {"first": 6, "size": 5}),
    ):  # fmt: skip
        size = options.get("size")
        suite.add(
            f"tree::position::{name}", description, inputs(RECORDS[:7], size, options.get("index"), options.get("first")),
            "invalid", operation="tree", reason=reason, flags=[POSITION], importance="high",
        )  # fmt: skip
