# SPDX-License-Identifier: Apache-2.0
"""When a witness cosigns the checkpoint of a log (C2SP tlog-witness, add-checkpoint)."""

import log
from cryptography.hazmat.primitives import serialization
from log import COSIGNATURE, Key, checkpoint
from suite import Suite, b64, flag

from cases.checkpoints import LOG, OTHER
from cases.consistency import FORK
from cases.cosignatures import NOW, STRANGER
from cases.inclusion import SHAPE, flipped

STATE = flag(
    "WitnessState", "The request does not begin at the checkpoint that the witness cosigned last.",
    "A witness that cosigns it vouches for two histories of one log.", "C2SP tlog-witness",
)  # fmt: skip
UNKNOWN = flag(
    "WitnessStranger", "The checkpoint is of no log that the witness knows, or no key of that log signed it.",
    "A witness that cosigns it vouches for what anybody wrote, and the log itself can no longer go on.", "C2SP tlog-witness",
)  # fmt: skip
REQUEST = flag(
    "WitnessRequest", "The request is not the old size, hashes, an empty line and a checkpoint.",
    "Programs that read it in other ways disagree on what was asked for.", "C2SP tlog-witness",
)  # fmt: skip
NAME = "witness-one.example"
FIRST, SECOND = 6, 11
TREE = log.Tree(SECOND)
PROOF = TREE.consistency(FIRST)


def text(size: int | str = SECOND, root: bytes | str | None = None, origin: str = LOG.name) -> str:
    return checkpoint(origin, size, log.Tree(int(size)).root if root is None else root)


def body(old: int | str, proof: list[bytes], note: str) -> str:
    return f"old {old}\n" + "".join(f"{b64(each)}\n" for each in proof) + "\n" + note


def private_key() -> str:
    return (
        Key(NAME)
        .private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        .decode()
    )


class Witness:
    def __init__(self, suite: Suite):
        self.suite = suite

    def add(self, name: str, description: str, request: str, verdict: str, latest: tuple[int, bytes] | None, **options) -> None:
        input = {
            "witnessName": NAME, "witnessKey": private_key(), "logKeys": [key.text for key in options.pop("keys", (LOG,))],
            "request": request,
        }  # fmt: skip
        if latest is not None:
            input |= {"latestSize": log.number(latest[0]), "latestRoot": b64(latest[1])}
        self.suite.add(f"witness::{name}", description, input, verdict, operation="witness", **options)

    def cosigned(
        self, name: str, description: str, request: str, latest: int | None, size: int = SECOND, root: bytes | None = None,
        origin: str = LOG.name, **options,
    ) -> None:  # fmt: skip
        root = log.Tree(size).root if root is None else root
        line = Key(NAME, COSIGNATURE).cosign(checkpoint(origin, size, root), NOW)
        values = {"size": log.number(size), "rootHash": b64(root), "cosignature": line.removesuffix("\n")}
        state = None if latest is None else (latest, log.Tree(latest).root)
        self.add(name, description, request, "valid", state, values=values, **options)

    def refused(
        self, name: str, description: str, request: str, reason: str, flag: str, latest: int | None = FIRST,
        root: bytes | None = None, **options,
    ) -> None:  # fmt: skip
        state = None if latest is None else (latest, root or log.Tree(latest).root)
        self.add(
            name, description, request, "invalid", state, reason=reason, flags=[flag],
            **{"importance": "critical"} | options,
        )  # fmt: skip


def signed(*arguments, **named) -> str:
    return log.signed(text(*arguments, **named), LOG)


def add(suite: Suite) -> None:
    witness = Witness(suite)
    for part in (right, states, forks, proofs, signatures, requests):
        part(witness)


