# SPDX-License-Identifier: Apache-2.0
"""Purchases and licences of Google Play."""

import hashlib
import json

import detached
import keys
import pki
import suite as suites
from detached import (
    APP, DIGEST_PREFIXES, ORDER, OTHER_APP, PURCHASED, app_key, envelope, license_text, license_values, order,
    orders, padded, play, play_values, pretty, pss, raw, raw_text, rsa, signed,
)  # fmt: skip
from suite import Suite, b64, json_bytes

PURCHASE, LICENSE = "google-play-purchase", "google-play-license"
RSA = "RFC 8017 section 8.2.2"
JSON = "RFC 8259 section 4"

ALTERED = suites.flag(
    "AlteredData", "The data is not what the store signed.",
    "Anyone takes a purchase of one thing for another, or for one that was paid for.", RSA,
)  # fmt: skip
RESERIALIZED = suites.flag(
    "ReserializedData", "The data was parsed and written again, so that its bytes are not those that were signed.",
    "A program that verifies what it wrote itself, and not what the store signed, verifies something else.", RSA,
)  # fmt: skip
FOREIGN_KEY = suites.flag(
    "ForeignAppKey", "The key of another app, or of nobody, made the signature.",
    "A developer of another app, or anybody with a key, makes purchases of this app.", RSA,
)  # fmt: skip
SIGNATURE_SIZE = suites.flag(
    "SignatureLength", "The signature does not have the length of the modulus.",
    "Signatures that differ from the store's are taken for other purchases; the padding may be read in the wrong place.",
    "RFC 8017 section 8.2.2 step 1",
)  # fmt: skip
PADDING = suites.flag(
    "SignaturePadding", "The block under the signature is padded otherwise than EMSA-PKCS1-v1_5 or EMSA-PSS says.",
    "With a small exponent such signatures can be made without the private key (CVE-2006-4339).",
    "RFC 8017 section 9.2", "CVE-2006-4339",
)  # fmt: skip
DIGEST = suites.flag(
    "OtherAlgorithm", "The right key made the signature, with another algorithm than the store's.",
    "The algorithm is chosen by whoever sends the purchase.", "https://developer.android.com/google/play/billing",
)  # fmt: skip
UNSIGNED = suites.flag(
    "MissingSignature", "There is no signature.", "Anyone writes such a purchase.",
    "https://developer.android.com/google/play/billing/test",
)  # fmt: skip
ENCODING = suites.flag(
    "SignatureText", "The signature is not in the standard base64 in which the store gives it.",
    "What a decoder makes of it differs between programs, and the same purchase has many spellings.",
    "RFC 4648 section 3",
)  # fmt: skip
DUPLICATE = suites.flag(
    "DuplicateDataMember", "A member occurs twice in a JSON object.",
    "Two parsers see two purchases: one is verified and the other one is granted.", JSON,
)  # fmt: skip
NOT_JSON = suites.flag(
    "MalformedData", "The store's key signed what is not a purchase in JSON.",
    "A parser that guesses makes a purchase of it.", "RFC 8259",
)  # fmt: skip
UNPAID = suites.flag(
    "UnpaidPurchase", "The purchase is genuine and was not paid for, or was taken back, when it was signed.",
    "Products are granted that nobody pays for.", "https://developer.android.com/google/play/billing/integrate#pending",
)  # fmt: skip
EXTREME = suites.flag(
    "ExtremeValue", "A value is outside of what a parser may expect.",
    "The program crashes, hangs, or computes with a value that was cut off.", "RFC 8259 section 6",
)  # fmt: skip
UNSTATED = suites.flag(
    "UnstatedEnvironment", "The store does not say whether the purchase is real or a test.",
    "A test purchase, which costs nothing, is taken for a real one.",
    "https://developer.android.com/google/play/billing/test",
)  # fmt: skip
REFUSED_LICENSE = suites.flag(
    "RefusedLicense", "The answer is genuine, and says that the user has no licence.",
    "A program that looks at the signature alone lets everybody in.", "https://developer.android.com/google/play/licensing",
)  # fmt: skip


class Cases:
    """Adds cases of one kind, with the policy of most cases."""

    def __init__(self, suite: Suite, kind: str, store: str):
        self.suite, self.kind, self.store = suite, kind, store

    def add(self, name: str, description: str, input: dict, verdict: str, policy: dict | None = None, **options) -> None:
        changes = policy or {}
        self.suite.add(
            f"{self.kind}::{name}", description, input, verdict, policy=detached.policy(self.store, **changes), **options
        )

    def invalid(self, name: str, description: str, input: dict, reason: str, place: str | None = None, **options) -> None:
        self.add(name, description, input, "invalid", reason=reason, place=place, **options)

    def mismatch(self, name: str, description: str, input: dict, flag: str, importance: str = "critical", **options) -> None:
        self.invalid(
            name, description, input, "signature-mismatch", "$.signature", flags=[flag], importance=importance, **options
        )

    def either(self, name: str, description: str, input: dict, flag: str, importance: str = "low", **options) -> None:
        self.add(name, description, input, "either", flags=[flag], importance=importance, **options)


def add(suite: Suite) -> None:
    cases = Cases(suite, PURCHASE, "play")
    for part in (
        valid_purchases, valid_texts, unpaid, order_lists, altered, reserialized, other_keys, signatures, paddings,
        signature_texts, envelopes, malformed_data, field_types, environments, times, rules,
    ):  # fmt: skip
        part(cases)
    licenses(Cases(suite, LICENSE, "play"))


def valid_purchases(cases: Cases) -> None:
    payload = json.dumps({"user": "42", "note": 'a "quoted" word'})
    table = [
        ("plain", "A purchase as Google Play signs it.", play()),
        ("subscription", "A subscription that renews.", play(autoRenewing=True, productId="com.example.app.monthly")),
        ("subscription-not-renewing", "A subscription that will not renew.", play(autoRenewing=False)),
        ("acknowledged", "A purchase that the app had acknowledged.", play(acknowledged=True)),
        ("quantity", "Several of a product in one purchase.", play(quantity=10)),
        ("without-quantity", "A purchase of the time before quantities.", play(quantity=None)),
        ("without-state", "No payment state is stated, which the store's library reads as purchased.",
         play(purchaseState=None)),
        ("without-acknowledged", "A purchase of the time before acknowledgements.", play(acknowledged=None)),
        ("without-order", "A purchase of a licence tester, which has no order.", play(orderId=None)),
        ("empty-order", "The order is an empty text, which is no order.", play(orderId="")),
        ("without-token", "A purchase of 2011, which has no token.", play(purchaseToken=None)),
        ("token-of-2012", "A token without the part that came in 2013.", play(purchaseToken="abcdefghijklmnopqrstuvwx")),
        ("without-product", "The purchase names no product.", play(productId=None)),
        ("order-of-2011", "An order number of 15 digits.", play(orderId="123456789012345")),
        ("order-of-2013", "An order number of merchant and order.",
         play(orderId="12999763169054705758.1371079406387615")),
        ("order-of-renewal", "The order of the second renewal of a subscription.", play(orderId=ORDER + "..1")),
        ("test-subscription", "A test subscription has no order, and its payload is JSON itself.",
         play(orderId=None, autoRenewing=True, developerPayload=payload)),
        ("account", "The app named the customer's account and profile.",
         play(obfuscatedAccountId="account-1", obfuscatedProfileId="profile-1")),
        ("products-two", "Two products in one order are two purchases.",
         play(productId=None, productIds=["com.example.app.coins", "com.example.app.gems"])),
        ("products-one", "The products are a list of one.", play(productId=None, productIds=["com.example.app.coins"])),
        ("products-beside-product", "The product is one of those in the list, and counts once.",
         play(productIds=["com.example.app.coins", "com.example.app.gems"])),
        ("members-reversed", "The members stand in the reverse order, which has no meaning in JSON.",
         dict(reversed(list(play().items())))),
        ("unknown-text", "A member that is not documented has no effect.", play(newMember="text")),
        ("unknown-object", "An object that is not documented has no effect.", play(newMember={"a": [1, {"b": None}]})),
        ("unknown-application-id", "A member of Huawei's name, in a purchase that only Google's key can have signed.",
         play(applicationId=100000001)),
        ("unknown-package", "An object that is not documented names another app, which has no effect.",
         play(newMember={"packageName": OTHER_APP, "productId": "com.example.other.coins"})),
        ("payload-package", "The app's text is an object that names another app, which has no effect.",
         play(developerPayload=json.dumps({"packageName": OTHER_APP}))),
        ("unknown-null", "A member that is null has no effect.", play(newMember={"inner": None})),
        ("time-zero", "The date of purchase is 1970-01-01.", play(purchaseTime=0)),
    ]  # fmt: skip
    for name, description, purchase in table:
        cases.add(f"valid::{name}", description, signed(purchase), "valid", values=play_values(purchase))
    without_time = play(purchaseTime=None)
    cases.add(
        "valid::without-time", "The date of purchase is missing; a key without certificates needs none.",
        signed(without_time), "valid", values=play_values(without_time), importance="low",
    )  # fmt: skip
    purchase = play()
    second = [app_key("other-app"), app_key()]
    for name, description, list_of_keys in (
        ("second-key", "The app has two keys, and the second one signed.", second),
        ("first-key", "The app has two keys, and the first one signed.", second[::-1]),
        ("key-among-apps", "The policy names keys of several apps.", [app_key("other-app", OTHER_APP), app_key()]),
    ):
        cases.add(
            f"valid::{name}", description, signed(purchase), "valid", values=play_values(purchase),
            policy={"playKeys": list_of_keys},
        )  # fmt: skip
    pem = pki.pem(keys.public(keys.rsa_key("app"))).replace("CERTIFICATE", "PUBLIC KEY")
    cases.add(
        "valid::key-in-pem", "The key is given in PEM.", signed(purchase), "valid", values=play_values(purchase),
        policy={"playKeys": [{"package": APP, "key": pem}]}, importance="low",
    )  # fmt: skip
    cases.add(
        "valid::short-key", "A key of 1,024 bits, which the policy admits.", signed(purchase, "short"), "valid",
        values=play_values(purchase), policy={"playKeys": [app_key("short")], "admitShortKeys": True}, importance="low",
    )  # fmt: skip


