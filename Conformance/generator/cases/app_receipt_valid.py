# SPDX-License-Identifier: Apache-2.0
"""App receipts that are right in each of the forms in which they occur."""

import base64
import textwrap
import urllib.parse

import cms
import der
import keys
import pki
from cms import BER, DATES, TEST_CERTIFICATE, Cases, attribute, date, number, payload, purchase, receipt, text, values
from suite import Suite

LAST_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
XCODE_FIELDS = {0: text("Xcode"), 1: None, 18: None, 19: None, 12: date("2025-10-01T10:09:12+0300"), 4: bytes(range(8))}
XCODE_PURCHASE = {
    1704: date("2025-10-01T10:09:10+0300"),
    1705: None,
    1706: None,
    1707: None,
    1708: date("4001-01-01T00:00:00Z"),
}
XCODE_VALUES = {
    "transactionId": "2000000001",
    "productId": "com.example.app.monthly",
    "quantity": 1,
    "purchaseDate": "2025-10-01T07:09:10.000Z",
    "expiresDate": "4001-01-01T00:00:00.000Z",
}


def add(suite: Suite) -> None:
    add_basics(suite)
    add_environments(suite)
    add_attributes(suite)
    add_dates(suite)
    add_containers(suite)
    add_encodings(suite)
    add_xcode(suite)
    add_wrappers(suite)


def add_basics(suite: Suite) -> None:
    cases = Cases(suite, "basic")
    sample = receipt()
    sha1 = receipt(digest="sha1")
    leaf, intermediate, root = cms.chain(cms.authority())
    cases.valid("sha256", "A receipt of the sandbox in base64, signed with SHA-256.", sample)
    cases.valid("sha1", "Signed with SHA-1, as receipts before 2023.", sha1, values(algorithm="RSA-SHA1"))
    cases.valid("der", "The receipt in binary.", sample.encoded())
    cases.valid("der-sha1", "A receipt with SHA-1 in binary.", sha1.encoded(), values(algorithm="RSA-SHA1"))
    orders = {
        "leaf-root-intermediate": (leaf, root, intermediate),
        "intermediate-leaf-root": (intermediate, leaf, root),
        "intermediate-root-leaf": (intermediate, root, leaf),
        "root-leaf-intermediate": (root, leaf, intermediate),
        "root-intermediate-leaf": (root, intermediate, leaf),
    }
    for order, certificates in orders.items():
        cases.valid(
            f"certificates-{order}",
            "The order of the certificates has no meaning; they are a SET.",
            receipt(certificates=certificates),
        )
    cases.valid(
        "certificates-without-root", "The root is not embedded; it is the policy's.", receipt(certificates=(leaf, intermediate))
    )
    foreign = cms.chain(cms.authority(True))
    other = pki.authority("ES256")
    cases.valid(
        "certificates-unrelated",
        "Certificates of another authority are embedded besides.",
        receipt(certificates=(leaf, intermediate, root, *cms.chain(other))),
    )
    cases.valid(
        "certificates-same-names",
        "An intermediate and a root with the right names and other keys stand before the right ones.",
        receipt(certificates=(foreign[1], foreign[2], leaf, intermediate, root)),
        importance="low",
    )
    cases.valid("no-purchases", "Nothing was bought in the app.", receipt(payload(purchases=[])), values(transactions=[]))
    many, found = [], []
    for index in range(1000):
        name = str(2_000_000_000 + index)
        many.append(purchase(cms.COINS, {1703: text(name), 1705: text(name)}))
        found.append({**cms.COINS_VALUES, "transactionId": name, "originalTransactionId": name})
    cases.valid(
        "thousand-purchases",
        "A thousand purchases, as receipts of old accounts have.",
        receipt(payload(purchases=many)),
        values(transactions=found),
        importance="medium",
    )
    cases.valid(
        "one-purchase",
        "A single consumable.",
        receipt(payload(purchases=[purchase(cms.COINS)])),
        values(transactions=[cms.COINS_VALUES]),
    )


