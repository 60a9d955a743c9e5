# SPDX-License-Identifier: Apache-2.0
"""What was granted before: genuine receipts that are presented once too often.

No store prescribes these rules. The stores say that a consumable is delivered once and that the server keeps a record of
what it delivered; ReceiptFormats says the rest.
"""

import base64
import dataclasses
import datetime
import json

import pki
from detached import APP, HUAWEI_ORDER, ORDER, OTHER_APP, TOKEN, app_key, huawei, order, orders, play
from detached import signed as signed_data
from fold import (
    COINS, CONSUMABLE, DAY, EXPIRES, NON_CONSUMABLE, NON_RENEWING, ORIGINAL, PURCHASED, SECOND, SIGNED, app_receipt, in_app,
    iso, jws, notification, rsa_chain, signer, single, transaction, transaction_receipt,
)  # fmt: skip
from suite import TIME, Suite, b64, flag, json_bytes

RECORD = "https://developer.android.com/google/play/billing/security#verify"
CONSUMED_TWICE = flag(
    "ConsumableAgain", "A receipt of a consumable is presented again, as it is or in another one.",
    "One payment is delivered any number of times.", "https://developer.apple.com/documentation/storekit/transaction/finish()",
    RECORD,
)  # fmt: skip
OTHER_CUSTOMER = flag(
    "OtherCustomer", "A purchase is presented by another customer than the one to whom it was granted first.",
    "Customers share one purchase, or sell copies of its receipt.",
    "https://developer.apple.com/documentation/storekit/transaction/appaccounttoken", RECORD,
)  # fmt: skip
OTHER_SCOPE = flag(
    "SameNumberElsewhere", "Two purchases have one number: in two stores, two apps or two environments.",
    "A customer does not get what was paid for, because a test purchase or one in another app had that number.",
    "https://developer.apple.com/documentation/appstoreserverapi/environment",
)  # fmt: skip
NO_GRANT = flag(
    "RefusedBefore", "The purchase was presented before, and was not granted then.",
    "Anybody who presents a purchase too early, or as his own, takes it from the customer who paid.", RECORD,
)  # fmt: skip
LONG_HISTORY = flag(
    "LongHistory", "Very many earlier requests concern one purchase.",
    "A program that reads the newest of them alone grants again, once somebody has asked often enough.", RECORD,
)  # fmt: skip
AGAIN, CUSTOMER, RECEIPT = "consumable-again", "another-customer", "same-receipt"
ANNA, BERT, CARL = "anna", "bert", "carl"
BADGE = f"{APP}.badge"
GRANTED, REPLAY, NOT_VALID = "granted", "replay", "not-valid"
TOKEN_OF_ANNA, TOKEN_OF_BERT = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f", "6b2b7f0e-2f0a-4c0e-9d6a-0a8f3c1d2e4b"


@dataclasses.dataclass(frozen=True)
class Request:
    """A request, with the decision that is expected."""

    receipt: str
    decision: str
    members: dict
    repeats: int | None = None


def ask(receipt: str | bytes | dict, decision: str, customer: str | None = None, repeats: int | None = None, **members):
    if isinstance(receipt, dict):
        text = receipt["receipt"]
    else:
        text = b64(receipt.encode() if isinstance(receipt, str) else receipt)
    return Request(text, decision, members | ({} if customer is None else {"customer": customer}), repeats)


def repetitions(requests: tuple[Request, ...], window: int | None) -> list[int | None]:
    """For each request the earlier one that it repeats: of the same receipt and customer under the same policy, with the
    same decision."""
    recorded: list[tuple[tuple, str, int]] = []
    found: list[int | None] = []
    for number, request in enumerate(requests):
        members = request.members
        key = (request.receipt, members.get("customer"), str(members.get("policy")), request.decision)
        time = members.get("time", TIME)
        earlier = [first for other, then, first in recorded if other == key and within(window, then, time)]
        found.append(earlier[-1] if earlier else None)
        if not earlier:
            recorded.append((key, time, number))
    return found


def within(window: int | None, earlier: str, later: str) -> bool:
    times = [datetime.datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (earlier, later)]
    return window is None or times[1] - times[0] <= datetime.timedelta(seconds=window)


def policy(**changes) -> dict:
    """A policy that accepts what every store of the suite signs for two apps, in production and sandbox."""
    roots = [pki.pem(signer().root.encoded()), pki.pem(rsa_chain()[2])]
    app_keys = [app_key(), app_key(package=OTHER_APP)]
    members = {
        "trust": roots, "intermediates": [pki.pem(rsa_chain()[1])], "bundleIds": [APP, OTHER_APP],
        "environments": ["production", "sandbox"], "playKeys": app_keys, "huaweiKeys": app_keys,
    }  # fmt: skip
    return members | changes