def valid_texts(cases: Cases) -> None:
    """Data whose bytes are unusual, and are those that were signed."""
    compact = json_bytes(play()).decode()
    quoted = json.dumps(play(developerPayload="é 訂閱 😀"), separators=(",", ":"))
    payload = play(developerPayload="x")
    table = [
        ("payload-empty", "The app's text is empty.", play(developerPayload=""), None),
        ("payload-unicode", "The app's text is in several scripts, in UTF-8.", play(developerPayload="é 訂閱 😀 \u202e"), None),
        ("payload-escaped-unicode", "The app's text is in escapes, surrogate pairs among them.",
         play(developerPayload="é 訂閱 😀"), quoted),
        ("payload-escaped-slashes", "Slashes are escaped, as an old JSON writer did.", play(developerPayload="a/b"),
         json_bytes(play(developerPayload="a/b")).decode().replace("a/b", "a\\/b")),
        ("payload-html", "Characters of HTML are escaped.", play(developerPayload="<a>&'="),
         json_bytes(play(developerPayload="<a>&'=")).decode().replace("<a>&'=", "\\u003ca\\u003e\\u0026\\u0027\\u003d")),
        ("payload-json", "The app's text is JSON.", play(developerPayload=json.dumps({"a": {"b": "\\\"/"}})), None),
        ("payload-line-ends", "The app's text has line ends and a tab.", play(developerPayload="a\r\nb\tc"), None),
        ("payload-nul", "The app's text has an escaped NUL.", play(developerPayload="a\0b"), None),
        ("payload-decomposed", "The app's text is not normalized, and must not be.", play(developerPayload="e\u0301 é"), None),
        ("payload-long", "The app's text has 64 KiB.", play(developerPayload="x" * 65536), None),
        ("package-escaped", "The name of the app has an escape, which is the same name.", play(),
         compact.replace("com.example.app\"", "com.example.\\u0061pp\"", 1)),
        ("name-escaped", "The name of a member has an escape, which is the same name.", play(),
         compact.replace("\"packageName\"", "\"package\\u004eame\"")),
        ("white-space", "White space between members, which was signed.", play(), pretty(play())),
        ("line-end", "A line end after the object, which was signed.", play(), compact + "\n"),
        ("space-before", "A space before the object, which was signed.", play(), " " + compact),
        ("many-members", "Five hundred members that are not documented.",
         payload | {f"member{number}": number for number in range(500)}, None),
    ]  # fmt: skip
    for name, description, purchase, text in table:
        cases.add(
            f"text::{name}", description, signed(purchase if text is None else text), "valid", values=play_values(purchase),
            importance="medium",
        )  # fmt: skip


def unpaid(cases: Cases) -> None:
    table = [
        ("pending", "The purchase is not paid for yet: genuine, and no transaction.", 4),
        ("cancelled", "The purchase was cancelled: genuine, and no transaction.", 1),
        ("refunded", "The purchase was refunded: genuine, and no transaction.", 2),
        ("state-unknown", "A payment state that nobody knows is none that was paid.", 3),
        ("state-negative", "A negative payment state is none that was paid.", -1),
        ("state-large", "A payment state that is 0 only in its lowest 32 bits is none that was paid.", 1 << 32),
    ]
    for name, description, state in table:
        purchase = play(purchaseState=state)
        cases.add(
            f"unpaid::{name}", description, signed(purchase), "valid", values=play_values(purchase), flags=[UNPAID],
            importance="critical",
        )  # fmt: skip
    pending = play(purchaseState=4, orderId=None)
    cases.add(
        "unpaid::pending-without-order", "A pending purchase has no order yet.", signed(pending), "valid",
        values=play_values(pending), flags=[UNPAID], importance="critical",
    )  # fmt: skip


def order_lists(cases: Cases) -> None:
    second = order(orderId="GPA.1234-5678-9012-34568", productId="com.example.app.gems", purchaseTime=PURCHASED + 1000)
    table = [
        ("one", "A list of one order, with a nonce of 64 bits.", orders()),
        ("two", "Two orders are two purchases, and the later date is that of the list.", orders(order(), second)),
        ("nonce-greatest", "The greatest nonce of 64 bits.", orders(nonce=2**63 - 1)),
        ("nonce-least", "The least nonce of 64 bits.", orders(nonce=-(2**63))),
        ("nonce-odd", "A nonce that no floating-point number holds.", orders(nonce=2**53 + 1)),
        ("nonce-zero", "The nonce is 0.", orders(nonce=0)),
        ("with-token", "An order of 2012, with token and text of the app.",
         orders(order(purchaseToken="abcdefghijklmnopqrstuvwx", developerPayload="text"))),
        ("cancelled-among-paid", "Of two orders one was cancelled.", orders(order(), second | {"purchaseState": 1})),
        ("refunded", "The only order was refunded.", orders(order(purchaseState=2))),
    ]  # fmt: skip
    for name, description, content in table:
        cases.add(
            f"order-list::{name}", description, signed(content), "valid", values=play_values(content), importance="medium"
        )
    cases.invalid(
        "order-list::empty", "A list without orders names no app.", signed({"nonce": 1, "orders": []}), "malformed",
        "$.orders[0].packageName", flags=[NOT_JSON],
    )  # fmt: skip
    cases.invalid(
        "order-list::of-two-apps", "The second order is of another app than the first, whose key signed.",
        signed(orders(order(), order(packageName=OTHER_APP))), "malformed", "$.orders[1].packageName", flags=[NOT_JSON],
        importance="critical", policy={"bundleIds": [APP, OTHER_APP]},
    )  # fmt: skip
    text = json_bytes(orders(nonce=-8_765_432_109_876_543_210))
    cases.mismatch(
        "order-list::nonce-rounded", "The nonce was rounded to floating point, as JavaScript does.",
        envelope(text.replace(b"876543210,", b"876544000,"), rsa(keys.rsa_key("app"), text)), RESERIALIZED, "high",
    )  # fmt: skip


def edited(*replacements: tuple[str, str], purchase: dict | None = None) -> dict:
    """Genuine data of which texts were replaced after it was signed."""
    data = json_bytes(purchase or play())
    signature = rsa(keys.rsa_key("app"), data)
    for old, new in replacements:
        if old.encode() not in data:
            raise ValueError(f"{old} is not in the data")
        data = data.replace(old.encode(), new.encode())
    return envelope(data, signature)