def add_environments(suite: Suite) -> None:
    cases = Cases(suite, "environment")
    for name, word, environment in (
        ("production", "Production", "production"),
        ("production-sandbox", "ProductionSandbox", "sandbox"),
        ("production-vpp", "ProductionVPP", "production"),
        ("production-vpp-sandbox", "ProductionVPPSandbox", "sandbox"),
    ):
        changed = receipt(payload({0: text(word), 1: number(1_234_567_890)}))
        cases.valid(f"{name}", f"The environment is {word}; both are accepted.", changed, values(environment))
        cases.valid(
            f"{name}-alone",
            f"The environment is {word}, under a policy that accepts nothing else.",
            changed,
            values(environment),
            {"environments": [environment]},
        )
        other = "sandbox" if environment == "production" else "production"
        cases.invalid(
            f"{name}-refused",
            f"The environment is {word}, under a policy that accepts {other} alone.",
            changed,
            "wrong-environment",
            {"environments": [other]},
            importance="critical",
        )
    cases.valid(
        "absent", "It names no environment; production and sandbox are accepted.", receipt(payload({0: None})), values(None)
    )
    cases.undetermined(
        "absent-production-alone",
        "It names no environment, under a policy that accepts production alone.",
        receipt(payload({0: None})),
        "environment-unproven",
        {"environments": ["production"]},
        importance="critical",
    )
    cases.undetermined(
        "absent-sandbox-alone",
        "It names no environment, under a policy that accepts the sandbox alone.",
        receipt(payload({0: None})),
        "environment-unproven",
        {"environments": ["sandbox"]},
    )
    for name, word in (
        ("unknown", "Staging"),
        ("lower-case", "production"),
        ("trailing-space", "Production "),
        ("empty", ""),
        ("nul", "Production\0Sandbox"),
    ):
        cases.invalid(
            name,
            f"The environment is {word!r}, which is none that is known.",
            receipt(payload({0: text(word)})),
            "wrong-environment",
        )
    cases.invalid(
        "xcode-by-store",
        "The store's chain signed a receipt that says Xcode, which the policy does not accept.",
        receipt(payload({0: text("Xcode")})),
        "wrong-environment",
        importance="critical",
    )


