# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that witnesses cosigned (C2SP tlog-cosignature, version 1), and the policies that ask for them (tlog-policy)."""

import calendar

import log
from log import COSIGNATURE, Key, checkpoint
from suite import Suite, flag

from cases.checkpoints import LOG, SIZE, TEXT, TREE

MESSAGE = flag(
    "CosignatureMessage",
    "What was signed is not the line of the version, the line of the time, and the text of the checkpoint.",
    "A reader that takes it accepts statements that the witness made about something else.",
    "C2SP tlog-cosignature",
)
TIMESTAMP = flag(
    "CosignatureTime",
    "The time of the cosignature is 0, out of range, in other octets, or not the one that was signed.",
    "A reader that does not bind the time takes an old view of the log for a fresh one.",
    "C2SP tlog-cosignature",
)
PURPOSE = flag(
    "CosignatureKind",
    "A signature of one kind stands where another one belongs: that of a log (kind 1) for that of a witness (kind 4), or the"
    " other way round.",
    "A log that counts as its own witness needs no witness.",
    "C2SP tlog-cosignature",
    "C2SP signed-note",
)
QUORUM = flag(
    "WitnessQuorum",
    "Fewer witnesses than the quorum cosigned, or one is counted more than once.",
    "A reader that miscounts accepts a view of the log that too few have seen.",
    "C2SP tlog-policy",
)
POLICY = flag(
    "WitnessPolicy",
    "The text of the policy has a fault, so that it is not clear what it asks for.",
    "A reader that goes on asks for less than the author of the policy meant.",
    "C2SP tlog-policy",
)
POLICIES = "witness-policy"

# The time of the suite's cases is 2026-01-01T00:00:00Z.
NOW = calendar.timegm((2026, 1, 1, 0, 0, 0))
TIME = NOW - 60
ONE, TWO, THREE, FOUR = (Key(f"witness-{name}.example", COSIGNATURE) for name in ("one", "two", "three", "four"))
STRANGER = Key("stranger.example", COSIGNATURE)
LOG_LINE = LOG.line(TEXT)


def add(suite: Suite) -> None:
    add_right(suite)
    add_quorums(suite)
    add_messages(suite)
    add_times(suite)
    add_kinds(suite)
    add_log_signatures(suite)
    add_keys(suite)
    add_policies(suite)
    add_policy_faults(suite)


def inputs(note: str, witnesses, quorum: int, log_key: Key | str = LOG) -> dict:
    texts = [key if isinstance(key, str) else key.text for key in witnesses]
    return {"note": note, "logKey": log_key if isinstance(log_key, str) else log_key.text, "witnesses": texts, "quorum": quorum}


def cosigned(*cosigners: Key, text: str = TEXT, time: int = TIME) -> str:
    return log.note(text, LOG.line(text), *[key.cosign(text, time) for key in cosigners])


def stated(cosigners, times=None) -> dict:
    times = [TIME] * len(cosigners) if times is None else times
    return {"witnesses": [key.name for key in cosigners], "timestamps": [log.number(time) for time in times]}


def valid(suite: Suite, name: str, description: str, note: str, witnesses, quorum: int, values: dict, **options) -> None:
    suite.add(
        f"cosignature::{name}",
        description,
        inputs(note, witnesses, quorum),
        "valid",
        operation="cosignature",
        values=values,
        **options,
    )


def refused(
    suite: Suite,
    name: str,
    description: str,
    reason: str,
    note: str,
    witnesses=(ONE,),
    quorum: int = 1,
    log_key: Key | str = LOG,
    **options,
) -> None:
    verdict = "undetermined" if reason.startswith(("key-", "policy-")) else "invalid"
    suite.add(
        f"cosignature::{name}",
        description,
        inputs(note, witnesses, quorum, log_key),
        verdict,
        operation="cosignature",
        reason=reason,
        **{"importance": "critical"} | options,
    )


def either(suite: Suite, name: str, description: str, note: str, witnesses=(ONE,), quorum: int = 1, **options) -> None:
    suite.add(
        f"cosignature::{name}",
        description,
        inputs(note, witnesses, quorum),
        "either",
        operation="cosignature",
        **{"importance": "low"} | options,
    )


