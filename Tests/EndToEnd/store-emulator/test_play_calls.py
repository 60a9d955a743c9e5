# SPDX-License-Identifier: Apache-2.0
"""Orders, disputes, transactions outside of Google Play's billing and the catalogue, called with Google's own client."""

import json
import urllib.error

import pytest
from googleapiclient.errors import HttpError
from play import (
    CANCELED, COINS, DEFERRED, MONTHLY, PACKAGE, PRO, RESTARTED, REVOKED, YEARLY, play, receiver, refusal,
)  # noqa: F401  # fmt: skip

PARENT = f"applications/{PACKAGE}"


def money(text: str, currency="USD") -> dict:
    units, _, cents = text.partition(".")
    return {"currencyCode": currency, "units": units, "nanos": int(cents.ljust(9, "0") or 0)}


def refused(play, name, **members) -> str:
    """What a control that is refused says."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        play.control(name, **members)
    assert caught.value.code == 400
    return json.load(caught.value)["error"]


@pytest.fixture
def order(play):
    """The order as `orders.get` answers it."""

    def get(order_id):
        return play.check("Order", play.orders.get(packageName=PACKAGE, orderId=order_id).execute())

    return get


@pytest.fixture
def external(play):
    return play.client().externaltransactions()


@pytest.fixture
def catalog(play):
    return play.client().monetization()


def methods(resource: dict, path=()):
    """The methods of a resource of the discovery document, with the path to each."""
    for name, method in resource.get("methods", {}).items():
        yield (*path, name), method
    for name, each in resource.get("resources", {}).items():
        yield from methods(each, (*path, name))


def test_every_call_about_purchases_has_an_endpoint(play):
    """Of those that Google's client knows; and of the catalogue what is read."""
    catalog = [
        ("monetization", "subscriptions", "list"), ("monetization", "subscriptions", "basePlans", "offers", "list"),
        ("monetization", "onetimeproducts", "list"), ("monetization", "onetimeproducts", "get"),
    ]  # fmt: skip
    names = {"parent": PARENT, "name": f"{PARENT}/externalTransactions/x", "packageName": PACKAGE}
    called = 0
    for path, method in methods(play.document):
        if path[0] not in ("orders", "purchases", "externaltransactions") and path not in catalog:
            continue
        resource = play.client()
        for name in path[:-1]:
            resource = getattr(resource, name)()
        arguments = {
            name: names.get(name, "x") for name, each in method["parameters"].items() if each.get("required")
        }
        arguments |= {"body": {}} if "request" in method else {}
        try:
            getattr(resource, path[-1])(**arguments).execute()
        except HttpError as error:
            reason = json.loads(error.content)["error"]["errors"][0]["reason"]
            assert reason not in ("notFound", "backendError"), (path, reason)
        called += 1
    assert called >= 23


def test_an_order_says_what_was_charged_and_refunded(play, receiver, order):
    bought = play.buy(COINS, quantity=3, obfuscatedAccountId="user-1")
    play.purchases.products().consume(packageName=PACKAGE, productId=COINS, token=bought["purchaseToken"]).execute()
    first = order(bought["orderId"])
    assert (first["orderId"], first["purchaseToken"]) == (bought["orderId"], bought["purchaseToken"])
    assert first["state"] == "PROCESSED" and first["createTime"] == first["lastEventTime"]
    assert first["orderHistory"] == {"processedEvent": {"eventTime": first["createTime"]}}
    assert first["total"] == money("2.97") and first["buyerAddress"] == {"buyerCountry": "US"}
    (item,) = first["lineItems"]
    assert item["productId"] == COINS and item["productTitle"] and item["listingPrice"] == money("0.99")
    assert item["oneTimePurchaseDetails"] == {"quantity": 3} and item["total"] == money("2.97")
    assert first["developerRevenueInBuyerCurrency"] == money("2.524")
    play.control("advance", by="P1D")
    play.orders.refund(packageName=PACKAGE, orderId=bought["orderId"]).execute()
    refunded = order(bought["orderId"])
    assert refunded["state"] == "REFUNDED" and refunded["developerRevenueInBuyerCurrency"] == money("0")
    event = refunded["orderHistory"]["refundEvent"]
    assert event["refundReason"] == "OTHER" and event["refundDetails"]["total"] == money("2.97")
    assert event["eventTime"] == refunded["lastEventTime"] > refunded["createTime"] == first["createTime"]


