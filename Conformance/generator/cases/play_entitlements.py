# SPDX-License-Identifier: Apache-2.0
"""What follows from the answers of Google's API about purchases in Google Play, and from its notifications.

Google signs neither: a case holds them as answers that are Google's, in the order of their arrival. A server asks again and
again, in several processes, and Pub/Sub delivers at least once and in any order, so that every order occurs.
"""

import dataclasses

from detached import ORDER, TOKEN, iso
from fold import APP, COINS, DAY, HOUR, MINUTE, MONTHLY, SECOND, YEARLY, arranged
from suite import Suite, flag

API = "https://developers.google.com/android-publisher/api-ref/rest/v3"
SUBSCRIPTION_API = f"{API}/purchases.subscriptionsv2"
PRODUCT_API = f"{API}/purchases.productsv2"
VOIDED_API = f"{API}/purchases.voidedpurchases"
BILLING = "https://developer.android.com/google/play/billing"
LIFECYCLE = f"{BILLING}/lifecycle/subscriptions"
NOTIFICATIONS = f"{BILLING}/rtdn-reference"

ANSWER_ORDER = flag(
    "AnswerOrder", "Google's answers are processed in another order than Google gave them, or more than once.",
    "An old answer undoes a newer one: access comes back after a refund, or ends after a renewal.",
    NOTIFICATIONS, "https://cloud.google.com/pubsub/docs/subscription-overview",
)  # fmt: skip
NO_ACCESS = flag(
    "SuspendedSubscription", "Google knows the purchase, and its state or its end gives no access.",
    "Customers who do not pay keep what they bought once.", LIFECYCLE, SUBSCRIPTION_API,
)  # fmt: skip
UNPAID = flag(
    "PendingPurchase", "The purchase waits for a payment, or was given up before it was paid for.",
    "Products are granted that nobody pays for.", f"{BILLING}/integrate#pending", SUBSCRIPTION_API, PRODUCT_API,
)  # fmt: skip
VOIDED = flag(
    "VoidedOrder", "An order of the purchase was refunded, charged back or revoked.",
    "A customer who got the money back keeps access, or the refund of an order takes what another one paid for.",
    "https://developers.google.com/android-publisher/voided-purchases", VOIDED_API,
)  # fmt: skip
PART = flag(
    "PartialRefund", "A part of the quantity of an order was refunded.",
    "A customer keeps what was refunded, or loses what was not.", VOIDED_API, PRODUCT_API,
)  # fmt: skip
MANY = flag(
    "ManyVoidedOrders", "More orders of a purchase were voided than a program may expect.",
    "A program that keeps a bounded number of them forgets the one that counts.", VOIDED_API,
)  # fmt: skip
SEVERAL = flag(
    "SeveralProducts", "The purchase has several products, each with an order and an end of its own.",
    "The state of one product is taken for that of all of them.", SUBSCRIPTION_API,
    f"{BILLING}/subscription-with-addons",
)  # fmt: skip
REPLACED = flag(
    "ReplacedPurchase", "Another purchase names this one as the one that it replaced.",
    "A customer has two subscriptions for the price of one.", SUBSCRIPTION_API, LIFECYCLE,
)  # fmt: skip
GONE = flag(
    "ForgottenToken", "Google does not know the purchase token any more.",
    "A purchase that ended long ago goes on for ever.", LIFECYCLE,
)  # fmt: skip
ACCOUNT = flag(
    "ResubscribedAccount", "The customer subscribed again in the Play Store; Google states the account of the old purchase.",
    "The purchase is nobody's, or is somebody else's.", SUBSCRIPTION_API,
)  # fmt: skip

ORDERS = {
    "in-order": "They arrive in the order in which Google gave them.",
    "reversed": "They arrive in the reverse order.",
    "rotated": "The first arrives last.",
    "repeated": "Each arrives twice, the second time in the reverse order.",
}
# The first period of the subscriptions, in milliseconds since 1970: from 2026-01-05 to 2026-02-05.
START, END = 1_767_600_000_000, 1_770_278_400_000
MONTH = END - START
OTHER_TOKEN = "bcdefghijklmnopqrstuvwxy.AO-J1OyExampleTokenOfAnotherPurchase"
OTHER_ORDER, THIRD_ORDER = "GPA.1234-5678-9012-34568", "GPA.1234-5678-9012-34569"
STATE = "SUBSCRIPTION_STATE_"
ACCOUNT_ID = "b2bb3c5d0e9a4a0f8d1c"


# What Google answers


def get(method: str, date: int, body: dict, token: str = TOKEN) -> dict:
    return {"method": f"purchases.{method}", "packageName": APP, "token": token, "date": iso(date), "body": body}


def refusal(method: str, date: int, status: int, code: str, token: str = TOKEN) -> dict:
    """An answer without a purchase."""
    error = {"error": {"code": status, "message": "The request was not answered.", "errors": [{"reason": code}]}}
    return get(method, date, error, token) | {"status": status}


def line(product: str = MONTHLY, order: str | None = ORDER, end: int | None = END, renews: bool = True) -> dict:
    members = {
        "productId": product,
        "expiryTime": None if end is None else iso(end),
        "autoRenewingPlan": {"autoRenewEnabled": True} if renews else {},
        "offerDetails": {"basePlanId": "plan"},
        "latestSuccessfulOrderId": order,
    }
    return {name: value for name, value in members.items() if value is not None}


def subscription(
    date: int, *lines: dict, state: str = "ACTIVE", start: int | None = START, token: str = TOKEN, account: str | None = None,
    **members,
) -> dict:  # fmt: skip
    """An answer of purchases.subscriptionsv2.get."""
    body = {
        "kind": "androidpublisher#subscriptionPurchaseV2",
        "startTime": None if start is None else iso(start),
        "regionCode": "CH",
        "subscriptionState": STATE + state,
        "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
        "externalAccountIdentifiers": {"obfuscatedExternalAccountId": account} if account else None,
        "lineItems": list(lines) or None,
        **members,
    }
    return get("subscriptionsv2.get", date, {name: value for name, value in body.items() if value is not None}, token)


