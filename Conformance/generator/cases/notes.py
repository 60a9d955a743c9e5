# SPDX-License-Identifier: Apache-2.0
"""Signed notes (C2SP signed-note)."""

import base64
import hashlib

import log
from log import EM_DASH, Key
from suite import Suite, b64, flag

SHAPE = flag(
    "NoteShape",
    "The note is not a text, an empty line, and signature lines, each with its newline.",
    "Readers that divide a note at different places take different texts for signed.",
    "C2SP signed-note",
)
CHARACTERS = flag(
    "NoteCharacters",
    "The note is not UTF-8, or has a control character other than newline.",
    "What a terminal or another reader shows is not what was signed.",
    "C2SP signed-note",
    "RFC 3629 section 3",
)
LINES = flag(
    "SignatureLine",
    "A line after the empty line is not em dash, space, name, space, base64.",
    "Readers that take such lines disagree on which signatures a note has.",
    "C2SP signed-note",
    "RFC 4648 section 4",
)
UNKNOWN = flag(
    "UnknownSignature",
    "The note has signatures of keys, or of kinds of keys, that the reader does not know.",
    "A reader that refuses them cannot be given notes with new signers; one that counts them trusts anybody.",
    "C2SP signed-note",
)
IDENTITY = flag(
    "KeyIdentity",
    "The name, the identity or the kind of the key is not that of the signature line.",
    "A reader that compares less than all of them takes the signature of another key or for another purpose.",
    "C2SP signed-note",
)
KEY = flag(
    "VerifierKey",
    "The text of the key to verify with is not NAME+ID+BASE64, or its identity is not that of its content.",
    "A reader that does not compare the identity does not notice a key that was copied wrong.",
    "C2SP signed-note",
)
ED25519 = flag(
    "Ed25519Edge",
    "The signature or the key is none that a signer makes: S is not reduced, or a point is of small order or in another form.",
    "One signature gets several forms, or one signature is right for several messages.",
    "RFC 8032 section 5.1.7",
    "Wycheproof ed25519_test: SignatureMalleability",
)

TEXT = "First line of the note.\nSecond line.\n"
ALICE = Key("alice.example/log")
BOB = Key("bob.example/log")
EVE = Key("eve.example/log")
LINE = ALICE.line(TEXT)
SIGNED = log.note(TEXT, LINE)


def add(suite: Suite) -> None:
    add_right(suite)
    add_divisions(suite)
    add_characters(suite)
    add_lines(suite)
    add_encodings(suite)
    add_signatures(suite)
    add_known_and_unknown(suite)
    add_identities(suite)
    add_keys(suite)
    add_edges(suite)
    add_sizes(suite)


def inputs(note: str | bytes, keys: list[Key | str]) -> dict:
    subject = {"noteBase64": b64(note)} if isinstance(note, bytes) else {"note": note}
    return subject | {"keys": [key if isinstance(key, str) else key.text for key in keys]}


def valid(suite: Suite, name: str, description: str, text: str, note: str, keys=(ALICE,), signers=(ALICE,), **options) -> None:
    suite.add(
        f"note::{name}",
        description,
        inputs(note, list(keys)),
        "valid",
        operation="note",
        values={"text": text, "signers": [key.name for key in signers]},
        **options,
    )


def refused(suite: Suite, name: str, description: str, reason: str, note: str | bytes, keys=(ALICE,), **options) -> None:
    """A note that must not be accepted: undetermined if it is for want of a key."""
    verdict = "undetermined" if reason.startswith("key-") else "invalid"
    suite.add(f"note::{name}", description, inputs(note, list(keys)), verdict, operation="note", reason=reason, **options)


def either(suite: Suite, name: str, description: str, note: str | bytes, keys=(ALICE,), **options) -> None:
    suite.add(
        f"note::{name}", description, inputs(note, list(keys)), "either", operation="note", **{"importance": "low"} | options
    )


