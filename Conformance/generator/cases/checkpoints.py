# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of a log, as its key signed them (C2SP tlog-checkpoint)."""

import log
from log import Key, base64_of, checkpoint
from suite import Suite, b64, flag

from cases.inclusion import WIDE

NUMBER = flag(
    "CheckpointSize",
    "The size is not decimal digits without a zero in front.",
    "Readers that take other forms take different sizes for signed, or give one checkpoint several texts.",
    "C2SP tlog-checkpoint",
)
ROOT = flag(
    "CheckpointRoot",
    "The root is not 32 octets in base64, or not that of the empty tree at size 0.",
    "A reader that shortens or continues it compares another root.",
    "C2SP tlog-checkpoint",
)
LINES = flag(
    "CheckpointLines",
    "The text is not an origin, a size, a root and extension lines.",
    "Readers that look for the lines at other places take different checkpoints for signed.",
    "C2SP tlog-checkpoint",
)
ORIGIN = flag(
    "CheckpointOrigin",
    "The checkpoint is of another log than the one that the reader expects.",
    "A reader that does not compare the origin accepts the tree of another log of the same key.",
    "C2SP tlog-checkpoint",
)

LOG = Key("log.example/shop")
OTHER = Key("log.example/other")
SIZE = 20
TREE = log.Tree(SIZE)
TEXT = checkpoint(LOG.name, SIZE, TREE.root)


def add(suite: Suite) -> None:
    add_right(suite)
    add_sizes(suite)
    add_roots(suite)
    add_lines(suite)
    add_origins(suite)
    add_signatures(suite)


def inputs(note: str, keys=(LOG,), origin: str | None = None) -> dict:
    data = {"note": note, "keys": [key.text for key in keys]}
    return data if origin is None else data | {"origin": origin}


def valid(
    suite: Suite,
    name: str,
    description: str,
    note: str,
    keys=(LOG,),
    *,
    origin: str | None = None,
    stated: str = LOG.name,
    size: int = SIZE,
    root: bytes = TREE.root,
    **options,
) -> None:
    suite.add(
        f"checkpoint::{name}",
        description,
        inputs(note, keys, origin),
        "valid",
        operation="checkpoint",
        values={"origin": stated, "size": log.number(size), "rootHash": b64(root)},
        **options,
    )


def refused(
    suite: Suite, name: str, description: str, reason: str, note: str, keys=(LOG,), *, origin: str | None = None, **options
) -> None:
    verdict = "undetermined" if reason.startswith("key-") else "invalid"
    suite.add(
        f"checkpoint::{name}",
        description,
        inputs(note, keys, origin),
        verdict,
        operation="checkpoint",
        reason=reason,
        **options,
    )


def either(suite: Suite, name: str, description: str, note: str, keys=(LOG,), **options) -> None:
    suite.add(
        f"checkpoint::{name}",
        description,
        inputs(note, keys),
        "either",
        operation="checkpoint",
        **{"importance": "low"} | options,
    )


def signed(origin: str, size: int | str, root: bytes | str, *extensions: str, key: Key = LOG) -> str:
    return log.signed(checkpoint(origin, size, root, *extensions), key)


