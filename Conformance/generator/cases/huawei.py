# SPDX-License-Identifier: Apache-2.0
"""Purchases of Huawei AppGallery."""

import hashlib
import json

import keys
import pki
from cases.google_play import (
    ALTERED, DIGEST, DUPLICATE, ENCODING, EXTREME, FOREIGN_KEY, NOT_JSON, PADDING, RESERIALIZED, SIGNATURE_SIZE, UNPAID,
    UNSIGNED, Cases, flipped, sha1,
)  # fmt: skip
from detached import (
    APP, DIGEST_PREFIXES, OTHER_APP, PURCHASED, app_key, envelope, huawei, huawei_values, padded, play, play_values, pretty,
    pss,
    raw, raw_text, rsa, signed,
)  # fmt: skip
from suite import Suite, b64, flag, json_bytes

KIND = "huawei-purchase"
SANDBOX = flag(
    "SandboxPurchase", "The purchase was made in the sandbox, where nothing is paid for.",
    "A test purchase, which costs nothing, is taken for a real one.",
    "https://developer.huawei.com/consumer/en/doc/HMSCore-References/json-inapppurchasedata-0000001050137635",
)  # fmt: skip
HOUR = 3_600_000


def genuine(data: dict | str | bytes, key: str = "app", algorithm: object = None) -> dict:
    return signed(data, key, "sha256", algorithm)


def add(suite: Suite) -> None:
    cases = Cases(suite, KIND, "huawei")
    for part in (
        valid_purchases, unpaid, algorithms, altered, other_keys, signatures, paddings, malformed_data, envelopes, environments,
        times, rules, other_store,
    ):  # fmt: skip
        part(cases)


def valid_purchases(cases: Cases) -> None:
    consumable = {
        "kind": 0, "autoRenewing": False, "productId": "com.example.app.coins", "subscriptionId": None, "expirationDate": None,
        "oriPurchaseTime": None, "subIsvalid": None,
    }  # fmt: skip
    escaped = json.dumps(huawei(), separators=(",", ":"))
    table = [
        ("subscription", "A subscription as Huawei signs it.", huawei(), None),
        ("consumable", "A consumable product.", huawei(**consumable), None),
        ("non-consumable", "A product that is bought once.", huawei(**(consumable | {"kind": 1})), None),
        ("kind-unknown", "A kind of product that nobody knows.", huawei(**(consumable | {"kind": 9})), None),
        ("kind-missing", "The kind of product is not stated.", huawei(**(consumable | {"kind": None})), None),
        ("real", "A real purchase, which states no type.", huawei(purchaseType=None), None),
        ("promotional", "A purchase for a promotional code is a real one.", huawei(purchaseType=1), None),
        ("confirmed", "A consumable that was delivered and used up.", huawei(**consumable, consumptionState=1, confirmed=1),
         None),
        ("price-text", "The price is a text, as some documents have it.", huawei(price="299"), None),
        ("price-missing", "There is no price.", huawei(price=None), None),
        ("product-name-ascii", "The name of the product is in ASCII.", huawei(productName="Monthly"), None),
        ("product-name-escaped", "The name of the product is in escapes.", huawei(), escaped),
        ("application-id-text", "The number of the app as text beside the number.",
         huawei(applicationIdString="100000001"), None),
        ("application-id-large", "The number of the app has 64 bits.", huawei(applicationId=2**63 - 1), None),
        ("time-in-milliseconds", "The date of purchase in the member of newer versions.",
         huawei(purchaseTime=None, purchaseTimeMillis=PURCHASED), None),
        ("both-times", "The date of purchase in both members.", huawei(purchaseTimeMillis=PURCHASED), None),
        ("replaced-subscription", "The subscription replaced another one.", huawei(oriSubscriptionId="sub-0"), None),
        ("account-flag", "The member for accounts of games has no effect.", huawei(accountFlag=1), None),
        ("payment", "The payment is named.", huawei(payOrderId="sandbox2025100101", payType="4"), None),
        ("grace", "The end of a grace period is stated.", huawei(graceExpirationTime=(pki.EXPIRES + 86_400) * 1000), None),
        ("challenge", "The app's text that tells requests apart.",
         huawei(developerChallenge="c-1", developerPayload="{\"a\":1}"),
         None),
        ("unknown-member", "A member that is not documented has no effect.", huawei(newMember={"a": [None, True]}), None),
        ("members-reversed", "The members stand in the reverse order.", dict(reversed(list(huawei().items()))), None),
        ("white-space", "White space between members, which was signed.", huawei(), pretty(huawei())),
        ("without-quantity", "The quantity is not stated.", huawei(quantity=None), None),
        ("without-token", "The token is not stated.", huawei(purchaseToken=None), None),
        ("without-order", "The order is not stated.", huawei(orderId=None), None),
        ("payload-long", "The app's text has 64 KiB.", huawei(developerPayload="x" * 65536), None),
    ]  # fmt: skip
    for name, description, purchase, text in table:
        cases.add(f"valid::{name}", description, genuine(text or purchase), "valid", values=huawei_values(purchase))
    for name, description, list_of_keys in (
        ("second-key", "The app has two keys, and the second one signed.", [app_key("other-app"), app_key()]),
        ("key-among-apps", "The policy names keys of several apps.", [app_key("other-app", OTHER_APP), app_key()]),
    ):
        cases.add(
            f"valid::{name}", description, genuine(huawei()), "valid", values=huawei_values(huawei()),
            policy={"huaweiKeys": list_of_keys},
        )  # fmt: skip