def add_right(suite: Suite) -> None:
    texts = {
        "two-lines": ("A text of two lines.", TEXT),
        "one-line": ("A text of one line.", "One line.\n"),
        "empty-lines-within": (
            "A text with empty lines, of which the last one of the note divides.",
            "One.\n\nTwo.\n\n\nThree.\n",
        ),
        "empty-line-at-end": ("A text that ends with an empty line, which is signed.", "One.\n\n"),
        "empty-line-in-front": ("A text that begins with an empty line, which is signed.", "\nOne.\n"),
        "blanks": ("A text whose lines begin and end with blanks.", "  One.  \n \n"),
        "beyond-ascii": ("A text in several scripts, and with a character beyond 16 bits.", "ed è subito sera — 夕方 🌒\n"),
        "combining": ("A text with a combining character, which must not be composed.", "e\u0301\n"),
        "composed": ("A text with a composed character, which must not be decomposed.", "\u00e9\n"),
        "byte-order-mark": ("A text that begins with U+FEFF, which is signed.", "\ufeffOne.\n"),
        "replacement-character": ("A text with the character U+FFFD, which is as good as another.", "One\ufffd.\n"),
        "signature-in-text": (
            "A text that has an empty line and a signature line of its own.",
            "One.\n\n" + EVE.line("One.\n"),
        ),
        "dashes": ("A text with a line that begins as a signature line does.", f"{EM_DASH} alice.example/log AAAA\n"),
    }
    for name, (description, text) in texts.items():
        valid(suite, f"text::{name}", description, text, log.signed(text, ALICE))
    valid(suite, "signers::two", "Two known keys signed.", TEXT, log.signed(TEXT, ALICE, BOB), (ALICE, BOB), (ALICE, BOB))
    valid(
        suite,
        "signers::two-in-other-order",
        "Two known keys signed; the keys are given in another order.",
        TEXT,
        log.signed(TEXT, BOB, ALICE),
        (ALICE, BOB),
        (BOB, ALICE),
    )
    valid(
        suite, "signers::one-of-two-known", "Of two known keys, one signed.", TEXT, log.signed(TEXT, BOB), (ALICE, BOB), (BOB,)
    )
    for name, key in (
        ("unicode", Key("m\u00e5ne.example/log")),
        ("scheme", Key("https://log.example:8443/a?b=c#d")),
        ("one-letter", Key("a")),
        ("dash", Key(EM_DASH)),
        ("decomposed", Key("ma\u030ane.example/log")),
        ("long", Key("a" * 255)),
    ):
        valid(
            suite,
            f"name::{name}",
            "The name of the key has no blank and no plus, and nothing else is asked of it.",
            TEXT,
            log.signed(TEXT, key),
            (key,),
            (key,),
            importance="medium",
        )


def add_divisions(suite: Suite) -> None:
    faults = {
        "empty": ("The note is empty.", ""),
        "newline": ("The note is a newline.", "\n"),
        "text-alone": ("The note has no signature.", TEXT),
        "no-signature-line": ("Nothing comes after the empty line.", TEXT + "\n"),
        "no-empty-line": ("No empty line comes before the signature.", TEXT + LINE),
        "no-text": ("The note has signature lines and no text.", LINE),
        "no-last-newline": ("The signature line does not end in a newline.", SIGNED[:-1]),
        "empty-line-behind": ("An empty line comes after the signature.", SIGNED + "\n"),
        "text-behind": ("A line that is no signature comes after the signature.", SIGNED + "and more\n"),
        "text-behind-without-newline": ("Text comes after the last newline.", SIGNED + "and more"),
        "text-between": (
            "A line that is no signature comes between the signatures.",
            log.note(TEXT, BOB.line(TEXT), "and more\n", LINE),
        ),
        "blank-behind": ("A line of a blank comes after the signature.", SIGNED + " \n"),
        "blank-in-empty-line": ("The line before the signature is a blank.", TEXT + " \n" + LINE),
        "carriage-return-in-empty-line": ("The line before the signature is a carriage return.", TEXT + "\r\n" + LINE),
        "carriage-returns": ("All lines end in carriage return and newline.", SIGNED.replace("\n", "\r\n")),
        "carriage-returns-alone": ("All lines end in a carriage return alone.", SIGNED.replace("\n", "\r")),
        "line-separators": ("U+2028 ends the lines, which is no newline.", SIGNED.replace("\n", "\u2028")),
        "next-line-characters": ("U+0085 ends the lines, which is no newline.", SIGNED.replace("\n", "\u0085")),
        "signature-first": ("The signature comes in front of the text.", LINE + "\n" + TEXT),
        "cut": ("The note ends within the signature.", SIGNED[:-20]),
    }
    for name, (description, note) in faults.items():
        refused(suite, f"shape::{name}", description, "malformed", note, flags=[SHAPE])
    for name, description, text, note in (
        (
            "empty-line-more",
            "One more empty line comes before the signature, and it is not signed.",
            TEXT,
            TEXT + "\n\n" + LINE,
        ),
        ("newline-not-signed", "The text was signed without its last newline.", TEXT, TEXT + "\n" + ALICE.line(TEXT[:-1])),
        (
            "empty-line-signed",
            "The text was signed with the empty line that divides.",
            TEXT,
            TEXT + "\n" + ALICE.line(TEXT + "\n"),
        ),
        (
            "carriage-returns-signed",
            "The text was signed with carriage returns that the note does not have.",
            TEXT,
            TEXT + "\n" + ALICE.line(TEXT.replace("\n", "\r\n")),
        ),
        (
            "first-part-signed",
            "The text up to the first empty line was signed, and not the rest.",
            TEXT,
            log.note("One.\n\nTwo.\n", ALICE.line("One.\n")),
        ),
        (
            "divided-signatures",
            "An empty line comes between two signatures, so that the first one is text; the second is of the text before it.",
            TEXT,
            log.note(TEXT, BOB.line(TEXT), "\n", LINE),
        ),
        (
            "digest-signed",
            "The SHA-256 of the text was signed in place of the text.",
            TEXT,
            log.note(TEXT, ALICE.line(hashlib.sha256(TEXT.encode()).digest())),
        ),
    ):
        refused(
            suite, f"shape::{name}", description, "signature-mismatch", note, (ALICE,), flags=[SHAPE], importance="critical"
        )
    text = TEXT + "\n" + BOB.line(TEXT)
    valid(
        suite,
        "shape::text-with-signature-signed",
        "The text holds a signed note, and the key signed all of that.",
        text,
        log.signed(text, ALICE),
        (ALICE, BOB),
        (ALICE,),
        flags=[SHAPE],
        importance="critical",
    )
    either(suite, "shape::empty-text", "The text is empty but for its newline.", log.signed("\n", ALICE), flags=[SHAPE])


