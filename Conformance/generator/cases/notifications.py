# SPDX-License-Identifier: Apache-2.0
"""App Store Server Notifications, version 2, and the signed parts inside them."""

import jws
import keys
import pki
import suite as suites
from jws import (
    ABSENT,
    APP,
    BUNDLE,
    ORIGINAL,
    OTHER_BUNDLE,
    PURCHASED,
    SIGNED,
    Cases,
    encode,
    for_kinds,
    header,
    moment,
    replaced,
)

from cases.jws_chains import LEAF, chain_of_four, chain_of_two, with_intermediate, with_leaf
from cases.jws_forms import DUPLICATE
from cases.jws_signatures import flipped

NESTED = suites.flag(
    "NestedPart", "A signed part of a notification is forged, flawed or not what belongs there.",
    "The notification's own signature says nothing of purchases that somebody else signed into it.",
    "https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload",
)  # fmt: skip
MISMATCH = suites.flag(
    "NestedMismatch", "A notification and a signed part of it are about different things.",
    "A genuine purchase of one app, customer or environment is counted for another.",
)  # fmt: skip
SUBJECT = suites.flag(
    "NotificationSubject", "A notification has more than one of data, summary, externalPurchaseToken and appData, or none.",
    "Two programs see two different notifications.",
    "https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload",
)  # fmt: skip

TRANSACTION, RENEWAL, APP_TRANSACTION = jws.TRANSACTION, jws.RENEWAL_INFO, jws.APP_TRANSACTION
DATA = {"environment": "Sandbox", "appAppleId": APP, "bundleId": BUNDLE, "bundleVersion": "2.1"}
IDENTIFIER = "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11"


def add(suite: suites.Suite) -> None:
    (cases,) = for_kinds(suite, "signed-notification")
    add_types(cases)
    add_subjects(cases)
    add_content(cases)
    # A program may leave the signed parts to its caller, who verifies each by itself.
    nested = Cases(suite, cases.kind, ("nested-parts",))
    add_parts(nested)
    add_mismatches(nested)
    add_dates(nested)


def notification(kind: str, subtype: str | None, **subject) -> dict:
    payload = {"notificationType": kind, "notificationUUID": IDENTIFIER, "version": "2.0", "signedDate": SIGNED, **subject}
    return payload if subtype is None else {**payload, "subtype": subtype}


def with_data(kind: str = "DID_RENEW", subtype: str | None = None, **members) -> dict:
    return notification(kind, subtype, data={**DATA, **members})


def with_parts(transaction=None, renewal=None, **members) -> dict:
    """A notification with a signed transaction, renewal information or both, each a payload or a JWS."""
    parts = {"signedTransactionInfo": transaction, "signedRenewalInfo": renewal}
    parts = {name: jws.compact(part) if isinstance(part, dict) else part for name, part in parts.items() if part is not None}
    return with_data(**parts, **members)


def with_app_data(signed, **members) -> dict:
    part = jws.compact(signed) if isinstance(signed, dict) else signed
    data = {"appAppleId": APP, "bundleId": BUNDLE, "environment": "Sandbox", "signedAppTransactionInfo": part, **members}
    return notification("RESCIND_CONSENT", None, appData={name: value for name, value in data.items() if value is not ABSENT})


SUMMARY = {
    "environment": "Sandbox", "appAppleId": APP, "bundleId": BUNDLE, "productId": jws.PRODUCT,
    "requestIdentifier": "5f1f7b43-7d0e-4c2b-8f7e-0d9a6c3e1b22", "storefrontCountryCodes": ["USA", "DEU"],
    "succeededCount": 5, "failedCount": 0,
}  # fmt: skip
TOKEN = {"externalPurchaseId": "SANDBOX_b2158121-7af9-49d4-9561-1f588205523e", "tokenCreationDate": PURCHASED,
         "appAppleId": APP,
         "bundleId": BUNDLE}  # fmt: skip
SUBJECTS = {"data": DATA, "summary": SUMMARY, "externalPurchaseToken": TOKEN,
            "appData": {name: DATA[name] for name in ("appAppleId", "bundleId", "environment")}}  # fmt: skip