def add_attributes(suite: Suite) -> None:
    cases = Cases(suite, "attribute")
    unknown = [
        attribute(9999, b"\x01\x02\x03"),
        attribute(6, bytes(range(64))),
        attribute(7, bytes(80)),
        attribute(20, text("")),
    ]
    cases.valid("unknown", "Attributes of types that nobody knows, whose values are no DER.", receipt(payload(more=unknown)))
    numbers = {
        9: number(5),
        10: cms.date("4+"),
        11: number(7),
        13: number(1),
        14: number(2),
        15: number(2**62),
        16: number(9),
        25: number(3),
    }
    cases.valid("all-known", "Every attribute that receipts are known to have.", receipt(payload({**cms.bound(), **numbers})))
    cases.valid(
        "age-rating-utf8", "The age rating is a UTF8String; others have an IA5String.", receipt(payload({10: text("4+")}))
    )
    inner = [attribute(1709, text("")), attribute(1710, number(4)), attribute(1722, number(1)), attribute(1799, b"\xff")]
    cases.valid(
        "unknown-in-purchase",
        "A purchase has attributes of types that nobody knows.",
        receipt(payload(purchases=[purchase(more=inner), purchase(cms.COINS)])),
    )
    versions = [cms.attribute(4, bytes(16), 2), cms.attribute(9998, b"", 0), cms.attribute(9997, b"x", 100)]
    cases.valid(
        "versions",
        "Attributes of the versions 0, 2 and 100; the version has no known meaning.",
        receipt(payload(more=versions)),
    )
    cases.valid(
        "bundle-version-2",
        "The bundle identifier has the version 2.",
        receipt(payload({2: None}, more=[attribute(2, text("com.example.app"), 2)])),
        importance="medium",
    )
    numbers = [
        raw_attribute(kind) for kind in (b"\x80", b"\x00\x80", b"\xff", b"\x00\xff", b"\x7f", b"\x80\x11", b"\x00\x80\x11")
    ]
    cases.valid(
        "numbers-with-signs",
        "Attributes of the unknown types -128 and 128, -1 and 255, 127, -32751 and 32785: a type is an INTEGER with a sign.",
        receipt(payload(more=numbers)),
        importance="medium",
    )
    cases.valid(
        "number-of-known-negative",
        "An attribute of the unknown type -254, whose last octet is that of the bundle identifier's type, names another app.",
        receipt(payload(more=[raw_attribute(b"\xff\x02", text("com.example.other"))])),
        importance="medium",
    )
    cases.valid(
        "version-with-sign",
        "Attributes of the versions -1, -128, 128 and 2^62; the version has no known meaning.",
        receipt(
            payload(
                more=[
                    raw_attribute(b"\x00\xc8" + bytes([index]), version=version)
                    for index, version in enumerate((b"\xff", b"\x80", b"\x00\x80", b"\x40" + bytes(7)))
                ]
            )
        ),
        importance="medium",
    )
    for name, first, second in (
        ("negative-twice", b"\x80", b"\x80"),
        ("of-two-octets-twice", b"\x00\x80", b"\x00\x80"),
        ("of-eight-octets-twice", b"\x40" + bytes(7), b"\x40" + bytes(7)),
    ):
        cases.invalid(
            name,
            "An attribute of an unknown type occurs twice.",
            receipt(payload(more=[raw_attribute(first), raw_attribute(second, b"x")])),
            "malformed",
            flags=[cms.DUPLICATE],
            importance="medium",
        )
    empty = {1708: date(""), 1712: date("")}
    bare = {key: value for key, value in cms.MONTHLY_VALUES.items() if key != "expiresDate"}
    cases.valid(
        "empty-dates",
        "Dates that do not apply are empty texts.",
        receipt(payload({8: date("")}, purchases=[purchase(changes=empty), purchase(cms.COINS, empty)])),
        values(transactions=[bare, cms.COINS_VALUES]),
    )
    cases.valid(
        "cancellation",
        "The purchase was refunded: it has a cancellation date and a reason.",
        receipt(payload(purchases=[purchase(changes={1712: date("2025-10-05T01:02:03Z"), 1720: number(1)})])),
        values(transactions=[{**cms.MONTHLY_VALUES, "revocationDate": "2025-10-05T01:02:03.000Z"}]),
    )
    for name, description, changes in (
        ("trial", "The subscription is in its trial period.", {1713: number(1)}),
        ("introductory", "The subscription is in an introductory period.", {1719: number(1)}),
        ("promotional-offer", "It was bought with a promotional offer.", {1721: text("offer-1")}),
        ("web-order-line-item", "The web order line item ID has eight octets.", {1711: number(2**63 - 1)}),
        ("product-type-unknown", "The product type is a number that nobody knows.", {1707: number(17)}),
        ("non-renewing", "The product is a subscription that does not renew.", {1707: number(2)}),
    ):
        cases.valid(
            name,
            description,
            receipt(payload(purchases=[purchase(changes=changes)])),
            values(transactions=[cms.MONTHLY_VALUES]),
        )
    for name, quantity in (
        ("large", 2**31), ("eight-octets", 2**63 - 1), ("zero", 0), ("127", 127), ("128", 128), ("255", 255), ("256", 256),
        ("negative", -1), ("negative-of-two-octets", -129),
    ):  # fmt: skip
        cases.valid(
            f"quantity-{name}",
            f"The quantity is {quantity}.",
            receipt(payload(purchases=[purchase(cms.COINS, {1701: number(quantity)})])),
            values(transactions=[{**cms.COINS_VALUES, "quantity": quantity}]),
            importance="medium",
        )
    cases.valid(
        "renewal",
        "A renewal has another original transaction, of an earlier date.",
        receipt(payload(purchases=[purchase(changes={1705: text("1000000009"), 1706: date("2024-10-01T07:09:10Z")})])),
        values(
            transactions=[
                {
                    **cms.MONTHLY_VALUES,
                    "originalTransactionId": "1000000009",
                    "originalPurchaseDate": "2024-10-01T07:09:10.000Z",
                }
            ]
        ),
    )
    cases.valid(
        "product-in-unicode",
        "The product ID has letters beyond ASCII.",
        receipt(payload(purchases=[purchase(cms.COINS, {1702: text("com.example.app.münzen")})])),
        values(transactions=[{**cms.COINS_VALUES, "productId": "com.example.app.münzen"}]),
        importance="medium",
    )
    cases.valid(
        "long-text",
        "A product ID of 300 octets, whose length needs the long form.",
        receipt(payload(purchases=[purchase(cms.COINS, {1702: text("p" * 300)})])),
        values(transactions=[{**cms.COINS_VALUES, "productId": "p" * 300}]),
        importance="medium",
    )
    cases.valid(
        "unsorted",
        "The attributes are not in the order of DER, as Xcode leaves them.",
        receipt(payload(make=in_reverse)),
        flags=[BER],
    )
    cases.either("purchase-empty", "A purchase is an empty SET.", receipt(payload(purchases=[purchase({})])))
    for kind, what in ((1702, "product ID"), (1703, "transaction ID"), (1701, "quantity"), (1704, "purchase date")):
        cases.either(
            f"purchase-without-{kind}",
            f"A purchase has no {what}.",
            receipt(payload(purchases=[purchase(changes={kind: None})])),
        )


def raw_attribute(kind: bytes, value: bytes = b"", version: bytes = b"\1") -> bytes:
    """An attribute whose type and version are the octets of an INTEGER."""
    return der.sequence(der.tlv(der.INTEGER, kind), der.tlv(der.INTEGER, version), der.octet_string(value))


def in_reverse(*parts: bytes) -> bytes:
    """The purchases in the order of the values that are reported, and the rest the wrong way round."""
    return der.unsorted_set(*sorted(parts, reverse=True))


