# SPDX-License-Identifier: Apache-2.0
"""Time and policy: the rules for the clock, the app, the environment, the device, the kind and the algorithm."""

import base64
import hashlib

import jws
import keys
import pki
import suite as suites
from jws import ABSENT, APP, BUNDLE, DEVICE, NONCE, OTHER_BUNDLE, SIGNED, Cases, for_kinds, moment
from pki import basic_constraints, key_usage

from cases.jws_chains import with_intermediate, with_leaf

TIME = suites.flag(
    "Time", "The receipt says that it was signed at a time that is missing, in the future or long ago.",
    "A key that leaked signs receipts with any date, and old receipts are shown again.",
)  # fmt: skip
OTHER_APP = suites.flag(
    "OtherApp", "The receipt is of another app.", "A cheap purchase in one app unlocks another.",
    "https://developer.apple.com/documentation/appstoreserverapi/bundleid",
)  # fmt: skip
ENVIRONMENT = suites.flag(
    "Environment", "The receipt is of an environment that the policy does not accept.",
    "Purchases of the sandbox cost nothing.", "https://developer.apple.com/documentation/appstoreserverapi/environment",
)  # fmt: skip
TEST_DATA = suites.flag(
    "TestData", "The receipt is signed by Xcode, with a certificate that every developer can make.",
    "Anybody with Xcode makes any receipt.",
    "https://developer.apple.com/documentation/xcode/setting-up-storekit-testing-in-xcode",
)  # fmt: skip
OTHER_DEVICE = suites.flag(
    "OtherDevice", "The receipt is bound to another device, or to none.", "One purchase unlocks the app on any device.",
    "https://developer.apple.com/documentation/storekit/transaction/deviceverification",
)  # fmt: skip
CONFUSION = suites.flag(
    "KindConfusion", "A genuine receipt of another kind stands where one kind is accepted.",
    "What everybody has, such as an app transaction, is taken for a purchase.",
)  # fmt: skip


def add(suite: suites.Suite) -> None:
    for cases in for_kinds(suite):
        add_times(cases)
        add_environments(cases)
        add_kinds(cases)
    (transactions,) = for_kinds(suite, "signed-transaction")
    add_clock(transactions)
    add_dates(transactions)
    add_algorithms(transactions)
    add_standing(transactions)
    for cases in for_kinds(suite, "signed-transaction", "signed-app-transaction", "signed-notification"):
        add_bundles(cases)
    for cases in for_kinds(suite, "signed-app-transaction", "signed-notification", "signed-realtime-request"):
        add_apps(cases)
    for cases in for_kinds(suite, "signed-transaction", "signed-app-transaction"):
        add_devices(cases)
    for cases in for_kinds(suite, "signed-renewal-info", "signed-notification", "signed-realtime-request"):
        cases.refuse("device::unbound", "It is bound to no device, under a policy that names one.",
                     jws.compact(cases.kind.sample), "wrong-device", policy={"deviceId": DEVICE}, importance="medium",
                     flags=[OTHER_DEVICE])  # fmt: skip
    for cases in for_kinds(suite, "signed-transaction", "signed-renewal-info", "signed-app-transaction"):
        add_test_data(cases)


EVALUATION = {"time": "evaluation"}