def altered(cases: Cases) -> None:
    table = [
        ("product", "Another product than was signed.", ("app.coins", "app.castle")),
        ("order", "Another order than was signed, so that the same purchase counts twice.", ("34567", "34568")),
        ("token", "Another token than was signed.", ("AO-J1OzExample", "AO-J1OzExamplf")),
        ("time", "A later date than was signed.", (str(PURCHASED), str(PURCHASED + 1))),
        ("quantity", "A greater quantity than was signed.", ("\"quantity\":1", "\"quantity\":9")),
        ("member-added", "A member was added.", ("{", "{\"developerPayload\":\"\",")),
        ("member-removed", "A member was removed.", (",\"acknowledged\":false", "")),
        ("case", "One letter is a capital one.", ("\"com.example.app.coins\"", "\"com.example.app.Coins\"")),
    ]  # fmt: skip
    for name, description, replacement in table:
        cases.mismatch(f"altered::{name}", description, edited(replacement), ALTERED)
    cases.mismatch(
        "altered::pending-to-paid", "A pending purchase was edited to be paid for.",
        edited(("\"purchaseState\":4", "\"purchaseState\":0"), purchase=play(purchaseState=4)), ALTERED,
    )  # fmt: skip
    cases.mismatch(
        "altered::state-removed", "The state of a pending purchase was removed, so that the default counts.",
        edited(("\"purchaseState\":4,", ""), purchase=play(purchaseState=4)), ALTERED,
    )  # fmt: skip
    cases.mismatch(
        "altered::package", "The purchase of another app, edited to name this one.",
        edited((OTHER_APP, APP), purchase=play(packageName=OTHER_APP)), ALTERED,
    )  # fmt: skip
    data = json_bytes(play())
    cases.mismatch(
        "altered::data-of-another-purchase", "The signature is that of another purchase of the same app.",
        envelope(data, rsa(keys.rsa_key("app"), json_bytes(play(orderId="GPA.0000-0000-0000-00000")))), ALTERED,
    )  # fmt: skip


def reserialized(cases: Cases) -> None:
    purchase = play(developerPayload="é/=<")
    data = json_bytes(purchase)
    text = data.decode()
    signature = rsa(keys.rsa_key("app"), data)
    table = [
        ("white-space", "The same JSON value with white space.", pretty(purchase)),
        ("space-after-colons", "A space after each colon and comma.", json.dumps(purchase, ensure_ascii=False)),
        ("members-sorted", "The members in the order of the alphabet.",
         json.dumps(purchase, ensure_ascii=False, separators=(",", ":"), sort_keys=True)),
        ("escaped-unicode", "Letters outside of ASCII as escapes.", json.dumps(purchase, separators=(",", ":"))),
        ("escaped-slashes", "Slashes with a backslash, as PHP writes them.", text.replace("/", "\\/")),
        ("escaped-html", "Signs of HTML as escapes, as Go writes them.", text.replace("=", "\\u003d").replace("<", "\\u003c")),
        ("decomposed", "An accent of its own instead of the letter with it.", text.replace("é", "e\u0301")),
        ("trailing-newline", "A line end after the data.", text + "\n"),
        ("trailing-line-end-of-windows", "A line end of Windows after the data.", text + "\r\n"),
        ("trailing-space", "A space after the data.", text + " "),
        ("leading-space", "A space before the data.", " " + text),
        ("leading-byte-order-mark", "A byte order mark before the data.", "\ufeff" + text),
        ("quantity-as-text", "A number became a text.", text.replace("\"quantity\":1", "\"quantity\":\"1\"")),
        ("time-as-floating-point", "A number got a fraction.", text.replace(str(PURCHASED), f"{PURCHASED}.0")),
        ("flag-as-number", "A flag became a number, as PHP casts it.", text.replace("false", "0")),
    ]  # fmt: skip
    for name, description, changed in table:
        if changed == text:
            raise ValueError(name)
        cases.mismatch(f"reserialized::{name}", description, envelope(changed.encode(), signature), RESERIALIZED, "high")


def other_keys(cases: Cases) -> None:
    data = json_bytes(play())
    other = signed(play(packageName=OTHER_APP))
    two_apps = {"bundleIds": [APP, OTHER_APP], "playKeys": [app_key(), app_key("other-app", OTHER_APP)]}
    cases.mismatch("key::foreign", "Signed by a key of nobody's.", signed(data, "foreign"), FOREIGN_KEY)
    cases.mismatch(
        "key::of-another-app", "The data names this app, and the key of another one signed it; the policy names both.",
        signed(data, "other-app"), FOREIGN_KEY, policy=two_apps,
    )  # fmt: skip
    cases.mismatch(
        "key::of-this-app-for-another", "The data names another app, and the key of this one signed it; the policy names both.",
        other, FOREIGN_KEY, policy=two_apps,
    )  # fmt: skip
    for word, package, key in (("first", APP, "app"), ("second", OTHER_APP, "other-app")):
        purchase = play(packageName=package)
        cases.add(
            f"key::{word}-of-two-apps", f"The policy names two apps and a key of each; the purchase is of the {word}.",
            signed(purchase, key), "valid", values=play_values(purchase, package), policy=two_apps,
        )  # fmt: skip
    cases.invalid(
        "key::too-short", "The app's key has 1,024 bits, and the policy does not admit such keys.", signed(data, "short"),
        "unsupported-algorithm", policy={"playKeys": [app_key("short")], "admitShortKeys": False}, importance="medium",
    )  # fmt: skip
    cases.mismatch(
        "key::none-of-two", "The app has two keys, and a third one signed.", signed(data, "foreign"), FOREIGN_KEY,
        policy={"playKeys": [app_key(), app_key("other-app")]},
    )  # fmt: skip
    cases.mismatch(
        "key::of-huawei", "The app has another key at Huawei, which signed what Google's key signs.",
        signed(data, "other-app"), FOREIGN_KEY, policy={"huaweiKeys": [app_key("other-app")]},
    )  # fmt: skip
    cases.add(
        "key::missing", "The policy names no key of the app, only one of another.", signed(data), "undetermined",
        reason="key-missing", policy={"playKeys": [app_key(package=OTHER_APP)]}, importance="critical",
    )  # fmt: skip
    cases.add(
        "key::none", "The policy names no keys.", signed(data), "undetermined", reason="key-missing", policy={"playKeys": []},
        importance="critical",
    )  # fmt: skip
    cases.add(
        "key::package-in-capitals", "The names of packages are compared by their letters, capital or small.",
        signed(play(packageName="com.example.App")), "undetermined", reason="key-missing",
        policy={"bundleIds": [APP, "com.example.App"]}, importance="medium",
    )  # fmt: skip
    composed, decomposed = "com.example.caf\u00e9", "com.example.cafe\u0301"
    cases.add(
        "key::package-decomposed", "The accent of the package is a symbol of its own, and in the policy's a part of its letter.",
        signed(play(packageName=decomposed)), "undetermined", reason="key-missing",
        policy={"bundleIds": [decomposed], "playKeys": [app_key(package=composed)]}, importance="medium",
    )  # fmt: skip
    cases.add(
        "key::package-prefix", "A package whose name begins with that of the app is another app.",
        signed(play(packageName=APP + "2")), "undetermined", reason="key-missing", policy={"bundleIds": [APP, APP + "2"]},
    )  # fmt: skip
    cases.invalid(
        "app::other", "A good purchase of an app that is not accepted.", other, "wrong-bundle", importance="critical",
        policy={"playKeys": [app_key(package=OTHER_APP)]},
    )  # fmt: skip
    cases.invalid(
        "app::accepted-is-another", "A good purchase of this app where only another one is accepted.", signed(data),
        "wrong-bundle", importance="critical", policy={"bundleIds": [OTHER_APP]},
    )  # fmt: skip
    nested = play(packageName=OTHER_APP, newMember={"packageName": APP}, developerPayload=json.dumps({"packageName": APP}))
    cases.invalid(
        "app::nested-name", "A good purchase of another app, in which an object and a text name this one.",
        signed(nested), "wrong-bundle", importance="critical", policy={"playKeys": [app_key(package=OTHER_APP)]},
    )  # fmt: skip
    cases.mismatch(
        "key::by-nested-name", "The key of another app signed data that names this one, and the other one inside an object.",
        signed(play(newMember={"packageName": OTHER_APP}), "other-app"), FOREIGN_KEY, policy=two_apps,
    )  # fmt: skip
    cases.add(
        "app::one-of-two", "Two apps are accepted, and the purchase is of the second.",
        signed(play(packageName=OTHER_APP), "other-app"), "valid", policy=two_apps,
        values=play_values(play(packageName=OTHER_APP), OTHER_APP),
    )  # fmt: skip


