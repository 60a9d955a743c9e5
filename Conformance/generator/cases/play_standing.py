# SPDX-License-Identifier: Apache-2.0
"""Signed purchases of Google Play, and what Google's API answers about them.

The signature says that the purchase was made, and not that it still counts: no refund and no end of a subscription is signed.
"""

import detached
from cases import play_entitlements
from cases.play_entitlements import (
    GONE, NO_ACCESS, PART, SEVERAL, UNPAID, VOIDED, line, product, purchase, refusal, subscription,
)  # fmt: skip
from detached import iso
from fold import COINS, DAY, HOUR, MONTHLY, YEARLY
from suite import Suite, flag

START, END = play_entitlements.START, play_entitlements.END
OTHER_ORDER = play_entitlements.OTHER_ORDER
AT = START + 5 * DAY

OTHER_PURCHASE = flag(
    "OtherPurchase", "Google's answer is about another order, or about another product, than the signed purchase.",
    "A token of one purchase is presented with the signature of another one.",
    "https://developer.android.com/google/play/billing/security#verify",
)  # fmt: skip
UNANSWERED = flag(
    "UnansweredRequest", "Google did not answer.", "A refunded purchase counts whenever Google cannot be reached.",
    "https://developers.google.com/android-publisher/api-ref/rest/v3/purchases.productsv2",
)  # fmt: skip


class Cases:
    def __init__(self, suite: Suite):
        self.suite = suite

    def add(
        self, name: str, description: str, signed: dict, answers: list[dict], verdict: str = "valid", flags: tuple = (),
        importance: str = "high", policy: dict | None = None, at: int = AT, **expected,
    ) -> None:  # fmt: skip
        self.suite.add(
            f"play-standing::{name}", description, detached.signed(signed) | {"answers": answers}, verdict,
            operation="play-standing", policy=detached.policy("play", **(policy or {})), time=iso(at)[:19] + "Z",
            flags=list(flags), importance=importance, **expected,
        )  # fmt: skip


def values(standing: str, quantity: int | None = None, product: str | None = COINS, environment: str = "production") -> dict:
    members = {
        "environment": environment,
        "standing": [{"transactionId": detached.ORDER, "standing": standing}],
    }
    if quantity is not None:
        members["remaining"] = [{"productId": product, "quantity": quantity}]
    return members


def add(suite: Suite) -> None:
    cases = Cases(suite)
    for part in (products, quantities, subscriptions, others, errors):
        part(cases)


def bought(**changes) -> dict:
    return detached.play(**({"purchaseTime": START} | changes))


def monthly(**changes) -> dict:
    return bought(**({"productId": MONTHLY, "autoRenewing": True} | changes))


def products(cases: Cases) -> None:
    cases.add("product::purchased", "Google confirms the purchase of a product.", bought(), [purchase(AT, product())],
              values=values("active", 1))  # fmt: skip
    cases.add(
        "product::production", "Google confirms the purchase, and the policy accepts those that were paid for alone.", bought(),
        [purchase(AT, product())], policy={"environments": ["production"]}, values=values("active", 1),
    )  # fmt: skip
    test = purchase(AT, product(), testPurchaseContext={"fopType": "TEST"})
    cases.add("product::test", "A licence tester bought the product.", bought(), [test],
              values=values("active", 1, environment="sandbox"))  # fmt: skip
    cases.add(
        "product::test-in-production", "A licence tester bought the product, and the policy accepts no tests.", bought(),
        [test], "invalid", policy={"environments": ["production"]}, reason="wrong-environment", importance="critical",
    )  # fmt: skip
    cases.add(
        "product::pending", "The product is not paid for: its signature is older than that.", bought(),
        [purchase(AT, product(), state="PENDING", completed=None)], "invalid", reason="checker-refused", flags=(UNPAID,),
        importance="critical",
    )  # fmt: skip
    cases.add("product::cancelled", "The purchase was cancelled.", bought(), [purchase(AT, product(), state="CANCELLED")],
              "invalid", reason="revoked", flags=(VOIDED,), importance="critical")  # fmt: skip