def add_times(cases: Cases) -> None:
    kind, token = cases.kind, jws.compact(cases.kind.sample)
    cases.refuse("time::signed-in-future", "It was signed two minutes after the clock.", token, "signed-in-future",
                 time=moment(-120), flags=[TIME])  # fmt: skip
    cases.accept("time::within-skew", "It was signed 59 seconds after the clock, which may be a minute slow.",
                 time=moment(-59), flags=[TIME])  # fmt: skip
    cases.refuse("time::too-old", "It was signed two hours before the clock, with an hour allowed.", token, "too-old",
                 time=moment(7200), policy={"maximumAge": 3600}, flags=[TIME])  # fmt: skip
    cases.accept("time::young-enough", "It was signed half an hour before the clock, with an hour allowed.",
                 time=moment(1800), policy={"maximumAge": 3600}, flags=[TIME])  # fmt: skip
    cases.refuse("time::after-chain", "The certificates have expired by the clock, at which they must be valid.", token,
                 "chain-expired", "certificate 0", time="2070-01-01T00:00:00Z", policy=EVALUATION, flags=[TIME])  # fmt: skip
    cases.accept("time::after-chain-at-signing",
                 "The certificates have expired by the clock, and were valid when it was signed.",
                 time="2070-01-01T00:00:00Z", flags=[TIME])  # fmt: skip
    old = kind.with_date((pki.NOT_BEFORE - 1) * 1000)
    cases.refuse("time::before-chain", "It was signed a second before the certificates became valid.", jws.compact(old),
                 "chain-expired", "certificate 0", flags=[TIME])  # fmt: skip
    cases.accept("time::before-chain-evaluated",
                 "It was signed a second before the certificates became valid, and they must be "
                 "valid by the clock.", old, policy=EVALUATION, flags=[TIME], importance="medium")  # fmt: skip
    cases.refuse("time::zero", "It was signed at 0, which is the beginning of 1970.", jws.compact(kind.with_date(0)),
                 "chain-expired", "certificate 0", flags=[TIME])  # fmt: skip
    if kind.is_complete:
        return
    undated = kind.with_date(ABSENT)
    cases.leave("time::missing", "It does not say when it was signed, and the time rule needs that.", jws.compact(undated),
                "signing-time-missing", flags=[TIME])  # fmt: skip
    cases.accept("time::missing-evaluated", "It does not say when it was signed; the certificates must be valid by the clock.",
                 undated, policy=EVALUATION, flags=[TIME], importance="medium")  # fmt: skip
    cases.leave("time::missing-with-age", "It does not say when it was signed, and the policy has a maximum age.",
                jws.compact(undated), "signing-time-missing", policy={**EVALUATION, "maximumAge": 3600},
                flags=[TIME])  # fmt: skip
    cases.leave("time::null", "Its signing date is null.", jws.compact(kind.with_date(None)), "signing-time-missing",
                importance="medium", flags=[TIME])  # fmt: skip


def add_clock(cases: Cases) -> None:
    token = jws.compact(cases.kind.sample)
    skews = [
        ("skew-reached", "It was signed a minute after the clock, which is the skew that is allowed.", -60, None, True),
        ("skew-exceeded", "It was signed 61 seconds after the clock.", -61, None, False),
        ("skew-exceeded-millisecond", "It was signed a minute and a millisecond after the clock.", -60.001, None, False),
        ("no-skew-same", "It was signed at the very time of the clock, with no skew allowed.", 0, 0, True),
        ("no-skew-millisecond", "It was signed a millisecond after the clock, with no skew allowed.", -0.001, 0, False),
        ("long-skew", "It was signed 299 seconds after the clock, with 300 allowed.", -299, 300, True),
        ("long-skew-exceeded", "It was signed 301 seconds after the clock, with 300 allowed.", -301, 300, False),
        ("year-in-future", "It was signed a year after the clock.", -31_536_000, None, False),
    ]
    for name, text, offset, skew, is_valid in skews:
        options = {"time": moment(offset), "policy": {} if skew is None else {"allowedClockSkew": skew}, "flags": [TIME]}
        if is_valid:
            cases.accept(f"time::{name}", text, **options)
        else:
            cases.refuse(f"time::{name}", text, token, "signed-in-future", **options)
    for name, text, age, is_valid in [
        ("age-reached", "It was signed an hour before the clock, which is the age that is allowed.", 3600, True),
        ("age-exceeded", "It was signed an hour and a second before the clock, with an hour allowed.", 3601, False),
        (
            "age-exceeded-millisecond",
            "It was signed an hour and a millisecond before the clock, with an hour allowed.",
            3600.001,
            False,
        ),
    ]:
        options = {"time": moment(age), "policy": {"maximumAge": 3600}, "flags": [TIME]}
        if is_valid:
            cases.accept(f"time::{name}", text, **options)
        else:
            cases.refuse(f"time::{name}", text, token, "too-old", **options)
    cases.refuse("time::future-and-evaluated", "It was signed two minutes after the clock, at which the certificates must be "
                 "valid.", token, "signed-in-future", time=moment(-120), policy=EVALUATION, flags=[TIME])  # fmt: skip
    hour_after = pki.SIGNED + 3600
    for name, text, authority, place in [
        ("leaf", "The leaf has expired since it signed.", with_leaf(not_after=hour_after - 1), 0),
        ("intermediate", "The intermediate has expired since the leaf signed.", with_intermediate(not_after=hour_after - 1), 1),
    ]:
        receipt = jws.of(authority, cases.kind.sample)
        cases.accept(f"time::{name}-expired-since", f"{text[:-1]}; it must be valid at that time.", receipt=receipt,
                     time=moment(3600), flags=[TIME])  # fmt: skip
        cases.refuse(f"time::{name}-expired-evaluated", f"{text[:-1]}; it must be valid by the clock.", receipt,
                     "chain-expired",
                     f"certificate {place}", time=moment(3600), policy=EVALUATION, flags=[TIME])  # fmt: skip
    last = jws.of(with_leaf(not_after=hour_after), cases.kind.sample)
    cases.accept("time::last-second-evaluated", "The clock shows the leaf's last second, and it must be valid by the clock.",
                 receipt=last, time=moment(3600), policy=EVALUATION, flags=[TIME])  # fmt: skip
    cases.refuse("time::second-after-evaluated",
                 "The clock shows the second after the leaf's last, and it must be valid by the "
                 "clock.", last, "chain-expired", "certificate 0", time=moment(3601), policy=EVALUATION,
                 flags=[TIME])  # fmt: skip
    unborn = jws.of(with_leaf(not_before=hour_after), cases.kind.sample)
    cases.refuse("time::not-yet-valid-evaluated", "The leaf becomes valid a second after the clock, at which it must be valid.",
                 unborn, "chain-expired", "certificate 0", time=moment(3599), policy=EVALUATION, flags=[TIME])  # fmt: skip
    cases.accept("time::valid-since-evaluated", "The leaf becomes valid at the second of the clock, long after it signed, and "
                 "must be valid by the clock.", receipt=unborn, time=moment(3600), policy=EVALUATION, flags=[TIME])  # fmt: skip


