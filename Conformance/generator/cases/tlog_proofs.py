# SPDX-License-Identifier: Apache-2.0
"""Files that prove a record of a log without the log: `.tlog-proof` (C2SP tlog-proof)."""

import log
from log import COSIGNATURE, Key, base64_of, checkpoint
from suite import Suite, b64, flag

from cases.checkpoints import LOG
from cases.cosignatures import FOUR, ONE, POLICIES, THREE, TIME, TWO
from cases.inclusion import WIDE, flipped

FORM = flag(
    "ProofFile",
    "The file is not its first line, the index, the hashes, an empty line and the checkpoint.",
    "Readers that divide the file at other places take different things for proven.",
    "C2SP tlog-proof",
)
INDEX_LINE = flag(
    "ProofFileIndex",
    "The index is not decimal digits without a zero in front, or not in its line.",
    "A reader that takes other forms reports another place in the log.",
    "C2SP tlog-proof",
)
EXTRA = flag(
    "ProofFileExtra",
    "The file carries extra data, which nothing signs.",
    "A reader that takes the extra data for proven accepts what anybody wrote.",
    "C2SP tlog-proof",
)
UNTRUSTED = flag(
    "ProofFileCheckpoint",
    "The checkpoint of the file is not one that the log and the witnesses vouch for.",
    "A reader that checks the hashes alone accepts the tree of whoever made the file.",
    "C2SP tlog-proof",
)

HEADER = "c2sp.org/tlog-proof@v1"
SIZE, INDEX = 11, 6
TREE = log.Tree(SIZE)
RECORD = log.record(INDEX)
PROOF = TREE.inclusion(INDEX)
TEXT = checkpoint(LOG.name, SIZE, TREE.root)
SIGNED = log.signed(TEXT, LOG)


def add(suite: Suite) -> None:
    add_right(suite)
    add_headers(suite)
    add_extra(suite)
    add_indexes(suite)
    add_hash_lines(suite)
    add_divisions(suite)
    add_records(suite)
    add_checkpoints(suite)
    add_witnesses(suite)


def lines(*parts: str) -> str:
    return "".join(f"{part}\n" for part in parts)


def file(
    *,
    header: str = HEADER,
    extra: str | None = None,
    index: int | str = INDEX,
    proof: list[bytes | str] | None = None,
    divider: str = "\n",
    note: str = SIGNED,
) -> str:
    texts = [each if isinstance(each, str) else base64_of(each) for each in (PROOF if proof is None else proof)]
    middle = [] if extra is None else [f"extra {extra}"]
    return lines(header, *middle, f"index {index}", *texts) + divider + note


def inputs(proof: str | bytes, record: bytes = RECORD, keys=(LOG,), policy: str | None = None) -> dict:
    data = {"proofBase64": b64(proof)} if isinstance(proof, bytes) else {"proof": proof}
    data["record"] = b64(record)
    return data | ({"keys": [key.text for key in keys]} if policy is None else {"policy": policy})


def valid(
    suite: Suite,
    name: str,
    description: str,
    proof: str,
    *,
    record: bytes = RECORD,
    keys=(LOG,),
    policy: str | None = None,
    index: int = INDEX,
    size: int = SIZE,
    root: bytes = TREE.root,
    origin: str = LOG.name,
    witnesses=None,
    **options,
) -> None:
    values = {"origin": origin, "size": log.number(size), "rootHash": b64(root), "index": log.number(index)}
    if witnesses is not None:
        values["witnesses"] = [key.name for key in witnesses]
    suite.add(
        f"tlog-proof::{name}",
        description,
        inputs(proof, record, keys, policy),
        "valid",
        operation="tlog-proof",
        values=values,
        **options,
    )


def refused(
    suite: Suite,
    name: str,
    description: str,
    reason: str,
    proof: str | bytes,
    *,
    record: bytes = RECORD,
    keys=(LOG,),
    policy: str | None = None,
    **options,
) -> None:
    verdict = "undetermined" if reason.startswith(("key-", "policy-")) else "invalid"
    suite.add(
        f"tlog-proof::{name}",
        description,
        inputs(proof, record, keys, policy),
        verdict,
        operation="tlog-proof",
        reason=reason,
        **options,
    )


