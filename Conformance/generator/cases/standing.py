# SPDX-License-Identifier: Apache-2.0
"""Whether what was bought stands at an instant, and policies that require it."""

import pki
from cases.google_play import REFUSED_LICENSE, UNPAID
from detached import PURCHASED as BOUGHT
from detached import huawei, license_text, license_values, order, orders, play, policy, signed
from fold import (
    COINS, CONSUMABLE, DAY, EXPIRES, HOUR, MONTHLY, NON_CONSUMABLE, NON_RENEWING, ORIGINAL, PURCHASED, SECOND, SIGNED,
    app_receipt, in_app, iso, jws, notification, renewal, rsa_policy, signer, single, transaction, transaction_receipt,
)  # fmt: skip
from suite import Suite, b64, base_policy, flag, receipt

LAPSED = flag(
    "LapsedPurchase", "The receipt is genuine, and what was bought has ended or was taken back.",
    "A customer who paid once, or got the money back, keeps access for ever.",
    "https://developer.apple.com/documentation/appstoreserverapi/jwstransactiondecodedpayload",
)  # fmt: skip
UNKNOWN = flag(
    "UnknownStanding", "The receipt is genuine, and does not say whether what was bought stands.",
    "Access is granted because nothing says that it has ended.",
    "https://developer.android.com/google/play/billing/lifecycle/subscriptions",
)  # fmt: skip
OCTOBER, NOVEMBER, DECEMBER = "2025-10-15T00:00:00Z", "2025-11-01T07:09:10Z", "2025-12-01T00:00:00Z"
# The last second of the first period, in milliseconds.
OCTOBER_END = EXPIRES - SECOND


class Standings:
    """Adds cases whose values are the standings of the purchases in a receipt."""

    def __init__(self, suite: Suite):
        self.suite = suite
        self.listed: dict[tuple[str, str], list[dict]] = {}

    def add(self, kind: str, name: str, description: str, input: dict, policy: dict, time: str, *standings: tuple) -> None:
        """A purchase that is active is one to grant; any other one is not."""
        listed = [{"transactionId": number, "standing": word} if number else {"standing": word} for number, word in standings]
        self.listed[kind, name] = listed
        words = {word for _, word in standings}
        flags = [UNKNOWN] if "unknown" in words else [UNPAID] if "pending" in words else [LAPSED] if words - {"active"} else []
        self.suite.add(
            f"{kind}::standing::{name}", description, input, "valid", values={"standing": listed}, policy=policy, time=time,
            flags=flags, features=["standing"], importance="critical" if words - {"active"} else "high",
        )  # fmt: skip

    def require(self, kind: str, name: str, description: str, input: dict, policy: dict, time: str, word: str | None) -> None:
        """The same receipt under a policy that requires a purchase that stands."""
        reason = "standing-unknown" if word == "unknown" else None if word == "active" else "not-current"
        if reason is None:
            listed = self.listed.get((kind, name), [{"transactionId": ORIGINAL, "standing": "active"}])
            outcome = {"verdict": "valid", "values": {"standing": listed}}
        else:
            outcome = {"verdict": "undetermined" if reason == "standing-unknown" else "invalid", "reason": reason}
        self.suite.add(
            f"{kind}::current::{name}", description, input, policy=policy | {"requireCurrent": True}, time=time,
            flags=[] if reason is None else [UNKNOWN if word == "unknown" else LAPSED], features=["standing"],
            importance="high" if reason is None else "critical", **outcome,
        )  # fmt: skip


def clock(milliseconds: int) -> str:
    """An instant without a fraction."""
    return iso(milliseconds)[:19] + "Z"


def add(suite: Suite) -> None:
    cases = Standings(suite)
    signed_transactions(cases)
    notifications(cases)
    other_jws(cases)
    app_receipts(cases)
    transaction_receipts(cases)
    google_play(cases)
    licenses(suite)
    huawei_purchases(cases)
    unproven(suite)


def signed_transactions(cases: Standings) -> None:
    kind, policy = "signed-transaction", base_policy(signer())
    ends = clock(EXPIRES)
    refund = {"revocationDate": SIGNED + DAY, "revocationReason": 0, "signedDate": SIGNED + DAY + SECOND}
    table = [
        ("active", "In the paid period.", transaction(), OCTOBER, "active"),
        ("second-before-end", "A second before the end of the paid period.", transaction(), clock(EXPIRES - SECOND), "active"),
        ("millisecond-before-end", "A millisecond before the end of the paid period.", transaction(expiresDate=EXPIRES + 1),
         ends,
         "active"),
        ("at-end", "At the end of the paid period, which is no part of it.", transaction(), ends, "expired"),
        ("millisecond-after-end", "A millisecond after the end of the paid period.", transaction(expiresDate=EXPIRES - 1), ends,
         "expired"),
        ("second-after-end", "A second after the end of the paid period.", transaction(), clock(EXPIRES + SECOND), "expired"),
        ("year-after-end", "A year after the end of the paid period.", transaction(), "2026-11-01T07:09:10Z", "expired"),
        ("refunded", "Refunded a day after the purchase.", transaction(**refund), OCTOBER, "refunded"),
        ("refunded-for-fault", "Refunded because of the app.", transaction(**(refund | {"revocationReason": 1})), OCTOBER,
         "refunded"),
        ("refunded-at-instant", "Refunded at the very instant.", transaction(revocationDate=EXPIRES - DAY, revocationReason=0),
         clock(EXPIRES - DAY), "refunded"),
        ("refunded-at-purchase", "Refunded at the instant of the purchase.",
         transaction(revocationDate=PURCHASED, revocationReason=0), OCTOBER, "refunded"),
        ("refunded-after-end", "Refunded when the paid period had ended.",
         transaction(revocationDate=EXPIRES + DAY, revocationReason=0, signedDate=EXPIRES + DAY), DECEMBER, "refunded"),
        ("refund-type-full", "Refunded in full, as the type says.",
         transaction(**refund, revocationType="REFUND_FULL", revocationPercentage=100_000), OCTOBER, "refunded"),
        ("family-revoked", "Shared in the family no longer, as the type says.",
         transaction(**refund, revocationType="FAMILY_REVOKE", inAppOwnershipType="FAMILY_SHARED"), OCTOBER, "revoked"),
        ("refund-null", "The date of a refund is null, which is none.", transaction() | {"revocationDate": None}, OCTOBER,
         "active"),
        ("end-null", "The end of the paid period is null, which is none.", transaction() | {"expiresDate": None}, OCTOBER,
         "unknown"),
        ("end-before-purchase", "The paid period ended before it was bought.", transaction(expiresDate=PURCHASED - DAY),
         OCTOBER,
         "expired"),
        ("end-zero", "The paid period ended in 1970.", transaction(expiresDate=0), OCTOBER, "expired"),
        ("family-shared", "Shared in the family.", transaction(inAppOwnershipType="FAMILY_SHARED"), OCTOBER, "active"),
        ("upgraded", "Replaced by a better product.", transaction(isUpgraded=True), OCTOBER, "upgraded"),
        ("not-upgraded", "Not replaced, as it says.", transaction(isUpgraded=False), OCTOBER, "active"),
        ("trial", "A free trial in its period.", transaction(offerType=1, offerDiscountType="FREE_TRIAL", price=0), OCTOBER,
         "active"),
        ("trial-ended", "A free trial whose period has ended.",
         transaction(offerType=1, offerDiscountType="FREE_TRIAL", price=0, expiresDate=PURCHASED + 7 * DAY), OCTOBER,
         "expired"),
        ("without-end", "A subscription that does not state the end of its period.", transaction(expiresDate=None), OCTOBER,
         "unknown"),
        ("without-purchase-date", "A subscription that does not state when it was bought.", transaction(purchaseDate=None),
         OCTOBER, "unknown"),
        ("consumable", "A consumable, which does not end.", single(CONSUMABLE), DECEMBER, "active"),
        ("consumable-refunded", "A consumable that was refunded.", single(CONSUMABLE, **refund), DECEMBER, "refunded"),
        ("non-consumable", "A product for ever, years later.", single(NON_CONSUMABLE), "2040-01-01T00:00:00Z", "active"),
        ("non-consumable-refunded", "A product for ever that was refunded.", single(NON_CONSUMABLE, **refund), DECEMBER,
         "refunded"),
        ("non-renewing", "A subscription of which only the app knows the end.", single(NON_RENEWING), DECEMBER, "active"),
        *withdrawals(),
        *bounds(),
    ]  # fmt: skip
    required = {
        "active", "at-end", "millisecond-before-end", "millisecond-after-end", "refunded", "family-revoked", "upgraded",
        "without-end", "consumable", "consumable-refunded", "non-renewing", "year-after-end",
    }  # fmt: skip
    for name, description, payload, time, word in table:
        cases.add(kind, name, description, receipt(jws(payload)), policy, time, (ORIGINAL, word))
        if name in required:
            cases.require(kind, name, description, receipt(jws(payload)), policy, time, word)
    evaluated = policy | {"time": "evaluation"}
    cases.add(
        kind, "evaluated-after-end", "After the end of the paid period, at an instant of evaluation.",
        receipt(jws(transaction())), evaluated, DECEMBER, (ORIGINAL, "expired"),
    )  # fmt: skip
    cases.require(
        kind, "evaluated-before-end", "Before the end of the paid period, at an instant of evaluation.",
        receipt(jws(transaction())), evaluated, OCTOBER, "active",
    )  # fmt: skip