def test_the_orders_of_a_subscription_are_its_periods(play, receiver, order):
    bought = play.buy(MONTHLY)
    token, first = bought["purchaseToken"], bought["orderId"]
    play.acknowledge(MONTHLY, token)
    period = order(first)["lineItems"][0]["subscriptionDetails"]
    assert (period["basePlanId"], period["offerPhase"], period["offerPhaseDetails"]) == ("p1m", "BASE", {"baseDetails": {}})
    assert period["servicePeriodEndTime"] == play.subscription(token)["lineItems"][0]["expiryTime"]
    # The period of an order is what was paid for: a deferral moves the subscription's end only.
    etag = play.subscription(token)["etag"]
    deferral = {"deferralContext": {"etag": etag, "deferDuration": f"{3 * 86_400}s"}}
    play.purchases.subscriptionsv2().defer(packageName=PACKAGE, token=token, body=deferral).execute()
    assert play.subscription(token)["lineItems"][0]["expiryTime"] > period["servicePeriodEndTime"]
    assert order(first)["lineItems"][0]["subscriptionDetails"] == period
    play.control("advance", by="P34D")
    renewed = order(f"{first}..0")
    assert renewed["state"] == "PROCESSED" and renewed["purchaseToken"] == token
    assert renewed["lineItems"][0]["subscriptionDetails"]["servicePeriodStartTime"] > period["servicePeriodEndTime"]
    # A declined renewal names an order, which waits for the payment.
    play.control("billing", account="alice", fails=True)
    refusal(404, "orderNotFound", play.orders.get(packageName=PACKAGE, orderId=f"{first}..1"))
    play.control("advance", by="P32D")
    declined = play.subscription(token)
    assert declined["subscriptionState"] == "SUBSCRIPTION_STATE_IN_GRACE_PERIOD"
    pending = declined["inGracePeriodStateContext"]["renewalDeclined"]["pendingOrderId"]
    waiting = order(pending)
    assert pending == f"{first}..1" and waiting["state"] == "PENDING" and "orderHistory" not in waiting
    assert waiting["total"] == money("9.99") and waiting["lineItems"][0]["productId"] == MONTHLY
    play.control("billing", account="alice", fails=False)
    play.control("advance", by="P1D")
    assert order(pending)["state"] == "PROCESSED"
    # What is refunded in proportion is refunded in part.
    play.control("advance", by="P10D")
    context = {"revocationContext": {"proratedRefund": {}}}
    play.purchases.subscriptionsv2().revoke(packageName=PACKAGE, token=token, body=context).execute()
    part = order(pending)
    assert part["state"] == "PARTIALLY_REFUNDED" and "refundEvent" not in part["orderHistory"]
    (event,) = part["orderHistory"]["partialRefundEvents"]
    amount = event["refundDetails"]["total"]
    assert event["state"] == "PROCESSED_SUCCESSFULLY" and 5_000 < int(amount["units"]) * 1000 + amount["nanos"] // 10**6 < 9_990
    assert order(first)["state"] == "PROCESSED"