def add_right(suite: Suite) -> None:
    three = (ONE, TWO, THREE)
    valid(suite, "right::one-of-one", "The only witness cosigned.", cosigned(ONE), (ONE,), 1, stated([ONE]))
    valid(
        suite,
        "right::two-of-three",
        "Two of three witnesses cosigned, and two are asked for.",
        cosigned(ONE, THREE),
        three,
        2,
        stated([ONE, THREE]),
    )
    valid(
        suite,
        "right::three-of-three",
        "All of three witnesses cosigned, in another order than they are given.",
        cosigned(THREE, ONE, TWO),
        three,
        3,
        stated([THREE, ONE, TWO]),
    )
    valid(
        suite,
        "right::more-than-asked-for",
        "Three witnesses cosigned, and one is asked for.",
        cosigned(*three),
        three,
        1,
        stated(three),
    )
    valid(suite, "right::none-of-none", "No witness is given, and none is asked for.", cosigned(), (), 0, stated([]))
    valid(
        suite,
        "right::none-of-one",
        "A witness is given and did not cosign, and none is asked for.",
        cosigned(),
        (ONE,),
        0,
        stated([]),
    )
    valid(
        suite,
        "right::stranger",
        "A witness that is not known cosigned too, which does not matter.",
        cosigned(STRANGER, ONE),
        (ONE,),
        1,
        stated([ONE]),
    )
    note = log.note(TEXT, ONE.cosign(TEXT, TIME), LOG_LINE, TWO.cosign(TEXT, TIME))
    valid(
        suite,
        "right::witness-before-log",
        "A cosignature comes in front of the signature of the log.",
        note,
        (ONE, TWO),
        2,
        stated([ONE, TWO]),
    )
    text = checkpoint(LOG.name, SIZE, TREE.root, "one", "two")
    valid(
        suite,
        "right::extension-lines",
        "The checkpoint has extension lines, and the cosignature covers them.",
        cosigned(ONE, text=text),
        (ONE,),
        1,
        stated([ONE]),
    )
    text = checkpoint(LOG.name, 0, log.EMPTY_ROOT)
    valid(
        suite, "right::empty-tree", "The checkpoint is of the empty tree.", cosigned(ONE, text=text), (ONE,), 1, stated([ONE])
    )
    for time in (1, 2**31 - 1, 2**31, 1_700_000_000, NOW):
        if time <= NOW:
            valid(
                suite,
                f"right::time-{time}",
                f"The time of the cosignature is {time}.",
                cosigned(ONE, time=time),
                (ONE,),
                1,
                stated([ONE], [time]),
            )
    times = (NOW - 3, NOW - 2)
    note = log.note(TEXT, LOG_LINE, ONE.cosign(TEXT, times[0]), TWO.cosign(TEXT, times[1]))
    valid(
        suite,
        "right::different-times",
        "Two witnesses cosigned at different times.",
        note,
        (ONE, TWO),
        2,
        stated([ONE, TWO], times),
    )
    again = log.note(TEXT, LOG_LINE, ONE.cosign(TEXT, NOW - 9), ONE.cosign(TEXT, NOW - 2))
    valid(
        suite,
        "right::one-witness-at-two-times",
        "A witness cosigned twice, at two times, and is one witness.",
        again,
        (ONE,),
        1,
        {"witnesses": [ONE.name]},
    )
    unicode = Key("t\u00e9moin.example", COSIGNATURE)
    valid(
        suite,
        "right::name-beyond-ascii",
        "The name of the witness has a letter beyond ASCII.",
        cosigned(unicode),
        (unicode,),
        1,
        stated([unicode]),
    )


