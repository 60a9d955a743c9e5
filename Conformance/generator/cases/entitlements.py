# SPDX-License-Identifier: Apache-2.0
"""What follows from a set of notifications: neither the order in which they arrive nor repetitions matter.

The App Store sends a notification up to six times in a week, and later ones meanwhile, so that every order occurs.
"""

import base64
import dataclasses

import fold
from fold import (
    APP, COINS, CONSUMABLE, DAY, EXPIRES, HOUR, MINUTE, MONTHLY, NON_CONSUMABLE, NON_RENEWING, ORIGINAL, PURCHASED, SECOND,
    SIGNED, YEARLY, iso, jws, notification, renewal, signer, single, transaction,
)  # fmt: skip
from suite import Suite, b64, base_policy, flag

ORDER = flag(
    "ArrivalOrder", "Notifications arrive in another order than they were signed, or more than once.",
    "An old notification undoes a newer one: access comes back after a refund, or ends after a renewal.",
    "https://developer.apple.com/documentation/appstoreservernotifications/responding-to-app-store-server-notifications",
)  # fmt: skip
FORGED = flag(
    "ForgedNotification", "Among genuine notifications there is one that the store did not sign.",
    "Anyone who knows the address of the server grants himself access, or takes it from others.",
    "https://developer.apple.com/documentation/appstoreservernotifications/enabling-app-store-server-notifications",
)  # fmt: skip
FOREIGN = flag(
    "ForeignNotification", "Among the app's notifications there is one of another app or environment.",
    "Purchases in the sandbox, or in another app, give access in this one.",
    "https://developer.apple.com/documentation/appstoreservernotifications/environment",
)  # fmt: skip
TAKEN_BACK = flag(
    "TakenBack", "The purchase was refunded, or is shared no longer.", "A customer who got the money back keeps access.",
    "https://developer.apple.com/documentation/storekit/handling-refund-notifications",
)  # fmt: skip
MONTH = 31 * DAY
SECOND_END = EXPIRES + MONTH
SECOND_ID, THIRD_ID = "2000000002", "2000000003"
ORDERS = {
    "in-order": "They arrive in the order in which they were signed.",
    "reversed": "They arrive in the reverse order.",
    "rotated": "The first arrives last.",
    "repeated": "Each arrives twice, the second time in the reverse order.",
}


@dataclasses.dataclass(frozen=True)
class Line:
    """The entitlement that is expected of an original transaction."""

    state: str
    expires: int | None = EXPIRES
    product: str = MONTHLY
    original: str = ORIGINAL
    environment: str = "production"

    def document(self) -> dict:
        members = {
            "environment": self.environment, "originalTransactionId": self.original, "productId": self.product,
            "state": self.state, "expiresDate": None if self.expires is None else iso(self.expires),
        }  # fmt: skip
        return {name: value for name, value in members.items() if value is not None}


class Sets:
    def __init__(self, suite: Suite):
        self.suite = suite

    def one(
        self, name: str, description: str, receipts: list[str], at: int, *lines: Line, flags: tuple = (),
        policy: dict | None = None, importance: str = "high",
    ) -> None:  # fmt: skip
        """One case, in one order."""
        documents = sorted(
            (line.document() for line in lines), key=lambda line: (line["environment"], line["originalTransactionId"])
        )
        self.suite.add(
            f"entitlements::{name}", description, {"receipts": [b64(text.encode()) for text in receipts]}, "valid",
            operation="entitlements", values={"entitlements": documents}, policy=base_policy(signer(), **(policy or {})),
            time=iso(at)[:19] + "Z", flags=list(flags), importance=importance,
        )  # fmt: skip

    def orders(
        self, name: str, description: str, receipts: list[str], at: int, *lines: Line, orders: str = "in-order reversed",
        flags: tuple = (), policy: dict | None = None,
    ) -> None:  # fmt: skip
        """A case for each order of arrival, all with the same result."""
        for order in orders.split():
            marks = [*flags, *([] if order == "in-order" else [ORDER])]
            self.one(
                f"{name}::{order}", f"{description} {ORDERS[order]}", fold.arranged(order, receipts), at, *lines, flags=marks,
                policy=policy, importance="critical" if TAKEN_BACK in flags or order != "in-order" else "high",
            )  # fmt: skip


def at(milliseconds: int) -> int:
    """An instant in whole seconds, as that of a case is."""
    return milliseconds // 1000 * 1000


def bought(signed: int = SIGNED, **changes) -> str:
    payload = transaction(**({"signedDate": signed} | changes))
    return notification(
        "SUBSCRIBED", "INITIAL_BUY", signed, payload, renewal(signedDate=signed, renewalDate=payload["expiresDate"])
    )


def period(number: str, start: int, end: int, signed: int, **changes) -> dict:
    members = {
        "transactionId": number, "purchaseDate": start, "expiresDate": end, "signedDate": signed,
        "transactionReason": "RENEWAL",
    }  # fmt: skip
    return transaction(**(members | changes))


def renewed(number: str = SECOND_ID, start: int = EXPIRES, end: int = SECOND_END, subtype: str | None = None, **changes) -> str:
    signed = start + SECOND
    return notification(
        "DID_RENEW", subtype, signed, period(number, start, end, signed, **changes),
        renewal(signedDate=signed, renewalDate=end, productId=changes.get("productId", MONTHLY)),
    )  # fmt: skip


def failing(kind: str, subtype: str | None, signed: int, **changes) -> str:
    """A notification about the renewal after the first period, for which the App Store could not charge."""
    info = {"signedDate": signed, "isInBillingRetryPeriod": True, "expirationIntent": 2} | changes
    return notification(kind, subtype, signed, transaction(signedDate=signed), renewal(**info))


def about(kind: str, subtype: str | None, signed: int, payload: dict | None = None, **info) -> str:
    """A notification with a transaction, by default that of the first period, and renewal information."""
    payload = payload or transaction(signedDate=signed)
    details = {"signedDate": signed, "renewalDate": payload["expiresDate"], "productId": payload["productId"]} | info
    return notification(kind, subtype, signed, payload, renewal(**details))


def add(suite: Suite) -> None:
    sets = Sets(suite)
    parts = (
        periods, billing, outdated_failures, refunds, changes, products, restored, late_news, forged, foreign, parts_alone,
        ties, withdrawals, bought_again, keys,
    )  # fmt: skip
    for part in parts:
        part(sets)