def flipped(signature: bytes, bit: int) -> bytes:
    return (int.from_bytes(signature, "big") ^ (1 << bit)).to_bytes(len(signature), "big")


def above_modulus() -> dict:
    """A genuine signature plus the modulus, which is the same number in its ring."""
    key = keys.rsa_key("app")
    modulus = key.public_key().public_numbers().n
    for number in range(1000):
        data = json_bytes(play(orderId=f"GPA.0000-0000-0000-{number:05d}"))
        sum_of_both = int.from_bytes(rsa(key, data), "big") + modulus
        if sum_of_both < 1 << 2048:
            return envelope(data, sum_of_both.to_bytes(256, "big"))
    raise ValueError("no signature is small enough")


def signatures(cases: Cases) -> None:
    key = keys.rsa_key("app")
    data = json_bytes(play())
    good = rsa(key, data)
    modulus = key.public_key().public_numbers().n
    table = [
        ("first-bit", "The first bit is another one.", flipped(good, 2047), ALTERED),
        ("last-bit", "The last bit is another one.", flipped(good, 0), ALTERED),
        ("middle-bit", "A bit in the middle is another one.", flipped(good, 1024), ALTERED),
        ("reversed", "The bytes stand in the reverse order.", good[::-1], ALTERED),
        ("negated", "The modulus less the signature.", (modulus - int.from_bytes(good, "big")).to_bytes(256, "big"), ALTERED),
        ("zeros", "All bytes are 0.", bytes(256), ALTERED),
        ("one", "The number 1, whose power is 1.", bytes(255) + b"\x01", ALTERED),
        ("ones", "All bits are set.", b"\xff" * 256, ALTERED),
        ("modulus", "The modulus itself, whose power is 0.", modulus.to_bytes(256, "big"), ALTERED),
        ("last-byte-missing", "The last byte is missing: 255 bytes.", good[:-1], SIGNATURE_SIZE),
        ("first-byte-missing", "The first byte is missing: 255 bytes.", good[1:], SIGNATURE_SIZE),
        ("zero-after", "A zero was put after it: 257 bytes.", good + b"\0", SIGNATURE_SIZE),
        ("zero-before", "A zero was put before it: 257 bytes.", b"\0" + good, SIGNATURE_SIZE),
        ("half", "The first half of it.", good[:128], SIGNATURE_SIZE),
        ("twice", "It stands there twice.", good + good, SIGNATURE_SIZE),
        ("one-byte", "One byte.", b"\x01", SIGNATURE_SIZE),
        ("long", "Zeros of 64 KiB.", bytes(1 << 16), SIGNATURE_SIZE),
        ("sha256", "Signed with SHA-256, as Google Play does not.", rsa(key, data, "sha256"), DIGEST),
        ("sha512", "Signed with SHA-512, as Google Play does not.", rsa(key, data, "sha512"), DIGEST),
        ("md5", "Signed with MD5, as Google Play does not.", rsa(key, data, "md5"), DIGEST),
        ("pss", "Signed with RSASSA-PSS and SHA-256.", pss(key, data), DIGEST),
        ("pss-sha1", "Signed with RSASSA-PSS and SHA-1.", pss(key, data, "sha1", "sha1", bytes(20)), DIGEST),
        ("ecdsa", "Signed by a key of an elliptic curve.", keys.sign(keys.elliptic("app"), data), DIGEST),
        ("of-the-digest", "The digest was signed as if it were the data.", rsa(key, sha1(data)), DIGEST),
        ("of-the-text", "The JSON string of the data was signed, its quotation marks and escapes included.",
         rsa(key, json.dumps(data.decode()).encode()), DIGEST),
        ("digest-alone", "The digest itself, as if it were a signature.", bytes(236) + sha1(data), ALTERED),
        ("short-key", "Signed by a key of 1,024 bits that the policy does not name.", rsa(keys.rsa_key("short"), data),
         SIGNATURE_SIZE),
    ]  # fmt: skip
    for name, description, signature, flag in table:
        cases.mismatch(f"signature::{name}", description, envelope(data, signature), flag)
    cases.mismatch(
        "signature::above-modulus", "A genuine signature plus the modulus: 256 bytes, and out of range.", above_modulus(),
        SIGNATURE_SIZE, "medium",
    )  # fmt: skip
    for name, description, stated in (
        ("stated-sha256", "Signed with SHA-256, and that is stated beside it.", "SHA256withRSA"),
        ("stated-none", "An algorithm that signs nothing is stated beside a signature by the right key.", "none"),
    ):
        cases.invalid(
            f"signature::{name}", description, envelope(data, rsa(key, data, "sha256"), stated), "unsupported-algorithm",
            "$.signatureAlgorithm", flags=[DIGEST],
        )  # fmt: skip


def sha1(data: bytes) -> bytes:
    return hashlib.sha1(data).digest()


def paddings(cases: Cases) -> None:
    key = keys.rsa_key("app")
    data = json_bytes(play())
    content = DIGEST_PREFIXES["sha1"] + sha1(data)
    # The same DigestInfo with the algorithm's parameters left out.
    without_null = bytes.fromhex("301f300706052b0e03021a0414") + sha1(data)
    with_octets = bytes.fromhex("3024300c06052b0e03021a0403010203") + bytes.fromhex("0414") + sha1(data)
    table = [
        ("short", "Eight bytes of padding, and the rest of the block is garbage after the digest.",
         b"\x00\x01" + b"\xff" * 8 + b"\x00" + content + b"\x41" * (256 - 11 - len(content))),
        ("garbage-at-end", "The padding is one byte short, and a byte follows the digest.",
         padded(content + b"\x00")),
        ("kind-0", "Block type 0.", padded(content, kind=0, filler=0)),
        ("kind-2", "Block type 2, that of encryption.", padded(content, kind=2)),
        ("filler", "The padding is not of 255.", padded(content, filler=0xFE)),
        ("first-byte", "The first byte is not 0.", b"\x01" + padded(content)[1:]),
        ("without-separator", "No 0 ends the padding.", padded(content).replace(b"\xff\x00\x30", b"\xff\xff\x30")),
        ("digest-alone", "The digest without the name of its algorithm.", padded(sha1(data))),
        ("digest-cut-off", "The first 19 bytes of the digest.",
         padded(bytes.fromhex("3020300906052b0e03021a05000413") + sha1(data)[:19])),
        ("name-of-sha256", "A digest of SHA-1 under the name of SHA-256.",
         padded(bytes.fromhex("3025300d060960864801650304020105000414") + sha1(data))),
        ("parameters", "Octets as the parameters of the digest algorithm.", padded(with_octets)),
        ("length-in-long-form", "The length of the DigestInfo in more bytes than needed.",
         padded(b"\x30\x81\x21" + content[2:])),
        ("digest-empty", "An empty digest.", padded(bytes.fromhex("300d300906052b0e03021a05000400"))),
    ]  # fmt: skip
    for name, description, block in table:
        cases.mismatch(f"padding::{name}", description, envelope(data, raw(key, block)), PADDING, "high")
    cases.either(
        "padding::without-null", "The algorithm's parameters are left out, which a verifier may accept.",
        envelope(data, raw(key, padded(without_null))), PADDING,
    )  # fmt: skip