def add_dates(cases: Cases) -> None:
    expired, future = "chain-expired", "signed-in-future"
    for name, text, value, reason in [
        ("negative", "Its signing date is -1, in 1969.", -1, expired),
        ("negative-zero", "Its signing date is -0.", -0.0, expired),
        ("far-past", "Its signing date is in the year -1.", -62_198_755_200_000, expired),
        ("unset", "Its signing date is that which Xcode writes for none, in the year 1.", -62_135_769_600_000, expired),
        ("seconds", "Its signing date is in seconds in place of milliseconds, and so in 1970.", pki.SIGNED, expired),
        ("microseconds", "Its signing date is in microseconds in place of milliseconds.", SIGNED * 1000, future),
        ("year-10000", "Its signing date is in the year 10000.", 253_402_300_800_000, future),
        ("32-bits", "Its signing date has 32 bits set, as milliseconds of 1970.", (1 << 32) - 1, expired),
    ]:
        place = "certificate 0" if reason == expired else None
        cases.refuse(f"date::{name}", text, jws.compact(cases.kind.with_date(value)), reason, place, flags=[TIME])
    for name, text, value in [
        ("63-bits", "Its signing date is the greatest integer of 64 bits.", str((1 << 63) - 1)),
        ("64-bits", "Its signing date needs 65 bits.", str(1 << 64)),
        ("wraps-to-signing", "Its signing date becomes the right one where 64 bits overflow.", str((1 << 64) + SIGNED)),
        ("huge-exponent", "Its signing date is 1e300.", "1e300"),
        ("beyond-floating-point", "Its signing date exceeds floating point.", "1e999"),
        ("negative-infinity", "Its signing date exceeds floating point below zero.", "-1e999"),
        ("many-digits", "Its signing date has 400 digits.", "9" * 400),
    ]:
        payload = jws.member(cases.kind.with_date(0)).replace('"signedDate":0', f'"signedDate":{value}')
        cases.refuse(f"date::{name}", text, jws.compact(payload), "malformed", "$.signedDate", flags=[TIME],
                     importance="medium")  # fmt: skip
    for name, text, value in [
        ("fraction", "Its signing date has a fraction of a millisecond, as Xcode writes it.", f"{SIGNED}.75"),
        ("decimal-zero", "Its signing date has a decimal point and a zero.", f"{SIGNED}.0"),
        ("exponent", "Its signing date has an exponent.", "1759302552e3"),
        ("exponent-and-fraction", "Its signing date is in the form in which Java writes numbers.", "1.759302552E12"),
    ]:
        payload = jws.member(cases.kind.with_date(0)).replace('"signedDate":0', f'"signedDate":{value}')
        if name.startswith("exponent"):
            cases.either(f"date::{name}", f"{text[:-1]}, which is the same number.", jws.compact(payload), flags=[TIME])
        else:
            cases.accept(f"date::{name}", text, receipt=jws.compact(payload), importance="medium", flags=[TIME])