def test_several_orders_come_together_or_not_at_all(play, receiver):
    orders = [play.buy(COINS)["orderId"] for _ in range(3)]
    batch = play.orders.batchget
    answer = play.check("BatchGetOrdersResponse", batch(packageName=PACKAGE, orderIds=orders[::-1]).execute())
    assert [each["orderId"] for each in answer["orders"]] == orders[::-1]
    # Of a long query Google's client makes the body of a POST.
    many = [play.buy(COINS)["orderId"] for _ in range(100)]
    assert len(batch(packageName=PACKAGE, orderIds=many).execute()["orders"]) == 100
    refusal(404, "orderNotFound", batch(packageName=PACKAGE, orderIds=[*orders, "GPA.0000-0000-0000-00000"]))
    refusal(400, "invalid", batch(packageName=PACKAGE, orderIds=[*orders, orders[0]]))
    refusal(400, "invalid", batch(packageName=PACKAGE, orderIds=[f"GPA.{n}" for n in range(1001)]))
    refusal(400, "invalid", batch(packageName=PACKAGE, orderIds=[]))
    refusal(404, "orderNotFound", play.orders.get(packageName=PACKAGE, orderId="GPA.0000-0000-0000-00000"))
    play.control("quota", bucket="orders", limit=0)
    refusal(429, "rateLimitExceeded", batch(packageName=PACKAGE, orderIds=orders))
    play.control("quota", bucket="orders")
    play.control("permissions", **{"financial-data": False})
    refusal(403, "permissionDenied", batch(packageName=PACKAGE, orderIds=orders))


def statement(token, preference="DECLINE", **members):
    return {"pendingRefundToken": token, "refundPreference": preference, "sampleContentProvided": False} | members


def test_the_first_statement_about_a_disputed_order_counts(play, receiver, order):
    bought = play.buy(COINS, obfuscatedAccountId="user-1", obfuscatedProfileId="profile-1")
    order_id = bought["orderId"]
    receiver.take()
    review = play.orders.reviewrefund

    def state(body, order_id=order_id):
        return review(packageName=PACKAGE, orderId=order_id, body=body)

    refusal(400, "pendingRefundTokenInvalid", state(statement("t")))
    token = play.control("chargeback", orderId=order_id)["pendingRefundToken"]
    (notification,) = receiver.take()
    assert notification["pendingRefundReviewNotification"] == {
        "version": "1.0", "pendingRefundToken": token, "orderId": order_id, "refundReason": 7,
        "obfuscatedAccountId": "user-1", "obfuscatedProfileId": "profile-1",
    }  # fmt: skip
    assert order(order_id)["state"] == "PENDING_REFUND"
    for broken, place in [
        (statement(token, consumptionPercentageMilliunits=100_001), "consumptionPercentageMilliunits"),
        (statement(token, consumptionUsageEvents=[{}] * 1001), "consumptionUsageEvents"),
        (statement(token, consumptionUsageEvents=[{"consumptionItemDescription": "x" * 5001}]), "consumptionUsageEvents[0]"),
        (statement(token, consumptionUsageEvents=[{"location": {"locality": "Bern"}}]), "regionCode"),
        (statement(token, "REFUND_PREFERENCE_UNSPECIFIED"), "refundPreference"),
        ({"pendingRefundToken": token, "refundPreference": "DECLINE"}, "sampleContentProvided"),
        (statement(""), "pendingRefundToken"),
    ]:
        assert place in refusal(400, "invalid", state(broken))["message"], place
    refusal(400, "pendingRefundTokenInvalid", state(statement("another")))
    refusal(404, "orderNotFound", state(statement(token), "GPA.0000-0000-0000-00000"))
    events = [{
        "consumptionTime": "2026-09-01T12:00:00.000Z", "ipAddress": "192.0.2.1", "consumptionItemDescription": "500 coins",
        "location": {"regionCode": "CH", "locality": "Bern"}, "obfuscatedAccountId": "user-1",
    }]  # fmt: skip
    first = statement(token, consumptionPercentageMilliunits=45_200, consumptionUsageEvents=events)
    assert not state(first).execute()
    # Another one is answered alike, and ignored.
    assert not state(statement(token, "APPROVE")).execute()
    kept = play.emulator.control("GET", f"play/refund-review?orderId={order_id}")
    assert kept["answer"] == first and kept["pendingRefundToken"] == token and "isRefunded" not in kept
    play.settle()
    assert receiver.types() == [] and order(order_id)["state"] == "PENDING_REFUND"

    play.control("decide-refund", orderId=order_id, isRefunded=True)
    (voided,) = receiver.take()
    assert voided["voidedPurchaseNotification"]["orderId"] == order_id
    refunded = order(order_id)
    assert refunded["state"] == "REFUNDED" and refunded["orderHistory"]["refundEvent"]["refundReason"] == "CHARGEBACK"
    (row,) = play.voided()["voidedPurchases"]
    assert (row["orderId"], row["voidedReason"], row["voidedSource"]) == (order_id, 7, 2)