def either(suite: Suite, name: str, description: str, proof: str | bytes, **options) -> None:
    suite.add(
        f"tlog-proof::{name}", description, inputs(proof), "either", operation="tlog-proof", **{"importance": "low"} | options
    )


def of_tree(size: int, index: int) -> tuple[str, bytes]:
    """The file of an index of a tree of any size, and the tree's root."""
    tree = log.around(size, index)
    note = log.signed(checkpoint(LOG.name, size, tree.root), LOG)
    return file(index=index, proof=tree.inclusion(index), note=note), tree.root


def add_right(suite: Suite) -> None:
    valid(suite, "right::plain", "Record 6 of a tree of 11.", file())
    for size, index in (
        (1, 0),
        (2, 0),
        (2, 1),
        (3, 2),
        (8, 0),
        (8, 7),
        (17, 16),
        (256, 255),
        (257, 256),
        (2**32 + 1, 2**32),
        (2**40, 2**39),
        (2**53 + 2, 2**53 + 1),
        (2**62, 2**62 - 1),
        (2**63 - 1, 0),
    ):
        proof, root = of_tree(size, index)
        valid(
            suite,
            f"right::index-{index}-of-{size}",
            f"Record {index} of a tree of {size}.",
            proof,
            record=log.record(index),
            index=index,
            size=size,
            root=root,
        )
    proof, root = of_tree(2**64 - 1, 0)
    valid(
        suite,
        "right::sixty-four-hashes",
        "The first record of a tree of 2^64 - 1, which takes 64 hashes.",
        proof,
        record=log.record(0),
        index=0,
        size=2**64 - 1,
        root=root,
        features=[WIDE],
        importance="low",
    )
    text = checkpoint(LOG.name, SIZE, TREE.root, "one", "two")
    valid(suite, "right::extension-lines", "The checkpoint has extension lines.", file(note=log.signed(text, LOG)))
    note = log.note(TEXT, Key("stranger.example", COSIGNATURE).cosign(TEXT, TIME), LOG.line(TEXT))
    valid(
        suite, "right::unknown-cosignature", "The checkpoint has a cosignature of a witness that is not known.", file(note=note)
    )
    replaced = Key(LOG.name, secret="replacement")
    valid(
        suite,
        "right::one-of-two-keys",
        "Two keys of the log are given, as while one is replaced; one signed.",
        file(),
        keys=(replaced, LOG),
    )
    for name, record in (
        ("empty", b""),
        ("newline", b"\n"),
        ("binary", bytes(range(256))),
        ("like-a-node", b"\1" + TREE.root * 2),
    ):
        leaf = log.leaf(record)
        note = log.signed(checkpoint(LOG.name, 2, log.node(leaf, leaf)), LOG)
        valid(
            suite,
            f"right::record-{name}",
            "The record has octets of any kind.",
            file(index=1, proof=[leaf], note=note),
            record=record,
            index=1,
            size=2,
            root=log.node(leaf, leaf),
        )


def add_headers(suite: Suite) -> None:
    headers = {
        "version-2": "c2sp.org/tlog-proof@v2",
        "version-10": "c2sp.org/tlog-proof@v10",
        "no-version": "c2sp.org/tlog-proof",
        "upper-case": HEADER.upper(),
        "blank-behind": HEADER + " ",
        "blank-in-front": " " + HEADER,
        "scheme": "https://" + HEADER,
        "comment": "# " + HEADER,
        "carriage-return": HEADER + "\r",
        "byte-order-mark": "\ufeff" + HEADER,
        "empty": "",
        "other": "c2sp.org/tlog-checkpoint@v1",
        "point-as-any-letter": "c2spXorg/tlog-proof@v1",
        "spicy": "c2sp.org/spicy-signature@v1",
        "index-in-line": HEADER + " index 6",
    }
    for name, header in headers.items():
        refused(
            suite,
            f"header::{name}",
            f"The first line of the file is {header!r}.",
            "malformed",
            file(header=header),
            flags=[FORM],
        )
    rest = file().split("\n", 1)[1]
    refused(suite, "header::missing", "The file begins with the index.", "malformed", rest, flags=[FORM])
    refused(suite, "header::twice", "The first line is there twice.", "malformed", lines(HEADER) + file(), flags=[FORM])
    refused(
        suite,
        "header::line-in-front",
        "An empty line comes in front of the first line.",
        "malformed",
        "\n" + file(),
        flags=[FORM],
    )