def product(name: str = COINS, quantity: int = 1, refundable: int | None = None, state: str = "YET_TO_BE_CONSUMED") -> dict:
    details = {"quantity": quantity, "refundableQuantity": refundable, "consumptionState": f"CONSUMPTION_STATE_{state}"}
    return {
        "productId": name,
        "productOfferDetails": {name: value for name, value in details.items() if value is not None},
    }


def purchase(
    date: int, *products: dict, state: str = "PURCHASED", order: str | None = ORDER, token: str = TOKEN,
    completed: int | None = START, **members,
) -> dict:  # fmt: skip
    """An answer of purchases.productsv2.getproductpurchasev2."""
    body = {
        "kind": "androidpublisher#productPurchaseV2",
        "productLineItem": list(products) or None,
        "purchaseStateContext": {"purchaseState": state},
        "orderId": order,
        "regionCode": "CH",
        "purchaseCompletionTime": None if completed is None else iso(completed),
        "acknowledgementState": "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED",
        **members,
    }
    return get(
        "productsv2.getproductpurchasev2", date, {name: value for name, value in body.items() if value is not None}, token
    )


def void(at: int, order: str | None = ORDER, quantity: int | None = None, token: str = TOKEN) -> dict:
    """An entry of the list of voided purchases."""
    members = {
        "kind": "androidpublisher#voidedPurchase",
        "purchaseToken": token,
        "purchaseTimeMillis": str(START),
        "voidedTimeMillis": str(at),
        "orderId": order,
        "voidedSource": 0,
        "voidedReason": 1,
        "voidedQuantity": quantity,
    }
    return {name: value for name, value in members.items() if value is not None}


def voided(date: int, *entries: dict) -> dict:
    """An answer of purchases.voidedpurchases.list."""
    return {
        "method": "purchases.voidedpurchases.list", "packageName": APP, "date": iso(date),
        "body": {"voidedPurchases": list(entries)},
    }  # fmt: skip


def notified(at: int, order: str = ORDER, kind: int = 1, refund: int = 1, token: str = TOKEN) -> dict:
    """A notification that a purchase was voided; it arrives two seconds later."""
    body = {
        "version": "1.0", "packageName": APP, "eventTimeMillis": str(at),
        "voidedPurchaseNotification": {"purchaseToken": token, "orderId": order, "productType": kind, "refundType": refund},
    }  # fmt: skip
    return {"method": "rtdn", "date": iso(at + 2 * SECOND), "body": body}


# What follows


@dataclasses.dataclass(frozen=True)
class Item:
    """A product of a purchase as it is expected. `state` is that of the purchase if it is not given."""

    product: str = MONTHLY
    order: str | None = ORDER
    end: int | None = END
    state: str | None = None
    quantity: int = 1
    voided: int | None = None


@dataclasses.dataclass(frozen=True)
class Line:
    """A purchase as it is expected. Without `items` nothing is expected of its products."""

    state: str
    items: tuple[Item, ...] | None = (Item(),)
    token: str = TOKEN
    account: str | None = None
    since: int | None = None
    until: int | None = None
    # The order that pays for what may be used, where it is one.
    paid_by: str | None = None
    # Whether it is documented what its products are.
    is_told: bool = True

    def entitlement(self) -> dict:
        return defined(packageName=APP, purchaseToken=self.token, state=self.state, accountId=self.account)

    def products(self) -> list[dict]:
        return [
            defined(
                purchaseToken=self.token, productId=item.product, state=item.state or self.state,
                quantity=0 if (item.state or self.state) == "refunded" else item.quantity, orderId=item.order,
                expiresDate=time(item.end), revocationDate=time(item.voided),
            )
            for item in self.items
        ]  # fmt: skip

    def used(self) -> list[Item]:
        return [item for item in self.items if (item.state or self.state) in ("active", "in-grace-period")]

    def access(self) -> dict:
        ends = [item.end for item in self.used() if item.end is not None]
        return defined(
            purchaseToken=self.token, productIds=sorted(item.product for item in self.used()), orderId=self.paid_by,
            expiresDate=time(max(ends)) if ends else None,
        )  # fmt: skip

    def change(self) -> dict:
        return defined(purchaseToken=self.token, since=time(self.since), until=time(self.until))


def defined(**members) -> dict:
    return {name: value for name, value in members.items() if value is not None}


def time(milliseconds: int | None) -> str | None:
    return None if milliseconds is None else iso(milliseconds)


def one_time(state: str, name: str = COINS, **members) -> Line:
    """What is expected of a purchase of one product without an end."""
    fields = {field.name for field in dataclasses.fields(Line)}
    rest = {name: value for name, value in members.items() if name not in fields}
    return Line(state, (Item(name, end=None, **rest),), **{name: members[name] for name in members if name in fields})