def withdrawals() -> list[tuple]:
    """Who lost what: the type of a revocation decides, and without one whether the purchase is shared."""
    taken = {"revocationDate": SIGNED + DAY, "signedDate": SIGNED + DAY}
    shared, assigned = {"inAppOwnershipType": "FAMILY_SHARED"}, {"inAppOwnershipType": "ASSIGNED"}
    table = [
        ("shared", "What a member of the family shared was taken back, without a type.", shared, "revoked"),
        ("assigned", "What an organization assigned was taken back, without a type.", assigned, "revoked"),
        ("ownership-unknown", "A purchase of an ownership that nobody knows was taken back, without a type.",
         {"inAppOwnershipType": "SOMETHING_NEW"}, "refunded"),
        ("ownership-unstated", "A purchase that states no ownership was taken back, without a type.",
         {"inAppOwnershipType": None}, "refunded"),
        ("assignment-type", "The type says that the assignment was taken back.",
         assigned | {"revocationType": "ASSIGNMENT_REVOKE"}, "revoked"),
        ("family-type-of-buyer", "The type says that sharing ended, though the purchase states the buyer.",
         {"revocationType": "FAMILY_REVOKE"}, "revoked"),
        ("assignment-type-of-buyer", "The type says that the assignment was taken back, though the purchase states the buyer.",
         {"revocationType": "ASSIGNMENT_REVOKE"}, "revoked"),
        ("shared-and-refunded", "What is shared was refunded in full, as the type says.",
         shared | {"revocationType": "REFUND_FULL"}, "refunded"),
        ("assigned-and-refunded", "What is assigned was refunded in part, as the type says.",
         assigned | {"revocationType": "REFUND_PRORATED"}, "refunded"),
        ("type-unknown", "What is shared was taken back, of a type that nobody knows.",
         shared | {"revocationType": "SOMETHING_NEW"}, "refunded"),
    ]  # fmt: skip
    return [
        (f"taken-back-{name}", description, transaction(**taken, **changes), OCTOBER, word)
        for name, description, changes, word in table
    ]


def bounds() -> list[tuple]:
    """The instants around a refund, an end and a purchase, and facts that one of them outranks."""
    now = SIGNED + 14 * DAY
    time, ended = clock(now), clock(EXPIRES + DAY)
    later = {"purchaseDate": now + DAY, "expiresDate": now + 31 * DAY}
    return [
        ("refunded-in-a-millisecond", "Refunded a millisecond after the instant.", transaction(revocationDate=now + 1), time,
         "active"),
        ("refunded-a-millisecond-ago", "Refunded a millisecond before the instant.", transaction(revocationDate=now - 1), time,
         "refunded"),
        ("sharing-ends-in-a-millisecond", "Sharing ends a millisecond after the instant.",
         transaction(revocationDate=now + 1, revocationType="FAMILY_REVOKE"), time, "active"),
        ("ended-before-refund", "The paid period ended, and the refund is to come.",
         transaction(revocationDate=EXPIRES + 2 * DAY), ended, "expired"),
        ("upgraded-after-end", "Replaced by a better product, and the paid period is over.", transaction(isUpgraded=True),
         ended, "upgraded"),
        ("upgraded-and-refunded", "Replaced by a better product, and refunded.",
         transaction(isUpgraded=True, revocationDate=now - DAY), time, "refunded"),
        ("upgraded-before-refund", "Replaced by a better product, and the refund is to come.",
         transaction(isUpgraded=True, revocationDate=now + DAY), time, "upgraded"),
        ("upgraded-null", "Whether it was replaced is null, which says nothing.", transaction() | {"isUpgraded": None}, time,
         "active"),
        ("without-end-refunded", "A subscription that does not state the end of its period was refunded.",
         transaction(expiresDate=None, revocationDate=now - DAY), time, "refunded"),
        ("without-end-revoked", "A shared subscription that does not state the end of its period was taken back.",
         transaction(expiresDate=None, revocationDate=now - DAY, inAppOwnershipType="FAMILY_SHARED"), time, "revoked"),
        ("without-end-upgraded", "A subscription that does not state the end of its period was replaced by a better one.",
         transaction(expiresDate=None, isUpgraded=True), time, "unknown"),
        ("without-purchase-date-refunded", "A product that does not state when it was bought was refunded.",
         single(CONSUMABLE, purchaseDate=None, revocationDate=now - DAY), time, "refunded"),
        ("consumable-without-purchase-date", "A consumable that does not state when it was bought.",
         single(CONSUMABLE, purchaseDate=None), time, "unknown"),
        ("type-unstated", "A purchase that states neither type nor end.", single(CONSUMABLE, type=None), DECEMBER, "active"),
        ("type-unknown", "A purchase of a type that nobody knows does not state an end.", single("Something New"), DECEMBER,
         "active"),
        ("non-renewing-with-end", "A subscription that does not renew states its end, which is to come.",
         single(NON_RENEWING, expiresDate=EXPIRES), time, "active"),
        ("non-renewing-ended", "A subscription that does not renew states its end, which is past.",
         single(NON_RENEWING, expiresDate=EXPIRES), ended, "expired"),
        ("consumable-ended", "A consumable states an end, which is past.", single(CONSUMABLE, expiresDate=EXPIRES), ended,
         "expired"),
        ("before-purchase", "A day before the purchase, which states what was bought.", transaction(**later), time, "active"),
        ("before-purchase-refunded", "A day before the purchase, which was refunded when it was made.",
         transaction(**later, revocationDate=now + DAY), time, "refunded"),
        ("before-purchase-refunded-later", "A day before the purchase, which will be refunded a day after it.",
         transaction(**later, revocationDate=now + 2 * DAY), time, "active"),
        ("before-purchase-ended", "A day before the purchase, whose paid period is none.",
         transaction(purchaseDate=now + DAY, expiresDate=now + DAY), time, "expired"),
    ]  # fmt: skip