def unpaid(cases: Cases) -> None:
    table = [
        ("cancelled", "The purchase was cancelled: genuine, and no transaction.", 1),
        ("refunded", "The purchase was refunded: genuine, and no transaction.", 2),
        ("pending", "The purchase is not paid for yet: genuine, and no transaction.", 3),
        ("initialized", "The purchase has no state yet: genuine, and no transaction.", -(2**31)),
        ("unknown", "A payment state that nobody knows is none that was paid.", 9),
    ]
    for name, description, state in table:
        purchase = huawei(purchaseState=state)
        cases.add(
            f"unpaid::{name}", description, genuine(purchase), "valid", values=huawei_values(purchase), flags=[UNPAID],
            importance="critical",
        )  # fmt: skip


def algorithms(cases: Cases) -> None:
    key = keys.rsa_key("app")
    data = json_bytes(huawei())
    pkcs, good_pss = rsa(key, data, "sha256"), pss(key, data)
    for name, description, signature, stated, algorithm in (
        ("stated", "RSA with SHA-256 is stated beside the signature.", pkcs, "SHA256WithRSA", "RSA-SHA256"),
        ("stated-as-in-java", "RSA with SHA-256 is stated as Java writes it.", pkcs, "SHA256withRSA", "RSA-SHA256"),
        ("stated-empty", "An empty text is stated, which means RSA with SHA-256.", pkcs, "", "RSA-SHA256"),
        ("pss", "RSASSA-PSS is stated beside the signature.", good_pss, "SHA256WithRSA/PSS", "RSA-PSS-SHA256"),
    ):
        cases.add(
            f"algorithm::{name}", description, envelope(data, signature, stated), "valid",
            values=huawei_values(huawei(), algorithm),
        )  # fmt: skip
    members = {"data": data.decode(), "signature": b64(pkcs), "signatureAlgorithm": None}
    cases.add(
        "algorithm::stated-null", "Null is stated, which means RSA with SHA-256.", raw_text(json_bytes(members)), "valid",
        values=huawei_values(huawei()), importance="medium",
    )  # fmt: skip
    for name, stated, signature in (
        ("none", "none", b"\0"),
        ("sha1", "SHA1WithRSA", rsa(key, data, "sha1")),
        ("sha512", "SHA512WithRSA", rsa(key, data, "sha512")),
        ("md5", "MD5withRSA", rsa(key, data, "md5")),
        ("hmac", "HS256", bytes(32)),
        ("pss-sha1", "SHA1withRSA/PSS", pss(key, data, "sha1", "sha1", bytes(20))),
        ("ecdsa", "SHA256withECDSA", keys.sign(keys.elliptic("app"), data)),
        ("space-after", "SHA256WithRSA ", pkcs),
    ):
        cases.invalid(
            f"algorithm::{name}", f"The algorithm \"{stated}\" is stated, which Huawei does not use.",
            envelope(data, signature, stated), "unsupported-algorithm", "$.signatureAlgorithm", flags=[DIGEST],
            importance="critical",
        )  # fmt: skip
    for name, description, stated in (
        ("number", "The algorithm is a number.", 1),
        ("list", "The algorithm is a list.", ["SHA256WithRSA"]),
    ):
        cases.invalid(
            f"algorithm::{name}", description, envelope(data, pkcs, stated), "malformed", "$.signatureAlgorithm",
            flags=[NOT_JSON], importance="medium",
        )  # fmt: skip
    twice = json_bytes(members)[:-1].replace(b"null", b'"SHA256WithRSA"') + b',"signatureAlgorithm":"SHA256WithRSA/PSS"}'
    cases.invalid(
        "algorithm::twice", "Two algorithms are stated.", raw_text(twice), "malformed", "$.signatureAlgorithm",
        flags=[DUPLICATE], importance="medium",
    )  # fmt: skip
    for name, description, signature, stated in (
        ("pss-unstated", "RSASSA-PSS, which is not stated.", good_pss, None),
        ("pss-stated-otherwise", "RSASSA-PSS, and RSA with SHA-256 is stated.", good_pss, "SHA256WithRSA"),
        ("pss-stated-alone", "RSA with SHA-256, and RSASSA-PSS is stated.", pkcs, "SHA256WithRSA/PSS"),
        ("sha1-unstated", "RSA with SHA-1, which is not stated.", rsa(key, data, "sha1"), None),
        ("sha1-stated-otherwise", "RSA with SHA-1, and RSA with SHA-256 is stated.", rsa(key, data, "sha1"), "SHA256WithRSA"),
        ("sha512-unstated", "RSA with SHA-512, which is not stated.", rsa(key, data, "sha512"), None),
    ):
        cases.mismatch(f"algorithm::{name}", description, envelope(data, signature, stated), DIGEST)


