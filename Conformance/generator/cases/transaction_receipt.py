# SPDX-License-Identifier: Apache-2.0
"""Transaction receipts: their forms, their property lists and what is signed of them."""

import base64
import textwrap
import urllib.parse

import cms
import keys
import plist
from cms import EXHAUSTION, PADDING, TEXTS
from plist import BLOB, DATES, DUPLICATE_KEY, SYNTAX, UNSIGNED_KEY, info, receipt, values, write
from suite import Suite


def cases_of(suite: Suite, subject: str, *flags: str, **members) -> cms.Cases:
    return cms.Cases(suite, subject, *flags, kind=plist.KIND, policy=members.pop("policy", None) or plist.policy(), **members)


def b64(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def add(suite: Suite) -> None:
    add_basics(suite)
    add_wrappers(suite)
    add_syntax(suite)
    add_keys(suite)
    add_unsigned(suite)
    add_signatures(suite)
    add_blobs(suite)
    add_info(suite)
    add_dates(suite)
    add_bombs(suite)


def add_basics(suite: Suite) -> None:
    cases = cases_of(suite, "basic")
    for version, what in ((3, "a key of 2,048 bits and SHA-1"), (4, "a key of 2,048 bits and SHA-256")):
        cases.valid(
            f"version-{version}",
            f"Version {version}: {what}, in base64 as devices deliver it.",
            b64(receipt(version=version).text()),
            values(version=version),
        )
        cases.valid(
            f"version-{version}-plain",
            f"Version {version}: {what}, as a property list.",
            receipt(version=version).text(),
            values(version=version),
        )
    music = cases_of(suite, "basic", policy=plist.policy(plist.music_store()))
    music.valid(
        "version-2",
        "Version 2: a key of 1,024 bits and SHA-1, under certificates with markers of their own, in base64.",
        b64(receipt(version=2).text()),
        values(version=2),
    )
    music.valid("version-2-plain", "Version 2, as a property list.", receipt(version=2).text(), values(version=2))
    subscription = info({**plist.EXPIRES, "product-id": "com.example.app.monthly", "web-order-line-item-id": "3000000001"})
    cases.valid(
        "subscription",
        "A subscription, with its expiration date in three forms.",
        receipt(subscription).text(),
        values(productId="com.example.app.monthly", expiresDate="2025-11-01T07:09:10.000Z"),
    )
    cases.valid(
        "restored",
        "A restored purchase has another original transaction, of an earlier date.",
        receipt(info({"original-transaction-id": "1000000000", **plist.dates("original-purchase-date", 1_727_766_550)})).text(),
        values(originalTransactionId="1000000000", originalPurchaseDate="2024-10-01T07:09:10.000Z"),
    )
    everything = {
        **plist.EXPIRES,
        "app-item-id": "1234567890",
        "version-external-identifier": "800000001",
        "web-order-line-item-id": "3",
        "unique-identifier": "0" * 40,
        "hosted-iap-version": "1.0",
        "is-trial-period": "false",
    }
    cases.valid(
        "all-keys",
        "Every key that purchases are known to have, and some that nobody knows.",
        receipt(info(everything)).text(),
        values(expiresDate="2025-11-01T07:09:10.000Z"),
    )
    cases.valid("quantity-3", "The quantity is 3.", receipt(info({"quantity": "3"})).text(), values(quantity=3))


def add_wrappers(suite: Suite) -> None:
    cases = cases_of(suite, "wrapping")
    plain = receipt().text()
    encoded = b64(plain)
    for name, what, wrapped in (
        ("line-breaks", "A line break after each 64 symbols of the base64.", "\n".join(textwrap.wrap(encoded, 64))),
        ("line-breaks-76-crlf", "CR LF after each 76 symbols of the base64.", "\r\n".join(textwrap.wrap(encoded, 76))),
        ("base64url", "Base64url without padding.", base64.urlsafe_b64encode(plain.encode()).decode().rstrip("=")),
        ("json-receipt-data", "The body of a request to verifyReceipt.", f'{{"receipt-data":"{encoded}"}}'),
        ("json-string", "A JSON string.", f'"{encoded}"'),
        ("percent-encoded", "Percent-encoded base64.", urllib.parse.quote(encoded, safe="")),
        ("base64-twice", "Base64 of base64.", b64(encoded)),
        ("byte-order-mark", "A byte order mark stands before the base64.", "\ufeff" + encoded),
        ("white-space-around", "White space stands before and after the base64.", f"\n  {encoded}\n"),
    ):
        cases.valid(
            name, what, wrapped, values(), features=["wrappers"], importance="medium" if name == "line-breaks" else "low"
        )
    for name, what, wrapped in (
        ("cut", "The base64 ends after two thirds.", encoded[: len(encoded) * 2 // 3]),
        ("foreign-symbol", "A symbol that is not of base64 stands in the midst.", encoded[:500] + "!" + encoded[500:]),
    ):
        cases.invalid(name, what, wrapped, "malformed", importance="medium")


def add_syntax(suite: Suite) -> None:
    cases = cases_of(suite, "syntax", SYNTAX)
    entries = receipt().entries()
    sample = receipt().text()
    orders = list(entries.items())
    cases.valid("reversed", "The keys stand in the reverse order.", write(orders[::-1]), values(), flags=[])
    cases.valid("sorted", "The keys stand in the order of the alphabet.", write(sorted(orders)), values(), flags=[])
    cases.valid(
        "info-reversed",
        "The keys of purchase-info stand in the reverse order.",
        receipt(write(list(plist.INFO.items())[::-1]).encode()).text(),
        values(),
        flags=[],
    )
    bare = '{signature=%s;"purchase-info"=%s;environment=Sandbox;pod=100;"signing-status"=0;}' % tuple(
        plist.quoted(entries[key]) for key in ("signature", "purchase-info")
    )
    cases.valid(
        "unquoted",
        "Keys and values without special symbols stand without quotation marks, and there is no white space.",
        bare,
        values(),
        importance="medium",
    )
    cases.valid(
        "info-unquoted",
        "The values of purchase-info stand without quotation marks.",
        receipt(info({"quantity": None, "transaction-id": None}, 'quantity=1;\n"transaction-id" = 1000000001;')).text(),
        values(),
        importance="medium",
    )
    cases.valid(
        "white-space",
        "Tabs, spaces and line breaks stand wherever they may.",
        "\r\n{ \t"
        + "".join(f"{plist.quoted(key)}\r\n\t =  \n{plist.quoted(value)} \t;\r\n" for key, value in orders)
        + " \t}\r\n\n",
        values(),
        importance="medium",
    )
    cases.valid("crlf", "The lines end with CR LF.", sample.replace("\n", "\r\n"), values(), importance="medium")
    cases.valid(
        "unknown-keys",
        "There are keys that nobody knows, in both lists.",
        receipt(info(more='\t"new-key" = "new value";\n')).text('\t"new-outer" = "x";\n'),
        values(),
        flags=[],
    )
    cases.valid(
        "escapes",
        "A product ID holds a quotation mark and a backslash, both escaped.",
        receipt(info({"product-id": 'a"b\\c'})).text(),
        values(productId='a"b\\c'),
        importance="medium",
    )
    cases.valid(
        "unicode-escape",
        "A product ID holds a letter as \\U and four digits.",
        receipt(info({"product-id": None}, '\t"product-id" = "m\\U00fcnzen";\n')).text(),
        values(productId="münzen"),
        importance="medium",
    )
    for name, what, escaped, product in (
        ("surrogate-pair", "a character beyond 16 bits as a pair of surrogates", "\\Ud83d\\Ude00", "\U0001f600"),
        ("first-surrogate-pair", "the first character beyond 16 bits", "\\Ud800\\Udc00", "\U00010000"),
        ("last-surrogate-pair", "the last character of Unicode", "\\Udbff\\Udfff", "\U0010ffff"),
        ("before-surrogates", "the last character before the surrogates", "\\Ud7ff", "\ud7ff"),
        ("after-surrogates", "the first character after the surrogates, with capital digits", "\\UE000", "\ue000"),
    ):
        cases.valid(
            name,
            f"A product ID holds {what}.",
            receipt(info({"product-id": None}, f'\t"product-id" = "{escaped}";\n')).text(),
            values(productId=product),
            importance="low",
        )
    cases.valid(
        "utf8",
        "A product ID holds a letter in UTF-8.",
        receipt(info({"product-id": "münzen"})).text(),
        values(productId="münzen"),
        importance="low",
    )
    cases.valid(
        "product-with-braces",
        "A product ID holds braces, a semicolon and an equals sign.",
        receipt(info({"product-id": "a}; {b = c;"})).text(),
        values(productId="a}; {b = c;"),
    )
    cases.valid(
        "info-within-value",
        "A value of purchase-info looks like an entry with another bundle identifier.",
        receipt(info({"product-id": '"; "bid" = "com.example.other'})).text(),
        values(productId='"; "bid" = "com.example.other'),
        importance="high",
    )
    for name, what, text in (
        ("comment-before", "A comment precedes the list", "/* receipt */ " + sample),
        ("comment-within", "A comment stands between two entries", sample.replace('\t"pod"', '\t// pod\n\t"pod"')),
        ("octal-escape", "The environment is written with an octal escape", sample.replace('"Sandbox"', '"\\123andbox"')),
        (
            "unknown-dictionary",
            "The value of a key that nobody knows is a dictionary",
            receipt().text('\t"x" = { "y" = "z"; };\n'),
        ),
        ("unknown-array", "The value of a key that nobody knows is an array", receipt().text('\t"x" = ( "y", "z" );\n')),
        ("unknown-data", "The value of a key that nobody knows is data", receipt().text('\t"x" = <0102 ff>;\n')),
        ("single-quotes", "A value stands in single quotation marks", sample.replace('"100"', "'100'")),
        ("last-semicolon-missing", "The last semicolon is missing", sample.replace('"0";\n}', '"0"\n}')),
        ("form-feed", "A form feed stands between two entries", sample.replace('\t"pod"', '\f"pod"')),
        ("byte-order-mark", "A byte order mark precedes the list", "\ufeff" + sample),
    ):
        cases.either(name, f"{what}, which OpenStep allows and no receipt has.", text)
    for name, what, text in (
        ("empty", "The list is empty.", "{}"),
        ("empty-base64", "The list is empty, in base64.", b64("{}")),
        ("closing-brace-missing", "The closing brace is missing.", sample[:-1]),
        ("opening-brace-missing", "The opening brace is missing.", sample[1:]),
        ("two-closing-braces", "A second closing brace follows.", sample + "}"),
        ("text-after", "A text follows the list.", sample + " receipt"),
        ("twice", "The list stands twice.", sample + "\n" + sample),
        (
            "semicolon-missing",
            "The semicolon after the signature is missing.",
            sample.replace(';\n\t"purchase-info"', '\n\t"purchase-info"'),
        ),
        (
            "two-semicolons",
            "Two semicolons follow the signature.",
            sample.replace(';\n\t"purchase-info"', ';;\n\t"purchase-info"'),
        ),
        ("equals-missing", "An equals sign is missing.", sample.replace('"pod" =', '"pod" ')),
        ("colon", "A colon stands in place of an equals sign.", sample.replace('"pod" =', '"pod" :')),
        ("comma", "Commas stand in place of semicolons.", sample.replace('";\n', '",\n')),
        ("value-missing", "A value is missing.", sample.replace('"100"', "")),
        ("quotation-mark-missing", "The quotation mark after the last value is missing.", sample.replace('"0";', '"0;')),
        ("escape-unknown", "A value has an escape that does not exist.", sample.replace('"100"', '"1\\x00"')),
        ("escape-cut", "A value ends within a \\U.", sample.replace('"100"', '"\\U00"')),
        ("surrogate-alone", "A value has half a surrogate pair.", sample.replace('"100"', '"\\Ud83d"')),
        ("surrogate-trail-alone", "A value has the second half of a surrogate pair.", sample.replace('"100"', '"\\Ude00"')),
        ("surrogates-swapped", "A value has a surrogate pair whose halves are exchanged.",
         sample.replace('"100"', '"\\Ude00\\Ud83d"')),
        ("surrogate-twice", "A value has the first half of a surrogate pair twice.",
         sample.replace('"100"', '"\\Ud83d\\Ud83d"')),
        ("surrogate-and-letter", "A letter, escaped, follows half a surrogate pair.",
         sample.replace('"100"', '"\\Ud83d\\U0041"')),
        ("surrogate-before-letter", "A letter follows half a surrogate pair.", sample.replace('"100"', '"\\Ud83dA"')),
        ("surrogate-before-escape", "Another escape follows half a surrogate pair.",
         sample.replace('"100"', '"\\Ud83d\\n1234"')),
        ("surrogate-after-pair", "Half a surrogate pair follows a whole one.",
         sample.replace('"100"', '"\\Ud83d\\Ude00\\Ude00"')),
        ("escape-no-digit", "A \\U has a letter that is no digit.", sample.replace('"100"', '"\\U00g0"')),
        ("array", "The list is an array.", "( " + ", ".join(plist.quoted(value) for value in entries.values()) + " )"),
        (
            "json",
            "The list is written as JSON.",
            '{"signature":"%s","purchase-info":"%s"}' % (entries["signature"], entries["purchase-info"]),
        ),
        (
            "xml",
            "The list is written in XML.",
            '<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict>'
            + "".join(f"<key>{key}</key><string>{value}</string>" for key, value in orders)
            + "</dict></plist>",
        ),
    ):
        cases.invalid(name, what, text, "malformed", importance="medium")
    cases.invalid(
        "invalid-utf8",
        "A value is not UTF-8.",
        sample.encode().replace(b'"100"', b'"1\xff0"'),
        "malformed",
        importance="medium",
    )
    cases.invalid(
        "nul",
        "A zero byte stands between two entries.",
        sample.encode().replace(b'\t"pod"', b'\0"pod"'),
        "malformed",
        importance="medium",
    )
    for name, what, text in (
        ("empty", "purchase-info is empty", b""),
        ("text", "purchase-info is a text without a list", b"com.example.app"),
        ("brace-missing", "The closing brace of purchase-info is missing", info()[:-1]),
        ("trailing", "Bytes follow the list of purchase-info", info() + b"{}"),
        ("json", "purchase-info is JSON", b'{"bid":"com.example.app","product-id":"com.example.app.coins"}'),
        (
            "dictionary",
            "The bundle identifier of purchase-info is a dictionary",
            info({"bid": None}, '\t"bid" = { "a" = "b"; };\n'),
        ),
        (
            "array",
            "The bundle identifier of purchase-info is an array",
            info({"bid": None}, '\t"bid" = ( "com.example.app" );\n'),
        ),
        ("invalid-utf8", "A product ID in purchase-info is not UTF-8", info().replace(b"coins", b"co\xc3ns")),
    ):
        cases.invalid(
            f"info-{name}", f"{what}; the signature is right.", receipt(text).text(), "malformed", importance="medium"
        )


def add_keys(suite: Suite) -> None:
    cases = cases_of(suite, "duplicate", DUPLICATE_KEY)
    other = receipt(info({"product-id": "com.example.app.everything"}), key=keys.rsa_key("foreign"))
    replacements = {
        "signature": other.entries()["signature"],
        "purchase-info": other.entries()["purchase-info"],
        "environment": "Production",
        "pod": "2",
        "signing-status": "1",
    }
    for key, value in replacements.items():
        line = f"\t{plist.quoted(key)} = {plist.quoted(value)};\n"
        importance = "critical" if key in ("signature", "purchase-info") else "high"
        cases.invalid(
            f"{key}-last",
            f"The key {key} occurs twice; the second value was put there.",
            receipt().text(line),
            "malformed",
            place=f'key "{key}"',
            importance=importance,
        )
        cases.invalid(
            f"{key}-first",
            f"The key {key} occurs twice; the first value was put there.",
            "{\n" + line + receipt().text()[2:],
            "malformed",
            place=f'key "{key}"',
            importance=importance,
        )
    cases.invalid(
        "equal",
        "The key purchase-info occurs twice with the same value.",
        receipt().text('\t"purchase-info" = "%s";\n' % receipt().entries()["purchase-info"]),
        "malformed",
        place='key "purchase-info"',
    )
    cases.invalid(
        "quoted-and-bare",
        "The key pod occurs with and without quotation marks.",
        receipt().text("\tpod = 2;\n"),
        "malformed",
        place='key "pod"',
        importance="medium",
    )
    cases.invalid(
        "escaped",
        "The key purchase-info occurs twice, once with an escape.",
        receipt().text('\t"purchase\\U002dinfo" = "%s";\n' % replacements["purchase-info"]),
        "malformed",
        place='key "purchase-info"',
        importance="critical",
    )
    for key, value in (
        ("bid", "com.example.other"),
        ("product-id", "com.example.app.everything"),
        ("transaction-id", "9"),
        ("original-transaction-id", "9"),
        ("quantity", "99"),
        ("purchase-date-ms", "1600000000000"),
        ("purchase-date", "2020-10-01 07:09:10 Etc/GMT"),
        ("original-purchase-date-ms", "1600000000000"),
        ("unique-vendor-identifier", "FFEEDDCC-BBAA-9988-7766-554433221100"),
        ("item-id", "1"),
        ("bvrs", "1"),
    ):
        cases.invalid(
            f"info-{key}",
            f"The key {key} of purchase-info occurs twice; the signature is right.",
            receipt(info(more=f"\t{plist.quoted(key)} = {plist.quoted(value)};\n")).text(),
            "malformed",
            place=f'key "{key}"',
            importance="critical" if key in ("bid", "product-id", "transaction-id") else "high",
        )
    others = "".join(f"\tunknown-{index} = {index};\n" for index in range(60))
    cases.valid(
        "info-of-many-keys",
        "Sixty keys that nobody knows follow those of purchase-info, each once.",
        receipt(info(more=others)).text(),
        values(),
        importance="low",
        flags=[],
    )
    for name, what, more, key in (
        ("product-id-after-many", "The key product-id occurs again after sixty others", f"{others}\tproduct-id = other;\n",
         "product-id"),
        ("unknown-after-many", "Of sixty keys that nobody knows, the last occurs twice", f"{others}\tunknown-59 = 0;\n",
         "unknown-59"),
    ):  # fmt: skip
        cases.invalid(
            f"info-{name}",
            f"{what}; the signature is right.",
            receipt(info(more=more)).text(),
            "malformed",
            place=f'key "{key}"',
            importance="critical" if key == "product-id" else "medium",
        )


def add_unsigned(suite: Suite) -> None:
    cases = cases_of(suite, "unsigned", UNSIGNED_KEY)
    sample = receipt()
    for name, what, outer in (
        ("pod-changed", "The pod was changed; nobody signed it", (("pod", "99999"),)),
        ("pod-missing", "There is no pod", (("pod", None),)),
        ("pod-text", "The pod is a text", (("pod", "nobody"),)),
        ("status-changed", "The signing status is 1", (("signing-status", "1"),)),
        ("status-missing", "There is no signing status", (("signing-status", None),)),
    ):
        cases.valid(
            name, f"{what}; the purchase is signed all the same.", sample.but(outer=outer).text(), values(), importance="medium"
        )
    for key in ("signature", "purchase-info"):
        cases.invalid(
            f"{key}-missing",
            f"There is no {key}.",
            sample.but(outer=((key, None),)).text(),
            "malformed",
            place=f'key "{key}"',
            importance="critical",
        )
        cases.invalid(
            f"{key}-upper-case",
            f"The key {key} is in upper case.",
            sample.text().replace(f'"{key}"', f'"{key.upper()}"'),
            "malformed",
            place=f'key "{key}"',
            importance="medium",
        )
    absent, production = sample.but(environment=None), sample.but(environment="Production")
    alone, sandbox = {"environments": ["production"]}, {"environments": ["sandbox"]}
    claimed = {"acceptClaimedEnvironment": True}
    cases.valid(
        "environment-absent", "No environment means production; both are accepted.", absent.text(), values("production")
    )
    cases.valid(
        "environment-production",
        "Production is claimed; both are accepted.",
        production.text(),
        values("production"),
        importance="medium",
    )
    cases.undetermined(
        "environment-absent-production-alone",
        "No environment means production, but nothing that is signed says so.",
        absent.text(),
        "environment-unproven",
        alone,
        place='key "environment"',
        importance="critical",
    )
    cases.undetermined(
        "environment-production-alone",
        "Production is claimed, but nothing that is signed says so.",
        production.text(),
        "environment-unproven",
        alone,
        place='key "environment"',
        importance="critical",
    )
    cases.undetermined(
        "environment-sandbox-production-alone",
        "The sandbox is claimed, under a policy that accepts production alone.",
        sample.text(),
        "environment-unproven",
        alone,
        place='key "environment"',
        importance="critical",
    )
    cases.valid(
        "environment-absent-claim-accepted",
        "The policy accepts production alone, and the claim.",
        absent.text(),
        values("production"),
        {**alone, **claimed},
    )
    cases.valid(
        "environment-production-claim-accepted",
        "The policy accepts production alone, and the claim, which is made.",
        production.text(),
        values("production"),
        {**alone, **claimed},
        importance="medium",
    )
    cases.invalid(
        "environment-sandbox-claim-refused",
        "The sandbox is claimed, under a policy that accepts production alone, and the claim.",
        sample.text(),
        "wrong-environment",
        {**alone, **claimed},
        importance="critical",
    )
    cases.valid("environment-sandbox-alone", "The sandbox is claimed, and accepted alone.", sample.text(), values(), sandbox)
    cases.invalid(
        "environment-absent-sandbox-alone",
        "No environment means production, and the policy accepts the sandbox alone.",
        absent.text(),
        "wrong-environment",
        sandbox,
    )
    for name, word in (
        ("unknown", "Staging"),
        ("empty", ""),
        ("lower-case", "sandbox"),
        ("space", "Sandbox "),
        ("xcode", "Xcode"),
    ):
        cases.invalid(
            f"environment-{name}",
            f"The environment that is claimed is {word!r}, which is not accepted.",
            sample.but(environment=word).text(),
            "wrong-environment",
        )
    cases.invalid(
        "environment-unknown-claim-accepted",
        "An environment that nobody knows is claimed, under a policy that accepts the claim.",
        sample.but(environment="Staging").text(),
        "wrong-environment",
        {**alone, **claimed},
    )


def add_signatures(suite: Suite) -> None:
    cases = cases_of(suite, "signature")
    wrong = {"place": 'key "signature"', "importance": "critical"}
    mismatch = "signature-mismatch"
    sample = receipt()
    good = sample.blob()[1:257]
    for at in (0, 128, 255):
        changed = good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :]
        cases.invalid(
            f"bit-of-octet-{at}",
            f"A bit of octet {at} of the signature is flipped.",
            sample.but(signature=changed).text(),
            mismatch,
            **wrong,
        )
    for name, what, signature in (
        ("zeros", "all zeros", bytes(256)),
        ("ones", "larger than the modulus", b"\xff" * 256),
        ("one", "the number one", bytes(255) + b"\1"),
    ):
        cases.invalid(name, f"The signature is {what}.", sample.but(signature=signature).text(), mismatch, **wrong)
    for key, value in (
        ("product-id", "com.example.app.everything"),
        ("quantity", "99"),
        ("transaction-id", "2000000000"),
        ("bid", "com.example.app"),
        ("purchase-date-ms", "1759302551000"),
        ("unique-vendor-identifier", "FFEEDDCC-BBAA-9988-7766-554433221100"),
    ):
        signed = info({"bid": "com.example.other"}) if key == "bid" else info()
        cases.invalid(
            f"edited-{key}",
            f"The key {key} of purchase-info was changed after signing.",
            receipt(info({key: value}), signed=b"\4" + signed).text(),
            mismatch,
            **wrong,
        )
    cases.invalid(
        "entry-added",
        "An entry was added to purchase-info after signing.",
        receipt(info(more='\t"x" = "y";\n'), signed=b"\4" + info()).text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "line-break-added",
        "A line break was added to purchase-info after signing.",
        receipt(info() + b"\n", signed=b"\4" + info()).text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "of-other-receipt",
        "The signature is that of another purchase of the same customer.",
        receipt(signed=b"\4" + info({"transaction-id": "1000000002"})).text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "version-4-to-3",
        "The version, which is signed, was changed from 4 to 3.",
        receipt(version=3, signed=b"\4" + info(), digest="sha256").text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "version-3-to-4",
        "The version, which is signed, was changed from 3 to 4.",
        receipt(version=4, signed=b"\3" + info(), digest="sha1").text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "version-not-signed",
        "The signature is over purchase-info without the version.",
        receipt(signed=info()).text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "version-signed-as-3",
        "Version 4; the signature is over 3 and purchase-info.",
        receipt(signed=b"\3" + info()).text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "version-as-text",
        "The signature is over the digit 4 and purchase-info.",
        receipt(signed=b"4" + info()).text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "over-base64",
        "The signature is over purchase-info in base64.",
        receipt(signed=b"\4" + base64.b64encode(info())).text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "sha1-in-version-4", "Version 4, and the signature is with SHA-1.", receipt(digest="sha1").text(), mismatch, **wrong
    )
    cases.invalid(
        "sha256-in-version-3",
        "Version 3, and the signature is with SHA-256.",
        receipt(version=3, digest="sha256").text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "key-foreign",
        "It is signed with another key than the leaf's.",
        receipt(key=keys.rsa_key("foreign")).text(),
        mismatch,
        **wrong,
    )
    swapped = cms.authority().leaf.but(serial=4, key=keys.rsa_key("other-leaf"))
    cases.invalid(
        "leaf-swapped",
        "The leaf is another one of the store, whose key did not sign.",
        receipt(certificate=cms.encoded(swapped)).text(),
        mismatch,
        **wrong,
    )
    cases.invalid(
        "leaf-is-intermediate",
        "The certificate is the intermediate's, and its key signed.",
        receipt(certificate=cms.encoded(cms.authority().intermediate), key=keys.rsa_key("intermediate")).text(),
        "chain-length",
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "leaf-is-root",
        "The certificate is the root's, and its key signed.",
        receipt(certificate=cms.encoded(cms.authority().root), key=keys.rsa_key("root")).text(),
        "chain-length",
        place="certificate 0",
        importance="critical",
    )
    small = cms.authority().but(leaf={"key": keys.rsa_key("exponent-3"), "serial": 33})
    for version, digest in ((3, "sha1"), (4, "sha256")):
        forged = cms.cube_root_forgery(cms.digest_info(bytes([version]) + info(), digest))
        cases.invalid(
            f"cube-root-version-{version}",
            "A cube root of short padding, digest and anything after it: a forgery without the key, whose exponent is 3.",
            receipt(of=small, version=version, signature=forged).text(),
            mismatch,
            flags=[PADDING],
            **wrong,
        )
    garbage = cms.raw_signature(cms.authority().leaf.key, cms.padded(cms.digest_info(b"\4" + info()) + b"\1\2\3\4"))
    cases.invalid(
        "garbage-after-digest",
        "Octets follow the digest within the padding of the signature.",
        receipt(signature=garbage).text(),
        mismatch,
        flags=[PADDING],
        **wrong,
    )
    cases.valid(
        "policy-accepts-sha1",
        "Version 3 under a policy that accepts RSA with SHA-1.",
        receipt(version=3).text(),
        values(version=3),
        {"algorithms": ["RSA-SHA1"]},
        importance="medium",
    )
    cases.invalid(
        "policy-refuses-sha1",
        "Version 3 under a policy that accepts RSA with SHA-256 alone.",
        receipt(version=3).text(),
        "unsupported-algorithm",
        {"algorithms": ["RSA-SHA256"]},
    )


def add_blobs(suite: Suite) -> None:
    cases = cases_of(suite, "blob", BLOB)
    sample = receipt()
    length = len(cms.encoded(sample.leaf))
    bad = {"place": 'key "signature"', "importance": "medium"}
    for version in (0, 1, 5, 52, 255):
        cases.invalid(
            f"version-{version}",
            f"The version is {version}, which nobody knows.",
            sample.but(version=version).text(),
            "unsupported-algorithm",
            **bad,
        )
    cases.invalid(
        "version-2-length",
        "The version was changed to 2, whose signatures have 128 octets.",
        sample.but(version=2, signature=sample.blob()[1:257]).text(),
        "malformed",
        **bad,
    )
    for name, what, count in (
        ("one-less", "one less than the certificate has; a byte is left over", length - 1),
        ("one-more", "one more than the certificate has", length + 1),
        ("zero", "zero", 0),
        ("largest", "the largest of four octets", 2**32 - 1),
        ("negative", "negative as a signed number", 2**31),
        ("little-endian", "written with the lowest octet first", int.from_bytes(length.to_bytes(4, "little"), "big")),
    ):
        cases.invalid(
            f"length-{name}",
            f"The length of the certificate is {what}.",
            sample.but(certificate_length=count).text(),
            "malformed",
            **bad,
        )
    for name, what, after in (
        ("byte", "A byte follows", b"\0"),
        ("certificate", "A second certificate follows", cms.encoded(cms.authority().intermediate)),
        ("text", "A text follows", b"receipt"),
    ):
        cases.invalid(f"after-{name}", f"{what} the certificate.", sample.but(after=after).text(), "malformed", **bad)
    blob = sample.blob()
    for name, what, count in (
        ("empty", "empty", 0),
        ("version-alone", "the version alone", 1),
        ("signature-cut", "cut within the signature", 100),
        ("length-missing", "cut before the length of the certificate", 257),
        ("length-cut", "cut within the length of the certificate", 259),
        ("certificate-missing", "cut before the certificate", 261),
        ("certificate-cut", "cut within the certificate", 700),
        ("last-byte", "without its last byte", len(blob) - 1),
    ):
        cases.invalid(
            f"cut-{name}",
            f"The value of the key signature is {what}.",
            sample.but(signature_text=b64(blob[:count])).text(),
            "malformed",
            **bad,
        )
    leaf = cms.encoded(sample.leaf)
    for name, what, certificate in (
        ("empty", "has no octets", b""),
        ("text", "is a text", b"certificate"),
        ("trailing", "is followed by a byte within its length", leaf + b"\0"),
        ("cut", "is cut within its length", leaf[:-10]),
        ("pem", "is in PEM", b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(leaf) + b"-----END CERTIFICATE-----\n"),
        ("sequence", "is an empty SEQUENCE", b"\x30\x00"),
    ):
        cases.invalid(
            f"certificate-{name}",
            f"The certificate {what}.",
            sample.but(certificate=certificate).text(),
            "malformed",
            place='key "signature"' if name != "sequence" else "certificate 0",
            importance="medium",
        )
    cases.invalid(
        "short-signature",
        "The signature has 128 octets, and the version is 4.",
        sample.but(signature=bytes(128)).text(),
        "malformed",
        **bad,
    )
    for key, member in (("signature", "signature_text"), ("purchase-info", "info_text")):
        right = sample.entries()[key]
        cases.invalid(
            f"{key}-no-base64",
            f"The value of {key} is no base64.",
            sample.but(**{member: "*" + right}).text(),
            "malformed",
            importance="medium",
        )
        cases.invalid(
            f"{key}-one-symbol",
            f"The value of {key} has one symbol more than whole octets need.",
            sample.but(**{member: right.rstrip("=") + "A" * (5 - len(right.rstrip("=")) % 4)}).text(),
            "malformed",
            importance="medium",
        )
        cases.either(
            f"{key}-line-breaks",
            f"The value of {key} has line breaks.",
            sample.but(**{member: "\n".join(textwrap.wrap(right, 64))}).text(),
        )
    uneven = next(text for text in (info({"bvrs": "2" * count}) for count in range(1, 4)) if len(text) % 3)
    cases.either(
        "purchase-info-without-padding",
        "The padding of the value of purchase-info is missing.",
        receipt(uneven, info_text=b64(uneven).rstrip("=")).text(),
    )
    weak = cms.authority().but(leaf={"key": keys.rsa_key("short")})
    signature = keys.sign(keys.rsa_key("short"), b"\4" + info())
    cases.invalid(
        "key-1024-bits",
        "Version 4 with a key of 1,024 bits and a signature filled up to 256 octets.",
        receipt(of=weak, signature=bytes(128) + signature).text(),
        "unsupported-algorithm",
        place="certificate 0",
    )


def add_info(suite: Suite) -> None:
    cases = cases_of(suite, "info")
    for key, changes in (
        ("bvrs", {}),
        ("item-id", {}),
        ("unique-vendor-identifier", {}),
        ("original-transaction-id", {"originalTransactionId": None}),
        ("quantity", {"quantity": None}),
        ("product-id", {"productId": None}),
        ("transaction-id", {"transactionId": None}),
    ):
        arguments = (f"without-{key}", f"purchase-info has no {key}.", receipt(info({key: None})).text())
        if changes:
            cases.either(*arguments)
        else:
            cases.valid(*arguments, values(), importance="medium")
    cases.invalid(
        "without-bid",
        "purchase-info has no bundle identifier.",
        receipt(info({"bid": None})).text(),
        "wrong-bundle",
        importance="critical",
    )
    for name, text in (
        ("text", "three"),
        ("fraction", "1.5"),
        ("empty", ""),
        ("hexadecimal", "0x10"),
        ("trailing", "1 or 2"),
        ("exponent", "1e3"),
        ("two-signs", "--1"),
        ("21-digits", "100000000000000000001"),
        ("2-to-the-64", str(2**64 + 1)),
    ):
        cases.invalid(
            f"quantity-{name}",
            f"The quantity is {text!r}.",
            receipt(info({"quantity": text})).text(),
            "malformed",
            place='key "quantity"',
            importance="medium",
        )
    for name, text in (("negative", "-1"), ("plus", "+1"), ("zero", "0"), ("leading-zeros", "0001")):
        cases.either(f"quantity-{name}", f"The quantity is {text!r}.", receipt(info({"quantity": text})).text())
    cases.valid(
        "quantity-largest",
        "The quantity is the largest of 64 bits.",
        receipt(info({"quantity": str(2**63 - 1)})).text(),
        values(quantity=2**63 - 1),
        importance="low",
    )
    texts = cases_of(suite, "info", TEXTS)
    for name, what, bundle in (
        ("other", "of another app", "com.example.other"),
        ("longer", "the accepted one and more", "com.example.app.evil"),
        ("prefix", "the beginning of the accepted one", "com.example.ap"),
        ("upper-case", "in upper case", "COM.EXAMPLE.APP"),
        ("space", "followed by a space", "com.example.app "),
        ("empty", "empty", ""),
        ("homoglyph", "with a Cyrillic letter", "com.ex\u0430mple.app"),
    ):
        texts.invalid(
            f"bid-{name}",
            f"The bundle identifier is {what}.",
            receipt(info({"bid": bundle})).text(),
            "wrong-bundle",
            importance="critical",
        )
    texts.invalid(
        "bid-nul",
        "NUL and more follow the accepted bundle identifier.",
        receipt(info({"bid": None}, '\t"bid" = "com.example.app\\U0000.evil";\n')).text(),
        "wrong-bundle",
        importance="critical",
    )
    texts.invalid(
        "bid-upper-case-key",
        "The key bid is in upper case, and there is no other.",
        receipt(info({"bid": None, "BID": "com.example.app"})).text(),
        "wrong-bundle",
        importance="medium",
    )
    texts.invalid(
        "bid-outside",
        "The accepted bundle identifier stands in the outer list, which nobody signed.",
        receipt(info({"bid": "com.example.other"})).text('\t"bid" = "com.example.app";\n'),
        "wrong-bundle",
        importance="critical",
    )
    cases.invalid(
        "policy-other-bundle",
        "It is a receipt of another app.",
        receipt().text(),
        "wrong-bundle",
        {"bundleIds": ["com.example.other"]},
        importance="critical",
    )


def add_dates(suite: Suite) -> None:
    cases = cases_of(suite, "date", DATES)
    for name, what, changes, signed in (
        (
            "milliseconds-alone",
            "The purchase date is in milliseconds alone",
            {"purchase-date": None, "purchase-date-pst": None},
            "2025-10-01T07:09:10.000Z",
        ),
        (
            "text-alone",
            "The purchase date is a text alone",
            {"purchase-date-ms": None, "purchase-date-pst": None},
            "2025-10-01T07:09:10.000Z",
        ),
        ("without-pacific", "The date of Los Angeles is missing", {"purchase-date-pst": None}, "2025-10-01T07:09:10.000Z"),
        (
            "fraction",
            "The milliseconds are more than the text, which has whole seconds",
            {"purchase-date-ms": "1759302550999"},
            "2025-10-01T07:09:10.999Z",
        ),
    ):
        cases.valid(
            name, f"{what}.", receipt(info(changes)).text(), values(signed=signed, purchaseDate=signed), importance="medium"
        )
    nothing = {"purchase-date": None, "purchase-date-ms": None, "purchase-date-pst": None}
    cases.undetermined(
        "missing",
        "There is no purchase date, and the time rule needs one.",
        receipt(info(nothing)).text(),
        "signing-time-missing",
        importance="critical",
    )
    cases.undetermined(
        "pacific-alone",
        "The purchase date is that of Los Angeles alone, whose offset is not stated.",
        receipt(info({"purchase-date": None, "purchase-date-ms": None})).text(),
        "signing-time-missing",
        importance="medium",
    )
    cases.valid(
        "missing-evaluation",
        "There is no purchase date; the certificates are judged when it is evaluated.",
        receipt(info(nothing)).text(),
        values(signed=None, purchaseDate=None),
        {"time": "evaluation"},
        importance="medium",
    )
    cases.either(
        "forms-differ",
        "The purchase date in milliseconds is a day after the one that is a text.",
        receipt(info({"purchase-date-ms": str(1_759_302_550_000 + 86_400_000)})).text(),
    )
    cases.either(
        "original-forms-differ",
        "The forms of the original purchase date differ by a year.",
        receipt(info({"original-purchase-date-ms": "1727766550000"})).text(),
    )
    cases.either(
        "expires-forms-differ",
        "The expiration date in milliseconds is in 2040, and the text in 2025.",
        receipt(info({**plist.EXPIRES, "expires-date": "2209000000000"})).text(),
    )
    cases.either(
        "pacific-differs",
        "The date of Los Angeles is another instant.",
        receipt(info({"purchase-date-pst": "2020-10-01 00:09:10 America/Los_Angeles"})).text(),
    )
    for name, what, changes, key in (
        ("milliseconds-text", "The milliseconds are a text", {"purchase-date-ms": "now"}, "purchase-date-ms"),
        ("milliseconds-empty", "The milliseconds are empty", {"purchase-date-ms": ""}, "purchase-date-ms"),
        (
            "milliseconds-fraction",
            "The milliseconds have a fraction",
            {"purchase-date-ms": "1759302550000.5"},
            "purchase-date-ms",
        ),
        (
            "milliseconds-large",
            "The milliseconds do not fit in 64 bits",
            {"purchase-date-ms": "99999999999999999999", "purchase-date": None},
            "purchase-date-ms",
        ),
        ("month-13", "The text has the month 13", {"purchase-date": "2025-13-01 07:09:10 Etc/GMT"}, "purchase-date"),
        ("zone-missing", "The text has no time zone", {"purchase-date": "2025-10-01 07:09:10"}, "purchase-date"),
        (
            "zone-other",
            "The text has another time zone",
            {"purchase-date": "2025-10-01 07:09:10 Europe/Berlin"},
            "purchase-date",
        ),
        (
            "second-60",
            "The text has the second 60",
            {"purchase-date": "2025-10-01 07:09:60 Etc/GMT", "purchase-date-ms": None},
            "purchase-date",
        ),
        ("expires-text", "The expiration date is a text", {"expires-date": "never"}, "expires-date"),
        (
            "month-no-digit",
            "The text has a colon in its month",
            {"purchase-date": "2025-0:-01 07:09:10 Etc/GMT"},
            "purchase-date",
        ),
        (
            "day-no-digit",
            "The text has a semicolon in its day",
            {"purchase-date": "2025-10-0; 07:09:10 Etc/GMT", "purchase-date-ms": None},
            "purchase-date",
        ),
        (
            "letter-between",
            "The text has a T between date and time",
            {"purchase-date": "2025-10-01T07:09:10 Etc/GMT"},
            "purchase-date",
        ),
        ("zone-utc", "The text has the time zone Etc/UTC", {"purchase-date": "2025-10-01 07:09:10 Etc/UTC"}, "purchase-date"),
        (
            "zone-lower-case",
            "The text has its time zone in small letters",
            {"purchase-date": "2025-10-01 07:09:10 etc/gmt"},
            "purchase-date",
        ),
        (
            "text-before",
            "Another text stands before the date",
            {"purchase-date": "at 2025-10-01 07:09:10 Etc/GMT"},
            "purchase-date",
        ),
        (
            "day-31-in-september",
            "The text has the 31st of September",
            {"original-purchase-date": "2025-09-31 07:09:10 Etc/GMT", "original-purchase-date-ms": None},
            "original-purchase-date",
        ),
    ):
        cases.invalid(name, f"{what}.", receipt(info(changes)).text(), "malformed", place=f'key "{key}"', importance="medium")


def add_bombs(suite: Suite) -> None:
    cases = cases_of(suite, "resource", EXHAUSTION)
    many = "".join(f'\t"k{index}" = "v";\n' for index in range(5_000))
    cases.either("entries", "Five thousand keys that nobody knows stand in the outer list.", receipt().text(many))
    cases.either(
        "info-entries",
        "Five thousand keys that nobody knows stand in purchase-info, signed rightly.",
        receipt(info(more=many)).text(),
    )
    cases.invalid(
        "nested-dictionaries", "Twenty thousand dictionaries are opened and not closed.", '{"a"=' * 20_000, "malformed"
    )
    cases.invalid("nested-arrays", "Twenty thousand arrays are opened and not closed.", '{"a"=' + "(" * 20_000, "malformed")
    cases.either(
        "long-value",
        "The value of a key that nobody knows has 50,000 symbols.",
        receipt().text('\t"x" = "%s";\n' % ("y" * 50_000)),
    )
    cases.either(
        "escapes",
        "The value of a key that nobody knows has 20,000 escapes.",
        receipt().text('\t"x" = "%s";\n' % ("\\U0041" * 20_000)),
    )
    cases.either("white-space", "A hundred thousand spaces stand before the last brace.", receipt().text(" " * 100_000))
    cases.invalid("unterminated-text", "A text of 50,000 symbols is not ended.", '{"signature" = "' + "A" * 50_000, "malformed")
    cases.invalid(
        "info-nested",
        "purchase-info opens twenty thousand arrays; the signature is right.",
        receipt(b'{"a"=' + b"(" * 20_000).text(),
        "malformed",
    )