def notifications(cases: Standings) -> None:
    kind, policy = "signed-notification", base_policy(signer())
    late = EXPIRES + HOUR
    grace = renewal(signedDate=late, isInBillingRetryPeriod=True, expirationIntent=2, gracePeriodExpiresDate=EXPIRES + 6 * DAY)
    retry = renewal(signedDate=late, isInBillingRetryPeriod=True, expirationIntent=2)
    ended = renewal(signedDate=late, isInBillingRetryPeriod=False, expirationIntent=1, autoRenewStatus=0)
    seen = transaction(signedDate=late)
    revoked = {"revocationDate": SIGNED + DAY, "revocationReason": 0}
    table = [
        ("grace-period", "The charge failed, and a grace period lasts.",
         notification("DID_FAIL_TO_RENEW", "GRACE_PERIOD", late, seen, grace), EXPIRES + 5 * DAY, "active"),
        ("grace-period-at-end", "The charge failed, and the grace period ends now.",
         notification("DID_FAIL_TO_RENEW", "GRACE_PERIOD", late, seen, grace), EXPIRES + 6 * DAY, "expired"),
        ("billing-retry", "The charge failed, and there is no grace period.",
         notification("DID_FAIL_TO_RENEW", None, late, seen, retry), EXPIRES + DAY, "expired"),
        ("expired", "The customer ended the subscription.", notification("EXPIRED", "VOLUNTARY", late, seen, ended),
         EXPIRES + DAY, "expired"),
        ("renewal-off-in-period", "The customer ended the renewal, and the paid period lasts.",
         notification("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", SIGNED + DAY, transaction(signedDate=SIGNED + DAY),
                      renewal(signedDate=SIGNED + DAY, autoRenewStatus=0)), SIGNED + 2 * DAY, "active"),
        ("refund", "The store announces a refund that the transaction states.",
         notification("REFUND", None, SIGNED + DAY, transaction(**revoked, signedDate=SIGNED + DAY)), SIGNED + 2 * DAY,
         "refunded"),
        ("refund-unstated", "The store announces a refund that the transaction does not state yet.",
         notification("REFUND", None, SIGNED + DAY, transaction()), SIGNED + 2 * DAY, "refunded"),
        ("revoke-unstated", "The store announces that sharing ended, which the transaction does not state yet.",
         notification("REVOKE", None, SIGNED + DAY, transaction(inAppOwnershipType="FAMILY_SHARED")), SIGNED + 2 * DAY,
         "revoked"),
        ("refund-reversed", "The store takes back a refund.",
         notification("REFUND_REVERSED", None, SIGNED + 2 * DAY, transaction(signedDate=SIGNED + 2 * DAY)), SIGNED + 3 * DAY,
         "active"),
        ("refund-declined", "The store declined a refund.", notification("REFUND_DECLINED", None, SIGNED + DAY, transaction()),
         SIGNED + 2 * DAY, "active"),
        ("consumption-request", "The customer asked for a refund, and has none yet.",
         notification("CONSUMPTION_REQUEST", None, SIGNED + DAY, single(CONSUMABLE)), SIGNED + 2 * DAY, "active"),
        *announced(),
        *later_periods(),
        *billing_problems(),
    ]  # fmt: skip
    for name, description, text, instant, word in table:
        cases.add(kind, name, description, receipt(text), policy, clock(instant), (ORIGINAL, word))
        if name in ("grace-period", "grace-period-at-end", "billing-retry", "refund-unstated", "refund-reversed",
                    "later-period", "later-period-at-end", "later-period-refunded", "renewal-signed-before-end",
                    "refund-reversed-stated", "refund-stated-for-later", "revoke-of-buyer"):  # fmt: skip
            cases.require(kind, name, description, receipt(text), policy, clock(instant), word)
    later = EXPIRES + 10 * DAY
    text = notification("CONSUMPTION_REQUEST", None, later, transaction(signedDate=later),
                        renewal(signedDate=None, renewalDate=EXPIRES + 30 * DAY))  # fmt: skip
    cases.add(
        kind, "renewal-unsigned-date", "The renewal information states a later period, and not when it was signed.",
        receipt(text), policy | {"time": "evaluation"}, clock(later + DAY), (ORIGINAL, "expired"),
    )  # fmt: skip
    cases.require(
        kind, "renewal-alone", "A notification with renewal information alone has no purchase that stands.",
        receipt(notification("DID_CHANGE_RENEWAL_PREF", "UPGRADE", SIGNED, None, renewal())), policy, OCTOBER, None,
    )  # fmt: skip
    cases.require(
        kind, "test", "A notification without a purchase has none that stands.", receipt(notification("TEST")), policy, OCTOBER,
        None,
    )  # fmt: skip