def edited(*replacements: tuple[str, str], purchase: dict | None = None) -> dict:
    """Genuine data of which texts were replaced after it was signed."""
    data = json_bytes(purchase or huawei())
    signature = rsa(keys.rsa_key("app"), data, "sha256")
    for old, new in replacements:
        if old.encode() not in data:
            raise ValueError(f"{old} is not in the data")
        data = data.replace(old.encode(), new.encode())
    return envelope(data, signature)


def altered(cases: Cases) -> None:
    ends = str(pki.EXPIRES * 1000)
    table = [
        ("product", "Another product than was signed.", huawei(), ("app.monthly", "app.yearly")),
        ("expiry", "A later end of the subscription than was signed.", huawei(), (ends, str(pki.EXPIRES * 1000 + 1))),
        ("expiry-removed", "The end of the subscription was removed.", huawei(), (f",\"expirationDate\":{ends}", "")),
        ("sandbox-removed", "The type that makes it a test was removed.", huawei(), (",\"purchaseType\":0", "")),
        ("sandbox-to-promotional", "A test was edited to be a promotion.", huawei(),
         ("\"purchaseType\":0", "\"purchaseType\":1")),
        ("order", "Another order than was signed.", huawei(), ("20251001150910000example", "20251001150910001example")),
        ("pending-to-paid", "A pending purchase was edited to be paid for.", huawei(purchaseState=3),
         ("\"purchaseState\":3", "\"purchaseState\":0")),
        ("consumed-to-fresh", "A product that was used up was edited to be fresh.", huawei(consumptionState=1),
         ("\"consumptionState\":1", "\"consumptionState\":0")),
        ("package", "The purchase of another app, edited to name this one.", huawei(packageName=OTHER_APP), (OTHER_APP, APP)),
        ("member-added", "A member was added.", huawei(), ("{", "{\"confirmed\":0,")),
    ]  # fmt: skip
    for name, description, purchase, replacement in table:
        cases.mismatch(f"altered::{name}", description, edited(replacement, purchase=purchase), ALTERED)
    data = json_bytes(huawei())
    text, signature = data.decode(), rsa(keys.rsa_key("app"), data, "sha256")
    for name, description, changed in (
        ("white-space", "The same JSON value with white space.", pretty(huawei())),
        ("escaped-unicode", "Letters outside of ASCII as escapes.", json.dumps(huawei(), separators=(",", ":"))),
        ("members-sorted", "The members in the order of the alphabet.",
         json.dumps(huawei(), separators=(",", ":"), ensure_ascii=False, sort_keys=True)),
        ("trailing-newline", "A line end after the data.", text + "\n"),
        ("leading-byte-order-mark", "A byte order mark before the data.", "\ufeff" + text),
        ("decomposed", "An accent of its own instead of the letter with it.", text.replace("ü", "u\u0308")),
        ("number-as-text", "The number of the app became a text.",
         text.replace("\"applicationId\":100000001", "\"applicationIdString\":\"100000001\"")),
    ):  # fmt: skip
        cases.mismatch(f"reserialized::{name}", description, envelope(changed.encode(), signature), RESERIALIZED, "high")
    good_pss = pss(keys.rsa_key("app"), data)
    cases.mismatch(
        "reserialized::pss-trailing-newline", "A line end after data that was signed with RSASSA-PSS.",
        envelope(data + b"\n", good_pss, "SHA256WithRSA/PSS"), RESERIALIZED, "high",
    )  # fmt: skip