def add_extra(suite: Suite) -> None:
    for name, data in (
        ("text", b"age-v1.2.1.tar.gz"),
        ("record", RECORD),
        ("other-record", log.record(5)),
        ("binary", bytes(range(64))),
        ("long", b"x" * 4000),
        ("like-a-proof", file().encode()),
    ):
        valid(
            suite,
            f"extra::{name}",
            "The file carries extra data, which has no part in the proof.",
            file(extra=base64_of(data)),
            flags=[EXTRA],
        )
    refused(
        suite,
        "extra::proven-in-place-of-record",
        "The extra data is the proven record, and the record that is asked for is another one.",
        "wrong-root",
        file(extra=base64_of(RECORD)),
        record=log.record(5),
        flags=[EXTRA],
        importance="critical",
    )
    good = base64_of(b"extra data of the application")
    texts = {
        "other-character": "*" + good,
        "blank-within": good[:8] + " " + good[8:],
        "two-blanks": " " + good,
        "blank-behind": good + " ",
        "no-base64": "no base64, but words",
    }
    for name, text in texts.items():
        refused(
            suite,
            f"extra::{name}",
            f"The extra data is not base64: {name.replace('-', ' ')}.",
            "malformed",
            file(extra=text),
            flags=[EXTRA],
            importance="medium",
        )
    either(suite, "extra::empty", "The line of extra data has none.", file(extra=""), flags=[EXTRA])
    either(
        suite,
        "extra::no-padding",
        "The extra data's base64 has no padding.",
        file(extra=base64_of(b"ab").rstrip("=")),
        flags=[EXTRA],
    )
    either(
        suite,
        "extra::spare-bits",
        "The last letter of the extra data's base64 has bits that belong to no octet.",
        file(extra="YR=="),
        flags=[EXTRA],
    )
    index, rest = f"index {INDEX}", [base64_of(each) for each in PROOF]
    orders = {
        "twice": [HEADER, f"extra {good}", f"extra {good}", index, *rest],
        "behind-index": [HEADER, index, f"extra {good}", *rest],
        "behind-hashes": [HEADER, index, *rest, f"extra {good}"],
        "in-front-of-header": [f"extra {good}", HEADER, index, *rest],
        "in-two-lines": [HEADER, f"extra {good[:20]}", good[20:], index, *rest],
        "without-blank": [HEADER, f"extra{good}", index, *rest],
        "keyword-alone": [HEADER, "extra", index, *rest],
        "upper-case": [HEADER, f"Extra {good}", index, *rest],
        "colon": [HEADER, f"extra: {good}", index, *rest],
        "other-keyword": [HEADER, f"note {good}", index, *rest],
    }
    for name, parts in orders.items():
        refused(
            suite,
            f"extra::{name}",
            f"The line of extra data has another form or place: {name.replace('-', ' ')}.",
            "malformed",
            lines(*parts) + "\n" + SIGNED,
            flags=[EXTRA, FORM],
        )