class Grants:
    def __init__(self, suite: Suite):
        self.suite = suite

    def add(
        self, name: str, description: str, rules: str, *requests: Request, batches: tuple[int, ...] | None = None,
        consumables: tuple[str, ...] = (), window: int | None = None, flags: tuple = (), features: tuple = (),
    ) -> None:  # fmt: skip
        """A case. Each request is a batch of its own, unless sizes of batches are given."""
        sizes = batches or (1,) * len(requests)
        if sum(sizes) != len(requests):
            raise ValueError(f"{name}: the batches do not have its {len(requests)} requests")
        documents = [{"receipt": request.receipt} | request.members for request in requests]
        starts = [sum(sizes[:index]) for index in range(len(sizes))]
        input = {
            "batches": [documents[start : start + size] for start, size in zip(starts, sizes)], "rules": rules.split(),
            "consumables": list(consumables) or None, "window": window,
        }  # fmt: skip
        repeated = repetitions(requests, window)
        if name.startswith("repeat::") and repeated != [request.repeats for request in requests]:
            raise ValueError(f"{name}: its requests repeat {repeated}")
        values = {
            "decisions": [
                {"request": number, "decision": request.decision} for number, request in enumerate(requests)
            ],
            "repetitions": [
                {"request": number, "repeats": first} for number, first in enumerate(repeated) if first is not None
            ],
        }  # fmt: skip
        refused = any(request.decision != GRANTED for request in requests)
        self.suite.add(
            f"grants::{name}", description, {member: value for member, value in input.items() if value is not None}, "valid",
            operation="grants", values=values, policy=policy(), flags=list(flags), features=features,
            importance="critical" if refused else "high",
        )  # fmt: skip


def later(count: int = 1) -> int:
    return SIGNED + count * SECOND


def coins(number: str = ORIGINAL, count: int = 0, **changes) -> str:
    """A consumable of the App Store, signed a number of seconds later than the first time."""
    members = {"transactionId": number, "originalTransactionId": number, "signedDate": later(count)}
    return jws(single(CONSUMABLE, **(members | changes)))


def owned(number: str = ORIGINAL, count: int = 0, **changes) -> str:
    """A product that stays with the customer."""
    return coins(number, count, **({"type": NON_CONSUMABLE, "productId": BADGE} | changes))


def renewed(count: int, **changes) -> str:
    """A period of a subscription."""
    start = PURCHASED + 31 * DAY * count
    members = {
        "transactionId": str(int(ORIGINAL) + count), "purchaseDate": start, "expiresDate": start + 31 * DAY,
        "signedDate": later(count),
    }  # fmt: skip
    return jws(transaction(**(members | changes)))


def play_coins(**changes) -> dict:
    return signed_data(play(**changes))


def huawei_coins(**changes) -> dict:
    members = {
        "kind": 0, "autoRenewing": False, "productId": COINS, "subscriptionId": None, "expirationDate": None,
        "oriPurchaseTime": None, "subIsvalid": None,
    }  # fmt: skip
    return signed_data(huawei(**(members | changes)), digest="sha256")


def add(suite: Suite) -> None:
    grants = Grants(suite)
    for part in (
        consumables, apple_receipts, customers, accounts, same_receipts, google_play, huawei_purchases, scopes, not_granted,
        whole_receipts, batches, long_histories, texts, repeats,
    ):  # fmt: skip
        part(grants)