def add_algorithms(cases: Cases) -> None:
    cases.accept("policy::algorithm", "The policy accepts ES256 alone.", policy={"algorithms": ["ES256"]}, importance="medium")
    cases.refuse("policy::other-algorithm", "The policy accepts RSA with SHA-256 alone.", jws.compact(cases.kind.sample),
                 "unsupported-algorithm", policy={"algorithms": ["RSA-SHA256"]}, importance="medium")  # fmt: skip
    limit = len(jws.compact(cases.kind.sample))
    cases.accept("policy::byte-count-reached", "It has as many bytes as the policy allows.", policy={"maximumByteCount": limit},
                 importance="medium")  # fmt: skip
    cases.refuse("policy::byte-count-exceeded", "It has a byte more than the policy allows.", jws.compact(cases.kind.sample),
                 "malformed", policy={"maximumByteCount": limit - 1}, importance="medium")  # fmt: skip
    cases.accept("policy::any-bundle", "The policy accepts receipts of any app.",
                 policy={"bundleIds": None, "anyBundleId": True}, importance="low")  # fmt: skip
    other = {"markers": [{"leaf": "1.2.3.4", "intermediate": "1.2.3.5"}]}
    marked = jws.authority().but(
        leaf={"extensions": (basic_constraints(False), key_usage("1"), pki.marker("1.2.3.4"))},
        intermediate={"extensions": (basic_constraints(True, 0), key_usage("0000011"), pki.marker("1.2.3.5"))},
    )
    cases.accept("policy::other-markers", "The policy names other markers, which the certificates have.",
                 receipt=jws.of(marked, cases.kind.sample), policy=other, importance="low")  # fmt: skip
    cases.refuse("policy::apple-markers-not-accepted", "The policy names other markers, and the certificates have Apple's.",
                 jws.compact(cases.kind.sample), "certificate-purpose", "certificate 0", policy=other,
                 importance="medium")  # fmt: skip
    pairs = {"markers": [*other["markers"], {"leaf": pki.LEAF_MARKER, "intermediate": pki.INTERMEDIATE_MARKER}]}
    cases.accept("policy::second-markers", "The policy names two pairs of markers, and the certificates have the second.",
                 policy=pairs, importance="low")  # fmt: skip
    mixed = jws.authority().but(leaf=dict(extensions=marked.leaf.extensions))
    cases.refuse("policy::markers-of-two-pairs", "The policy names two pairs of markers; the leaf has that of one, the "
                 "intermediate that of the other.", jws.of(mixed, cases.kind.sample), "certificate-purpose", "certificate 1",
                 policy=pairs, importance="high")  # fmt: skip


def add_standing(cases: Cases) -> None:
    current = {"requireCurrent": True}
    until_expiry = (jws.EXPIRES - SIGNED) / 1000
    once = {
        "expiresDate": ABSENT,
        "type": "Non-Consumable",
        "subscriptionGroupIdentifier": ABSENT,
        "webOrderLineItemId": ABSENT,
    }
    revoked = {"revocationDate": SIGNED - 1000, "revocationReason": 0}
    for name, text, changes, offset in [
        ("active", "The subscription has not ended by the clock, and the policy demands that.", {}, 3600),
        ("active-to-the-end", "The subscription ends a second after the clock, and the policy demands that it has not ended.",
         {},
         until_expiry - 1),
        ("non-consumable", "A non-consumable does not end, and the policy demands that it has not ended.", once, 86_400_000),
    ]:  # fmt: skip
        cases.accept(f"require-current::{name}", text, cases.kind.payload(changes), policy=current, time=moment(offset),
                     importance="medium", features=["standing"])  # fmt: skip
    for name, text, changes, offset in [
        ("expired", "The subscription ended a second before the clock, and the policy demands that it has not.", {},
         until_expiry + 1),
        ("refunded", "The subscription was refunded, and the policy demands that it stands.", revoked, 3600),
        ("refunded-non-consumable", "A non-consumable was refunded, and the policy demands that it stands.",
         {**once, **revoked}, 3600),
    ]:  # fmt: skip
        cases.refuse(f"require-current::{name}", text, jws.compact(cases.kind.payload(changes)), "not-current", policy=current,
                     time=moment(offset), importance="medium", features=["standing"])  # fmt: skip