def other_keys(cases: Cases) -> None:
    two_apps = {"bundleIds": [APP, OTHER_APP], "huaweiKeys": [app_key(), app_key("other-app", OTHER_APP)]}
    cases.mismatch("key::foreign", "Signed by a key of nobody's.", genuine(huawei(), "foreign"), FOREIGN_KEY)
    cases.mismatch(
        "key::of-another-app", "The data names this app, and the key of another one signed it; the policy names both.",
        genuine(huawei(), "other-app"), FOREIGN_KEY, policy=two_apps,
    )  # fmt: skip
    cases.mismatch(
        "key::of-google", "The app has another key at Google, which signed what Huawei's key signs.",
        genuine(huawei(), "other-app"), FOREIGN_KEY, policy={"playKeys": [app_key("other-app")]},
    )  # fmt: skip
    for name, description, list_of_keys in (
        ("missing", "The policy names no key of the app, only one of another.", [app_key(package=OTHER_APP)]),
        ("none", "The policy names no keys.", []),
    ):
        cases.add(
            f"key::{name}", description, genuine(huawei()), "undetermined", reason="key-missing",
            policy={"huaweiKeys": list_of_keys}, importance="critical",
        )  # fmt: skip
    cases.invalid(
        "app::other", "A good purchase of an app that is not accepted.", genuine(huawei()), "wrong-bundle",
        policy={"bundleIds": [OTHER_APP]}, importance="critical",
    )  # fmt: skip


def signatures(cases: Cases) -> None:
    key = keys.rsa_key("app")
    data = json_bytes(huawei())
    good, good_pss = rsa(key, data, "sha256"), pss(key, data)
    table = [
        ("first-bit", "The first bit is another one.", flipped(good, 2047), None, ALTERED),
        ("last-bit", "The last bit is another one.", flipped(good, 0), None, ALTERED),
        ("zeros", "All bytes are 0.", bytes(256), None, ALTERED),
        ("last-byte-missing", "The last byte is missing: 255 bytes.", good[:-1], None, SIGNATURE_SIZE),
        ("zero-after", "A zero was put after it: 257 bytes.", good + b"\0", None, SIGNATURE_SIZE),
        ("zero-before", "A zero was put before it: 257 bytes.", b"\0" + good, None, SIGNATURE_SIZE),
        ("pss-bit", "A bit of a signature with RSASSA-PSS is another one.", flipped(good_pss, 99), "SHA256WithRSA/PSS",
         ALTERED),
        ("pss-last-byte-missing", "The last byte of a signature with RSASSA-PSS is missing.", good_pss[:-1],
         "SHA256WithRSA/PSS", SIGNATURE_SIZE),
    ]  # fmt: skip
    for name, description, signature, stated, mark in table:
        cases.mismatch(f"signature::{name}", description, envelope(data, signature, stated), mark)
    text = b64(good)
    for name, description, spelled in (
        ("line-end-after", "A line end after it.", text + "\n"),
        ("without-padding", "The equals signs are missing.", text.rstrip("=")),
        ("percent-encoded", "Percent-encoding, as of a URL.", text.replace("+", "%2B").replace("=", "%3D")),
    ):
        cases.invalid(
            f"signature-text::{name}", description, envelope(data, spelled), "malformed", "$.signature", flags=[ENCODING],
            importance="low",
        )  # fmt: skip