def add_characters(suite: Suite) -> None:
    for name, character in (
        ("null", "\0"),
        ("tab", "\t"),
        ("carriage-return", "\r"),
        ("vertical-tab", "\v"),
        ("form-feed", "\f"),
        ("escape", "\x1b"),
        ("bell", "\a"),
        ("backspace", "\b"),
        ("unit-separator", "\x1f"),
    ):
        text = f"One{character} line.\n"
        refused(
            suite,
            f"control::{name}",
            f"The text has the control character U+{ord(character):04X}, and is signed so.",
            "malformed",
            log.signed(text, ALICE),
            flags=[CHARACTERS],
        )
    refused(
        suite,
        "control::carriage-return-at-end-of-line",
        "A line of the text ends in a carriage return, and is signed so.",
        "malformed",
        log.signed("One.\r\nTwo.\n", ALICE),
        flags=[CHARACTERS],
    )
    for name, character in (
        ("delete", "\x7f"),
        ("c1-next-line", "\u0085"),
        ("c1-csi", "\u009b"),
        ("line-separator", "\u2028"),
        ("right-to-left-override", "\u202e"),
        ("noncharacter", "\uffff"),
    ):
        either(
            suite,
            f"control::{name}",
            f"The text has U+{ord(character):04X}. The specification names the ASCII controls below U+0020.",
            log.signed(f"One{character} line.\n", ALICE),
            flags=[CHARACTERS],
        )
    for name, octets, what in (
        ("continuation", b"\x80", "an octet of continuation alone"),
        ("latin-1", b"caf\xe9", "Latin-1"),
        ("overlong", b"\xc0\xaf", "an overlong form of a slash"),
        ("overlong-newline", b"\xc0\x8a", "an overlong form of a newline"),
        ("surrogate", b"\xed\xa0\x80", "a surrogate"),
        ("surrogate-pair", b"\xed\xa0\xbc\xed\xbc\x92", "a pair of surrogates, as CESU-8 has it"),
        ("beyond-unicode", b"\xf4\x90\x80\x80", "a code point beyond U+10FFFF"),
        ("truncated", b"\xe2\x82", "a character cut short"),
        ("overlong-null", b"\xc0\x80", "an overlong form of U+0000"),
        ("octet-ff", b"\xff", "the octet FF"),
    ):
        text = b"One " + octets + b" line.\n"
        note = text + b"\n" + ALICE.line(text).encode()
        refused(
            suite,
            f"utf8::{name}",
            f"The text is signed and is not UTF-8: it has {what}.",
            "malformed",
            note,
            flags=[CHARACTERS],
        )
    note = SIGNED.encode()
    refused(
        suite,
        "utf8::in-unknown-name",
        "The name of an unknown signer is not UTF-8.",
        "malformed",
        note + f"{EM_DASH} ".encode() + b"\xff AAAAAAAA\n",
        flags=[CHARACTERS],
    )
    refused(suite, "utf8::utf-16", "The note is in UTF-16.", "malformed", SIGNED.encode("utf-16-le"), flags=[CHARACTERS])
    refused(
        suite,
        "utf8::byte-order-mark-in-front",
        "U+FEFF comes in front of the note and is not signed.",
        "signature-mismatch",
        "\ufeff" + SIGNED,
        flags=[CHARACTERS],
    )
    refused(
        suite,
        "utf8::composed-behind-signature",
        "The text was signed with a decomposed character, and has a composed one.",
        "signature-mismatch",
        log.note("\u00e9\n", ALICE.line("e\u0301\n")),
        flags=[CHARACTERS],
    )