def add_bundles(cases: Cases) -> None:
    kind = cases.kind
    token = jws.compact(kind.sample)
    for name, text, accepted in [
        ("other", "The policy accepts another app alone.", OTHER_BUNDLE),
        ("prefix-of-policy", "The accepted identifier is the beginning of that of the receipt.", "com.example"),
        ("suffix-of-policy", "The accepted identifier is the end of that of the receipt.", "example.app"),
        ("wildcard-in-policy", "The accepted identifier has a star, which is no wildcard.", "com.example.*"),
        ("pattern-in-policy", "The accepted identifier is a regular expression, which it is not taken for.", "com.example..pp"),
        ("case-of-policy", "The accepted identifier has a capital.", "com.example.App"),
    ]:
        cases.refuse(f"bundle::{name}", text, token, "wrong-bundle", policy={"bundleIds": [accepted]}, importance="critical",
                     flags=[OTHER_APP])  # fmt: skip
    for name, text, stated in [
        ("prefix", "The receipt's identifier is the beginning of the accepted one.", "com.example"),
        ("suffix", "The receipt's identifier is the accepted one with a part more.", f"{BUNDLE}.evil"),
        ("case", "The receipt's identifier has a capital.", "com.example.App"),
        ("look-alike", "The receipt's identifier has a Cyrillic letter in place of a Latin one.", "com.example.\u0430pp"),
        ("full-width", "The receipt's identifier has a full-width letter.", "com.example.\uff41pp"),
        ("zero-width", "The receipt's identifier has a character without width.", "com.example.a\u200bpp"),
        ("nul", "The receipt's identifier is the accepted one, NUL, and more.", f"{BUNDLE}\0.evil"),
        ("nul-at-end", "The receipt's identifier is the accepted one and NUL.", f"{BUNDLE}\0"),
        ("trailing-space", "The receipt's identifier ends with a space.", f"{BUNDLE} "),
        ("leading-space", "The receipt's identifier begins with a space.", f" {BUNDLE}"),
        ("line-break", "The receipt's identifier ends with a line break.", f"{BUNDLE}\n"),
        ("second-line", "The receipt's identifier has the accepted one on its second line.", f"com.example.evil\n{BUNDLE}"),
        ("trailing-dot", "The receipt's identifier ends with a dot.", f"{BUNDLE}."),
        ("wildcard", "The receipt's identifier has a star, which is no wildcard.", "com.example.*"),
        ("list", "The receipt's identifier is a list with the accepted one.", f"com.example.evil,{BUNDLE}"),
        ("combining", "The receipt's identifier has a combining character, which some comparisons ignore.", f"{BUNDLE}\u0301"),
        ("empty", "The receipt's identifier is empty.", ""),
        ("missing", "The receipt has no identifier of an app.", ABSENT),
        ("null", "The receipt's identifier is null.", None),
    ]:  # fmt: skip
        importance = "medium" if stated in ("", None) or stated is ABSENT else "critical"
        cases.refuse(f"bundle::{name}", text, jws.compact(kind.payload({kind.bundle: stated})), "wrong-bundle",
                     importance=importance, flags=[OTHER_APP])  # fmt: skip
    accented = kind.payload({kind.bundle: "com.example.caf\u00e9"})
    cases.refuse("bundle::decomposed", "The accepted identifier is another sequence of characters for the same letters.",
                 jws.compact(accented), "wrong-bundle", policy={"bundleIds": ["com.example.cafe\u0301"]}, importance="medium",
                 flags=[OTHER_APP])  # fmt: skip
    cases.accept("bundle::not-ascii", "The identifier has a letter outside ASCII, like the accepted one.", accented,
                 policy={"bundleIds": ["com.example.caf\u00e9"]}, importance="low")  # fmt: skip
    cases.accept("bundle::second-of-policy", "The policy accepts two apps, and the receipt is of the second.",
                 policy={"bundleIds": [OTHER_BUNDLE, BUNDLE]})  # fmt: skip