class Sets:
    def __init__(self, suite: Suite):
        self.suite = suite

    def one(
        self, name: str, description: str, answers: list[dict], at: int, *lines: Line, flags: tuple = (),
        importance: str = "high",
    ) -> None:  # fmt: skip
        """One case, in one order."""
        lines = sorted(lines, key=lambda line: line.token)
        values = {"entitlements": [line.entitlement() for line in lines]}
        if all(line.items is not None and line.is_told for line in lines):
            values["items"] = [item for line in lines for item in line.products()]
        if any(line.paid_by for line in lines):
            values["access"] = [line.access() for line in lines if line.used()]
        if any(line.since or line.until for line in lines):
            values["changes"] = [line.change() for line in lines]
        self.suite.add(
            f"play-entitlements::{name}", description, {"answers": answers}, "valid", operation="play-entitlements",
            values=values, time=iso(at)[:19] + "Z", flags=list(flags), importance=importance,
        )  # fmt: skip

    def orders(
        self, name: str, description: str, answers: list[dict], at: int, *lines: Line, orders: str = "in-order reversed",
        flags: tuple = (), importance: str = "high",
    ) -> None:  # fmt: skip
        """A case for each order of arrival, all with the same result."""
        for order in orders.split():
            marks = [*flags, *([] if order == "in-order" else [ANSWER_ORDER])]
            self.one(
                f"{name}::{order}", f"{description} {ORDERS[order]}", arranged(order, answers), at, *lines, flags=marks,
                importance=importance,
            )


def add(suite: Suite) -> None:
    sets = Sets(suite)
    for part in (
        states, one_time_states, answers, voids, renewals, refund_times, unstated_orders, many, parts, several, replaced, gone,
        accounts,
    ):  # fmt: skip
        part(sets)


def states(sets: Sets) -> None:
    bought = subscription(START + MINUTE, line())
    active = Line("active", since=START, until=END, paid_by=ORDER)
    sets.one("nothing::empty", "Google answered nothing.", [], START + DAY)
    sets.one("state::active", "A subscription in its first period.", [bought], START + DAY, active)
    sets.one("state::active-repeated", "The same answer five times.", [bought] * 5, START + DAY, active, flags=(ANSWER_ORDER,))
    sets.one("state::second-before-end", "A second before the end of the period.", [bought], END - SECOND, active)
    sets.one(
        "state::at-end", "At the end of the period, and Google was not asked since.", [bought], END,
        Line("expired", since=END), flags=(NO_ACCESS,), importance="critical",
    )  # fmt: skip
    canceled = subscription(START + 2 * DAY, line(renews=False), state="CANCELED")
    sets.one("state::canceled", "The customer ended the renewal, and the paid period lasts.", [canceled], START + 3 * DAY,
             Line("active", until=END, since=START))  # fmt: skip
    sets.one("state::canceled-at-end", "The customer ended the renewal, and the paid period is over.", [canceled], END,
             Line("expired", since=END), flags=(NO_ACCESS,), importance="critical")  # fmt: skip
    late = END + 3 * DAY
    sets.one(
        "state::in-grace-period", "The charge failed, and Google extended the access by a grace period.",
        [subscription(END + HOUR, line(end=late), state="IN_GRACE_PERIOD")], END + DAY,
        Line("in-grace-period", (Item(end=late),), paid_by=ORDER),
    )  # fmt: skip
    sets.one(
        "state::in-grace-period-at-end", "The grace period is over, and Google was not asked since.",
        [subscription(END + HOUR, line(end=late), state="IN_GRACE_PERIOD")], late, Line("expired", (Item(end=late),)),
        flags=(NO_ACCESS,), importance="critical",
    )  # fmt: skip
    for state, name, description in (
        ("ON_HOLD", "on-hold", "The charge failed, and Google holds the subscription."),
        ("PAUSED", "paused", "The customer paused the subscription."),
        ("EXPIRED", "expired", "The subscription expired."),
    ):
        sets.one(
            f"state::{name}", description, [subscription(END + HOUR, line(), state=state)], END + DAY, Line(name),
            flags=(NO_ACCESS,), importance="critical",
        )  # fmt: skip
    sets.one(
        "state::pending", "The subscription waits for its first payment.",
        [subscription(START, line(order=None, end=None), state="PENDING", start=None)], START + HOUR,
        Line("pending", (Item(order=None, end=None),)), flags=(UNPAID,), importance="critical",
    )  # fmt: skip
    sets.one(
        "state::pending-without-products", "The subscription waits for its first payment, and Google lists no product.",
        [subscription(START, state="PENDING", start=None)], START + HOUR, Line("pending", None), flags=(UNPAID,),
        importance="critical",
    )  # fmt: skip
    sets.one(
        "state::pending-purchase-canceled", "The subscription was given up before its first payment.",
        [subscription(START, state="PENDING_PURCHASE_CANCELED", start=None)], START + HOUR, Line("cancelled", None),
        flags=(UNPAID,), importance="critical",
    )  # fmt: skip


def one_time_states(sets: Sets) -> None:
    at = START + HOUR
    sets.one("product::purchased", "A product that was paid for.", [purchase(START, product())], at,
             one_time("active", since=START, paid_by=ORDER))  # fmt: skip
    sets.one("product::several", "Three of a product.", [purchase(START, product(quantity=3, refundable=3))], at,
             one_time("active", quantity=3))  # fmt: skip
    sets.one("product::consumed", "A product that the app consumed.", [purchase(START, product(state="CONSUMED"))], at,
             one_time("consumed"), flags=(NO_ACCESS,))  # fmt: skip
    for state, name, description in (
        ("PENDING", "pending", "A product that waits for its payment."),
        ("CANCELLED", "cancelled", "A product whose purchase was cancelled."),
    ):
        sets.one(
            f"product::{name}", description, [purchase(START, product(), state=state, completed=None)], at,
            Line(name, None), flags=(UNPAID,), importance="critical",
        )  # fmt: skip
        sets.one(
            f"product::{name}-without-products", f"{description} Google lists no product.",
            [purchase(START, state=state, completed=None)], at, Line(name, None), flags=(UNPAID,), importance="critical",
        )  # fmt: skip
    paid = [purchase(START, product(), state="PENDING", completed=None), purchase(START + HOUR, product())]
    sets.orders("product::paid-later", "A product that waited for its payment, which came.", paid, START + DAY,
                one_time("active"))  # fmt: skip