def periods(sets: Sets) -> None:
    sets.one("purchase::in-period", "A subscription in its first period.", [bought()], SIGNED + DAY, Line("active"))
    sets.one(
        "purchase::second-before-end", "A second before the end of the first period.", [bought()], EXPIRES - SECOND,
        Line("active"),
    )  # fmt: skip
    sets.one(
        "purchase::at-end", "At the end of the first period, and nothing was heard of a renewal.", [bought()], EXPIRES,
        Line("expired"), importance="critical",
    )  # fmt: skip
    sets.one(
        "purchase::repeated", "The same notification five times.", [bought()] * 5, SIGNED + DAY, Line("active"), flags=(ORDER,)
    )
    sets.one("nothing::empty", "No notifications.", [], SIGNED + DAY)
    sets.orders(
        "renewal", "A subscription that renewed once, in its second period.", [bought(), renewed()], EXPIRES + DAY,
        Line("active", SECOND_END), orders="in-order reversed repeated",
    )  # fmt: skip
    third = renewed(THIRD_ID, SECOND_END, SECOND_END + MONTH)
    sets.orders(
        "renewal-twice", "A subscription that renewed twice, in its third period.", [bought(), renewed(), third],
        SECOND_END + DAY, Line("active", SECOND_END + MONTH), orders="in-order reversed rotated repeated",
    )  # fmt: skip
    sets.orders(
        "renewal-unheard", "The notification of the second period never arrived; that of the third did.", [bought(), third],
        SECOND_END + DAY, Line("active", SECOND_END + MONTH), orders="in-order reversed",
    )  # fmt: skip
    ended = about("EXPIRED", "VOLUNTARY", EXPIRES + MINUTE, expirationIntent=1, autoRenewStatus=0, isInBillingRetryPeriod=False)
    off = about("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", SIGNED + DAY, autoRenewStatus=0)
    on = about("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", SIGNED + 2 * DAY, autoRenewStatus=1)
    sets.orders(
        "expiry", "The customer ended the renewal, and the subscription expired.", [bought(), off, ended], EXPIRES + DAY,
        Line("expired"), orders="in-order reversed rotated",
    )  # fmt: skip
    sets.orders(
        "renewal-off", "The customer ended the renewal, and the paid period lasts.", [bought(), off], SIGNED + 3 * DAY,
        Line("active"),
    )  # fmt: skip
    sets.orders(
        "renewal-off-and-on", "The customer ended the renewal and took that back; the paid period lasts.", [bought(), off, on],
        SIGNED + 3 * DAY, Line("active"), orders="reversed",
    )  # fmt: skip
    again = EXPIRES + 40 * DAY
    resubscribed = about(
        "SUBSCRIBED", "RESUBSCRIBE", again + SECOND,
        period(SECOND_ID, again, again + MONTH, again + SECOND, transactionReason="PURCHASE"),
    )  # fmt: skip
    sets.orders(
        "resubscription", "The subscription expired, and the customer subscribed again.", [bought(), ended, resubscribed],
        again + DAY, Line("active", again + MONTH), orders="in-order reversed rotated",
    )  # fmt: skip


def billing(sets: Sets) -> None:
    grace_end = EXPIRES + 6 * DAY
    failed = failing("DID_FAIL_TO_RENEW", None, EXPIRES + MINUTE)
    grace = failing("DID_FAIL_TO_RENEW", "GRACE_PERIOD", EXPIRES + MINUTE, gracePeriodExpiresDate=grace_end)
    grace_over = failing("GRACE_PERIOD_EXPIRED", None, grace_end + MINUTE)
    given_up = failing("EXPIRED", "BILLING_RETRY", EXPIRES + 60 * DAY, isInBillingRetryPeriod=False)
    recovered = EXPIRES + 3 * DAY
    recovery = renewed(SECOND_ID, recovered, recovered + MONTH, "BILLING_RECOVERY")
    sets.orders(
        "grace-period", "The charge failed, and a grace period lasts.", [bought(), grace], EXPIRES + 5 * DAY,
        Line("in-grace-period"), orders="in-order reversed repeated",
    )  # fmt: skip
    sets.orders(
        "grace-period-second-before-end", "The charge failed, and the grace period ends in a second.", [bought(), grace],
        grace_end - SECOND, Line("in-grace-period"), orders="in-order",
    )  # fmt: skip
    sets.orders(
        "grace-period-at-end", "The charge failed, the grace period ends now, and the App Store still tries to charge.",
        [bought(), grace], grace_end, Line("in-billing-retry"), orders="in-order reversed",
    )  # fmt: skip
    early = EXPIRES - 12 * HOUR
    failed_early = failing("DID_FAIL_TO_RENEW", "GRACE_PERIOD", early, gracePeriodExpiresDate=grace_end)
    sets.orders(
        "early-failure", "The charge failed half a day before the end of the period, which lasts.", [bought(), failed_early],
        EXPIRES - HOUR, Line("active"), orders="in-order reversed",
    )  # fmt: skip
    sets.orders(
        "early-failure-in-grace-period", "The charge failed half a day before the end of the period, and a grace period lasts.",
        [bought(), failed_early], EXPIRES + DAY, Line("in-grace-period"), orders="reversed",
    )  # fmt: skip
    sets.orders(
        "grace-period-over", "The end of the grace period was announced; the App Store still tries to charge.",
        [bought(), grace, grace_over], grace_end + DAY, Line("in-billing-retry"), orders="in-order reversed",
    )  # fmt: skip
    sets.orders(
        "billing-retry", "The charge failed without a grace period.", [bought(), failed], EXPIRES + DAY,
        Line("in-billing-retry"), orders="in-order reversed",
    )  # fmt: skip
    sets.orders(
        "billing-retry-after-60-days", "The App Store tries to charge for 60 days, and nothing was heard since.",
        [bought(), failed], EXPIRES + 60 * DAY, Line("expired"), orders="in-order",
    )  # fmt: skip
    sets.orders(
        "billing-given-up", "The App Store gave up charging.", [bought(), failed, given_up], EXPIRES + 61 * DAY,
        Line("expired"),
        orders="in-order reversed",
    )  # fmt: skip
    sets.orders(
        "billing-recovery", "The charge failed, and succeeded three days later.", [bought(), grace, recovery], recovered + DAY,
        Line("active", recovered + MONTH), orders="in-order reversed rotated repeated",
    )  # fmt: skip
    sets.orders(
        "billing-recovery-ended", "The charge failed and succeeded later, and that period has ended, too.",
        [bought(), grace, recovery], recovered + MONTH + DAY, Line("expired", recovered + MONTH), orders="in-order reversed",
    )  # fmt: skip