def add_right(suite: Suite) -> None:
    valid(suite, "right::plain", "A checkpoint of a tree of 20, without extension lines.", log.signed(TEXT, LOG))
    for size in (0, 1, 2, 255, 256, 2**31, 2**32, 2**53 - 1, 2**53, 2**53 + 1, 2**62, 2**63 - 1):
        root = log.EMPTY_ROOT if size == 0 else log.leaf(log.record(size))
        valid(
            suite,
            f"right::size-{size}",
            f"A checkpoint of a tree of {size}.",
            signed(LOG.name, size, root),
            size=size,
            root=root,
        )
    for size in (2**63, 2**64 - 1):
        valid(
            suite,
            f"right::size-{size}",
            f"A checkpoint of a tree of {size}, which signed numbers of 64 bits do not have.",
            signed(LOG.name, size, TREE.root),
            size=size,
            features=[WIDE],
            importance="low",
        )
    for count in (1, 3, 50):
        lines = [f"extension {number}" for number in range(count)]
        valid(
            suite,
            f"right::extensions-{count}",
            f"A checkpoint with {count} extension lines, which readers ignore.",
            signed(LOG.name, SIZE, TREE.root, *lines),
        )
    valid(
        suite,
        "right::extension-like-checkpoint",
        "The extension lines look like another checkpoint, and are none.",
        signed(LOG.name, SIZE, TREE.root, OTHER.name, "99", base64_of(log.Tree(99).root)),
    )
    valid(
        suite,
        "right::extension-with-blanks",
        "An extension line begins and ends with blanks.",
        signed(LOG.name, SIZE, TREE.root, "  value  "),
    )
    named = Key("m\u00e5ne.example/log")
    valid(
        suite,
        "right::origin-beyond-ascii",
        "The origin has a letter beyond ASCII.",
        signed(named.name, SIZE, TREE.root, key=named),
        (named,),
        stated=named.name,
    )
    valid(
        suite,
        "right::origin-of-words",
        "The origin is words with blanks, as logs had it before keys were named so; the caller names it.",
        signed("Shop log 1", SIZE, TREE.root),
        origin="Shop log 1",
        stated="Shop log 1",
    )
    valid(
        suite,
        "right::origin-stated",
        "The caller names the origin, and it is the key's name.",
        log.signed(TEXT, LOG),
        origin=LOG.name,
    )
    valid(
        suite,
        "right::unknown-signatures",
        "Unknown signatures stand before and behind that of the log.",
        log.note(TEXT, OTHER.line(TEXT), LOG.line(TEXT), Key("witness.example", log.COSIGNATURE).cosign(TEXT, 1_700_000_000)),
    )
    for size in (0, 9, 31):
        valid(
            suite,
            f"right::root-byte-{size}",
            "The root has octets that look like text or the end of one.",
            signed(LOG.name, 5, bytes([size]) * 32),
            size=5,
            root=bytes([size]) * 32,
            importance="low",
        )


def add_sizes(suite: Suite) -> None:
    texts = {
        "leading-zero": "020",
        "zeros": "00",
        "plus": "+20",
        "minus": "-20",
        "minus-zero": "-0",
        "hexadecimal": "0x14",
        "hexadecimal-digits": "14h",
        "octal": "0o24",
        "exponent": "2e1",
        "fraction": "20.0",
        "comma": "1,020",
        "underscore": "2_0",
        "blank-in-front": " 20",
        "blank-behind": "20 ",
        "blank-within": "2 0",
        "blank": " ",
        "word": "twenty",
        "arabic-digits": "\u0662\u0660",
        "full-width-digits": "\uff12\uff10",
        "superscript": "\u00b2\u2070",
        "two-numbers": "20 20",
        "quoted": '"20"',
        "nan": "NaN",
        "infinity": "Infinity",
        "no-break-space": "\u00a020",
        "semicolon": "20;",
        "sixty-five-bits": str(2**64),
        "wrapped": str(2**64 + 20),
        "thirty-digits": "2" * 30,
        "three-hundred-digits": "2" * 300,
        "letter-o": "2O",
        "null-word": "null",
    }
    for name, text in texts.items():
        what = text if len(text) < 40 else f"{len(text)} digits"
        refused(
            suite,
            f"size::{name}",
            f"The size is written {what!r}.",
            "malformed",
            signed(LOG.name, text, TREE.root),
            flags=[NUMBER],
        )


def add_roots(suite: Suite) -> None:
    right = base64_of(TREE.root)
    texts = {
        "thirty-one": (base64_of(TREE.root[:-1]), "31 octets"),
        "thirty-three": (base64_of(TREE.root + b"\0"), "33 octets"),
        "twenty": (base64_of(TREE.root[:20]), "20 octets"),
        "sixty-four": (base64_of(TREE.root * 2), "64 octets"),
        "one": (base64_of(b"\0"), "one octet"),
        "hexadecimal": (TREE.root.hex(), "hexadecimal"),
        "blank-in-front": (" " + right, "base64 behind a blank"),
        "blank-behind": (right + " ", "base64 and a blank"),
        "other-character": ("*" + right[1:], "base64 with a character that is none"),
        "padding-only": ("=" * 44, "padding"),
        "two-roots": (f"{right} {right}", "two roots"),
        "word": ("root", "a word"),
        "no-padding": (right.rstrip("="), "base64 without padding"),
        "more-padding": (right + "=", "base64 with too much padding"),
    }
    for name, (text, what) in texts.items():
        refused(
            suite,
            f"root::{name}",
            f"The root is {what}.",
            "malformed",
            signed(LOG.name, SIZE, text),
            flags=[ROOT],
            importance="medium" if "padding" in name else "high",
        )
    number = next(index for index in range(99) if set("+/") <= set(base64_of(log.leaf(log.record(index)))))
    url = base64_of(log.leaf(log.record(number))).replace("+", "-").replace("/", "_")
    refused(
        suite,
        "root::url-alphabet",
        "The root is in the alphabet of base64 for URLs.",
        "malformed",
        signed(LOG.name, SIZE, url),
        flags=[ROOT],
        importance="medium",
    )
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    spare = right[:-2] + letters[letters.index(right[-2]) + 1] + "="
    either(
        suite,
        "root::spare-bits",
        "The last letter of the root's base64 has bits that belong to no octet. RFC 4648 3.5 lets a decoder refuse them.",
        signed(LOG.name, SIZE, spare),
        flags=[ROOT],
    )
    for name, root in (("zeros", bytes(32)), ("of-one-record", log.Tree(1).root), ("of-empty-record", log.leaf(b""))):
        refused(
            suite,
            f"root::empty-tree-{name}",
            "The size is 0, and the root is not that of the empty tree.",
            "wrong-root",
            signed(LOG.name, 0, root),
            flags=[ROOT],
            importance="medium",
        )
    either(
        suite,
        "root::empty-root-at-size-1",
        "The size is 1, and the root is that of the empty tree, which no record has.",
        signed(LOG.name, 1, log.EMPTY_ROOT),
        flags=[ROOT],
    )