def answers(sets: Sets) -> None:
    bought = subscription(START + MINUTE, line())
    renewed = subscription(END + MINUTE, line(order=f"{ORDER}..0", end=END + MONTH))
    second = Line("active", (Item(order=f"{ORDER}..0", end=END + MONTH),), paid_by=f"{ORDER}..0")
    held = subscription(END + HOUR, line(), state="ON_HOLD")
    recovered = subscription(END + 9 * DAY, line(order=f"{ORDER}..0", end=END + 8 * DAY + MONTH))
    sets.orders("answers::renewal", "A subscription that renewed.", [bought, renewed], END + DAY, second,
                orders="in-order reversed repeated", importance="critical")  # fmt: skip
    sets.orders(
        "answers::hold", "A subscription that is on hold since its second charge failed.", [bought, held], END + DAY,
        Line("on-hold"), orders="in-order reversed repeated", flags=(NO_ACCESS,), importance="critical",
    )  # fmt: skip
    sets.orders(
        "answers::recovery", "A subscription that was on hold and was paid for then.", [bought, held, recovered],
        END + 10 * DAY, Line("active", (Item(order=f"{ORDER}..0", end=END + 8 * DAY + MONTH),)),
        orders="in-order reversed rotated repeated",
    )  # fmt: skip
    failed = refusal("subscriptionsv2.get", START + HOUR, 503, "backendError")
    sets.orders("answers::unanswered", "Google answered once, and the second time it could not.", [bought, failed],
                START + DAY, Line("active"))  # fmt: skip


def voids(sets: Sets) -> None:
    bought, coins = subscription(START + MINUTE, line()), purchase(START + MINUTE, product())
    at = START + 5 * DAY
    listed = voided(at + HOUR, void(at))
    refunded = Line("refunded", (Item(voided=at),), since=at)
    sets.orders("voided::subscription", "The only order of a subscription was refunded.", [bought, listed], at + DAY, refunded,
                orders="in-order reversed repeated", flags=(VOIDED,), importance="critical")  # fmt: skip
    sets.orders("voided::product", "A product was refunded.", [coins, listed], at + DAY,
                one_time("refunded", voided=at, since=at), orders="in-order reversed repeated", flags=(VOIDED,),
                importance="critical")  # fmt: skip
    sets.orders("voided::notified", "A notification says that the order of a subscription was refunded.",
                [bought, notified(at)], at + DAY, refunded, flags=(VOIDED,), importance="critical")  # fmt: skip
    sets.orders("voided::product-notified", "A notification says that a product was refunded.",
                [coins, notified(at, kind=2)], at + DAY, one_time("refunded", voided=at, since=at), flags=(VOIDED,),
                importance="critical")  # fmt: skip
    sets.one("voided::at-the-instant", "The order of a subscription was refunded at this instant.",
             [bought, voided(at, void(at))], at, refunded, flags=(VOIDED,))  # fmt: skip
    sets.one("voided::product-at-the-instant", "A product was refunded at this instant.", [coins, voided(at, void(at))], at,
             one_time("refunded", voided=at, since=at), flags=(VOIDED,))  # fmt: skip
    sets.one("voided::other-purchase", "Another purchase was refunded.",
             [bought, voided(at + HOUR, void(at, OTHER_ORDER, token=OTHER_TOKEN))], at + DAY, Line("active"),
             flags=(VOIDED,))  # fmt: skip
    sets.one("voided::unknown", "A purchase was refunded about which Google was never asked.", [listed], at + DAY,
             flags=(VOIDED,))  # fmt: skip
    sets.one("voided::empty", "No purchase was refunded.", [bought, voided(at, *[])], at + DAY, Line("active"))


def renewals(sets: Sets) -> None:
    first, second = f"{ORDER}..0", f"{ORDER}..1"
    present = subscription(END + MINUTE, line(order=second, end=END + MONTH))
    at = END + 3 * DAY

    def item(**members) -> Item:
        return Item(order=second, end=END + MONTH, **members)

    sets.orders(
        "renewals::earlier-order", "The order of an earlier period was refunded, and the present one was not.",
        [present, voided(at + HOUR, void(at, first))], at + DAY, Line("active", (item(),)), flags=(VOIDED,),
    )  # fmt: skip
    sets.orders(
        "renewals::first-order", "The first order was refunded, whose number has no suffix; the present one was not.",
        [present, voided(at + HOUR, void(at, ORDER))], at + DAY, Line("active", (item(),)), flags=(VOIDED,),
    )  # fmt: skip
    both = [present, voided(at + HOUR, void(at, second)), voided(at + 2 * HOUR, void(at + HOUR, first))]
    sets.orders(
        "renewals::both-orders", "The order of the present period was refunded, and then that of an earlier one.", both,
        at + DAY, Line("refunded", (item(voided=at),), since=at), orders="in-order reversed rotated repeated", flags=(VOIDED,),
        importance="critical",
    )  # fmt: skip
    third = subscription(at + 2 * DAY, line(order=f"{ORDER}..2", end=at + 2 * DAY + MONTH))
    sets.orders(
        "renewals::paid-again", "The order of a period was refunded, and the next one was paid for.",
        [present, voided(at + HOUR, void(at, second)), third], at + 3 * DAY,
        Line("active", (Item(order=f"{ORDER}..2", end=at + 2 * DAY + MONTH),)), orders="in-order reversed rotated",
        flags=(VOIDED,),
    )  # fmt: skip