def add_environments(cases: Cases) -> None:
    kind = cases.kind
    both = ["production", "sandbox"]
    app = {"appAppleId": APP} if kind.app else {}
    cases.accept("environment::production", "A production receipt under a policy that accepts production alone.",
                 kind.within("Production"), policy={"environments": ["production"], **app}, importance="critical")  # fmt: skip
    cases.accept("environment::production-of-both", "A production receipt under a policy that accepts the sandbox too.",
                 kind.within("Production"))  # fmt: skip
    cases.accept("environment::sandbox", "A sandbox receipt under a policy that accepts the sandbox alone.",
                 policy={"environments": ["sandbox"]}, importance="critical")  # fmt: skip
    refused = [
        ("sandbox-in-production", "Sandbox", ["production"]), ("production-in-sandbox", "Production", ["sandbox"]),
        ("xcode-of-app-store", "Xcode", both), ("local-testing-of-app-store", "LocalTesting", both),
        ("unknown", "Staging", both), ("unknown-in-production", "Staging", ["production"]), ("lower-case", "production", both),
        ("upper-case", "PRODUCTION", both), ("empty", "", both),
    ]  # fmt: skip
    if kind.name == "signed-transaction":
        refused += [
            ("sandbox-in-xcode", "Sandbox", ["xcode"]), ("production-in-xcode", "Production", ["xcode"]),
            ("production-in-local-testing", "Production", ["local-testing"]), ("sandbox-lower-case", "sandbox", ["sandbox"]),
            ("trailing-space", "Production ", both), ("nul", "Production\0", ["production"]),
             ("prefix", "Prod", ["production"]),
            ("with-suffix", "ProductionX", ["production"]), ("look-alike", "Pr\u043eduction", ["production"]),
            ("list", "Production,Sandbox", both),
        ]  # fmt: skip
    for name, stated, accepted in refused:
        policy = ", ".join(accepted)
        shown = stated.encode("unicode_escape").decode()
        cases.refuse(f"environment::{name}", f'It says "{shown}" under a policy that accepts {policy}.',
                     jws.compact(kind.within(stated)), "wrong-environment", policy={"environments": accepted},
                     importance="critical" if name == "sandbox-in-production" else "high", flags=[ENVIRONMENT])  # fmt: skip
    if kind.is_complete:
        return
    for name, value in [("unstated", ABSENT), ("null", None)]:
        silent = kind.within(value)
        text = f"It names no environment{': it is null' * (value is None)}"
        if value is None:
            cases.either(f"environment::{name}", f"{text}, which may mean that it is absent; production and sandbox are "
                         "accepted.", jws.compact(silent), flags=[ENVIRONMENT])  # fmt: skip
        else:
            cases.accept(f"environment::{name}", f"{text}; production and sandbox are accepted.", silent, importance="medium",
                         flags=[ENVIRONMENT])  # fmt: skip
        for word in both:
            cases.leave(f"environment::{name}-in-{word}", f"{text}, under a policy that accepts {word} alone.",
                        jws.compact(silent), "environment-unproven",
                        policy={"environments": [word]}, flags=[ENVIRONMENT])  # fmt: skip


def add_kinds(cases: Cases) -> None:
    only = {"kinds": [cases.kind.name]}
    cases.accept("kind::own", "The policy accepts this kind alone.", policy=only, importance="medium")
    for other in jws.KINDS:
        if other is not cases.kind:
            word = other.name.removeprefix("signed-")
            cases.refuse(f"kind::{word}", f"{other.article} under a policy that accepts {cases.kind.name} alone.",
                         jws.compact(other.sample), "wrong-kind", policy=only, importance="critical",
                         flags=[CONFUSION])  # fmt: skip


def add_apps(cases: Cases) -> None:
    kind = cases.kind
    policy = {"appAppleId": APP}
    cases.accept("app::right", "The receipt states the policy's app.", policy=policy)
    production = {"appAppleId": APP, "environments": ["production"]}
    for name, text, stated in [
        ("other", "A production receipt states another app.", 1), ("zero", "A production receipt states app 0.", 0),
        ("negative", "A production receipt states the negative of the app's number.", -APP),
        ("plus-one", "A production receipt states a number that is one more.", APP + 1),
        ("wraps", "A production receipt states a number that is the app's in 32 bits alone.", APP + (1 << 32)),
        ("as-floating-point", "A production receipt states a number that is the policy's in floating point alone.",
         (1 << 53) + 1),
    ]:  # fmt: skip
        required = {**production, "appAppleId": 1 << 53} if name == "as-floating-point" else production
        payload = kind.payload({kind.environment: "Production", kind.app: stated})
        cases.refuse(f"app::{name}", text, jws.compact(payload), "wrong-app", policy=required, importance="critical",
                     flags=[OTHER_APP])  # fmt: skip
    cases.either("app::other-in-sandbox", "A sandbox receipt states another app; Apple's libraries look at it in production "
                 "alone.", jws.compact(kind.payload({kind.app: 1})), policy=policy, importance="medium",
                 flags=[OTHER_APP])  # fmt: skip
    if kind.is_complete:
        return
    for name, value in [("missing", ABSENT), ("null", None)]:
        stated = kind.payload({kind.environment: "Production", kind.app: value})
        cases.refuse(f"app::{name}", f"A production receipt must state the app; this one's is {name}.", jws.compact(stated),
                     "wrong-app", policy=production, flags=[OTHER_APP])  # fmt: skip
    cases.accept("app::missing-in-sandbox", "A sandbox receipt states no app, as the sandbox does not know it always.",
                 kind.payload({kind.app: ABSENT}), policy=policy)  # fmt: skip
    cases.accept("app::zero-in-sandbox", "A sandbox receipt states app 0, as the sandbox does.",
                 kind.payload({kind.app: 0}), policy=policy, importance="medium")  # fmt: skip