def add_lines(suite: Suite) -> None:
    size, root = str(SIZE), base64_of(TREE.root)
    texts = {
        "origin-alone": [LOG.name],
        "no-root": [LOG.name, size],
        "no-size": [LOG.name, root],
        "no-origin": [size, root],
        "origin-empty": ["", size, root],
        "empty-line-in-front": ["", LOG.name, size, root],
        "empty-line-behind-origin": [LOG.name, "", size, root],
        "empty-line-behind-size": [LOG.name, size, "", root],
        "size-and-root-exchanged": [LOG.name, root, size],
        "origin-behind": [size, root, LOG.name],
        "one-line": [f"{LOG.name} {size} {root}"],
        "root-in-two-lines": [LOG.name, size, root[:22], root[22:]],
        "names-of-members": [f"origin: {LOG.name}", f"size: {size}", f"root: {root}"],
        "json": [f'{{"origin": "{LOG.name}", "size": {size}}}'],
        "version-in-front": ["checkpoint/v1", LOG.name, size, root],
    }
    for name, lines in texts.items():
        text = "".join(f"{line}\n" for line in lines)
        refused(
            suite,
            f"lines::{name}",
            f"The text has other lines than origin, size and root: {name.replace('-', ' ')}.",
            "malformed",
            log.signed(text, LOG),
            flags=[LINES],
        )
    crossed = TEXT.replace("\n", "\r\n")
    refused(
        suite,
        "lines::carriage-returns",
        "The lines of the text end in carriage return and newline.",
        "malformed",
        log.signed(crossed, LOG),
        flags=[LINES],
    )
    for name, lines in (("empty-extension-last", [""]), ("empty-extension-between", ["one", "", "two"])):
        either(suite, f"lines::{name}", "An extension line is empty.", signed(LOG.name, SIZE, TREE.root, *lines), flags=[LINES])
    either(
        suite,
        "lines::long-origin",
        "The origin, and the name of the key, have 300 letters.",
        signed("a" * 300, SIZE, TREE.root, key=Key("a" * 300)),
        (Key("a" * 300),),
        flags=[LINES],
    )


def add_origins(suite: Suite) -> None:
    origins = {
        "other": OTHER.name,
        "upper-case": LOG.name.upper(),
        "slash-behind": LOG.name + "/",
        "blank-behind": LOG.name + " ",
        "blank-in-front": " " + LOG.name,
        "scheme": "https://" + LOG.name,
        "shorter": LOG.name[:-1],
        "longer": LOG.name + "s",
        "zero-width-space": LOG.name + "\u200b",
        "look-alike": LOG.name.replace("o", "\u043e", 1),
        "host-alone": "log.example",
    }
    for name, origin in origins.items():
        refused(
            suite,
            f"origin::{name}",
            f"The origin is {origin!r}, and the key that signed it has the name {LOG.name}.",
            "wrong-origin",
            signed(origin, SIZE, TREE.root),
            flags=[ORIGIN],
            importance="critical",
        )
    refused(
        suite,
        "origin::other-than-stated",
        "The origin is the name of the key, and the caller expects another one.",
        "wrong-origin",
        log.signed(TEXT, LOG),
        origin=OTHER.name,
        flags=[ORIGIN],
        importance="critical",
    )
    refused(
        suite,
        "origin::stated-in-extension",
        "The expected origin is in an extension line.",
        "wrong-origin",
        signed(OTHER.name, SIZE, TREE.root, LOG.name),
        flags=[ORIGIN],
        importance="critical",
    )
    named, decomposed = Key("caf\u00e9.example"), "cafe\u0301.example"
    refused(
        suite,
        "origin::decomposed",
        "The origin looks like the name of the key, and is of other code points.",
        "wrong-origin",
        signed(decomposed, SIZE, TREE.root, key=named),
        (named,),
        flags=[ORIGIN],
        importance="critical",
    )
    refused(
        suite,
        "origin::of-other-key",
        "Two keys are given; the one that signed is not the one of the origin's name.",
        "wrong-origin",
        signed(LOG.name, SIZE, TREE.root, key=OTHER),
        (LOG, OTHER),
        flags=[ORIGIN],
        importance="critical",
    )