def add_quorums(suite: Suite) -> None:
    pair, line = (ONE, TWO), ONE.cosign(TEXT, TIME)
    notes = {
        "no-cosignature": ("No witness cosigned.", cosigned(), (ONE,), 1),
        "one-of-two": ("One of two witnesses cosigned, and two are asked for.", cosigned(ONE), pair, 2),
        "two-of-five": (
            "Two of five witnesses cosigned, and three are asked for.",
            cosigned(ONE, TWO),
            (ONE, TWO, THREE, FOUR, Key("witness-five.example", COSIGNATURE)),
            3,
        ),
        "stranger": ("The only cosignature is of a witness that is not known.", cosigned(STRANGER), (ONE,), 1),
        "strangers": (
            "One known witness and five others cosigned, and two are asked for.",
            cosigned(ONE, *[Key(f"sybil-{number}.example", COSIGNATURE) for number in range(5)]),
            pair,
            2,
        ),
        "one-line-twice": (
            "One witness's line is there twice, and two are asked for.",
            log.note(TEXT, LOG_LINE, line, line),
            pair,
            2,
        ),
        "one-witness-at-two-times": (
            "One witness cosigned at two times, and two witnesses are asked for.",
            log.note(TEXT, LOG_LINE, line, ONE.cosign(TEXT, TIME - 5)),
            pair,
            2,
        ),
        "other-key-of-name": (
            "A key that is not known cosigned under the name of the witness.",
            cosigned(Key(ONE.name, COSIGNATURE, "forger")),
            (ONE,),
            1,
        ),
        "other-name-of-key": (
            "The witness's key cosigned under another name, whose identity is another one.",
            cosigned(Key("alias.example", COSIGNATURE, ONE.name)),
            (ONE,),
            1,
        ),
        "name-in-upper-case": (
            "The witness's name in the line is in upper case.",
            log.note(TEXT, LOG_LINE, line.replace(ONE.name, ONE.name.upper())),
            (ONE,),
            1,
        ),
        "log-signature-twice": (
            "The log's signature is there twice, and a witness is asked for.",
            log.note(TEXT, LOG_LINE, LOG_LINE),
            (ONE,),
            1,
        ),
    }
    for name, (description, note, witnesses, quorum) in notes.items():
        refused(suite, f"quorum::{name}", description, "too-few-witnesses", note, witnesses, quorum, flags=[QUORUM])
    bad = TWO.line_with(TIME.to_bytes(8, "big") + bytes(64))
    either(
        suite,
        "quorum::met-beside-wrong-one",
        "One witness is asked for and cosigned; the line of another known one is wrong: readers should refuse the note.",
        log.note(TEXT, LOG_LINE, line, bad),
        pair,
        1,
        flags=[QUORUM],
        importance="medium",
    )
    either(
        suite,
        "quorum::wrong-witness-not-needed",
        "No witness is asked for, and the line of a known one is wrong.",
        log.note(TEXT, LOG_LINE, bad),
        pair,
        0,
        flags=[QUORUM],
        importance="medium",
    )