def right(witness: Witness) -> None:
    case = witness.cosigned
    case("right::first", "The first checkpoint of a log has no proof.", body(0, [], signed()), None)
    case("right::grown", "The log grew.", body(FIRST, PROOF, signed()), FIRST)
    case("right::from-a-power-of-two", "The first tree is complete.", body(8, TREE.consistency(8), signed()), 8)
    case("right::by-one", "The log grew by one record.", body(10, TREE.consistency(10), signed()), 10)
    case("right::same", "The log did not grow, and asks for a fresh time.", body(SECOND, [], signed()), SECOND)
    case("right::from-one", "The log had one record.", body(1, TREE.consistency(1), signed()), 1)
    for size in (255, 256, 257, 1000):
        tree = log.Tree(size)
        case(f"right::size-{size}", f"The log grew to {size} records.", body(200, tree.consistency(200), signed(size)), 200,
             size)  # fmt: skip
    large = log.Tree(2**40 + 5, cuts=(2**39 + 3, 2**39 + 4))
    first = (2**39 + 3, large.root_before(2**39 + 3))
    note = log.signed(text(large.size, large.root), LOG)
    line = Key(NAME, COSIGNATURE).cosign(checkpoint(LOG.name, large.size, large.root), NOW)
    witness.add("right::large", "A log of more records than 32 bits count.", body(first[0], large.consistency(first[0]), note),
                "valid", first, values={"size": large.size, "rootHash": b64(large.root),
                                        "cosignature": line.removesuffix("\n")})  # fmt: skip
    longest = log.Tree(2**63 - 1, cuts=(1,))
    line = Key(NAME, COSIGNATURE).cosign(checkpoint(LOG.name, longest.size, longest.root), NOW)
    witness.add("right::hashes-63", "The proof has 63 hashes, which is the most: the log had one record, and has 2^63 - 1.",
                body(1, longest.consistency(1), log.signed(text(longest.size, longest.root), LOG)), "valid",
                (1, longest.root_before(1)),
                values={"size": log.number(longest.size), "rootHash": b64(longest.root),
                        "cosignature": line.removesuffix("\n")})  # fmt: skip
    shorter = log.Tree(2**62, cuts=(1,))
    line = Key(NAME, COSIGNATURE).cosign(checkpoint(LOG.name, shorter.size, shorter.root), NOW)
    witness.add("right::hashes-62", "The proof has 62 hashes: the log had one record, and has 2^62.",
                body(1, shorter.consistency(1), log.signed(text(shorter.size, shorter.root), LOG)), "valid",
                (1, shorter.root_before(1)),
                values={"size": log.number(shorter.size), "rootHash": b64(shorter.root),
                        "cosignature": line.removesuffix("\n")})  # fmt: skip
    case("right::strangers", "Lines of keys that the witness does not know do not matter.",
         body(FIRST, PROOF, log.note(text(), OTHER.line(text()), LOG.line(text()), STRANGER.cosign(text(), NOW - 60))), FIRST)
    case("right::known-logs", "The witness knows several logs.", body(FIRST, PROOF, signed()), FIRST, keys=(OTHER, LOG))
    case("right::second-key", "A log has two keys of one name, and one of them signed.", body(FIRST, PROOF, signed()), FIRST,
         keys=(Key(LOG.name, secret="log before"), LOG))  # fmt: skip


def states(witness: Witness) -> None:
    def case(name: str, description: str, request: str, **options) -> None:
        witness.refused(f"state::{name}", description, request, "conflict", STATE, **options)

    case("older", "The request begins at an older checkpoint, and its proof holds.", body(4, TREE.consistency(4), signed()))
    case("newer", "The request begins at a newer checkpoint, and its proof holds.", body(8, TREE.consistency(8), signed()))
    case("none-yet", "The witness has cosigned nothing, and the request begins at a size.", body(FIRST, PROOF, signed()),
         latest=None)
    case("begins-anew", "The log begins anew, without a proof.", body(0, [], signed()))
    case("begins-anew-smaller", "The log begins anew, smaller than it was.", body(0, [], signed(3)))
    case("same-size-begins-anew", "The checkpoint that was cosigned last, as if it were the first.", body(0, [], signed(FIRST)))
    case("behind", "The witness is ahead of the checkpoint.", body(FIRST, PROOF, signed()), latest=20)
    case("rolled-back", "A checkpoint that the witness has gone beyond, without growth.", body(FIRST, [], signed(FIRST)),
         latest=SECOND)


def forks(witness: Witness) -> None:
    def case(name: str, description: str, request: str, **options) -> None:
        witness.refused(f"fork::{name}", description, request, "inconsistent", FORK, **options)

    other = flipped(TREE.root, 0)
    case("same-size", "The log shows another root for the size that was cosigned last.",
         body(SECOND, [], signed(SECOND, other)), latest=SECOND)
    case("same-size-last-octet", "The roots differ in their last bit.",
         body(SECOND, [], signed(SECOND, flipped(TREE.root, 31))), latest=SECOND)
    case("new-root", "The proof does not lead to the new root.", body(FIRST, PROOF, signed(SECOND, other)))
    case("old-root", "The proof does not lead to the root that was cosigned last.", body(FIRST, PROOF, signed()),
         root=flipped(log.Tree(FIRST).root, 0))
    case("empty-tree-root", "A log without records has another root than the empty tree.",
         body(0, [], signed(0, other)), latest=None)


