# SPDX-License-Identifier: Apache-2.0
"""Proofs that a record is in a tree (RFC 6962 section 2.1.1)."""

import hashlib

import log
from suite import Suite, b64, flag

HASHING = flag(
    "TreeHashing",
    "A hash of the tree is made in another way than RFC 6962 makes it: without the octets that tell leaves from nodes, with"
    " the children exchanged, or with the last leaf doubled.",
    "A program that makes hashes so takes an inner node for a record, or proves records that the log does not have.",
    "RFC 6962 section 2.1",
    "RFC 9162 section 2.1.1",
)
SHAPE = flag(
    "ProofShape",
    "The proof has another number of hashes than the index and the sizes ask for, or has them in another order.",
    "A program that stops early, or goes on after the root, accepts what no tree of that size contains.",
    "RFC 9162 sections 2.1.3.2 and 2.1.4.2",
)
POSITION = flag(
    "TreePosition",
    "The index or the size is not that of the proof, or is no number of 64 bits.",
    "A program that does not bind the proof to the index reports a record at a place where another one is.",
    "RFC 9162 section 2.1.3.2",
)
ENCODING = flag(
    "HashEncoding",
    "A hash does not have 32 octets.",
    "A program that shortens, pads or skips hashes checks another proof than the one that it was given.",
    "RFC 6962 section 2.1",
)

# A tree that is not full: its indexes have paths of three lengths.
SIZE = 11
INDEX = 6
TREE = log.Tree(SIZE)
PROOF = TREE.inclusion(INDEX)
RECORD = log.record(INDEX)
EXPONENTS = (5, 8, 16, 31, 32, 33, 40, 52, 53, 62, 63)
WIDE = "sizes-64-bit"


def add(suite: Suite) -> None:
    add_small(suite)
    add_powers(suite)
    add_altered_hashes(suite)
    add_shapes(suite)
    add_positions(suite)
    add_hashing(suite)
    add_encodings(suite)


def inputs(index, size, root: bytes, proof: list[bytes], record: bytes | None = None, leaf: bytes | None = None) -> dict:
    subject = {"leafHash": b64(leaf)} if leaf is not None else {"record": b64(RECORD if record is None else record)}
    return subject | {"index": index, "size": size, "rootHash": b64(root), "proof": [b64(each) for each in proof]}


def add_valid(suite: Suite, name: str, description: str, tree: log.Tree, index: int, **options) -> None:
    record, proof = log.record(index), tree.inclusion(index)
    expect(log.leaf(record), index, tree.size, tree.root, proof, None)
    suite.add(
        name,
        description,
        inputs(log.number(index), log.number(tree.size), tree.root, proof, record),
        "valid",
        operation="inclusion",
        values={},
        **options,
    )


def add_invalid(
    suite: Suite,
    name: str,
    description: str,
    flags: list[str],
    *,
    index: int = INDEX,
    size: int = SIZE,
    root: bytes = TREE.root,
    proof: list[bytes] | None = None,
    record: bytes | None = None,
    leaf: bytes | None = None,
    **options,
) -> None:
    """A proof that must be refused; the reason is that of the check of RFC 9162."""
    proof = PROOF if proof is None else proof
    leaf_hash = leaf if leaf is not None else log.leaf(RECORD if record is None else record)
    reason = log.inclusion_fault(leaf_hash, index, size, root, proof)
    if reason is None:
        raise ValueError(f"{name} holds")
    data = inputs(log.number(index), log.number(size), root, proof, record, leaf)
    suite.add(
        name,
        description,
        data,
        "invalid",
        operation="inclusion",
        reason=reason,
        flags=flags,
        **{"importance": "critical"} | options,
    )


def expect(leaf_hash: bytes, index: int, size: int, root: bytes, proof: list[bytes], fault: str | None) -> None:
    found = log.inclusion_fault(leaf_hash, index, size, root, proof)
    if found != fault:
        raise ValueError(f"index {index} of {size}: {found}, not {fault}")