def add_messages(suite: Suite) -> None:
    extended = checkpoint(LOG.name, SIZE, TREE.root, "extension")
    other_root = checkpoint(LOG.name, SIZE, log.Tree(SIZE + 1).root)
    other_size = checkpoint(LOG.name, SIZE + 1, TREE.root)
    other_log = checkpoint("log.example/other", SIZE, TREE.root)
    head = f"cosignature/v1\ntime {TIME}\n"
    messages = {
        "version-2": f"cosignature/v2\ntime {TIME}\n{TEXT}",
        "version-upper-case": f"COSIGNATURE/V1\ntime {TIME}\n{TEXT}",
        "no-version": f"time {TIME}\n{TEXT}",
        "no-time": f"cosignature/v1\n{TEXT}",
        "text-alone": TEXT,
        "time-alone": head,
        "text-in-front": TEXT + head,
        "empty-line-behind-time": head + "\n" + TEXT,
        "empty-line-behind-text": head + TEXT + "\n",
        "no-last-newline": head + TEXT[:-1],
        "carriage-returns": (head + TEXT).replace("\n", "\r\n"),
        "time-in-milliseconds": f"cosignature/v1\ntime {TIME}000\n{TEXT}",
        "time-with-zero": f"cosignature/v1\ntime 0{TIME}\n{TEXT}",
        "time-in-hexadecimal": f"cosignature/v1\ntime {TIME:x}\n{TEXT}",
        "time-as-date": f"cosignature/v1\ntime 2025-12-31T23:59:00Z\n{TEXT}",
        "time-with-colon": f"cosignature/v1\ntime: {TIME}\n{TEXT}",
        "two-blanks": f"cosignature/v1\ntime  {TIME}\n{TEXT}",
        "timestamp-for-time": f"cosignature/v1\ntimestamp {TIME}\n{TEXT}",
        "whole-note": head + log.note(TEXT, LOG_LINE),
        "root-alone": head + TEXT.split("\n")[2] + "\n",
        "origin-left-out": head + TEXT.split("\n", 1)[1],
        "other-root": head + other_root,
        "other-size": head + other_size,
        "other-log": head + other_log,
        "extension-added": head + extended,
        "subtree-version": "subtree/v1\n\0" + TEXT,
    }
    for name, message in messages.items():
        line = ONE.line_with(TIME.to_bytes(8, "big") + ONE.sign(message))
        refused(
            suite,
            f"message::{name}",
            f"The witness's signature is of another message: {name.replace('-', ' ')}.",
            "signature-mismatch",
            log.note(TEXT, LOG_LINE, line),
            flags=[MESSAGE],
        )
    line = ONE.line_with(TIME.to_bytes(8, "big") + ONE.sign(head + TEXT))
    refused(
        suite,
        "message::extension-not-covered",
        "The checkpoint has an extension line, which the cosignature does not cover.",
        "signature-mismatch",
        log.note(extended, LOG.line(extended), line),
        flags=[MESSAGE],
    )
    line = ONE.line_with(TIME.to_bytes(8, "big") + TWO.sign(head + TEXT))
    refused(
        suite,
        "message::by-other-witness",
        "Another witness's key made the signature under this one's name and identity.",
        "signature-mismatch",
        log.note(TEXT, LOG_LINE, line),
    )
    signature = ONE.sign(head + TEXT)
    bodies = {
        "zeros": ("a signature of zeros", TIME.to_bytes(8, "big") + bytes(64)),
        "altered": ("a signature with a bit altered", TIME.to_bytes(8, "big") + bytes([signature[0] ^ 1]) + signature[1:]),
        "no-time": ("the signature without a time", signature),
        "time-of-4-octets": ("a time of 4 octets", TIME.to_bytes(4, "big") + signature),
        "time-behind": ("the time behind the signature", signature + TIME.to_bytes(8, "big")),
        "time-of-16-octets": ("a time of 16 octets", TIME.to_bytes(16, "big") + signature),
        "octet-behind": ("one more octet", TIME.to_bytes(8, "big") + signature + b"\0"),
        "octet-missing": ("one octet less", TIME.to_bytes(8, "big") + signature[:-1]),
        "time-alone": ("a time and no signature", TIME.to_bytes(8, "big")),
        "one-octet": ("one octet", b"\0"),
        "s-not-reduced": ("an S to which the order of the group was added", TIME.to_bytes(8, "big") + log.malleated(signature)),
        "signature-twice": ("the signature twice", TIME.to_bytes(8, "big") + signature * 2),
    }
    for name, (what, body) in bodies.items():
        refused(
            suite,
            f"octets::{name}",
            f"The witness's line has {what}.",
            "signature-mismatch",
            log.note(TEXT, LOG_LINE, ONE.line_with(body)),
        )