def outdated_failures(sets: Sets) -> None:
    """A charge that failed is not the charge for the renewal that is due now."""
    start = EXPIRES + 2 * DAY
    failed = failing("DID_FAIL_TO_RENEW", None, EXPIRES + MINUTE)
    # With a grace period the days of paid service are not interrupted: the second period begins where the first one ended.
    grace = failing("DID_FAIL_TO_RENEW", "GRACE_PERIOD", EXPIRES + MINUTE, gracePeriodExpiresDate=EXPIRES + 6 * DAY)
    for name, begin, failure, words in (
        ("later", start, failed, "The charge failed, and succeeded two days later"),
        ("in-grace-period", EXPIRES, grace, "The charge failed, and succeeded in the grace period, which it pays for as well"),
    ):
        recovered = jws(period(SECOND_ID, begin, begin + MONTH, start))
        sets.orders(
            f"failure-before-recovery-{name}",
            f"{words}; the second period has ended, and nothing was heard of the charge for the third.",
            [bought(), failure, recovered], begin + MONTH + DAY, Line("expired", begin + MONTH), orders="in-order reversed",
        )  # fmt: skip
    sandbox = {"environment": "Sandbox"}
    end = PURCHASED + 5 * MINUTE
    first = transaction(**sandbox, expiresDate=end, signedDate=PURCHASED + SECOND)
    failure = notification(
        "DID_FAIL_TO_RENEW", None, end + SECOND, first | {"signedDate": end + SECOND},
        renewal(**sandbox, signedDate=end + SECOND, isInBillingRetryPeriod=True, expirationIntent=2),
        appAppleId=None, **sandbox,
    )  # fmt: skip
    recovered = period(SECOND_ID, end + MINUTE, end + 6 * MINUTE, end + MINUTE, **sandbox)
    sets.orders(
        "failure-before-recovery-accelerated",
        "In the sandbox, where a month lasts five minutes, the charge failed and succeeded a minute later; the second period"
        " has ended, and nothing was heard of the charge for the third.",
        [jws(first), failure, jws(recovered)], at(end + 10 * MINUTE), Line("expired", end + 6 * MINUTE, environment="sandbox"),
        orders="in-order reversed",
    )  # fmt: skip


def refund_of(payload: dict, signed: int, date: int | None = None) -> str:
    """The store's notification of a refund."""
    revoked = payload | {"revocationDate": date or signed - SECOND, "revocationReason": 0, "signedDate": signed}
    return notification("REFUND", None, signed, revoked)


def reversal_of(payload: dict, signed: int) -> str:
    return notification("REFUND_REVERSED", None, signed, payload | {"signedDate": signed})


def refunds(sets: Sets) -> None:
    first = transaction()
    refund = refund_of(first, SIGNED + 2 * DAY)
    reversal = reversal_of(first, SIGNED + 4 * DAY)
    second_refund = refund_of(first, SIGNED + 6 * DAY)
    instant = at(SIGNED + 2 * DAY)
    sets.orders(
        "refund", "A subscription that was refunded in its period.", [bought(), refund], SIGNED + 3 * DAY, Line("refunded"),
        orders="in-order reversed repeated", flags=(TAKEN_BACK,),
    )  # fmt: skip
    sets.one(
        "refund::second-before", "A second before the refund, which the App Store signed for that instant.",
        [bought(), refund_of(first, SIGNED + 2 * DAY, SIGNED + 2 * DAY + 10 * SECOND)], at(SIGNED + 2 * DAY + 9 * SECOND),
        Line("active"), importance="low",
    )  # fmt: skip
    sets.one(
        "refund::at-instant", "At the instant of the refund, in which the App Store signed it.",
        [bought(), refund_of(first, instant, instant)], instant, Line("refunded"), flags=(TAKEN_BACK,), importance="low",
    )  # fmt: skip
    sets.orders(
        "refund-reversed", "A refund that was taken back.", [bought(), refund, reversal], SIGNED + 5 * DAY, Line("active"),
        orders="in-order reversed rotated repeated",
    )  # fmt: skip
    sets.orders(
        "refund-twice", "A refund, its reversal, and another refund.", [bought(), refund, reversal, second_refund],
        SIGNED + 7 * DAY, Line("refunded"), orders="in-order reversed rotated", flags=(TAKEN_BACK,),
    )  # fmt: skip
    sets.orders(
        "refund-of-past-period", "The first period was refunded while the second lasts.",
        [bought(), renewed(), refund_of(first, EXPIRES + 2 * DAY)], EXPIRES + 3 * DAY, Line("active", SECOND_END),
        orders="in-order reversed rotated",
    )  # fmt: skip
    second = period(SECOND_ID, EXPIRES, SECOND_END, EXPIRES + SECOND)
    sets.orders(
        "refund-of-second-period", "The second period was refunded.",
        [bought(), renewed(), refund_of(second, EXPIRES + 2 * DAY)],
        EXPIRES + 3 * DAY, Line("refunded", SECOND_END), orders="in-order reversed rotated", flags=(TAKEN_BACK,),
    )  # fmt: skip
    asked = notification("CONSUMPTION_REQUEST", None, SIGNED + DAY, transaction(signedDate=SIGNED + DAY))
    declined = notification("REFUND_DECLINED", None, SIGNED + 2 * DAY, transaction(signedDate=SIGNED + 2 * DAY))
    sets.orders(
        "refund-declined", "The customer asked for a refund, and it was declined.", [bought(), asked, declined],
        SIGNED + 3 * DAY, Line("active"), orders="in-order reversed",
    )  # fmt: skip
    shared = {"inAppOwnershipType": "FAMILY_SHARED"}
    left = notification(
        "REVOKE", None, SIGNED + 2 * DAY,
        transaction(**shared, signedDate=SIGNED + 2 * DAY, revocationDate=SIGNED + 2 * DAY - SECOND, revocationReason=0),
    )  # fmt: skip
    sets.orders(
        "family-revoked", "A subscription that the family shares no longer.", [bought(**shared), left], SIGNED + 3 * DAY,
        Line("revoked"), orders="in-order reversed repeated", flags=(TAKEN_BACK,),
    )  # fmt: skip

    again = about(
        "DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", SIGNED + 4 * DAY, transaction(**shared, signedDate=SIGNED + 4 * DAY)
    )
    sets.orders(
        "family-shared-again", "A subscription that the family shared no longer, and shares again.",
        [bought(**shared), left, again], SIGNED + 5 * DAY, Line("active"), orders="in-order reversed rotated",
    )  # fmt: skip
    late = EXPIRES + 2 * DAY
    asked_late = notification(
        "CONSUMPTION_REQUEST", None, late, transaction(signedDate=late), renewal(signedDate=late, renewalDate=SECOND_END)
    )
    sets.one(
        "period-of-renewal-info::in-period",
        "A notification about the past period carries renewal information, by which the latest purchase lasts.",
        [asked_late], late + DAY, Line("active"), importance="medium",
    )  # fmt: skip
    sets.one(
        "period-of-renewal-info::at-end", "The latest purchase, known from renewal information alone, ends now.", [asked_late],
        SECOND_END, Line("expired"), importance="medium",
    )  # fmt: skip