def refund_times(sets: Sets) -> None:
    """One refund, told twice: the notification is of an event that comes a little later than the refund itself."""
    bought, coins = subscription(START + MINUTE, line()), purchase(START + MINUTE, product())
    at = START + 5 * DAY
    late = at + 3 * SECOND
    sets.orders(
        "refund-time::two-sources", "The list and a notification name the same refund, the notification three seconds later.",
        [bought, voided(at + HOUR, void(at)), notified(late)], at + DAY, Line("refunded", (Item(voided=at),), since=at),
        orders="in-order reversed rotated repeated", flags=(VOIDED,), importance="medium",
    )  # fmt: skip
    sets.orders(
        "refund-time::list-without-order",
        "The list and a notification name the same refund of a product; the list does not name the order.",
        [coins, voided(at + HOUR, void(at, None)), notified(late, kind=2)], at + DAY,
        one_time("refunded", voided=at, since=at), flags=(VOIDED,), importance="medium",
    )  # fmt: skip


def unstated_orders(sets: Sets) -> None:
    at = START + 5 * DAY
    coins = purchase(START + MINUTE, product())
    sets.orders(
        "order::unlisted", "A product was refunded, and the list names its token alone.",
        [coins, voided(at + HOUR, void(at, None))], at + DAY, one_time("refunded", voided=at), flags=(VOIDED,),
    )  # fmt: skip
    sets.orders(
        "order::another", "A product was refunded; the list has its token and another order than the purchase.",
        [coins, voided(at + HOUR, void(at, OTHER_ORDER))], at + DAY, one_time("refunded", voided=at), flags=(VOIDED,),
        importance="medium",
    )  # fmt: skip
    sets.orders(
        "order::unstated-product", "A product whose order Google does not state was refunded.",
        [purchase(START + MINUTE, product(), order=None), voided(at + HOUR, void(at))], at + DAY,
        one_time("refunded", order=None, voided=at), flags=(VOIDED,),
    )  # fmt: skip
    sets.orders(
        "order::unstated-subscription",
        "Google states no order of a subscription, which is in its first period, and lists its order as refunded.",
        [subscription(START + MINUTE, line(order=None)), voided(at + HOUR, void(at))], at + DAY,
        Line("refunded", (Item(order=None, voided=at),)), flags=(VOIDED,),
    )  # fmt: skip
    sets.orders(
        "order::of-the-purchase", "Google states the order of the subscription alone, as it did before products had orders.",
        [subscription(START + MINUTE, line(order=None), latestOrderId=ORDER), voided(at + HOUR, void(at))], at + DAY,
        Line("refunded", (Item(voided=at),)), flags=(VOIDED,),
    )  # fmt: skip
    sets.orders(
        "order::of-the-product", "Google states an order of the product, and an older one of the subscription.",
        [
            subscription(END + MINUTE, line(order=f"{ORDER}..1", end=END + MONTH), latestOrderId=f"{ORDER}..0"),
            voided(END + HOUR, void(END + 2 * MINUTE, f"{ORDER}..1")),
        ],
        END + DAY, Line("refunded", (Item(order=f"{ORDER}..1", end=END + MONTH, voided=END + 2 * MINUTE),)), flags=(VOIDED,),
    )  # fmt: skip


def many(sets: Sets) -> None:
    """A subscription has an order for each period of each product, and a list up to 1,000 entries."""
    start, week = START - 101 * 7 * DAY, 7 * DAY
    numbers = (ORDER, OTHER_ORDER, THIRD_ORDER)
    products = (MONTHLY, YEARLY, COINS)
    last = [f"{number}..100" for number in numbers]
    bought = subscription(
        START + MINUTE, *(line(name, number, START + week) for name, number in zip(products, last, strict=True)), start=start
    )
    entries = [void(start + period * week, f"{number}..{period}") for period in range(101) for number in numbers]
    at = START + DAY
    final = [void(at, number) for number in last]
    refunded = tuple(Item(name, order, START + week, voided=at) for name, order in zip(products, last, strict=True))
    for name, description, listed in (
        ("refunded", "All orders of three products in 101 weeks were refunded.", entries[:-3] + final),
        ("refunded-backwards", "All orders of three products in 101 weeks were refunded, and the list begins with the last.",
         (entries[:-3] + final)[::-1]),
    ):  # fmt: skip
        sets.one(f"many::{name}", description, [bought, voided(at + HOUR, *listed)], at + DAY, Line("refunded", refunded),
                 flags=(MANY, VOIDED), importance="low")  # fmt: skip
    sets.one(
        "many::all-but-the-last", "All orders of three products in 101 weeks were refunded, but for those of the present week.",
        [bought, voided(at + HOUR, *entries[:-3])], at + DAY,
        Line("active", tuple(Item(name, order, START + week) for name, order in zip(products, last, strict=True))),
        flags=(MANY, VOIDED), importance="low",
    )  # fmt: skip
    coins = purchase(START, product(quantity=400))
    refunds = [void(START + number * MINUTE, quantity=1) for number in range(300)]
    for order in ("in-order", "reversed"):
        listed = [*refunds, void(at, None)][:: 1 if order == "in-order" else -1]
        sets.one(
            f"many::refunds-of-one::{order}",
            "Of 400 of a product 300 were refunded one by one, and then the purchase, whose order is not listed. "
            f"{'The last is listed last.' if order == 'in-order' else 'The last is listed first.'}",
            [coins, voided(at + HOUR, *listed)], at + DAY, one_time("refunded", voided=at), flags=(MANY, PART),
            importance="low",
        )  # fmt: skip