def announced() -> list[tuple]:
    """What the notification itself announces: a refund, or the end of sharing, that the transaction may not state yet."""
    at = SIGNED + DAY
    shared, stated = {"inAppOwnershipType": "FAMILY_SHARED"}, {"revocationDate": SIGNED + HOUR, "signedDate": at}
    return [
        ("refund-stated-for-later", "The store announces a refund, and the transaction states a date that is to come.",
         notification("REFUND", None, at, transaction(revocationDate=SIGNED + 3 * DAY, signedDate=at)), SIGNED + 2 * DAY,
         "active"),
        ("refund-in-a-second", "The store announces a refund, which counts from the signing of the notification.",
         notification("REFUND", None, at, transaction()), at - SECOND, "active"),
        ("refund-now", "The store announces a refund, at the signing of the notification.",
         notification("REFUND", None, at, transaction()), at, "refunded"),
        ("refund-of-shared", "The store announces the refund of a shared purchase, which the transaction does not state.",
         notification("REFUND", None, at, transaction(**shared)), SIGNED + 2 * DAY, "refunded"),
        ("refund-without-date", "The store announces a refund, and the signing time is that of the transaction.",
         notification("REFUND", None, None, transaction(signedDate=at)), SIGNED + 2 * DAY, "refunded"),
        ("revoke-of-buyer", "The store announces that access ended, though the transaction states the buyer.",
         notification("REVOKE", None, at, transaction()), SIGNED + 2 * DAY, "revoked"),
        ("revoke-with-refund", "The store announces that sharing ended, and the transaction states a refund.",
         notification("REVOKE", None, at, transaction(**stated, revocationType="REFUND_FULL")), SIGNED + 2 * DAY, "refunded"),
        ("revoke-stated-for-later", "The store announces that sharing ended, and the transaction states a date to come.",
         notification("REVOKE", None, at, transaction(**shared, revocationDate=SIGNED + 3 * DAY, signedDate=at)),
         SIGNED + 2 * DAY, "active"),
        ("refund-reversed-stated", "The store takes back a refund that the transaction still states.",
         notification("REFUND_REVERSED", None, at, transaction(**stated)), SIGNED + 2 * DAY, "active"),
        ("refund-reversed-of-shared", "The store takes back what ended sharing, which the transaction still states.",
         notification("REFUND_REVERSED", None, at, transaction(**stated, **shared)), SIGNED + 2 * DAY, "active"),
        ("refund-reversed-ended", "The store takes back a refund, and the paid period is over.",
         notification("REFUND_REVERSED", None, at, transaction(**stated)), EXPIRES, "expired"),
        ("refund-declined-stated", "The store declined a refund, and the transaction states an earlier one.",
         notification("REFUND_DECLINED", None, at, transaction(**stated)), SIGNED + 2 * DAY, "refunded"),
        ("request-after-refund", "The customer asks for a refund, and the transaction states one.",
         notification("CONSUMPTION_REQUEST", None, at, transaction(**stated)), SIGNED + 2 * DAY, "refunded"),
        ("type-unknown", "A notification of a type that nobody knows changes nothing.",
         notification("SOMETHING_NEW", None, at, transaction(signedDate=at)), SIGNED + 2 * DAY, "active"),
    ]  # fmt: skip


def later_periods() -> list[tuple]:
    """A notification about a past purchase comes with the present renewal information, which may state a later period."""
    seen, ends = EXPIRES + 10 * DAY, EXPIRES + 30 * DAY
    now = seen + DAY

    def told(kind: str = "CONSUMPTION_REQUEST", purchase: dict | None = None, **changes) -> str:
        return notification(kind, None, seen, transaction(**({"signedDate": seen} | (purchase or {}))),
                            renewal(**({"signedDate": seen, "renewalDate": ends} | changes)))  # fmt: skip

    shared = {"inAppOwnershipType": "FAMILY_SHARED", "revocationDate": EXPIRES - DAY}
    refunded = {"revocationDate": EXPIRES - DAY, "revocationReason": 0}
    during = notification("DID_CHANGE_RENEWAL_PREF", None, SIGNED, transaction(**refunded), renewal(renewalDate=ends))
    return [
        ("later-period", "The subscription renewed: a later period lasts.", told(), now, "active"),
        ("later-period-second-before-end", "A second before the end of a later period.", told(), ends - SECOND, "active"),
        ("later-period-at-end", "At the end of a later period.", told(), ends, "expired"),
        ("later-period-not-retried", "A later period lasts, and the charge is not being retried, as it says.",
         told(isInBillingRetryPeriod=False), now, "active"),
        ("later-period-renewal-off", "A later period lasts, and will not be renewed.", told(autoRenewStatus=0), now, "active"),
        ("later-period-retried", "The charge for the later period is being retried.", told(isInBillingRetryPeriod=True), now,
         "expired"),
        ("later-period-given-up", "The subscription ended, as the renewal information says, whatever date it states.",
         told(expirationIntent=1), now, "expired"),
        ("later-period-unstated", "The renewal information states no date.", told(renewalDate=None), now, "expired"),
        ("later-period-refunded", "The first period was refunded, and a later one lasts.", told("REFUND", refunded), now,
         "active"),
        ("later-period-refund-unstated", "The store announces a refund of the first period, and a later one lasts.",
         told("REFUND"), now, "active"),
        ("later-period-refunded-at-end", "The first period was refunded, and the later one is over.",
         told("REFUND", refunded), ends, "expired"),
        ("later-period-sharing-ended", "Sharing was withdrawn, whatever period there is.", told("REVOKE", shared), now,
         "revoked"),
        ("later-period-revoke-unstated", "The store announces that sharing ended, whatever period there is.", told("REVOKE"),
         now, "revoked"),
        ("later-period-upgraded", "The first period was replaced by another product, and a later one lasts.",
         told(purchase={"isUpgraded": True}), now, "active"),
        ("refunded-in-first-period", "Refunded, and the renewal information was signed before the end of the period.",
         during, OCTOBER_END, "refunded"),
        ("renewal-signed-at-end", "The renewal information was signed at the end of the period, and states a later one.",
         told(signedDate=EXPIRES), now, "active"),
        ("renewal-signed-before-end", "The renewal information was signed a millisecond before the end of the period.",
         told(signedDate=EXPIRES - 1), now, "expired"),
        ("renewal-date-of-signing", "The renewal date is that of the signing, a second from now: it states no later period.",
         told(renewalDate=seen), seen - SECOND, "expired"),
        ("renewal-date-after-signing", "The renewal date is a millisecond after the signing.", told(renewalDate=seen + 1),
         seen, "active"),
    ]  # fmt: skip


