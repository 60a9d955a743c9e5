# SPDX-License-Identifier: Apache-2.0
"""Transaction receipts whose chain is wrong, or right at the edge of what is, and policies that refuse them."""

import cms
import der
import keys
import pki
import plist
from cms import CHAIN_TIME, FORGERY, HASH, PURPOSE
from plist import info, receipt, values
from suite import Suite

BOUGHT = pki.PURCHASED
OTHER_DEVICE = "ffeeddcc-bbaa-9988-7766-554433221100"
DEVICE = "00112233-4455-6677-8899-aabbccddeeff"


def add(suite: Suite) -> None:
    add_chains(suite)
    add_purposes(suite)
    add_validity(suite)
    add_time(suite)
    add_policies(suite)
    add_device(suite)


def cases_of(suite: Suite, subject: str, *flags: str) -> cms.Cases:
    return cms.Cases(suite, subject, *flags, kind=plist.KIND, policy=plist.policy())


def supplied(*certificates: bytes) -> dict:
    """A policy with these intermediates."""
    return {"intermediates": [pki.pem(certificate) for certificate in certificates] or None}


def add_chains(suite: Suite) -> None:
    cases = cases_of(suite, "chain", FORGERY)
    of, foreign = cms.authority(), cms.authority(True)
    leaf, intermediate, root = cms.chain(of)
    forged = cms.chain(foreign)
    sample = receipt().text()
    cases.undetermined(
        "intermediate-missing",
        "Nobody supplied the intermediate.",
        sample,
        "issuer-missing",
        {"intermediates": None},
        place="certificate 0",
        flags=[],
    )
    cases.undetermined(
        "intermediate-of-other-name",
        "The policy has an intermediate of another name.",
        sample,
        "issuer-missing",
        supplied(pki.authority("ES256").intermediate.encoded()),
        place="certificate 0",
        flags=[],
    )
    cases.valid(
        "intermediate-among-trust",
        "The intermediate stands among the trusted roots; it is used.",
        sample,
        values(),
        {"intermediates": None, "trust": [pki.pem(root) + pki.pem(intermediate)]},
        flags=[],
        importance="medium",
    )
    cases.valid(
        "intermediates-several",
        "The policy has the right intermediate among others.",
        sample,
        values(),
        supplied(forged[1], pki.authority("ES256").intermediate.encoded(), intermediate),
        flags=[],
    )
    cases.valid(
        "intermediate-twice",
        "The policy has the intermediate twice.",
        sample,
        values(),
        supplied(intermediate, intermediate),
        flags=[],
        importance="low",
    )
    cases.invalid(
        "intermediate-wrong",
        "The policy's intermediate has the right name and another key.",
        sample,
        "chain-untrusted",
        supplied(forged[1]),
        place="certificate 1",
    )
    cases.invalid(
        "foreign-leaf",
        "A stranger issued the leaf under the name of the intermediate.",
        receipt(of=foreign).text(),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    own = of.leaf.but(issuer=of.leaf.subject, issuer_key=of.leaf.key)
    cases.invalid(
        "self-signed",
        "The leaf issued itself.",
        receipt(of=of.but(leaf={"issuer": own.issuer, "issuer_key": own.key})).text(),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    named = of.but(leaf={"issuer_key": of.leaf.key})
    cases.invalid(
        "signed-by-itself",
        "The leaf names the intermediate as its issuer, and its own key signed it.",
        receipt(of=named).text(),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    two = of.but(leaf={"issuer": of.root.subject, "issuer_key": of.root.key})
    cases.invalid(
        "of-two",
        "The root itself issued the leaf.",
        receipt(of=two).text(),
        "chain-length",
        place="certificate 0",
        importance="critical",
    )
    four, second = of.with_second_intermediate()
    cases.invalid(
        "of-four",
        "There are two intermediates, one below the other.",
        receipt(of=four).text(),
        "chain-length",
        supplied(cms.encoded(second), cms.encoded(four.intermediate)),
        place="certificate 1",
        importance="critical",
    )
    other_root = pki.pem(pki.authority("ES256").root.encoded())
    cases.invalid(
        "policy-trusts-other-root",
        "The policy trusts another root.",
        sample,
        "chain-untrusted",
        {"trust": [other_root]},
        place="certificate 1",
    )
    cases.invalid(
        "policy-trusts-same-name",
        "The policy trusts another root of the same name.",
        sample,
        "chain-untrusted",
        {"trust": [pki.pem(forged[2])]},
        place="certificate 1",
    )
    flipped = leaf[:-1] + bytes([leaf[-1] ^ 1])
    cases.invalid(
        "signature-of-leaf",
        "A bit of the signature of the leaf is flipped.",
        receipt(certificate=flipped).text(),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    exchanged = leaf.replace(keys.public(of.leaf.key), keys.public(keys.rsa_key("foreign")))
    cases.invalid(
        "leaf-key-exchanged",
        "The key in the leaf was exchanged after it was issued, and the new one signed.",
        receipt(certificate=exchanged, key=keys.rsa_key("foreign")).text(),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    sha1 = of.but(leaf={"algorithm": "rsa-sha1"}, intermediate={"algorithm": "rsa-sha1"})
    cases.valid(
        "signed-with-sha1",
        "Version 3; the leaf and the intermediate are signed with RSA and SHA-1.",
        receipt(of=sha1, version=3).text(),
        values(version=3),
        supplied(cms.encoded(sha1.intermediate)),
        flags=[],
    )
    cases.invalid(
        "signed-with-md5",
        "The leaf is signed with RSA and MD5.",
        receipt(of=of.but(leaf={"algorithm": "rsa-md5"})).text(),
        "unsupported-algorithm",
        place="certificate 0",
        importance="critical",
    )
    curve = of.but(leaf={"key": keys.elliptic("leaf")})
    cases.invalid(
        "leaf-p256",
        "The leaf's key is on P-256.",
        receipt(of=curve, signature=bytes(256)).text(),
        "unsupported-algorithm",
        place="certificate 0",
        importance="medium",
    )


def add_purposes(suite: Suite) -> None:
    cases = cases_of(suite, "purpose", PURPOSE)
    of = cms.authority()
    basic, usage, marker = of.leaf.extensions
    upper_basic, upper_usage, upper_marker = of.intermediate.extensions
    music_marker = pki.marker(plist.MUSIC_LEAF)
    for name, what, extensions in (
        ("leaf-without-marker", "The leaf lacks the marker of receipt signing.", (basic, usage)),
        ("leaf-with-other-marker", "The leaf has the marker of intermediates.", (basic, usage, upper_marker)),
        ("leaf-of-version-2", "Version 4, and the leaf has the marker of version 2.", (basic, usage, music_marker)),
        ("leaf-is-authority", "The leaf is an authority.", (pki.basic_constraints(True), pki.key_usage("1000011"), marker)),
        (
            "leaf-for-certificates",
            "The leaf's key may sign certificates and lists alone.",
            (basic, pki.key_usage("0000011"), marker),
        ),
    ):
        cases.invalid(
            name,
            what,
            receipt(of=of.but(leaf={"extensions": extensions})).text(),
            "certificate-purpose",
            place="certificate 0",
            importance="critical",
        )
    cases.invalid(
        "leaf-critical-extension",
        "The leaf has a critical extension that nobody knows.",
        receipt(of=of.but(leaf={"extensions": (basic, usage, marker, pki.extension("1.2.3.4", der.null(), True))})).text(),
        "chain-untrusted",
        place="certificate 0",
    )
    for name, what, extensions in (
        ("intermediate-without-marker", "The intermediate lacks its marker.", (upper_basic, upper_usage)),
        (
            "intermediate-of-version-2",
            "Version 4, and the intermediate has the marker of version 2.",
            (upper_basic, upper_usage, pki.marker(plist.MUSIC_INTERMEDIATE)),
        ),
        (
            "intermediate-not-authority",
            "The intermediate is no authority.",
            (pki.basic_constraints(False), upper_usage, upper_marker),
        ),
        (
            "intermediate-for-signatures",
            "The intermediate's key may not sign certificates.",
            (upper_basic, pki.key_usage("1"), upper_marker),
        ),
    ):
        changed = of.intermediate.but(extensions=extensions)
        cases.invalid(
            name,
            what,
            receipt().text(),
            "certificate-purpose",
            supplied(cms.encoded(changed)),
            place="certificate 1",
            importance="critical",
        )
    music = plist.music_store()
    store = supplied(cms.encoded(of.intermediate.but(serial=20)), cms.encoded(music.intermediate))
    cases.valid(
        "version-2-two-intermediates",
        "Version 2, under a policy with the intermediates of both kinds.",
        receipt(version=2).text(),
        values(version=2),
        store,
        flags=[],
    )
    short = of.but(leaf={"key": keys.rsa_key("short")})
    cases.invalid(
        "version-2-of-app-store",
        "Version 2, and the certificates have the markers of versions 3 and 4.",
        receipt(of=short, version=2).text(),
        "certificate-purpose",
        place="certificate 0",
        importance="critical",
    )


def add_validity(suite: Suite) -> None:
    cases = cases_of(suite, "validity", CHAIN_TIME)
    of = cms.authority()
    leaf, intermediate, root = cms.chain(of)

    def by_leaf(**members) -> str:
        return receipt(of=of.but(leaf=members)).text()

    cases.valid(
        "leaf-last-second",
        "The purchase date is the last second of the leaf's validity, which includes it.",
        by_leaf(not_after=BOUGHT),
        values(),
    )
    cases.valid(
        "leaf-first-second",
        "The purchase date is the first second of the leaf's validity.",
        by_leaf(not_before=BOUGHT),
        values(),
    )
    cases.valid(
        "leaf-expired-since",
        "The leaf has expired since; it was valid at the purchase date.",
        by_leaf(not_after=BOUGHT + 1000),
        values(),
    )
    cases.invalid(
        "leaf-expired",
        "The leaf expired a second before the purchase date.",
        by_leaf(not_after=BOUGHT - 1),
        "chain-expired",
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "leaf-not-yet-valid",
        "The leaf becomes valid a second after the purchase date.",
        by_leaf(not_before=BOUGHT + 1),
        "chain-expired",
        place="certificate 0",
        importance="critical",
    )
    old = cms.encoded(of.intermediate.but(serial=20, not_after=BOUGHT - 1000))
    new = cms.encoded(of.intermediate.but(serial=21, not_before=BOUGHT - 1000))
    late = cms.encoded(of.intermediate.but(serial=22, not_before=BOUGHT + 1000))
    sample = receipt().text()
    for name, certificates in (("old-first", (old, new)), ("new-first", (new, old)), ("three", (late, old, new))):
        cases.valid(
            f"two-intermediates-{name}",
            "The policy has several intermediates of one name and key; one of them was valid at the purchase date.",
            sample,
            values(),
            supplied(*certificates),
        )
    cases.invalid(
        "two-intermediates-none-valid",
        "The policy has two intermediates of one name and key; neither was valid at the purchase date.",
        sample,
        "chain-expired",
        supplied(old, late),
        place="certificate 1",
    )
    cases.invalid(
        "intermediate-expired",
        "The intermediate expired before the purchase date.",
        sample,
        "chain-expired",
        supplied(old),
        place="certificate 1",
        importance="critical",
    )
    restored = receipt(info({**plist.dates("original-purchase-date", pki.NOT_BEFORE - 86_400)})).text()
    cases.valid(
        "original-date-before-leaf",
        "The original purchase was before the leaf was issued; the purchase date counts.",
        restored,
        values(originalPurchaseDate="2019-12-31T00:00:00.000Z"),
        importance="medium",
    )


def add_time(suite: Suite) -> None:
    cases = cases_of(suite, "time")
    sample = receipt().text()
    evaluation = {"time": "evaluation"}
    for rule, policy in (("signing", {}), ("evaluation", evaluation)):
        cases.valid(
            f"{rule}-same-second",
            f"It is evaluated at the purchase date, with the certificates as of {rule}.",
            sample,
            values(),
            policy,
            time="2025-10-01T07:09:10Z",
        )
        cases.valid(
            f"{rule}-minute-before",
            f"It is evaluated sixty seconds before the purchase date, with the certificates as of {rule}.",
            sample,
            values(),
            policy,
            time="2025-10-01T07:08:10Z",
        )
        cases.invalid(
            f"{rule}-61-seconds-before",
            f"It was bought 61 seconds after the instant at which it is evaluated, with the certificates as of {rule}.",
            sample,
            "signed-in-future",
            policy,
            time="2025-10-01T07:08:09Z",
        )
    brief = receipt(of=cms.authority().but(leaf={"not_after": BOUGHT + 1000})).text()
    cases.invalid(
        "evaluation-expired",
        "The leaf had expired when it is evaluated, with the certificates as of then.",
        brief,
        "chain-expired",
        evaluation,
        place="certificate 0",
        flags=[CHAIN_TIME],
    )
    for name, time, accepted in (("at-limit", "2025-10-01T08:09:10Z", True), ("beyond", "2025-10-01T08:09:11Z", False)):
        policy = {**evaluation, "maximumAge": 3600}
        arguments = (f"maximum-age-{name}", f"It is evaluated at {time}; the policy allows an age of an hour.", sample)
        if accepted:
            cases.valid(*arguments, values(), policy, time=time)
        else:
            cases.invalid(*arguments, "too-old", policy, time=time)


def add_policies(suite: Suite) -> None:
    cases = cases_of(suite, "app")
    stated = receipt(info({"app-item-id": "1234567890"})).text()
    policy = {"appAppleId": 1_234_567_890}
    cases.valid("id", "It states the App Store ID that the policy names.", stated, values(), policy)
    cases.valid(
        "id-missing",
        "It states no App Store ID, as receipts of the sandbox.",
        receipt().text(),
        values(),
        policy,
        importance="medium",
    )
    cases.invalid("id-other", "It states another App Store ID.", stated, "wrong-app", {"appAppleId": 1}, importance="critical")
    wrapped = str(2**64 + 1_234_567_890)
    for name, text in (
        ("text", "abc"),
        ("longer", "12345678901"),
        ("negative", "-1234567890"),
        ("2-to-the-64", wrapped),
        ("2-to-the-32", str(2**32 + 1_234_567_890)),
        ("trailing", "1234567890x"),
    ):
        cases.invalid(
            f"id-{name}",
            f"It states the App Store ID {text!r}, which is not the one that the policy names.",
            receipt(info({"app-item-id": text})).text(),
            "wrong-app",
            policy,
        )
    item = receipt(info({"item-id": "1234567890", "app-item-id": "1"})).text()
    cases.invalid(
        "item-id", "The ID of the product is the accepted App Store ID, and that of the app another.", item, "wrong-app", policy
    )
    cases.valid(
        "any-bundle",
        "The policy accepts every app.",
        receipt(info({"bid": "com.example.other"})).text(),
        values(bundle="com.example.other"),
        {"bundleIds": None, "anyBundleId": True},
        importance="medium",
    )
    cases.valid(
        "one-of-two-bundles",
        "The policy accepts two apps, of which this is the second.",
        receipt().text(),
        values(),
        {"bundleIds": ["com.example.other", "com.example.app"]},
    )
    kinds = cases_of(suite, "kind")
    kinds.valid(
        "accepted",
        "The policy accepts transaction receipts alone.",
        receipt().text(),
        values(),
        {"kinds": ["transaction-receipt"]},
    )
    kinds.invalid(
        "refused", "The policy accepts app receipts alone.", receipt().text(), "wrong-kind", {"kinds": ["app-receipt"]}
    )


def add_device(suite: Suite) -> None:
    cases = cases_of(suite, "device", HASH)
    policy = {"deviceId": DEVICE}
    place = 'key "unique-vendor-identifier"'
    cases.valid("right", "It is of the device that the policy names.", receipt().text(), values(), policy)
    cases.valid(
        "hexadecimal",
        "The policy names the device in hexadecimal digits.",
        receipt().text(),
        values(),
        {"deviceId": DEVICE.replace("-", "")},
        importance="medium",
    )
    cases.valid(
        "lower-case",
        "The identifier in the receipt is in lower case.",
        receipt(info({"unique-vendor-identifier": DEVICE})).text(),
        values(),
        policy,
        importance="medium",
    )
    cases.invalid(
        "other",
        "It is of another device.",
        receipt().text(),
        "wrong-device",
        {"deviceId": OTHER_DEVICE},
        place=place,
        importance="critical",
    )
    cases.invalid(
        "missing",
        "It names no device.",
        receipt(info({"unique-vendor-identifier": None})).text(),
        "wrong-device",
        policy,
        importance="critical",
    )
    cases.invalid(
        "empty",
        "The identifier of the device is empty.",
        receipt(info({"unique-vendor-identifier": ""})).text(),
        "wrong-device",
        policy,
        place=place,
        importance="critical",
    )
    cases.invalid(
        "prefix",
        "The identifier in the receipt is the beginning of the device's.",
        receipt(info({"unique-vendor-identifier": plist.VENDOR[:18]})).text(),
        "wrong-device",
        policy,
        place=place,
        importance="critical",
    )
    cases.invalid(
        "outside",
        "The device stands in the outer list, which nobody signed, and another in purchase-info.",
        receipt(info({"unique-vendor-identifier": OTHER_DEVICE.upper()})).text(
            f'\t"unique-vendor-identifier" = "{plist.VENDOR}";\n'
        ),
        "wrong-device",
        policy,
        place=place,
        importance="critical",
    )
    udid = "0123456789abcdef0123456789abcdef01234567"
    unique = receipt(info({"unique-identifier": udid, "unique-vendor-identifier": None})).text()
    cases.invalid(
        "unique-identifier-alone",
        "It names a device by the unique-identifier of old systems alone, and the policy one of another form.",
        unique,
        "wrong-device",
        policy,
    )