def add_times(suite: Suite) -> None:
    signature = ONE.sign(f"cosignature/v1\ntime {TIME}\n{TEXT}")
    for name, stamp in (
        ("later", (TIME + 1).to_bytes(8, "big")),
        ("earlier", (TIME - 1).to_bytes(8, "big")),
        ("zero", bytes(8)),
        ("little-endian", TIME.to_bytes(8, "little")),
        ("milliseconds", (TIME * 1000).to_bytes(8, "big")),
        ("high-bit", (TIME | 1 << 63).to_bytes(8, "big")),
        ("as-text", str(TIME).encode()[:8]),
    ):
        refused(
            suite,
            f"time::stated-{name}",
            "The time in the line is not the one that was signed.",
            "signature-mismatch",
            log.note(TEXT, LOG_LINE, ONE.line_with(stamp + signature)),
            flags=[TIMESTAMP],
        )
    for name, time in (("beyond-63-bits", 2**63), ("greatest", 2**64 - 1)):
        refused(
            suite,
            f"time::{name}",
            f"The time is {time}, and is signed so; times are at most 2^63 - 1.",
            "malformed",
            cosigned(ONE, time=time),
            flags=[TIMESTAMP],
            importance="medium",
        )
    line = ONE.line_with((2**64 - 1).to_bytes(8, "big") + ONE.sign(f"cosignature/v1\ntime -1\n{TEXT}"))
    refused(
        suite,
        "time::minus-one",
        "The time's octets are all FF, and -1 was signed.",
        "signature-mismatch",
        log.note(TEXT, LOG_LINE, line),
        flags=[TIMESTAMP],
        importance="high",
    )
    either(
        suite,
        "time::zero",
        "The time is 0 and is signed so: the witness does not state that this was the newest tree.",
        cosigned(ONE, time=0),
        flags=[TIMESTAMP],
        importance="medium",
    )
    for name, time in (
        ("minute", NOW + 60),
        ("year", NOW + 366 * 86400),
        ("2-32", 2**32),
        ("2-53", 2**53),
        ("2-63", 2**63 - 1),
    ):
        either(
            suite,
            f"time::future-{name}",
            f"The time is {time}, in the future, which readers may refuse.",
            cosigned(ONE, time=time),
            flags=[TIMESTAMP],
        )


def add_kinds(suite: Suite) -> None:
    plain = Key(ONE.name)
    refused(
        suite,
        "kind::witness-as-note",
        "The witness signed the text as a note (kind 1), with the same key and name.",
        "too-few-witnesses",
        log.note(TEXT, LOG_LINE, plain.line(TEXT)),
        flags=[PURPOSE],
    )
    refused(
        suite,
        "kind::note-signature-as-cosignature",
        "The witness's line has the identity of kind 4 and a plain signature of the text.",
        "signature-mismatch",
        log.note(TEXT, LOG_LINE, ONE.line_with(ONE.sign(TEXT))),
        flags=[PURPOSE],
    )
    timed = ONE.line_with(TIME.to_bytes(8, "big") + ONE.sign(TEXT))
    refused(
        suite,
        "kind::note-signature-with-time",
        "The same with a time in front of the signature.",
        "signature-mismatch",
        log.note(TEXT, LOG_LINE, timed),
        flags=[PURPOSE],
    )
    body = TIME.to_bytes(8, "big") + ONE.sign(f"cosignature/v1\ntime {TIME}\n{TEXT}")
    refused(
        suite,
        "kind::cosignature-under-kind-1",
        "A right cosignature stands under the identity of kind 1.",
        "too-few-witnesses",
        log.note(TEXT, LOG_LINE, plain.line_with(body)),
        flags=[PURPOSE],
    )
    own = Key(LOG.name, COSIGNATURE)
    refused(
        suite,
        "kind::log-signature-for-log-as-witness",
        "The log's key is listed as a witness, and the log only signed.",
        "too-few-witnesses",
        log.note(TEXT, LOG_LINE),
        (own,),
        flags=[PURPOSE],
    )
    refused(
        suite,
        "kind::log-cosigned-for-witness",
        "The log cosigned its own checkpoint in the place of the witness.",
        "too-few-witnesses",
        log.note(TEXT, LOG_LINE, own.cosign(TEXT, TIME)),
        flags=[PURPOSE],
    )
    either(
        suite,
        "kind::log-key-as-witness",
        "The log's key is listed as a witness too, and cosigned. Keys should not have two"
        " purposes, and a reader may refuse that.",
        log.note(TEXT, LOG_LINE, own.cosign(TEXT, TIME)),
        (own,),
        flags=[PURPOSE],
    )
    for kind in (0, 2, 5, 6, 255):
        stranger = Key(ONE.name, kind)
        refused(
            suite,
            f"kind::line-of-kind-{kind}",
            f"The cosignature stands under the identity of the same key with kind {kind}.",
            "too-few-witnesses",
            log.note(TEXT, LOG_LINE, stranger.line_with(body)),
            flags=[PURPOSE],
        )