def billing_problems() -> list[tuple]:
    """A charge failed: what counts is renewal information of the present period, not older than two days before its end."""
    now, grace, twice = EXPIRES + DAY, EXPIRES + 6 * DAY, EXPIRES - 2 * DAY

    def told(purchase: dict | None = None, **changes) -> str:
        failed = {"signedDate": EXPIRES, "isInBillingRetryPeriod": True, "gracePeriodExpiresDate": grace, "renewalDate": None}
        return notification("DID_FAIL_TO_RENEW", "GRACE_PERIOD", EXPIRES, transaction(**(purchase or {})),
                            renewal(**(failed | changes)))  # fmt: skip

    late = {"purchaseDate": EXPIRES - DAY, "signedDate": EXPIRES}
    return [
        ("grace-period-millisecond-before-end", "The grace period ends in a millisecond.",
         told(gracePeriodExpiresDate=now + 1), now, "active"),
        ("grace-period-millisecond-after-end", "The grace period ended a millisecond ago.",
         told(gracePeriodExpiresDate=now - 1), now, "expired"),
        ("grace-period-retry-unstated", "There is a grace period, and nothing says whether the charge is being retried.",
         told(isInBillingRetryPeriod=None), now, "active"),
        ("grace-period-not-retried", "There is a grace period, and the charge is not being retried.",
         told(isInBillingRetryPeriod=False), now, "expired"),
        ("grace-period-two-days-ahead", "The renewal information was signed two days before the end of the period.",
         told(signedDate=twice), now, "active"),
        ("grace-period-older", "The renewal information was signed more than two days before the end of the period.",
         told(signedDate=twice - 1), now, "expired"),
        ("grace-period-of-purchase", "The renewal information was signed when the period was bought.",
         told(late, signedDate=EXPIRES - DAY), now, "active"),
        ("grace-period-before-purchase", "The renewal information was signed before the period was bought, which paid.",
         told(late, signedDate=EXPIRES - DAY - 1), now, "expired"),
        ("grace-period-refunded", "Refunded in the grace period.", told({"revocationDate": EXPIRES}), now, "refunded"),
        ("grace-period-of-sixty-days", "The charge is being retried, and the grace period is over.", told(),
         EXPIRES + 59 * DAY, "expired"),
    ]  # fmt: skip


def other_jws(cases: Standings) -> None:
    policy = base_policy(signer())
    cases.require(
        "signed-renewal-info", "in-period", "Renewal information does not tell whether its subscription was refunded.",
        receipt(jws(renewal())), policy, OCTOBER, "unknown",
    )  # fmt: skip
    app = {
        "receiptType": "Production", "appAppleId": 1234567890, "bundleId": "com.example.app", "applicationVersion": "2.1",
        "receiptCreationDate": SIGNED, "originalPurchaseDate": PURCHASED, "originalApplicationVersion": "1.0",
    }  # fmt: skip
    cases.require(
        "signed-app-transaction", "download", "The download of an app is no purchase in it.", receipt(jws(app)), policy,
        OCTOBER, None,
    )  # fmt: skip


def app_receipts(cases: Standings) -> None:
    kind, policy = "app-receipt", rsa_policy()
    month = in_app(expires=EXPIRES, line_item=3000000001)
    renewed = in_app("2000000002", purchased=EXPIRES, original=ORIGINAL, expires=EXPIRES + 30 * DAY, line_item=3000000002)
    coins = in_app("2000000003", COINS)
    refunded = in_app("2000000003", COINS, cancelled=SIGNED + DAY)
    one, two, three = ORIGINAL, "2000000002", "2000000003"
    table = [
        ("active", "A subscription in its paid period.", app_receipt(month), OCTOBER, [(one, "active")], "active"),
        ("at-end", "A subscription at the end of its paid period.", app_receipt(month), NOVEMBER, [(one, "expired")],
         "expired"),
        ("expired", "A subscription a month after its paid period.", app_receipt(month), DECEMBER, [(one, "expired")],
         "expired"),
        ("renewed", "The second period of a subscription lasts.", app_receipt(month, renewed, created=EXPIRES + DAY),
         "2025-11-15T00:00:00Z", [(one, "expired"), (two, "active")], "active"),
        ("both-ended", "Two periods of a subscription have ended.", app_receipt(month, renewed, created=EXPIRES + DAY),
         "2026-02-01T00:00:00Z", [(one, "expired"), (two, "expired")], "expired"),
        ("consumable", "A consumable, which does not end.", app_receipt(coins), DECEMBER, [(three, "active")], "active"),
        ("refunded", "A consumable that was refunded.", app_receipt(refunded, created=SIGNED + 2 * DAY), DECEMBER,
         [(three, "refunded")], "refunded"),
        ("refunded-subscription", "A subscription that was refunded in its period.",
         app_receipt(in_app(expires=EXPIRES, line_item=3000000001, cancelled=SIGNED + DAY), created=SIGNED + 2 * DAY), OCTOBER,
         [(one, "refunded")], "refunded"),
        ("without-end", "A period of a subscription, by its identifier, that does not state its end.",
         app_receipt(in_app(line_item=3000000001)), OCTOBER, [(one, "unknown")], "unknown"),
        ("line-item-zero", "Products that are no subscription have the identifier 0.",
         app_receipt(in_app(three, COINS, line_item=0)), OCTOBER, [(three, "active")], "active"),
        ("type-without-end", "A renewing subscription, by its type, that does not state its end.",
         app_receipt(in_app(product_type=3)), OCTOBER, [(one, "unknown")], "unknown"),
        ("empty-dates", "Dates of end and refund that are empty texts are none.",
         app_receipt(in_app(three, COINS, empty=(1708, 1712))),
         OCTOBER, [(three, "active")], "active"),
        ("empty-refund", "An end of the period, and a date of refund that is an empty text.",
         app_receipt(in_app(expires=EXPIRES, line_item=3000000001, empty=(1712,))), OCTOBER, [(one, "active")], "active"),
        ("volume-purchase-ended", "The copy was bought for a time that has ended, and what was bought in it ended, too.",
         app_receipt(coins, expires=EXPIRES), DECEMBER, [(three, "expired")], "expired"),
        ("volume-purchase", "The copy was bought for a time that lasts.", app_receipt(coins, expires=EXPIRES), OCTOBER,
         [(three, "active")], "active"),
        ("volume-purchase-second-before-end", "The copy was bought for a time that ends in a second.",
         app_receipt(coins, expires=EXPIRES), clock(EXPIRES - SECOND), [(three, "active")], "active"),
        ("volume-purchase-at-end", "The copy was bought for a time that ends now.", app_receipt(coins, expires=EXPIRES),
         NOVEMBER, [(three, "expired")], "expired"),
        ("volume-purchase-refunded", "What was bought in the copy was refunded before the copy ended.",
         app_receipt(refunded, created=SIGNED + 2 * DAY, expires=EXPIRES), DECEMBER, [(three, "refunded")], "refunded"),
        ("volume-purchase-refunded-at-end", "What was bought in the copy was refunded when the copy ended.",
         app_receipt(in_app(three, COINS, cancelled=EXPIRES), expires=EXPIRES), DECEMBER, [(three, "refunded")], "refunded"),
        ("volume-purchase-refunded-later", "What was bought in the copy was refunded after the copy had ended.",
         app_receipt(in_app(three, COINS, cancelled=EXPIRES + DAY), expires=EXPIRES), DECEMBER, [(three, "expired")],
         "expired"),
        ("volume-purchase-longer-period", "A subscription in the copy states a longer period than the copy.",
         app_receipt(in_app(expires=EXPIRES + 60 * DAY, line_item=3000000001), expires=EXPIRES), DECEMBER, [(one, "expired")],
         "expired"),
        ("volume-purchase-without-end", "A subscription in the copy does not state its end.",
         app_receipt(in_app(line_item=3000000001), expires=EXPIRES), DECEMBER, [(one, "unknown")], "unknown"),
        ("refund-to-come", "A refund is stated for the next day.",
         app_receipt(in_app(expires=EXPIRES, line_item=3000000001, cancelled=OCTOBER_END)), clock(OCTOBER_END - SECOND),
         [(one, "active")], "active"),
        ("type-before-line-item", "The type says that it is no subscription, which counts before the identifier of a period.",
         app_receipt(in_app(three, COINS, product_type=1, line_item=3000000001)), OCTOBER, [(three, "active")], "active"),
        ("type-with-line-item-zero", "The type says that it is a subscription, and the identifier of a period is 0.",
         app_receipt(in_app(product_type=3, line_item=0)), OCTOBER, [(one, "unknown")], "unknown"),
        ("type-non-renewing", "A subscription that does not renew, by its type, does not state its end.",
         app_receipt(in_app(three, COINS, product_type=2)), DECEMBER, [(three, "active")], "active"),
        ("unknown-and-active", "Of two purchases one stands, and the other does not state its end.",
         app_receipt(in_app(line_item=3000000001), coins), OCTOBER, [(one, "unknown"), (three, "active")], "active"),
        ("unknown-and-expired", "Of two purchases one has ended, and the other does not state its end.",
         app_receipt(in_app(line_item=3000000001), in_app(two, expires=EXPIRES, line_item=3000000002)), DECEMBER,
         [(one, "unknown"), (two, "expired")], "unknown"),
        ("refunded-and-active", "Of two purchases one was refunded, and the other stands.",
         app_receipt(month, refunded, created=SIGNED + 2 * DAY), OCTOBER, [(one, "active"), (three, "refunded")], "active"),
    ]  # fmt: skip
    for name, description, data, time, standings, word in table:
        # The attributes of a set have no order of their own.
        ordered = sorted(standings, key=lambda pair: data.find(pair[0].encode()))
        cases.add(kind, name, description, receipt(b64(data)), policy, time, *ordered)
        if name in ("active", "at-end", "renewed", "both-ended", "refunded", "without-end", "consumable", "unknown-and-active",
                    "unknown-and-expired", "refunded-and-active", "volume-purchase-second-before-end",
                    "volume-purchase-at-end"):  # fmt: skip
            cases.require(kind, name, description, receipt(b64(data)), policy, time, word)
    for name, description, time, word in (
        ("empty-copy", "A copy without purchases that was bought for a time that ends in a second.", clock(EXPIRES - SECOND),
         "active"),
        ("empty-copy-at-end", "A copy without purchases that was bought for a time that ends now.", NOVEMBER, None),
    ):  # fmt: skip
        cases.listed[kind, name] = []
        cases.require(kind, name, description, receipt(b64(app_receipt(expires=EXPIRES))), policy, time, word)
    cases.require(
        kind, "empty", "An app receipt without purchases has none that stands.", receipt(b64(app_receipt())), policy, OCTOBER,
        None,
    )  # fmt: skip


