# SPDX-License-Identifier: Apache-2.0
"""App receipts that are signed rightly, under policies that accept them or do not."""

import hashlib

import cms
import pki
from cms import CHAIN_TIME, HASH, Cases, date, number, payload, receipt, text, values
from suite import Suite

OTHER_DEVICE = "ffeeddcc-bbaa-9988-7766-554433221100"
DEVICE = "00112233-4455-6677-8899-aabbccddeeff"


def add(suite: Suite) -> None:
    add_time(suite)
    add_app(suite)
    add_device(suite)
    add_kinds(suite)


def add_time(suite: Suite) -> None:
    cases = Cases(suite, "time")
    sample = receipt()
    evaluation = {"time": "evaluation"}
    for rule, policy in (("signing", {}), ("evaluation", evaluation)):
        for name, time, what in (
            ("same-second", "2025-10-01T07:09:12Z", "at the creation date"),
            ("minute-before", "2025-10-01T07:08:12Z", "sixty seconds before the creation date, which clocks may differ by"),
            ("years-after", "2045-01-01T00:00:00Z", "twenty years later"),
        ):
            cases.valid(
                f"{rule}-{name}",
                f"It is evaluated {what}, with the certificates as of {rule}.",
                sample,
                None,
                policy,
                time=time,
            )
        for name, time in (
            ("61-seconds-before", "2025-10-01T07:08:11Z"),
            ("two-minutes-before", "2025-10-01T07:07:12Z"),
            ("year-before", "2024-10-01T00:00:00Z"),
        ):
            cases.invalid(
                f"{rule}-{name}",
                f"It is evaluated {name.replace('-', ' ')} the creation date, with the certificates as of {rule}.",
                sample,
                "signed-in-future",
                policy,
                time=time,
            )
    cases.invalid(
        "no-skew",
        "It was created a second after the instant at which it is evaluated, and the policy allows no difference.",
        sample,
        "signed-in-future",
        {"allowedClockSkew": 0},
        time="2025-10-01T07:09:11Z",
    )
    cases.valid(
        "no-skew-same-second",
        "It was created at the instant at which it is evaluated, and the policy allows no difference.",
        sample,
        None,
        {"allowedClockSkew": 0},
        time="2025-10-01T07:09:12Z",
    )
    cases.valid(
        "wide-skew",
        "It was created five minutes after the instant at which it is evaluated, and the policy allows as much.",
        sample,
        None,
        {"allowedClockSkew": 300},
        time="2025-10-01T07:04:12Z",
    )
    cases.invalid(
        "far-future",
        "The creation date is in the year 9999.",
        receipt(payload({12: date("9999-12-31T23:59:59Z")})),
        "signed-in-future",
    )
    of = cms.authority()
    leaf = {"not_before": pki.SIGNED - 1000, "not_after": pki.SIGNED + 1000}
    brief = of.but(leaf=leaf)
    short = receipt(of=brief)
    for name, time, what in (
        ("evaluation-expired", "2025-10-01T07:25:53Z", "a second after the leaf expired"),
        ("evaluation-expired-long-ago", "2045-01-01T00:00:00Z", "years after the leaf expired"),
    ):
        cases.invalid(
            name,
            f"It is evaluated {what}, with the certificates as of then.",
            short,
            "chain-expired",
            evaluation,
            time=time,
            place="certificate 0",
            flags=[CHAIN_TIME],
        )
    cases.valid(
        "evaluation-last-second",
        "It is evaluated in the last second of the leaf, with the certificates as of then.",
        short,
        None,
        evaluation,
        time="2025-10-01T07:25:52Z",
        flags=[CHAIN_TIME],
    )
    cases.valid(
        "signing-expired",
        "It is evaluated after the leaf expired, with the certificates as of signing.",
        short,
        None,
        {"time": "signing"},
        time="2025-10-01T07:25:53Z",
        flags=[CHAIN_TIME],
    )
    later = receipt(of=of.but(leaf={"not_before": pki.SIGNED + 100}))
    cases.valid(
        "evaluation-since-valid",
        "The leaf was not yet valid at the creation date, and is when it is evaluated.",
        later,
        None,
        evaluation,
        flags=[CHAIN_TIME],
        importance="medium",
    )
    backdated = receipt(payload({12: date("2025-09-30T00:00:00Z")}), of=brief)
    cases.invalid(
        "backdated-before-leaf",
        "The creation date is before the leaf was issued.",
        backdated,
        "chain-expired",
        place="certificate 0",
        importance="critical",
        flags=[CHAIN_TIME],
    )
    for name, what, changes in (
        ("missing", "There is no creation date", {12: None}),
        ("empty", "The creation date is empty", {12: date("")}),
    ):
        without = receipt(payload(changes))
        cases.undetermined(
            f"date-{name}", f"{what}, and the time rule needs one.", without, "signing-time-missing", importance="critical"
        )
        cases.valid(
            f"date-{name}-evaluation",
            f"{what}; the certificates are judged when it is evaluated.",
            without,
            values(signed=None),
            evaluation,
            importance="medium",
        )
        cases.undetermined(
            f"date-{name}-maximum-age",
            f"{what}, and the policy limits the age.",
            without,
            "signing-time-missing",
            {**evaluation, "maximumAge": 3600},
        )
    for name, time, accepted in (
        ("at-limit", "2025-10-01T08:09:12Z", True),
        ("beyond", "2025-10-01T08:09:13Z", False),
        ("long-beyond", "2026-10-01T00:00:00Z", False),
    ):
        arguments = (f"maximum-age-{name}", f"It is evaluated at {time}; the policy allows an age of an hour.", sample)
        for rule in ("signing", "evaluation"):
            policy = {"maximumAge": 3600, "time": rule}
            named = (f"{arguments[0]}-{rule}", *arguments[1:])
            if accepted:
                cases.valid(*named, None, policy, time=time)
            else:
                cases.invalid(*named, "too-old", policy, time=time)