def add_log_signatures(suite: Suite) -> None:
    line = ONE.cosign(TEXT, TIME)
    refused(suite, "log::not-signed", "The witness cosigned, and the log did not sign.", "key-missing", log.note(TEXT, line))
    refused(
        suite,
        "log::signature-wrong",
        "The witness cosigned, and the log's signature is wrong.",
        "signature-mismatch",
        log.note(TEXT, LOG.line_with(bytes(64)), line),
    )
    refused(
        suite,
        "log::other-key",
        "The witness cosigned, and another key of the log's name signed.",
        "key-missing",
        log.note(TEXT, Key(LOG.name, secret="forger").line(TEXT), line),
    )
    refused(
        suite,
        "log::cosigned-only",
        "The witness cosigned, and the log cosigned in place of signing.",
        "key-missing",
        log.note(TEXT, Key(LOG.name, COSIGNATURE).cosign(TEXT, TIME), line),
    )
    other = checkpoint("log.example/other", SIZE, TREE.root)
    refused(
        suite,
        "log::other-origin",
        "The checkpoint, which both signed, is of another origin than the log's key.",
        "wrong-origin",
        cosigned(ONE, text=other),
    )
    altered = checkpoint(LOG.name, SIZE + 1, TREE.root)
    refused(
        suite,
        "log::altered",
        "The size was altered after both had signed.",
        "signature-mismatch",
        log.note(altered, LOG_LINE, line),
    )
    text = checkpoint(LOG.name, "020", TREE.root)
    refused(
        suite,
        "log::malformed",
        "Both signed a checkpoint whose size has a leading zero.",
        "malformed",
        cosigned(ONE, text=text),
        importance="high",
    )
    refused(
        suite,
        "log::text-alone-cosigned",
        "Both signed a note that is no checkpoint.",
        "malformed",
        cosigned(ONE, text="Hello.\n"),
        importance="high",
    )


def add_keys(suite: Suite) -> None:
    note = cosigned(ONE)
    name, _, data = ONE.text.split("+", 2)
    for label, text in (
        ("kind-1", Key(ONE.name).text),
        ("kind-255", Key(ONE.name, 255).text),
        ("identity-altered", f"{name}+00000000+{data}"),
        ("key-of-31", ONE.text_with(b"\4" + ONE.public[:-1])),
        ("empty", ""),
        ("name-alone", name),
    ):
        refused(
            suite,
            f"key::witness-{label}",
            f"The witness's key is none of a cosigner: {label.replace('-', ' ')}.",
            "key-unusable",
            note,
            (text,),
            importance="high",
        )
    refused(
        suite,
        "key::log-kind-4",
        "The log's key is given as a cosigner's (kind 4), and the log signed as a log.",
        "key-unusable",
        note,
        log_key=Key(LOG.name, COSIGNATURE),
        flags=[PURPOSE],
        importance="high",
    )
    alias = Key("alias.example", COSIGNATURE, ONE.name)
    refused(
        suite,
        "key::one-key-two-names",
        "One public key is listed as two witnesses, which cosigned both; two are asked for.",
        "policy-malformed",
        cosigned(ONE, alias),
        (ONE, alias),
        2,
        flags=[QUORUM],
    )
    refused(
        suite,
        "key::one-witness-listed-twice",
        "One witness is listed twice and cosigned once; two are asked for.",
        "policy-malformed",
        note,
        (ONE, ONE),
        2,
        flags=[QUORUM],
    )
    refused(
        suite,
        "key::quorum-beyond-witnesses",
        "Two witnesses are asked for, and one is listed.",
        "policy-malformed",
        note,
        (ONE,),
        2,
        flags=[QUORUM],
        importance="high",
    )


HEAD = f"log {LOG.text}\n" + "".join(
    f"witness {label} {key.text}\n" for label, key in (("a", ONE), ("b", TWO), ("c", THREE), ("d", FOUR))
)


def policy_case(
    suite: Suite,
    name: str,
    description: str,
    note: str,
    policy: str,
    reason: str | None,
    values: dict | None = None,
    verdict: str | None = None,
    **options,
) -> None:
    if verdict is None:
        verdict = "valid" if reason is None else "undetermined" if reason.startswith(("key-", "policy-")) else "invalid"
    suite.add(
        f"cosignature::{name}",
        description,
        {"note": note, "policy": policy},
        verdict,
        operation="cosignature",
        reason=reason,
        values=values,
        features=[POLICIES],
        **options,
    )