def add_signatures(suite: Suite) -> None:
    line = LOG.line(TEXT)
    altered = {
        "size": checkpoint(LOG.name, SIZE + 1, TREE.root),
        "root": checkpoint(LOG.name, SIZE, log.Tree(SIZE + 1).root),
        "extension-added": TEXT + "extension\n",
        "size-digit-added": checkpoint(LOG.name, f"{SIZE}0", TREE.root),
    }
    for name, text in altered.items():
        refused(
            suite,
            f"altered::{name}",
            f"The checkpoint was altered after it was signed: {name.replace('-', ' ')}.",
            "signature-mismatch",
            log.note(text, line),
            importance="critical",
        )
    extended = checkpoint(LOG.name, SIZE, TREE.root, "one", "two")
    for name, text in (
        ("removed", TEXT),
        ("altered", checkpoint(LOG.name, SIZE, TREE.root, "one", "too")),
        ("exchanged", checkpoint(LOG.name, SIZE, TREE.root, "two", "one")),
    ):
        refused(
            suite,
            f"altered::extension-{name}",
            f"An extension line was {name} after it was signed.",
            "signature-mismatch",
            log.note(text, LOG.line(extended)),
            importance="critical",
        )
    refused(
        suite,
        "signature::first-three-lines",
        "Only the first three lines were signed, and there is an extension line.",
        "signature-mismatch",
        log.note(extended, LOG.line(TEXT)),
        importance="critical",
    )
    refused(
        suite,
        "signature::zeros",
        "The log's signature is zeros.",
        "signature-mismatch",
        log.note(TEXT, LOG.line_with(bytes(64))),
        importance="critical",
    )
    refused(
        suite,
        "signature::other-key",
        "Another key of the log's name signed.",
        "key-missing",
        signed(LOG.name, SIZE, TREE.root, key=Key(LOG.name, secret="forger")),
        importance="critical",
    )
    forged = LOG.line_with(Key(LOG.name, secret="forger").sign(TEXT))
    refused(
        suite,
        "signature::other-key-as-known",
        "Another key signed, under the name and identity of the log's.",
        "signature-mismatch",
        log.note(TEXT, forged),
        importance="critical",
    )
    refused(suite, "signature::none", "The checkpoint has no signature.", "malformed", TEXT + "\n", importance="critical")
    refused(suite, "signature::text-alone", "The checkpoint is its text alone.", "malformed", TEXT, importance="critical")
    cosigned = Key(LOG.name, log.COSIGNATURE).cosign(TEXT, 1_700_000_000)
    refused(
        suite,
        "signature::cosigned-alone",
        "The same key cosigned it (kind 4) and did not sign it as a log (kind 1).",
        "key-missing",
        log.note(TEXT, cosigned),
        importance="critical",
    )
    bare = LOG.line_with((1_700_000_000).to_bytes(8, "big") + LOG.sign(f"cosignature/v1\ntime 1700000000\n{TEXT}"))
    refused(
        suite,
        "signature::cosignature-as-log",
        "A cosignature of the log's key stands under its identity of notes (kind 1).",
        "signature-mismatch",
        log.note(TEXT, bare),
        importance="critical",
    )
    other = checkpoint(LOG.name, SIZE, log.Tree(SIZE + 1).root)
    refused(
        suite,
        "signature::of-other-checkpoint",
        "The signature is of another checkpoint of the same size.",
        "signature-mismatch",
        log.note(TEXT, LOG.line(other)),
        importance="critical",
    )