def add_lines(suite: Suite) -> None:
    rest = LINE.removeprefix(f"{EM_DASH} ")
    name, encoded = rest[:-1].split(" ")
    dashes = {
        "hyphen": "-",
        "two-hyphens": "--",
        "hyphen-character": "\u2010",
        "figure-dash": "\u2012",
        "en-dash": "\u2013",
        "horizontal-bar": "\u2015",
        "minus": "\u2212",
        "two-em-dash": "\u2e3a",
        "box-drawing": "\u2500",
        "katakana": "\u30fc",
        "vertical-em-dash": "\ufe31",
        "two-dashes": EM_DASH * 2,
        "no-dash": "",
    }
    for label, dash in dashes.items():
        what = f"U+{ord(dash):04X}" if len(dash) == 1 else repr(dash)
        refused(
            suite,
            f"dash::{label}",
            f"The signature line begins with {what} in place of the em dash U+2014.",
            "malformed",
            log.note(TEXT, f"{dash} {rest}"),
            flags=[LINES],
        )
    lines = {
        "blank-in-front": f" {EM_DASH} {rest}",
        "no-blank-behind-dash": f"{EM_DASH}{rest}",
        "two-blanks-behind-dash": f"{EM_DASH}  {rest}",
        "no-break-space-behind-dash": f"{EM_DASH}\u00a0{rest}",
        "two-blanks-behind-name": f"{EM_DASH} {name}  {encoded}\n",
        "no-break-space-behind-name": f"{EM_DASH} {name}\u00a0{encoded}\n",
        "tab-behind-name": f"{EM_DASH} {name}\t{encoded}\n",
        "blank-at-end": f"{EM_DASH} {name} {encoded} \n",
        "word-at-end": f"{EM_DASH} {name} {encoded} more\n",
        "name-alone": f"{EM_DASH} {name}\n",
        "name-and-blank": f"{EM_DASH} {name} \n",
        "base64-alone": f"{EM_DASH} {encoded}\n",
        "no-name": f"{EM_DASH}  {encoded}\n",
        "dash-alone": f"{EM_DASH} \n",
        "name-twice": f"{EM_DASH} {name} {name} {encoded}\n",
        "carriage-return-at-end": f"{EM_DASH} {name} {encoded}\r\n",
    }
    for label, line in lines.items():
        refused(
            suite,
            f"line::{label}",
            f"The signature line has another form: {label.replace('-', ' ')}.",
            "malformed",
            log.note(TEXT, line),
            flags=[LINES],
        )
    data = base64.b64encode(EVE.identity + bytes(64)).decode()
    unknown = {
        "empty-name": f"{EM_DASH}  {data}\n",
        "plus-in-name": f"{EM_DASH} a+b {data}\n",
        "em-space-in-name": f"{EM_DASH} a\u2003b {data}\n",
        "no-break-space-in-name": f"{EM_DASH} a\u00a0b {data}\n",
        "identity-alone": f"{EM_DASH} a {b64(EVE.identity)}\n",
        "three-octets": f"{EM_DASH} a {b64(bytes(3))}\n",
        "url-alphabet": f"{EM_DASH} a {'_-' * 8}\n",
        "no-padding": f"{EM_DASH} a {data.rstrip('=')}\n" if data.endswith("=") else f"{EM_DASH} a AAAAAAA\n",
    }
    for label, line in unknown.items():
        either(
            suite,
            f"unknown-line::{label}",
            "Beside a right signature stands one of an unknown key whose line has another form"
            f" ({label.replace('-', ' ')}): it may be ignored as unknown or refused as malformed.",
            log.note(TEXT, LINE, line),
            flags=[LINES, UNKNOWN],
        )