def changes(sets: Sets) -> None:
    when = SIGNED + 10 * DAY
    year_end = when + 365 * DAY
    better = period(SECOND_ID, when, year_end, when + SECOND, productId=YEARLY, transactionReason="PURCHASE")
    upgrade = about("DID_CHANGE_RENEWAL_PREF", "UPGRADE", when + SECOND, better, autoRenewProductId=YEARLY)
    sets.orders(
        "upgrade", "The customer changed to a better product, which begins at once.", [bought(), upgrade], when + DAY,
        Line("active", year_end, YEARLY), orders="in-order reversed repeated",
    )  # fmt: skip
    replaced = about("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", when + 2 * SECOND,
                     transaction(isUpgraded=True, signedDate=when + 2 * SECOND))  # fmt: skip
    sets.orders(
        "upgrade-with-replaced", "After the change, a notification carries the transaction that was replaced.",
        [bought(), upgrade, replaced], when + DAY, Line("active", year_end, YEARLY), orders="in-order reversed rotated",
    )  # fmt: skip
    sets.orders(
        "upgrade-unheard", "The transaction was replaced by one that is not known yet.", [bought(), replaced], when + DAY,
        Line("upgraded"), orders="in-order reversed", flags=(TAKEN_BACK,),
    )  # fmt: skip
    yearly = {"productId": YEARLY, "expiresDate": PURCHASED + 365 * DAY}
    year = transaction(**yearly, signedDate=when)
    downgrade = about("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", when, year, autoRenewProductId=MONTHLY)
    year_end = PURCHASED + 365 * DAY
    sets.orders(
        "downgrade", "The customer chose a lesser product, which begins with the next period.", [bought(**yearly), downgrade],
        when + DAY, Line("active", year_end, YEARLY), orders="in-order reversed",
    )  # fmt: skip
    lesser = renewed(SECOND_ID, year_end, year_end + MONTH)
    sets.orders(
        "downgrade-renewed", "The next period began with the lesser product.", [bought(**yearly), downgrade, lesser],
        year_end + DAY, Line("active", year_end + MONTH, MONTHLY), orders="in-order reversed",
    )  # fmt: skip
    pending = about("PRICE_INCREASE", "PENDING", SIGNED + DAY, priceIncreaseStatus=0)
    accepted = about("PRICE_INCREASE", "ACCEPTED", SIGNED + 2 * DAY, priceIncreaseStatus=1)
    sets.orders(
        "price-increase", "A higher price was announced and accepted.", [bought(), pending, accepted], SIGNED + 3 * DAY,
        Line("active"), orders="in-order reversed",
    )  # fmt: skip
    refused = about(
        "EXPIRED", "PRICE_INCREASE", EXPIRES + MINUTE, expirationIntent=3, autoRenewStatus=0, isInBillingRetryPeriod=False
    )
    sets.orders(
        "price-increase-refused", "A higher price was announced and not accepted.", [bought(), pending, refused], EXPIRES + DAY,
        Line("expired"), orders="in-order reversed",
    )  # fmt: skip
    longer = EXPIRES + 14 * DAY
    extended = about("RENEWAL_EXTENDED", None, SIGNED + 5 * DAY, transaction(signedDate=SIGNED + 5 * DAY, expiresDate=longer))
    sets.orders(
        "extension", "The period was extended by two weeks, of which one is over.", [bought(), extended], EXPIRES + 7 * DAY,
        Line("active", longer), orders="in-order reversed repeated",
    )  # fmt: skip
    offer = about(
        "OFFER_REDEEMED", None, SIGNED + 5 * DAY, transaction(signedDate=SIGNED + 5 * DAY), offerType=3, offerIdentifier="code"
    )
    sets.orders(
        "offer", "The customer redeemed an offer for the next period.", [bought(), offer], SIGNED + 6 * DAY, Line("active"),
        orders="reversed",
    )  # fmt: skip


def products(sets: Sets) -> None:
    other = "2000000077"
    coins = single(CONSUMABLE, originalTransactionId=other, transactionId=other)
    charge = notification("ONE_TIME_CHARGE", None, SIGNED, coins)
    line = Line("active", None, COINS, other)
    sets.one("product::consumable", "A consumable, which does not end.", [charge], SIGNED + 400 * DAY, line)
    for kind, word in ((NON_CONSUMABLE, "non-consumable"), (NON_RENEWING, "non-renewing")):
        payload = single(kind, originalTransactionId=other, transactionId=other)
        sets.one(
            f"product::{word}", f"A purchase of the type {kind}, of which the App Store states no end.",
            [notification("ONE_TIME_CHARGE", None, SIGNED, payload)], SIGNED + 400 * DAY, line,
        )  # fmt: skip
    sets.orders(
        "product-refunded", "A consumable that was refunded.", [charge, refund_of(coins, SIGNED + DAY)], SIGNED + 2 * DAY,
        Line("refunded", None, COINS, other), orders="in-order reversed", flags=(TAKEN_BACK,),
    )  # fmt: skip
    sets.orders(
        "two-purchases", "A subscription that was refunded, beside a consumable that was not.",
        [bought(), charge, refund_of(transaction(), SIGNED + DAY)], SIGNED + 2 * DAY, Line("refunded"), line,
        orders="in-order reversed", flags=(TAKEN_BACK,),
    )  # fmt: skip