def reported(payload: dict, transaction: dict | None = None, subject: str = "data", environment: str | None = "sandbox",
             **changes) -> dict:  # fmt: skip
    """What a valid notification reports, whatever its subject."""
    kind = jws.Kind("signed-notification", "", payload, "signedDate", f"{subject}.environment", f"{subject}.bundleId")
    return jws.values(kind, payload, transaction, environment=environment, **changes)


# Of every type the subtypes that Apple documents, with what the notification has beside them: s is a signed transaction with
# renewal information, t a signed transaction alone.
TYPES = {
    "SUBSCRIBED": ("s", "INITIAL_BUY", "RESUBSCRIBE"),
    "DID_CHANGE_RENEWAL_PREF": ("s", "UPGRADE", "DOWNGRADE", None),
    "DID_CHANGE_RENEWAL_STATUS": ("s", "AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"),
    "OFFER_REDEEMED": ("s", None, "UPGRADE", "DOWNGRADE"),
    "DID_RENEW": ("s", None, "BILLING_RECOVERY"),
    "EXPIRED": ("s", "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE", None),
    "DID_FAIL_TO_RENEW": ("s", None, "GRACE_PERIOD"),
    "GRACE_PERIOD_EXPIRED": ("s", None),
    "PRICE_INCREASE": ("s", "PENDING", "ACCEPTED"),
    "REFUND": ("t", None),
    "REFUND_DECLINED": ("t", None),
    "REFUND_REVERSED": ("t", None),
    "CONSUMPTION_REQUEST": ("t", None),
    "RENEWAL_EXTENDED": ("s", None),
    "RENEWAL_EXTENSION": ("s", "FAILURE"),
    "REVOKE": ("t", None),
    "ONE_TIME_CHARGE": ("t", None),
    "METADATA_UPDATE": ("s", None),
    "MIGRATION": ("s", None),
    "PRICE_CHANGE": ("s", None),
    "SOMETHING_NEW": ("s", None, "SOMETHING_ELSE"),
}
REVOKED = {"revocationDate": SIGNED - 1000, "revocationReason": 0}
ONE_TIME = {"type": "Consumable", "expiresDate": ABSENT, "subscriptionGroupIdentifier": ABSENT, "webOrderLineItemId": ABSENT}
CHANGES = {"REFUND": REVOKED, "REVOKE": {**REVOKED, "inAppOwnershipType": "FAMILY_SHARED"}, "ONE_TIME_CHARGE": ONE_TIME,
           "CONSUMPTION_REQUEST": ONE_TIME}  # fmt: skip