def verification(nonce: str, device: str, digest: str = "sha384") -> bytes:
    return hashlib.new(digest, (nonce + device).encode()).digest()


def add_devices(cases: Cases) -> None:
    kind = cases.kind
    policy = {"deviceId": DEVICE}
    right = verification(NONCE, DEVICE)
    text64 = suites.b64(right)

    def bound(value, nonce=NONCE) -> dict:
        return kind.payload({"deviceVerification": value, "deviceVerificationNonce": nonce})

    for name, text, payload, accepted in [
        ("right", "Bound to the device that the policy names.", bound(text64), policy),
        ("upper-case-policy", "Bound to the device that the policy names in capitals.", bound(text64),
         {"deviceId": DEVICE.upper()}),
        ("upper-case-nonce", "Bound to the device that the policy names; the nonce is written in capitals, and hashed in lower "
         "case.", bound(text64, NONCE.upper()), policy),
        ("not-asked", "Bound to a device, under a policy that names none.", bound(text64), {}),
    ]:  # fmt: skip
        cases.accept(f"device::{name}", text, payload, policy=accepted, importance="high" if name == "right" else "medium")
    other = "ffeeddcc-bbaa-9988-7766-554433221100"
    bound_place = "$.deviceVerification"
    cases.refuse("device::other", "Bound to another device than the policy names.", jws.compact(bound(text64)), "wrong-device",
                 bound_place, policy={"deviceId": other}, importance="critical", flags=[OTHER_DEVICE])  # fmt: skip
    for name, text, value, nonce in [
        ("upper-case-hash", "The hash is of the identifiers in capitals.",
         suites.b64(verification(NONCE.upper(), DEVICE.upper())),
         NONCE),
        ("upper-case-device-hash", "The hash is of the device's identifier in capitals.",
         suites.b64(verification(NONCE, DEVICE.upper())), NONCE),
        ("reversed", "The hash is of the device's identifier and then the nonce.", suites.b64(verification(DEVICE, NONCE)),
         NONCE),
        ("device-alone", "The hash is of the device's identifier alone.", suites.b64(verification("", DEVICE)), NONCE),
        ("of-bytes", "The hash is of the identifiers as bytes in place of text.", suites.b64(hashlib.sha384(
            bytes.fromhex((NONCE + DEVICE).replace("-", ""))).digest()), NONCE),
        ("other-nonce", "The nonce is not the one that was hashed.", text64, "0f8fad5b-d9cb-469f-a165-70867728950f"),
        ("sha256", "The hash is SHA-256.", suites.b64(verification(NONCE, DEVICE, "sha256")), NONCE),
        ("sha512", "The hash is SHA-512.", suites.b64(verification(NONCE, DEVICE, "sha512")), NONCE),
        ("truncated", "The hash lacks its last byte.", suites.b64(right[:-1]), NONCE),
        ("first-byte", "The hash is its first byte alone.", suites.b64(right[:1]), NONCE),
        ("trailing-byte", "A byte follows the hash.", suites.b64(right + b"\0"), NONCE),
        ("empty-hash", "The hash is empty.", "", NONCE),
        ("hexadecimal", "The hash is in hexadecimal.", right.hex(), NONCE),
        ("bit", "A bit of the hash is flipped.", suites.b64(right[:-1] + bytes([right[-1] ^ 1])), NONCE),
    ]:  # fmt: skip
        cases.refuse(f"device::{name}", text, jws.compact(bound(value, nonce)), "wrong-device", bound_place, policy=policy,
                     flags=[OTHER_DEVICE], importance="medium")  # fmt: skip
    loose = base64.urlsafe_b64encode(right).decode().rstrip("=")
    cases.either("device::base64url", "The hash is in base64url, and the store writes base64.", jws.compact(bound(loose)),
                 policy=policy, flags=[OTHER_DEVICE])  # fmt: skip
    for name, text, payload in [
        ("unbound", "It is bound to no device, under a policy that names one.", kind.sample),
        ("without-nonce", "The nonce is missing.", bound(text64, ABSENT)),
        ("without-hash", "The hash is missing.", bound(ABSENT)),
        ("null", "Hash and nonce are null.", bound(None, None)),
    ]:
        cases.refuse(f"device::{name}", text, jws.compact(payload), "wrong-device", policy=policy, flags=[OTHER_DEVICE],
                     importance="critical" if name == "unbound" else "medium")  # fmt: skip