def restored(sets: Sets) -> None:
    """Who restores a purchase gets a transaction of his own identifier, of the same original: it was paid for once."""
    original, copy = "2000000077", "2000000088"
    first = single(NON_CONSUMABLE, originalTransactionId=original, transactionId=original)
    charge = notification("ONE_TIME_CHARGE", None, SIGNED, first)
    restoration = first | {"transactionId": copy, "purchaseDate": SIGNED + DAY, "signedDate": SIGNED + DAY}
    refund = refund_of(first, SIGNED + 3 * DAY)
    reversal = reversal_of(first, SIGNED + 5 * DAY)
    active, refunded = (Line(state, None, COINS, original) for state in ("active", "refunded"))
    later, words = SIGNED + 20 * DAY, "A product for ever that was bought and restored"
    # What the App Store Server API answers after the refund: it comes without a notification.
    history = first | {"revocationDate": SIGNED + 3 * DAY, "revocationReason": 0, "signedDate": SIGNED + 4 * DAY}
    refunds_of_both = [
        refund_of(restoration, SIGNED + 3 * DAY), reversal_of(restoration, SIGNED + 5 * DAY),
        refund_of(first, SIGNED + 7 * DAY), reversal_of(first, SIGNED + 9 * DAY),
    ]  # fmt: skip
    table = [
        ("kept", f"{words}.", [charge, jws(restoration)], active),
        ("refunded", f"{words}; the purchase was refunded.", [charge, jws(restoration), refund], refunded),
        ("refunded-in-history", f"{words}; the purchase was refunded, as its transaction says.",
         [charge, jws(restoration), jws(history)], refunded),
        ("refund-reversed", f"{words}; the purchase was refunded, and the refund taken back.",
         [charge, jws(restoration), refund, reversal], active),
        ("refunds-of-both-reversed", f"{words}; refunds of the second transaction and later of the first were taken back.",
         [charge, jws(restoration), *refunds_of_both], active),
        ("refunds-of-both-first-reversed", f"{words}; a refund of the second transaction was taken back, a later one was not.",
         [charge, jws(restoration), *refunds_of_both[:3]], refunded),
    ]  # fmt: skip
    for name, description, receipts, line in table:
        sets.orders(
            f"restored-product::{name}", description, receipts, later, line, orders="in-order reversed rotated",
            flags=(TAKEN_BACK,) if line is refunded else (),
        )  # fmt: skip
    # A restored period keeps its purchase date, and the identifier of the line item that was paid for.
    paid = transaction(webOrderLineItemId="2000000000000001")
    again = paid | {"transactionId": "2000000999", "signedDate": SIGNED + DAY}
    sets.orders(
        "restored-period::refunded", "A period that was bought and restored under an identifier of its own was refunded.",
        [jws(paid), jws(again), refund_of(paid, SIGNED + 2 * DAY)], SIGNED + 3 * DAY, Line("refunded"),
        orders="in-order reversed rotated", flags=(TAKEN_BACK,),
    )  # fmt: skip


def late_news(sets: Sets) -> None:
    """Notifications that must have no effect, or only that of what they carry."""
    sets.one("no-purchase::test", "A test notification is about no purchase.", [notification("TEST")], SIGNED + DAY)
    sets.one(
        "no-purchase::test-among-others", "A test notification between two others.",
        [bought(), notification("TEST"), renewed()],
        EXPIRES + DAY, Line("active", SECOND_END),
    )  # fmt: skip
    unknown = about("SOMETHING_NEW", "UNHEARD_OF", EXPIRES + SECOND, period(SECOND_ID, EXPIRES, SECOND_END, EXPIRES + SECOND))
    sets.one(
        "unknown-type::with-renewal", "A notification of a type that is yet unknown carries the transaction of a new period.",
        [bought(), unknown], EXPIRES + DAY, Line("active", SECOND_END), importance="medium",
    )  # fmt: skip
    future = renewed()
    sets.one(
        "signed-in-future::renewal", "A renewal that is signed for a day that has not come is refused.", [bought(), future],
        SIGNED + DAY, Line("active"), importance="medium",
    )  # fmt: skip


def tampered(text: str, old: bytes, new: bytes) -> str:
    """The same JWS with another payload."""
    header, payload, signature = text.split(".")
    plain = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    if old not in plain:
        raise ValueError(f"{old} is not in the payload")
    return f"{header}.{fold.url(plain.replace(old, new))}.{signature}"


def forged(sets: Sets) -> None:
    first = transaction()
    second = period(SECOND_ID, EXPIRES, SECOND_END, EXPIRES + SECOND)
    signed, later = EXPIRES + SECOND, SIGNED + 2 * DAY
    false_renewal = notification(
        "DID_RENEW", None, signed, second, renewal(signedDate=signed), foreign=True, foreign_parts=True
    )
    revoked = first | {"revocationDate": later - SECOND, "revocationReason": 0, "signedDate": later}
    refund = refund_of(first, later)
    false_reversal = notification("REFUND_REVERSED", None, later + DAY, first | {"signedDate": later + DAY}, foreign=True)
    genuine_parts = notification("DID_RENEW", None, signed, second, foreign=True)
    table = [
        ("renewal", "A renewal under a root that is not trusted.", [bought(), false_renewal], EXPIRES + DAY, Line("expired")),
        ("renewal-first", "A renewal under a root that is not trusted arrives before the genuine purchase.",
         [false_renewal, bought()], EXPIRES + DAY, Line("expired")),
        ("refund", "A refund under a root that is not trusted.",
         [bought(), notification("REFUND", None, later, revoked, foreign=True, foreign_parts=True)], later + HOUR,
         Line("active")),
        ("refund-of-genuine-part", "The notification is forged, and the transaction in it is genuine and says nothing new.",
         [bought(), notification("REFUND", None, later, first, foreign=True)], later + HOUR, Line("active")),
        ("reversal-of-genuine-part", "The reversal of a refund is forged around a genuine transaction.",
         [bought(), refund, false_reversal], later + 2 * DAY, Line("refunded")),
        ("part", "The notification is genuine, and the transaction in it is not.",
         [bought(), notification("DID_RENEW", None, signed, second, foreign_parts=True)], EXPIRES + DAY, Line("expired")),
        ("altered-type", "A notification whose type was edited after it was signed.",
         [bought(), tampered(about("REFUND_DECLINED", None, later), b"REFUND_DECLINED", b"REFUND")], later + HOUR,
         Line("active")),
        ("altered-expiry", "A transaction whose end was edited after it was signed.",
         [bought(), jws(notification_with(tampered(jws(first), str(EXPIRES).encode(), str(SECOND_END).encode())))],
         EXPIRES + DAY, Line("expired")),
        ("repeated", "The same forged notification ten times, and the genuine one once.", [false_renewal] * 10 + [bought()],
         EXPIRES + DAY, Line("expired")),
        ("same-number", "The genuine notification has the number of a forged one that came before.", [genuine_parts, renewed()],
         EXPIRES + DAY, Line("active", SECOND_END)),
        ("not-a-receipt", "A text that is no receipt, between two genuine notifications.", [bought(), "{}", renewed()],
         EXPIRES + DAY, Line("active", SECOND_END)),
    ]  # fmt: skip
    for name, description, receipts, instant, line in table:
        sets.one(f"forged::{name}", description, receipts, instant, line, flags=(FORGED,), importance="critical")
    sets.one(
        "forged::alone", "A forged purchase and nothing else.",
        [notification("SUBSCRIBED", "INITIAL_BUY", SIGNED, first, foreign=True, foreign_parts=True)], SIGNED + DAY,
        flags=(FORGED,), importance="critical",
    )  # fmt: skip


