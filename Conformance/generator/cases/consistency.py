# SPDX-License-Identifier: Apache-2.0
"""Proofs that a tree continues an earlier one (RFC 6962 section 2.1.2)."""

import log
from suite import Suite, b64, flag

from cases.inclusion import ENCODING, HASHING, POSITION, SHAPE, WIDE, flipped

FORK = flag(
    "LogFork",
    "The two trees are not one log: a record was altered, removed or put in between.",
    "A program that accepts it does not notice that a log shows different histories to different readers.",
    "RFC 6962 section 2.1.2",
    "C2SP tlog-witness",
)

FIRST, SECOND = 6, 11
TREE = log.Tree(SECOND)
ROOT = log.Tree(FIRST).root
PROOF = TREE.consistency(FIRST)


def add(suite: Suite) -> None:
    add_small(suite)
    add_large(suite)
    add_altered(suite)
    add_forks(suite)
    add_sizes(suite)
    add_empty_tree(suite)
    add_forms(suite)


def inputs(first: int, first_root: bytes, second: int, second_root: bytes, proof: list[bytes]) -> dict:
    return {
        "firstSize": log.number(first),
        "firstRoot": b64(first_root),
        "secondSize": log.number(second),
        "secondRoot": b64(second_root),
        "proof": [b64(each) for each in proof],
    }


def add_valid(suite: Suite, name: str, description: str, tree: log.Tree, first: int, **options) -> None:
    root, proof = tree.root_before(first), tree.consistency(first)
    if fault := log.consistency_fault(first, root, tree.size, tree.root, proof):
        raise ValueError(f"{name}: {fault}")
    suite.add(
        name,
        description,
        inputs(first, root, tree.size, tree.root, proof),
        "valid",
        operation="consistency",
        values={},
        **options,
    )


def add_invalid(
    suite: Suite,
    name: str,
    description: str,
    flags: list[str],
    *,
    first: int = FIRST,
    root: bytes = ROOT,
    second: int = SECOND,
    new_root: bytes = TREE.root,
    proof: list[bytes] | None = None,
    **options,
) -> None:
    """A proof that must be refused; the reason is that of the check of RFC 9162."""
    proof = PROOF if proof is None else proof
    reason = log.consistency_fault(first, root, second, new_root, proof)
    if reason is None:
        raise ValueError(f"{name} holds")
    suite.add(
        name,
        description,
        inputs(first, root, second, new_root, proof),
        "invalid",
        operation="consistency",
        reason=reason,
        flags=flags,
        **{"importance": "critical"} | options,
    )


