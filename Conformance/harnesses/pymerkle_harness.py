#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: python3 Conformance/harnesses/pymerkle_harness.py

A harness of the conformance suite for pymerkle (https://pypi.org/project/pymerkle/), versions 6 and 7: the feature inclusion.

pymerkle's own proofs of consistency hold other hashes than those of RFC 6962 section 2.1.2: where the old tree ends at a
complete subtree, they go on into the leaves of the next one. A proof of RFC 6962 therefore cannot be given to it.

Expected failures: none.
"""

import base64
import importlib.metadata
import json
import sys

from pymerkle import InvalidProof, verify_inclusion
from pymerkle.hasher import MerkleHasher

try:
    from pymerkle import InclusionProof
except ImportError:
    # Version 6, which is told nothing of the index: the rule alone places the record.
    InclusionProof = None
    from pymerkle import MerkleProof

DECLARATION = {
    "harness": "pymerkle",
    "version": importlib.metadata.version("pymerkle"),
    "features": ["inclusion", "sizes-64-bit"],
    "reports": [],
    "reasons": False,
    "places": False,
}


def number(value: object) -> int:
    """A size or an index, which is a text if it is beyond 2^53 - 1."""
    if isinstance(value, str):
        value = int(value)
    if not isinstance(value, int):
        raise InvalidProof("no number")
    return value


def rule(index: int, size: int) -> list[int]:
    """The sides on which pymerkle combines the hashes of a path: 1 where the node on the path is a right child.

    pymerkle wants a rule beside the hashes, and compares it with one of its own; a proof of RFC 6962 has none.
    """
    sides: list[int] = []
    low, high, side = 0, size, 0
    while high - low > 1:
        middle = low + (1 << (high - low - 1).bit_length() - 1)
        sides.append(side)
        low, high, side = (low, middle, 0) if index < middle else (middle, high, 1)
    return [side, *reversed(sides)]


def check_inclusion(data: dict) -> None:
    index, size = number(data["index"]), number(data["size"])
    if not 0 <= index < size < 1 << 64:
        raise InvalidProof("the tree has no such index")
    if "record" in data:
        leaf = MerkleHasher("sha256").hash_buff(base64.b64decode(data["record"], validate=True))
    else:
        leaf = base64.b64decode(data["leafHash"], validate=True)
    path = [leaf, *(base64.b64decode(each, validate=True) for each in data["proof"])]
    root = base64.b64decode(data["rootHash"], validate=True)
    # The path begins with the leaf.
    if InclusionProof is None:
        verify_inclusion(leaf, root, MerkleProof("sha256", True, size, rule(index, size), [], path))
        return
    # Version 7 counts from 1.
    proof = InclusionProof("sha256", True, size, index + 1, rule(index, size), path)
    verify_inclusion(leaf, root, proof, index=index + 1, size=size, algorithm="sha256", security=True)


def answer(case: dict) -> dict:
    if case["operation"] != "inclusion":
        return {"id": case["id"], "verdict": "undetermined", "reason": "unsupported"}
    try:
        check_inclusion(case["input"])
    except (InvalidProof, ValueError) as fault:
        return {"id": case["id"], "verdict": "invalid", "context": str(fault)}
    return {"id": case["id"], "verdict": "valid", "values": {}}


def main() -> None:
    print(json.dumps(DECLARATION), flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