def quantities(cases: Cases) -> None:
    three = bought(quantity=3)
    cases.add("quantity::all", "None of three was refunded.", three, [purchase(AT, product(quantity=3, refundable=3))],
              values=values("active", 3))  # fmt: skip
    cases.add("quantity::one-refunded", "One of three was refunded.", three,
              [purchase(AT, product(quantity=3, refundable=2))], values=values("active", 2), flags=(PART,))  # fmt: skip
    cases.add(
        "quantity::all-refunded", "All of three were refunded, one by one.", three,
        [purchase(AT, product(quantity=3, refundable=0))], "invalid", reason="revoked", flags=(PART, VOIDED),
        importance="critical",
    )  # fmt: skip
    for swapped in (False, True):
        suffix, note = ("-swapped", " It stands second.") if swapped else ("", "")

        def answer(coins: int, other: int) -> list[dict]:
            pair = [product(COINS, 1, coins), product(YEARLY, 1, other)]
            return [purchase(AT, *(pair[::-1] if swapped else pair))]

        cases.add(
            f"quantity::of-another-product{suffix}",
            f"Of an order of two products that which the receipt names was refunded, and the other one was not.{note}",
            bought(), answer(0, 1), "invalid", reason="revoked", flags=(SEVERAL, VOIDED), importance="critical",
        )  # fmt: skip
        cases.add(
            f"quantity::another-refunded{suffix}",
            f"Of an order of two products that which the receipt names was not refunded, and the other one was.{note}",
            bought(), answer(1, 0), flags=(SEVERAL,), values={"environment": "production"},
        )  # fmt: skip


def subscriptions(cases: Cases) -> None:
    current = {"requireCurrent": True}
    answer = [subscription(AT, line())]
    cases.add("subscription::active", "Google confirms a subscription in its period.", monthly(), answer,
              values=values("active"))  # fmt: skip
    cases.add("subscription::renewed", "The subscription was renewed since it was signed.", monthly(),
              [subscription(AT, line(order=f"{detached.ORDER}..3"))], values=values("active"))  # fmt: skip
    for name, text, signed in (
        ("named", "", monthly()),
        ("without-product", " The signed purchase names no product.", monthly(productId=None)),
    ):
        cases.add(f"current::{name}", f"The policy asks for a subscription that stands, and it does.{text}", signed, answer,
                  policy=current, values=values("active"))  # fmt: skip
        for state, end, note in (
            ("ACTIVE", AT - HOUR, "has ended"), ("EXPIRED", AT - HOUR, "has expired"), ("ON_HOLD", AT - HOUR, "is on hold"),
            ("PAUSED", AT - HOUR, "is paused"),
        ):  # fmt: skip
            word = "ended" if state == "ACTIVE" else state.lower().replace("_", "-")
            cases.add(
                f"not-current::{name}-{word}", f"The policy asks for a subscription that stands, and it {note}.{text}", signed,
                [subscription(AT, line(end=end), state=state)], "invalid", policy=current, reason="not-current",
                flags=(NO_ACCESS,), importance="critical",
            )  # fmt: skip
    cases.add(
        "subscription::pending", "The subscription waits for its first payment.", monthly(),
        [subscription(AT, line(order=None, end=None), state="PENDING", start=None)], "invalid", reason="checker-refused",
        flags=(UNPAID,), importance="critical",
    )  # fmt: skip


def others(cases: Cases) -> None:
    for name, text, answer in (
        ("order", "Google has another order for the token.", purchase(AT, product(), order=OTHER_ORDER)),
        ("product", "Google has another product for the token.", purchase(AT, product(YEARLY))),
    ):
        cases.add(f"other::{name}", text, bought(), [answer], "invalid", reason="checker-refused", flags=(OTHER_PURCHASE,),
                  importance="critical")  # fmt: skip
    for name, text, answer in (
        ("subscription-order", "Google has another order for the token of a subscription.",
         subscription(AT, line(order=f"{OTHER_ORDER}..0"))),
        ("subscription-product", "Google has another product for the token of a subscription.",
         subscription(AT, line(YEARLY))),
    ):  # fmt: skip
        cases.add(f"other::{name}", text, monthly(), [answer], "invalid", reason="checker-refused", flags=(OTHER_PURCHASE,),
                  importance="critical")  # fmt: skip


def errors(cases: Cases) -> None:
    method = "productsv2.getproductpurchasev2"
    for status, code, name, text in (
        (404, "notFound", "unknown", "Google does not know the token."),
        (410, "purchaseTokenNoLongerValid", "gone", "The token is no longer valid."),
    ):
        for kind, signed, of in (("product", bought(), method), ("subscription", monthly(), "subscriptionsv2.get")):
            cases.add(f"error::{kind}-{name}", f"{text} It is that of a {kind}.", signed, [refusal(of, AT, status, code)],
                      "invalid", reason="checker-refused", flags=(GONE,), importance="critical")  # fmt: skip
    for status, code in ((500, "internalError"), (503, "backendError"), (429, "rateLimitExceeded")):
        cases.add(
            f"error::status-{status}", "Google did not answer, so that nothing is known.", bought(),
            [refusal(method, AT, status, code)], "undetermined", reason="checker-unavailable", flags=(UNANSWERED,),
        )  # fmt: skip