def add_types(cases: Cases) -> None:
    for kind, (parts, *subtypes) in TYPES.items():
        transaction = jws.changed(TRANSACTION, CHANGES.get(kind, {}))
        members = {"signedTransactionInfo": jws.compact(transaction)}
        if parts == "s":
            members |= {"signedRenewalInfo": jws.compact(RENEWAL), "status": 1}
        if kind == "CONSUMPTION_REQUEST":
            members["consumptionRequestReason"] = "UNINTENDED_PURCHASE"
        for subtype in subtypes:
            payload = with_data(kind, subtype, **members)
            name = kind.lower().replace("_", "-") + ("" if subtype is None else "-" + subtype.lower().replace("_", "-"))
            label = kind if subtype is None else f"{kind} with {subtype}"
            text = f"{label}, with a signed transaction{' and renewal information' * (parts == 's')}."
            if kind == "SOMETHING_NEW":
                text = f"A type that nobody knows yet{' with such a subtype' * (subtype is not None)}, with its signed parts."
            # The purchase is not stated: whoever leaves the signed parts to the caller does not see it.
            values = {name: value for name, value in reported(payload).items() if name != "transactions"}
            cases.accept(f"types::{name}", text, payload, values=values, importance="medium")
    for name, text, payload, subject in [
        ("renewal-extension-summary", "RENEWAL_EXTENSION with SUMMARY, about all subscribers.",
         notification("RENEWAL_EXTENSION", "SUMMARY", summary=SUMMARY), "summary"),
        ("external-purchase-token-unreported", "EXTERNAL_PURCHASE_TOKEN with UNREPORTED, of the sandbox.",
         notification("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", externalPurchaseToken=TOKEN), "externalPurchaseToken"),
        ("external-purchase-token-created", "EXTERNAL_PURCHASE_TOKEN with CREATED, of the sandbox.",
         notification("EXTERNAL_PURCHASE_TOKEN", "CREATED", externalPurchaseToken={**TOKEN, "tokenType": "ACQUISITION",
                                                                                  "tokenExpirationDate": jws.EXPIRES}),
         "externalPurchaseToken"),
        ("external-purchase-token-active", "EXTERNAL_PURCHASE_TOKEN with ACTIVE_TOKEN_REMINDER, of the sandbox.",
         notification("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER", externalPurchaseToken=TOKEN),
         "externalPurchaseToken"),
        ("rescind-consent", "RESCIND_CONSENT, with a signed app transaction.", with_app_data(APP_TRANSACTION), "appData"),
        ("rescind-consent-unsigned", "RESCIND_CONSENT, without a signed app transaction.",
         notification("RESCIND_CONSENT", None, appData=SUBJECTS["appData"]), "appData"),
    ]:  # fmt: skip
        cases.accept(f"types::{name}", text, payload, values=reported(payload, subject=subject), importance="medium")
    production = {**TOKEN, "externalPurchaseId": "b2158121-7af9-49d4-9561-1f588205523e"}
    payload = notification("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", externalPurchaseToken=production)
    values = reported(payload, subject="externalPurchaseToken", environment="production")
    cases.accept("types::external-purchase-token-production",
                 "EXTERNAL_PURCHASE_TOKEN, of production: the token does not begin "
                 "with SANDBOX.", payload, values=values, policy={"environments": ["production"], "appAppleId": APP},
                 importance="medium")  # fmt: skip
    cases.refuse("environment::token-of-production-in-sandbox",
                 "A token that does not begin with SANDBOX is of production, under a "
                 "policy that accepts the sandbox.", jws.compact(payload), "wrong-environment",
                 policy={"environments": ["sandbox"]})  # fmt: skip
    sandbox = notification("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", externalPurchaseToken=TOKEN)
    cases.refuse("environment::token-of-sandbox-in-production", "A token that begins with SANDBOX, under a policy that accepts "
                 "production alone.", jws.compact(sandbox), "wrong-environment",
                 policy={"environments": ["production"]}, importance="critical")  # fmt: skip
    lower = notification("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED",
                         externalPurchaseToken={**TOKEN, "externalPurchaseId": "sandbox_b2158121"})  # fmt: skip
    cases.either("environment::token-in-lower-case",
                 "A token begins with sandbox in lower case, of which Apple does not say what it "
                 "means.", jws.compact(lower), policy={"environments": ["production"]})  # fmt: skip


def add_subjects(cases: Cases) -> None:
    names = list(SUBJECTS)
    for index, first in enumerate(names):
        for second in names[index + 1 :]:
            payload = notification("TEST", None, **{first: SUBJECTS[first], second: SUBJECTS[second]})
            name = f"{suites.kebab(first)}-and-{suites.kebab(second)}"
            cases.refuse(f"subject::{name}", f"It has both {first} and {second}.", jws.compact(payload), "malformed", "$",
                         flags=[SUBJECT], importance="medium")  # fmt: skip
    cases.refuse("subject::none", "It is about nothing, and so of no app.", jws.compact(notification("TEST", None)),
                 "wrong-bundle",
                 flags=[SUBJECT])  # fmt: skip
    cases.refuse("subject::empty-data", "Its data is empty, and so of no app.",
                 jws.compact(notification("TEST", None, data={})),
                 "wrong-bundle", flags=[SUBJECT])  # fmt: skip
    cases.refuse("subject::null-data", "Its data is null, and so of no app.",
                 jws.compact(notification("TEST", None, data=None)),
                 "wrong-bundle", flags=[SUBJECT])  # fmt: skip
    second = notification("TEST", None, data=DATA, summary=None)
    cases.either("subject::second-null", "It has data, and a summary that is null.", jws.compact(second), flags=[SUBJECT])
    for name, subject in [("summary", "summary"), ("token", "externalPurchaseToken"), ("app-data", "appData")]:
        other = notification("TEST", None, **{subject: {**SUBJECTS[subject], "bundleId": OTHER_BUNDLE}})
        cases.refuse(f"bundle::{name}-other", f"Its {subject} is of another app.", jws.compact(other), "wrong-bundle",
                     importance="critical")  # fmt: skip
        app = {**SUBJECTS[subject], "appAppleId": 1}
        production = {"environment": "Production"} if subject != "externalPurchaseToken" else {"externalPurchaseId": "b2158121"}
        stated = notification("TEST", None, **{subject: {**app, **production}})
        cases.refuse(f"app::{name}-other", f"Its {subject} is of another app by its number, in production.",
                     jws.compact(stated),
                     "wrong-app", policy={"environments": ["production"], "appAppleId": APP},
                     importance="critical")  # fmt: skip
        if subject != "externalPurchaseToken":
            sandbox = notification("TEST", None, **{subject: SUBJECTS[subject]})
            cases.refuse(f"environment::{name}-in-production", f"Its {subject} is of the sandbox, under a policy that accepts "
                         "production alone.", jws.compact(sandbox), "wrong-environment",
                         policy={"environments": ["production"]}, importance="critical")  # fmt: skip