def parts(sets: Sets) -> None:
    coins = purchase(START + MINUTE, product(quantity=3))
    at, later = START + 5 * DAY, START + 6 * DAY
    of_one = voided(at + HOUR, void(at, quantity=1))

    def left(quantity: int, **members) -> Line:
        return one_time("active", quantity=quantity, **members)

    sets.orders("part::one-of-three", "One of three was refunded.", [coins, of_one], at + DAY, left(2), flags=(PART,),
                orders="in-order reversed", importance="critical")  # fmt: skip
    sets.one("part::at-the-instant", "One of three was refunded at this instant.", [coins, voided(at, void(at, quantity=1))],
             at, left(2), flags=(PART,))  # fmt: skip
    sets.orders("part::listed-again", "One of three was refunded, and each list has the refund.",
                [coins, of_one, voided(at + 2 * HOUR, void(at, quantity=1)), voided(at + 3 * HOUR, void(at, quantity=1))],
                at + DAY, left(2), flags=(PART,), orders="in-order repeated")  # fmt: skip
    sets.orders(
        "part::one-after-the-other", "One of three was refunded, and another one a day later.",
        [coins, of_one, voided(later + HOUR, void(at, quantity=1), void(later, quantity=1))], later + DAY, left(1),
        flags=(PART,), orders="in-order reversed rotated", importance="critical",
    )  # fmt: skip
    sets.one(
        "part::together", "Of five, one and two were refunded at the same instant.",
        [purchase(START, product(quantity=5)), voided(at + HOUR, void(at, quantity=1), void(at, quantity=2))], at + DAY,
        left(2), flags=(PART,), importance="medium",
    )  # fmt: skip
    sets.orders(
        "part::all", "One of three was refunded, and the other two a day later.",
        [coins, of_one, voided(later + HOUR, void(later, quantity=2))], later + DAY, one_time("refunded", since=later),
        flags=(PART, VOIDED), importance="critical",
    )  # fmt: skip
    sets.orders(
        "part::and-then-the-order", "One of three was refunded, and then the order.",
        [coins, of_one, voided(later + HOUR, void(later))], later + DAY, one_time("refunded", voided=later, since=later),
        flags=(PART, VOIDED), orders="in-order reversed rotated", importance="critical",
    )  # fmt: skip
    sets.orders(
        "part::notified", "A notification says that a part was refunded, and the purchase says how many are left.",
        [coins, notified(at, kind=2, refund=2), purchase(at + MINUTE, product(quantity=3, refundable=2))], at + DAY, left(2),
        flags=(PART,), orders="in-order reversed rotated",
    )  # fmt: skip
    stated = purchase(at + 2 * HOUR, product(quantity=3, refundable=2))
    sets.orders("part::stated-and-listed", "One of three was refunded: the list and the purchase say so.",
                [coins, of_one, stated], at + DAY, left(2), flags=(PART,), orders="in-order reversed rotated",
                importance="critical")  # fmt: skip
    for quantity, name in ((1, "one-left"), (3, "all-left")):
        sets.one(f"part::stated-{name}", f"Of three, Google states {quantity} as not refunded.",
                 [purchase(at, product(quantity=3, refundable=quantity))], at + DAY, left(quantity), flags=(PART,))  # fmt: skip
    sets.one("part::stated-none-left", "Google says that none of three is left, and does not list the refund yet.",
             [purchase(at, product(quantity=3, refundable=0))], at + DAY, one_time("refunded"), flags=(PART,),
             importance="critical")  # fmt: skip
    sets.orders(
        "part::refunded-since", "Google said that all three are left, and one was refunded since.",
        [purchase(START + DAY, product(quantity=3, refundable=3)), of_one], at + DAY, left(2), flags=(PART,),
        importance="critical",
    )  # fmt: skip
    sets.orders(
        "part::of-another-product",
        "An order of two products, three of each; one of the second was refunded, as the purchase says.",
        [
            purchase(START, product(COINS, 3, 3), product(YEARLY, 3, 3)),
            of_one, purchase(at + 2 * HOUR, product(COINS, 3, 3), product(YEARLY, 3, 2)),
        ],
        at + DAY, Line("active", (Item(COINS, end=None, quantity=3), Item(YEARLY, end=None, quantity=2))),
        flags=(PART, SEVERAL),
    )  # fmt: skip


