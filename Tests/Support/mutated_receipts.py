# SPDX-License-Identifier: Apache-2.0
"""Receipts that were altered by chance, as cases of the conformance suite without an expected answer. Half of them are signed
again after they were altered, so that what reads the contents sees them."""

import base64
import json
import pathlib
import random
import sys
from collections.abc import Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Conformance" / "generator"))

import cms  # noqa: E402
import detached  # noqa: E402
import jws  # noqa: E402
import plist  # noqa: E402
import suite  # noqa: E402

# What stands in receipts, to be put where it does not belong.
PIECES = [
    b'"', b"{", b"}", b"[", b",", b":", b"null", b"true", b"-1", b"1e9", b"0", b"9007199254740993", b".5", b"\\u0000", b"\\ud800",
    b"\x00", b"\xff", b"\x30\x80", b"\x00\x00", b"\x04\x82", b"\x0c", b"\x16", b"=", b"-", b"_", b" ", b"\n", b"Production",
    b"Sandbox", b"com.example.app", b"2025-10-01T07:09:12Z", b"signedDate", b"environment", b"bundleId",
]  # fmt: skip


def altered(data: bytes, chance: random.Random) -> bytes:
    """The data after one to three changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at = chance.randrange(len(data) + 1)
        end = min(len(data), at + chance.choice((1, 1, 1, 2, 4, 8, 32)))
        piece = data[at:end]
        replacement = chance.choice((
            b"", bytes(byte ^ 1 << chance.randrange(8) for byte in piece[:1]) + piece[1:], chance.choice(PIECES),
            piece + piece, piece + chance.choice(PIECES), chance.randbytes(len(piece)), piece[::-1],
        ))  # fmt: skip
        data = data[:at] + replacement + data[end:]
    return data


def layers(receipt: bytes, chance: random.Random) -> bytes:
    """A receipt that was altered as it stands, or within one of its layers of base64."""
    if receipt.count(b".") == 2 and chance.random() < 0.7:
        parts = receipt.split(b".")
        index = chance.randrange(3)
        try:
            inner = base64.urlsafe_b64decode(parts[index] + b"=" * (-len(parts[index]) % 4))
        except ValueError:
            return altered(receipt, chance)
        parts[index] = base64.urlsafe_b64encode(altered(inner, chance)).rstrip(b"=")
        return b".".join(parts)
    if chance.random() < 0.7:
        try:
            return base64.b64encode(altered(base64.b64decode(receipt, validate=True), chance))
        except ValueError:
            pass
    return altered(receipt, chance)


def signed_again(chance: random.Random) -> tuple[bytes, dict]:
    """A receipt whose contents were altered before they were signed, and a policy."""
    kind = chance.randrange(5)
    if kind < 2:
        text = altered(suite.json_bytes(chance.choice(jws.KINDS).payload()), chance)
        head = jws.header() if chance.random() < 0.8 else altered(suite.json_bytes(jws.header()), chance)
        return jws.compact(text, head).encode(), suite.base_policy(jws.authority())
    if kind == 2:
        return base64.b64encode(cms.receipt(altered(cms.payload(), chance)).encoded()), cms.suite_policy()
    if kind == 3:
        return plist.receipt(altered(plist.info(), chance)).text().encode(), plist.policy()()
    store, data = chance.choice((("play", detached.play()), ("huawei", detached.huawei())))
    content = altered(suite.json_bytes(data), chance)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = content.decode(errors="replace")
    signature = detached.rsa(suite_key(), text.encode(), "sha1" if store == "play" else "sha256")
    return suite.json_bytes({"data": text, "signature": suite.b64(signature)}), detached.policy(store)


def suite_key():
    import keys

    return keys.rsa_key("app")


def cases(count: int, seed: int, originals: list[dict]) -> Iterator[dict]:
    """So many cases; the same seed gives the same."""
    chance = random.Random(seed)
    for number in range(count):
        original = chance.choice(originals)
        if number % 2:
            receipt, policy = signed_again(chance)
            time = suite.TIME
        else:
            receipt = layers(base64.b64decode(original["input"]["receipt"]), chance)
            policy, time = original["policy"], original["time"]
        yield {
            "id": f"mutated::{seed}::n{number}", "operation": "verify", "features": [], "input": {"receipt": suite.b64(receipt)},
            "policy": policy, "time": time, "expected": {"verdict": "either"},
        }  # fmt: skip


if __name__ == "__main__":
    document = json.loads(pathlib.Path(sys.argv[1]).read_text())
    for case in cases(int(sys.argv[2]), int(sys.argv[3]), document["cases"]):
        print(json.dumps(case))