def add_content(cases: Cases) -> None:
    version_1 = {
        "notification_type": "DID_RENEW", "environment": "Sandbox", "bid": BUNDLE, "bvrs": "2.1", "auto_renew_status": "true",
        "auto_renew_product_id": jws.PRODUCT, "password": "secret",
        "unified_receipt": {"status": 0, "environment": "Sandbox", "latest_receipt": "AAAA", "latest_receipt_info": []},
    }  # fmt: skip
    cases.refuse("content::version-1", "A notification of version 1, which the store never signed, in a right JWS.",
                 jws.compact(version_1), "malformed", "$", importance="medium")  # fmt: skip
    cases.refuse("content::not-signed", "The JSON of a notification without a JWS around it.",
                 jws.member(jws.NOTIFICATION), "malformed", importance="critical")  # fmt: skip
    cases.refuse("content::version-1-not-signed", "The JSON of a notification of version 1, which is not signed.",
                 jws.member(version_1), "malformed", importance="critical")  # fmt: skip
    for name, text, changes in [
        ("unknown-status", "Its status is one that nobody knows yet.", {"data.status": 99}),
        ("no-version", "It has no version.", {"version": ABSENT}),
        ("version-3", "Its version is 3.0, and it is as the others.", {"version": "3.0"}),
        ("identifier-in-capitals", "Its identifier is in capitals.", {"notificationUUID": IDENTIFIER.upper()}),
        ("no-identifier", "It has no identifier.", {"notificationUUID": ABSENT}),
        ("unknown-in-data", "Its data has members that nobody knows.", {"data.novelty": {"a": [1]}}),
        ("no-bundle-version", "It has no version of the app.", {"data.bundleVersion": ABSENT}),
        ("empty-subtype", "Its subtype is empty.", {"subtype": ""}),
    ]:
        cases.accept(f"content::{name}", text, cases.kind.payload(changes), importance="medium")
    cases.refuse("content::duplicate-in-data", "The bundle identifier occurs twice in data, with two values.",
                 jws.compact(jws.member(jws.NOTIFICATION).replace('"bundleId"', f'"bundleId":"{OTHER_BUNDLE}","bundleId"')),
                 "malformed", "$.data.bundleId", importance="medium", flags=[DUPLICATE])  # fmt: skip
    cases.refuse("content::duplicate-data", "data occurs twice, of two apps.",
                 jws.compact(jws.with_text(jws.NOTIFICATION, f'"data":{jws.member({**DATA, "bundleId": OTHER_BUNDLE})}')),
                 "malformed", "$.data", importance="medium", flags=[DUPLICATE])  # fmt: skip


PLACES = {"transaction": "$.data.signedTransactionInfo", "renewal": "$.data.signedRenewalInfo",
          "app-transaction": "$.appData.signedAppTransactionInfo"}  # fmt: skip
SAMPLES = {"transaction": TRANSACTION, "renewal": RENEWAL, "app-transaction": APP_TRANSACTION}


