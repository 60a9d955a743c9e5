# SPDX-License-Identifier: Apache-2.0
"""Google Play's side of the emulator, seen by Google's own clients: google-api-python-client with its discovery document,
and google-auth at the receiver of pushes."""

import base64
import json
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import google.auth.transport.requests
import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from google.auth import exceptions, jwt
from google.oauth2 import service_account
from googleapiclient.errors import HttpError
from play import (
    CANCELED, COINS, DAY, DEFERRED, EXPIRED, IN_GRACE, MONTHLY, ON_HOLD, PACKAGE, PAUSE_SCHEDULE, PAUSED,
    PENDING_CANCELED, PRICE_CHANGE, PRO, PURCHASED, RECOVERED, RENEWED, RESTARTED, REVOKED, SCOPES, YEARLY, Play,
    play, receiver, refusal,
)  # noqa: F401  # fmt: skip


def test_a_subscription_lives_through_everything(play, receiver):
    bought = play.buy(MONTHLY, obfuscatedAccountId="user-1", obfuscatedProfileId="profile-1")
    token, order = bought["purchaseToken"], bought["orderId"]
    assert receiver.types() == [PURCHASED]
    first = play.subscription(token)
    assert first["subscriptionState"] == "SUBSCRIPTION_STATE_ACTIVE"
    assert first["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_PENDING"
    assert first["lineItems"][0]["latestSuccessfulOrderId"] == order and "linkedPurchaseToken" not in first and first["testPurchase"] == {}
    assert first["externalAccountIdentifiers"] == {
        "obfuscatedExternalAccountId": "user-1", "obfuscatedExternalProfileId": "profile-1",
    }  # fmt: skip
    assert first["regionCode"] == "US"
    (item,) = first["lineItems"]
    assert item["productId"] == MONTHLY and item["autoRenewingPlan"]["autoRenewEnabled"] is True
    assert item["autoRenewingPlan"]["recurringPrice"] == {"currencyCode": "USD", "units": "9", "nanos": 990_000_000}
    play.acknowledge(MONTHLY, token, developerPayload="seen")
    assert play.subscription(token)["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"

    for number in range(2):
        play.control("advance", by="P1M")
        assert receiver.types() == [RENEWED]
        assert play.subscription(token)["lineItems"][0]["latestSuccessfulOrderId"] == f"{order}..{number}"

    play.control("billing", account="alice", fails=True)
    play.control("advance", by="P1M")
    assert receiver.types() == [IN_GRACE] and play.state(token) == "IN_GRACE_PERIOD"
    grace = play.subscription(token)
    assert grace["inGracePeriodStateContext"]["renewalDeclined"]["pendingOrderId"] == f"{order}..2"
    assert grace["lineItems"][0]["expiryTime"] > first["lineItems"][0]["expiryTime"]
    play.control("advance", by="P1W")
    assert receiver.types() == [ON_HOLD] and play.state(token) == "ON_HOLD"
    play.control("billing", account="alice", fails=False)
    play.control("advance", by="P1D")
    assert receiver.types() == [RECOVERED] and play.state(token) == "ACTIVE"

    play.control("cancel", purchaseToken=token)
    assert receiver.types() == [CANCELED] and play.state(token) == "CANCELED"
    canceled = play.subscription(token)
    assert "cancelTime" in canceled["canceledStateContext"]["userInitiatedCancellation"]
    assert canceled["lineItems"][0]["autoRenewingPlan"].get("autoRenewEnabled", False) is False
    play.control("resume", purchaseToken=token)
    assert receiver.types() == [RESTARTED] and play.state(token) == "ACTIVE"

    # A sign-up in the app before the end continues the purchase that was cancelled, with a token of its own.
    play.control("cancel", purchaseToken=token)
    again = play.buy(MONTHLY)["purchaseToken"]
    assert receiver.types() == [CANCELED, PURCHASED] and again != token
    assert play.subscription(again)["linkedPurchaseToken"] == token
    assert (play.state(again), play.state(token)) == ("ACTIVE", "EXPIRED")
    assert play.subscription(token)["canceledStateContext"] == {"replacementCancellation": {}}
    play.acknowledge(MONTHLY, again)

    # An upgrade replaces it at once.
    upgraded = play.buy(YEARLY)
    assert receiver.types() == [PURCHASED]
    assert play.subscription(upgraded["purchaseToken"])["linkedPurchaseToken"] == again
    assert play.subscription(upgraded["purchaseToken"])["lineItems"][0]["productId"] == YEARLY
    assert play.state(again) == "EXPIRED"
    play.acknowledge(YEARLY, upgraded["purchaseToken"])

    # A downgrade is deferred.
    lowered = play.buy(MONTHLY)["purchaseToken"]
    assert receiver.types() == [PURCHASED]
    later = play.subscription(lowered)
    assert later["linkedPurchaseToken"] == upgraded["purchaseToken"]
    assert later["lineItems"][0]["productId"] == YEARLY
    assert later["lineItems"][0]["deferredItemReplacement"] == {"productId": MONTHLY}
    play.acknowledge(MONTHLY, lowered)
    play.control("advance", by="P1Y")
    play.control("advance", by=60)
    assert receiver.types() == [RENEWED]
    assert play.subscription(lowered)["lineItems"][0]["productId"] == MONTHLY

    play.control("cancel", purchaseToken=lowered)
    play.control("advance", by="P1M")
    assert receiver.types() == [CANCELED, EXPIRED] and play.state(lowered) == "EXPIRED"
    assert "userInitiatedCancellation" in play.subscription(lowered)["canceledStateContext"]

    # Once it lapsed, a purchase begins anew.
    anew = play.buy(MONTHLY)
    assert "linkedPurchaseToken" not in play.subscription(anew["purchaseToken"])
    play.acknowledge(MONTHLY, anew["purchaseToken"])
    play.control("refund", orderId=anew["orderId"], reason="remorse")
    assert receiver.types() == [PURCHASED, REVOKED, ("voided", anew["orderId"])]
    assert play.state(anew["purchaseToken"]) == "EXPIRED"
    assert "voidedPurchases" not in play.voided()
    (voided,) = play.voided(type=1)["voidedPurchases"]
    assert voided["kind"] == "androidpublisher#voidedPurchase"
    assert (voided["orderId"], voided["purchaseToken"]) == (anew["orderId"], anew["purchaseToken"])
    assert (voided["voidedSource"], voided["voidedReason"]) == (0, 1)
    # What expired long ago is forgotten.
    play.control("advance", by="P3M")
    gone = play.purchases.subscriptionsv2().get(packageName=PACKAGE, token=anew["purchaseToken"])
    refusal(410, "purchaseTokenNoLongerValid", gone)
    assert receiver.refused == []


def test_a_change_answers_with_the_purchase_that_takes_its_place(play, receiver):
    for product in (YEARLY, MONTHLY):
        before = play.buy(MONTHLY if product == YEARLY else YEARLY, account=f"who-wants-{product}")
        changed = play.control("change", purchaseToken=before["purchaseToken"], productId=product)
        assert changed["purchaseToken"] != before["purchaseToken"]
        assert play.subscription(changed["purchaseToken"])["linkedPurchaseToken"] == before["purchaseToken"]
        assert json.loads(changed["purchaseData"])["purchaseToken"] == changed["purchaseToken"]


def test_a_pause_begins_when_the_period_ends(play, receiver):
    bought = play.buy(MONTHLY)
    token = bought["purchaseToken"]
    play.acknowledge(MONTHLY, token)
    before = play.subscription(token)
    play.control("pause", purchaseToken=token, days=14)
    assert receiver.types() == [PURCHASED, PAUSE_SCHEDULE] and play.state(token) == "ACTIVE"
    assert play.subscription(token)["lineItems"][0]["expiryTime"] == before["lineItems"][0]["expiryTime"]
    # A pause that is planned can be called off, and the renewal comes as before.
    play.control("resume", purchaseToken=token)
    play.control("advance", by="P1M")
    assert receiver.types() == [PAUSE_SCHEDULE, RENEWED] and play.state(token) == "ACTIVE"

    play.control("pause", purchaseToken=token, days=14)
    play.control("advance", by="P1M")
    assert receiver.types() == [PAUSE_SCHEDULE, PAUSED]
    paused = play.subscription(token)
    assert paused["subscriptionState"] == "SUBSCRIPTION_STATE_PAUSED"
    assert paused["pausedStateContext"]["autoResumeTime"] > paused["lineItems"][0]["expiryTime"]
    play.control("advance", by="P2W")
    assert receiver.types() == [RECOVERED] and play.state(token) == "ACTIVE"
    resumed = play.subscription(token)
    assert "pausedStateContext" not in resumed and resumed["lineItems"][0]["latestSuccessfulOrderId"].endswith("..1")

    # The customer resumes before the pause is over, and is charged.
    play.control("pause", purchaseToken=token)
    play.control("advance", by="P1M")
    play.control("resume", purchaseToken=token)
    assert receiver.types() == [PAUSE_SCHEDULE, PAUSED, RECOVERED] and play.state(token) == "ACTIVE"

    # Who cancels takes no pause.
    play.control("pause", purchaseToken=token)
    play.control("advance", by="P1M")
    play.control("advance", by=60)
    play.control("cancel", purchaseToken=token)
    assert receiver.types() == [PAUSE_SCHEDULE, PAUSED, CANCELED, EXPIRED] and play.state(token) == "EXPIRED"
    assert receiver.refused == []


def test_the_older_calls_refund_and_revoke_a_subscription(play, receiver):
    """Google's discovery document has these calls no longer, so that they are made with google-auth's session alone."""
    bought = play.buy(MONTHLY)
    token = bought["purchaseToken"]
    play.acknowledge(MONTHLY, token)
    receiver.take()
    session = google.auth.transport.requests.AuthorizedSession(play.credentials)

    def call(name, token=token, product=MONTHLY):
        path = f"purchases/subscriptions/{product}/tokens/{token}:{name}"
        answer = session.post(f"{play.url}/androidpublisher/v3/applications/{PACKAGE}/{path}", timeout=30)
        if answer.status_code == 204:
            return "done"
        error = answer.json()["error"]
        assert error["code"] == answer.status_code == 400
        return error["errors"][0]["reason"]

    # A refund leaves the subscription, which renews.
    assert call("refund") == "done"
    play.settle()
    assert receiver.types() == [] and play.state(token) == "ACTIVE"
    assert "voidedPurchases" not in play.voided(type=1)
    assert call("refund") == "orderAlreadyRefunded"
    play.control("advance", by="P1M")
    assert receiver.types() == [RENEWED]
    assert call("revoke") == "done"
    play.settle()
    assert receiver.types() == [REVOKED, ("voided", f"{bought['orderId']}..0")] and play.state(token) == "EXPIRED"
    (voided,) = play.voided(type=1)["voidedPurchases"]
    assert (voided["purchaseToken"], voided["voidedSource"]) == (token, 1)
    assert call("revoke") == "subscriptionInvalidState"
    other = play.buy(MONTHLY, account="bob")["purchaseToken"]
    for name in ("refund", "revoke"):
        assert call(name, other, PRO) == "purchaseTokenDoesNotMatchSubscriptionId"
        assert call(name, "nonsense") == "invalid"


def test_a_one_time_purchase_is_acknowledged_consumed_and_refunded(play, receiver):
    bought = play.buy(COINS, quantity=3, obfuscatedAccountId="user-1", isTest=False, developerPayload="p")
    token = bought["purchaseToken"]
    assert receiver.types() == [("one-time", 1)]
    answer = play.product(COINS, token)
    assert answer["kind"] == "androidpublisher#productPurchase"
    assert (answer["purchaseState"], answer["consumptionState"], answer["acknowledgementState"]) == (0, 0, 0)
    assert (answer["quantity"], answer["orderId"], answer["obfuscatedExternalAccountId"]) == (3, bought["orderId"], "user-1")
    assert "purchaseType" not in answer
    v2 = play.purchases.productsv2().getproductpurchasev2(packageName=PACKAGE, token=token)
    details = play.check("ProductPurchaseV2", v2.execute())
    assert details["purchaseStateContext"] == {"purchaseState": "PURCHASED"} and "testPurchaseContext" not in details
    (item,) = details["productLineItem"]
    assert item["productId"] == COINS
    assert item["productOfferDetails"]["consumptionState"] == "CONSUMPTION_STATE_YET_TO_BE_CONSUMED"
    products = play.purchases.products()
    products.acknowledge(packageName=PACKAGE, productId=COINS, token=token, body={"developerPayload": "q"}).execute()
    answer = play.product(COINS, token)
    assert (answer["acknowledgementState"], answer["consumptionState"], answer["developerPayload"]) == (1, 0, "q")
    products.consume(packageName=PACKAGE, productId=COINS, token=token).execute()
    assert play.product(COINS, token)["consumptionState"] == 1
    consumed = products.consume(packageName=PACKAGE, productId=COINS, token=token)
    refusal(400, "productNotOwnedByUser", consumed)
    # A refund without revocation is in no list; one with it is.
    play.orders.refund(packageName=PACKAGE, orderId=bought["orderId"]).execute()
    assert receiver.types() == [] and "voidedPurchases" not in play.voided() and play.product(COINS, token)["purchaseState"] == 0
    again = play.orders.refund(packageName=PACKAGE, orderId=bought["orderId"], revoke=True)
    refusal(400, "orderAlreadyRefunded", again)
    other = play.buy(PRO)
    play.orders.refund(packageName=PACKAGE, orderId=other["orderId"], revoke=True).execute()
    play.settle()
    assert receiver.types() == [("one-time", 1), ("voided", other["orderId"])]
    assert play.product(PRO, other["purchaseToken"])["purchaseState"] == 1
    (voided,) = play.voided()["voidedPurchases"]
    assert (voided["voidedSource"], voided["orderId"]) == (1, other["orderId"])
    acknowledge = products.acknowledge(packageName=PACKAGE, productId=PRO, token=other["purchaseToken"], body={})
    refusal(400, "productNotOwnedByUser", acknowledge)


def test_what_nobody_acknowledges_is_refunded_after_three_days(play, receiver):
    coins, monthly = play.buy(COINS), play.buy(MONTHLY)
    kept = play.buy(COINS, account="bob")
    play.purchases.products().consume(packageName=PACKAGE, productId=COINS, token=kept["purchaseToken"]).execute()
    receiver.take()
    play.control("advance", by=3 * 86_400 - 1)
    assert receiver.types() == [] and play.state(monthly["purchaseToken"]) == "ACTIVE"
    play.control("advance", by=1)
    assert sorted(map(str, receiver.types())) == sorted(
        map(str, [("voided", coins["orderId"]), REVOKED, ("voided", monthly["orderId"])])
    )
    assert play.state(monthly["purchaseToken"]) == "EXPIRED"
    assert "systemInitiatedCancellation" in play.subscription(monthly["purchaseToken"])["canceledStateContext"]
    assert play.product(COINS, coins["purchaseToken"])["purchaseState"] == 1
    assert play.product(COINS, kept["purchaseToken"])["purchaseState"] == 0
    rows = play.voided(type=1)["voidedPurchases"]
    assert {(row["orderId"], row["voidedSource"], row["voidedReason"]) for row in rows} == {
        (coins["orderId"], 2, 8), (monthly["orderId"], 2, 8),
    }  # fmt: skip


def test_a_pending_payment_is_completed_or_cancelled(play, receiver):
    coins = play.buy(COINS, isPending=True)
    monthly = play.buy(MONTHLY, isPending=True)
    lost = [play.buy(COINS, account="bob", isPending=True), play.buy(MONTHLY, account="bob", isPending=True)]
    assert coins["pending"] is True and receiver.types() == []
    data = json.loads(coins["purchaseData"])
    assert data["purchaseState"] == 4 and "orderId" not in data
    assert play.product(COINS, coins["purchaseToken"])["purchaseState"] == 2
    assert play.state(monthly["purchaseToken"]) == "PENDING"
    early = play.purchases.products().consume(packageName=PACKAGE, productId=COINS, token=coins["purchaseToken"])
    refusal(400, "productNotOwnedByUser", early)
    # Three days count from the payment.
    play.control("advance", by="P5D")
    for purchase in (coins, monthly):
        play.control("approve", purchaseToken=purchase["purchaseToken"])
    assert receiver.types() == [("one-time", 1), PURCHASED]
    assert play.product(COINS, coins["purchaseToken"])["purchaseState"] == 0
    assert play.state(monthly["purchaseToken"]) == "ACTIVE"
    for purchase in lost:
        play.control("decline", purchaseToken=purchase["purchaseToken"])
    assert receiver.types() == [("one-time", 2), PENDING_CANCELED]
    assert play.product(COINS, lost[0]["purchaseToken"])["purchaseState"] == 1
    assert play.state(lost[1]["purchaseToken"]) == "PENDING_PURCHASE_CANCELED"


def test_the_developer_cancels_defers_and_revokes(play, receiver):
    v1, v2 = play.purchases.subscriptions(), play.purchases.subscriptionsv2()
    tokens = {name: play.buy(MONTHLY, account=name)["purchaseToken"] for name in "abcdef"}
    for token in tokens.values():
        play.acknowledge(MONTHLY, token)
    receiver.take()

    def named(name):
        return {"packageName": PACKAGE, "token": tokens[name]}

    v1.cancel(subscriptionId=MONTHLY, **named("a")).execute()
    context = {"cancellationContext": {"cancellationType": "USER_REQUESTED_STOP_RENEWALS"}}
    play.check("CancelSubscriptionPurchaseResponse", v2.cancel(body=context, **named("b")).execute())
    play.settle()
    assert receiver.types() == [CANCELED, CANCELED]
    assert play.subscription(tokens["a"])["canceledStateContext"] == {"developerInitiatedCancellation": {}}
    assert "userInitiatedCancellation" in play.subscription(tokens["b"])["canceledStateContext"]

    def expiry(name):
        text = play.subscription(tokens[name])["lineItems"][0]["expiryTime"]
        return int(__import__("datetime").datetime.fromisoformat(text).timestamp() * 1000)

    before = expiry("c")
    info = {"expectedExpiryTimeMillis": str(before), "desiredExpiryTimeMillis": str(before + 100 * DAY)}
    answer = v1.defer(subscriptionId=MONTHLY, body={"deferralInfo": info}, **named("c")).execute()
    play.check("SubscriptionPurchasesDeferResponse", answer)
    assert answer["newExpiryTimeMillis"] == str(before + 100 * DAY) and expiry("c") == before + 100 * DAY
    stale = v1.defer(subscriptionId=MONTHLY, body={"deferralInfo": info}, **named("c"))
    refusal(409, "concurrentUpdate", stale)
    etag = play.subscription(tokens["d"])["etag"]
    deferral = {"etag": etag, "deferDuration": "86400s", "validateOnly": True}
    before = expiry("d")
    play.check("DeferSubscriptionPurchaseResponse", v2.defer(body={"deferralContext": deferral}, **named("d")).execute())
    assert expiry("d") == before
    deferral.pop("validateOnly")
    v2.defer(body={"deferralContext": deferral}, **named("d")).execute()
    assert expiry("d") == before + DAY
    refusal(400, "staleEtag", v2.defer(body={"deferralContext": deferral}, **named("d")))
    play.settle()
    assert receiver.types() == [DEFERRED, DEFERRED]

    play.check(
        "RevokeSubscriptionPurchaseResponse",
        v2.revoke(body={"revocationContext": {"fullRefund": {}}}, **named("e")).execute(),
    )
    v2.revoke(body={"revocationContext": {"proratedRefund": {}}}, **named("f")).execute()
    play.settle()
    assert [kind for kind in receiver.types() if kind == REVOKED] == [REVOKED, REVOKED]
    refusal(400, "subscriptionInvalidState", v2.revoke(body={"revocationContext": {"fullRefund": {}}}, **named("e")))
    refusal(400, "invalid", v2.revoke(body={"revocationContext": {}}, **named("a")))
    rows = play.voided(type=1)["voidedPurchases"]
    assert [(row["purchaseToken"], row["voidedSource"]) for row in rows] == [(tokens["e"], 1), (tokens["f"], 1)]


def test_voided_purchases_come_in_pages(play, receiver):
    orders = [play.buy(COINS)["orderId"] for _ in range(7)]
    for order in orders:
        play.control("advance", by=60)
        play.control("refund", orderId=order, reason="chargeback", source="google")
    found, token, pages = [], None, 0
    while True:
        page = play.voided(maxResults=3, token=token)
        found += [row["orderId"] for row in page["voidedPurchases"]]
        pages += 1
        token = page.get("tokenPagination", {}).get("nextPageToken")
        if token is None:
            break
    assert found == orders and pages == 3
    now = play.now()
    recent = play.voided(startTime=str(now - 150_000))["voidedPurchases"]
    assert [row["orderId"] for row in recent] == orders[-3:]
    early = play.voided(endTime=str(now - 150_000))["voidedPurchases"]
    assert [row["orderId"] for row in early] == orders[:-3]
    listing = play.purchases.voidedpurchases().list
    refusal(400, "invalid", listing(packageName=PACKAGE, startTime=str(now - 31 * DAY)))
    refusal(400, "invalid", listing(packageName=PACKAGE, endTime=str(now + DAY)))
    refusal(400, "invalid", listing(packageName=PACKAGE, type=2))
    refusal(400, "invalid", listing(packageName=PACKAGE, token="nonsense"))
    play.control("advance", by="P31D")
    assert "voidedPurchases" not in play.voided()


def test_errors_have_google_s_statuses(play, receiver):
    coins, monthly = play.buy(COINS), play.buy(MONTHLY)
    products, subscriptions = play.purchases.products(), play.purchases.subscriptionsv2()

    def get(token=coins["purchaseToken"], package=PACKAGE, product=COINS, client=products):
        return client.get(packageName=package, productId=product, token=token)

    refusal(404, "applicationNotFound", get(package="com.example.other"))
    refusal(400, "invalid", get(token="short"))
    refusal(404, "purchaseTokenNotFound", get(token="a" * 24 + ".AO-J1O" + "b" * 80))
    refusal(400, "purchaseTokenDoesNotMatchProductId", get(product=PRO))
    refusal(400, "invalid", get(token=monthly["purchaseToken"], product=MONTHLY))
    refusal(400, "invalid", subscriptions.get(packageName=PACKAGE, token=coins["purchaseToken"]))
    wrong = play.purchases.subscriptions().acknowledge(
        packageName=PACKAGE, subscriptionId=YEARLY, token=monthly["purchaseToken"], body={}
    )
    refusal(400, "purchaseTokenDoesNotMatchSubscriptionId", wrong)
    refusal(404, "orderNotFound", play.orders.refund(packageName=PACKAGE, orderId="GPA.0000-0000-0000-00000"))

    play.control("permissions", **{"financial-data": False})
    refusal(403, "permissionDenied", get())
    play.control("permissions", **{"financial-data": True, "manage-orders": False})
    refusal(403, "permissionDenied", play.orders.refund(packageName=PACKAGE, orderId=coins["orderId"]))
    play.control("permissions", **{"manage-orders": True})
    play.control("quota", bucket="one-time-purchases", limit=2)
    get().execute(), get().execute()
    assert refusal(429, "rateLimitExceeded", get())["status"] == "RESOURCE_EXHAUSTED"
    play.control("quota", bucket="one-time-purchases")
    get().execute()
    play.control("quota", bucket="voided-purchases", limit=0)
    refusal(403, "quotaExceeded", play.purchases.voidedpurchases().list(packageName=PACKAGE))
    play.emulator.control("POST", "play/faults", [{"faults": [{"kind": "status", "status": 503}], "requests": 1}])
    with pytest.raises(HttpError) as caught:
        get().execute()
    assert caught.value.resp.status == 503
    get().execute()
    # google-auth obtains another token by itself.
    play.control("revoke-tokens")
    get().execute()
    for authorization in (None, "Bearer nonsense", "Basic nonsense"):
        request = urllib.request.Request(f"{play.url}/androidpublisher/v3/applications/{PACKAGE}/purchases/voidedpurchases")
        if authorization:
            request.add_header("Authorization", authorization)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=30)
        assert refused.value.code == 401 and json.load(refused.value)["error"]["status"] == "UNAUTHENTICATED"


def test_assertions_of_service_accounts_are_checked(play):
    account = json.loads(play.account_file.read_text())
    signer = google.auth.crypt.RSASigner.from_service_account_info(account)
    other = play.account_file.parent / "other.json"
    now = int(time.time())
    good = {
        "iss": account["client_email"], "scope": SCOPES[0], "aud": account["token_uri"], "iat": now, "exp": now + 3600,
    }  # fmt: skip

    def ask(assertion=None, grant="urn:ietf:params:oauth:grant-type:jwt-bearer", **changes):
        if assertion is None:
            assertion = jwt.encode(signer, {k: v for k, v in (good | changes).items() if v is not None}).decode()
        form = urllib.parse.urlencode({"grant_type": grant, "assertion": assertion}).encode()
        try:
            with urllib.request.urlopen(f"{play.url}/token", form, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            assert error.code == 400
            return json.load(error)

    answer = ask()
    assert (answer["expires_in"], answer["token_type"]) == (3599, "Bearer") and answer["access_token"]
    assert ask(aud="https://oauth2.googleapis.com/token")["token_type"] == "Bearer"
    flipped = jwt.encode(signer, good).decode()
    head, body, end = flipped.split(".")
    flipped = ".".join([head, body, ("A" if end[0] != "A" else "B") + end[1:]])
    made, _ = subprocess.Popen(["openssl", "genrsa", "2048"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).communicate()
    foreign = jwt.encode(google.auth.crypt.RSASigner.from_string(made, account["private_key_id"]), good).decode()
    for error, words, answer in [
        ("invalid_grant", "Invalid JWT Signature.", ask(flipped)),
        ("invalid_grant", "Invalid JWT Signature.", ask(foreign)),
        ("invalid_grant", "account not found", ask(iss="nobody@example.iam.gserviceaccount.com")),
        ("invalid_grant", "audience", ask(aud="https://oauth2.example.com/token")),
        ("invalid_grant", "short-lived", ask(exp=now + 7200)),
        ("invalid_grant", "short-lived", ask(iat=now - 7200, exp=now - 3600)),
        ("invalid_grant", "short-lived", ask(iat=now + 900, exp=now + 4000)),
        ("invalid_grant", "short-lived", ask(exp=None)),
        ("invalid_grant", "Bad JWT", ask("nonsense")),
        ("invalid_scope", "scope", ask(scope="")),
        ("unsupported_grant_type", "password", ask(grant="password")),
    ]:
        assert answer["error"] == error and words in answer["error_description"], answer
    other.write_text(json.dumps(account | {"client_email": "else@example.iam.gserviceaccount.com"}))
    stranger = service_account.Credentials.from_service_account_file(str(other), scopes=SCOPES)
    with pytest.raises(exceptions.RefreshError, match="account not found"):
        play.client(stranger).purchases().voidedpurchases().list(packageName=PACKAGE).execute()
    narrow = service_account.Credentials.from_service_account_file(
        str(play.account_file), scopes=["https://www.googleapis.com/auth/drive"]
    )
    listing = play.client(narrow).purchases().voidedpurchases().list(packageName=PACKAGE)
    refusal(403, "insufficientPermissions", listing)


def test_google_s_own_verification_accepts_the_tokens_and_refuses_altered_ones(play, receiver):
    play.control("test-notification")
    assert receiver.types() == ["test"] and receiver.refused == []
    with urllib.request.urlopen(f"{play.url}/oauth2/v3/certs", timeout=30) as response:
        assert "max-age=" in response.headers["Cache-Control"]
        (key,) = json.load(response)["keys"]
    assert (key["kty"], key["alg"], key["use"], key["e"]) == ("RSA", "RS256", "sig", "AQAB")
    faults = play.emulator.control("GET", "play/token-faults")["faults"]
    assert len(faults) >= 20
    for number, fault in enumerate(faults, 1):
        answer = play.control("forge", fault=fault)
        assert answer["status"] == 403 and len(receiver.refused) == number, (fault, answer)
    assert play.control("forge")["status"] == 204 and receiver.types() == ["test"]
    # The same with google-auth's own form of keys, certificates.
    receiver.certs_url = f"{play.url}/oauth2/v1/certs"
    receiver.refused.clear()
    for fault in faults:
        # Without a key's identifier it tries all keys.
        if fault != "no-key-id":
            assert play.control("forge", fault=fault)["status"] == 403, fault
    assert play.control("forge")["status"] == 204


def test_keys_rotate(play, receiver):
    def keys():
        with urllib.request.urlopen(f"{play.url}/oauth2/v3/certs", timeout=30) as response:
            return [key["kid"] for key in json.load(response)["keys"]]

    (first,) = keys()
    play.control("rotate-keys", maxAge=60)
    second = keys()
    assert len(second) == 2 and second[1] == first
    play.control("rotate-keys", keepsOld=False)
    third = keys()
    assert len(third) == 1 and third[0] not in second
    play.control("test-notification")
    assert receiver.types() == ["test"]
    assert play.control("forge", fault="retired-key")["status"] == 403


@pytest.mark.long
def test_a_push_is_repeated_until_it_is_accepted(play, receiver):
    receiver.behaviour = lambda number: 503
    token = play.buy(MONTHLY)["purchaseToken"]
    play.acknowledge(MONTHLY, token)

    def attempts():
        (message, *_) = play.emulator.control("GET", "play/messages")["messages"]
        return message["attempts"]

    play.control("advance", by=100)
    dates = [attempt["date"] for attempt in attempts()]
    assert [after - before for before, after in zip(dates, dates[1:])] == [10_000, 20_000, 40_000]
    assert {attempt["status"] for attempt in attempts()} == {503} and receiver.bodies == []
    receiver.behaviour = lambda number: 204
    play.control("advance", by=3600)
    assert receiver.types() == [PURCHASED] and attempts()[-1]["status"] == 204
    count = receiver.count
    play.control("advance", by="P1D")
    assert receiver.count == count
    # At least once: the same message again.
    play.control("push", duplicates=2)
    play.control("test-notification")
    identifiers = [body["message"]["messageId"] for body in receiver.bodies]
    assert len(identifiers) == 3 and len(set(identifiers)) == 1
    receiver.take()
    play.control("push", duplicates=0)
    # A receiver that is gone for longer than a week loses the message.
    receiver.behaviour = lambda number: 500
    play.control("test-notification")
    play.control("advance", by="P8D")
    last = play.emulator.control("GET", "play/messages")["messages"][-1]
    # Of a thousand attempts the latest are shown.
    assert "nextAttempt" not in last and len(last["attempts"]) == 128
    assert last["attempts"][-1]["date"] - last["attempts"][0]["date"] == 127 * 600_000


def test_a_receiver_may_ask_about_the_purchase_while_it_is_notified(play, receiver):
    seen = []

    def ask(number):
        listing = Play.voided(play, type=1)
        seen.append(listing)
        return 204

    receiver.behaviour = ask
    play.buy(COINS)
    assert len(seen) == 1 and receiver.types() == [("one-time", 1)]


def test_the_signed_purchase_verifies_under_the_console_s_key(play, receiver):
    for bought in (play.buy(COINS), play.buy(MONTHLY, obfuscatedAccountId="u", obfuscatedProfileId="p")):
        der = base64.b64decode(bought["publicKey"], validate=True)
        key = serialization.load_der_public_key(der)
        assert key.key_size == 2048
        key.verify(
            base64.b64decode(bought["signature"], validate=True), bought["purchaseData"].encode(), padding.PKCS1v15(),
            hashes.SHA1(),
        )  # fmt: skip
        data = json.loads(bought["purchaseData"])
        assert data["purchaseToken"] == bought["purchaseToken"] and data["packageName"] == PACKAGE
        assert (data["orderId"], data["purchaseState"], data["acknowledged"]) == (bought["orderId"], 0, False)
    assert data["autoRenewing"] is True and (data["obfuscatedAccountId"], data["obfuscatedProfileId"]) == ("u", "p")
    assert play.emulator.control("GET", "play/key")["publicKey"] == bought["publicKey"]
    again = play.emulator.control("GET", f"play/purchase?token={bought['purchaseToken']}")
    assert again["purchaseData"] == bought["purchaseData"]


def test_controls_are_strict(play):
    token = play.buy(MONTHLY)["purchaseToken"]
    for name, members, words in [
        ("buy", {"account": "a", "productId": "nothing"}, "no product"),
        ("buy", {"account": "a", "productId": MONTHLY, "colour": "red"}, "colour"),
        ("buy", {"account": "alice", "productId": MONTHLY}, "ITEM_ALREADY_OWNED"),
        ("buy", {"account": "a", "productId": MONTHLY, "isPending": "yes"}, "isPending"),
        ("buy", {"account": "a", "productId": MONTHLY, "obfuscatedAccountId": "x" * 65}, "64"),
        ("cancel", {"purchaseToken": "nothing"}, "no purchase"),
        ("approve", {"purchaseToken": token}, "no pending"),
        ("refund", {"orderId": "nothing"}, "no order"),
        ("refund", {"orderId": "nothing", "reason": "whim"}, "reason"),
        ("forge", {"fault": "none-such"}, "fault"),
        ("quota", {"bucket": "x"}, "bucket"),
        ("pause", {}, "purchaseToken"),
        ("pause", {"purchaseToken": token, "days": 93}, "days"),
        ("pause", {"purchaseToken": "nothing"}, "no purchase"),
        ("realtime", {}, "no such control"),
    ]:
        with pytest.raises(urllib.error.HTTPError) as caught:
            play.control(name, **members)
        assert caught.value.code == 400 and words in json.load(caught.value)["error"], name
    assert play.state(token) == "ACTIVE"


def test_both_stores_live_by_one_clock(tmp_path, receiver, receipt_tool):
    play = Play(tmp_path, receiver, "--no-token-checks")
    ours = play.emulator.control("POST", "buy", {"account": "alice", "productId": MONTHLY})
    theirs = play.buy(MONTHLY)
    play.acknowledge(MONTHLY, theirs["purchaseToken"])
    receiver.take()
    # Whichever is asked to advance it, both go on.
    play.emulator.control("POST", "advance", {"by": "P1M"})
    assert receiver.types() == [RENEWED]
    answer = play.control("advance", by="P1M")
    assert receiver.types() == [RENEWED]
    assert answer["now"] == play.emulator.control("GET", "clock")["now"]
    kinds = [n["notificationType"] for n in play.emulator.control("GET", "notifications")["notifications"]]
    assert kinds == ["SUBSCRIBED", "DID_RENEW", "DID_RENEW"] and ours["transactionId"]
    run = receipt_tool.run(
        "store", "control", "--emulator", play.url, "play/buy", "account=tool", f"productId={COINS}"
    )
    assert run.code == 0 and json.loads(run.out)["purchaseToken"], run.err
    assert play.emulator.stop() == 0


@pytest.mark.long
def test_a_store_s_folder_keeps_the_purchases_across_a_kill(tmp_path, receipt_tool, receiver):
    run = receipt_tool.run("store", "init", "--store", tmp_path / "shop", "--bundle", PACKAGE)
    assert run.code == 0, run.err
    play = Play(tmp_path, receiver, "--store", str(tmp_path / "shop"))
    catalog = "com.example.plan.monthly"
    receiver.behaviour = lambda number: 503
    bought = play.buy(catalog)
    play.acknowledge(catalog, bought["purchaseToken"])
    coins = play.buy("com.example.coins")
    play.control("refund", orderId=coins["orderId"])
    dump = play.emulator.control("GET", "play/state")
    play.emulator.process.send_signal(signal.SIGKILL)
    play.emulator.process.wait(timeout=30)
    receiver.behaviour = lambda number: 204
    # Its file names the port that is gone.
    play.account_file.unlink()
    play = Play(tmp_path, receiver, "--store", str(tmp_path / "shop"))
    answer = play.subscription(bought["purchaseToken"])
    assert answer["acknowledgementState"] == "ACKNOWLEDGEMENT_STATE_ACKNOWLEDGED"
    assert [row["orderId"] for row in play.voided()["voidedPurchases"]] == [coins["orderId"]]
    assert play.emulator.control("GET", "play/key")["publicKey"] == bought["publicKey"]
    # What was not accepted before the kill is pushed after it.
    play.control("advance", by=600)
    assert receiver.types() == [PURCHASED, ("one-time", 1), ("voided", coins["orderId"])]
    play.control("refund", orderId=bought["orderId"])
    assert play.state(bought["purchaseToken"]) == "EXPIRED"
    play.control("state", records=dump["records"])
    assert play.state(bought["purchaseToken"]) == "ACTIVE"
    assert play.emulator.stop() == 0