def add_encodings(suite: Suite) -> None:
    # 70 octets, so that the base64 is padded and its last letter has bits to spare; the signature itself is 64.
    data = ALICE.identity + ALICE.sign(TEXT)
    encoded = b64(data)
    assert encoded.endswith("=")

    def line(text: str) -> str:
        return log.note(TEXT, f"{EM_DASH} {ALICE.name} {text}\n")

    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    stem, last = encoded.rstrip("=")[:-1], encoded.rstrip("=")[-1]
    padding = encoded[len(stem) + 1 :]
    refused(
        suite,
        "base64::no-padding",
        "The signature is in base64 without padding.",
        "malformed",
        line(encoded.rstrip("=")),
        flags=[LINES],
        importance="low",
    )
    refused(
        suite,
        "base64::more-padding",
        "The signature is in base64 with too much padding.",
        "malformed",
        line(encoded + "="),
        flags=[LINES],
        importance="low",
    )
    refused(
        suite,
        "base64::padding-within",
        "The signature's base64 has padding within.",
        "malformed",
        line(encoded[:8] + "==" + encoded[8:]),
        flags=[LINES],
        importance="medium",
    )
    refused(
        suite,
        "base64::other-character",
        "The signature's base64 has a character that is none.",
        "malformed",
        line(encoded[:8] + "*" + encoded[8:]),
        flags=[LINES],
        importance="medium",
    )
    refused(
        suite,
        "base64::cut",
        "The signature's base64 lacks its last letter.",
        "malformed",
        line(stem + padding),
        flags=[LINES],
        importance="medium",
    )
    refused(
        suite,
        "base64::hexadecimal",
        "The signature is in hexadecimal.",
        "malformed",
        line(data.hex() + "0"),
        flags=[LINES],
        importance="medium",
    )
    either(
        suite,
        "base64::spare-bits",
        "The last letter of the base64 has bits that belong to no octet. RFC 4648 3.5 lets a decoder refuse them.",
        line(stem + alphabet[alphabet.index(last) + 1] + padding),
        flags=[LINES],
    )
    for number in range(64):
        text = f"Note {number}.\n"
        standard = b64(ALICE.identity + ALICE.sign(text))
        if "+" in standard and "/" in standard:
            break
    url = standard.replace("+", "-").replace("/", "_")
    refused(
        suite,
        "base64::url-alphabet",
        "The signature is in the alphabet for URLs.",
        "malformed",
        log.note(text, f"{EM_DASH} {ALICE.name} {url}\n"),
        flags=[LINES],
        importance="low",
    )


def add_signatures(suite: Suite) -> None:
    right = ALICE.sign(TEXT)
    signatures = {
        "zeros": ("is 64 zeros", bytes(64)),
        "ones": ("is 64 octets FF", b"\xff" * 64),
        "empty": ("is a single octet", b"\0"),
        "first-bit": ("has its first bit altered", bytes([right[0] ^ 1]) + right[1:]),
        "middle-bit": ("has a bit of S altered", right[:40] + bytes([right[40] ^ 1]) + right[41:]),
        "last-bit": ("has its last bit altered", right[:-1] + bytes([right[-1] ^ 0x80])),
        "halves-exchanged": ("has R and S exchanged", right[32:] + right[:32]),
        "r-zero": ("has an R of zeros", bytes(32) + right[32:]),
        "s-zero": ("has an S of zeros", right[:32] + bytes(32)),
        "shorter": ("lacks its last octet", right[:-1]),
        "longer": ("has one more octet", right + b"\0"),
        "twice": ("is there twice in one line", right * 2),
        "key-behind": ("has the public key behind it", right + ALICE.public),
        "of-other-text": ("is of another text", ALICE.sign("Another text.\n")),
        "of-other-key": ("is by another key", EVE.sign(TEXT)),
        "of-empty-text": ("is of the empty text", ALICE.sign("")),
        "kind-in-front": ("has the kind of the key in front", b"\1" + right),
        "timestamp-in-front": ("has a time in front, as a cosignature has", (1_700_000_000).to_bytes(8, "big") + right),
        "reversed": ("is in reverse order", right[::-1]),
        "s-only": ("has R left out", right[32:]),
        "of-whole-note": (
            "is of the text with its empty line and first letters of the signature",
            ALICE.sign(TEXT + "\n" + EM_DASH),
        ),
    }
    for name, (what, signature) in signatures.items():
        refused(
            suite,
            f"signature::{name}",
            f"The signature of the only signer, whose key is known, {what}.",
            "signature-mismatch",
            log.note(TEXT, ALICE.line_with(signature)),
            importance="critical",
        )
    for name, text in (
        ("letter", TEXT.replace("First", "Other")),
        ("line-added", TEXT + "Third line.\n"),
        ("line-removed", TEXT.split("\n")[0] + "\n"),
        ("line-in-front", "Line.\n" + TEXT),
        ("blank-added", TEXT.replace("line.", "line. ")),
        ("case", TEXT.upper()),
    ):
        refused(
            suite,
            f"altered-text::{name}",
            "The text was altered after it was signed.",
            "signature-mismatch",
            log.note(text, LINE),
            importance="critical",
        )