def around(part: str, signed) -> dict:
    """A notification with a signed part and no other."""
    if part == "app-transaction":
        return with_app_data(signed)
    return with_parts(**{part: signed})


def add_parts(cases: Cases) -> None:
    for name, payload, transaction in [
        ("transaction", with_parts(TRANSACTION), TRANSACTION), ("renewal", with_parts(renewal=RENEWAL), None),
        ("both", with_parts(TRANSACTION, RENEWAL), TRANSACTION),
    ]:  # fmt: skip
        cases.accept(f"parts::{name}", f"It has {'both signed parts' if name == 'both' else f'signed {name} data alone'}.",
                     payload,
                     values=reported(payload, transaction), importance="critical" if name == "both" else "high")  # fmt: skip
    for part, sample in SAMPLES.items():
        add_flawed_parts(cases, part, sample)
    expired_since = jws.of(with_leaf(not_after=pki.SIGNED + 60), TRANSACTION)
    payload = with_parts(expired_since)
    cases.accept("parts::transaction-leaf-expired-since", "The leaf of the signed transaction has expired since it signed.",
                 payload,
                 values=reported(payload, TRANSACTION), importance="medium")  # fmt: skip
    cases.refuse("parts::transaction-leaf-expired-evaluated",
                 "The leaf of the signed transaction has expired by the clock, at which "
                 "the certificates must be valid.", jws.compact(payload), "chain-expired",
                 f"{PLACES['transaction']}, certificate 0", policy={"time": "evaluation"}, flags=[NESTED])  # fmt: skip
    other = jws.of(with_leaf(serial=99, key=keys.elliptic("second leaf")), TRANSACTION)
    payload = with_parts(other)
    cases.accept("parts::transaction-of-second-leaf", "The signed transaction is signed by another leaf of the same authority.",
                 payload, values=reported(payload, TRANSACTION))  # fmt: skip
    revoked = jws.changed(TRANSACTION, REVOKED)
    payload = with_parts(revoked, RENEWAL)
    cases.accept("parts::transaction-revoked", "The signed transaction is revoked.", payload, values=reported(payload, revoked))
    unknown = with_data(novelty=jws.compact(TRANSACTION)[:-4] + "AAAA")
    cases.accept("parts::unknown-member", "A member that nobody knows holds a JWS that is not right.", unknown,
                 values=reported(unknown), importance="low")  # fmt: skip
    inner = jws.compact(with_parts(TRANSACTION))
    cases.refuse("parts::notification-in-notification", "A notification stands where a transaction belongs.",
                 jws.compact(with_parts(inner)), "nested-mismatch", PLACES["transaction"], flags=[NESTED])  # fmt: skip


