# SPDX-License-Identifier: Apache-2.0
"""What genuine receipts may look like: header, JSON, and the members that Apple's stores write."""

import json

import der
import jws
import keys
import pki
import suite as suites
from jws import ABSENT, EXPIRES, PURCHASED, SIGNED, Cases, for_kinds, header, with_text

from cases.jws_signatures import field_replaced

FORWARD = suites.flag(
    "ForwardCompatibility", "A member, or a value of one, that was added after the verifier was written.",
    "Genuine receipts are refused on the day on which the store adds something.",
    "https://developer.apple.com/documentation/appstoreserverapi/app-store-server-api-changelog",
)  # fmt: skip
SPELLING = suites.flag(
    "OtherSpelling", "The same JSON in other characters.", "Genuine receipts are refused.",
    "https://www.rfc-editor.org/rfc/rfc8259",
)  # fmt: skip
LIMITS = suites.flag(
    "ResourceLimits", "A receipt that costs more to read than it is long, or that is very long.",
    "Anybody who can send a receipt stops the program.", "https://www.rfc-editor.org/rfc/rfc8259#section-9",
)  # fmt: skip


def add(suite: suites.Suite) -> None:
    for cases in for_kinds(suite):
        add_of_every_kind(cases)
    transactions, renewals, apps, _, requests = for_kinds(suite)
    add_transactions(transactions)
    add_renewals(renewals)
    add_app_transactions(apps)
    add_realtime_requests(requests)
    add_bombs(transactions)
    for cases in (transactions, renewals, apps, requests):
        add_single_members(cases)
    for cases in (transactions, apps):
        add_reached_limits(cases)


def add_reached_limits(cases: Cases) -> None:
    """What is within the limits of the specification must be read."""
    sample = cases.kind.sample
    arrays, objects = "[" * 31 + "]" * 31, '{"a":' * 30 + "{}" + "}" * 30
    for name, text, payload, head in [
        ("nested-32", "A value that nobody knows is nested 31 arrays deep, so that there are 32 levels.",
         with_text(sample, f'"novelty":{arrays}'), None),
        ("nested-32-objects", "A value that nobody knows is nested 31 objects deep, so that there are 32 levels.",
         with_text(sample, f'"novelty":{objects}'), None),
        ("nested-32-twice", "Two values that nobody knows are nested 31 arrays deep each.",
         with_text(sample, f'"novelty":{arrays},"another":[{"[" * 30}{"]" * 30}]'), None),
        ("nested-32-in-header", "A value of the header that nobody knows is nested 31 arrays deep.", sample,
         with_text(header(), f'"novelty":{arrays}')),
        ("brackets-in-text", "A text that nobody knows has a hundred opening brackets, which nest nothing.",
         with_text(sample, f'"novelty":"{"[{" * 50}"'), None),
        ("date-of-64-characters", "The signing date has 64 characters, most of them zeros after the point.",
         jws.member(sample).replace(f'"{cases.kind.date}":{SIGNED}', f'"{cases.kind.date}":{SIGNED}.{"0" * 50}'), None),
        ("date-with-exponent", "The signing date has an exponent.",
         jws.member(sample).replace(f'"{cases.kind.date}":{SIGNED}', f'"{cases.kind.date}":{SIGNED // 1000}e3'), None),
        ("date-with-signed-exponent", "The signing date has a fraction, and an exponent with a sign.",
         jws.member(sample).replace(f'"{cases.kind.date}":{SIGNED}', f'"{cases.kind.date}":0.{SIGNED}E+13'), None),
    ]:  # fmt: skip
        cases.accept(f"reached::{name}", text, receipt=jws.compact(payload, head), importance="medium", flags=[SPELLING])