def add_known_and_unknown(suite: Suite) -> None:
    unknown = EVE.line(TEXT)
    wrong = BOB.line_with(bytes(64))
    notes = {
        "unknown-first": ("An unknown signature comes in front of the known one.", (unknown, LINE)),
        "unknown-last": ("An unknown signature comes after the known one.", (LINE, unknown)),
        "unknown-wrong": ("A signature of an unknown key, which could not be right, comes first.", (wrong, LINE)),
        "unknown-twice": ("The same unknown signature comes twice.", (unknown, LINE, unknown)),
        "unknown-of-one-octet": ("An unknown signature has one octet.", (EVE.line_with(b"\0"), LINE)),
        "unknown-of-kind-2": (
            "A signature of a kind without a public form (2, ECDSA) stands beside the known one.",
            (Key(ALICE.name, 2).line_with(bytes(70)), LINE),
        ),
        "unknown-of-kind-5": (
            "A signature of a log of certificates (kind 5) stands beside the known one.",
            (Key(ALICE.name, 5).line_with(bytes(80)), LINE),
        ),
        "unknown-of-kind-6": (
            "A cosignature by ML-DSA-44 (kind 6) of the log's own name stands beside the known one.",
            (Key(ALICE.name, 6, stated=bytes(1312)).line_with(bytes(2428)), LINE),
        ),
        "unknown-of-kind-255": (
            "A signature of kind FF, for all others, stands beside the known one.",
            (Key(ALICE.name, 255).line_with(bytes(100)), LINE),
        ),
        "same-name-other-identity": (
            "Another key of the same name signed too.",
            (Key(ALICE.name, secret="other").line(TEXT), LINE),
        ),
        "same-identity-other-name": (
            "A line with the known key's identity has another name.",
            (f"{EM_DASH} {EVE.name} {b64(ALICE.identity + bytes(64))}\n", LINE),
        ),
        "known-twice": ("The known signature comes twice, and its key is one signer.", (LINE, LINE)),
    }
    for name, (description, lines) in notes.items():
        valid(suite, f"unknown::{name}", description, TEXT, log.note(TEXT, *lines), flags=[UNKNOWN])
    for name, description, lines in (
        (
            "known-wrong-beside-right",
            "Of two known signers, the signature of one is wrong: readers should refuse the note.",
            (LINE, wrong),
        ),
        (
            "known-wrong-in-front-of-right",
            "Of two known signers, the signature of the first is wrong: readers should refuse.",
            (wrong, LINE),
        ),
        (
            "right-then-wrong-of-one-key",
            "One key has two lines, of which the second is wrong.",
            (LINE, ALICE.line_with(bytes(64))),
        ),
        (
            "wrong-then-right-of-one-key",
            "One key has two lines, of which the first is wrong.",
            (ALICE.line_with(bytes(64)), LINE),
        ),
    ):
        either(suite, f"known::{name}", description, log.note(TEXT, *lines), (ALICE, BOB), importance="medium")
    missing = {
        "only-unknown": ("Only an unknown key signed.", (unknown,), (ALICE,)),
        "no-key": ("No key is given.", (LINE,), ()),
        "same-name-other-key": (
            "The signer has the name of the known key, and another key.",
            (Key(ALICE.name, secret="other").line(TEXT),),
            (ALICE,),
        ),
        "right-signature-other-name": (
            "The known key's signature stands under another name.",
            (f"{EM_DASH} {EVE.name} {b64(ALICE.identity + ALICE.sign(TEXT))}\n",),
            (ALICE,),
        ),
        "right-signature-other-identity": (
            "The known key's signature stands under its name and another identity.",
            (f"{EM_DASH} {ALICE.name} {b64(EVE.identity + ALICE.sign(TEXT))}\n",),
            (ALICE,),
        ),
        "identity-zero": (
            "The known key's signature stands under its name and an identity of zeros.",
            (f"{EM_DASH} {ALICE.name} {b64(bytes(4) + ALICE.sign(TEXT))}\n",),
            (ALICE,),
        ),
        "identity-reversed": (
            "The identity's octets are in reverse order.",
            (f"{EM_DASH} {ALICE.name} {b64(ALICE.identity[::-1] + ALICE.sign(TEXT))}\n",),
            (ALICE,),
        ),
        "upper-case-name": ("The name is in upper case.", (f"{EM_DASH} {ALICE.name.upper()} {LINE.split(' ')[2]}",), (ALICE,)),
        "longer-name": (
            "The name begins with that of the known key.",
            (f"{EM_DASH} {ALICE.name}/a {LINE.split(' ')[2]}",),
            (ALICE,),
        ),
        "slash-behind-name": ("The name has a slash behind it.", (f"{EM_DASH} {ALICE.name}/ {LINE.split(' ')[2]}",), (ALICE,)),
    }
    for name, (description, lines, keys) in missing.items():
        refused(
            suite,
            f"unsigned::{name}",
            description,
            "key-missing",
            log.note(TEXT, *lines),
            keys,
            flags=[UNKNOWN, IDENTITY],
            importance="critical",
        )