def add_dates(suite: Suite) -> None:
    cases = Cases(suite, "date", DATES)
    for name, written, instant in (
        ("milliseconds", "2025-10-01T07:09:12.345Z", "2025-10-01T07:09:12.345Z"),
        ("one-digit", "2025-10-01T07:09:12.5Z", "2025-10-01T07:09:12.500Z"),
        ("offset", "2025-10-01T10:09:12+0300", "2025-10-01T07:09:12.000Z"),
        ("offset-with-colon", "2025-10-01T10:09:12+03:00", "2025-10-01T07:09:12.000Z"),
        ("offset-negative", "2025-10-01T00:09:12-07:00", "2025-10-01T07:09:12.000Z"),
        ("offset-half-hour", "2025-10-01T12:39:12+0530", "2025-10-01T07:09:12.000Z"),
        ("offset-unknown", "2025-10-01T07:09:12-00:00", "2025-10-01T07:09:12.000Z"),
        ("offset-across-midnight", "2025-09-30T23:09:12-0800", "2025-10-01T07:09:12.000Z"),
        ("offset-longest", "2025-10-02T07:08:12+23:59", "2025-10-01T07:09:12.000Z"),
        ("offset-longest-negative", "2025-09-30T07:10:12-2359", "2025-10-01T07:09:12.000Z"),
        ("offset-of-an-hour", "2025-10-01T08:09:12+01:00", "2025-10-01T07:09:12.000Z"),
        ("nine-digits", "2025-10-01T07:09:12.123456789Z", "2025-10-01T07:09:12.123Z"),
        ("thirty-digits", "2025-10-01T07:09:12.987654321098765432109876543210Z", "2025-10-01T07:09:12.987Z"),
        ("fraction-and-offset", "2025-10-01T10:09:12.250+03:00", "2025-10-01T07:09:12.250Z"),
        ("last-second-of-day", "2025-09-30T23:59:59Z", "2025-09-30T23:59:59.000Z"),
        ("first-second-of-day", "2025-10-01T00:00:00Z", "2025-10-01T00:00:00.000Z"),
        ("leap-day", "2024-02-29T23:59:59Z", "2024-02-29T23:59:59.000Z"),
        ("leap-day-of-a-century", "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"),
    ):
        policy = {"time": "evaluation"} if written.startswith("2000") else None
        cases.valid(
            f"creation-{name}",
            f"The creation date is {written}.",
            receipt(payload({12: date(written)})),
            values(signed=instant),
            policy,
            importance="medium",
        )
    last_days = [f"2026-{month:02}-{day}T23:59:59" for month, day in enumerate(LAST_DAYS, 1)]
    cases.valid(
        "last-days",
        "Twelve subscriptions expire on the last days of the months.",
        receipt(
            payload(
                purchases=[
                    purchase(changes={1703: text(str(index)), 1708: date(f"{day}Z")}) for index, day in enumerate(last_days)
                ]
            )
        ),
        values(
            transactions=[
                {**cms.MONTHLY_VALUES, "transactionId": str(index), "expiresDate": f"{day}.000Z"}
                for index, day in enumerate(last_days)
            ]
        ),
        importance="medium",
    )
    for name, written in (("first-instant", "0000-01-01T00:00:00"), ("leap-day-of-year-0", "0000-02-29T00:00:00")):
        cases.valid(
            name,
            f"The original purchase is of {written}, as some programs write a date that is not set.",
            receipt(payload(purchases=[purchase(changes={1706: date(f"{written}Z")})])),
            values(transactions=[{**cms.MONTHLY_VALUES, "originalPurchaseDate": f"{written}.000Z"}]),
            importance="low",
        )
    cases.valid(
        "last-instant",
        "The subscription expires in the last second of the year 9999.",
        receipt(payload(purchases=[purchase(changes={1708: date("9999-12-31T23:59:59Z")})])),
        values(transactions=[{**cms.MONTHLY_VALUES, "expiresDate": "9999-12-31T23:59:59.000Z"}]),
        importance="medium",
    )
    cases.valid(
        "expiry-in-4001",
        "The subscription expires in the year 4001.",
        receipt(payload(purchases=[purchase(changes={1708: date("4001-01-01T00:00:00Z")})])),
        values(transactions=[{**cms.MONTHLY_VALUES, "expiresDate": "4001-01-01T00:00:00.000Z"}]),
        importance="medium",
    )
    for name, written in (
        ("lower-case", "2025-10-01t07:09:12z"),
        ("space", "2025-10-01 07:09:12Z"),
        ("comma", "2025-10-01T07:09:12,5Z"),
        ("basic-format", "20251001T070912Z"),
    ):
        cases.either(
            f"creation-{name}",
            f"The creation date is {written}, which some readers of dates accept.",
            receipt(payload({12: date(written)})),
        )
    cases.either("creation-utf8", "The creation date is a UTF8String.", receipt(payload({12: text(cms.SIGNED_TEXT)})))
    cases.either(
        "purchase-utf8",
        "A purchase date is a UTF8String.",
        receipt(payload(purchases=[purchase(changes={1704: text(cms.PURCHASED_TEXT)})])),
    )
    for name, written in (
        ("month-13", "2025-13-01T07:09:12Z"),
        ("month-0", "2025-00-01T07:09:12Z"),
        ("day-31-in-june", "2025-06-31T07:09:12Z"),
        ("day-29-in-february", "2025-02-29T07:09:12Z"),
        ("day-29-in-february-of-a-century", "1900-02-29T00:00:00Z"),
        ("hour-24", "2025-10-01T24:00:00Z"),
        ("minute-60", "2025-10-01T07:60:12Z"),
        ("second-60", "2025-10-01T07:09:60Z"),
        ("without-zone", "2025-10-01T07:09:12"),
        ("without-time", "2025-10-01"),
        ("milliseconds-since-1970", "1759302552000"),
        ("sign", "+2025-10-01T07:09:12Z"),
        ("text", "yesterday"),
        ("fraction-empty", "2025-10-01T07:09:12.Z"),
        ("offset-24", "2025-10-01T07:09:12+24:00"),
        ("offset-short", "2025-10-01T07:09:12+3"),
        ("trailing-space", "2025-10-01T07:09:12Z "),
        ("leading-space", " 2025-10-01T07:09:12Z"),
        ("nul", "2025-10-01T07:09:12Z\0"),
        ("two-digit-year", "25-10-01T07:09:12Z"),
        ("two-zones", "2025-10-01T07:09:12Z+00:00"),
        ("century-no-digit", "1:25-10-01T07:09:12Z"),
        ("year-no-digit", "200A-10-01T07:09:12Z"),
        ("month-no-digit", "2025-0:-01T07:09:12Z"),
        ("day-no-digit", "2025-09-0:T07:09:12Z"),
        ("hour-no-digit", "2025-10-01T0;:09:12Z"),
        ("minute-no-digit", "2025-10-01T07:0?:12Z"),
        ("second-no-digit", "2025-10-01T07:09:0:Z"),
        ("day-0", "2025-10-00T07:09:12Z"),
        ("day-30-in-february", "2024-02-30T07:09:12Z"),
        ("day-31-in-april", "2025-04-31T07:09:12Z"),
        ("day-31-in-september", "2025-09-31T07:09:12Z"),
        ("date-slashes", "2025/10/01T07:09:12Z"),
        ("date-second-slash", "2025-10/01T07:09:12Z"),
        ("time-points", "2025-10-01T07.09.12Z"),
        ("time-second-hyphen", "2025-10-01T07:09-12Z"),
        ("offset-minutes-60", "2025-10-01T10:09:12+02:60"),
        ("offset-no-digit", "2025-10-01T10:09:12+0/:00"),
        ("offset-three-digits", "2025-10-01T10:09:12+3:00"),
        ("offset-colon-misplaced", "2025-10-01T10:09:12+030:0"),
        ("offset-with-seconds", "2025-10-01T10:09:12+03:00:00"),
        ("offset-without-sign", "2025-10-01T07:09:12 03:00"),
        ("fraction-without-zone", "2025-10-01T07:09:12.5"),
        ("long-fraction-without-zone", "2025-10-01T07:09:12.123456789"),
        ("fraction-sign", "2025-10-01T07:09:12.+5Z"),
        ("fraction-two-points", "2025-10-01T07:09:12.5.5Z"),
    ):
        cases.invalid(
            f"creation-{name}",
            f"The creation date is {written!r}, which is no date of RFC 3339.",
            receipt(payload({12: date(written)})),
            "malformed",
            place="attribute 12",
            importance="medium",
        )
    for kind, what in ((1704, "purchase date"), (1708, "expiration date"), (1712, "cancellation date")):
        cases.invalid(
            f"purchase-{kind}",
            f"The {what} of a purchase is no date.",
            receipt(payload(purchases=[purchase(changes={kind: date("2025-10-32T00:00:00Z")})])),
            "malformed",
            place=f"attribute {kind} of in-app purchase 0",
        )
    cases.invalid(
        "expiry-day-29-in-february-of-a-century",
        "The subscription expires on 29 February 2100, which is no leap year.",
        receipt(payload(purchases=[purchase(changes={1708: date("2100-02-29T00:00:00Z")})])),
        "malformed",
        place="attribute 1708 of in-app purchase 0",
        importance="medium",
    )
    cases.valid(
        "expiry-in-march-of-a-century",
        "The subscription expires on 1 March 2100, the day after 28 February.",
        receipt(payload(purchases=[purchase(changes={1708: date("2100-03-01T00:00:00Z")})])),
        values(transactions=[{**cms.MONTHLY_VALUES, "expiresDate": "2100-03-01T00:00:00.000Z"}]),
        importance="medium",
    )