def add_single_members(cases: Cases) -> None:
    """A payload whose kind one member alone tells, beside members that nobody knows and that are of another kind's name."""
    kind = cases.kind
    evaluated = {"time": "evaluation"}
    for name, policy in {
        "signed-transaction": [],
        "signed-renewal-info": [("autoRenewProductId", {}), ("autoRenewStatus", {})],
        "signed-app-transaction": [("receiptCreationDate", evaluated)],
        "signed-realtime-request": [],
    }[kind.name]:
        cases.accept(f"valid::without-{suites.kebab(name)}", f"{name} is missing, and another member tells the kind.",
                     kind.payload({name: ABSENT}), policy=policy, importance="medium", flags=[FORWARD])  # fmt: skip
    if kind.name != "signed-realtime-request":
        for name, value in [("userLocale", "en-US"), ("requestIdentifier", "5f1f7b43-7d0e-4c2b-8f7e-0d9a6c3e1b22")]:
            cases.accept(f"valid::with-{suites.kebab(name)}", f"It has {name}, which nobody knows in this kind, and which "
                         "tells a realtime request together with another member alone.",
                         kind.payload({name: value}), importance="medium", flags=[FORWARD])  # fmt: skip


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


def add_of_every_kind(cases: Cases) -> None:
    kind = cases.kind
    sample, text = kind.sample, jws.member(kind.sample)
    novelties = {
        "novelty": "new", "noveltyDate": 1_759_302_552_000, "noveltyFlag": True, "noveltyObject": {"a": [1, None, {"b": "c"}]},
        "novelty-null": [None], "": "empty name", "\u65b0": "\U0001f600",
    }  # fmt: skip
    cases.accept("valid::plain", "All is well.", importance="critical")
    cases.accept("valid::unknown-members", "It has members that nobody knows yet.",
                 receipt=jws.compact({**sample, **novelties}),
                 flags=[FORWARD])  # fmt: skip
    cases.accept("valid::unknown-members-first", "Members that nobody knows yet precede the others.",
                 receipt=jws.compact({**novelties, **sample}), flags=[FORWARD])  # fmt: skip
    for name, description, changed in [
        ("indented", "The payload is indented.", json.dumps(sample, indent=2)),
        ("white-space", "All the white space of JSON stands between the tokens of the payload.",
         "\t\r\n " + json.dumps(sample, separators=(" \t,\r\n", "\n: ")) + " \r\n\t"),
        ("reversed", "The members of the payload are in the reverse order.", jws.member(dict(reversed(sample.items())))),
        ("sorted", "The members of the payload are in alphabetical order.", jws.member(dict(sorted(sample.items())))),
        ("escaped-slashes", "Slashes are escaped, as some encoders write them.", with_text(sample, '"novelty":"a\\/b"')),
        ("escaped-values", "Every character of the product's or the app's identifier is escaped.",
         text.replace('"com.example.app', f'"{escaped("com.example.app")}')),
        ("escaped-names", "Every character of the date's name is escaped.",
         text.replace(f'"{kind.date}"', f'"{escaped(kind.date)}"')),
        ("surrogate-pair", "A text has a character beyond 16 bits, escaped as a pair.",
         with_text(sample, '"novelty":"\\ud83d\\ude00"')),
        ("escaped-nul", "A text that nobody knows has an escaped NUL.", with_text(sample, '"novelty":"a\\u0000b"')),
        ("nested-10", "A value that nobody knows is nested ten deep.", with_text(sample, f'"novelty":{"[" * 10}{"]" * 10}')),
    ]:  # fmt: skip
        cases.accept(f"valid::{name}", description, receipt=jws.compact(changed), importance="medium", flags=[SPELLING])
    chain = header()["x5c"]
    for name, description, head in [
        ("header-kid-typ", "The header has kid and typ.", header(kid="ABC123", typ="JWT")),
        ("header-cty", "The header has cty.", header(cty="application/json")),
        ("header-unknown", "The header has a member that nobody knows, which must be ignored.", header(novelty={"a": [1]})),
        ("header-other-order", "In the header x5c precedes alg.", {"x5c": chain, "alg": "ES256"}),
        ("header-indented", "The header is indented.", json.dumps(header(), indent=2)),
        ("header-after-space", "A space precedes the header's brace.", " " + jws.member(header())),
        ("header-after-tab", "A tab precedes the header's brace.", "\t" + jws.member(header())),
        ("header-after-line-feed", "A line feed precedes the header's brace.", "\n" + jws.member(header())),
        ("header-after-carriage-return", "A carriage return precedes the header's brace.", "\r" + jws.member(header())),
        ("header-before-white-space", "White space follows the header's last brace.", jws.member(header()) + " \r\n\t"),
        ("header-escaped", "In the header names and values are escaped.",
         f'{{"{escaped("alg")}":"{escaped("ES256")}","x5c":{jws.member(chain)}}}'),
        ("header-escaped-slashes", "In the header the slashes of base64 are escaped, as some encoders write them.",
         jws.member(header()).replace("/", "\\/")),
    ]:  # fmt: skip
        cases.accept(f"valid::{name}", description, receipt=jws.compact(sample, head), importance="medium", flags=[SPELLING])
    fraction = kind.with_date(SIGNED + 0.25)
    cases.accept("valid::fractional-date", "The signing date has a fraction of a millisecond.", fraction, importance="medium")
    third = kind.with_date(SIGNED + 123)
    cases.accept("valid::milliseconds", "The signing date has milliseconds.", third, importance="medium")