def add_indexes(suite: Suite) -> None:
    texts = {
        "leading-zero": "06",
        "plus": "+6",
        "minus": "-6",
        "hexadecimal": "0x6",
        "exponent": "6e0",
        "fraction": "6.0",
        "two-blanks": " 6",
        "blank-behind": "6 ",
        "empty": "",
        "word": "six",
        "two-numbers": "6 6",
        "full-width-digit": "\uff16",
        "sixty-five-bits": str(2**64 + 6),
        "thirty-digits": "6" * 30,
        "carriage-return": "6\r",
        "underscore": "0_6",
        "tab-behind": "6\t",
    }
    for name, text in texts.items():
        refused(suite, f"index::{name}", f"The index is written {text!r}.", "malformed", file(index=text), flags=[INDEX_LINE])
    good, rest = f"index {INDEX}", [base64_of(each) for each in PROOF]
    forms = {
        "keyword-alone": ["index", *rest],
        "no-keyword": ["6", *rest],
        "upper-case": ["Index 6", *rest],
        "colon": ["index: 6", *rest],
        "tab": ["index\t6", *rest],
        "equals": ["index=6", *rest],
        "missing": rest,
        "behind-hashes": [*rest, good],
        "twice": [good, good, *rest],
        "two-indexes": [good, "index 7", *rest],
        "blank-in-front": [" " + good, *rest],
    }
    for name, parts in forms.items():
        refused(
            suite,
            f"index::line-{name}",
            f"The line of the index has another form or place: {name.replace('-', ' ')}.",
            "malformed",
            lines(HEADER, *parts) + "\n" + SIGNED,
            flags=[INDEX_LINE],
        )
    for index in (0, 2, 5, 7, 10):
        reason = log.inclusion_fault(log.leaf(RECORD), index, SIZE, TREE.root, PROOF)
        refused(
            suite,
            f"index::other-{index}",
            f"The index is {index}, and the hashes are those of index {INDEX}.",
            reason,
            file(index=index),
            flags=[INDEX_LINE],
            importance="critical",
        )
    for index in (SIZE, SIZE + INDEX, 2**32 + INDEX, 2**63 + INDEX, 2**64 - 1):
        refused(
            suite,
            f"index::beyond-{index}",
            f"The index is {index} in a tree of {SIZE}.",
            "wrong-index",
            file(index=index),
            flags=[INDEX_LINE],
            importance="critical",
        )


def add_hash_lines(suite: Suite) -> None:
    for place in range(len(PROOF)):
        altered = [*PROOF[:place], flipped(PROOF[place], 77), *PROOF[place + 1 :]]
        refused(
            suite,
            f"hashes::altered-{place}",
            f"A bit of hash {place} is altered.",
            "wrong-root",
            file(proof=altered),
            importance="critical",
        )
    shapes = {
        "empty": [],
        "without-first": PROOF[1:],
        "without-last": PROOF[:-1],
        "reversed": PROOF[::-1],
        "first-twice": [PROOF[0], *PROOF],
        "zeros-behind": [*PROOF, bytes(32)],
        "leaf-in-front": [log.leaf(RECORD), *PROOF],
        "root-behind": [*PROOF, TREE.root],
        "first-two-exchanged": [PROOF[1], PROOF[0], *PROOF[2:]],
        "sixty-three": PROOF + [bytes(32)] * 59,
        "sixty-four": PROOF + [bytes(32)] * 60,
    }
    for name, proof in shapes.items():
        reason = log.inclusion_fault(log.leaf(RECORD), INDEX, SIZE, TREE.root, proof)
        refused(
            suite,
            f"hashes::{name}",
            f"The hashes are not those of the index: {name.replace('-', ' ')}.",
            reason,
            file(proof=proof),
            importance="critical",
        )
    for count in (65, 100, 1000):
        refused(
            suite,
            f"hashes::{count}",
            f"The file has {count} hashes, more than a tree of 64-bit size has levels.",
            "malformed",
            file(proof=PROOF + [bytes(32)] * (count - len(PROOF))),
            flags=[FORM],
        )
    good = base64_of(PROOF[0])
    texts = {
        "thirty-one": base64_of(PROOF[0][:-1]),
        "thirty-three": base64_of(PROOF[0] + b"\0"),
        "sixty-four": base64_of(PROOF[0] + PROOF[1]),
        "one": base64_of(b"\0"),
        "hexadecimal": PROOF[0].hex(),
        "other-character": "*" + good[1:],
        "blank-behind": good + " ",
        "blank-in-front": " " + good,
        "two-in-a-line": f"{good} {good}",
        "comma-behind": good + ",",
        "word": "hash",
        "tab-behind": good + "\t",
        "carriage-return-behind": good + "\r",
    }
    for name, text in texts.items():
        refused(
            suite,
            f"hashes::first-{name}",
            f"The line of the first hash is not 32 octets in base64: {name.replace('-', ' ')}.",
            "malformed",
            file(proof=[text, *PROOF[1:]]),
            flags=[FORM],
        )
    refused(
        suite,
        "hashes::no-padding",
        "The first hash is in base64 without padding.",
        "malformed",
        file(proof=[good.rstrip("="), *PROOF[1:]]),
        flags=[FORM],
        importance="medium",
    )
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    spare = good[:-2] + letters[letters.index(good[-2]) + 1] + "="
    either(
        suite,
        "hashes::spare-bits",
        "The last letter of the first hash's base64 has bits that belong to no octet.",
        file(proof=[spare, *PROOF[1:]]),
        flags=[FORM],
    )