def several(sets: Sets) -> None:
    add_on = f"{APP}.extra"
    short, long, at = START + 15 * DAY, END + MONTH, START + 5 * DAY

    def bought(first: int, second: int, date: int = START + MINUTE, swapped: bool = False, **members) -> dict:
        lines = [line(end=first), line(add_on, OTHER_ORDER, second)]
        return subscription(date, *(lines[::-1] if swapped else lines), **members)

    def base(state: str | None = None, end: int = END, **members) -> Item:
        return Item(end=end, state=state, **members)

    def extra(state: str | None = None, end: int = END, **members) -> Item:
        return Item(add_on, OTHER_ORDER, end, state, **members)

    sets.one("several::both", "A subscription with two products; one ends before the other.", [bought(END, short)],
             START + DAY, Line("active", (base(), extra(end=short)), since=START, until=short), flags=(SEVERAL,))  # fmt: skip
    for swapped in (False, True):
        suffix, note = ("-swapped", " It stands first in the list.") if swapped else ("", "")
        sets.one(
            f"several::one-ended{suffix}", f"A product has ended, and another one of the purchase has not.{note}",
            [bought(END, short, swapped=swapped)], short,
            Line("active", (base(), extra("expired", short)), paid_by=ORDER, since=START, until=END),
            flags=(SEVERAL, NO_ACCESS), importance="critical",
        )  # fmt: skip
        sets.orders(
            f"several::one-refunded{suffix}", f"A product was refunded, and another one of the purchase was not.{note}",
            [bought(END, long, swapped=swapped), voided(at + HOUR, void(at, OTHER_ORDER))], at + DAY,
            Line("active", (base(), extra("refunded", long, voided=at)), paid_by=ORDER, since=START, until=END),
            flags=(SEVERAL, VOIDED), importance="critical",
        )  # fmt: skip
        sets.orders(
            f"several::one-refunded-before-the-end{suffix}",
            f"A product was refunded, and later the period of the other one ended.{note}",
            [bought(END, long, swapped=swapped), voided(at + HOUR, void(at, OTHER_ORDER))], END + DAY,
            Line("expired", (base(), extra("refunded", long, voided=at))), flags=(SEVERAL, VOIDED), importance="medium",
        )  # fmt: skip
        late = short + 2 * DAY
        sets.orders(
            f"several::refunded-after-the-end{suffix}",
            f"A product ended; later the other one was refunded, in its period.{note}",
            [bought(END, short, swapped=swapped), voided(late + HOUR, void(late))], late + DAY,
            Line("refunded", (base(voided=late), extra("expired", short))), flags=(SEVERAL, VOIDED), importance="medium",
        )  # fmt: skip
    sets.orders(
        "several::first-refunded", "The first product was refunded, and the second one of the purchase was not.",
        [bought(long, END), voided(at + HOUR, void(at))], at + DAY,
        Line("active", (base("refunded", long, voided=at), extra()), paid_by=OTHER_ORDER, since=START, until=END),
        flags=(SEVERAL, VOIDED), importance="critical",
    )  # fmt: skip
    sets.orders(
        "several::both-refunded", "Both products were refunded, one a day after the other.",
        [bought(END, long), voided(at + HOUR, void(at, OTHER_ORDER)), voided(at + DAY + HOUR, void(at + DAY))], at + 2 * DAY,
        Line("refunded", (base(voided=at + DAY), extra(end=long, voided=at)), since=at + DAY),
        orders="in-order reversed rotated", flags=(SEVERAL, VOIDED), importance="critical",
    )  # fmt: skip
    sets.orders(
        "several::one-order", "One order paid for both products, and was refunded.",
        [
            subscription(START + MINUTE, line(), line(add_on, ORDER)),
            voided(at + HOUR, void(at)),
        ],
        at + DAY, Line("refunded", (base(voided=at), Item(add_on, voided=at)), since=at), flags=(SEVERAL, VOIDED),
        importance="critical",
    )  # fmt: skip
    held = bought(END, END, END + HOUR, state="ON_HOLD")
    sets.orders(
        "several::refunded-and-on-hold", "A product was refunded; then the charge for the other one failed.",
        [held, voided(at + HOUR, void(at, OTHER_ORDER))], END + DAY, Line("on-hold", (base(), extra("refunded", voided=at))),
        flags=(SEVERAL, NO_ACCESS),
    )  # fmt: skip
    for name, what, end in (("", "", None), ("-with-end", " Its end is stated already.", END + 365 * DAY)):
        sets.one(
            f"several::not-owned-yet{name}",
            f"The product is to be replaced by another one at its end, for which no order paid yet.{what}",
            [
                subscription(
                    START + MINUTE, line(renews=False) | {"deferredItemReplacement": {"productId": YEARLY}},
                    line(YEARLY, None, end),
                )
            ],
            START + DAY, Line("active", (Item(),), paid_by=ORDER, until=END, since=START, is_told=False),
            flags=(SEVERAL, UNPAID),
        )  # fmt: skip
    sets.one(
        "several::expired", "Both products have ended.", [bought(END, short)], END, Line("expired", (base(), extra(end=short))),
        flags=(SEVERAL, NO_ACCESS), importance="critical",
    )  # fmt: skip


def replaced(sets: Sets) -> None:
    bought = subscription(START + MINUTE, line())
    at = START + 5 * DAY
    year = at + 365 * DAY

    def other(state: str = "ACTIVE", start: int | None = at, **members) -> dict:
        lines = [line(YEARLY, OTHER_ORDER if start else None, year if start else None)]
        return subscription(
            at + MINUTE, *lines, state=state, start=start, token=OTHER_TOKEN, linkedPurchaseToken=TOKEN, **members
        )

    old = Line("replaced", (Item(),))
    new = Line("active", (Item(YEARLY, OTHER_ORDER, year),), OTHER_TOKEN)
    sets.orders("replaced::upgrade", "A subscription was replaced by another one.", [bought, other()], at + DAY, old, new,
                orders="in-order reversed repeated", flags=(REPLACED,), importance="critical")  # fmt: skip
    sets.orders(
        "replaced::asked-again", "A subscription was replaced by another one, and Google was asked about the old one again.",
        [bought, other(), subscription(at + HOUR, line(renews=False), state="CANCELED")], at + DAY, old, new,
        orders="in-order reversed rotated", flags=(REPLACED,), importance="critical",
    )  # fmt: skip
    for name, description, when, line_of_old in (
        ("at-the-instant", "A subscription is replaced at this instant.", at, old),
        ("second-before", "A subscription is replaced in a second.", at - SECOND, Line("active")),
    ):
        sets.orders(f"replaced::{name}", description, [bought, other()], when, line_of_old, new, flags=(REPLACED,),
                    importance="critical")  # fmt: skip
    on_hold = subscription(START + HOUR, line(), state="ON_HOLD")
    forgotten = refusal("subscriptionsv2.get", at + HOUR, 410, "purchaseTokenNoLongerValid")
    for name, description, more, line_of_old in (
        ("on-hold", "A subscription that was on hold was replaced by another one.", [on_hold], old),
        ("gone", "A subscription was replaced by another one, and its token is no longer valid.", [forgotten], old),
        ("refunded", "A subscription was replaced by another one, and refunded.",
         [voided(at + 2 * HOUR, void(at + HOUR))], Line("refunded", (Item(voided=at + HOUR),))),
        ("order-of-the-other-voided", "A subscription was replaced by another one, whose order is listed under its token.",
         [voided(at + 2 * HOUR, void(at + HOUR, OTHER_ORDER))], old),
    ):  # fmt: skip
        sets.orders(f"replaced::{name}", description, [bought, *more, other()], at + DAY, line_of_old, new, flags=(REPLACED,),
                    orders="in-order reversed rotated", importance="critical")  # fmt: skip
    for name, state in (("canceled", "CANCELED"), ("in-grace-period", "IN_GRACE_PERIOD"), ("on-hold-itself", "ON_HOLD")):
        word = {"canceled": "active", "on-hold-itself": "on-hold"}.get(name, name)
        sets.orders(
            f"replaced::by-{name}", f"A subscription was replaced by one that is in the state {state} now.",
            [bought, other(state)], at + DAY, old, Line(word, (Item(YEARLY, OTHER_ORDER, year),), OTHER_TOKEN),
            flags=(REPLACED,), importance="critical",
        )  # fmt: skip
    sets.one("replaced::unknown", "A subscription replaced one about which Google was never asked.", [other()], at + DAY, new,
             flags=(REPLACED,))  # fmt: skip
    sets.orders(
        "replaced::not-paid-yet", "A subscription is to be replaced by one that waits for its payment.",
        [bought, other("PENDING", None)], at + DAY, Line("active"),
        Line("pending", (Item(YEARLY, None, None),), OTHER_TOKEN), flags=(REPLACED, UNPAID), importance="critical",
    )  # fmt: skip
    sets.orders(
        "replaced::given-up", "A subscription was to be replaced by one that was given up before it was paid for.",
        [bought, other("PENDING_PURCHASE_CANCELED", None)], at + DAY, Line("active"),
        Line("cancelled", (Item(YEARLY, None, None),), OTHER_TOKEN), flags=(REPLACED, UNPAID),
    )  # fmt: skip