def add_containers(suite: Suite) -> None:
    cases = Cases(suite, "container")
    absent = cms.algorithm(cms.DIGESTS["sha256"], None)
    with_rsa = cms.algorithm(cms.WITH_RSA["sha256"])
    cases.valid(
        "digest-parameters-absent",
        "The digest algorithm has no parameters (RFC 5754 section 2).",
        receipt(digest_algorithm=absent),
    )
    cases.valid("sha256-with-rsa", "The signature algorithm is sha256WithRSAEncryption.", receipt(signature_algorithm=with_rsa))
    cases.valid(
        "sha1-with-rsa",
        "The signature algorithm is sha1WithRSAEncryption.",
        receipt(digest="sha1", signature_algorithm=cms.algorithm(cms.WITH_RSA["sha1"])),
        values(algorithm="RSA-SHA1"),
    )
    cases.valid(
        "sha256-with-rsa-parameters-absent",
        "The signature algorithm sha256WithRSAEncryption has no parameters (RFC 4055 section 5).",
        receipt(signature_algorithm=cms.algorithm(cms.WITH_RSA["sha256"], None)),
    )
    cases.either(
        "rsa-parameters-absent",
        "The signature algorithm rsaEncryption has no parameters; RFC 3370 section 3.2 requires NULL.",
        receipt(signature_algorithm=cms.algorithm(cms.RSA_ENCRYPTION, None)),
    )
    both = (cms.algorithm(cms.DIGESTS["sha1"]), cms.algorithm(cms.DIGESTS["sha256"]))
    cases.valid(
        "digests-announced-two",
        "The container announces SHA-1 besides the SHA-256 of the signer.",
        receipt(digest_algorithms=both),
    )
    cases.valid("crls-empty", "The field crls is present and empty.", receipt(crls=der.context(1, b"")))
    cases.valid(
        "signed-attributes", "The signature is over the two signed attributes that are required.", cms.with_attributes()
    )
    cases.valid(
        "signed-attributes-sha1",
        "The signature is over signed attributes, with SHA-1.",
        cms.with_attributes(attributes=cms.signed_attributes(payload(), "sha1"), digest="sha1"),
        values(algorithm="RSA-SHA1"),
    )
    more = [
        *cms.signed_attributes(payload()),
        cms.signed_attribute(cms.SIGNING_TIME, der.time(pki.SIGNED)),
        cms.signed_attribute("1.2.3.4", der.null()),
    ]
    cases.valid(
        "signed-attributes-more",
        "There are signed attributes besides the two that are required.",
        cms.with_attributes(attributes=more),
    )
    other_time = [*cms.signed_attributes(payload()), cms.signed_attribute(cms.SIGNING_TIME, der.time(pki.SIGNED - 86_400))]
    cases.valid(
        "signing-time-attribute",
        "The signed attribute signing-time is another date than the receipt's creation date, which counts.",
        cms.with_attributes(attributes=other_time),
        importance="medium",
    )
    unsigned = der.context(1, cms.signed_attribute("1.2.3.4", der.octet_string(b"unsigned")))
    cases.valid("unsigned-attributes", "There are unsigned attributes, which prove nothing.", receipt(unsigned=unsigned))
    for version in (0, 3, 4, 5, 6):
        cases.either(
            f"version-{version}",
            f"The version of the SignedData is {version}; RFC 5652 section 5.1 says 1 for such contents.",
            receipt(version=der.integer(version)),
        )
    cases.either(
        "digests-announced-other",
        "The container announces SHA-1, and the signer uses SHA-256.",
        receipt(digest_algorithms=both[:1]),
    )
    cases.either("digests-announced-none", "The container announces no digest algorithm.", receipt(digest_algorithms=()))
    leaf, intermediate, root = cms.chain(cms.authority())
    cases.either(
        "leaf-twice", "The signer's certificate is embedded twice.", receipt(certificates=(leaf, leaf, intermediate, root))
    )
    attribute_certificate = der.context(2, der.sequence(der.integer(1)))
    cases.either(
        "attribute-certificate",
        "An attribute certificate is embedded besides.",
        receipt(certificates=(leaf, intermediate, root, attribute_certificate)),
    )