def proofs(witness: Witness) -> None:
    def case(name: str, description: str, request: str, **options) -> None:
        witness.refused(f"proof::{name}", description, request, "inconsistent", SHAPE, **options)

    case("missing", "There is no proof.", body(FIRST, [], signed()))
    case("shorter", "The last hash of the proof is missing.", body(FIRST, PROOF[:-1], signed()))
    case("longer", "The proof has a hash too many.", body(FIRST, [*PROOF, PROOF[0]], signed()))
    case("swapped", "Two hashes of the proof are exchanged.", body(FIRST, [PROOF[1], PROOF[0], *PROOF[2:]], signed()))
    case("altered", "A hash of the proof is altered.", body(FIRST, [flipped(PROOF[0], 0), *PROOF[1:]], signed()))
    case("first", "The first checkpoint of a log has a proof.", body(0, PROOF, signed()), latest=None)
    case("same", "The log did not grow, and there is a proof.", body(SECOND, PROOF, signed()), latest=SECOND)
    longest = log.Tree(2**63 - 1, cuts=(1,))
    proof, note = longest.consistency(1), log.signed(text(longest.size, longest.root), LOG)
    one = {"latest": 1, "root": longest.root_before(1)}
    case("last-of-63", "The last of 63 hashes is altered.", body(1, [*proof[:-1], flipped(proof[-1], 31)], note), **one)
    case("first-of-63", "The first of 63 hashes is altered.", body(1, [flipped(proof[0], 31), *proof[1:]], note), **one)
    case("62-of-63", "The last of 63 hashes is missing.", body(1, proof[:-1], note), **one)
    case("of-another-size", "The proof is one from another size.", body(FIRST, TREE.consistency(7), signed()))


def signatures(witness: Witness) -> None:
    def case(name: str, description: str, note: str, reason: str = "not-signed", **options) -> None:
        witness.refused(f"signature::{name}", description, body(FIRST, PROOF, note), reason, UNKNOWN, **options)

    case("unknown-log", "The witness does not know the origin.", log.signed(text(origin=OTHER.name), OTHER), "unknown-log")
    case("unknown-log-known-key", "A known key signed for an origin that the witness does not know.",
         log.signed(text(origin="log.example/unknown"), LOG), "unknown-log")
    case("other-key", "A key that is not the log's signed.", log.signed(text(), OTHER))
    case("other-known-key", "The key of another log that the witness knows signed.", log.signed(text(), OTHER),
         keys=(LOG, OTHER))
    case("same-name", "A key of the log's name that the witness does not know signed.",
         log.signed(text(), Key(LOG.name, secret="somebody")))
    case("altered", "The signature is not one of the text.", log.note(text(), LOG.line(text(10))))
    case("of-a-cosigner", "The log's line is the cosignature of a witness with the log's key.",
         log.note(text(), Key(LOG.name, COSIGNATURE).cosign(text(), NOW - 60)))


def requests(witness: Witness) -> None:
    def case(name: str, description: str, request: str, **options) -> None:
        witness.refused(f"request::{name}", description, request, "malformed", REQUEST, **{"importance": "high"} | options)

    good = body(FIRST, PROOF, signed())
    hashes = "".join(f"{b64(each)}\n" for each in PROOF)
    case("empty", "There is nothing.", "")
    case("old-missing", "The line of the old size is missing.", good.partition("\n")[2])
    case("old-leading-zero", "The old size has a zero in front.", good.replace("old 6", "old 06"))
    case("old-plus", "The old size has a sign.", good.replace("old 6", "old +6"))
    case("old-two-spaces", "There are two spaces before the old size.", good.replace("old 6", "old  6"))
    case("old-trailing-space", "There is a space after the old size.", good.replace("old 6", "old 6 "))
    case("old-upper-case", "The first word is in upper case.", good.replace("old 6", "OLD 6"))
    case("old-no-number", "The old size is no number.", good.replace("old 6", "old six"))
    case("old-beyond-64-bits", "The old size has more than 64 bits.", good.replace("old 6", f"old {2**64 + 6}"))
    case("old-beyond-new", "The old size is the larger one.", body(20, [], signed()), latest=20)
    case("no-empty-line", "The empty line after the proof is missing.", good.replace(hashes + "\n", hashes))
    case("carriage-returns", "Lines end with CR LF.", good.replace("\n", "\r\n"))
    case("hash-short", "A hash has 31 octets.", good.replace(b64(PROOF[0]), b64(PROOF[0][:31])))
    case("hash-unpadded", "A hash lacks its padding.", good.replace(b64(PROOF[0]), b64(PROOF[0]).rstrip("=")))
    case("hash-url-alphabet", "A hash is no base64.", good.replace(b64(PROOF[0]), "-" + b64(PROOF[0])[1:]))
    case("hashes-64", "The proof has 64 hashes; at most 63 are allowed.", body(FIRST, [TREE.root] * 64, signed()))
    case("no-checkpoint", "There is no checkpoint.", good.partition("\n\n")[0] + "\n\n")
    case("no-signature", "The checkpoint has no signature line.", body(FIRST, PROOF, text() + "\n"))
    case("size-leading-zero", "The size of the checkpoint has a zero in front, and is signed so.",
         body(FIRST, PROOF, log.signed(text("011"), LOG)))
    case("root-short", "The root of the checkpoint has 31 octets, and is signed so.",
         body(FIRST, PROOF, log.signed(checkpoint(LOG.name, SECOND, b64(TREE.root[:31])), LOG)))
    case("last-line-feed-missing", "The last line does not end.", good[:-1])