def consumables(grants: Grants) -> None:
    def case(name: str, description: str, *requests: Request, **options) -> None:
        grants.add(f"consumable::{name}", description, AGAIN, *requests, flags=(CONSUMED_TWICE,), **options)

    case("once", "A consumable, and nothing was granted before.", ask(coins(), GRANTED))
    case("same-bytes", "The same receipt twice.", ask(coins(), GRANTED), ask(coins(), REPLAY))
    case("signed-again", "The store signed the transaction again, as whenever it is asked for.",
         ask(coins(), GRANTED), ask(coins(count=1), REPLAY))
    case("two-purchases", "Two purchases of one product have two transactions.",
         ask(coins(), GRANTED), ask(coins("2000000002"), GRANTED), ask(coins("2000000002", 1), REPLAY))
    case("refunded-between", "The second time the receipt states the refund. The customer who buys again gets another "
         "transaction.", ask(coins(), GRANTED), ask(coins(count=DAY // SECOND, revocationDate=later(60), revocationReason=0),
                             REPLAY), ask(coins("2000000002", DAY // SECOND), GRANTED))  # fmt: skip
    case("three-times", "A refused request changes nothing: the third is refused as the second is.",
         ask(coins(), GRANTED), ask(coins(count=1), REPLAY), ask(coins(count=2), REPLAY))
    case("any-customer", "The rule asks for no customer.", ask(coins(), GRANTED, ANNA), ask(coins(count=1), REPLAY, BERT))
    case("named", "The type of the product is not stated. The caller names it as a consumable.",
         ask(coins(type=None), GRANTED), ask(coins(count=1, type=None), REPLAY), consumables=(COINS,))
    case("named-other", "The caller names another product.", ask(coins(type=None), GRANTED),
         ask(coins(count=1, type=None), GRANTED), consumables=(BADGE,))
    case("known-later", "The first receipt does not state the type, and the second does.",
         ask(coins(type=None), GRANTED), ask(coins(count=1), REPLAY))
    for name, kind in (("non-consumable", NON_CONSUMABLE), ("non-renewing", NON_RENEWING)):
        case(name, f"A product of the type {kind} is restored.", ask(owned(type=kind), GRANTED),
             ask(owned(count=1, type=kind), GRANTED))
    case("subscription", "The period of a subscription is presented again.", ask(renewed(0), GRANTED),
         ask(renewed(0, signedDate=later(9)), GRANTED))
    case("without-rules", "No rule is asked for.", ask(coins(), GRANTED), ask(coins(), GRANTED, rules=[]),
         ask(coins(), REPLAY))  # fmt: skip


def apple_receipts(grants: Grants) -> None:
    """One purchase in all the forms in which the App Store signs it."""
    consumable = {"product": COINS, "product_type": 1}
    one = app_receipt(in_app(**consumable))
    two = app_receipt(in_app(**consumable), in_app("2000000002", **consumable), created=later())
    owned_too = app_receipt(in_app(BADGE_NUMBER, BADGE, product_type=0), in_app(**consumable))
    unstated = [app_receipt(in_app(product=COINS), created=later(count)) for count in range(2)]
    noticed = notification("ONE_TIME_CHARGE", of=single(CONSUMABLE))

    def case(name: str, description: str, *requests: Request, **options) -> None:
        grants.add(f"form::{name}", description, AGAIN, *requests, flags=(CONSUMED_TWICE,), **options)

    case("app-receipt", "An app receipt with a consumable, twice.", ask(one, GRANTED), ask(one, REPLAY))
    case("app-receipt-grown", "The later app receipt has another consumable beside the one that was granted. It is refused "
         "as a whole.", ask(one, GRANTED), ask(two, REPLAY))
    case("app-receipt-then-transaction", "The second of two consumables in an app receipt, as a signed transaction.",
         ask(two, GRANTED), ask(coins("2000000002"), REPLAY), ask(coins("2000000003"), GRANTED))
    case("transaction-then-app-receipt", "A signed transaction, and then the app receipt with it.",
         ask(coins(), GRANTED), ask(owned_too, REPLAY))
    case("app-receipt-owned", "What is no consumable may be in any number of receipts.", ask(coins("2000000002"), GRANTED),
         ask(owned_too, GRANTED), ask(owned(BADGE_NUMBER), GRANTED), ask(coins(), REPLAY))
    case("app-receipt-untyped", "An app receipt of the time before types of products.", ask(unstated[0], GRANTED),
         ask(unstated[1], REPLAY), consumables=(COINS,))
    case("notification", "The notification of the purchase, and then the transaction that the app received.",
         ask(noticed, GRANTED), ask(coins(count=1), REPLAY))
    case("transaction-then-notification", "The transaction, and then the notification about it.",
         ask(coins(count=1), GRANTED), ask(noticed, REPLAY))
    case("transaction-receipt", "A transaction receipt, twice.", ask(transaction_receipt(), GRANTED),
         ask(transaction_receipt(), REPLAY), consumables=(COINS,))


BADGE_NUMBER = "2000000009"


def customers(grants: Grants) -> None:
    def case(name: str, description: str, *requests: Request, **options) -> None:
        grants.add(f"customer::{name}", description, CUSTOMER, *requests, flags=(OTHER_CUSTOMER,), **options)

    case("restored", "A customer restores a purchase, on a new device and later again.", ask(owned(), GRANTED, ANNA),
         ask(owned(count=1), GRANTED, ANNA), ask(owned(count=2), GRANTED, ANNA))
    case("other", "Another customer presents the purchase.", ask(owned(), GRANTED, ANNA), ask(owned(count=1), REPLAY, BERT))
    case("other-same-bytes", "Another customer presents the very receipt.", ask(owned(), GRANTED, ANNA),
         ask(owned(), REPLAY, BERT), ask(owned(), GRANTED, ANNA))
    case("consumable", "A consumable has an owner too.", ask(coins(), GRANTED, ANNA), ask(coins(count=1), REPLAY, BERT),
         ask(coins(count=2), GRANTED, ANNA))
    case("renewal", "A renewal is of the subscription's owner.", ask(renewed(0), GRANTED, ANNA), ask(renewed(1), REPLAY, BERT),
         ask(renewed(2), GRANTED, ANNA))
    case("restored-transaction", "A restored purchase has a transaction of its own, and the same original one.",
         ask(owned(), GRANTED, ANNA), ask(owned(count=1, transactionId="2000000005"), REPLAY, BERT))
    case("family", "A member of the family has a shared purchase with transactions of its own.",
         ask(owned(), GRANTED, ANNA), ask(owned("2000000007", inAppOwnershipType="FAMILY_SHARED"), GRANTED, BERT))
    case("refunded-between", "A refund does not make the purchase another customer's.", ask(owned(), GRANTED, ANNA),
         ask(owned(count=100, revocationDate=later(60), revocationReason=0), REPLAY, BERT))
    case("bought-again", "After a refund another customer buys the product, which is another purchase.",
         ask(owned(), GRANTED, ANNA), ask(owned("2000000002"), GRANTED, BERT))
    case("without", "Neither request names a customer, so that nothing can be compared.", ask(owned(), GRANTED),
         ask(owned(count=1), GRANTED))
    case("named-later", "The first grant names no customer. The first that names one makes the owner.", ask(owned(), GRANTED),
         ask(owned(count=1), GRANTED, ANNA), ask(owned(count=2), REPLAY, BERT), ask(owned(count=3), GRANTED, ANNA))
    case("named-later-same-bytes", "The same, each time with the very receipt.", ask(owned(), GRANTED),
         ask(owned(), GRANTED, ANNA), ask(owned(), REPLAY, BERT), ask(owned(), GRANTED, ANNA))
    case("unnamed-after", "A request without a customer, after a grant to one.", ask(owned(), GRANTED, ANNA),
         ask(owned(count=1), GRANTED), ask(owned(count=2), REPLAY, BERT))
    case("first-of-two", "It was granted to two customers while no rule was asked for: the first is the owner.",
         ask(owned(), GRANTED, ANNA, rules=[]), ask(owned(count=1), GRANTED, BERT, rules=[]),
         ask(owned(count=2), REPLAY, BERT), ask(owned(count=3), GRANTED, ANNA))
    case("customer-empty-rules", "No rule is asked for.", ask(owned(), GRANTED, ANNA),
         ask(owned(count=1), GRANTED, BERT, rules=[]))
    case("two-purchases", "Two customers, each with a purchase.", ask(owned(), GRANTED, ANNA),
         ask(owned("2000000002"), GRANTED, BERT), ask(owned("2000000002", 1), REPLAY, ANNA), ask(owned(count=1), REPLAY, BERT))
    case("app-receipt", "An app receipt with another customer's purchase among its own is refused.",
         ask(owned(), GRANTED, ANNA),
         ask(app_receipt(in_app("2000000002", BADGE), in_app(ORIGINAL, BADGE)), REPLAY, BERT))
    case("app-receipt-first", "Each purchase of an app receipt has the customer as its owner.",
         ask(app_receipt(in_app("2000000002", BADGE), in_app(ORIGINAL, BADGE)), GRANTED, ANNA),
         ask(owned(), REPLAY, BERT), ask(owned("2000000002"), REPLAY, BERT), ask(owned("2000000003"), GRANTED, BERT))
    case("letter-case", "Customers are compared octet by octet: these are two.", ask(owned(), GRANTED, "anna"),
         ask(owned(count=1), REPLAY, "Anna"))
    case("normal-forms", "Customers whose names look equal and have other octets are two.",
         ask(owned(), GRANTED, "andr\u00e9"), ask(owned(count=1), REPLAY, "andre\u0301"),
         ask(owned(count=2), GRANTED, "andr\u00e9"))
    grants.add("customer::both-rules", "A consumable of another customer, by both rules.", f"{AGAIN} {CUSTOMER}",
               ask(coins(), GRANTED, ANNA), ask(coins(count=1), REPLAY, BERT), ask(coins(count=2), REPLAY, ANNA),
               flags=(OTHER_CUSTOMER, CONSUMED_TWICE))  # fmt: skip


def accounts(grants: Grants) -> None:
    """The customer that the receipt itself states."""

    def case(name: str, description: str, *requests: Request, **options) -> None:
        grants.add(f"account::{name}", description, CUSTOMER, *requests, flags=(OTHER_CUSTOMER,), **options)

    anna, bert = {"appAccountToken": TOKEN_OF_ANNA}, {"appAccountToken": TOKEN_OF_BERT}
    case("stated", "The receipt states the account, and the requests do not.", ask(owned(**anna), GRANTED),
         ask(owned(count=1, **anna), GRANTED), ask(owned(count=2), REPLAY, BERT))
    case("stated-other", "The purchase was granted to another account than the receipt states.",
         ask(owned(), GRANTED, ANNA), ask(owned(count=1, **bert), REPLAY))
    case("request-counts", "The request names another customer than the receipt: the request counts.",
         ask(owned(**anna), GRANTED, CARL), ask(owned(count=1, **anna), REPLAY), ask(owned(count=2, **anna), GRANTED, CARL))
    case("upper-case", "A UUID in upper case is the same customer as in lower case.",
         ask(owned(**anna), GRANTED), ask(owned(count=1), GRANTED, TOKEN_OF_ANNA.upper()),
         ask(owned(count=2), REPLAY, TOKEN_OF_BERT.upper()))
    case("google-play", "The account that the app gave to Google Play.",
         ask(play_coins(obfuscatedAccountId=ANNA), GRANTED),
         ask(play_coins(obfuscatedAccountId=ANNA, acknowledged=True), GRANTED),
         ask(play_coins(acknowledged=True), REPLAY, BERT))


def same_receipts(grants: Grants) -> None:
    def case(name: str, description: str, *requests: Request, **options) -> None:
        grants.add(f"receipt::{name}", description, RECEIPT, *requests, flags=(CONSUMED_TWICE,), **options)

    case("twice", "The same receipt twice.", ask(owned(), GRANTED), ask(owned(), REPLAY))
    case("other-customer", "The same receipt, by another customer.", ask(owned(), GRANTED, ANNA), ask(owned(), REPLAY, BERT))
    case("signed-again", "The same transaction, signed again, is another receipt.", ask(owned(), GRANTED),
         ask(owned(count=1), GRANTED), ask(owned(), REPLAY))
    case("app-receipt", "An app receipt twice.", ask(app_receipt(in_app()), GRANTED), ask(app_receipt(in_app()), REPLAY))
    data = play()
    members = {"data": json_bytes(data).decode(), "signature": b64_signature(data)}
    spaced = {"receipt": b64(("\n " + json_bytes(dict(reversed(members.items()))).decode() + " ").encode())}
    case("google-play-envelope", "The same data and signature, in the other order and with white space around them.",
         ask(play_coins(), GRANTED), ask(spaced, REPLAY))


def b64_signature(data: dict) -> str:
    return json.loads(base64.b64decode(signed_data(data)["receipt"]))["signature"]


def google_play(grants: Grants) -> None:
    def case(name: str, description: str, *requests: Request, rules: str = AGAIN, consumables: tuple = (COINS,)) -> None:
        flags = (CONSUMED_TWICE,) if rules == AGAIN else (OTHER_CUSTOMER,)
        grants.add(f"google-play::{name}", description, rules, *requests, flags=flags, consumables=consumables)

    done = {"acknowledged": True}
    case("acknowledged", "Google Play signs the purchase again once it is acknowledged.", ask(play_coins(), GRANTED),
         ask(play_coins(**done), REPLAY))
    case("not-named", "Google Play does not state the type, and the caller names no consumable.", ask(play_coins(), GRANTED),
         ask(play_coins(**done), GRANTED), consumables=())
    case("other-token", "One order with another token.", ask(play_coins(), GRANTED),
         ask(play_coins(purchaseToken="other"), REPLAY))
    case("other-order", "One token with another order.", ask(play_coins(), GRANTED),
         ask(play_coins(orderId="GPA.9999-9999-9999-99999"), REPLAY))
    case("order-later", "A test purchase without an order, which has one the second time.",
         ask(play_coins(orderId=None), GRANTED), ask(play_coins(), REPLAY))
    case("order-gone", "The second time the order is not stated.", ask(play_coins(), GRANTED),
         ask(play_coins(orderId=None), REPLAY))
    case("without-order", "A test purchase without an order, twice.", ask(play_coins(orderId=None), GRANTED),
         ask(play_coins(orderId=None, **done), REPLAY))
    case("without-token", "A purchase of 2011, which has no token, twice.", ask(play_coins(purchaseToken=None), GRANTED),
         ask(play_coins(purchaseToken=None, **done), REPLAY))
    case("token-later", "The order of a purchase of 2011, with the token of later years.",
         ask(signed_data(orders(order())), GRANTED), ask(play_coins(), REPLAY))
    case("order-list", "A list of two orders, of which one was granted before.",
         ask(play_coins(), GRANTED), ask(signed_data(orders(order(orderId="1"), order())), REPLAY),
         ask(signed_data(orders(order(orderId="1"))), GRANTED))
    case("two-purchases", "Two purchases of one product.", ask(play_coins(), GRANTED),
         ask(play_coins(orderId="GPA.2", purchaseToken="two"), GRANTED))
    several = {"productId": None, "productIds": [COINS, BADGE]}
    case("several-products", "One order of a consumable and another product.", ask(play_coins(**several), GRANTED),
         ask(play_coins(**several, **done), REPLAY))
    case("one-of-several", "The other product of the order, which is no consumable.", ask(play_coins(**several), GRANTED),
         ask(play_coins(productId=BADGE, **done), GRANTED))
    subscription = {"productId": f"{APP}.monthly", "autoRenewing": True}
    case("renewal", "A renewal has another order and the same token: it is of the subscription's owner.",
         ask(play_coins(**subscription), GRANTED, ANNA),
         ask(play_coins(**subscription, orderId=ORDER + "..0"), REPLAY, BERT),
         ask(play_coins(**subscription, orderId=ORDER + "..1"), GRANTED, ANNA), rules=CUSTOMER)
    case("without-order-owner", "A test purchase without an order has an owner.",
         ask(play_coins(**subscription, orderId=None), GRANTED, ANNA),
         ask(play_coins(**subscription, orderId=None, **done), REPLAY, BERT), rules=CUSTOMER)
    case("without-token-owner", "Without a token the order says whose it is.",
         ask(play_coins(purchaseToken=None), GRANTED, ANNA), ask(play_coins(purchaseToken=None, **done), REPLAY, BERT),
         rules=CUSTOMER)  # fmt: skip


def huawei_purchases(grants: Grants) -> None:
    def case(name: str, description: str, *requests: Request, rules: str = AGAIN) -> None:
        flags = (CONSUMED_TWICE,) if rules == AGAIN else (OTHER_CUSTOMER,)
        grants.add(f"huawei::{name}", description, rules, *requests, flags=flags)

    case("consumable", "Huawei states the type, so that nobody has to name it.", ask(huawei_coins(), GRANTED),
         ask(huawei_coins(confirmed=1), REPLAY))
    case("non-consumable", "What is bought once is restored.", ask(huawei_coins(kind=1), GRANTED),
         ask(huawei_coins(kind=1, confirmed=1), GRANTED))
    case("other-token", "One order with another token.", ask(huawei_coins(), GRANTED),
         ask(huawei_coins(purchaseToken="other"), REPLAY))
    case("other-order", "One token with another order.", ask(huawei_coins(), GRANTED), ask(huawei_coins(orderId="2"), REPLAY))
    case("two-purchases", "Two purchases of one product.", ask(huawei_coins(), GRANTED),
         ask(huawei_coins(orderId="2", purchaseToken="two"), GRANTED))
    subscription = [
        signed_data(huawei(orderId=f"{HUAWEI_ORDER}.{count}", oriPurchaseTime=PURCHASED), digest="sha256") for count in range(3)
    ]
    case("renewal", "A renewal has another order and the same token: it is of the subscription's owner.",
         ask(subscription[0], GRANTED, ANNA), ask(subscription[1], REPLAY, BERT), ask(subscription[2], GRANTED, ANNA),
         rules=CUSTOMER)  # fmt: skip


def scopes(grants: Grants) -> None:
    """Numbers of purchases are unique within one app, in one environment of one store."""

    def case(name: str, description: str, *requests: Request, rules: str = AGAIN, **options) -> None:
        grants.add(f"scope::{name}", description, rules, *requests, flags=(OTHER_SCOPE,), **options)

    sandbox, other_app = {"environment": "Sandbox"}, {"bundleId": OTHER_APP}
    case("environment", "The same number in the sandbox and in production.", ask(coins(**sandbox), GRANTED),
         ask(coins(), GRANTED), ask(coins(count=1), REPLAY), ask(coins(count=1, **sandbox), REPLAY))
    case("environment-owner", "The same number in the sandbox and in production, of two customers.",
         ask(owned(**sandbox), GRANTED, ANNA), ask(owned(), GRANTED, BERT), ask(owned(count=1), REPLAY, ANNA), rules=CUSTOMER)
    case("volume-purchase", "ProductionVPP and Production are one environment.",
         ask(coins(environment="ProductionVPP"), GRANTED), ask(coins(), REPLAY))
    case("app", "The same number in two apps.", ask(coins(**other_app), GRANTED), ask(coins(), GRANTED),
         ask(coins(count=1), REPLAY), ask(coins(count=1, **other_app), REPLAY))
    case("app-owner", "The same number in two apps, of two customers.", ask(owned(**other_app), GRANTED, ANNA),
         ask(owned(), GRANTED, BERT), ask(owned(count=1), REPLAY, ANNA), rules=CUSTOMER)
    case("store", "The order of Huawei's has the number of one of Google Play's.",
         ask(play_coins(orderId="123456789012345", purchaseToken=None), GRANTED),
         ask(huawei_coins(orderId="123456789012345"), GRANTED),
         ask(play_coins(orderId="123456789012345", purchaseToken=None, acknowledged=True), REPLAY), consumables=(COINS,))
    case("store-owner", "A token of Google Play's is one of Huawei's too, of two customers.",
         ask(huawei_coins(orderId="1", purchaseToken="one"), GRANTED, ANNA),
         ask(play_coins(orderId="2", purchaseToken="one"), GRANTED, BERT), rules=CUSTOMER)
    case("app-store", "The order of Huawei's has the number of a transaction of the App Store.",
         ask(coins(), GRANTED), ask(huawei_coins(orderId=ORIGINAL, purchaseType=None), GRANTED))
    number = "1000000001"
    case("unstated-then-stated", "Nobody signed the environment of a transaction receipt: it may be the one of the other "
         "receipt.", ask(transaction_receipt(), GRANTED), ask(coins(number), REPLAY), consumables=(COINS,))
    case("stated-then-unstated", "The same in the other order.", ask(coins(number), GRANTED),
         ask(transaction_receipt(), REPLAY), consumables=(COINS,))
    case("unstated-sandbox", "The same with the sandbox.", ask(transaction_receipt(), GRANTED),
         ask(coins(number, **sandbox), REPLAY), consumables=(COINS,))
    case("unstated-owner", "The same with the rule of the customer.", ask(transaction_receipt(), GRANTED, ANNA),
         ask(owned(number), REPLAY, BERT), rules=CUSTOMER)
    case("same-receipt", "The rule of the receipt has no scope: the receipt is the same.", ask(coins(), GRANTED),
         ask(coins(), REPLAY), ask(coins(**sandbox), GRANTED), rules=RECEIPT)


def not_granted(grants: Grants) -> None:
    """Requests that are refused grant nothing, and take nothing from anybody."""
    rules = f"{AGAIN} {CUSTOMER}"

    def case(name: str, description: str, *requests: Request, **options) -> None:
        grants.add(f"refused::{name}", description, options.pop("rules", rules), *requests, flags=(NO_GRANT,), **options)

    production = policy(environments=["production"])
    case("forged", "A forged receipt of the purchase comes first.", ask(jws(single(CONSUMABLE), foreign=True), NOT_VALID, BERT),
         ask(coins(), GRANTED, ANNA))
    case("sandbox", "A policy that accepts production alone refuses a purchase of the sandbox, and a later one does not.",
         ask(coins(environment="Sandbox"), NOT_VALID, BERT, policy=production),
         ask(coins(environment="Sandbox"), GRANTED, ANNA))
    case("undetermined", "Nothing proves the environment of the purchase, and the first policy needs proof.",
         ask(play_coins(), NOT_VALID, BERT, policy=production), ask(play_coins(), GRANTED, ANNA),
         ask(play_coins(acknowledged=True), REPLAY, ANNA), consumables=(COINS,))
    case("undetermined-transaction-receipt", "The same with a transaction receipt.",
         ask(transaction_receipt(), NOT_VALID, BERT, policy=production), ask(transaction_receipt(), GRANTED, ANNA),
         consumables=(COINS,))  # fmt: skip
    case("expired", "The first policy demands a purchase that stands, and the subscription has ended.",
         ask(renewed(0), NOT_VALID, BERT, policy=policy(requireCurrent=True), time=iso(EXPIRES + 90 * DAY)),
         ask(renewed(0), GRANTED, ANNA), features=("policy-require-current",))
    case("other-then-own", "A purchase that was refused because of another one beside it is granted to the next customer.",
         ask(owned(), GRANTED, ANNA), ask(app_receipt(in_app(ORIGINAL, BADGE), in_app("2000000002", BADGE)), REPLAY, BERT),
         ask(owned("2000000002"), GRANTED, CARL), ask(owned("2000000002", 1), REPLAY, BERT), rules=CUSTOMER)
    case("consumable-beside", "A consumable that was refused because of another one beside it is granted alone.",
         ask(coins(), GRANTED, ANNA),
         ask(app_receipt(*(in_app(n, COINS, product_type=1) for n in (ORIGINAL, "2000000002"))), REPLAY, ANNA),
         ask(coins("2000000002"), GRANTED, ANNA), ask(coins("2000000002", 1), REPLAY, ANNA))
    case("same-receipt", "A receipt that was refused is not one that was granted.",
         ask(owned(), NOT_VALID, policy=policy(bundleIds=[OTHER_APP])), ask(owned(), GRANTED), ask(owned(), REPLAY),
         rules=RECEIPT)  # fmt: skip


def whole_receipts(grants: Grants) -> None:
    """Subscriptions with their periods, in one receipt and in several."""
    periods = [
        in_app(str(int(ORIGINAL) + count), original=ORIGINAL, purchased=PURCHASED + 31 * DAY * count, line_item=count + 1,
               expires=PURCHASED + 31 * DAY * (count + 1))
        for count in range(3)
    ]  # fmt: skip

    def case(name: str, description: str, *requests: Request, **options) -> None:
        grants.add(f"line::{name}", description, CUSTOMER, *requests, flags=(OTHER_CUSTOMER,), **options)

    case("periods", "A receipt with three periods, and then a renewal that another customer presents.",
         ask(app_receipt(*periods), GRANTED, ANNA), ask(renewed(3), REPLAY, BERT), ask(renewed(3), GRANTED, ANNA))
    case("renewal-then-receipt", "A renewal, and then a receipt with the periods before it, of another customer.",
         ask(renewed(3), GRANTED, ANNA), ask(app_receipt(*periods), REPLAY, BERT), ask(app_receipt(*periods), GRANTED, ANNA))
    case("two-subscriptions", "A receipt with two subscriptions, of which one is another customer's.",
         ask(renewed(3), GRANTED, ANNA),
         ask(app_receipt(*periods, in_app("2000000050", f"{APP}.yearly", expires=EXPIRES + DAY)), REPLAY, BERT))


def batches(grants: Grants) -> None:
    """Several requests in one call: each sees those before it."""

    def case(name: str, description: str, rules: str, *requests: Request, sizes: tuple[int, ...], **options) -> None:
        flags = (CONSUMED_TWICE,) if AGAIN in rules else (OTHER_CUSTOMER,)
        grants.add(f"batch::{name}", description, rules, *requests, batches=sizes, flags=options.pop("flags", flags), **options)

    case("consumable", "A consumable four times in one batch.", AGAIN,
         *(ask(coins(count=count), REPLAY if count else GRANTED) for count in range(4)), sizes=(4,))
    case("same-bytes", "One receipt of a consumable four times in one batch.", AGAIN,
         *(ask(coins(), REPLAY if count else GRANTED) for count in range(4)), sizes=(4,))
    case("customers", "One purchase by three customers in one batch.", CUSTOMER, ask(owned(), GRANTED, ANNA),
         ask(owned(count=1), REPLAY, BERT), ask(owned(count=2), REPLAY, CARL), ask(owned(count=3), GRANTED, ANNA), sizes=(4,))
    case("receipts", "One receipt three times in one batch.", RECEIPT, ask(owned(), GRANTED, ANNA),
         ask(owned(), REPLAY, ANNA), ask(owned(), REPLAY, ANNA), sizes=(3,))
    case("two", "The second batch sees what the first granted.", AGAIN, ask(coins(), GRANTED),
         ask(coins("2000000002"), GRANTED), ask(coins("2000000002", 1), REPLAY), ask(coins(count=1), REPLAY),
         ask(coins("2000000003"), GRANTED), sizes=(2, 3))
    case("mixed", "Among requests that are granted are ones that are not.", f"{AGAIN} {CUSTOMER}",
         ask(coins(), GRANTED, ANNA), ask(jws(single(CONSUMABLE), foreign=True), NOT_VALID, ANNA),
         ask(owned("2000000002"), GRANTED, ANNA), ask(coins(count=1), REPLAY, ANNA), ask(owned("2000000002"), REPLAY, BERT),
         ask(owned("2000000002", 1), GRANTED, ANNA), sizes=(6,))
    case("empty", "A batch without requests.", AGAIN, ask(coins(), GRANTED), ask(coins(), REPLAY), sizes=(1, 0, 1))


def long_histories(grants: Grants) -> None:
    """One order of Google Play's may have many products, so that a few receipts are a long history."""

    def many(count: int, token: str = TOKEN, **changes) -> dict:
        products = [f"p{number}" for number in range(count)]
        return play_coins(productId=None, productIds=products, purchaseToken=token, orderId=f"GPA.{token[:8]}", **changes)

    def case(name: str, description: str, rules: str, *requests: Request, **options) -> None:
        flags = (LONG_HISTORY, CONSUMED_TWICE if rules == AGAIN else OTHER_CUSTOMER)
        grants.add(f"history::{name}", description, rules, *requests, flags=flags, **options)

    done = {"acknowledged": True}
    case("refusals", "The grant is behind the refusal of an order with 300 products.", CUSTOMER,
         ask(many(1), GRANTED, ANNA), ask(many(300, **done), REPLAY, BERT), ask(many(2, **done), REPLAY, CARL),
         ask(many(2), GRANTED, ANNA))
    case("consumable", "The same with a consumable.", AGAIN, ask(many(1), GRANTED), ask(many(300, **done), REPLAY),
         ask(many(2, **done), REPLAY), consumables=("p0", "p1"))
    case("two-in-a-batch", "Two purchases in one batch, one with a long history, both of another customer.", CUSTOMER,
         ask(many(2, "second-token"), GRANTED, ANNA), ask(many(520), GRANTED, ANNA),
         ask(many(3, **done), REPLAY, BERT), ask(many(3, "second-token", **done), REPLAY, BERT), batches=(2, 2))
    case("two-consumables-in-a-batch", "The same with consumables.", AGAIN,
         ask(many(2, "second-token"), GRANTED), ask(many(1), GRANTED), ask(many(520, **done), REPLAY),
         ask(many(3, **done), REPLAY), ask(many(3, "second-token", **done), REPLAY), batches=(3, 2), consumables=("p0",))


def texts(grants: Grants) -> None:
    """Identifiers of purchases are octets, whatever they mean elsewhere."""

    def case(name: str, description: str, one: dict, other: dict) -> None:
        grants.add(
            f"text::{name}", f"Two orders that differ in their octets alone. {description}", AGAIN,
            ask(play_coins(**one), GRANTED), ask(play_coins(**other), GRANTED),
            ask(play_coins(**one, acknowledged=True), REPLAY), ask(play_coins(**other, acknowledged=True), REPLAY),
            consumables=(COINS,), flags=(OTHER_SCOPE,),
        )  # fmt: skip

    for name, description, one, other in (
        ("percent", "One has a percent sign at its end.", "GPA.1234-5678%3D", "GPA.1234-5678="),
        ("percent-twice", "One is the other one percent-encoded.", "GPA.1234-5678%253D", "GPA.1234-5678%3D"),
        ("space", "One has a space at its end.", "GPA.1234-5678 ", "GPA.1234-5678"),
        ("letter-case", "One is in lower case.", "gpa.1234-5678", "GPA.1234-5678"),
        ("normal-forms", "They look equal.", "GPA.1234-\u00e9", "GPA.1234-e\u0301"),
        ("line-feed", "One has a line feed within.", "GPA.1234-56\n78", "GPA.1234-5678"),
        ("nul", "One has NUL at its end.", "GPA.1234-5678\0", "GPA.1234-5678"),
    ):
        case(name, description, {"orderId": one, "purchaseToken": None}, {"orderId": other, "purchaseToken": None})
        case(f"{name}-token", description, {"orderId": None, "purchaseToken": one}, {"orderId": None, "purchaseToken": other})
    look_alike = orders(order(orderId="GPA.1234-e\u0301"), order(orderId="GPA.1234-\u00e9"))
    grants.add(
        "text::look-alikes-in-one-list", "A list of two orders that look equal, of which the second was granted before.",
        AGAIN, ask(signed_data(orders(order(orderId="GPA.1234-\u00e9"))), GRANTED), ask(signed_data(look_alike), REPLAY),
        consumables=(COINS,), flags=(CONSUMED_TWICE,),
    )  # fmt: skip
    grants.add(
        "text::look-alikes-of-others", "A list of two orders that look equal, of which the second is another customer's.",
        CUSTOMER, ask(signed_data(orders(order(orderId="GPA.1234-\u00e9"))), GRANTED, ANNA),
        ask(signed_data(look_alike), REPLAY, BERT), flags=(OTHER_CUSTOMER,),
    )  # fmt: skip


def repeats(grants: Grants) -> None:
    """A request that repeats an earlier one is the same as that one: it is recorded once."""

    def case(name: str, description: str, rules: str, *requests: Request, **options) -> None:
        grants.add(f"repeat::{name}", description, rules, *requests, **options)

    case("granted", "The same receipt three times, and another one between.", CUSTOMER, ask(owned(), GRANTED, ANNA),
         ask(owned("2000000002"), GRANTED, ANNA), ask(owned(), GRANTED, ANNA, repeats=0),
         ask(owned(), GRANTED, ANNA, repeats=0))
    case("in-a-batch", "The same receipt twice in one batch, and again in the next.", CUSTOMER, ask(owned(), GRANTED, ANNA),
         ask(owned(), GRANTED, ANNA, repeats=0), ask(owned(), GRANTED, ANNA, repeats=0), batches=(2, 1))
    case("refused", "A refusal repeats the refusal, and not the grant.", AGAIN, ask(coins(), GRANTED), ask(coins(), REPLAY),
         ask(coins(), REPLAY, repeats=1), flags=(CONSUMED_TWICE,))
    case("signed-again", "The transaction, signed again, is another receipt.", CUSTOMER, ask(owned(), GRANTED, ANNA),
         ask(owned(count=1), GRANTED, ANNA), ask(owned(), GRANTED, ANNA, repeats=0),
         ask(owned(count=1), GRANTED, ANNA, repeats=1))
    case("other-policy", "Under another policy it is another decision.", CUSTOMER, ask(owned(), GRANTED, ANNA),
         ask(owned(), GRANTED, ANNA, policy=policy(environments=["production"])), ask(owned(), GRANTED, ANNA, repeats=0),
         ask(owned(), GRANTED, ANNA, repeats=1, policy=policy(environments=["production"])))
    case("app-receipt", "An app receipt with three purchases, twice.", CUSTOMER,
         *(ask(app_receipt(*(in_app(number, BADGE) for number in ("1", "2", "3"))), GRANTED, ANNA, repeats=number)
           for number in (None, 0)))  # fmt: skip
    case("not-valid", "What is not valid repeats itself too.", CUSTOMER,
         *(ask(jws(single(CONSUMABLE), foreign=True), NOT_VALID, repeats=number) for number in (None, 0)))

    def at(seconds: float) -> str:
        return iso(SIGNED + DAY + round(seconds * 1000))

    case("within-window", "It is repeated exactly at the end of the window.", CUSTOMER,
         ask(owned(), GRANTED, ANNA, time=at(0)), ask(owned(), GRANTED, ANNA, repeats=0, time=at(60)), window=60)
    case("after-window", "It comes a millisecond after the end of the window.", CUSTOMER,
         ask(owned(), GRANTED, ANNA, time=at(0)), ask(owned(), GRANTED, ANNA, time=at(60.001)), window=60)
    case("window-of-first", "The window begins at the first request, and not at its repetition.", CUSTOMER,
         ask(owned(), GRANTED, ANNA, time=at(0)), ask(owned(), GRANTED, ANNA, repeats=0, time=at(59)),
         ask(owned(), GRANTED, ANNA, time=at(61)), ask(owned(), GRANTED, ANNA, repeats=2, time=at(62)), window=60)
    case("window-and-rules", "The window does not concern the rules: a consumable is granted once.", AGAIN,
         ask(coins(), GRANTED, time=at(0)), ask(coins(), REPLAY, time=at(3600)), window=60, flags=(CONSUMED_TWICE,))