def add_policies(suite: Suite) -> None:
    any_pair, all_pair = "group g any a b\nquorum g\n", "group g all a b\nquorum g\n"
    two_of_three = "group g 2 a b c\nquorum g\n"
    nested = "group x any a b\ngroup y 2 x c d\nquorum y\n"
    met = {
        "none": ("quorum none\n", []),
        "witness": ("quorum a\n", [ONE]),
        "any-first": (any_pair, [ONE]),
        "any-second": (any_pair, [TWO]),
        "all": (all_pair, [ONE, TWO]),
        "two-of-three": (two_of_three, [ONE, THREE]),
        "nested-group-and-witness": (nested, [TWO, THREE]),
        "nested-without-group": (nested, [THREE, FOUR]),
        "all-of-one": ("group g all a\nquorum g\n", [ONE]),
        "one-of-one": ("group g 1 a\nquorum g\n", [ONE]),
        "group-not-asked-for": ("group g all a b\nquorum c\n", [THREE]),
    }
    for name, (lines, cosigners) in met.items():
        policy_case(
            suite,
            f"policy::{name}",
            "The witnesses that cosigned are the quorum of the policy.",
            cosigned(*cosigners),
            HEAD + lines,
            None,
            stated(cosigners),
        )
    missed = {
        "witness": ("quorum a\n", [TWO]),
        "any": (any_pair, [THREE, FOUR]),
        "all": (all_pair, [ONE, THREE]),
        "two-of-three": (two_of_three, [ONE, FOUR]),
        "nested-group-twice": (nested, [ONE, TWO]),
        "nested-alone": (nested, [THREE]),
        "nothing": (any_pair, []),
        "group-not-asked-for": ("group g all a b\nquorum c\n", [ONE, TWO]),
    }
    for name, (lines, cosigners) in missed.items():
        policy_case(
            suite,
            f"policy::missed-{name}",
            "The witnesses that cosigned are not the quorum of the policy.",
            cosigned(*cosigners),
            HEAD + lines,
            "too-few-witnesses",
            flags=[QUORUM],
            importance="critical",
        )
    forms = {
        "comments": "# Our witnesses.\n\n" + HEAD + "\n# And how many.\nquorum a\n",
        "tabs": HEAD.replace(" ", "\t") + "quorum\ta\n",
        "blanks": HEAD.replace(" ", "   ") + "quorum   a\n",
        "urls": HEAD.replace(LOG.text, f"{LOG.text} https://log.example/").replace(
            ONE.text, f"{ONE.text} https://witness.example/a"
        )
        + "quorum a\n",
        "quorum-before-log": f"witness a {ONE.text}\nquorum a\nlog {LOG.text}\n",
        "names-beyond-ascii": HEAD.replace("witness a", "witness \u00e9") + "quorum \u00e9\n",
        "keyword-as-name": HEAD.replace("witness a", "witness quorum") + "quorum quorum\n",
        "two-logs": f"log {Key('log.example/other').text}\n" + HEAD + "quorum a\n",
    }
    for name, policy in forms.items():
        policy_case(
            suite,
            f"policy-form::{name}",
            f"A policy in another form that says the same: {name.replace('-', ' ')}.",
            cosigned(ONE),
            policy,
            None,
            stated([ONE]),
        )
    policy_case(
        suite,
        "policy::log-not-listed",
        "The policy lists another log.",
        cosigned(ONE),
        f"log {Key('log.example/other').text}\nwitness a {ONE.text}\nquorum a\n",
        "wrong-origin",
        importance="critical",
    )
    policy_case(
        suite,
        "policy::log-of-other-key",
        "The policy lists the log with another key.",
        cosigned(ONE),
        f"log {Key(LOG.name, secret='forger').text}\nwitness a {ONE.text}\nquorum a\n",
        "key-missing",
        importance="critical",
    )
    policy_case(
        suite,
        "policy::no-log",
        "The policy lists no log, and no log is known otherwise.",
        cosigned(ONE),
        f"witness a {ONE.text}\nquorum a\n",
        "wrong-origin",
        importance="high",
    )


