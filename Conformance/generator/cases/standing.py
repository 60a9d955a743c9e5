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
    ]  # fmt: skip
    for name, description, text, instant, word in table:
        cases.add(kind, name, description, receipt(text), policy, clock(instant), (ORIGINAL, word))
        if name in ("grace-period", "grace-period-at-end", "billing-retry", "refund-unstated", "refund-reversed"):
            cases.require(kind, name, description, receipt(text), policy, clock(instant), word)
    cases.require(
        kind, "test", "A notification without a purchase has none that stands.", receipt(notification("TEST")), policy, OCTOBER,
        None,
    )  # fmt: skip


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
    ]  # fmt: skip
    for name, description, data, time, standings, word in table:
        # The attributes of a set have no order of their own.
        ordered = sorted(standings, key=lambda pair: data.find(pair[0].encode()))
        cases.add(kind, name, description, receipt(b64(data)), policy, time, *ordered)
        if name in ("active", "at-end", "renewed", "both-ended", "refunded", "without-end", "consumable"):
            cases.require(kind, name, description, receipt(b64(data)), policy, time, word)
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
    ]  # fmt: skip
    for name, description, purchase, time, word in table:
        data = signed(purchase, digest="sha256")
        cases.add(kind, name, description, data, rules, time, (number, word))
        if name in ("active", "at-end", "grace-period", "without-end", "pending", "consumed"):
            cases.require(kind, name, description, data, rules, time, word)