def xcode_certificate(name: str = "xcode") -> pki.Template:
    """A certificate as Xcode makes it: self-signed, of a year."""
    key, subject = keys.elliptic(name), pki.name("StoreKit Testing in Xcode", "StoreKit Testing in Xcode")
    return pki.Template(
        subject, subject, 1, key, key, "ecdsa-sha256", (basic_constraints(False), key_usage("1")),
        not_before=pki.SIGNED - 86_400, not_after=pki.SIGNED + 364 * 86_400,
    )  # fmt: skip


def xcode_signed(payload, certificate: pki.Template, key=None) -> str:
    head = jws.header([certificate.encoded()], kid="Apple_Xcode_Key", typ="JWT")
    return jws.compact(payload, head, key or certificate.key)


def add_test_data(cases: Cases) -> None:
    kind, own, other = cases.kind, xcode_certificate(), xcode_certificate("another xcode")
    changes = {kind.environment: "Xcode"}
    if kind.app:
        changes[kind.app] = ABSENT
    payload = kind.payload(changes)
    token = xcode_signed(payload, own)
    pinned = {"xcodeCertificates": [pki.pem(own.encoded())], "environments": ["xcode"]}
    cases.accept(
        "xcode::pinned", "Xcode's test data, whose certificate the policy pins.", payload, receipt=token, policy=pinned
    )
    fractional = jws.changed(payload, {kind.date: jws.SIGNED + 0.25})
    cases.accept("xcode::fractional-date", "Xcode's test data with a fraction of a millisecond, as Xcode writes it.",
                 fractional,
                 receipt=xcode_signed(fractional, own), policy=pinned, importance="medium")  # fmt: skip
    cases.refuse("xcode::not-pinned", "Xcode's test data under a policy that accepts Xcode and pins nothing.", token,
                 "chain-length", "$.x5c of the JWS header", policy={"environments": ["xcode"]}, importance="critical",
                 flags=[TEST_DATA])  # fmt: skip
    cases.refuse("xcode::under-usual-policy", "Xcode's test data under a policy that does not accept it.", token,
                 "chain-length", "$.x5c of the JWS header", importance="critical", flags=[TEST_DATA])  # fmt: skip
    cases.refuse("xcode::another-pinned", "Xcode's test data, and the policy pins the certificate of another Xcode.", token,
                 "chain-length", "$.x5c of the JWS header", importance="critical", flags=[TEST_DATA],
                 policy={**pinned, "xcodeCertificates": [pki.pem(other.encoded())]})  # fmt: skip
    cases.refuse("xcode::other-key", "The header has the pinned certificate, and another key signed.",
                 xcode_signed(payload, own, other.key), "signature-mismatch", "JWS signature", importance="critical",
                 policy=pinned, flags=[TEST_DATA])  # fmt: skip
    for word in ("Production", "Sandbox"):
        claimed = kind.payload({**changes, kind.environment: word})
        cases.refuse(f"xcode::says-{word.lower()}", f"Test data that says {word}, signed with the pinned certificate of Xcode.",
                     xcode_signed(claimed, own), "chain-untrusted", "certificate 0", importance="critical",
                     policy={**pinned, "environments": ["production", "sandbox", "xcode"]}, flags=[TEST_DATA])  # fmt: skip
    silent = kind.payload({**changes, kind.environment: ABSENT})
    cases.refuse("xcode::says-nothing", "Test data that names no environment, signed with the pinned certificate of Xcode.",
                 xcode_signed(silent, own), "chain-untrusted", "certificate 0", importance="critical",
                 policy={**pinned, "environments": ["production", "sandbox", "xcode"]}, flags=[TEST_DATA])  # fmt: skip
    cases.refuse("xcode::environment-not-accepted", "Test data whose certificate is pinned, under a policy that accepts "
                 "production and sandbox.", token, "wrong-environment", importance="critical",
                 policy={**pinned, "environments": ["production", "sandbox"]}, flags=[TEST_DATA])  # fmt: skip
    late = kind.payload({**changes, kind.date: (own.not_after + 1) * 1000})
    cases.either("xcode::expired", "Test data signed a second after the pinned certificate expired; what is pinned need not be "
                 "judged by its dates.", xcode_signed(late, own), policy=pinned, time="2027-01-01T00:00:00Z",
                 flags=[TEST_DATA])  # fmt: skip
    three = jws.compact(payload, jws.header([own.encoded(), *jws.genuine_chain()[1:]]), own.key)
    cases.refuse("xcode::before-genuine-chain", "A self-signed certificate in front of the genuine intermediate and root.",
                 three,
                 "chain-untrusted", "certificate 0", policy={"environments": ["xcode", "production", "sandbox"]},
                 importance="critical", flags=[TEST_DATA])  # fmt: skip