def add_app(suite: Suite) -> None:
    cases = Cases(suite, "app")
    sample = receipt()
    cases.invalid(
        "other-bundle",
        "It is a receipt of another app.",
        sample,
        "wrong-bundle",
        {"bundleIds": ["com.example.other"]},
        importance="critical",
    )
    cases.invalid(
        "bundle-begins-so",
        "The accepted identifier begins with that of the receipt.",
        sample,
        "wrong-bundle",
        {"bundleIds": ["com.example.app2"]},
        importance="critical",
    )
    cases.invalid(
        "bundle-ends-so",
        "The accepted identifier ends with that of the receipt.",
        sample,
        "wrong-bundle",
        {"bundleIds": ["x.com.example.app"]},
        importance="critical",
    )
    cases.invalid(
        "bundle-upper-case",
        "The accepted identifier is in upper case.",
        sample,
        "wrong-bundle",
        {"bundleIds": ["COM.EXAMPLE.APP"]},
    )
    cases.valid(
        "one-of-two-bundles",
        "The policy accepts two apps, of which this is the second.",
        sample,
        None,
        {"bundleIds": ["com.example.other", "com.example.app"]},
    )
    cases.valid(
        "any-bundle",
        "The policy accepts every app.",
        receipt(payload({2: text("com.example.other")})),
        values(bundle="com.example.other"),
        {"bundleIds": None, "anyBundleId": True},
        importance="medium",
    )
    policy = {"appAppleId": 1_234_567_890}
    production = {0: text("Production"), 1: number(1_234_567_890)}
    cases.valid(
        "id-production",
        "A production receipt states the App Store ID that the policy names.",
        receipt(payload(production)),
        values("production"),
        policy,
    )
    cases.invalid(
        "id-other",
        "A production receipt states another App Store ID.",
        receipt(payload({**production, 1: number(1_234_567_891)})),
        "wrong-app",
        policy,
        importance="critical",
    )
    cases.invalid(
        "id-missing-in-production",
        "A production receipt states no App Store ID.",
        receipt(payload({**production, 1: None})),
        "wrong-app",
        policy,
    )
    cases.invalid(
        "id-zero-in-production",
        "A production receipt states the App Store ID 0.",
        receipt(payload({**production, 1: number(0)})),
        "wrong-app",
        policy,
    )
    cases.invalid(
        "id-negative",
        "A production receipt states the App Store ID with the sign changed.",
        receipt(payload({**production, 1: number(-1_234_567_890)})),
        "wrong-app",
        policy,
    )
    cases.valid("id-zero-in-sandbox", "Receipts of the sandbox state the App Store ID 0.", sample, None, policy)
    cases.valid(
        "id-missing-in-sandbox",
        "A receipt of the sandbox states no App Store ID.",
        receipt(payload({1: None})),
        None,
        policy,
        importance="medium",
    )
    cases.invalid(
        "id-other-in-sandbox",
        "A receipt of the sandbox states another App Store ID.",
        receipt(payload({1: number(1)})),
        "wrong-app",
        policy,
    )
    cases.valid(
        "id-eight-octets",
        "The App Store ID needs eight octets, and the policy names it.",
        receipt(payload({**production, 1: number(2**62)})),
        values("production"),
        {"appAppleId": 2**62},
        importance="low",
    )