def transaction_receipts(cases: Standings) -> None:
    kind, policy, number = "transaction-receipt", rsa_policy(), "1000000001"
    month = {"web_order_line_item_id": "3000000001", "expires_date": str(EXPIRES)}
    table = [
        ("consumable", "A product that does not end.", transaction_receipt(), DECEMBER, "active"),
        ("active", "A subscription in its paid period.", transaction_receipt(MONTHLY, **month), OCTOBER, "active"),
        ("at-end", "A subscription at the end of its paid period.", transaction_receipt(MONTHLY, **month), NOVEMBER, "expired"),
        ("without-end", "A subscription, by its identifier, that does not state its end.",
         transaction_receipt(MONTHLY, web_order_line_item_id="3000000001"), OCTOBER, "unknown"),
        ("second-before-end", "A second before the end of the paid period.", transaction_receipt(MONTHLY, **month),
         clock(EXPIRES - SECOND), "active"),
        ("line-item-empty", "The identifier of a period is empty, so that it is no subscription.",
         transaction_receipt(web_order_line_item_id=""), DECEMBER, "active"),
        ("ends-without-line-item", "A product that is no subscription, by its identifier, states an end, which is past.",
         transaction_receipt(expires_date=str(EXPIRES)), DECEMBER, "expired"),
    ]  # fmt: skip
    for name, description, data, time, word in table:
        cases.add(kind, name, description, receipt(data), policy, time, (number, word))
        cases.require(kind, name, description, receipt(data), policy, time, word)


def google_play(cases: Standings) -> None:
    kind, rules = "google-play-purchase", policy("play")
    number = "GPA.1234-5678-9012-34567"
    table = [
        ("product", "A product that was paid for.", play(), "active"),
        ("pending", "A product that is not paid for yet.", play(purchaseState=4), "pending"),
        ("cancelled", "A product whose purchase was cancelled.", play(purchaseState=1), "revoked"),
        ("refunded", "A product that was refunded.", play(purchaseState=2), "refunded"),
        ("state-unknown", "A payment state that nobody knows.", play(purchaseState=9), "unknown"),
        ("subscription", "A subscription does not state the end of its period.", play(autoRenewing=True), "unknown"),
        ("subscription-not-renewing", "A subscription that will not renew does not state its end either.",
         play(autoRenewing=False), "unknown"),
        ("without-date", "A purchase that does not state when it was made.", play(purchaseTime=None), "unknown"),
        ("state-unstated", "A product that states no payment state.", play(purchaseState=None), "active"),
        ("state-3", "A payment state that Google's data does not have.", play(purchaseState=3), "unknown"),
        ("state-negative", "A payment state below 0.", play(purchaseState=-1), "unknown"),
        ("subscription-pending", "A subscription that is not paid for yet.", play(autoRenewing=True, purchaseState=4),
         "pending"),
        ("subscription-cancelled", "A subscription whose purchase was cancelled.", play(autoRenewing=True, purchaseState=1),
         "revoked"),
        ("subscription-refunded", "A subscription that was refunded.", play(autoRenewing=False, purchaseState=2), "refunded"),
        ("refunded-without-date", "A product that was refunded, and does not state when it was bought.",
         play(purchaseTime=None, purchaseState=2), "refunded"),
    ]  # fmt: skip
    for name, description, purchase, word in table:
        cases.add(kind, name, description, signed(purchase), rules, DECEMBER, (number, word))
        cases.require(kind, name, description, signed(purchase), rules, DECEMBER, word)
    second = order(orderId="GPA.2", purchaseState=2)
    cases.add(
        kind, "order-list", "Of two orders one was refunded.", signed(orders(order(), second)), rules, DECEMBER,
        (number, "active"), ("GPA.2", "refunded"),
    )  # fmt: skip
    cases.require(
        kind, "order-list", "Of two orders one was refunded, and one stands.", signed(orders(order(), second)), rules, DECEMBER,
        "active",
    )  # fmt: skip