def add_encodings(suite: Suite) -> None:
    cases = Cases(suite, "encoding", BER)
    sample = receipt()
    data = sample.encoded()
    for name, what, depth in (
        ("outer", "the outermost value", 1),
        ("two", "the two outer values", 2),
        ("signed-data", "the SignedData and all around it", 3),
        ("fields", "the container down to its fields", 4),
    ):
        cases.valid(
            f"indefinite-{name}", f"Indefinite lengths of {what}.", cms.all_indefinite(data, depth), importance="medium"
        )
    content = payload()
    for name, what, octets in (
        ("indefinite", "one piece, in a constructed value of indefinite length", cms.in_pieces(content, len(content))),
        (
            "definite",
            "pieces of 100 octets, in a constructed value of definite length",
            cms.in_pieces(content, 100, ended=False),
        ),
        ("pieces", "pieces of 100 octets", cms.in_pieces(content, 100)),
        ("single-octets", "pieces of one octet", cms.in_pieces(content, 1)),
        ("nested", "pieces in three constructed values within each other", cms.in_pieces(content, 200, 3)),
        (
            "empty-piece",
            "pieces of which one is empty",
            der.indefinite(0x24, der.octet_string(b"") + der.octet_string(content)),
        ),
    ):
        cases.valid(
            f"content-{name}", f"The content consists of {what}.", sample.but(octets=octets).encoded(), importance="medium"
        )
    both = cms.all_indefinite(data, 6, lambda value: cms.in_pieces(content, 300))
    cases.valid(
        "content-within-indefinite", "The content is in pieces, and all values around it are of indefinite length.", both
    )
    for name, octets in (("three", 3), ("four", 4), ("eight", 8)):
        cases.either(
            f"long-length-{name}",
            f"The outermost length has {name} octets, of which two are needed; BER allows it.",
            cms.edit(data, (), cms.with_length(lambda count, octets=octets: der.long_length(count, octets))),
        )