def signature_texts(cases: Cases) -> None:
    """Signatures that are right, and are not in the base64 that the store writes."""
    data, signature = spelled_signature()
    text = b64(signature)
    lines = "\n".join(text[start : start + 76] for start in range(0, len(text), 76))
    table = [
        ("space-for-plus", "A space stands for each plus, as of a form that was not encoded.", text.replace("+", " ")),
        ("line-breaks", "Line breaks as of MIME.", lines),
        ("line-breaks-of-windows", "Line breaks of Windows.", lines.replace("\n", "\r\n")),
        ("space-after", "A space after it.", text + " "),
        ("line-end-after", "A line end after it.", text + "\n"),
        ("url-alphabet", "The alphabet of base64url.", text.replace("+", "-").replace("/", "_")),
        ("mixed-alphabets", "Both alphabets of base64.", text.replace("+", "-")),
        ("without-padding", "The equals signs are missing.", text.rstrip("=")),
        ("half-padding", "One of two equals signs is missing.", text[:-1]),
        ("more-padding", "Four equals signs more.", text + "===="),
        ("percent-encoded", "Percent-encoding, as of a URL.",
         text.replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")),
        ("escaped-slashes", "A backslash before each slash, as of JSON that was not decoded.", text.replace("/", "\\/")),
        ("escaped-equals-signs", "Escapes of JSON instead of equals signs.", text.replace("=", "\\u003d")),
        ("text-after", "More text after the padding.", text + text),
        ("nul-after", "A NUL after it.", text + "\0"),
        ("letter-of-another-script", "A Cyrillic letter that looks like the Latin one.", text.replace("a", "а", 1)),
        ("byte-order-mark", "A byte order mark before it.", "\ufeff" + text),
        ("quotation-marks", "Quotation marks around it.", f"\"{text}\""),
        ("data-uri", "The beginning of a data URI before it.", "data:;base64," + text),
    ]  # fmt: skip
    for name, description, spelled in table:
        if spelled == text:
            raise ValueError(name)
        cases.invalid(
            f"signature-text::{name}", description, envelope(data, spelled), "malformed", "$.signature", flags=[ENCODING],
            importance="low",
        )  # fmt: skip
    cases.mismatch("signature-text::hexadecimal", "Hexadecimal.", envelope(data, signature.hex()), SIGNATURE_SIZE, "low")
    cases.mismatch("signature-text::twice", "Base64 of the base64.", envelope(data, b64(text.encode())), SIGNATURE_SIZE, "low")
    digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = digit[digit.index(text[-3]) + 1]
    cases.either(
        "signature-text::unused-bits", "The bits that base64 leaves over are not 0, which a decoder may refuse.",
        envelope(data, text[:-3] + last + "=="), ENCODING,
    )  # fmt: skip


def spelled_signature() -> tuple[bytes, bytes]:
    """Data whose signature has every sign in its base64 that the cases change."""
    for number in range(1000):
        data = json_bytes(play(orderId=f"GPA.1111-0000-0000-{number:05d}"))
        signature = rsa(keys.rsa_key("app"), data)
        text = b64(signature)
        if all(sign in text for sign in "+/a") and "+" not in (text[0], text[-3]) and not text.startswith("/"):
            return data, signature
    raise ValueError("no signature has them all")


def envelopes(cases: Cases) -> None:
    """The object around data and signature."""
    data = json_bytes(play())
    text = data.decode()
    good = b64(rsa(keys.rsa_key("app"), data))
    other = json_bytes(play(productId="com.example.app.castle")).decode()
    quoted, quoted_other = (json.dumps(value) for value in (text, other))

    def members(**values) -> bytes:
        return json_bytes({name: value for name, value in values.items() if value is not ...})

    unsigned = [
        ("empty", "The signature is empty, as of static test products.", text),
        ("static-product", "A static test product, which nobody signs and anybody can write.",
         json_bytes(play(orderId="transactionId.android.test.purchased", productId="android.test.purchased",
                         purchaseTime=0, purchaseToken=f"inapp:{APP}:android.test.purchased")).decode()),
    ]  # fmt: skip
    for name, description, content in unsigned:
        cases.invalid(
            f"unsigned::{name}", description, raw_text(members(data=content, signature="")), "unsigned", "$.signature",
            flags=[UNSIGNED], importance="critical",
        )  # fmt: skip
    table = [
        ("signature-missing", "There is no member for the signature.", members(data=text), "$.signature", UNSIGNED),
        ("signature-null", "The signature is null.", members(data=text, signature=None), "$.signature", UNSIGNED),
        ("signature-number", "The signature is a number.", members(data=text, signature=1), "$.signature", UNSIGNED),
        ("signature-true", "The signature is true.", members(data=text, signature=True), "$.signature", UNSIGNED),
        ("signature-list", "The signature is a list.", members(data=text, signature=[good]), "$.signature", UNSIGNED),
        ("signature-object", "The signature is an object.", members(data=text, signature={}), "$.signature", UNSIGNED),
        ("data-missing", "There is no data.", members(signature=good), "$", NOT_JSON),
        ("data-null", "The data is null.", members(data=None, signature=good), "$.data", NOT_JSON),
        ("data-object", "The data is an object, and no longer the text that was signed.",
         members(data=play(), signature=good), "$.data", RESERIALIZED),
        ("data-list", "The data is a list.", members(data=[text], signature=good), "$.data", RESERIALIZED),
        ("data-number", "The data is a number.", members(data=0, signature=good), "$.data", NOT_JSON),
        ("data-twice", "The data occurs twice: edited, and genuine.",
         f"{{\"data\":{quoted_other},\"data\":{quoted},\"signature\":\"{good}\"}}".encode(), "$.data", DUPLICATE),
        ("data-twice-reversed", "The data occurs twice: genuine, and edited.",
         f"{{\"data\":{quoted},\"data\":{quoted_other},\"signature\":\"{good}\"}}".encode(), "$.data", DUPLICATE),
        ("data-twice-escaped", "The data occurs twice, the second time with an escape in its name.",
         f"{{\"data\":{quoted},\"d\\u0061ta\":{quoted_other},\"signature\":\"{good}\"}}".encode(), "$.data", DUPLICATE),
        ("signature-twice", "The signature occurs twice: of zeros, and genuine.",
         f"{{\"data\":{quoted},\"signature\":\"{b64(bytes(256))}\",\"signature\":\"{good}\"}}".encode(), "$.signature",
         DUPLICATE),
        ("text-after", "Text follows the object.", members(data=text, signature=good) + b"x", "byte 659 of the JSON document",
         NOT_JSON),
        ("object-after", "A second object follows the first.", members(data=text, signature=good) * 2,
         "byte 659 of the JSON document", NOT_JSON),
        ("cut-off", "The last brace is missing.", members(data=text, signature=good)[:-1], "byte 658 of the JSON document",
         NOT_JSON),
        ("list", "A list with the object.", b"[" + members(data=text, signature=good) + b"]", "$", NOT_JSON),
        ("line-end-in-text", "A line end stands in a text without an escape.",
         members(data=text, signature=good).replace(b"\\\"orderId", b"\n\\\"orderId"), "byte 10 of the JSON document",
         NOT_JSON),
        ("utf8-broken", "The data is not UTF-8.",
         members(data=text, signature=good).replace(b"coins", b"co\xffns"), "byte 121 of the JSON document", NOT_JSON),
        ("utf8-overlong", "A letter of the data in more bytes of UTF-8 than it needs.",
         members(data=text, signature=good).replace(b"coins", b"co\xc1\xa9ns"), "byte 121 of the JSON document", NOT_JSON),
        ("surrogate-alone", "Half of a surrogate pair in the data.",
         members(data=text, signature=good).replace(b"coins", b"co\\ud800ns"), "byte 121 of the JSON document", NOT_JSON),
        ("single-quotation-marks", "Single quotation marks, as of a language's own notation.",
         f"{{'data':{quoted},'signature':'{good}'}}".encode(), None, NOT_JSON),
        ("comma-at-end", "A comma before the last brace.", members(data=text, signature=good)[:-1] + b",}",
         "byte 659 of the JSON document", NOT_JSON),
        ("utf16", "The object in UTF-16.",
         b"\xff\xfe" + members(data=text, signature=good).decode().encode("utf-16-le"), "byte 0 of the input", NOT_JSON),
    ]  # fmt: skip
    for name, description, content, place, flag in table:
        critical = flag in (UNSIGNED, DUPLICATE)
        cases.invalid(
            f"envelope::{name}", description, raw_text(content), "malformed", place, flags=[flag],
            importance="critical" if critical else "medium",
        )  # fmt: skip
    values = play_values(play())
    escapes = "".join(f"\\u{ord(letter):04x}" for letter in text)
    for name, description, content in (
        ("white-space", "White space in the object, which is not signed.",
         json.dumps({"data": text, "signature": good}, indent=2).encode()),
        ("members-reversed", "The signature before the data.", members(signature=good, data=text)),
        ("unknown-member", "A member beside data and signature has no effect.",
         members(data=text, signature=good, receivedAt="2026-01-01")),
        ("all-escaped", "Every letter of the data is an escape.",
         f"{{\"data\":\"{escapes}\",\"signature\":\"{good}\"}}".encode()),
        ("signature-escaped", "Slashes of the signature with backslashes, inside JSON as it allows them.",
         members(data=text, signature=good).replace(b"/", b"\\/")),
        ("line-end-after", "A line end after the object.", members(data=text, signature=good) + b"\n"),
    ):  # fmt: skip
        cases.add(f"envelope::{name}", description, raw_text(content), "valid", values=values, importance="medium")


def malformed_data(cases: Cases) -> None:
    """What the right key signed, and is no purchase."""
    compact = json_bytes(play()).decode()
    package = f'"packageName":"{APP}"'
    nested = "[" * 100_000 + "]" * 100_000
    table = [
        ("empty", "The data is empty.", "", "byte 0 of the data"),
        ("text", "The data is a word.", "hello", "byte 0 of the data"),
        ("list", "The data is a list.", f"[{compact}]", "$"),
        ("string", "The data is a JSON string with the object in it.", json.dumps(compact), "$"),
        ("null", "The data is null.", "null", "$"),
        ("cut-off", "The data ends in the midst of a member.", compact[:-20], "byte 245 of the data"),
        ("two-objects", "Two objects stand one after the other.", compact * 2, "byte 265 of the data"),
        ("comma-at-end", "A comma stands before the last brace.", compact[:-1] + ",}", "byte 265 of the data"),
        ("comment", "A comment stands in the data.", compact.replace(",", ",/* */", 1), "byte 38 of the data"),
        ("single-quotation-marks", "Single quotation marks.", compact.replace("\"", "'"), "byte 1 of the data"),
        ("not-a-number", "NaN is no number of JSON.", compact.replace("\"quantity\":1", "\"quantity\":NaN"),
         "byte 242 of the data"),
        ("hexadecimal-number", "A hexadecimal number is none of JSON.",
         compact.replace("\"quantity\":1", "\"quantity\":0x1"), "byte 243 of the data"),
        ("zeros-before", "A number begins with a zero.", compact.replace("\"quantity\":1", "\"quantity\":01"),
         "byte 243 of the data"),
        ("plus-before", "A number begins with a plus.", compact.replace("\"quantity\":1", "\"quantity\":+1"),
         "byte 242 of the data"),
        ("line-end-in-text", "A line end stands in a text without an escape.", compact.replace("coins", "co\nins"),
         "byte 101 of the data"),
        ("surrogate-twice", "The first half of a surrogate pair stands twice.", compact.replace("coins", "co\\ud83d\\ud83dins"),
         "byte 101 of the data"),
        ("surrogate-alone", "Half of a surrogate pair.", compact.replace("coins", "co\\ud800ins"), "byte 101 of the data"),
        ("escape-unknown", "An escape that JSON does not have.", compact.replace("coins", "co\\xins"), "byte 101 of the data"),
        ("byte-order-mark", "A byte order mark, which was signed.", "\ufeff" + compact, "byte 0 of the data"),
        ("quotation-mark-alone", "The data is a quotation mark.", "\"", None),
        ("text-without-end", "The data is a text that does not end.", "\"packageName", None),
        ("ends-in-quotation-mark", "The data ends with the quotation mark of the app's name.",
         f"{{\"packageName\":\"{APP}\"", None),
        ("ends-in-name", "The data ends with the quotation mark of a member's name.",
         f"{{\"packageName\":\"{APP}\",\"purchaseState\"", None),
        ("package-missing", "The data names no app.", json_bytes(play(packageName=None)).decode(), "$.packageName"),
        ("package-empty", "The app's name is empty.", compact.replace(package, "\"packageName\":\"\""), "$.packageName"),
        ("package-null", "The app's name is null.", compact.replace(package, "\"packageName\":null"), "$.packageName"),
        ("package-number", "The app's name is a number.", compact.replace(package, "\"packageName\":1"), "$.packageName"),
        ("package-list", "The app's name is a list.", compact.replace(package, f"\"packageName\":[\"{APP}\"]"),
         "$.packageName"),
    ]  # fmt: skip
    for name, description, text, place in table:
        cases.invalid(f"data::{name}", description, signed(text), "malformed", place, flags=[NOT_JSON], importance="medium")
    other_package = f'"packageName":"{OTHER_APP}"'
    duplicates = [
        ("package-twice", "The app's name occurs twice, and is this app the first time.", package, f"{package},{other_package}",
         "$.packageName"),
        ("package-twice-reversed", "The app's name occurs twice, and is this app the second time.", package,
         f"{other_package},{package}", "$.packageName"),
        ("package-twice-alike", "The app's name occurs twice, both times the same.", package, f"{package},{package}",
         "$.packageName"),
        ("package-twice-escaped", "The app's name occurs twice, once with an escape in the member's name.", package,
         f"{package},\"packag\\u0065Name\":\"{OTHER_APP}\"", "$.packageName"),
        ("product-twice", "The product occurs twice.", "\"productId\":",
         "\"productId\":\"com.example.app.castle\",\"productId\":", "$.productId"),
        ("state-twice", "The payment state occurs twice: pending and paid.", "\"purchaseState\":0",
         "\"purchaseState\":4,\"purchaseState\":0", "$.purchaseState"),
        ("unknown-twice", "A member that is not documented occurs twice.", "\"purchaseState\":0",
         "\"purchaseState\":0,\"a\":1,\"a\":2", "$.a"),
    ]  # fmt: skip
    for name, description, old, new, place in duplicates:
        cases.invalid(
            f"data::{name}", description, signed(compact.replace(old, new, 1)), "malformed", place, flags=[DUPLICATE],
            importance="low" if name == "unknown-twice" else "high", policy={"bundleIds": [APP, OTHER_APP]},
        )  # fmt: skip
    extremes = [
        ("nested-deeply", "A member that is not documented is nested 100,000 deep.", "\"a\":" + nested),
        ("nested-33", "A member that is not documented is nested 33 deep.", "\"a\":" + "[" * 33 + "]" * 33),
        ("number-beyond-floating-point", "A member that is not documented is beyond floating point.", "\"a\":1e400"),
        ("number-of-many-digits", "A member that is not documented is a number of 10,000 digits.", "\"a\":" + "9" * 10_000),
        ("name-of-prototype", "A member has the name with which JavaScript changes an object.",
         "\"__proto__\":{\"purchaseState\":4}"),
    ]  # fmt: skip
    for name, description, member in extremes:
        cases.either(f"data::{name}", description, signed("{" + member + "," + compact[1:]), EXTREME, "high")


def field_types(cases: Cases) -> None:
    """Values of other types than the documented ones, signed by the right key. A verifier may be lenient."""
    compact = json_bytes(play()).decode()
    time, state, quantity = f'"purchaseTime":{PURCHASED}', '"purchaseState":0', '"quantity":1'
    table = [
        ("time-text", "The date of purchase is a text of digits.", time, f"\"purchaseTime\":\"{PURCHASED}\""),
        ("time-iso", "The date of purchase is written as a date.", time, "\"purchaseTime\":\"2025-10-01T07:09:10Z\""),
        ("time-fraction", "The date of purchase has a fraction.", time, f"\"purchaseTime\":{PURCHASED}.5"),
        ("time-exponent", "The date of purchase has an exponent.", time, "\"purchaseTime\":1.75930255e12"),
        ("time-negative", "The date of purchase is before 1970.", time, "\"purchaseTime\":-1000"),
        ("time-null", "The date of purchase is null.", time, "\"purchaseTime\":null"),
        ("state-text", "The payment state is a text.", state, "\"purchaseState\":\"0\""),
        ("state-false", "The payment state is false.", state, "\"purchaseState\":false"),
        ("state-null", "The payment state is null.", state, "\"purchaseState\":null"),
        ("state-negative-zero", "The payment state is -0.", state, "\"purchaseState\":-0"),
        ("quantity-zero", "The quantity is 0.", quantity, "\"quantity\":0"),
        ("quantity-negative", "The quantity is negative.", quantity, "\"quantity\":-1"),
        ("quantity-beyond-64-bits", "The quantity does not fit 64 bits.", quantity, f"\"quantity\":{2**64}"),
        ("product-number", "The product is a number.", "\"productId\":\"com.example.app.coins\"", "\"productId\":7"),
        ("time-beyond-64-bits", "The date of purchase does not fit 64 bits.", time, f"\"purchaseTime\":{2**64}"),
        ("time-beyond-floating-point", "The date of purchase is beyond floating point.", time, "\"purchaseTime\":1e400"),
    ]  # fmt: skip
    for name, description, old, new in table:
        cases.either(f"type::{name}", description, signed(compact.replace(old, new, 1)), EXTREME)


def environments(cases: Cases) -> None:
    values = play_values(play())
    both = ["production", "sandbox"]
    table = [
        ("production-alone", "Only production is accepted, and nobody knows whether this is it.",
         {"environments": ["production"]}, "environment-unproven"),
        ("sandbox-alone", "Only the sandbox is accepted, and nobody knows whether this is it.",
         {"environments": ["sandbox"]}, "environment-unproven"),
        ("asked", "Only production is accepted, and the policy says that the store is to be asked.",
         {"environments": ["production"], "unstatedEnvironment": "ask"}, "environment-unproven"),
        ("asked-both", "Both environments are accepted, so that there is nothing to ask.", {"unstatedEnvironment": "ask"},
         None),
        ("accepted", "Only production is accepted, and purchases that do not state it are, too.",
         {"environments": ["production"], "unstatedEnvironment": "accept"}, None),
        ("accepted-sandbox", "Only the sandbox is accepted, and purchases that do not state it are, too.",
         {"environments": ["sandbox"], "unstatedEnvironment": "accept"}, None),
        ("refused", "Purchases that do not state their environment are refused.",
         {"environments": ["production"], "unstatedEnvironment": "refuse"}, "wrong-environment"),
        ("refused-both", "Purchases that do not state their environment are refused, though both are accepted.",
         {"unstatedEnvironment": "refuse"}, "wrong-environment"),
        ("of-this-store", "Only production is accepted, but both of Google Play.",
         {"environments": ["production"], "playEnvironments": both}, None),
        ("of-this-store-alone", "Both are accepted, but only production of Google Play.",
         {"playEnvironments": ["production"]}, "environment-unproven"),
        ("of-the-other-store", "Only production is accepted, but both of Huawei.",
         {"environments": ["production"], "huaweiEnvironments": both}, "environment-unproven"),
    ]  # fmt: skip
    for name, description, rule, reason in table:
        if reason is None:
            outcome = {"verdict": "valid", "values": values}
        elif reason == "wrong-environment":
            outcome = {"verdict": "invalid", "reason": reason}
        else:
            outcome = {"verdict": "undetermined", "reason": reason}
        cases.add(
            f"environment::{name}", description, signed(play()), flags=[UNSTATED], policy=rule,
            importance="high" if reason is None else "critical", **outcome,
        )  # fmt: skip


def times(cases: Cases) -> None:
    clock, now = "2025-10-01T07:10:10Z", PURCHASED + 60_000
    table = [
        ("skew", "Bought 60 seconds after the clock, which is the greatest skew.", now + 60_000, {}, None),
        ("beyond-skew", "Bought a millisecond more than 60 seconds after the clock.", now + 60_001, {}, "signed-in-future"),
        ("future", "Bought a year after the clock.", now + 31_536_000_000, {}, "signed-in-future"),
        ("far-future", "Bought in the year 275760.", 8_640_000_000_000_000, {}, "signed-in-future"),
        ("future-evaluated", "Bought an hour after the instant of evaluation.", now + 3_600_000, {"time": "evaluation"},
         "signed-in-future"),
        ("without-skew", "Bought at the clock's instant, and no skew is allowed.", now, {"allowedClockSkew": 0}, None),
        ("beyond-no-skew", "Bought a millisecond after the clock, and no skew is allowed.", now + 1, {"allowedClockSkew": 0},
         "signed-in-future"),
        ("great-skew", "Bought five minutes after the clock, and ten are allowed.", now + 300_000, {"allowedClockSkew": 600},
         None),
        ("age", "Exactly as old as the policy allows.", now - 3_600_000, {"maximumAge": 3600}, None),
        ("beyond-age", "A millisecond older than the policy allows.", now - 3_600_001, {"maximumAge": 3600}, "too-old"),
        ("young", "Younger than the policy allows.", now - 1000, {"maximumAge": 3600}, None),
        ("seconds-for-milliseconds", "A date in seconds is in January 1970, and too old.", PURCHASED // 1000,
         {"maximumAge": 3600}, "too-old"),
    ]  # fmt: skip
    for name, description, instant, rule, reason in table:
        purchase = play(purchaseTime=instant)
        outcome = {"verdict": "invalid", "reason": reason} if reason else {"verdict": "valid", "values": play_values(purchase)}
        cases.add(f"time::{name}", description, signed(purchase), policy=rule, time=clock, importance="medium", **outcome)
    cases.add(
        "time::age-unknown", "The policy limits the age, and the purchase has no date.", signed(play(purchaseTime=None)),
        "undetermined", reason="signing-time-missing", policy={"maximumAge": 3600}, importance="medium",
    )  # fmt: skip
    old = order(purchaseTime=now - 7_200_000)
    content = orders(old, order(purchaseTime=now - 1000))
    cases.add(
        "time::age-of-list", "A list is as old as its latest order.", signed(content), "valid", values=play_values(content),
        policy={"maximumAge": 3600}, time=clock, importance="low",
    )  # fmt: skip


def rules(cases: Cases) -> None:
    values = play_values(play())
    table = [
        ("kind", "The policy accepts purchases of Google Play.", {"kinds": ["google-play-purchase"]}, None),
        ("kind-other", "The policy accepts purchases of Huawei only.", {"kinds": ["huawei-purchase"]}, "wrong-kind"),
        ("kind-license", "The policy accepts licences only.", {"kinds": ["google-play-license"]}, "wrong-kind"),
        ("algorithm", "The policy accepts RSA with SHA-1.", {"algorithms": ["RSA-SHA1"]}, None),
        ("algorithm-other", "The policy accepts no SHA-1.", {"algorithms": ["RSA-SHA256", "ES256"]}, "unsupported-algorithm"),
        ("app-number", "The app's number at the App Store does not concern Google Play.", {"appAppleId": 1234567890}, None),
    ]
    for name, description, rule, reason in table:
        outcome = {"verdict": "invalid", "reason": reason} if reason else {"verdict": "valid", "values": values}
        cases.add(f"policy::{name}", description, signed(play()), policy=rule, importance="medium", **outcome)


def licenses(cases: Cases) -> None:
    license_codes(cases)
    license_forms(cases)
    license_faults(cases)


def license_codes(cases: Cases) -> None:
    table = [
        ("licensed", "The user has a licence.", 0),
        ("not-licensed", "The user has no licence.", 1),
        ("licensed-old-key", "The user has a licence, signed by an older key of the app.", 2),
        ("not-managed", "Google Play does not manage the app.", 3),
        ("server-failure", "Google's server failed.", 4),
        ("over-quota", "There were too many requests.", 5),
        ("unknown", "A code that nobody knows is no licence.", 99),
        ("contacting-server", "The code for a server that cannot be reached.", 257),
        ("low-bits-zero", "A code that is 0 only in its lowest 32 bits is no licence.", 1 << 32),
    ]
    for name, description, code in table:
        refused = code not in (0, 2)
        cases.add(
            f"code::{name}", description, signed(license_text(code)), "valid", values=license_values(code),
            flags=[REFUSED_LICENSE] if refused else [], importance="critical" if refused else "high",
        )  # fmt: skip


def license_forms(cases: Cases) -> None:
    until = PURCHASED + 86_400_000
    extras = f"VT={until}&GT={until + 86_400_000}&GR=10"
    table = [
        ("extras", "With the end of its validity and rules for retries.", license_text(extras=extras), until),
        ("extras-empty", "A colon without anything after it.", license_text(extras=""), None),
        ("validity-alone", "With the end of its validity alone.", license_text(extras=f"VT={until}"), until),
        ("validity-last", "The end of the validity comes last.", license_text(extras=f"GT=1&GR=10&VT={until}"), until),
        ("validity-twice", "Of two ends of the validity the first one counts.",
         license_text(extras=f"VT={until}&VT={until + 1000}"), until),
        ("validity-twice-empty", "Of two ends of the validity the first one counts, which is empty.",
         license_text(extras=f"VT=&VT={until}"), None),
        ("validity-text", "The end of the validity is a text, which is the same as none.", license_text(extras="VT=never"),
         None),
        ("validity-fraction", "The end of the validity has a fraction.", license_text(extras=f"VT={until}.5"), None),
        ("validity-small-letters", "The name of the end of the validity is in small letters, and another one.",
         license_text(extras=f"vt={until}"), None),
        ("validity-longer-name", "A name begins with that of the end of the validity.", license_text(extras=f"VTX={until}"),
         None),
        ("validity-encoded-name", "The name of the end of the validity is percent-encoded, and another one.",
         license_text(extras=f"V%54={until}"), None),
        ("validity-encoded", "The end of the validity is percent-encoded, and no number.",
         license_text(extras=f"VT=%31{str(until)[1:]}"), None),
        ("validity-without-value", "The name of the end of the validity has no value.", license_text(extras="VT"), None),
        ("extras-with-colon", "The address of a file, with a colon, after the first one.",
         license_text(extras="FILE_URL1=https://example.com/a:b&FILE_SIZE1=7"), None),
        ("extras-with-bar", "A bar after the colon separates no fields.", license_text(extras="a=b|c"), None),
        ("nonce-negative", "A negative nonce.", license_text(nonce=-(2**31)), None),
        ("nonce-greatest", "The greatest nonce of 32 bits.", license_text(nonce=2**31 - 1), None),
        ("nonce-zero", "The nonce is 0.", license_text(nonce=0), None),
        ("user-empty", "The user is empty.", license_text(user=""), None),
        ("version-text", "The version of the app is a text.", license_text(version="1.2-beta"), None),
    ]  # fmt: skip
    for name, description, text, valid_until in table:
        cases.add(
            f"form::{name}", description, signed(text), "valid", values=license_values(valid_until=valid_until),
            importance="medium",
        )  # fmt: skip
    either = [
        ("seven-fields", "Seven fields; Google's own code takes those, and reads six.", license_text() + "|x"),
        ("code-with-zeros", "The code has a zero before it.", license_text("00")),
        ("code-with-plus", "The code has a plus before it.", license_text("+0")),
        ("code-minus-zero", "The code is -0.", license_text("-0")),
        ("nonce-beyond-32-bits", "The nonce does not fit 32 bits, which Google's own code refuses.", license_text(nonce=2**31)),
        ("timestamp-negative", "The date is before 1970.", license_text(timestamp=-1)),
        ("timestamp-beyond-64-bits", "The date does not fit 64 bits.", license_text(timestamp=2**64)),
    ]  # fmt: skip
    for name, description, text in either:
        cases.either(f"form::{name}", description, signed(text), EXTREME)
    table = [
        ("five-fields", "The date is missing.", license_text().rsplit("|", 1)[0], 0),
        ("one-field", "The code alone.", "0", 0),
        ("commas", "Commas separate the fields.", license_text().replace("|", ","), 0),
        ("code-empty", "The code is empty.", license_text(""), 0),
        ("code-text", "The code is a word.", "LICENSED" + license_text()[1:], 0),
        ("nonce-text", "The nonce is a word.", license_text(nonce="nonce"), 2),
        ("package-empty", "The app's name is empty.", license_text(package=""), 0),
        ("timestamp-text", "The date is written as a date.", license_text(timestamp="2025-10-01"), 69),
        ("timestamp-empty", "The date is empty.", license_text(timestamp=""), 69),
        ("line-end-signed", "A line end after the date, which was signed.", license_text() + "\n", 69),
    ]  # fmt: skip
    for name, description, text, offset in table:
        cases.invalid(
            f"form::{name}", description, signed(text), "malformed", f"byte {offset} of the data", flags=[NOT_JSON],
            importance="medium",
        )  # fmt: skip


def license_faults(cases: Cases) -> None:
    key = keys.rsa_key("app")
    good = license_text(extras=f"VT={PURCHASED}")
    refused = license_text(1)
    signature = rsa(key, good.encode())
    table = [
        ("code", "A refused licence was edited to be granted.",
         envelope(b"0" + refused[1:].encode(), rsa(key, refused.encode()))),
        ("nonce", "Another nonce than was signed: the answer to another request.",
         envelope(good.replace("1234567890", "1234567891").encode(), signature)),
        ("user", "Another user than was signed.", envelope(good.replace("ANlO", "BNlO").encode(), signature)),
        ("version", "Another version of the app than was signed.", envelope(good.replace("|42|", "|43|").encode(), signature)),
        ("timestamp", "A later date than was signed.",
         envelope(good.replace(str(pki.SIGNED * 1000), str(pki.SIGNED * 1000 + 1)).encode(), signature)),
        ("extras", "A later end of validity than was signed.",
         envelope(good.replace(f"VT={PURCHASED}", f"VT={PURCHASED + 1}").encode(), signature)),
        ("extras-added", "Rules were added after the signed ones.", envelope((good + "&GR=99").encode(), signature)),
        ("extras-removed", "The end of validity was removed.", envelope(good.split(":")[0].encode(), signature)),
        ("bit", "A bit of the signature is another one.", envelope(good.encode(), flipped(signature, 77))),
        ("package", "The licence of another app, edited to name this one.",
         envelope(license_text().encode(), rsa(key, license_text(package=OTHER_APP).encode()))),
    ]  # fmt: skip
    for name, description, input in table:
        cases.mismatch(f"altered::{name}", description, input, ALTERED)
    cases.mismatch(
        "altered::trailing-newline",
        "A line end after the answer.",
        envelope((good + "\n").encode(), signature),
        RESERIALIZED,
        "high",
    )
    cases.mismatch("key::foreign", "Signed by a key of nobody's.", signed(good, "foreign"), FOREIGN_KEY)
    cases.mismatch(
        "key::of-another-app", "The key of another app signed it; the policy names both.", signed(good, "other-app"),
        FOREIGN_KEY, policy={"bundleIds": [APP, OTHER_APP], "playKeys": [app_key(), app_key("other-app", OTHER_APP)]},
    )  # fmt: skip
    cases.mismatch("signature::sha256", "Signed with SHA-256.", signed(good, digest="sha256"), DIGEST)
    cases.mismatch(
        "signature::cut-off", "The signature has 255 bytes.", envelope(good.encode(), signature[:-1]), SIGNATURE_SIZE
    )
    cases.invalid(
        "unsigned::empty", "The signature is empty.", envelope(good.encode(), ""), "unsigned", "$.signature", flags=[UNSIGNED],
        importance="critical",
    )  # fmt: skip
    cases.add(
        "key::missing", "The policy names no key of the app.", signed(good), "undetermined", reason="key-missing",
        policy={"playKeys": [app_key(package=OTHER_APP)]}, importance="critical",
    )  # fmt: skip
    cases.invalid(
        "app::other", "A good licence of an app that is not accepted.", signed(good), "wrong-bundle",
        policy={"bundleIds": [OTHER_APP]}, importance="critical",
    )  # fmt: skip
    plain = license_text()
    for name, description, rule, outcome in (
        ("environment::production-alone", "Only production is accepted, and a licence states no environment.",
         {"environments": ["production"]}, ("undetermined", "environment-unproven")),
        ("environment::accepted", "Only production is accepted, and what does not state it is, too.",
         {"environments": ["production"], "unstatedEnvironment": "accept"}, None),
        ("environment::refused", "What does not state its environment is refused.",
         {"unstatedEnvironment": "refuse"}, ("invalid", "wrong-environment")),
        ("policy::kind-other", "The policy accepts purchases only.", {"kinds": [PURCHASE]}, ("invalid", "wrong-kind")),
        ("policy::kind", "The policy accepts licences.", {"kinds": [LICENSE]}, None),
        ("policy::algorithm-other", "The policy accepts no SHA-1.", {"algorithms": ["RSA-SHA256"]},
         ("invalid", "unsupported-algorithm")),
    ):  # fmt: skip
        expected = {"verdict": "valid", "values": license_values()}
        if outcome:
            expected = {"verdict": outcome[0], "reason": outcome[1]}
        cases.add(name, description, signed(plain), policy=rule, importance="medium", **expected)
    clock, now = "2025-10-01T07:10:12Z", pki.SIGNED * 1000 + 60_000
    for name, description, instant, rule, reason in (
        ("skew", "Answered 60 seconds after the clock.", now + 60_000, {}, None),
        ("beyond-skew", "Answered a millisecond more than 60 seconds after the clock.", now + 60_001, {}, "signed-in-future"),
        ("age", "Exactly as old as the policy allows.", now - 3_600_000, {"maximumAge": 3600}, None),
        ("beyond-age", "A millisecond older than the policy allows.", now - 3_600_001, {"maximumAge": 3600}, "too-old"),
    ):
        expected = (
            {"verdict": "invalid", "reason": reason}
            if reason
            else {"verdict": "valid", "values": license_values(timestamp=instant)}
        )
        cases.add(
            f"time::{name}", description, signed(license_text(timestamp=instant)), policy=rule, time=clock, importance="medium",
            **expected,
        )  # fmt: skip