def add_flawed_parts(cases: Cases, part: str, sample: dict) -> None:
    foreign, attacker = jws.authority(foreign=True), keys.elliptic("attacker")
    token = jws.compact(sample)
    signature = jws.signature_of(token)
    last = encode(flipped(signature, 511))
    under_root = foreign.but(intermediate={"claimed_issuer_key": jws.authority().root.key}).chain[:2]
    place = PLACES[part]
    production = encode(jws.data({**sample, "currency" if part != "app-transaction" else "applicationVersion": "XXX"}))
    text_flawed = [
        ("bit", "a signature with a flipped bit", replaced(token, signature=last), "signature-mismatch",
         f"{place}, JWS signature"),
        ("changed", "a payload that was changed after signing", replaced(token, payload=production), "signature-mismatch",
         f"{place}, JWS signature"),
        ("other-key", "a signature of another key than its leaf's", jws.compact(sample, key=attacker), "signature-mismatch",
         f"{place}, JWS signature"),
        ("zero", "a signature of zeros", jws.compact(sample, signature=bytes(64)), "signature-mismatch",
         f"{place}, JWS signature"),
        ("foreign", "the chain of a forger", jws.of(foreign, sample), "chain-untrusted", f"{place}, certificate 2"),
        ("genuine-root-appended", "the chain of a forger with the trusted root at its end",
         jws.compact(sample, chain=[*under_root, jws.genuine_chain()[2]], key=foreign.leaf.key), "chain-untrusted",
         f"{place}, certificate 1"),
        ("leaf-without-marker", "a leaf that lacks the marker of receipt signing", jws.of(with_leaf(*LEAF[:2]), sample),
         "certificate-purpose", f"{place}, certificate 0"),
        ("intermediate-not-authority", "an intermediate that may not issue certificates",
         jws.of(with_intermediate(pki.basic_constraints(False), pki.marker(pki.INTERMEDIATE_MARKER)), sample),
         "certificate-purpose", f"{place}, certificate 1"),
        ("leaf-expired", "a leaf that expired a second before", jws.of(with_leaf(not_after=pki.SIGNED - 1), sample),
         "chain-expired",
         f"{place}, certificate 0"),
        ("chain-of-two", "a chain of two", jws.compact(sample, chain=chain_of_two()), "chain-length",
         f"{place}, $.x5c of the JWS header"),
        ("chain-of-four", "a chain of four", jws.compact(sample, chain=chain_of_four()), "chain-length",
         f"{place}, $.x5c of the JWS header"),
        ("none", "the algorithm none", jws.compact(sample, header(alg="none"), signature=b""), "unsupported-algorithm",
         f"{place}, $.alg of the JWS header"),
        ("unsigned", "an empty signature", f"{token.rpartition('.')[0]}.", "unsigned", place),
        ("crit", "a header that demands an extension", jws.compact(sample, header(crit=["exp"])), "malformed",
         f"{place}, $.crit of the JWS header"),
        ("xcode", "one self-signed certificate, as Xcode's test data has",
         jws.compact(sample, chain=[self_signed(attacker)], key=attacker), "chain-length", f"{place}, $.x5c of the JWS header"),
    ]  # fmt: skip
    for name, text, signed, reason, where in text_flawed:
        cases.refuse(f"parts::{part}-{name}", f"The signed {part.replace('-', ' ')} has {text}.",
                     jws.compact(around(part, signed)), reason, where, importance="critical", flags=[NESTED])  # fmt: skip
    for name, text, signed in [
        ("no-jws", "is no JWS", "none"), ("empty", "is an empty text", ""),
         ("two-parts", "lacks its signature", token.rpartition(".")[0]),
        ("four-parts", "has four parts", f"{token}.e30"), ("white-space", "has a line break at its end", f"{token}\n"),
        ("json", "is JSON that is not signed", jws.member(sample)),
         ("base64", "is in base64 once more", suites.b64(token.encode())),
        ("array", "is an array", [token]), ("object", "is an object that is not signed", sample),
    ]:  # fmt: skip
        cases.refuse(f"parts::{part}-{name}", f"The signed {part.replace('-', ' ')} {text}.",
                     jws.compact(with_raw(part, signed)), "malformed",
                     importance="critical" if name in ("json", "object") else "medium",
                     flags=[NESTED])  # fmt: skip
    twice = jws.member(around(part, token))
    member = place.rpartition(".")[2]
    forged = jws.member(replaced(token, signature=last))
    cases.refuse(f"parts::{part}-twice", f"The signed {part.replace('-', ' ')} occurs twice, the first of them forged.",
                 jws.compact(twice.replace(f'"{member}"', f'"{member}":{forged},"{member}"')),
                 "malformed", place, flags=[NESTED, DUPLICATE], importance="medium")  # fmt: skip
    for other in SAMPLES:
        if other != part:
            cases.refuse(f"parts::{part}-is-{other}", f"A signed {other.replace('-', ' ')} stands where a signed "
                         f"{part.replace('-', ' ')} belongs.", jws.compact(around(part, SAMPLES[other])), "nested-mismatch",
                         place,
                         flags=[NESTED, MISMATCH])  # fmt: skip
    null = around(part, token)
    subject = "appData" if part == "app-transaction" else "data"
    null[subject][member] = None
    cases.either(f"parts::{part}-null", f"The signed {part.replace('-', ' ')} is null, which may mean that it is absent.",
                 jws.compact(null), flags=[NESTED])  # fmt: skip


def with_raw(part: str, value) -> dict:
    """A notification with any value in the place of a signed part."""
    result = around(part, "")
    subject = result["appData" if part == "app-transaction" else "data"]
    subject[PLACES[part].rpartition(".")[2]] = value
    return result