def add_transactions(cases: Cases) -> None:
    kind = cases.kind
    week = 7 * 86_400_000
    lifetime = {"subscriptionGroupIdentifier": ABSENT, "expiresDate": ABSENT, "webOrderLineItemId": ABSENT}
    advanced = {
        "descriptors": {"description": "Stories", "displayName": "Stories"}, "estimatedTax": 10,
        "items": [{"SKU": "sku-1", "description": "Story", "displayName": "Story", "price": 9990,
                   "refunds": [{"refundAmount": 10, "refundDate": SIGNED, "refundReason": "LEGAL", "refundType": "CUSTOM"}]}],
        "period": "P1M", "requestReferenceId": "b2c1b3d0-4a49-4b64-9c1f-1f2e3d4c5b6a", "taxCode": "C003-00-2",
        "taxExclusivePrice": 9980, "taxRate": "0.1",
    }  # fmt: skip
    table: list[tuple[str, str, dict]] = [
        ("refunded", "Refunded: genuine all the same, and it says so.",
         {"revocationDate": SIGNED - 1000, "revocationReason": 0}),
        ("refunded-for-issue", "Refunded because of an issue of the app.",
         {"revocationDate": SIGNED - 1000, "revocationReason": 1}),
        ("refunded-in-part", "Refunded in part.", {"revocationDate": SIGNED - 1000, "revocationReason": 0,
                                                  "revocationType": "REFUND_PRORATED", "revocationPercentage": 50_000}),
        ("family-revoked", "Access by family sharing was withdrawn.",
         {"inAppOwnershipType": "FAMILY_SHARED", "revocationDate": SIGNED - 1000, "revocationType": "FAMILY_REVOKE"}),
        ("family-shared", "Shared by the family.", {"inAppOwnershipType": "FAMILY_SHARED"}),
        ("upgraded", "The subscription was upgraded to another.", {"isUpgraded": True}),
        ("renewal", "A renewal of a subscription.", {
            "transactionId": "2000000002", "purchaseDate": EXPIRES, "expiresDate": EXPIRES + 30 * 86_400_000,
            "transactionReason": "RENEWAL", "signedDate": EXPIRES + 1000}),
        ("introductory-offer", "Bought with an introductory offer, a free trial.",
         {"offerType": 1, "offerDiscountType": "FREE_TRIAL", "offerPeriod": "P1W", "price": 0,
          "expiresDate": PURCHASED + week}),
        ("promotional-offer", "Bought with a promotional offer.",
         {"offerType": 2, "offerIdentifier": "spring", "offerDiscountType": "PAY_AS_YOU_GO", "price": 4990}),
        ("offer-code", "Bought with an offer code.",
         {"offerType": 3, "offerIdentifier": "code", "offerDiscountType": "PAY_UP_FRONT"}),
        ("win-back-offer", "Bought with a win-back offer.", {"offerType": 4, "offerIdentifier": "back"}),
        ("retention-offer", "Bought with a retention offer, of type 5.", {"offerType": 5, "offerIdentifier": "stay"}),
        ("consumable", "Three of a consumable.", {**lifetime, "type": "Consumable", "quantity": 3,
                                                  "productId": "com.example.app.coins"}),
        ("non-consumable", "A non-consumable.", {**lifetime, "type": "Non-Consumable",
                                                 "productId": "com.example.app.lifetime"}),
        ("non-renewing", "A non-renewing subscription.", {**lifetime, "type": "Non-Renewing Subscription"}),
        ("unknown-values", "Its enumerations have values that nobody knows yet.",
         {"type": "Something New", "inAppOwnershipType": "ASSIGNED", "offerType": 99, "offerDiscountType": "SOMETHING_NEW",
          "transactionReason": "SOMETHING_NEW", "revocationReason": 7}),
        ("advanced-commerce", "It has the information of Advanced Commerce.", {"advancedCommerceInfo": advanced}),
        ("commitment", "It has a commitment of twelve billing periods.", {"billingPlanType": "MONTHLY", "commitmentInfo": {
            "billingPeriodNumber": 1, "commitmentExpiresDate": EXPIRES, "commitmentPrice": 119_880,
            "totalBillingPeriods": 12}}),
        ("app-transaction-id", "It names the app transaction.", {"appTransactionId": "704289572311513293"}),
        ("previous-original", "It names a subscription that came before.", {"previousOriginalTransactionId": "2000000000"}),
        ("long-identifiers", "Its identifiers have 30 digits, more than 64 bits.",
         {"transactionId": "9" * 30, "originalTransactionId": "9" * 30, "webOrderLineItemId": "9" * 30}),
        ("identifiers-beyond-53-bits", "Its identifiers are beyond the integers of floating point.",
         {"transactionId": "9007199254740993", "originalTransactionId": "9007199254740993"}),
        ("identifiers-with-zeros", "Its identifiers begin with zeros, which belong to them.",
         {"transactionId": "0002", "originalTransactionId": "0001"}),
        ("identifier-zero", "Its identifier is 0, as Xcode counts.", {"transactionId": "0", "originalTransactionId": "0"}),
        ("empty-texts", "Optional texts are empty.", {"webOrderLineItemId": "", "appAccountToken": "", "storefront": "",
                                                     "offerIdentifier": "", "currency": ""}),
        ("required-alone", "It has only what names the purchase, app, environment and dates.", {
            name: ABSENT for name in jws.TRANSACTION
            if name not in ("transactionId", "originalTransactionId", "bundleId", "productId", "purchaseDate", "signedDate",
                            "environment")}),
        ("early-2022", "It lacks what was added later, as receipts of early 2022 do.", {
            name: ABSENT for name in ("storefront", "storefrontId", "transactionReason", "currency", "price")}),
        ("purchased-after-signing", "The purchase is four seconds after the signing, as it was in early 2022.",
         {"purchaseDate": SIGNED + 4000, "originalPurchaseDate": SIGNED + 4000}),
        ("fractional-dates", "Its dates have fractions of milliseconds.",
         {"purchaseDate": PURCHASED + 123.25, "originalPurchaseDate": PURCHASED + 0.5, "expiresDate": EXPIRES + 999.75}),
        ("expired", "Its subscription had ended before it was signed.",
         {"purchaseDate": PURCHASED - 60 * 86_400_000, "originalPurchaseDate": PURCHASED - 60 * 86_400_000,
          "expiresDate": PURCHASED - 30 * 86_400_000}),
        ("price-of-64-bits", "Its price is the greatest integer of 64 bits.", {"price": (1 << 63) - 1, "currency": "XXX"}),
        ("free", "Its price is 0.", {"price": 0}),
        ("account-in-capitals", "The account is a UUID in capitals.",
         {"appAccountToken": "7E3FB204-2B3A-4C8F-9D5E-6A1B2C3D4E5F"}),
        ("product-with-spaces", "The product's identifier has a space and letters outside ASCII.",
         {"productId": "com.example.app.M\u00fcnzen \u91d1"}),
        ("product-with-quotes", "The product's identifier has quotation marks and a backslash.",
         {"productId": 'com.example."app"\\x'}),
        ("product-with-nul", "The product's identifier has an escaped NUL, which does not end it.",
         {"productId": "com.example.app\0.coins"}),
        ("product-empty", "The product's identifier is empty.", {"productId": ""}),
        ("large-quantity", "The quantity is the greatest of 32 bits.", {"quantity": (1 << 31) - 1}),
        ("assigned", "Assigned by an organization.", {"inAppOwnershipType": "ASSIGNED"}),
        ("signed-years-later", "The store signed it again years after the purchase.",
         {"purchaseDate": 1_325_376_000_000, "originalPurchaseDate": 1_325_376_000_000, "expiresDate": 1_328_054_400_000}),
        ("far-expiry", "The subscription ends in the year 2999.", {"expiresDate": 32_472_144_000_000}),
        ("device-data", "It has the data of a device, under a policy that names none.",
         {"deviceVerification": "AAAA", "deviceVerificationNonce": jws.NONCE}),
    ]  # fmt: skip
    for name, text, changes in table:
        flags = [FORWARD] if name in ("unknown-values", "retention-offer", "assigned") else []
        cases.accept(f"valid::{name}", text, kind.payload(changes), flags=flags, importance="medium")
    for name, text, payload in [
        ("quantity-above-32-bits", "The quantity needs 33 bits, and Apple documents 32.", kind.payload({"quantity": 1 << 32})),
        ("price-above-64-bits", "The price needs 65 bits, and Apple documents 64.", kind.payload({"price": 1 << 64})),
        ("price-fraction", "The price has a fraction, and Apple documents integers.", kind.payload({"price": 9990.5})),
        ("quantity-decimal", "The quantity is 1.0, which JSON does not tell from 1.",
         jws.member(kind.payload({"quantity": 0.5})).replace('"quantity":0.5', '"quantity":1.0')),
        ("account-no-uuid", "The account is no UUID.", kind.payload({"appAccountToken": "customer 1"})),
        ("optional-null", "Optional members are null, which may mean that they are absent.",
         kind.payload({"revocationDate": None, "offerType": None, "price": None})),
        ("without-transaction", "The identifier of the transaction is missing; Apple documents all members as optional.",
         kind.payload({"transactionId": ABSENT})),
        ("type-number", "The product type is a number.", kind.payload({"type": 1})),
        ("upgraded-text", "isUpgraded is a text.", kind.payload({"isUpgraded": "true"})),
        ("currency-number", "The currency is a number.", kind.payload({"currency": 840})),
        ("two-kinds", "It has a member of notifications too, which it may take for one that nobody knows.",
         kind.payload({"notificationType": "TEST"})),
    ]:  # fmt: skip
        cases.either(f"valid::{name}", text, jws.compact(payload))