def add_identities(suite: Suite) -> None:
    composed, decomposed = Key("caf\u00e9.example"), Key("cafe\u0301.example", secret="caf\u00e9.example")
    line = f"{EM_DASH} {decomposed.name} {b64(composed.identity + composed.sign(TEXT))}\n"
    refused(
        suite,
        "identity::decomposed-name",
        "The name looks the same and is of other code points (decomposed in the line).",
        "key-missing",
        log.note(TEXT, line),
        (composed,),
        flags=[IDENTITY],
    )
    line = f"{EM_DASH} {composed.name} {b64(decomposed.identity + composed.sign(TEXT))}\n"
    refused(
        suite,
        "identity::composed-name",
        "The name looks the same and is of other code points (composed in the line).",
        "key-missing",
        log.note(TEXT, line),
        (decomposed,),
        flags=[IDENTITY],
    )
    cosigner = Key(ALICE.name, log.COSIGNATURE, ALICE.name)
    refused(
        suite,
        "identity::kind-4-line",
        "The line has the identity of the same key as a cosigner (kind 4), with a signature of"
        " the text alone; the key that is given is that of notes (kind 1).",
        "key-missing",
        log.note(TEXT, cosigner.line(TEXT)),
        flags=[IDENTITY],
        importance="critical",
    )
    suite.add(
        "note::identity::kind-4-key",
        "The key that is given is a cosigner's (kind 4), and the line has its identity and a plain"
        " signature of the text, which no cosigner makes.",
        inputs(log.note(TEXT, cosigner.line(TEXT)), [cosigner]),
        "invalid",
        operation="note",
        reason="signature-mismatch",
        flags=[IDENTITY],
        importance="critical",
    )
    refused(
        suite,
        "identity::kind-1-line-for-kind-4-key",
        "The line is of a key of notes (kind 1), and the key that is given is the same one as a cosigner's (kind 4).",
        "key-missing",
        SIGNED,
        (cosigner,),
        flags=[IDENTITY],
        importance="critical",
    )
    either(suite, "identity::key-twice", "The same key is given twice.", SIGNED, (ALICE, ALICE), flags=[IDENTITY])
    other = Key(ALICE.name, secret="other")
    valid(
        suite,
        "identity::two-keys-of-a-name",
        "Two keys of one name are given, as while a key is replaced; one signed.",
        TEXT,
        SIGNED,
        (other, ALICE),
        (ALICE,),
        flags=[IDENTITY],
    )
    valid(
        suite,
        "identity::both-keys-of-a-name",
        "Two keys of one name are given, and both signed.",
        TEXT,
        log.signed(TEXT, other, ALICE),
        (other, ALICE),
        (other, ALICE),
        flags=[IDENTITY],
    )


def add_keys(suite: Suite) -> None:
    name, identity, data = ALICE.text.split("+", 2)
    public = ALICE.public
    faults = {
        "identity-altered": f"{name}+{'0' * 8}+{data}",
        "identity-of-other-name": f"{name}+{EVE.identity.hex()}+{data}",
        "identity-short": f"{name}+{identity[:-1]}+{data}",
        "identity-long": f"{name}+0{identity}+{data}",
        "identity-empty": f"{name}++{data}",
        "identity-not-hexadecimal": f"{name}+{identity[:-1]}g+{data}",
        "identity-prefixed": f"{name}+0x{identity[2:]}+{data}",
        "identity-left-out": f"{name}+{data}",
        "name-alone": name,
        "empty": "",
        "name-empty": Key("", secret=ALICE.name).text,
        "data-empty": ALICE.text_with(b""),
        "kind-alone": ALICE.text_with(b"\1"),
        "key-without-kind": ALICE.text_with(public),
        "key-of-31": ALICE.text_with(b"\1" + public[:-1]),
        "key-of-33": ALICE.text_with(b"\1" + public + b"\0"),
        "key-of-64": ALICE.text_with(b"\1" + public + public),
        "kind-0": Key(name, 0).text,
        "kind-2": Key(name, 2).text,
        "kind-255": Key(name, 255).text,
        "base64-other-character": f"{name}+{identity}+*{data[1:]}",
        "data-in-hexadecimal": f"{name}+{identity}+{(bytes([1]) + public).hex()}",
        "blank-in-name": Key("alice example", secret=ALICE.name).text,
        "plus-in-name": Key("alice+example", secret=ALICE.name).text,
        "em-space-in-name": Key("alice\u2003example", secret=ALICE.name).text,
        "pem": "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA" + b64(public) + "\n-----END PUBLIC KEY-----\n",
    }
    for label, text in faults.items():
        refused(
            suite,
            f"key::{label}",
            f"The key to verify with is not of the form NAME+ID+BASE64 of a known kind: {label.replace('-', ' ')}.",
            "key-unusable",
            SIGNED,
            (text,),
            flags=[KEY],
            importance="high" if "identity" in label else "medium",
        )
    for label, text in {
        "identity-upper-case": f"{name}+{identity.upper()}+{data}",
        "newline-behind": ALICE.text + "\n",
        "blank-behind": ALICE.text + " ",
        "blank-in-front": " " + ALICE.text,
    }.items():
        either(
            suite,
            f"key::{label}",
            f"The key's text has another form, which readers may take: {label.replace('-', ' ')}.",
            SIGNED,
            (text,),
            flags=[KEY],
        )
    either(
        suite,
        "key::unknown-kind-beside",
        "A key of an unknown kind is given beside the right one: it may be ignored or refused.",
        SIGNED,
        (Key("other.example", 255), ALICE),
        flags=[KEY],
    )
    either(
        suite,
        "key::malformed-beside",
        "A malformed key is given beside the right one: it may be ignored or refused.",
        SIGNED,
        ("nonsense", ALICE),
        flags=[KEY],
    )