def add_divisions(suite: Suite) -> None:
    whole = file()
    head = whole.removesuffix(SIGNED)
    files = {
        "empty": "",
        "header-alone": lines(HEADER),
        "no-newline": HEADER,
        "no-checkpoint": head,
        "no-empty-line": head[:-1] + SIGNED,
        "no-checkpoint-and-empty-line": head[:-1],
        "checkpoint-alone": SIGNED,
        "checkpoint-first": SIGNED + "\n" + head,
        "two-empty-lines": head + "\n" + SIGNED,
        "empty-line-among-hashes": file(proof=[PROOF[0], "", *PROOF[1:]]),
        "empty-line-behind-header": lines(HEADER, "") + whole.split("\n", 1)[1],
        "empty-line-behind": whole + "\n",
        "text-behind": whole + "more\n",
        "text-behind-without-newline": whole + "more",
        "no-last-newline": whole[:-1],
        "null-behind": whole + "\0",
        "cut-in-signature": whole[:-20],
        "blank-in-empty-line": head[:-1] + " \n" + SIGNED,
        "carriage-returns": whole.replace("\n", "\r\n"),
        "carriage-returns-in-head": head.replace("\n", "\r\n") + SIGNED,
        "carriage-return-in-empty-line": head[:-1] + "\r\n" + SIGNED,
        "carriage-returns-in-checkpoint": head + SIGNED.replace("\n", "\r\n"),
        "carriage-returns-alone": whole.replace("\n", "\r"),
        "two-files": whole + whole,
        "two-files-with-empty-line": whole + "\n" + whole,
        "comment": lines(HEADER, "# comment") + whole.split("\n", 1)[1],
        "line-separators": whole.replace("\n", "\u2028"),
        "indented": "".join(f"  {line}\n" for line in whole.split("\n")[:-1]),
        "checkpoint-in-base64": head + base64_of(SIGNED.encode()) + "\n",
        "ten-thousand-lines": head[:-1] + "x\n" * 10_000 + "\n" + SIGNED,
        "signature-missing": head + TEXT + "\n",
        "checkpoint-text-alone": head + TEXT,
        "byte-order-mark-in-checkpoint": head[:-1] + "\ufeff\n" + SIGNED,
    }
    for name, text in files.items():
        refused(
            suite,
            f"shape::{name}",
            f"The file does not have its form: {name.replace('-', ' ')}.",
            "malformed",
            text,
            flags=[FORM],
        )
    octets = whole.encode()
    for name, data, what in (
        ("utf-16", whole.encode("utf-16-le"), "in UTF-16"),
        ("null-in-front", b"\0" + octets, "behind an octet 0"),
        (
            "not-utf8-in-extra",
            octets.replace(b"index", b"extra \xff\xfe\nindex", 1),
            "with octets that are not UTF-8 as extra data",
        ),
        ("not-utf8-behind", octets + b"\xff\n", "with octets that are not UTF-8 behind it"),
        ("compressed", bytes.fromhex("1f8b0800000000000003") + octets, "behind the first octets of gzip"),
    ):
        refused(suite, f"octets::{name}", f"The file is {what}.", "malformed", data, flags=[FORM], importance="medium")


def add_records(suite: Suite) -> None:
    records = {
        "of-other-index": log.record(5),
        "not-in-log": b"record 99",
        "empty": b"",
        "longer": RECORD + b"\n",
        "shorter": RECORD[:-1],
        "upper-case": RECORD.upper(),
        "leaf-hash": log.leaf(RECORD),
        "with-prefix": b"\0" + RECORD,
        "node": b"\1" + TREE.hash(6, 7) + TREE.hash(7, 8),
        "root": TREE.root,
        "checkpoint": TEXT.encode(),
    }
    for name, record in records.items():
        refused(
            suite,
            f"record::{name}",
            f"The record is not the one that the file proves: {name.replace('-', ' ')}.",
            "wrong-root",
            file(),
            record=record,
            importance="critical",
        )
    inner = b"\1" + TREE.hash(6, 7) + TREE.hash(7, 8)
    note = log.signed(checkpoint(LOG.name, 6, TREE.root), LOG)
    refused(
        suite,
        "record::node-at-its-place",
        "The record is an inner node's hashes behind the octet 1, at the node's place in a smaller tree,"
        " which the log signed with the same root.",
        "wrong-root",
        file(index=3, proof=PROOF[1:], note=note),
        record=inner,
        importance="critical",
    )