def notification_with(part: str) -> dict:
    """The payload of a notification about a signed part that is given as it is."""
    return {
        "notificationType": "RENEWAL_EXTENDED",
        "notificationUUID": "6f1c0f0a-9b1e-4d0c-8a55-2f7f6f0b7f11",
        "version": "2.0",
        "signedDate": SIGNED + DAY,
        "data": {"environment": "Production", "appAppleId": 1234567890, "bundleId": APP, "signedTransactionInfo": part},
    }


def foreign(sets: Sets) -> None:
    other = "com.example.other"
    second = period(SECOND_ID, EXPIRES, SECOND_END, EXPIRES + SECOND)
    signed = EXPIRES + SECOND
    of_other = notification("DID_RENEW", None, signed, second | {"bundleId": other}, bundleId=other)
    mixed = notification("DID_RENEW", None, signed, second | {"bundleId": other})
    sandbox = {"environment": "Sandbox"}
    test = notification("DID_RENEW", None, signed, second | sandbox, appAppleId=None, **sandbox)
    mixed_environment = notification("DID_RENEW", None, signed, second | sandbox)
    other_line = notification("DID_RENEW", None, signed, second, renewal(originalTransactionId="2000000099", signedDate=signed))
    instant = EXPIRES + DAY
    for name, description, text in (
        ("other-app", "A renewal with the same numbers in another app.", of_other),
        ("transaction-of-other-app", "A notification of this app with a transaction of another one.", mixed),
        ("transaction-of-sandbox", "A notification of production with a transaction of the sandbox.", mixed_environment),
        ("renewal-info-of-another", "A notification whose renewal information is of another subscription.", other_line),
    ):
        sets.one(
            f"foreign::{name}", description, [bought(), text], instant, Line("expired"), flags=(FOREIGN,), importance="critical"
        )
    sets.one(
        "foreign::sandbox-refused", "A renewal with the same numbers in the sandbox, and only production is accepted.",
        [bought(), test], instant, Line("expired"), flags=(FOREIGN,), policy={"environments": ["production"]},
        importance="critical",
    )  # fmt: skip
    for order, receipts in (("in-order", [bought(), test]), ("reversed", [test, bought()])):
        sets.one(
            f"two-environments::{order}",
            f"The same numbers in production and in the sandbox are two purchases. {ORDERS[order]}", receipts, instant,
            Line("expired"), Line("active", SECOND_END, environment="sandbox"), flags=(FOREIGN,), importance="critical",
        )  # fmt: skip


def parts_alone(sets: Sets) -> None:
    """Signed transactions and renewal information, as the App Store Server API answers with."""
    first = jws(transaction())
    second = jws(period(SECOND_ID, EXPIRES, SECOND_END, EXPIRES + SECOND))
    revoked = jws(period(SECOND_ID, EXPIRES, SECOND_END, EXPIRES + 2 * DAY, revocationDate=EXPIRES + DAY, revocationReason=0))
    sets.orders(
        "history", "Two periods in signed transactions.", [first, second], EXPIRES + DAY, Line("active", SECOND_END),
        orders="in-order reversed",
    )  # fmt: skip
    sets.orders(
        "history-refunded", "The second period, and the same transaction after its refund.", [first, second, revoked],
        EXPIRES + 3 * DAY, Line("refunded", SECOND_END), orders="in-order reversed", flags=(TAKEN_BACK,),
    )  # fmt: skip
    sets.orders(
        "history-and-notification", "A notification of the purchase, and a signed transaction of the second period.",
        [bought(), second], EXPIRES + DAY, Line("active", SECOND_END), orders="in-order reversed",
    )  # fmt: skip