def paddings(cases: Cases) -> None:
    key = keys.rsa_key("app")
    data = json_bytes(huawei())
    content = DIGEST_PREFIXES["sha256"] + hashlib.sha256(data).digest()
    table = [
        ("garbage-at-end", "The padding is one byte short, and a byte follows the digest.", padded(content + b"\x00")),
        ("kind-2", "Block type 2, that of encryption.", padded(content, kind=2)),
        ("digest-of-sha1", "A digest of SHA-1 in the block.", padded(DIGEST_PREFIXES["sha1"] + sha1(data))),
    ]
    for name, description, block in table:
        cases.mismatch(f"padding::{name}", description, envelope(data, raw(key, block)), PADDING, "high")
    stated = "SHA256WithRSA/PSS"
    table = [
        ("pss-salt-empty", "RSASSA-PSS without salt.", pss(key, data, salt=b"")),
        ("pss-salt-20", "RSASSA-PSS with a salt of 20 bytes.", pss(key, data, salt=bytes(20))),
        ("pss-salt-longest", "RSASSA-PSS with the longest salt.", pss(key, data, salt=bytes(222))),
        ("pss-mask-sha1", "RSASSA-PSS with SHA-256, and a mask of SHA-1.", pss(key, data, mask_digest="sha1")),
        ("pss-sha1", "RSASSA-PSS with SHA-1.", pss(key, data, "sha1", "sha1", bytes(20))),
        ("pss-sha512", "RSASSA-PSS with SHA-512.", pss(key, data, "sha512", "sha512", bytes(32))),
        ("pss-trailer", "RSASSA-PSS with another last byte in the block.", pss(key, data, trailer=0xCC)),
    ]
    for name, description, signature in table:
        cases.mismatch(f"padding::{name}", description, envelope(data, signature, stated), PADDING, "medium")


def malformed_data(cases: Cases) -> None:
    compact = json_bytes(huawei()).decode()
    package = f'"packageName":"{APP}"'
    table = [
        ("cut-off", "The data ends in the midst of a member.", compact[:-20], "byte 481 of the data"),
        ("package-missing", "The data names no app.", compact.replace(package + ",", ""), "$.packageName"),
        ("package-empty", "The app's name is empty.", compact.replace(package, '"packageName":""'), "$.packageName"),
        ("package-number", "The app's name is a number.", compact.replace(package, '"packageName":1'), "$.packageName"),
        ("list", "The data is a list.", f"[{compact}]", "$"),
    ]
    for name, description, text, place in table:
        cases.invalid(f"data::{name}", description, genuine(text), "malformed", place, flags=[NOT_JSON], importance="medium")
    for name, description, member, repeated in (
        ("package-twice", "The app's name occurs twice.", package, f"{package},\"packageName\":\"{OTHER_APP}\""),
        ("type-twice", "The type occurs twice: a test, and a promotion.", "\"purchaseType\":0",
         "\"purchaseType\":0,\"purchaseType\":1"),
        ("state-twice", "The payment state occurs twice: pending and paid.", "\"purchaseState\":0",
         "\"purchaseState\":3,\"purchaseState\":0"),
    ):  # fmt: skip
        place = "$." + member.split('"')[1]
        cases.invalid(
            f"data::{name}", description, genuine(compact.replace(member, repeated)), "malformed", place, flags=[DUPLICATE],
            policy={"bundleIds": [APP, OTHER_APP]},
        )  # fmt: skip
    for name, description, old, new in (
        ("type-text", "The type is a text.", "\"purchaseType\":0", "\"purchaseType\":\"0\""),
        ("kind-text", "The kind of product is a text.", "\"kind\":2", "\"kind\":\"2\""),
        ("price-object", "The price is an object.", "\"price\":299", "\"price\":{}"),
        ("expiry-text", "The end of the subscription is a text.", f"\"expirationDate\":{pki.EXPIRES * 1000}",
         f"\"expirationDate\":\"{pki.EXPIRES * 1000}\""),
        ("application-id-beyond-64-bits", "The number of the app does not fit 64 bits.", "100000001,", f"{2**64},"),
    ):  # fmt: skip
        cases.either(f"data::{name}", description, genuine(compact.replace(old, new, 1)), EXTREME)