def self_signed(key) -> bytes:
    name = pki.name("StoreKit Testing in Xcode")
    return pki.Template(name, name, 1, key, key, "ecdsa-sha256", (pki.basic_constraints(False),)).encoded()


def add_mismatches(cases: Cases) -> None:
    both_apps = {"bundleIds": [BUNDLE, OTHER_BUNDLE]}
    place = PLACES["transaction"]
    of_other = {**TRANSACTION, "bundleId": OTHER_BUNDLE}
    of_production = {**TRANSACTION, "environment": "Production"}
    critical = {"importance": "critical", "flags": [MISMATCH]}
    cases.refuse("mismatch::bundle-not-accepted", "The signed transaction is of an app that is not accepted.",
                 jws.compact(with_parts(of_other)), "wrong-bundle", place, **critical)  # fmt: skip
    cases.refuse("mismatch::bundle", "Notification and signed transaction are of two apps, both accepted.",
                 jws.compact(with_parts(of_other)), "nested-mismatch", place, policy=both_apps, **critical)  # fmt: skip
    cases.refuse("mismatch::environment", "The signed transaction is of production, the notification of the sandbox.",
                 jws.compact(with_parts(of_production)), "nested-mismatch", place, **critical)  # fmt: skip
    cases.refuse("mismatch::environment-reversed", "The signed transaction is of the sandbox, the notification of production.",
                 jws.compact(with_parts(TRANSACTION, environment="Production")), "nested-mismatch", place,
                 **critical)  # fmt: skip
    cases.refuse("mismatch::sandbox-in-production",
                 "The signed transaction is of the sandbox, the notification of production, which "
                 "alone is accepted.", jws.compact(with_parts(TRANSACTION, environment="Production")), "wrong-environment",
                 place,
                 policy={"environments": ["production"]}, **critical)  # fmt: skip
    cases.refuse("mismatch::renewal-environment", "The renewal information is of production, the rest of the sandbox.",
                 jws.compact(with_parts(TRANSACTION, {**RENEWAL, "environment": "Production"})), "nested-mismatch",
                 PLACES["renewal"], **critical)  # fmt: skip
    cases.refuse("mismatch::original", "Transaction and renewal information are of two subscriptions.",
                 jws.compact(with_parts(TRANSACTION, {**RENEWAL, "originalTransactionId": "2000000009"})), "nested-mismatch",
                 PLACES["renewal"], **critical)  # fmt: skip
    cases.refuse("mismatch::original-prefix",
                 "The subscription of the renewal information begins like that of the transaction.",
                 jws.compact(with_parts(TRANSACTION, {**RENEWAL, "originalTransactionId": f"{ORIGINAL}1"})), "nested-mismatch",
                 PLACES["renewal"], **critical)  # fmt: skip
    app = PLACES["app-transaction"]
    for name, text, changes, reason, policy in [
        ("app-data-bundle", "The signed app transaction is of another app, which is accepted too.", {"bundleId": OTHER_BUNDLE},
         "nested-mismatch", both_apps),
        ("app-data-environment", "The signed app transaction is of production, the rest of the sandbox.",
         {"receiptType": "Production"},
         "nested-mismatch", {}),
        ("app-data-number", "The signed app transaction states another app by its number.", {"appAppleId": 1},
         "nested-mismatch", {}),
    ]:  # fmt: skip
        cases.refuse(f"mismatch::{name}", text, jws.compact(with_app_data({**APP_TRANSACTION, **changes})), reason, app,
                     policy=policy, **critical)  # fmt: skip
    for name, text, payload, values in [
        ("app-data-number-zero", "The signed app transaction states app 0, as the sandbox does.",
         with_app_data({**APP_TRANSACTION, "appAppleId": 0}), "appData"),
        ("product-differs", "The subscription will renew to another product, which is no contradiction.",
         with_parts(TRANSACTION, {**RENEWAL, "autoRenewProductId": "com.example.app.yearly"}), "data"),
        ("renewal-without-original", "The renewal information names no subscription.",
         with_parts(TRANSACTION, jws.changed(RENEWAL, {"originalTransactionId": ABSENT})), "data"),
    ]:  # fmt: skip
        transaction = TRANSACTION if values == "data" else None
        cases.accept(
            f"mismatch::{name}", text, payload, values=reported(payload, transaction, subject=values), importance="medium"
        )
    silent = with_parts(jws.changed(TRANSACTION, {"environment": ABSENT}))
    cases.accept("mismatch::transaction-without-environment",
                 "The signed transaction names no environment, as in early 2022; the "
                 "notification does.", silent, values=reported(silent, TRANSACTION), importance="medium")  # fmt: skip
    quiet = with_parts(TRANSACTION)
    del quiet["data"]["environment"]
    cases.accept("mismatch::notification-without-environment",
                 "The notification names no environment; the signed transaction does.",
                 quiet, values=reported(quiet, TRANSACTION, environment=None), importance="medium")  # fmt: skip
    cases.refuse("mismatch::transaction-without-bundle", "The signed transaction names no app.",
                 jws.compact(with_parts(jws.changed(TRANSACTION, {"bundleId": ABSENT}))), "wrong-bundle", place,
                 flags=[MISMATCH])  # fmt: skip
    two = with_parts(of_production, {**RENEWAL, "environment": "Sandbox"})
    del two["data"]["environment"]
    cases.refuse("mismatch::parts-among-themselves", "Transaction and renewal information are of two environments, and the "
                 "notification names none.", jws.compact(two), "nested-mismatch", PLACES["renewal"], **critical)  # fmt: skip