def ties(sets: Sets) -> None:
    """Which of two transactions is the latest: the first difference decides."""
    late, early = EXPIRES + 10 * DAY, EXPIRES - 10 * DAY
    stated = {"revocationDate": SIGNED + HOUR}
    table = [
        ("purchase-date", "The later purchase counts, by a millisecond, whatever the numbers and the signing say.",
         transaction(expiresDate=late, transactionId=THIRD_ID, signedDate=SIGNED + 2 * HOUR),
         transaction(expiresDate=early, purchaseDate=PURCHASED + 1), Line("active", early)),
        ("purchase-date-unstated", "A transaction that does not state when it was made is the lowest.",
         transaction(purchaseDate=None, transactionId=THIRD_ID, signedDate=SIGNED + 2 * HOUR), transaction(expiresDate=early),
         Line("active", early)),
        ("number", "Of two purchases of one instant that of the greater number counts, whatever the signing says.",
         transaction(expiresDate=late, signedDate=SIGNED + 2 * HOUR), transaction(expiresDate=early, transactionId=SECOND_ID),
         Line("active", early)),
        ("longer-number", "A number of ten digits is greater than one of nine, whatever they begin with.",
         transaction(expiresDate=late, transactionId="999999999"), transaction(expiresDate=early, transactionId="1000000000"),
         Line("active", early)),
        ("signing", "What was signed a millisecond later counts.", transaction(expiresDate=late),
         transaction(expiresDate=early, signedDate=SIGNED + 1), Line("active", early)),
        ("signing-after-refund", "A refund that a transaction signed later does not state any more.", transaction(**stated),
         transaction(signedDate=SIGNED + 1), Line("active")),
        ("revocation", "Of two that were signed in one instant the one with a refund counts.",
         transaction(expiresDate=late, isUpgraded=True), transaction(expiresDate=early, **stated), Line("refunded", early)),
        ("later-revocation", "Of two that were signed in one instant the one with the later refund counts, which is to come.",
         transaction(expiresDate=late, **stated), transaction(expiresDate=early, revocationDate=SIGNED + 2 * DAY),
         Line("active", early)),
        ("upgrade", "Of two that were signed in one instant the one that was replaced counts.", transaction(expiresDate=late),
         transaction(expiresDate=early, isUpgraded=True), Line("upgraded", early)),
        ("end", "Of two that were signed in one instant the one that ends later counts.", transaction(expiresDate=early),
         transaction(expiresDate=late), Line("active", late)),
        ("end-unstated", "Of two that were signed in one instant one states an end, which counts.",
         single(NON_RENEWING), single(NON_RENEWING, expiresDate=late), Line("active", late, COINS)),
    ]  # fmt: skip
    for name, description, lower, higher, line in table:
        sets.orders(f"tie::{name}", description, [jws(lower), jws(higher)], at(SIGNED + DAY), line)
    grace = {"isInBillingRetryPeriod": True, "gracePeriodExpiresDate": EXPIRES + 6 * DAY, "signedDate": EXPIRES}
    failed, over = (
        notification("DID_FAIL_TO_RENEW", None, EXPIRES + MINUTE, transaction(), renewal(**grace | changes), name=str(changes))
        for changes in ({}, {"signedDate": EXPIRES + 1, "isInBillingRetryPeriod": False})
    )
    sets.orders(
        "tie::renewal-info", "Of two renewal informations that which was signed a millisecond later counts.", [failed, over],
        EXPIRES + DAY, Line("expired"),
    )  # fmt: skip
    failed_later = notification("DID_FAIL_TO_RENEW", None, EXPIRES + MINUTE, transaction(),
                                renewal(**grace | {"signedDate": EXPIRES + 2}))  # fmt: skip
    sets.orders(
        "tie::renewal-info-in-grace-period", "Renewal information that was signed a millisecond later begins a grace period.",
        [over, failed_later], EXPIRES + DAY, Line("in-grace-period"),
    )  # fmt: skip
    sets.one(
        "billing-retry::second-before-60-days", "The App Store tries to charge for 60 days, of which one second is left.",
        [failing("DID_FAIL_TO_RENEW", None, EXPIRES + MINUTE)], EXPIRES + 60 * DAY - SECOND, Line("in-billing-retry"),
    )  # fmt: skip
    sets.one(
        "billing-retry::unstated", "Nothing says whether the charge is being retried, and the grace period is over.",
        [failing("DID_FAIL_TO_RENEW", "GRACE_PERIOD", EXPIRES, isInBillingRetryPeriod=None,
                 gracePeriodExpiresDate=EXPIRES + DAY)],
        EXPIRES + DAY, Line("expired"),
    )  # fmt: skip


def withdrawals(sets: Sets) -> None:
    """What a notification of a refund, or of its reversal, says of a transaction that does not state it."""
    first, second = transaction(), period(SECOND_ID, EXPIRES, SECOND_END, EXPIRES + SECOND)
    shared = transaction(inAppOwnershipType="FAMILY_SHARED")
    day, now = SIGNED + DAY, SIGNED + 5 * DAY

    def told(kind: str, signed: int, payload: dict = first) -> str:
        return notification(kind, None, signed, payload)

    def stating(date: int, **changes) -> dict:
        return transaction(**({"revocationDate": date, "signedDate": date} | changes))

    active, refunded, revoked = (Line(state) for state in ("active", "refunded", "revoked"))
    reversed_then = "The refund was taken back in the millisecond"
    table = [
        ("unstated", "The store announces a refund that no transaction states.", [jws(first), told("REFUND", day)], refunded),
        ("signed-at-that-time", "A transaction that was signed in the millisecond of the refund does not state it yet.",
         [told("REFUND", day), jws(transaction(signedDate=day))], refunded),
        ("signed-later", "A transaction that was signed a millisecond after the refund does not state it any more.",
         [told("REFUND", day), jws(transaction(signedDate=day + 1))], active),
        ("refund-and-revoke", "A refund and the end of sharing were announced in one millisecond.",
         [told("REFUND", day), told("REVOKE", day)], revoked),
        ("refund-after-revoke", "A refund was announced a millisecond after the end of sharing.",
         [told("REVOKE", day), told("REFUND", day + 1)], refunded),
        ("revoke-after-refund", "The end of sharing was announced a millisecond after a refund.",
         [told("REFUND", day), told("REVOKE", day + 1)], revoked),
        ("reversed-at-that-time", f"{reversed_then} of the refund.",
         [jws(stating(day)), told("REFUND_REVERSED", day)], active),
        ("reversed-before", f"{reversed_then} before the refund that the transaction states.",
         [jws(stating(day)), told("REFUND_REVERSED", day - 1)], refunded),
        ("reversed-at-announcement", f"{reversed_then} of its announcement.",
         [jws(stating(day)), told("REFUND", day + HOUR), told("REFUND_REVERSED", day + HOUR)], active),
        ("reversed-before-announcement", f"{reversed_then} before another announcement of it.",
         [jws(stating(day)), told("REFUND", day + HOUR), told("REFUND_REVERSED", day + HOUR - 1)], refunded),
        ("reversed-after-reversal", "Of two reversals the later one counts.",
         [jws(stating(day)), told("REFUND_REVERSED", day - HOUR), told("REFUND_REVERSED", day + HOUR)], active),
        ("type-of-transaction", "The end of sharing was announced, and the transaction states the type of a refund.",
         [jws(stating(day, revocationType="REFUND_FULL")), told("REVOKE", day)], refunded),
        ("sharing-by-type", "A refund was announced, and the transaction states that sharing ended.",
         [jws(stating(day, revocationType="FAMILY_REVOKE")), told("REFUND", day)], revoked),
        ("kind-of-announcement", "A shared transaction states no type, and a refund was announced.",
         [jws(shared | {"revocationDate": day, "signedDate": day}), told("REFUND", day, shared)], refunded),
        ("shared-alone", "A shared transaction states no type, and nothing was announced.",
         [jws(shared | {"revocationDate": day, "signedDate": day})], revoked),
        ("revoke-of-buyer", "The transaction states no type and the buyer, and the end of sharing was announced.",
         [jws(stating(day)), told("REVOKE", day)], revoked),
        ("declined", "A refund was declined after another one.", [told("REFUND", day), told("REFUND_DECLINED", day + HOUR)],
         refunded),
        ("asked-later", "The customer asks for a refund after one was taken back.",
         [told("REFUND", day), told("REFUND_REVERSED", day + HOUR), told("CONSUMPTION_REQUEST", day + 2 * HOUR)], active),
    ]  # fmt: skip
    for name, description, receipts, line in table:
        flags = () if line is active else (TAKEN_BACK,)
        sets.orders(f"withdrawal::{name}", description, receipts, now, line, flags=flags)
    later = EXPIRES + 3 * DAY
    table = [
        ("of-first-period", "The store announces a refund of the first period, in the second one.",
         [jws(second), told("REFUND", EXPIRES + DAY)], Line("active", SECOND_END)),
        ("of-both-periods", "The store announces a refund of the second period, and later of the first one.",
         [jws(second), told("REFUND", EXPIRES + DAY, second), told("REFUND", EXPIRES + 2 * DAY)],
         Line("refunded", SECOND_END)),
        ("reversal-of-first-period", "The second period was refunded, and later a refund of the first one was taken back.",
         [jws(second), told("REFUND", EXPIRES + DAY, second), told("REFUND_REVERSED", EXPIRES + 2 * DAY)],
         Line("refunded", SECOND_END)),
        ("reversal-of-both-periods", "A refund of the second period was taken back, and later one of the first.",
         [jws(second), told("REFUND", EXPIRES + DAY, second), told("REFUND_REVERSED", EXPIRES + DAY + HOUR, second),
          told("REFUND_REVERSED", EXPIRES + 2 * DAY)], Line("active", SECOND_END)),
    ]  # fmt: skip
    for name, description, receipts, line in table:
        flags = (TAKEN_BACK,) if line.state == "refunded" else ()
        sets.orders(f"withdrawal::{name}", description, receipts, later, line, orders="in-order reversed rotated", flags=flags)