def test_a_dispute_may_be_declined_and_its_review_ends_after_a_day(play, receiver, order):
    bought = play.buy(MONTHLY)
    play.acknowledge(MONTHLY, bought["purchaseToken"])
    order_id = bought["orderId"]
    token = play.control("chargeback", orderId=order_id)["pendingRefundToken"]
    receiver.take()
    play.control("advance", by=86_401)
    late = play.orders.reviewrefund(packageName=PACKAGE, orderId=order_id, body=statement(token))
    refusal(400, "pendingRefundTokenInvalid", late)
    play.control("decide-refund", orderId=order_id, isRefunded=False)
    assert receiver.types() == [] and order(order_id)["state"] == "PROCESSED" and play.state(bought["purchaseToken"]) == "ACTIVE"
    # It may be disputed again, with another token, and is then taken back.
    again = play.control("chargeback", orderId=order_id)["pendingRefundToken"]
    assert again != token
    refusal(400, "pendingRefundTokenInvalid", play.orders.reviewrefund(packageName=PACKAGE, orderId=order_id, body=statement(token)))
    play.orders.reviewrefund(packageName=PACKAGE, orderId=order_id, body=statement(again)).execute()
    receiver.take()
    play.control("decide-refund", orderId=order_id, isRefunded=True)
    assert receiver.types() == [REVOKED, ("voided", order_id)] and play.state(bought["purchaseToken"]) == "EXPIRED"


def test_a_cancellation_by_the_developer_is_final(play, receiver):
    v2 = play.purchases.subscriptionsv2()
    tokens = {name: play.buy(MONTHLY, account=name)["purchaseToken"] for name in "abc"}
    for token in tokens.values():
        play.acknowledge(MONTHLY, token)
    receiver.take()

    def cancel(name, kind):
        return v2.cancel(packageName=PACKAGE, token=tokens[name], body={"cancellationContext": {"cancellationType": kind}})

    etag = play.subscription(tokens["a"])["etag"]
    cancel("a", "USER_REQUESTED_STOP_RENEWALS").execute()
    cancel("b", "DEVELOPER_REQUESTED_STOP_PAYMENTS").execute()
    play.settle()
    assert receiver.types() == [CANCELED, CANCELED]
    for name, context in [("a", "userInitiatedCancellation"), ("b", "developerInitiatedCancellation")]:
        canceled = play.subscription(tokens[name])
        assert canceled["subscriptionState"] == "SUBSCRIPTION_STATE_CANCELED" and [*canceled["canceledStateContext"]] == [context]
    # The etag changes with the state, and a deferral needs the present one.
    deferral = {"deferralContext": {"etag": etag, "deferDuration": "86400s"}}
    refusal(400, "staleEtag", v2.defer(packageName=PACKAGE, token=tokens["a"], body=deferral))
    play.control("resume", purchaseToken=tokens["a"])
    assert receiver.types() == [RESTARTED]
    assert "cannot restore" in refused(play, "resume", purchaseToken=tokens["b"])
    assert play.state(tokens["b"]) == "CANCELED"
    for kind in ("CANCELLATION_TYPE_UNSPECIFIED", "nonsense"):
        refusal(400, "invalid", cancel("c", kind))
    for body in ({}, {"cancellationContext": {}}):
        refusal(400, "invalid", v2.cancel(packageName=PACKAGE, token=tokens["c"], body=body))
    etag = play.subscription(tokens["c"])["etag"]
    for context in (
        {"deferDuration": "86399s"}, {"deferDuration": "31622401s"}, {"deferDuration": "1d"}, {"deferDuration": "86400.5s"}, {},
    ):  # fmt: skip
        body = {"deferralContext": {"etag": etag} | context}
        refusal(400, "invalid", v2.defer(packageName=PACKAGE, token=tokens["c"], body=body))
    refusal(400, "invalid", v2.defer(packageName=PACKAGE, token=tokens["c"], body={"deferralContext": {"deferDuration": "86400s"}}))
    body = {"deferralContext": {"etag": etag, "deferDuration": "31622400s"}}
    play.check("DeferSubscriptionPurchaseResponse", v2.defer(packageName=PACKAGE, token=tokens["c"], body=body).execute())
    play.settle()
    assert receiver.types() == [DEFERRED] and play.subscription(tokens["c"])["etag"] != etag