def add_renewals(cases: Cases) -> None:
    for name, text, changes in [
        ("off", "Renewal is switched off.", {"autoRenewStatus": 0}),
        ("expired-voluntarily", "The customer let it expire.",
         {"autoRenewStatus": 0, "expirationIntent": 1, "renewalDate": ABSENT}),
        ("billing-retry", "Billing is being retried.", {"expirationIntent": 2, "isInBillingRetryPeriod": True}),
        ("grace-period", "It is in its grace period.",
         {"gracePeriodExpiresDate": EXPIRES + 16 * 86_400_000, "isInBillingRetryPeriod": True}),
        ("price-increase", "The customer consented to a price increase.", {"priceIncreaseStatus": 1}),
        ("other-product", "It will renew to another product.", {"autoRenewProductId": "com.example.app.yearly"}),
        ("offer", "It will renew with an offer.",
         {"offerType": 2, "offerIdentifier": "spring", "offerDiscountType": "PAY_AS_YOU_GO",
                                                   "offerPeriod": "P1M"}),
        ("win-back-offers", "The customer is eligible for win-back offers.", {"eligibleWinBackOfferIds": ["back-1", "back-2"]}),
        ("no-win-back-offers", "The list of win-back offers is empty.", {"eligibleWinBackOfferIds": []}),
        ("unknown-values", "Its enumerations have values that nobody knows yet.",
         {"autoRenewStatus": 7, "expirationIntent": 99, "priceIncreaseStatus": 9, "offerType": 99}),
        ("advanced-commerce", "It has the information of Advanced Commerce.", {"advancedCommerceInfo": {
            "consistencyToken": "token", "descriptors": {"description": "Stories", "displayName": "Stories"}, "period": "P1M",
            "items": [{"SKU": "sku-1", "price": 9990, "priceIncreaseInfo": {"dependentSKUs": ["sku-2"], "price": 10_990,
                                                                           "status": "SCHEDULED"}}]}}),
        ("commitment", "It has a commitment.", {"renewalBillingPlanType": "MONTHLY", "commitmentInfo": {
            "commitmentAutoRenewProductId": jws.PRODUCT, "commitmentAutoRenewStatus": 1, "commitmentRenewalDate": EXPIRES,
            "commitmentRenewalPrice": 119_880, "commitmentRenewalBillingPlanType": "MONTHLY"}}),
        ("early-2022", "It lacks what was added later, as receipts of early 2022 do.", {
            name: ABSENT for name in ("recentSubscriptionStartDate", "renewalDate", "currency", "renewalPrice")}),
        ("long-identifier", "Its identifier has 30 digits.", {"originalTransactionId": "9" * 30}),
    ]:  # fmt: skip
        cases.accept(f"valid::{name}", text, cases.kind.payload(changes), importance="medium",
                     flags=[FORWARD] if name == "unknown-values" else [])  # fmt: skip
    cases.accept("valid::other-bundles", "It names no app, so that the policy's apps do not matter.",
                 policy={"bundleIds": [jws.OTHER_BUNDLE]}, importance="medium")  # fmt: skip