def envelopes(cases: Cases) -> None:
    data = json_bytes(huawei())
    text, good = data.decode(), b64(rsa(keys.rsa_key("app"), data, "sha256"))
    cases.invalid(
        "unsigned::empty", "The signature is empty.", raw_text(json_bytes({"data": text, "signature": ""})), "unsigned",
        "$.signature", flags=[UNSIGNED], importance="critical",
    )  # fmt: skip
    cases.invalid(
        "envelope::signature-missing", "There is no member for the signature.", raw_text(json_bytes({"data": text})),
        "malformed", "$.signature", flags=[UNSIGNED], importance="critical",
    )  # fmt: skip
    cases.invalid(
        "envelope::data-object", "The data is an object, and no longer the text that was signed.",
        raw_text(json_bytes({"data": huawei(), "signature": good})), "malformed", "$.data", flags=[RESERIALIZED],
        importance="medium",
    )  # fmt: skip


def environments(cases: Cases) -> None:
    real, test, unknown = huawei(purchaseType=None), huawei(), huawei(purchaseType=7)
    both = ["production", "sandbox"]
    table = [
        ("sandbox-refused", "A test, and only production is accepted.", test, {"environments": ["production"]},
         "wrong-environment"),
        ("production-refused", "A real purchase, and only the sandbox is accepted.", real, {"environments": ["sandbox"]},
         "wrong-environment"),
        ("promotional-refused", "A promotion is a real purchase, and only the sandbox is accepted.", huawei(purchaseType=1),
         {"environments": ["sandbox"]}, "wrong-environment"),
        ("production-alone", "A real purchase, and only production is accepted.", real, {"environments": ["production"]}, None),
        ("sandbox-alone", "A test, and only the sandbox is accepted.", test, {"environments": ["sandbox"]}, None),
        ("of-this-store", "A test; only production is accepted, but both of Huawei.", test,
         {"environments": ["production"], "huaweiEnvironments": both}, None),
        ("of-this-store-alone", "A test; both are accepted, but only production of Huawei.", test,
         {"huaweiEnvironments": ["production"]}, "wrong-environment"),
        ("of-the-other-store", "A test; only production is accepted, but both of Google Play.", test,
         {"environments": ["production"], "playEnvironments": both}, "wrong-environment"),
        ("stated-accept", "A test states its environment, so that what holds for others does not concern it.", test,
         {"environments": ["production"], "unstatedEnvironment": "accept"}, "wrong-environment"),
        ("stated-refuse", "A real purchase states its environment by stating no type.", real,
         {"unstatedEnvironment": "refuse"}, None),
        ("unknown", "A type that nobody knows may be a test, and only production is accepted.", unknown,
         {"environments": ["production"]}, "environment-unproven"),
        ("unknown-both", "A type that nobody knows, and both environments are accepted.", unknown, {}, None),
    ]  # fmt: skip
    for name, description, purchase, rule, reason in table:
        if reason is None:
            outcome = {"verdict": "valid", "values": huawei_values(purchase)}
        else:
            outcome = {"verdict": "invalid" if reason == "wrong-environment" else "undetermined", "reason": reason}
        cases.add(
            f"environment::{name}", description, genuine(purchase), flags=[SANDBOX], policy=rule,
            importance="high" if reason is None else "critical", **outcome,
        )  # fmt: skip