def bought_again(sets: Sets) -> None:
    """What renews is another purchase in each period; all transactions of anything else are one, until it is bought again."""
    day, now = SIGNED + DAY, SIGNED + 5 * DAY

    def pair(kind: str | None, bought: int, signed: int) -> list[str]:
        """A purchase, the refund that is announced of it, and a transaction of another date."""
        first = single(NON_CONSUMABLE, type=kind)
        again = first | {"transactionId": SECOND_ID, "purchaseDate": bought, "signedDate": signed}
        return [jws(first), notification("REFUND", None, day, first), jws(again)]

    active, refunded = (Line(state, None, COINS) for state in ("active", "refunded"))
    for name, description, receipts, line in [
        ("restored", "A product was restored before it was refunded.", pair(NON_CONSUMABLE, day - HOUR, day - HOUR), refunded),
        ("restored-type-unknown", "A product of a type that nobody knows was restored before it was refunded.",
         pair("Something New", day - HOUR, day - HOUR), refunded),
        ("restored-non-renewing", "A subscription that does not renew was restored before it was refunded.",
         pair(NON_RENEWING, day - HOUR, day - HOUR), refunded),
        ("restored-type-unstated", "A purchase that states no type may be a period: another one was refunded.",
         pair(None, day - HOUR, day - HOUR), active),
        ("restored-in-that-millisecond", "A product was restored in the millisecond of the refund.",
         pair(NON_CONSUMABLE, day, day), refunded),
        ("bought-later", "A product was bought a millisecond after the refund, in a transaction that was signed before.",
         pair(NON_CONSUMABLE, day + 1, day - 1), active),
        ("signed-later", "A product was restored before the refund, in a transaction that was signed a millisecond after it.",
         pair(NON_CONSUMABLE, day - HOUR, day + 1), active),
    ]:  # fmt: skip
        sets.orders(
            f"bought-again::{name}", description, receipts, now, line, orders="in-order reversed rotated",
            flags=(TAKEN_BACK,) if line is refunded else (),
        )  # fmt: skip


def keys(sets: Sets) -> None:
    """What is one purchase line: app, environment by its word, and original transaction."""
    second = period(SECOND_ID, EXPIRES, SECOND_END, EXPIRES + SECOND)
    now, other = EXPIRES + DAY, "com.example.other"
    sets.orders(
        "key::volume-purchase", "Production and volume purchases of production are one environment.",
        [jws(transaction()), jws(second | {"environment": "ProductionVPP"})], now, Line("active", SECOND_END),
    )  # fmt: skip
    for name, description, changes, lines, policy in [
        ("other-app", "Two apps have the same numbers.", {"bundleId": other, "productId": "com.example.other.monthly"},
         (Line("expired"), Line("active", SECOND_END, "com.example.other.monthly")), {"bundleIds": [APP, other]}),
        ("other-case", "Two apps have names that differ in case.", {"bundleId": APP.upper(), "productId": YEARLY},
         (Line("expired"), Line("active", SECOND_END, YEARLY)), {"bundleIds": [APP, APP.upper()]}),
        ("other-original", "Two original transactions differ in a zero in front.", {"originalTransactionId": f"0{ORIGINAL}"},
         (Line("expired"), Line("active", SECOND_END, original=f"0{ORIGINAL}")), {}),
    ]:  # fmt: skip
        sets.orders(f"key::{name}", description, [jws(transaction()), jws(second | changes)], now, *lines, policy=policy)
    unnamed = {name: value for name, value in transaction().items() if name != "originalTransactionId"}
    sets.one("key::original-unstated", "A transaction that names no original transaction is of no line.",
             [jws(unnamed), jws(second)], now, Line("active", SECOND_END), importance="medium")  # fmt: skip
    late, ends = EXPIRES + 2 * DAY, EXPIRES + 30 * DAY
    info = renewal(signedDate=late, renewalDate=ends, productId=YEARLY)
    asked = notification("CONSUMPTION_REQUEST", None, late, transaction(signedDate=late), info)
    sets.one("period-of-renewal-info::product", "The product is that of the later period, which renewal information states.",
             [asked], late + DAY, Line("active", None, YEARLY))  # fmt: skip
    sets.one("period-of-renewal-info::first-product", "After the later period the product is that of the transaction.",
             [asked], ends, Line("expired", EXPIRES, MONTHLY), importance="medium")  # fmt: skip
    unsigned = {name: value for name, value in info.items() if name != "signedDate"}
    asked = notification("CONSUMPTION_REQUEST", None, late, transaction(signedDate=late), unsigned)
    sets.one("period-of-renewal-info::unsigned-date", "Renewal information without a signing time has that of the "
             "notification.", [asked], late + DAY, Line("active", None, YEARLY), policy={"time": "evaluation"},
             importance="medium")  # fmt: skip