def add_app_transactions(cases: Cases) -> None:
    for name, text, changes in [
        ("preorder", "The app was ordered before its release.", {"preorderDate": PURCHASED - 86_400_000}),
        ("version-identifier", "It has the identifier of the version.", {"versionExternalIdentifier": 850_000_000}),
        ("version-identifier-zero", "The identifier of the version is 0, as in the sandbox.", {"versionExternalIdentifier": 0}),
        ("unknown-platform", "Its platform is one that nobody knows yet.", {"originalPlatform": "carOS"}),
        ("store-type", "It has the type of the store.", {"storeType": "CONSUMER"}),
        ("request-date", "It has the date of the request.", {"requestDate": SIGNED}),
        ("device-data", "It has the data of a device, under a policy that names none.",
         {"deviceVerification": "AAAA", "deviceVerificationNonce": jws.NONCE}),
        ("no-version", "It has no version, as nobody asks for it.",
         {"applicationVersion": ABSENT, "originalApplicationVersion": ABSENT}),
        ("purchase-unset", "The purchase date is that which stands for none, in the year 1.",
         {"originalPurchaseDate": -62_135_769_600_000}),
        ("long-identifier", "The identifier of the app transaction has 30 digits.", {"appTransactionId": "9" * 30}),
        ("early", "It lacks what was added later.", {"appTransactionId": ABSENT, "originalPlatform": ABSENT}),
    ]:  # fmt: skip
        cases.accept(f"valid::{name}", text, cases.kind.payload(changes), importance="medium",
                     flags=[FORWARD] if name in ("unknown-platform", "store-type") else [])  # fmt: skip