def times(cases: Cases) -> None:
    clock, now = "2025-10-01T07:10:10Z", PURCHASED + 60_000
    table = [
        ("skew", "Bought 60 seconds after the clock, which is the greatest skew.", now + 60_000, {}, None),
        ("beyond-skew", "Bought a millisecond more than 60 seconds after the clock.", now + 60_001, {}, "signed-in-future"),
        ("age", "Exactly as old as the policy allows.", now - HOUR, {"maximumAge": 3600}, None),
        ("beyond-age", "A millisecond older than the policy allows.", now - HOUR - 1, {"maximumAge": 3600}, "too-old"),
    ]
    for name, description, instant, rule, reason in table:
        purchase = huawei(purchaseTime=instant)
        outcome = {"verdict": "valid", "values": huawei_values(purchase)}
        if reason:
            outcome = {"verdict": "invalid", "reason": reason}
        cases.add(f"time::{name}", description, genuine(purchase), policy=rule, time=clock, importance="medium", **outcome)
    newer = huawei(purchaseTime=None, purchaseTimeMillis=now - HOUR - 1)
    cases.invalid(
        "time::beyond-age-in-milliseconds", "Older than the policy allows, by the member of newer versions.", genuine(newer),
        "too-old", policy={"maximumAge": 3600}, time=clock, importance="medium",
    )  # fmt: skip
    cases.add(
        "time::age-unknown", "The policy limits the age, and the purchase has no date.", genuine(huawei(purchaseTime=None)),
        "undetermined", reason="signing-time-missing", policy={"maximumAge": 3600}, importance="medium",
    )  # fmt: skip
    values = huawei_values(huawei())
    cases.add(
        "time::expired", "The subscription ended before the clock's instant, and the purchase is genuine all the same.",
        genuine(huawei()), "valid", values=values, time="2027-01-01T00:00:00Z",
    )  # fmt: skip


def rules(cases: Cases) -> None:
    data = json_bytes(huawei())
    good_pss = envelope(data, pss(keys.rsa_key("app"), data), "SHA256WithRSA/PSS")
    table = [
        ("kind", "The policy accepts purchases of Huawei.", genuine(data), {"kinds": [KIND]}, None, "RSA-SHA256"),
        ("kind-other", "The policy accepts purchases of Google Play only.", genuine(data), {"kinds": ["google-play-purchase"]},
         "wrong-kind", None),
        ("algorithm", "The policy accepts RSA with SHA-256.", genuine(data), {"algorithms": ["RSA-SHA256"]}, None,
         "RSA-SHA256"),
        ("algorithm-other", "The policy accepts RSASSA-PSS only.", genuine(data), {"algorithms": ["RSA-PSS-SHA256"]},
         "unsupported-algorithm", None),
        ("algorithm-pss", "The policy accepts RSASSA-PSS.", good_pss, {"algorithms": ["RSA-PSS-SHA256"]}, None,
         "RSA-PSS-SHA256"),
        ("algorithm-pss-other", "The policy accepts RSASSA-PSS no more.", good_pss, {"algorithms": ["RSA-SHA256"]},
         "unsupported-algorithm", None),
    ]  # fmt: skip
    for name, description, input, rule, reason, algorithm in table:
        outcome = (
            {"verdict": "invalid", "reason": reason}
            if reason
            else {"verdict": "valid", "values": huawei_values(huawei(), algorithm)}
        )
        cases.add(f"policy::{name}", description, input, policy=rule, importance="medium", **outcome)


def other_store(cases: Cases) -> None:
    """Data must not choose the store by which it is judged."""
    both = {"playKeys": [app_key("other-app")]}
    cases.mismatch(
        "store::key-of-google-sha1", "The app's key at Google signed a purchase of Huawei, as Google signs.",
        signed(huawei(), "other-app"), FOREIGN_KEY, policy=both,
    )  # fmt: skip
    cases.mismatch(
        "store::sha1-by-own-key", "The app's key at Huawei signed as Google signs; the policy names keys at both stores.",
        signed(huawei()), DIGEST, policy=both,
    )  # fmt: skip
    suite = cases.suite
    purchase = play()
    policy = {"bundleIds": [APP], "environments": ["production", "sandbox"], "playKeys": [app_key()],
              "huaweiKeys": [app_key("other-app")]}  # fmt: skip
    suite.add(
        "google-play-purchase::store::key-of-huawei-sha256",
        "The app's key at Huawei signed a purchase of Google Play, as Huawei signs.",
        signed(purchase, "other-app", "sha256"), "invalid", reason="signature-mismatch", place="$.signature", policy=policy,
        flags=[FOREIGN_KEY], importance="critical",
    )  # fmt: skip
    suite.add(
        "google-play-purchase::store::keys-at-both", "The app has keys at both stores, and Google's signed.", signed(purchase),
        "valid", values=play_values(purchase), policy=policy,
    )  # fmt: skip