def licenses(suite: Suite) -> None:
    until = EXPIRES
    table = [
        ("licensed", "The user has a licence.", license_text(), OCTOBER, license_values()),
        ("licensed-old-key", "The user has a licence, signed by an older key.", license_text(2), OCTOBER, license_values(2)),
        ("not-licensed", "The user has no licence.", license_text(1), OCTOBER, None),
        ("server-failure", "Google's server failed, which is no licence.", license_text(4), OCTOBER, None),
        ("unknown", "A code that nobody knows is no licence.", license_text(99), OCTOBER, None),
        ("in-validity", "A second before the end of the validity.", license_text(extras=f"VT={until}"), clock(until - SECOND),
         license_values(valid_until=until)),
        ("validity-ended", "At the end of the validity.", license_text(extras=f"VT={until}"), clock(until), None),
        ("validity-zero", "The validity ended in 1970.", license_text(extras="VT=0"), OCTOBER, None),
        ("validity-unreadable", "The end of the validity is no number, which is the same as none.",
         license_text(extras="VT=soon"), DECEMBER, license_values()),
        ("not-licensed-in-validity", "The user has no licence, which is valid for a while.",
         license_text(1, extras=f"VT={until}"), OCTOBER, None),
        ("not-managed", "The market does not manage the app, which is no licence.", license_text(3), OCTOBER, None),
        ("over-quota", "Too many questions were asked, which is no licence.", license_text(5), OCTOBER, None),
        ("negative", "A negative code is no licence.", license_text(-2), OCTOBER, None),
    ]  # fmt: skip
    for name, description, text, time, values in table:
        outcome = {"verdict": "valid", "values": values} if values else {"verdict": "invalid", "reason": "not-current"}
        suite.add(
            f"google-play-license::current::{name}", description, signed(text), policy=policy("play", requireCurrent=True),
            time=time, features=["standing"], flags=[] if values else [REFUSED_LICENSE],
            importance="high" if values else "critical", **outcome,
        )  # fmt: skip


def huawei_purchases(cases: Standings) -> None:
    kind, rules = "huawei-purchase", policy("huawei")
    number = "20251001150910000example.100000001"
    once = {"subscriptionId": None, "expirationDate": None, "oriPurchaseTime": None, "subIsvalid": None, "autoRenewing": False}
    ends = pki.EXPIRES * 1000
    table = [
        ("active", "A subscription in its paid period.", huawei(), OCTOBER, "active"),
        ("second-before-end", "A second before the end of the paid period.", huawei(), clock(ends - SECOND), "active"),
        ("at-end", "At the end of the paid period.", huawei(), NOVEMBER, "expired"),
        ("millisecond-after-end", "A millisecond after the end of the paid period.", huawei(expirationDate=ends - 1), NOVEMBER,
         "expired"),
        ("grace-period", "After the paid period, in the grace period.", huawei(graceExpirationTime=ends + 3 * DAY),
         clock(ends + DAY), "active"),
        ("grace-period-ended", "After the grace period.", huawei(graceExpirationTime=ends + 3 * DAY), clock(ends + 3 * DAY),
         "expired"),
        ("withdrawn", "A subscription that customer service withdrew.", huawei(cancelTime=BOUGHT + DAY, cancelReason=2),
         OCTOBER,
         "refunded"),
        ("not-valid", "A subscription that was not in force when it was signed.", huawei(subIsvalid=False), OCTOBER, "expired"),
        ("without-end", "A subscription that does not state its end.", huawei(expirationDate=None), OCTOBER, "unknown"),
        ("pending", "A purchase that is not paid for yet.", huawei(purchaseState=3), OCTOBER, "pending"),
        ("cancelled", "A purchase that was cancelled.", huawei(purchaseState=1), OCTOBER, "revoked"),
        ("refunded", "A purchase that was refunded.", huawei(purchaseState=2), OCTOBER, "refunded"),
        ("consumable", "A consumable that was not used up.", huawei(**once, kind=0, consumptionState=0), DECEMBER, "active"),
        ("consumed", "A consumable that was used up.", huawei(**once, kind=0, consumptionState=1), DECEMBER, "consumed"),
        ("non-consumable", "A product for ever.", huawei(**once, kind=1), DECEMBER, "active"),
        ("initialized", "A purchase that was only begun.", huawei(purchaseState=-2147483648), OCTOBER, "pending"),
        ("state-unknown", "A payment state that nobody knows.", huawei(purchaseState=9), OCTOBER, "unknown"),
        ("state-unstated", "A subscription in its paid period that states no payment state.", huawei(purchaseState=None),
         OCTOBER, "active"),
        ("refunded-and-consumed", "A consumable that was used up, and refunded.",
         huawei(**once, kind=0, consumptionState=1, purchaseState=2), DECEMBER, "refunded"),
        ("consumed-without-date", "A consumable that was used up, and does not state when it was bought.",
         huawei(**once, kind=0, consumptionState=1, purchaseTime=None, purchaseTimeMillis=None), DECEMBER, "consumed"),
        ("without-date", "A purchase that does not state when it was made.",
         huawei(**once, kind=0, purchaseTime=None, purchaseTimeMillis=None), DECEMBER, "unknown"),
        ("date-in-milliseconds", "A purchase that states when it was made under the other name alone.",
         huawei(**once, kind=0, purchaseTime=None, purchaseTimeMillis=BOUGHT), DECEMBER, "active"),
        ("kind-unstated", "A purchase that states neither kind nor end.", huawei(**once, kind=None), DECEMBER, "active"),
        ("product-with-end", "A product that is no subscription states an end, which is past.",
         huawei(**(once | {"expirationDate": ends}), kind=1), DECEMBER, "expired"),
        ("grace-period-without-end", "A subscription states the end of a grace period alone.",
         huawei(expirationDate=None, graceExpirationTime=ends), OCTOBER, "unknown"),
        ("grace-period-before-end", "The grace period ended before the paid period, which lasts.",
         huawei(graceExpirationTime=BOUGHT + DAY), OCTOBER, "active"),
        ("grace-period-second-before-end", "A second before the end of the grace period.",
         huawei(graceExpirationTime=ends + 3 * DAY), clock(ends + 3 * DAY - SECOND), "active"),
        ("withdrawn-now", "A subscription that customer service withdraws now.", huawei(cancelTime=ends - DAY),
         clock(ends - DAY), "refunded"),
        ("withdrawn-in-a-second", "A subscription that customer service withdraws in a second.", huawei(cancelTime=ends - DAY),
         clock(ends - DAY - SECOND), "active"),
        ("withdrawn-and-ended", "A subscription that was withdrawn, and whose paid period is over.",
         huawei(cancelTime=BOUGHT + DAY), DECEMBER, "refunded"),
        ("not-valid-withdrawn-later", "Not in force when it was signed, because it was to be withdrawn a day later.",
         huawei(subIsvalid=False, cancelTime=ends - DAY), OCTOBER, "active"),
        ("not-valid-withdrawn", "Not in force when it was signed, because it was withdrawn.",
         huawei(subIsvalid=False, cancelTime=BOUGHT + DAY), OCTOBER, "refunded"),
        ("not-valid-without-end", "A product that was not in force when it was signed, and states no end.",
         huawei(**(once | {"subIsvalid": False}), kind=1), DECEMBER, "expired"),
    ]  # fmt: skip
    for name, description, purchase, time, word in table:
        data = signed(purchase, digest="sha256")
        cases.add(kind, name, description, data, rules, time, (number, word))
        if name in ("active", "at-end", "grace-period", "without-end", "pending", "consumed"):
            cases.require(kind, name, description, data, rules, time, word)