def add_small(suite: Suite) -> None:
    for size in range(1, 18):
        for index in sorted({0, size // 2, size - 1}):
            add_valid(
                suite,
                f"inclusion::size-{size}::index-{index}",
                f"Record {index} of a tree of {size}.",
                log.Tree(size),
                index,
                importance="medium",
            )
        tree = log.Tree(size)
        add_invalid(
            suite,
            f"inclusion::size-{size}::index-beyond",
            f"The index is {size} in a tree of {size}, whose indexes end with {size - 1}; the hashes are those of the last.",
            [POSITION],
            index=size,
            size=size,
            root=tree.root,
            proof=tree.inclusion(size - 1),
            record=log.record(size - 1),
        )
    for name, root in (("root-of-empty", log.EMPTY_ROOT), ("root-of-record", log.leaf(RECORD))):
        add_invalid(
            suite,
            f"inclusion::size-0::{name}",
            "A tree of size 0 contains no record, whatever its root.",
            [POSITION],
            index=0,
            size=0,
            root=root,
            proof=[],
        )


def add_powers(suite: Suite) -> None:
    for exponent in EXPONENTS:
        for label, size in (("below", 2**exponent - 1), ("exact", 2**exponent), ("above", 2**exponent + 1)):
            last, middle = size - 1, size // 2
            for place, index in (("first", 0), ("middle", middle), ("last", last)):
                if exponent > 40 and place == "middle":
                    continue
                add_valid(
                    suite,
                    f"inclusion::power-{exponent}-{label}::{place}",
                    f"Record {index} of a tree of {size}.",
                    log.around(size, index),
                    index,
                    importance="medium",
                    features=[WIDE] if size >= 2**63 else [],
                )
    size = 2**64 - 1
    for place, index in (("first", 0), ("last", size - 1)):
        add_valid(
            suite,
            f"inclusion::power-64-below::{place}",
            "A tree of the greatest size that 64 bits can state.",
            log.around(size, index),
            index,
            importance="low",
            features=[WIDE],
        )
    for exponent in (31, 32, 53):
        size = 2**exponent + 3
        tree = log.around(size, 1)
        index = 2**exponent + 1
        add_invalid(
            suite,
            f"inclusion::truncation::{exponent}-bits",
            f"The hashes prove record 1, and the index is {index}, which is 1 where only the low {exponent} bits are kept.",
            [POSITION],
            index=index,
            size=size,
            root=tree.root,
            proof=tree.inclusion(1),
            record=log.record(1),
        )
        last = log.around(size, index)
        add_invalid(
            suite,
            f"inclusion::truncation::{exponent}-bits-of-proof",
            f"The hashes prove record {index}, and the index is 1, its low bits.",
            [POSITION],
            index=1,
            size=size,
            root=last.root,
            proof=last.inclusion(index),
            record=log.record(index),
        )


def flipped(data: bytes, bit: int) -> bytes:
    return (int.from_bytes(data, "big") ^ 1 << bit).to_bytes(len(data), "big")


def add_altered_hashes(suite: Suite) -> None:
    for place in range(len(PROOF)):
        for label, bit in (("first-bit", 255), ("last-bit", 0)):
            proof = [*PROOF[:place], flipped(PROOF[place], bit), *PROOF[place + 1 :]]
            add_invalid(
                suite,
                f"inclusion::altered::hash-{place}-{label}",
                f"One bit of hash {place} of the proof is altered.",
                [],
                proof=proof,
            )
    for label, bit in (("first-bit", 255), ("last-bit", 0)):
        add_invalid(
            suite, f"inclusion::altered::root-{label}", "One bit of the root is altered.", [], root=flipped(TREE.root, bit)
        )
    add_invalid(suite, "inclusion::altered::record", "The record is that of another index.", [], record=log.record(INDEX - 1))
    add_invalid(suite, "inclusion::altered::record-empty", "The record is empty.", [], record=b"")
    add_invalid(
        suite, "inclusion::altered::record-longer", "The record has one more octet, a newline.", [], record=RECORD + b"\n"
    )
    add_invalid(
        suite,
        "inclusion::altered::leaf-hash",
        "The hash of the leaf is that of another record.",
        [],
        leaf=log.leaf(log.record(INDEX - 1)),
    )
    suite.add(
        "inclusion::leaf-hash::right",
        "The hash of the leaf is given in place of the record.",
        inputs(INDEX, SIZE, TREE.root, PROOF, leaf=log.leaf(RECORD)),
        "valid",
        operation="inclusion",
        values={},
    )


def add_shapes(suite: Suite) -> None:
    first, second, third, *rest = PROOF
    shapes = {
        "empty": ("The proof has no hash.", []),
        "without-first": ("The first hash of the proof is missing.", PROOF[1:]),
        "without-second": ("The second hash of the proof is missing.", [first, *PROOF[2:]]),
        "without-last": ("The last hash of the proof is missing.", PROOF[:-1]),
        "reversed": ("The hashes of the proof are in the order from the root to the leaf.", PROOF[::-1]),
        "first-two-exchanged": ("The first two hashes of the proof are exchanged.", [second, first, third, *rest]),
        "last-two-exchanged": ("The last two hashes of the proof are exchanged.", [*PROOF[:-2], PROOF[-1], PROOF[-2]]),
        "first-twice": ("The first hash of the proof is there twice.", [first, *PROOF]),
        "last-twice": ("The last hash of the proof is there twice.", [*PROOF, PROOF[-1]]),
        "leaf-in-front": ("The hash of the leaf itself comes before its siblings.", [log.leaf(RECORD), *PROOF]),
        "root-behind": ("The root comes after the last sibling.", [*PROOF, TREE.root]),
        "zeros-behind": ("A hash of zeros comes after the last sibling.", [*PROOF, bytes(32)]),
        "empty-root-behind": ("The hash of the empty tree comes after the last sibling.", [*PROOF, log.EMPTY_ROOT]),
        "twice": ("The proof is there twice.", PROOF * 2),
        "sixty-five": (
            "The proof is continued to 65 hashes, more than any tree of 64-bit size asks for.",
            PROOF + [bytes(32)] * 61,
        ),
        "a-thousand": ("The proof is continued to 1,000 hashes.", PROOF + [bytes(32)] * 996),
    }
    for name, (description, proof) in shapes.items():
        add_invalid(suite, f"inclusion::shape::{name}", description, [SHAPE], proof=proof)
    beyond = log.node(TREE.root, bytes(32))
    add_invalid(
        suite,
        "inclusion::shape::root-above",
        "The root is that of a node above the tree's, and the proof leads there.",
        [SHAPE],
        root=beyond,
        proof=[*PROOF, bytes(32)],
    )
    below = TREE.hash(4, 8)
    add_invalid(
        suite,
        "inclusion::shape::root-below",
        "The root is that of a subtree, and the proof ends there.",
        [SHAPE],
        root=below,
        proof=PROOF[:2],
    )
    add_invalid(
        suite,
        "inclusion::shape::single-with-hash",
        "A tree of one record has a proof without hashes, and this has one.",
        [SHAPE],
        index=0,
        size=1,
        root=log.Tree(1).root,
        proof=[log.Tree(1).root],
        record=log.record(0),
    )
    add_invalid(
        suite,
        "inclusion::shape::root-is-leaf",
        "The root is the hash of the leaf, and the proof is empty, in a tree of 11.",
        [SHAPE],
        root=log.leaf(RECORD),
        proof=[],
    )
    last = SIZE - 1
    proof = TREE.inclusion(last)
    add_invalid(
        suite,
        "inclusion::shape::last-padded",
        "The last record has a short path; a hash of zeros stands at the level at which it has no sibling.",
        [SHAPE],
        index=last,
        proof=[bytes(32), *proof],
        record=log.record(last),
    )


def add_positions(suite: Suite) -> None:
    for index in range(SIZE):
        if index != INDEX:
            add_invalid(
                suite,
                f"inclusion::position::index-{index}",
                f"The proof is that of record {INDEX}, and the index is {index}.",
                [POSITION],
                index=index,
            )
    for size in (INDEX + 1, 8, 12, 16, 17, 32):
        if log.inclusion_fault(log.leaf(RECORD), INDEX, size, TREE.root, PROOF):
            add_invalid(
                suite,
                f"inclusion::position::size-{size}",
                f"The proof is that of a tree of {SIZE}, and the size is {size}.",
                [POSITION],
                size=size,
            )
    suite.add(
        "inclusion::position::size-of-same-path",
        "The size is 12, the root that of a tree of 11. Both sizes have the same path for this index, so that the proof alone"
        " does not show it: only what vouches for root and size together does.",
        inputs(INDEX, 12, TREE.root, PROOF),
        "either",
        operation="inclusion",
        importance="low",
        flags=[POSITION],
    )
    add_invalid(suite, "inclusion::position::index-far-beyond", "The index is 2^53 - 1.", [POSITION], index=2**53 - 1)
    add_invalid(suite, "inclusion::position::index-sixty-four-bits", "The index is 2^64 - 1.", [POSITION], index=2**64 - 1)
    add_invalid(
        suite,
        "inclusion::position::index-sign-bit",
        "The index is 2^63 + 6, which is below 0 in signed numbers.",
        [POSITION],
        index=2**63 + INDEX,
    )
    for member, value in (("index", INDEX), ("size", SIZE)):
        for name, other in (("negative", -1), ("sixty-five-bits", str(2**64 + value))):
            data = inputs(INDEX, SIZE, TREE.root, PROOF)
            data[member] = other
            suite.add(
                f"inclusion::number::{member}-{name}",
                f"The {member} is {other}, which is no number of 64 bits.",
                data,
                "invalid",
                operation="inclusion",
                reason="malformed",
                flags=[POSITION],
            )


def plain(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def add_hashing(suite: Suite) -> None:
    eight = log.Tree(8)
    left, right = eight.hash(2, 3), eight.hash(3, 4)
    upper = [eight.hash(0, 2), eight.hash(4, 8)]
    inner = {
        "node-as-record": (
            "an inner node's hashes behind the octet 1: without an octet for leaves it hashes as that node",
            b"\1" + left + right,
        ),
        "node-as-plain-record": ("the two hashes of an inner node", left + right),
        "node-as-prefixed-record": ("the octets 0 and 1 and the two hashes of an inner node", b"\0\1" + left + right),
        "node-hash-as-record": ("the hash of an inner node", eight.hash(2, 4)),
    }
    for name, (what, record) in inner.items():
        add_invalid(
            suite,
            f"inclusion::hashing::{name}",
            f"The record is {what}, at that node's place in a tree of 4 that has the root of the tree of 8.",
            [HASHING],
            index=1,
            size=4,
            root=eight.root,
            proof=upper,
            record=record,
        )
    builds = {
        "no-prefixes": ("no octets in front of leaves and nodes", lambda data: plain(data), lambda a, b: plain(a + b)),
        "leaf-without-prefix": ("no octet in front of leaves", lambda data: plain(data), log.node),
        "node-without-prefix": ("no octet in front of nodes", log.leaf, lambda a, b: plain(a + b)),
        "prefixes-exchanged": (
            "the octets of leaves and nodes exchanged",
            lambda data: plain(b"\1" + data),
            lambda a, b: plain(b"\0" + a + b),
        ),
        "children-exchanged": ("the right child in front of the left one", log.leaf, lambda a, b: log.node(b, a)),
        "children-sorted": ("the smaller child in front", log.leaf, lambda a, b: log.node(*sorted((a, b)))),
        "prefix-behind": (
            "the octets behind leaves and nodes",
            lambda data: plain(data + b"\0"),
            lambda a, b: plain(a + b + b"\1"),
        ),
        "double-hash": ("every hash hashed again", lambda data: plain(log.leaf(data)), lambda a, b: plain(log.node(a, b))),
        "hexadecimal": (
            "nodes made of hashes in hexadecimal",
            log.leaf,
            lambda a, b: plain(b"\1" + a.hex().encode() + b.hex().encode()),
        ),
        "sha1-leaf": (
            "leaves of SHA-1, continued with zeros",
            lambda data: hashlib.sha1(b"\0" + data).digest() + bytes(12),
            log.node,
        ),
        "sha512": (
            "the first 32 octets of SHA-512",
            lambda data: hashlib.sha512(b"\0" + data).digest()[:32],
            lambda a, b: hashlib.sha512(b"\1" + a + b).digest()[:32],
        ),
        "sha3": (
            "SHA3-256",
            lambda data: hashlib.sha3_256(b"\0" + data).digest(),
            lambda a, b: hashlib.sha3_256(b"\1" + a + b).digest(),
        ),
    }
    for name, (what, leaf, node) in builds.items():
        row = [leaf(log.record(index)) for index in range(4)]
        proof = [row[3], node(row[0], row[1])]
        root = node(node(row[0], row[1]), node(row[2], row[3]))
        add_invalid(
            suite,
            f"inclusion::hashing::{name}",
            f"The tree of 4 was made with {what}.",
            [HASHING],
            index=2,
            size=4,
            root=root,
            proof=proof,
            record=log.record(2),
        )
    row = [log.leaf(log.record(index)) for index in range(3)]
    doubled = log.node(log.node(row[0], row[1]), log.node(row[2], row[2]))
    add_invalid(
        suite,
        "inclusion::hashing::last-leaf-doubled",
        "The tree of 3 was made with its last leaf doubled, as Bitcoin does.",
        [HASHING],
        index=2,
        size=3,
        root=doubled,
        proof=[row[2], log.node(row[0], row[1])],
        record=log.record(2),
    )
    add_invalid(
        suite,
        "inclusion::hashing::doubled-leaf-proven",
        "The same tree is said to have 4 records, the last one twice; the root is that of 3.",
        [HASHING],
        index=3,
        size=4,
        root=log.Tree(3).root,
        proof=[row[2], log.node(row[0], row[1])],
        record=log.record(2),
    )
    balanced = log.node(log.node(log.node(row[0], row[1]), row[2]), log.leaf(log.record(3)))
    add_invalid(
        suite,
        "inclusion::hashing::chain",
        "The tree of 4 was made by adding one leaf after the other on the right.",
        [HASHING],
        index=3,
        size=4,
        root=balanced,
        proof=[log.node(log.node(row[0], row[1]), row[2])],
        record=log.record(3),
    )
    for index in (INDEX, 5):
        proof = TREE.inclusion(index)
        found = log.leaf(log.record(index))
        for place, sibling in enumerate(proof):
            found = log.node(sibling, found) if place == 0 and index % 2 == 0 or place == 1 else log.node(found, sibling)
        add_invalid(
            suite,
            f"inclusion::hashing::sides-of-index-{index}",
            "The root was made with siblings on the wrong sides.",
            [HASHING],
            index=index,
            root=found,
            record=log.record(index),
            proof=proof,
        )


def add_encodings(suite: Suite) -> None:
    lengths = {
        "no-octet": (0, "has no octet"),
        "twenty": (20, "has 20 octets"),
        "thirty-one": (31, "has 31 octets"),
        "thirty-three": (33, "has 33 octets"),
        "sixty-four": (64, "has 64 octets"),
    }
    for name, (length, what) in lengths.items():
        data = inputs(INDEX, SIZE, TREE.root, PROOF)
        data["proof"][0] = b64((PROOF[0] + PROOF[1])[:length])
        root = inputs(INDEX, SIZE, TREE.root, PROOF) | {"rootHash": b64((TREE.root * 2)[:length])}
        for subject, label, altered in (("hash", "first hash of the proof", data), ("root", "root", root)):
            suite.add(
                f"inclusion::encoding::{subject}-{name}",
                f"The {label} {what} in place of 32.",
                altered,
                "invalid",
                operation="inclusion",
                reason="malformed",
                flags=[ENCODING],
            )