def add_checkpoints(suite: Suite) -> None:
    forged = log.Tree(SIZE, ())
    other = Key(LOG.name, secret="forger")
    leaf = log.leaf(b"forged")
    forged_text = checkpoint(LOG.name, 1, leaf)
    files = {
        "signature-wrong": (
            "The log's signature is zeros.",
            "signature-mismatch",
            file(note=log.note(TEXT, LOG.line_with(bytes(64)))),
        ),
        "other-key": ("Another key of the log's name signed.", "key-missing", file(note=log.signed(TEXT, other))),
        "other-key-as-known": (
            "Another key signed, under the identity of the log's.",
            "signature-mismatch",
            file(note=log.note(TEXT, LOG.line_with(other.sign(TEXT)))),
        ),
        "other-origin": (
            "The log's key signed the checkpoint of another origin.",
            "wrong-origin",
            file(note=log.signed(checkpoint("log.example/other", SIZE, TREE.root), LOG)),
        ),
        "other-root": (
            "The checkpoint is of another tree.",
            "wrong-root",
            file(note=log.signed(checkpoint(LOG.name, SIZE, forged.root), LOG)),
        ),
        "altered-size": (
            "The size was altered after it was signed.",
            "signature-mismatch",
            file(note=log.note(checkpoint(LOG.name, SIZE + 1, TREE.root), LOG.line(TEXT))),
        ),
        "altered-root": (
            "The root was altered after it was signed.",
            "signature-mismatch",
            file(note=log.note(checkpoint(LOG.name, SIZE, forged.root), LOG.line(TEXT))),
        ),
        "earlier": (
            "The checkpoint is an earlier one, of a tree of 7.",
            "proof-length",
            file(note=log.signed(checkpoint(LOG.name, 7, log.Tree(7).root), LOG)),
        ),
        "before-record": (
            "The checkpoint is an earlier one, of a tree without the record.",
            "wrong-index",
            file(note=log.signed(checkpoint(LOG.name, 6, log.Tree(6).root), LOG)),
        ),
        "later": (
            "The checkpoint is a later one, of a tree of 20.",
            "proof-length",
            file(note=log.signed(checkpoint(LOG.name, 20, log.Tree(20).root), LOG)),
        ),
        "empty-tree": (
            "The checkpoint is of the empty tree.",
            "wrong-index",
            file(index=0, proof=[], note=log.signed(checkpoint(LOG.name, 0, log.EMPTY_ROOT), LOG)),
        ),
        "cosigned-only": (
            "The log's key cosigned the checkpoint, and did not sign it.",
            "key-missing",
            file(note=log.note(TEXT, Key(LOG.name, COSIGNATURE).cosign(TEXT, TIME))),
        ),
        "malformed-size": (
            "The size of the checkpoint has a leading zero.",
            "malformed",
            file(note=log.signed(checkpoint(LOG.name, "011", TREE.root), LOG)),
        ),
        "malformed-root": (
            "The root of the checkpoint has 31 octets.",
            "malformed",
            file(note=log.signed(checkpoint(LOG.name, SIZE, base64_of(TREE.root[:-1])), LOG)),
        ),
        "no-checkpoint-but-note": (
            "A note that is no checkpoint is in its place.",
            "malformed",
            file(note=log.signed("Hello.\n", LOG)),
        ),
        "control-character": (
            "The checkpoint has a tab in an extension line.",
            "malformed",
            file(note=log.signed(checkpoint(LOG.name, SIZE, TREE.root, "a\tb"), LOG)),
        ),
    }
    for name, (description, reason, proof) in files.items():
        refused(
            suite,
            f"checkpoint::{name}",
            description,
            reason,
            proof,
            flags=[UNTRUSTED],
            importance="high" if reason == "malformed" else "critical",
        )
    refused(
        suite,
        "checkpoint::forged-tree",
        "Somebody made a tree of one record and signed it with a key of their own.",
        "key-missing",
        file(index=0, proof=[], note=log.signed(forged_text, other)),
        record=b"forged",
        flags=[UNTRUSTED],
        importance="critical",
    )
    refused(
        suite,
        "checkpoint::no-key",
        "No key is given.",
        "key-missing",
        file(),
        keys=(),
        flags=[UNTRUSTED],
        importance="critical",
    )