def add_policy_faults(suite: Suite) -> None:
    log_line, one, two = f"log {LOG.text}\n", f"witness a {ONE.text}\n", f"witness b {TWO.text}\n"
    faults = {
        "empty": "",
        "no-quorum": HEAD,
        "two-quorums": HEAD + "quorum a\nquorum a\n",
        "two-different-quorums": HEAD + "quorum none\nquorum a\n",
        "quorum-undefined": HEAD + "quorum e\n",
        "quorum-empty": HEAD + "quorum\n",
        "quorum-of-two": HEAD + "quorum a b\n",
        "quorum-before-witness": log_line + "quorum a\n" + one,
        "group-before-member": log_line + one + "group g any a b\n" + two + "quorum g\n",
        "group-of-itself": HEAD + "group g any g a\nquorum g\n",
        "group-of-nothing": HEAD + "group g any\nquorum g\n",
        "group-of-none": HEAD + "group g any none a\nquorum g\n",
        "threshold-zero": HEAD + "group g 0 a b\nquorum g\n",
        "threshold-beyond": HEAD + "group g 3 a b\nquorum g\n",
        "threshold-negative": HEAD + "group g -1 a b\nquorum g\n",
        "threshold-missing": HEAD + "group g a b\nquorum g\n",
        "threshold-wrapped": HEAD + f"group g {2**64 + 1} a b\nquorum g\n",
        "member-twice": HEAD + "group g 2 a a\nquorum g\n",
        "member-of-two-groups": HEAD + "group g any a b\ngroup h all a c\nquorum h\n",
        "witness-name-twice": log_line + one + f"witness a {TWO.text}\nquorum a\n",
        "group-name-of-witness": HEAD + "group a any b c\nquorum a\n",
        "witness-called-none": log_line + f"witness none {ONE.text}\nquorum none\n",
        "key-of-two-witnesses": log_line + one + f"witness b {ONE.text}\ngroup g all a b\nquorum g\n",
        "key-of-two-witness-names": log_line
        + one
        + f"witness b {Key('alias.example', COSIGNATURE, ONE.name).text}\ngroup g any a b\nquorum g\n",
        "key-of-two-logs": log_line + log_line + one + "quorum a\n",
        "key-of-two-log-names": log_line + f"log {Key('log.example/other', secret=LOG.name).text}\n" + one + "quorum a\n",
        "witness-kind-1": log_line + f"witness a {Key(ONE.name).text}\nquorum a\n",
        "witness-without-key": log_line + one + "witness b\nquorum a\n",
        "witness-key-malformed": log_line + "witness a nonsense\nquorum a\n",
        "log-without-key": "log\n" + one + "quorum a\n",
        "log-of-four-items": log_line[:-1] + " https://log.example more\n" + one + "quorum a\n",
        "unknown-keyword": HEAD + "logs x\nquorum a\n",
        "keyword-upper-case": HEAD + "QUORUM a\n",
        "carriage-returns": (HEAD + "quorum a\n").replace("\n", "\r\n"),
        "null": HEAD + "# \0\nquorum a\n",
        "comment-behind-item": HEAD + "quorum a # our witness\n",
        "quorum-name-case": HEAD + "quorum A\n",
        "vertical-tab": HEAD + "quorum\va\n",
    }
    for name, policy in faults.items():
        policy_case(
            suite,
            f"policy-fault::{name}",
            f"The policy has a fault: {name.replace('-', ' ')}; all four witnesses cosigned.",
            cosigned(ONE, TWO, THREE, FOUR),
            policy,
            "policy-malformed",
            flags=[POLICY],
        )
    forms = {
        "no-last-newline": HEAD + "quorum a",
        "threshold-with-zero": HEAD + "group g 01 a b\nquorum g\n",
        "blanks-around-lines": "".join(f"  {line}  \n" for line in (HEAD + "quorum a").split("\n")),
        "blank-in-front-of-comment": HEAD + "  # more\nquorum a\n",
    }
    for name, policy in forms.items():
        policy_case(
            suite,
            f"policy-fault::{name}",
            f"The policy is in a form that readers may take: {name.replace('-', ' ')}.",
            cosigned(ONE),
            policy,
            None,
            verdict="either",
            flags=[POLICY],
            importance="low",
        )