def xcode_template() -> pki.Template:
    key = keys.rsa_key("app")
    name = pki.name("StoreKit Testing in Xcode", "StoreKit Testing in Xcode")
    return pki.Template(name, name, 1, key, key, "rsa-sha256", (pki.basic_constraints(True), pki.key_usage("1")))


def add_xcode(suite: Suite) -> None:
    cases = Cases(suite, "xcode", TEST_CERTIFICATE)
    template = xcode_template()
    certificate = cms.encoded(template)
    content = payload(XCODE_FIELDS, [purchase(changes=XCODE_PURCHASE)], make=in_reverse)

    def signed(content: bytes = content, **members) -> cms.Receipt:
        return receipt(content, signer=template, certificates=(certificate,), **members)

    pinned = {"xcodeCertificates": [pki.pem(certificate)], "environments": ["xcode"]}
    found = values("xcode", transactions=[XCODE_VALUES])
    cases.valid("pinned", "Xcode signed it with a certificate that the policy names.", signed(), found, pinned)
    pieces = cms.all_indefinite(signed().encoded(), 6, lambda value: cms.in_pieces(content, 128))
    cases.valid(
        "pinned-ber",
        "The same in BER, with indefinite lengths and a content in pieces, as Xcode writes it.",
        pieces,
        found,
        pinned,
        flags=[TEST_CERTIFICATE, BER],
    )
    cases.valid(
        "pinned-sha256-with-rsa",
        "The signature algorithm is sha256WithRSAEncryption, as later versions of Xcode write it.",
        signed(signature_algorithm=cms.algorithm(cms.WITH_RSA["sha256"])),
        found,
        pinned,
    )
    cases.invalid(
        "refused",
        "A policy that names no certificate of Xcode accepts none.",
        signed(),
        "chain-untrusted",
        {"environments": ["xcode"]},
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "refused-under-production",
        "Xcode's certificate is not trusted for purchases.",
        signed(payload({0: text("Production")})),
        "chain-untrusted",
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "pinned-says-production",
        "The pinned certificate signed a receipt that says Production.",
        signed(payload({0: text("Production")})),
        "chain-untrusted",
        {**pinned, "environments": ["production", "sandbox", "xcode"]},
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "pinned-says-sandbox",
        "The pinned certificate signed a receipt that says ProductionSandbox.",
        signed(payload()),
        "chain-untrusted",
        {**pinned, "environments": ["production", "sandbox", "xcode"]},
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "pinned-without-environment",
        "The pinned certificate signed a receipt that names no environment.",
        signed(payload({0: None})),
        "chain-untrusted",
        {**pinned, "environments": ["production", "sandbox", "xcode"]},
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "environment-refused",
        "The certificate is pinned, and the policy accepts production and sandbox.",
        signed(),
        "wrong-environment",
        {**pinned, "environments": ["production", "sandbox"]},
        importance="critical",
    )
    other = template.but(key=keys.rsa_key("other-app"), issuer_key=keys.rsa_key("other-app"))
    cases.invalid(
        "other-certificate",
        "It is signed by another certificate of the same name, number and form.",
        receipt(content, signer=other, certificates=(cms.encoded(other),)),
        "chain-untrusted",
        pinned,
        place="certificate 0",
        importance="critical",
    )
    cases.invalid(
        "other-key",
        "It embeds the pinned certificate and is signed with another key.",
        signed(key=keys.rsa_key("other-app")),
        "signature-mismatch",
        pinned,
        place="signerInfo",
        importance="critical",
    )
    cases.invalid(
        "pinned-embedded-not-signer",
        "The pinned certificate is embedded beside the certificate that signed.",
        receipt(content, signer=other.but(serial=2), certificates=(cms.encoded(other.but(serial=2)), certificate)),
        "chain-untrusted",
        pinned,
        place="certificate 1",
        importance="critical",
    )