ONCE = {
    "originalPreTaxAmount": {"currency": "EUR", "priceMicros": "9990000"},
    "originalTaxAmount": {"currency": "EUR", "priceMicros": "1998000"},
    "transactionTime": "2026-03-01T10:00:00.000Z",
    "userTaxAddress": {"regionCode": "DE"},
    "oneTimeTransaction": {"externalTransactionToken": "token"},
}
RECURRING = {name: value for name, value in ONCE.items() if name != "oneTimeTransaction"}
SUBSCRIPTION = {"externalSubscription": {"subscriptionType": "RECURRING"}}


def test_external_transactions_are_reported_and_refunded(play, external):
    def create(identifier, body=ONCE):
        return external.createexternaltransaction(parent=PARENT, externalTransactionId=identifier, body=body)

    def get(identifier):
        call = external.getexternaltransaction(name=f"{PARENT}/externalTransactions/{identifier}")
        return play.check("ExternalTransaction", call.execute())

    def refund(identifier, **members):
        body = {"refundTime": "2026-03-02T10:00:00Z"} | members
        return external.refundexternaltransaction(name=f"{PARENT}/externalTransactions/{identifier}", body=body)

    def part(name, micros, currency="EUR"):
        return {"partialRefund": {"refundId": name, "refundPreTaxAmount": {"currency": currency, "priceMicros": str(micros)}}}

    made = play.check("ExternalTransaction", create("order_1-A").execute())
    assert made["transactionState"] == "TRANSACTION_REPORTED" and made["packageName"] == PACKAGE and made["testPurchase"] == {}
    assert made["currentPreTaxAmount"] == ONCE["originalPreTaxAmount"] and made["currentTaxAmount"] == ONCE["originalTaxAmount"]
    # Tokens are of the request alone.
    assert made["oneTimeTransaction"] == {} and made["externalTransactionId"] == "order_1-A"
    assert get("order_1-A") == made
    assert refusal(409, "alreadyExists", create("order_1-A"))["status"] == "ALREADY_EXISTS"

    play.check("ExternalTransaction", create("first", RECURRING | {"recurringTransaction": SUBSCRIPTION | {
        "externalTransactionToken": "t", "migratedTransactionProgram": "USER_CHOICE_BILLING"}}).execute())  # fmt: skip
    second = RECURRING | {"recurringTransaction": SUBSCRIPTION | {"initialExternalTransactionId": "first"}}
    assert create("second", second).execute()["recurringTransaction"] == second["recurringTransaction"]
    assert get("first")["recurringTransaction"] == SUBSCRIPTION

    for identifier, body, place in [
        ("", ONCE, "externalTransactionId"),
        ("x" * 64, ONCE, "externalTransactionId"),
        ("a.b", ONCE, "externalTransactionId"),
        ("bad", RECURRING, "recurringTransaction"),
        ("bad", ONCE | {"recurringTransaction": second["recurringTransaction"]}, "recurringTransaction"),
        ("bad", RECURRING | {"recurringTransaction": SUBSCRIPTION}, "recurringTransaction"),
        ("bad", RECURRING | {"recurringTransaction": SUBSCRIPTION | {"initialExternalTransactionId": "none"}}, "initialExternalTransactionId"),
        ("bad", RECURRING | {"recurringTransaction": SUBSCRIPTION | {"initialExternalTransactionId": "order_1-A"}}, "initialExternalTransactionId"),
        ("bad", ONCE | {"originalTaxAmount": {"currency": "EUR", "priceMicros": "-1"}}, "originalTaxAmount"),
        ("bad", {k: v for k, v in ONCE.items() if k != "userTaxAddress"}, "userTaxAddress"),
        ("bad", ONCE | {"externalOfferDetails": {"linkType": "LINK_TO_APP_DOWNLOAD"}}, "installedAppPackage"),
        ("bad", ONCE | {"externalOfferDetails": {}, "transactionProgramCode": 1}, "transactionProgramCode"),
    ]:  # fmt: skip
        assert place in refusal(400, "invalid", create(identifier, body))["message"], (identifier, place)
    missing = external.getexternaltransaction(name=f"{PARENT}/externalTransactions/bad")
    refusal(404, "externalTransactionNotFound", missing)

    after = play.check("ExternalTransaction", refund("order_1-A", **part("r1", 4_995_000)).execute())
    assert after["currentPreTaxAmount"]["priceMicros"] == "4995000" and after["currentTaxAmount"]["priceMicros"] == "999000"
    assert after["transactionState"] == "TRANSACTION_REPORTED" and after["originalPreTaxAmount"] == ONCE["originalPreTaxAmount"]
    refusal(409, "alreadyExists", refund("order_1-A", **part("r1", 1)))
    # A part is less than what remains, in the same currency.
    refusal(400, "invalid", refund("order_1-A", **part("r2", 4_995_000)))
    refusal(400, "invalid", refund("order_1-A", **part("r2", 1, "USD")))
    refusal(400, "invalid", refund("order_1-A", **part("r2", -1)))
    refusal(400, "invalid", refund("order_1-A"))
    refusal(400, "invalid", refund("order_1-A", fullRefund={}, **part("r2", 1)))
    assert get("order_1-A") == after
    whole = refund("order_1-A", fullRefund={}).execute()
    assert whole["transactionState"] == "TRANSACTION_CANCELED"
    assert (whole["currentPreTaxAmount"]["priceMicros"], whole["currentTaxAmount"]["priceMicros"]) == ("0", "0")
    refusal(400, "orderAlreadyRefunded", refund("order_1-A", fullRefund={}))
    refusal(404, "externalTransactionNotFound", refund("bad", fullRefund={}))
    play.control("permissions", **{"manage-orders": False})
    refusal(403, "permissionDenied", create("later"))