def gone(sets: Sets) -> None:
    held = subscription(END + HOUR, line(), state="ON_HOLD")
    paused = subscription(END + HOUR, line(), state="PAUSED")
    at = END + 200 * DAY
    forgotten = refusal("subscriptionsv2.get", at, 410, "purchaseTokenNoLongerValid")
    for name, before, text in (("on-hold", held, "was on hold"), ("paused", paused, "was paused")):
        sets.orders(
            f"gone::{name}", f"A subscription {text}; now its token is no longer valid.", [before, forgotten], at + DAY,
            Line("expired"), orders="in-order reversed repeated", flags=(GONE, NO_ACCESS), importance="critical",
        )  # fmt: skip
    sets.one("gone::never-known", "Google does not know the token.", [forgotten], at + DAY, flags=(GONE,))
    bought, end = subscription(START + MINUTE, line()), at + 30 * DAY
    # The last answer, and when Google said that it does not know the token.
    last = subscription(at, line(end=end))
    for name, description, when, status, state in (
        ("at-that-instant", "Google did not know the token at the instant of the last answer.", at, 410, "expired"),
        ("before-last-answer", "Google did not know the token a millisecond before the last answer.", at - 1, 410, "active"),
        ("after-last-answer", "Google did not know the token a millisecond after the last answer.", at + 1, 410, "expired"),
        ("not-found", "Google answered after the last answer that there is no such token.", at + 1, 404, "expired"),
        ("unavailable", "Google did not answer after the last answer.", at + 1, 503, "active"),
    ):
        sets.orders(
            f"gone::{name}", description, [bought, last, refusal("subscriptionsv2.get", when, status, "tokenState")], at + DAY,
            Line(state, (Item(end=end),)), flags=(GONE,), importance="critical" if state == "expired" else "high",
        )  # fmt: skip
    sets.orders(
        "gone::refunded", "A subscription was refunded, and its token is no longer valid.",
        [bought, voided(START + 2 * HOUR, void(START + HOUR)), forgotten], at + DAY,
        Line("refunded", (Item(voided=START + HOUR),)), flags=(GONE, VOIDED), importance="critical",
    )  # fmt: skip


def accounts(sets: Sets) -> None:
    at = START + DAY
    # Beside each there is a purchase that states its account, so that a program that reports accounts reports one.
    other = purchase(START, product(), order=OTHER_ORDER, token=OTHER_TOKEN, obfuscatedExternalAccountId="other")
    beside = Line("active", (Item(COINS, OTHER_ORDER, None),), OTHER_TOKEN, "other")

    def add(name: str, description: str, answers: list[dict], account: str | None, orders: str = "in-order", **options) -> None:
        sets.orders(f"account::{name}", description, [other, *answers], at, Line("active", account=account), beside,
                    orders=orders, **options)  # fmt: skip

    stated = subscription(START + MINUTE, line(), account=ACCOUNT_ID)
    add("stated", "The app named the account of a subscription.", [stated], ACCOUNT_ID)
    add("unstated", "The app did not name the account of a subscription.", [subscription(START + MINUTE, line())], None)
    context = {
        "expiredPurchaseToken": "cdefghijklmnopqrstuvwxyz.AO-J1OxExampleTokenOfAnExpiredPurchase",
        "expiredExternalAccountIdentifiers": {"obfuscatedExternalAccountId": ACCOUNT_ID},
    }
    again = subscription(
        START + MINUTE, line(), outOfAppPurchaseContext=context, acknowledgementState="ACKNOWLEDGEMENT_STATE_PENDING"
    )
    add("resubscribed", "The customer subscribed again in the Play Store, which no app acknowledged yet.", [again], ACCOUNT_ID,
        flags=(ACCOUNT,))  # fmt: skip
    add("acknowledged", "The customer subscribed again in the Play Store; acknowledged, it does not say whose it is.",
        [again, subscription(START + HOUR, line())], ACCOUNT_ID, "in-order reversed repeated", flags=(ACCOUNT,))  # fmt: skip
    add(
        "named-by-the-app",
        "The customer subscribed again in the Play Store, and the app named another account as it acknowledged that.",
        [again, subscription(START + HOUR, line(), account="another")], "another", "in-order reversed", flags=(ACCOUNT,),
    )  # fmt: skip