def add_realtime_requests(cases: Cases) -> None:
    for name, text, changes in [
        ("locale", "The customer's locale has a script.", {"userLocale": "zh-Hans-CN"}),
        (
            "identifier-in-capitals",
            "The identifier of the request is in capitals.",
            {"requestIdentifier": "5F1F7B43-7D0E-4C2B-8F7E-0D9A6C3E1B22"},
        ),
        ("long-identifier", "The identifier of the subscription has 30 digits.", {"originalTransactionId": "9" * 30}),
        ("large-app", "The number of the app needs 33 bits.", {"appAppleId": 6_443_000_000}),
    ]:
        cases.accept(f"valid::{name}", text, cases.kind.payload(changes), importance="medium")
    cases.accept("valid::other-bundles", "It names no app by its bundle, so that the policy's apps do not matter.",
                 policy={"bundleIds": [jws.OTHER_BUNDLE]}, importance="medium")  # fmt: skip


def add_bombs(cases: Cases) -> None:
    """Receipts that cost much. Each must be answered within the time and memory of any other."""
    sample = cases.kind.sample
    options = {"features": ["resource-limits"], "flags": [LIMITS], "importance": "medium"}
    for name, text, payload in [
        ("nested-arrays", "A value that nobody knows is 30,000 arrays deep.",
         with_text(sample, f'"novelty":{"[" * 30_000}{"]" * 30_000}')),
        ("nested-objects", "A value that nobody knows is 5,000 objects deep.",
         with_text(sample, '"novelty":' + '{"a":' * 5_000 + "1" + "}" * 5_000)),
        ("many-members", "It has 3,000 members that nobody knows.",
         with_text(sample, ",".join(f'"n{number}":0' for number in range(3_000)))),
        ("many-elements", "A value that nobody knows has 10,000 elements.", with_text(sample, f'"novelty":[{"0," * 9_999}0]')),
        ("long-number", "A number that nobody knows has 20,000 digits.", with_text(sample, f'"novelty":{"9" * 20_000}')),
        ("huge-exponent", "A number that nobody knows has the exponent 999,999,999.",
         with_text(sample, '"novelty":1e999999999')),
        ("huge-exponent-of-integer", "The price is a number with the exponent 999,999,999.",
         jws.member(cases.kind.payload({"price": 0.5})).replace('"price":0.5', '"price":1e999999999')),
        ("tiny-exponent", "A number that nobody knows has the exponent -999,999,999.",
         with_text(sample, '"novelty":1e-999999999')),
        ("long-text", "A text that nobody knows has 20,000 characters.", with_text(sample, f'"novelty":"{"a" * 20_000}"')),
        ("escapes", "A text that nobody knows has 5,000 escapes.",
         with_text(sample, f'"novelty":"{chr(92) + "u0061"}' + "\\u0061" * 4_999 + '"')),
        ("long-name", "A name has 30,000 characters.", with_text(sample, f'"{"a" * 30_000}":1')),
        ("white-space", "20,000 spaces precede the payload.", " " * 20_000 + jws.member(sample)),
    ]:  # fmt: skip
        cases.either(f"limits::{name}", text, jws.compact(payload), **options)
    for name, text, payload in [
        (
            "unclosed-arrays",
            "A value that nobody knows opens 100,000 arrays and closes none.",
            with_text(sample, '"novelty":' + "[" * 100_000),
        ),
        (
            "duplicates",
            "One member, the bundle identifier, occurs 2,000 times.",
            with_text(sample, ",".join('"bundleId":"com.example.other"' for _ in range(2_000)), at_end=True),
        ),
    ]:
        cases.refuse(f"limits::{name}", text, jws.compact(payload), "malformed", **options)
    cases.either("limits::long-header", "The header has a member of 400,000 characters, and is half a megabyte in base64url.",
                 jws.compact(sample, header(kid="a" * 400_000)), **options)  # fmt: skip
    cases.either("limits::deep-header", "The header has a member 10,000 arrays deep.",
                 jws.compact(sample, with_text(header(), f'"novelty":{"[" * 10_000}{"]" * 10_000}')), **options)  # fmt: skip
    for name, text, texts in [
        ("many-certificates", "x5c has 10,000 certificates, each an empty SEQUENCE.", ["MAA="] * 10_000),
        ("many-certificates-after-chain", "10,000 empty texts follow the three certificates.", header()["x5c"] + [""] * 10_000),
        ("many-leaves", "x5c has the leaf 30 times.", header()["x5c"][:1] * 30),
    ]:
        cases.refuse(f"limits::{name}", text, jws.compact(sample, header(x5c=texts)), "chain-length", **options)
    cases.refuse("limits::long-signature", "The signature has 30,000 bytes.", jws.compact(sample, signature=b"\1" * 30_000),
                 "signature-mismatch", "JWS signature", **options)  # fmt: skip
    cases.refuse("limits::many-dots", "There are 20,000 dots.", "." * 20_000, "malformed", **options)
    cases.refuse(
        "limits::many-parts", "20,000 dots follow the receipt.", jws.compact(sample) + "." * 20_000, "malformed", **options
    )

    def rsa_info(modulus: int, exponent: int) -> bytes:
        key = der.sequence(der.integer(modulus), der.integer(exponent))
        return der.sequence(der.sequence(der.oid("1.2.840.113549.1.1.1"), der.null()), der.bit_string(key))

    modulus = keys.rsa_key("intermediate").public_key().public_numbers().n
    huge = (1 << 65_536) - 0x1234567
    base = jws.authority()
    for name, text, info in [
        ("rsa-modulus", "The intermediate has an RSA modulus of 65,536 bits.", rsa_info(huge, 65_537)),
        ("rsa-exponent", "The intermediate has an RSA exponent of 2,048 bits.", rsa_info(modulus, modulus - 2)),
        (
            "rsa-modulus-and-exponent",
            "The intermediate has an RSA modulus and exponent of 65,536 bits.",
            rsa_info(huge, huge - 2),
        ),
        ("rsa-modulus-one", "The intermediate has the RSA modulus 1.", rsa_info(1, 65_537)),
        ("rsa-modulus-even", "The intermediate has an even RSA modulus.", rsa_info(modulus + 1, 65_537)),
        ("rsa-exponent-one", "The intermediate has the RSA exponent 1.", rsa_info(modulus, 1)),
        ("rsa-exponent-negative", "The intermediate has a negative RSA exponent.", rsa_info(modulus, -65_537)),
    ]:
        changed = base.but(
            intermediate={"change_signed": field_replaced(6, info)},
            leaf={"issuer_key": keys.rsa_key("intermediate"), "algorithm": "rsa-sha256"},
        )
        cases.refuse(f"limits::{name}", text, jws.of(changed, sample), "chain-untrusted", **options)
    for name, text, info in [
        ("leaf-rsa-modulus", "The leaf has an RSA modulus of 65,536 bits.", rsa_info(huge, 65_537)),
        ("leaf-rsa-exponent", "The leaf has an RSA modulus and exponent of 65,536 bits.", rsa_info(huge, huge - 2)),
    ]:
        changed = base.but(leaf={"change_signed": field_replaced(6, info)})
        cases.refuse(f"limits::{name}", text, jws.of(changed, sample), "unsupported-algorithm", "certificate 0", **options)
    nested = b""
    for _ in range(2_000):
        nested = der.sequence(nested)
    for name, text, extension in [
        ("nested-extension", "An extension of the leaf is 2,000 sequences deep.", pki.extension("1.3.6.1.4.1.99999.1", nested)),
        (
            "long-extension",
            "An extension of the leaf has 10,000 bytes.",
            pki.extension("1.3.6.1.4.1.99999.1", der.octet_string(bytes(10_000))),
        ),
    ]:
        changed = base.but(leaf={"extensions": (*base.leaf.extensions, extension)})
        cases.either(f"limits::{name}", text, jws.of(changed, sample), **options)
    many = tuple(pki.extension(f"1.3.6.1.4.1.99999.{number}", der.null()) for number in range(2, 502))
    cases.either("limits::many-extensions", "The leaf has 500 extensions that nobody knows.",
                 jws.of(base.but(leaf={"extensions": (*base.leaf.extensions, *many)}), sample), **options)  # fmt: skip
    for name, text, place in [
        ("lying-length", "The leaf says that it has 4 gigabytes.", b"\x30\x84\xff\xff\xff\xff"),
        ("lying-length-of-8-bytes", "The leaf says that it has 2^64 - 1 bytes.", b"\x30\x88" + b"\xff" * 8),
        ("length-of-126-bytes", "The leaf's length has 126 bytes.", b"\x30\xfe" + b"\xff" * 126),
    ]:
        texts = [suites.b64(place + jws.genuine_chain()[0][4:]), *header()["x5c"][1:]]
        cases.refuse(f"limits::{name}", text, jws.compact(sample, header(x5c=texts)), "malformed", "certificate 0", **options)