def test_the_catalogue_is_that_of_the_emulator(play, catalog):
    def subscriptions(**members):
        call = catalog.subscriptions().list(packageName=PACKAGE, **members)
        return play.check("ListSubscriptionsResponse", call.execute())

    found = subscriptions()["subscriptions"]
    assert [each["productId"] for each in found] == [MONTHLY, YEARLY]
    (plan,) = found[0]["basePlans"]
    assert (plan["basePlanId"], plan["state"]) == ("p1m", "ACTIVE")
    assert plan["autoRenewingBasePlanType"]["billingPeriodDuration"] == "P1M"
    assert plan["regionalConfigs"] == [{"regionCode": "US", "newSubscriberAvailability": True, "price": money("9.99")}]
    assert found[0]["packageName"] == PACKAGE and found[0]["listings"][0]["title"]
    # A subscription names the base plan as the catalogue does.
    token = play.buy(MONTHLY)["purchaseToken"]
    assert play.subscription(token)["lineItems"][0]["offerDetails"]["basePlanId"] == plan["basePlanId"]
    # A new price is in the catalogue.
    play.control("price", productId=MONTHLY, price=11.49)
    assert subscriptions()["subscriptions"][0]["basePlans"][0]["regionalConfigs"][0]["price"] == money("11.49")

    page = subscriptions(pageSize=1)
    assert [each["productId"] for each in page["subscriptions"]] == [MONTHLY]
    rest = subscriptions(pageSize=1, pageToken=page["nextPageToken"])
    assert [each["productId"] for each in rest["subscriptions"]] == [YEARLY] and "nextPageToken" not in rest
    refusal(400, "invalid", catalog.subscriptions().list(packageName=PACKAGE, pageToken="nonsense"))
    refusal(400, "invalid", catalog.subscriptions().list(packageName=PACKAGE, pageToken="3"))

    def offers(product, plan):
        return catalog.subscriptions().basePlans().offers().list(packageName=PACKAGE, productId=product, basePlanId=plan)

    every = play.check("ListSubscriptionOffersResponse", offers("-", "-").execute())["subscriptionOffers"]
    assert {(each["productId"], each["offerId"]) for each in every} == {
        (product, offer) for product in (MONTHLY, YEARLY) for offer in ("come-back", "gift")
    }
    some = offers(MONTHLY, "p1m").execute()["subscriptionOffers"]
    assert some == [each for each in every if each["productId"] == MONTHLY]
    free = next(each for each in some if each["offerId"] == "gift")["phases"]
    assert free == [{"recurrenceCount": 1, "duration": "P1M", "regionalConfigs": [{"regionCode": "US", "free": {}}]}]
    refusal(404, "productNotFound", offers("nothing", "-"))
    refusal(404, "productNotFound", offers(MONTHLY, "p1y"))
    refusal(400, "invalid", offers("-", "p1m"))

    products = catalog.onetimeproducts()
    listed = play.check("ListOneTimeProductsResponse", products.list(packageName=PACKAGE).execute())["oneTimeProducts"]
    assert [each["productId"] for each in listed] == [COINS, PRO, f"{PACKAGE}.pass"]
    one = play.check("OneTimeProduct", products.get(packageName=PACKAGE, productId=COINS).execute())
    assert one == listed[0]
    (option,) = one["purchaseOptions"]
    assert option["buyOption"] == {"legacyCompatible": True, "multiQuantityEnabled": True}
    assert option["regionalPricingAndAvailabilityConfigs"] == [
        {"regionCode": "US", "price": money("0.99"), "availability": "AVAILABLE"}
    ]
    refusal(404, "productNotFound", products.get(packageName=PACKAGE, productId=MONTHLY))
    play.control("quota", bucket="monetization", limit=0)
    refusal(429, "rateLimitExceeded", products.get(packageName=PACKAGE, productId=COINS))


def test_the_controls_of_a_dispute_are_strict(play):
    order_id = play.buy(COINS)["orderId"]
    for name, members, words in [
        ("chargeback", {"orderId": "nothing"}, "no order"),
        ("chargeback", {}, "orderId"),
        ("decide-refund", {"orderId": order_id, "isRefunded": True}, "no pending review"),
        ("decide-refund", {"orderId": order_id}, "isRefunded"),
        ("decide-refund", {"orderId": order_id, "isRefunded": 1}, "isRefunded"),
    ]:
        assert words in refused(play, name, **members), name
    play.control("chargeback", orderId=order_id)
    assert "pending review" in refused(play, "chargeback", orderId=order_id)
    assert play.control("decide-refund", orderId=order_id, isRefunded=True)["messages"]
    assert "was refunded" in refused(play, "chargeback", orderId=order_id)