def add_wrappers(suite: Suite) -> None:
    cases = Cases(suite, "wrapping")
    data = receipt().encoded()
    plain = base64.b64encode(data).decode()
    url = base64.urlsafe_b64encode(data).decode()
    lines = "\n".join(textwrap.wrap(plain, 64))
    for name, what, wrapped in (
        ("line-breaks", "A line break after each 64 symbols.", lines),
        ("line-breaks-76-crlf", "CR LF after each 76 symbols.", "\r\n".join(textwrap.wrap(plain, 76)) + "\r\n"),
        ("white-space-around", "White space stands before and after the base64.", f" \n\t{plain}\n"),
        ("without-padding", "The padding of the base64 is missing.", padded_sample().rstrip("=")),
        ("base64url", "Base64url without padding.", url.rstrip("=")),
        ("base64url-padded", "Base64url with padding.", padded_sample().replace("+", "-").replace("/", "_")),
        ("json-receipt-data", "The body of a request to verifyReceipt.", f'{{"receipt-data": "{plain}", "password": "x"}}'),
        (
            "json-latest-receipt",
            "An answer of verifyReceipt with the latest receipt.",
            f'{{"status":0,"environment":"Sandbox","latest_receipt":"{plain}"}}',
        ),
        ("json-string", "A JSON string.", f'"{plain}"'),
        (
            "json-escaped-slashes",
            "A JSON object in which slashes are escaped.",
            '{"receipt-data":"%s"}' % plain.replace("/", "\\/"),
        ),
        ("pem", "A PEM block.", f"-----BEGIN PKCS7-----\n{lines}\n-----END PKCS7-----\n"),
        ("data-uri", "A data URI.", f"data:application/octet-stream;base64,{plain}"),
        ("percent-encoded", "Percent-encoded base64.", urllib.parse.quote(plain, safe="")),
        (
            "hexadecimal",
            "NSData's description: hexadecimal in angle brackets, in groups of four octets.",
            "<" + " ".join(textwrap.wrap(data.hex(), 8)) + ">",
        ),
        ("base64-twice", "Base64 of base64.", base64.b64encode(plain.encode()).decode()),
        ("byte-order-mark", "A byte order mark stands before the base64.", "\ufeff" + plain),
    ):
        importance = "medium" if name.startswith(("line", "base64url")) else "low"
        cases.valid(name, what, wrapped, features=["wrappers"], importance=importance)
    for name, what, wrapped in (
        ("foreign-symbol", "A symbol that is not of base64 stands in the midst.", plain[:1000] + "*" + plain[1000:]),
        ("padding-in-the-midst", "Padding stands in the midst of the base64.", plain[:1000] + "==" + plain[1000:]),
        ("cut", "The base64 ends after a third.", plain[: len(plain) // 3]),
        (
            "one-symbol-left",
            "The base64 has one symbol more than whole octets need.",
            plain.rstrip("=") + "A" * (1 - len(plain.rstrip("=")) % 4 + 4),
        ),
        ("twice", "Two receipts stand one after the other, each with its line.", f"{plain}\n{plain}\n"),
        ("mixed-alphabets", "Symbols of base64 and of base64url are mixed.", plain.replace("+", "-")),
    ):
        cases.invalid(name, what, wrapped, "malformed", importance="low")
    cases.either("space-for-plus", "A form turned each plus into a space.", plain.replace("+", " "))
    cases.either("hexadecimal-bare", "Hexadecimal without brackets.", data.hex())


def padded_sample() -> str:
    """The base64 of a receipt that needs padding."""
    for octets in range(1, 4):
        found = base64.b64encode(receipt(payload(more=[attribute(9999, bytes(octets))])).encoded()).decode()
        if found.endswith("="):
            return found
    raise AssertionError("no length needs padding")