def unproven(suite: Suite) -> None:
    """A policy that requires a purchase that stands, and receipts that do not prove their environment: what the store can
    tell as well is left to it, and anything else is refused."""
    alone = {"environments": ["production"], "requireCurrent": True}
    month = {"web_order_line_item_id": "3000000001", "expires_date": str(EXPIRES)}
    period, endless = in_app(expires=EXPIRES, line_item=3000000001), in_app(line_item=3000000001)
    early, late = (in_app("2000000003", COINS, cancelled=date) for date in (SIGNED + DAY, EXPIRES + DAY))
    signed_at = EXPIRES + 2 * DAY

    def app(*purchases: bytes) -> dict:
        return receipt(b64(app_receipt(*purchases, created=signed_at, environment=None)))

    def of(**changes) -> dict:
        return receipt(jws({name: value for name, value in transaction(**changes).items() if name != "environment"}))

    def at_huawei(**changes) -> dict:
        return signed(huawei(**({"purchaseType": 9} | changes)), digest="sha256")

    store, refused = ("undetermined", "environment-unproven"), ("invalid", "not-current")
    rsa, play_rules, huawei_rules = rsa_policy(**alone), policy("play", **alone), policy("huawei", **alone)
    consumed = {"kind": 0, "consumptionState": 1}
    for kind, name, description, input, rules, time, outcome in [
        ("transaction-receipt", "active", "A subscription in its paid period.", receipt(transaction_receipt(MONTHLY, **month)),
         rsa, OCTOBER, store),
        ("transaction-receipt", "expired", "A subscription that has ended.", receipt(transaction_receipt(MONTHLY, **month)),
         rsa, DECEMBER, store),
        ("transaction-receipt", "unknown", "A subscription that does not state its end.",
         receipt(transaction_receipt(MONTHLY, web_order_line_item_id="3000000001")), rsa, OCTOBER, store),
        ("app-receipt", "active", "A subscription in its paid period.",
         receipt(b64(app_receipt(period, environment=None))), rsa, OCTOBER, store),
        ("app-receipt", "expired", "A subscription that has ended.", app(period), rsa, DECEMBER, store),
        ("app-receipt", "refunded", "A consumable that was refunded.", app(early), rsa, DECEMBER, refused),
        ("app-receipt", "expired-after-refund", "A consumable was refunded, and a subscription ended later.",
         app(period, early), rsa, DECEMBER, store),
        ("app-receipt", "refunded-after-end", "A subscription ended, and a consumable was refunded later.", app(period, late),
         rsa, DECEMBER, refused),
        ("app-receipt", "unknown-and-refunded", "A subscription does not state its end, and a consumable was refunded.",
         app(endless, late), rsa, DECEMBER, store),
        ("app-receipt", "empty", "There is no purchase.", app(), rsa, DECEMBER, refused),
        ("signed-transaction", "active", "A subscription in its paid period.", of(), base_policy(signer(), **alone), OCTOBER,
         store),
        ("signed-transaction", "expired", "A subscription that has ended.", of(), base_policy(signer(), **alone), DECEMBER,
         store),
        ("signed-transaction", "unknown", "A subscription that does not state its end.", of(expiresDate=None),
         base_policy(signer(), **alone), OCTOBER, store),
        ("signed-transaction", "refunded", "A subscription that was refunded.", of(revocationDate=SIGNED),
         base_policy(signer(), **alone), OCTOBER, refused),
        ("signed-transaction", "revoked", "A subscription that is shared no longer.",
         of(revocationDate=SIGNED, revocationType="FAMILY_REVOKE"), base_policy(signer(), **alone), OCTOBER, refused),
        ("signed-transaction", "upgraded", "A subscription that was replaced by a better one.", of(isUpgraded=True),
         base_policy(signer(), **alone), OCTOBER, refused),
        ("google-play-purchase", "active", "A product that was paid for.", signed(play()), play_rules, DECEMBER, store),
        ("google-play-purchase", "unknown", "A subscription, which does not state its end.", signed(play(autoRenewing=True)),
         play_rules, DECEMBER, store),
        ("google-play-purchase", "pending", "A product that is not paid for yet.", signed(play(purchaseState=4)), play_rules,
         DECEMBER, refused),
        ("google-play-purchase", "refunded", "A product that was refunded.", signed(play(purchaseState=2)), play_rules,
         DECEMBER, refused),
        ("google-play-license", "licensed", "The user has a licence.", signed(license_text()), play_rules, OCTOBER, store),
        ("google-play-license", "not-licensed", "The user has no licence.", signed(license_text(1)), play_rules, OCTOBER,
         refused),
        ("google-play-license", "validity-ended", "The answer may no longer be relied on.",
         signed(license_text(extras=f"VT={EXPIRES}")), play_rules, NOVEMBER, refused),
        ("huawei-purchase", "active", "A subscription in its paid period.", at_huawei(), huawei_rules, OCTOBER, store),
        ("huawei-purchase", "expired", "A subscription that has ended.", at_huawei(), huawei_rules, DECEMBER, store),
        ("huawei-purchase", "unknown", "A subscription that does not state its end.", at_huawei(expirationDate=None),
         huawei_rules, OCTOBER, store),
        ("huawei-purchase", "refunded", "A subscription that was refunded.", at_huawei(purchaseState=2), huawei_rules, OCTOBER,
         refused),
        ("huawei-purchase", "withdrawn", "A subscription that was withdrawn.", at_huawei(cancelTime=BOUGHT + DAY),
         huawei_rules, DECEMBER, refused),
        ("huawei-purchase", "consumed", "A consumable that was used up.", at_huawei(**consumed), huawei_rules, OCTOBER,
         refused),
    ]:  # fmt: skip
        verdict, reason = outcome
        suite.add(
            f"{kind}::current-unproven::{name}", f"{description} Production alone is accepted, and nothing that was signed "
            "names the environment.", input, verdict, reason=reason, policy=rules, time=time,
            flags=[UNKNOWN if outcome is store else LAPSED], features=["standing"],
            importance="high" if outcome is store else "critical",
        )  # fmt: skip