def add_edges(suite: Suite) -> None:
    right = ALICE.sign(TEXT)
    refused(
        suite,
        "ed25519::s-not-reduced",
        "The order of the group was added to S, which RFC 8032 5.1.7 refuses.",
        "signature-mismatch",
        log.note(TEXT, ALICE.line_with(log.malleated(right))),
        flags=[ED25519],
        importance="critical",
    )
    refused(
        suite,
        "ed25519::s-top-bits",
        "The three highest bits of S are set.",
        "signature-mismatch",
        log.note(TEXT, ALICE.line_with(right[:-1] + bytes([right[-1] | 0xE0]))),
        flags=[ED25519],
        importance="critical",
    )
    either(
        suite,
        "ed25519::cofactor",
        "The signature is right by the equation with the cofactor and wrong by the one without. RFC 8032 allows both.",
        log.note(TEXT, ALICE.line_with(log.mixed_signature(ALICE, TEXT.encode()))),
        flags=[ED25519],
        importance="medium",
    )
    one = log.encode_point(log.IDENTITY)
    keys = {
        "identity": (one, one),
        "identity-not-reduced": ((log.PRIME + 1).to_bytes(32, "little"), one),
        "identity-signed-zero": (one[:-1] + b"\x80", one),
        "r-not-reduced": (one, (log.PRIME + 1).to_bytes(32, "little")),
        "order-4": (bytes(32), one),
        "order-2": ((log.PRIME - 1).to_bytes(32, "little"), one),
        "order-8": (log.encode_point(log.small_point()), one),
    }
    for label, (public, first) in keys.items():
        key = Key("small.example", secret="small", stated=public)
        either(
            suite,
            f"ed25519::key-{label}",
            "The key or R is a point of small order or in a form that is not reduced, and S is 0."
            " Libraries differ, and no honest signer has such a key.",
            log.note(TEXT, key.line_with(first + bytes(32))),
            (key,),
            flags=[ED25519],
        )
    off = next(value.to_bytes(32, "little") for value in range(2, 50) if not on_curve(value.to_bytes(32, "little")))
    key = Key("small.example", secret="small", stated=off)
    suite.add(
        "note::ed25519::key-off-the-curve",
        "The key is no point of the curve.",
        inputs(log.note(TEXT, key.line_with(right)), [key]),
        "invalid",
        operation="note",
        reason="signature-mismatch",
        flags=[ED25519],
        importance="medium",
    )


def on_curve(data: bytes) -> bool:
    try:
        log.decode_point(data)
    except ValueError:
        return False
    return True


def add_sizes(suite: Suite) -> None:
    others = [Key(f"other-{number}.example", secret="other") for number in range(101)]
    for count in (2, 15):
        valid(
            suite,
            f"size::{count + 1}-signatures",
            f"The note has {count + 1} signatures, of which the last is known; readers take 16 at least.",
            TEXT,
            log.signed(TEXT, *others[:count], ALICE),
            flags=[UNKNOWN],
        )
    for count in (16, 99, 100):
        either(
            suite,
            f"size::{count + 1}-signatures",
            f"The note has {count + 1} signatures, of which the last is known; readers may limit them to 16.",
            log.signed(TEXT, *others[:count], ALICE),
            flags=[UNKNOWN],
        )
    long = "A line that is signed.\n" * 6000
    either(suite, "size::long-text", "The text has 138,000 octets, which readers may limit.", log.signed(long, ALICE))
    text = "a" * 5000 + "\n"
    valid(suite, "size::long-line", "A line of the text has 5,000 letters.", text, log.signed(text, ALICE), importance="medium")