def add_dates(cases: Cases) -> None:
    undated = with_parts(TRANSACTION, RENEWAL)
    del undated["signedDate"]
    cases.accept("date::of-parts", "It has no date, as in early 2022; that of its signed parts counts.", undated,
                 values=reported(undated, TRANSACTION, signedAt=jws.instant(SIGNED)), importance="medium")  # fmt: skip
    later = with_parts(TRANSACTION, {**RENEWAL, "signedDate": SIGNED + 5000})
    del later["signedDate"]
    cases.accept("date::two-of-parts", "It has no date, and its signed parts have two.", later,
                 values=reported(later, TRANSACTION), importance="low")  # fmt: skip
    missing = with_parts(jws.changed(TRANSACTION, {"signedDate": ABSENT}))
    cases.either("date::of-transaction-missing",
                 "The signed transaction does not say when it was signed; the notification does.",
                 jws.compact(missing))  # fmt: skip
    none = jws.changed(missing, {"signedDate": ABSENT})
    cases.leave("date::none", "Neither the notification nor its signed transaction says when it was signed.", jws.compact(none),
                "signing-time-missing", importance="medium")  # fmt: skip
    old = with_parts({**TRANSACTION, "signedDate": SIGNED - 86_400_000})
    cases.accept("date::older-transaction", "The signed transaction was signed a day before the notification.", old,
                 values=reported(old, TRANSACTION))  # fmt: skip
    cases.accept("date::age-of-notification",
                 "The signed transaction was signed a day before the notification, whose age alone is "
                 "limited.", old, values=reported(old, TRANSACTION), policy={"maximumAge": 3600}, time=moment(60),
                 importance="medium")  # fmt: skip
    future = with_parts({**TRANSACTION, "signedDate": SIGNED + 3_600_000})
    cases.refuse("date::transaction-in-future", "The signed transaction was signed an hour after the clock.",
                 jws.compact(future),
                 "signed-in-future", PLACES["transaction"], time=moment(60))  # fmt: skip
    cases.refuse("date::transaction-before-chain", "The signed transaction was signed before its certificates became valid.",
                 jws.compact(with_parts({**TRANSACTION, "signedDate": (pki.NOT_BEFORE - 1) * 1000})), "chain-expired",
                 f"{PLACES['transaction']}, certificate 0", flags=[NESTED])  # fmt: skip
    renewed = {**TRANSACTION, "purchaseDate": SIGNED + 4000}
    payload = with_parts(renewed)
    cases.accept("date::purchased-after-signing", "The purchase is four seconds after the signing, as it was in early 2022.",
                 payload,
                 values=reported(payload, renewed), importance="medium")  # fmt: skip