def add_device(suite: Suite) -> None:
    cases = Cases(suite, "device", HASH)
    policy = {"deviceId": DEVICE}
    bound = cms.bound()
    cases.valid("right", "It is bound to the device that the policy names.", receipt(payload(bound)), None, policy)
    cases.valid(
        "hexadecimal",
        "The policy names the device in hexadecimal digits.",
        receipt(payload(bound)),
        None,
        {"deviceId": DEVICE.replace("-", "")},
    )
    cases.valid(
        "upper-case",
        "The policy names the device in upper case.",
        receipt(payload(bound)),
        None,
        {"deviceId": DEVICE.upper()},
        importance="medium",
    )
    address = bytes.fromhex("001122334455")
    cases.valid(
        "macos",
        "It is bound to the six octets of a Mac's network address.",
        receipt(payload(cms.bound(address))),
        None,
        {"deviceId": address.hex()},
    )
    short = cms.bound(opaque=bytes(8))
    cases.valid(
        "opaque-8-octets",
        "The opaque value has eight octets, as Xcode's.",
        receipt(payload(short)),
        None,
        policy,
        importance="medium",
    )
    second = payload({5: bound[5]}, more=[cms.attribute(4, cms.OPAQUE, 2)])
    cases.valid("opaque-version-2", "The opaque attribute has the version 2, as the store's.", receipt(second), None, policy)
    cases.valid(
        "not-asked", "It is bound to a device, and the policy names none.", receipt(payload(cms.bound(bytes(16)))), flags=[]
    )
    wrong = {"place": "attribute 5", "importance": "critical"}
    cases.invalid(
        "other", "It is bound to another device.", receipt(payload(bound)), "wrong-device", {"deviceId": OTHER_DEVICE}, **wrong
    )
    cases.invalid("unbound", "It is bound to no device.", receipt(), "wrong-device", policy, **wrong)
    cases.invalid(
        "hash-missing",
        "It has the opaque value and no hash.",
        receipt(payload({4: cms.OPAQUE})),
        "wrong-device",
        policy,
        **wrong,
    )
    cases.invalid(
        "opaque-missing",
        "It has the hash and no opaque value.",
        receipt(payload({5: bound[5]})),
        "wrong-device",
        policy,
        **wrong,
    )
    device, opaque, bundle = cms.DEVICE, cms.OPAQUE, cms.FIELDS[2]
    bare = b"com.example.app"
    for name, what, value in (
        (
            "bare-bundle",
            "The hash is over the bundle identifier without its tag and length",
            hashlib.sha1(device + opaque + bare).digest(),
        ),
        ("without-bundle", "The hash is over device and opaque value alone", hashlib.sha1(device + opaque).digest()),
        (
            "other-order",
            "The hash is over opaque value, device and bundle identifier",
            hashlib.sha1(opaque + device + bundle).digest(),
        ),
        (
            "device-as-text",
            "The hash is over the device's UUID as a text",
            hashlib.sha1(DEVICE.encode() + opaque + bundle).digest(),
        ),
        ("sha256", "The hash is of SHA-256", hashlib.sha256(device + opaque + bundle).digest()),
        ("sha256-cut", "The hash is of SHA-256, cut to 20 octets", hashlib.sha256(device + opaque + bundle).digest()[:20]),
        ("hash-cut", "The hash lacks its last octet", bound[5][:-1]),
        ("hash-empty", "The hash is empty", b""),
        ("hash-longer", "An octet follows the hash", bound[5] + b"\0"),
        ("hash-in-octet-string", "The hash is in one more OCTET STRING", b"\x04\x14" + bound[5]),
        ("hash-bit", "A bit of the hash is flipped", bytes([bound[5][0] ^ 1]) + bound[5][1:]),
        ("other-bundle", "The hash is over another bundle identifier", cms.bound(bundle=text("com.example.other"))[5]),
        ("opaque-changed", "The hash is over another opaque value", cms.bound(opaque=bytes(16))[5]),
    ):
        cases.invalid(name, f"{what}.", receipt(payload({4: opaque, 5: value})), "wrong-device", policy, **wrong)
    moved = hashlib.sha1(device + opaque + bundle).digest()
    cases.invalid(
        "shifted",
        "The last octet of the device is the first of the opaque value: only the joined octets are equal.",
        receipt(payload({4: device[-1:] + opaque, 5: moved})),
        "wrong-device",
        policy,
        **wrong,
    )


def add_kinds(suite: Suite) -> None:
    cases = Cases(suite, "kind")
    sample = receipt()
    cases.valid("accepted", "The policy accepts app receipts alone.", sample, None, {"kinds": ["app-receipt"]})
    cases.valid(
        "accepted-among-others",
        "The policy accepts app receipts and signed transactions.",
        sample,
        None,
        {"kinds": ["signed-transaction", "app-receipt"]},
        importance="medium",
    )
    cases.invalid(
        "refused", "The policy accepts signed transactions alone.", sample, "wrong-kind", {"kinds": ["signed-transaction"]}
    )
    cases.invalid(
        "refused-transaction-receipt",
        "The policy accepts transaction receipts alone.",
        sample,
        "wrong-kind",
        {"kinds": ["transaction-receipt"]},
    )
    size = len(sample.encoded())
    cases.invalid(
        "too-long",
        "The policy reads fewer octets than the receipt has.",
        sample.encoded(),
        "malformed",
        {"maximumByteCount": size - 1},
        importance="medium",
    )
    cases.valid(
        "longest",
        "The policy reads as many octets as the receipt has.",
        sample.encoded(),
        None,
        {"maximumByteCount": size},
        importance="medium",
    )