def add_witnesses(suite: Suite) -> None:
    head = f"log {LOG.text}\n" + lines(
        *(f"witness {label} {key.text}" for label, key in zip("abc", (ONE, TWO, THREE), strict=True))
    )
    two = head + "group g 2 a b c\nquorum g\n"

    def cosigned(*cosigners: Key, text: str = TEXT) -> str:
        return file(note=log.note(text, LOG.line(text), *[key.cosign(text, TIME) for key in cosigners]))

    options = {"features": [POLICIES]}
    valid(
        suite,
        "witnesses::none-asked-for",
        "The policy asks for no witness.",
        file(),
        policy=head + "quorum none\n",
        witnesses=[],
        **options,
    )
    valid(
        suite,
        "witnesses::two-of-three",
        "Two of three witnesses cosigned, and two are asked for.",
        cosigned(ONE, THREE),
        policy=two,
        witnesses=[ONE, THREE],
        **options,
    )
    valid(
        suite,
        "witnesses::three-of-three",
        "Three witnesses cosigned, and two are asked for.",
        cosigned(ONE, TWO, THREE),
        policy=two,
        witnesses=[ONE, TWO, THREE],
        **options,
    )
    missed = {
        "none": cosigned(),
        "one": cosigned(TWO),
        "one-and-stranger": cosigned(TWO, FOUR),
        "one-twice": file(note=log.note(TEXT, LOG.line(TEXT), ONE.cosign(TEXT, TIME), ONE.cosign(TEXT, TIME - 1))),
        "notes-in-place-of-cosignatures": file(note=log.signed(TEXT, LOG, Key(ONE.name), Key(TWO.name))),
    }
    for name, proof in missed.items():
        refused(
            suite,
            f"witnesses::missed-{name}",
            f"Two witnesses are asked for, and fewer cosigned: {name.replace('-', ' ')}.",
            "too-few-witnesses",
            proof,
            policy=two,
            importance="critical",
            flags=[UNTRUSTED],
            **options,
        )
    other = log.note(TEXT, LOG.line(TEXT), ONE.cosign(checkpoint(LOG.name, SIZE + 1, TREE.root), TIME), TWO.cosign(TEXT, TIME))
    refused(
        suite,
        "witnesses::of-other-checkpoint",
        "A witness's line is of another checkpoint.",
        "signature-mismatch",
        file(note=other),
        policy=two,
        importance="critical",
        flags=[UNTRUSTED],
        **options,
    )
    note = log.note(TEXT, ONE.cosign(TEXT, TIME), TWO.cosign(TEXT, TIME))
    refused(
        suite,
        "witnesses::log-not-signed",
        "Two witnesses cosigned, and the log did not sign.",
        "key-missing",
        file(note=note),
        policy=two,
        importance="critical",
        flags=[UNTRUSTED],
        **options,
    )
    refused(
        suite,
        "witnesses::policy-without-log",
        "The policy lists another log.",
        "wrong-origin",
        cosigned(ONE, TWO),
        policy=two.replace(LOG.text, Key("log.example/other").text),
        importance="critical",
        flags=[UNTRUSTED],
        **options,
    )
    refused(
        suite,
        "witnesses::proof-wrong",
        "Two witnesses cosigned, and the hashes are of another record.",
        "wrong-root",
        cosigned(ONE, TWO),
        policy=two,
        record=log.record(5),
        importance="critical",
        **options,
    )
    refused(
        suite,
        "witnesses::policy-malformed",
        "The policy has no line of a quorum.",
        "policy-malformed",
        cosigned(ONE, TWO),
        policy=head,
        importance="high",
        **options,
    )