def add_small(suite: Suite) -> None:
    for size in range(1, 18):
        tree = log.Tree(size)
        for first in sorted({1, (size + 1) // 2, size - 1, size} - {0}):
            add_valid(
                suite,
                f"consistency::size-{size}::from-{first}",
                f"A tree of {first} grew to {size}.",
                tree,
                first,
                importance="medium",
            )
        if size > 1:
            forged = flipped(tree.root, 0)
            add_invalid(
                suite,
                f"consistency::size-{size}::other-root",
                f"A tree of {size - 1} grew to {size}, whose root is altered.",
                [FORK],
                first=size - 1,
                root=log.Tree(size - 1).root,
                second=size,
                new_root=forged,
                proof=tree.consistency(size - 1),
            )
        add_invalid(
            suite,
            f"consistency::size-{size}::equal-sizes-other-root",
            f"Two trees of {size} have different roots, and the proof is empty.",
            [FORK],
            first=size,
            root=tree.root,
            second=size,
            new_root=flipped(tree.root, 7),
            proof=[],
        )


def add_large(suite: Suite) -> None:
    pairs = [
        (2**exponent + below, 2**exponent + above)
        for exponent in (8, 16, 32, 40, 53, 62)
        for below, above in ((-1, 0), (0, 1), (-1, 1))
    ]
    pairs += [(1, 2**40), (2**31 - 1, 2**33 + 5), (2**39 + 1, 2**40 + 2**20 + 3), (2**53 - 1, 2**63 - 1), (2**62, 2**63 - 1)]
    for first, second in pairs:
        add_valid(
            suite,
            f"consistency::large::{first}-to-{second}",
            f"A tree of {first} grew to {second}.",
            log.Tree(second, (first,)),
            first,
            importance="medium",
        )
    for first, second in ((2**63, 2**64 - 1), (2**63 - 1, 2**63), (2**64 - 2, 2**64 - 1)):
        add_valid(
            suite,
            f"consistency::large::{first}-to-{second}",
            f"A tree of {first} grew to {second}.",
            log.Tree(second, (first,)),
            first,
            importance="low",
            features=[WIDE],
        )


def add_altered(suite: Suite) -> None:
    for place in range(len(PROOF)):
        for label, bit in (("first-bit", 255), ("last-bit", 0)):
            proof = [*PROOF[:place], flipped(PROOF[place], bit), *PROOF[place + 1 :]]
            add_invalid(
                suite,
                f"consistency::altered::hash-{place}-{label}",
                f"One bit of hash {place} of the proof is altered.",
                [],
                proof=proof,
            )
    add_invalid(suite, "consistency::altered::first-root", "One bit of the old root is altered.", [FORK], root=flipped(ROOT, 0))
    add_invalid(
        suite,
        "consistency::altered::second-root",
        "One bit of the new root is altered.",
        [FORK],
        new_root=flipped(TREE.root, 0),
    )
    add_invalid(
        suite,
        "consistency::altered::roots-exchanged",
        "The old root and the new one are exchanged.",
        [],
        root=TREE.root,
        new_root=ROOT,
    )
    shapes = {
        "empty": ("The proof has no hash.", []),
        "without-first": ("The first hash of the proof is missing.", PROOF[1:]),
        "without-last": ("The last hash of the proof is missing.", PROOF[:-1]),
        "reversed": ("The hashes of the proof are in reverse order.", PROOF[::-1]),
        "first-two-exchanged": ("The first two hashes of the proof are exchanged.", [PROOF[1], PROOF[0], *PROOF[2:]]),
        "first-twice": ("The first hash of the proof is there twice.", [PROOF[0], *PROOF]),
        "old-root-in-front": ("The old root comes in front of the proof.", [ROOT, *PROOF]),
        "new-root-behind": ("The new root comes after the proof.", [*PROOF, TREE.root]),
        "zeros-behind": ("A hash of zeros comes after the proof.", [*PROOF, bytes(32)]),
        "sixty-six": (
            "The proof is continued to 66 hashes, more than any trees of 64-bit sizes ask for.",
            PROOF + [bytes(32)] * 62,
        ),
        "roots-alone": ("The proof is the old root and the new one.", [ROOT, TREE.root]),
        "inclusion": ("The proof is one of inclusion, of the first new record.", TREE.inclusion(FIRST)),
    }
    for name, (description, proof) in shapes.items():
        add_invalid(suite, f"consistency::shape::{name}", description, [SHAPE], proof=proof)
    eight = log.Tree(8)
    add_invalid(
        suite,
        "consistency::shape::complete-with-old-root",
        "The old tree is a complete subtree of the new one, so that the proof leaves its root out; this one states it.",
        [SHAPE],
        first=8,
        root=eight.root,
        proof=[eight.root, *TREE.consistency(8)],
    )
    add_invalid(
        suite,
        "consistency::shape::complete-with-other-root",
        "The same, with another old root: a program that takes the stated one proves a tree that is none of this log.",
        [SHAPE, FORK],
        first=8,
        root=flipped(eight.root, 0),
        proof=[eight.root, *TREE.consistency(8)],
    )
    add_invalid(
        suite,
        "consistency::shape::complete-without-proof",
        "The old tree is a complete subtree of the new one; the proof is empty.",
        [SHAPE],
        first=8,
        root=eight.root,
        proof=[],
    )
    add_invalid(
        suite,
        "consistency::shape::equal-with-hash",
        "Two equal trees have an empty proof, and this has their root.",
        [SHAPE],
        first=SECOND,
        root=TREE.root,
        proof=[TREE.root],
    )
    add_invalid(
        suite,
        "consistency::shape::equal-with-proof",
        "Two equal trees have an empty proof, and this is the one from 6.",
        [SHAPE],
        first=SECOND,
        root=TREE.root,
    )


def root_of(hashes: list[bytes]) -> bytes:
    if len(hashes) == 1:
        return hashes[0]
    middle = log.left_of(len(hashes))
    return log.node(root_of(hashes[:middle]), root_of(hashes[middle:]))


def add_forks(suite: Suite) -> None:
    row = [log.leaf(log.record(index)) for index in range(SECOND)]
    forks = {
        "first-record-altered": ("the first record altered", [log.leaf(b"forged"), *row[1:]]),
        "last-old-record-altered": ("the last old record altered", [*row[:5], log.leaf(b"forged"), *row[6:]]),
        "record-removed": ("an old record removed", [*row[:2], *row[3:], log.leaf(log.record(SECOND))]),
        "record-inserted": ("a record put between the old ones", [*row[:3], log.leaf(b"forged"), *row[3:-1]]),
        "records-exchanged": ("two old records exchanged", [row[1], row[0], *row[2:]]),
    }
    for name, (what, hashes) in forks.items():
        root = root_of(hashes)
        add_invalid(
            suite,
            f"consistency::fork::{name}",
            f"The new tree has {what}; the proof is that of the honest tree.",
            [FORK],
            new_root=root,
        )
        forged = [root_of(hashes[low:high]) for low, high in ((4, 6), (6, 8), (0, 4), (8, 11))]
        add_invalid(
            suite,
            f"consistency::fork::{name}-with-its-proof",
            f"The new tree has {what}; the proof is made of it.",
            [FORK],
            new_root=root,
            proof=forged,
        )
    # Each root alone follows from hashes of its own; a check that does not use one hash for both accepts this.
    add_invalid(
        suite,
        "consistency::fork::new-root-alone",
        "The proof leads to the new root, and the old root is of other records.",
        [FORK],
        root=root_of([log.leaf(b"forged"), *row[1:6]]),
    )
    found = PROOF[0]
    for sibling in PROOF[1:]:
        found = log.node(sibling, found)
    add_invalid(
        suite,
        "consistency::hashing::all-on-the-left",
        "The new root was made with every hash of the proof on the left.",
        [HASHING],
        new_root=found,
    )


def add_sizes(suite: Suite) -> None:
    shrunk = {"by-one": SECOND - 1, "to-half": FIRST, "to-one": 1}
    for name, size in shrunk.items():
        add_invalid(
            suite,
            f"consistency::size::shrunk-{name}",
            f"The log shrank from {SECOND} to {size}, which no log may.",
            [POSITION, FORK],
            first=SECOND,
            root=TREE.root,
            second=size,
            new_root=log.Tree(size).root,
            proof=TREE.consistency(size),
        )
    add_invalid(
        suite,
        "consistency::size::shrunk-to-nothing",
        "The log shrank from 11 to 0, with an empty proof.",
        [POSITION, FORK],
        first=SECOND,
        root=TREE.root,
        second=0,
        new_root=log.EMPTY_ROOT,
        proof=[],
    )
    add_invalid(
        suite,
        "consistency::size::shrunk-same-root",
        "The log shrank from 11 to 10 with the same root and an empty proof.",
        [POSITION, FORK],
        first=SECOND,
        root=TREE.root,
        second=SECOND - 1,
        proof=[],
    )
    add_invalid(
        suite,
        "consistency::size::grown-same-root",
        "The log grew from 11 to 12 with the same root and an empty proof.",
        [POSITION, FORK],
        first=SECOND,
        root=TREE.root,
        second=SECOND + 1,
        proof=[],
    )
    for first in (5, 7, 4, 8):
        add_invalid(
            suite,
            f"consistency::size::first-{first}",
            f"The proof is that from {FIRST}, and the old size is {first}.",
            [POSITION],
            first=first,
        )
    suite.add(
        "consistency::size::second-of-same-path",
        "The new size is 10, the new root that of a tree of 11. Both sizes have the same path, so that the proof alone does not"
        " show it: only what vouches for root and size together does.",
        inputs(FIRST, ROOT, 10, TREE.root, PROOF),
        "either",
        operation="consistency",
        importance="low",
        flags=[POSITION],
    )
    for second in (7, 8, 17, 32):
        add_invalid(
            suite,
            f"consistency::size::second-{second}",
            f"The proof is that to {SECOND}, and the new size is {second}.",
            [POSITION],
            second=second,
        )
    add_invalid(
        suite,
        "consistency::size::first-sign-bit",
        "The old size is 2^63 + 6, which is below 0 in signed numbers.",
        [POSITION],
        first=2**63 + FIRST,
    )
    for member, size in (("firstSize", FIRST), ("secondSize", SECOND)):
        for name, value in (("negative", -1), ("sixty-five-bits", str(2**64 + size))):
            data = inputs(FIRST, ROOT, SECOND, TREE.root, PROOF)
            data[member] = value
            suite.add(
                f"consistency::number::{member.lower()}-{name}",
                f"The member {member} is {value}, which is no number of 64 bits.",
                data,
                "invalid",
                operation="consistency",
                reason="malformed",
                flags=[POSITION],
            )


def add_empty_tree(suite: Suite) -> None:
    for second in (0, 1, SECOND):
        suite.add(
            f"consistency::empty::to-{second}",
            f"The empty tree grew to {second}. RFC 6962 defines no such proof; witnesses take an empty one.",
            inputs(0, log.EMPTY_ROOT, second, log.Tree(second).root, []),
            "either",
            operation="consistency",
            importance="low",
        )
    add_invalid(
        suite,
        "consistency::empty::with-proof",
        "The empty tree grew to 11, and the proof is not empty.",
        [SHAPE],
        first=0,
        root=log.EMPTY_ROOT,
        importance="medium",
    )
    for name, root in (("other-root", ROOT), ("zero-root", bytes(32)), ("new-root", TREE.root)):
        add_invalid(
            suite,
            f"consistency::empty::{name}",
            "The old tree is of size 0 and does not have the root of the empty tree.",
            [FORK],
            first=0,
            root=root,
            proof=[],
            importance="medium",
        )
    suite.add(
        "consistency::empty::both-other-root",
        "Two trees of size 0 have different roots.",
        inputs(0, log.EMPTY_ROOT, 0, ROOT, []),
        "invalid",
        operation="consistency",
        reason="wrong-root",
        flags=[FORK],
        importance="medium",
    )


def add_forms(suite: Suite) -> None:
    forms = {
        "thirty-one": b64(PROOF[0][:-1]),
        "thirty-three": b64(PROOF[0] + b"\0"),
        "no-octet": "",
        "sixty-four": b64(PROOF[0] * 2),
    }
    for name, text in forms.items():
        data = inputs(FIRST, ROOT, SECOND, TREE.root, PROOF)
        data["proof"][0] = text
        suite.add(
            f"consistency::encoding::hash-{name}",
            "The first hash of the proof is not 32 octets.",
            data,
            "invalid",
            operation="consistency",
            reason="malformed",
            flags=[ENCODING],
        )
    for member in ("firstRoot", "secondRoot"):
        for name, size in (("thirty-one", 31), ("no-octet", 0)):
            data = inputs(FIRST, ROOT, SECOND, TREE.root, PROOF)
            data[member] = b64((ROOT if member == "firstRoot" else TREE.root)[:size])
            suite.add(
                f"consistency::encoding::{member.lower()}-{name}",
                f"The member {member} has {size} octets in place of 32.",
                data,
                "invalid",
                operation="consistency",
                reason="malformed",
                flags=[ENCODING],
            )
