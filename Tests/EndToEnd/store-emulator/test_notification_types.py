# SPDX-License-Identifier: Apache-2.0
"""Every notification type and subtype of the App Store: how to bring it about in the emulator, or why it cannot be."""

import json
import os
import pathlib
import re
import time
import urllib.request

import pytest
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.Subtype import Subtype
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier
from emulator import Emulator

MONTHLY, YEARLY, COINS = (f"com.example.app.{name}" for name in ("monthly", "yearly", "coins"))
ARTICLE = pathlib.Path(__file__).resolve().parents[3] / "Sources/Storefront/AppStoreEmulator/AppStoreEmulator.docc/NotificationTypes.md"
REFERENCE = {"requestInfo": {"requestReferenceId": "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11"}}
EXTENSION = {"extendByDays": 9, "extendReasonCode": 1, "requestIdentifier": "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11"}


class Store:
    """The steps of the table, as calls."""

    def __init__(self, emulator: Emulator):
        self.emulator = emulator
        self.original = ""

    def __getattr__(self, name):
        def call(**members):
            return self.emulator.control("POST", name.replace("_", "-"), members)

        return call

    def subscribe(self, product=MONTHLY, account="a", **members):
        self.original = self.buy(account=account, productId=product, **members)["originalTransactionId"]
        return self.original

    def api(self, method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"{self.emulator.url()}{path}", data=data, method=method)
        with urllib.request.urlopen(request, timeout=30) as response:
            text = response.read()
            return json.loads(text) if text else {}

    def commerce(self, call, **members):
        return self.api("POST", f"/advancedCommerce/v1/subscription/{call}/{self.original}", REFERENCE | members)


def fail(store):
    store.subscribe()
    store.billing(account="a", fails=True)
    store.advance(by="P1M")


def recover(store):
    fail(store)
    store.billing(account="a", fails=False)
    store.advance(by="P1D")


def raise_price(store, consent=True):
    store.subscribe()
    store.price(productId=MONTHLY, price=19.99, needsConsent=consent)


def share(store):
    store.subscribe()
    store.family(account="b", organizer="a")
    store.family(account="b")


def extend_all(store):
    store.api("POST", "/inApps/v1/subscriptions/extend/mass", EXTENSION | {"productId": MONTHLY})


def extend_thrice(store):
    for _ in range(2):
        store.api("PUT", f"/inApps/v1/subscriptions/extend/{store.subscribe()}", EXTENSION)
    extend_all(store)


def refund(store):
    store.refund(transactionId=store.buy(account="a", productId=COINS)["transactionId"])


def reverse(store):
    sale = store.buy(account="a", productId=COINS)["transactionId"]
    store.refund(transactionId=sale)
    store.reverse_refund(transactionId=sale)


def resubscribe(store):
    store.subscribe()
    store.cancel(originalTransactionId=store.original)
    store.advance(by="P1M")
    store.subscribe()


def revert(store):
    store.subscribe(YEARLY)
    store.change(originalTransactionId=store.original, productId=MONTHLY)
    store.change(originalTransactionId=store.original, productId=YEARLY)


def sequence(*steps):
    def run(store):
        for step in steps:
            step(store)

    return run


def on_sale(store):
    store.subscribe()
    store.sale(productId=MONTHLY, isForSale=False)
    store.advance(by="P1M")


HOW = {
    ("SUBSCRIBED", "INITIAL_BUY"): lambda s: s.subscribe(),
    ("SUBSCRIBED", "RESUBSCRIBE"): resubscribe,
    ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"): lambda s: s.change(originalTransactionId=s.subscribe(), productId=YEARLY),
    ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"): lambda s: s.change(
        originalTransactionId=s.subscribe(YEARLY), productId=MONTHLY
    ),
    ("DID_CHANGE_RENEWAL_PREF", None): revert,
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"): lambda s: s.cancel(originalTransactionId=s.subscribe()),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"): sequence(
        lambda s: s.cancel(originalTransactionId=s.subscribe()), lambda s: s.resume(originalTransactionId=s.original)
    ),
    ("OFFER_REDEEMED", None): sequence(lambda s: s.subscribe(), lambda s: s.subscribe(offerCode="GIFT")),
    ("OFFER_REDEEMED", "UPGRADE"): sequence(lambda s: s.subscribe(), lambda s: s.subscribe(YEARLY, offerCode="GIFT")),
    ("OFFER_REDEEMED", "DOWNGRADE"): sequence(
        lambda s: s.subscribe(YEARLY), lambda s: s.subscribe(MONTHLY, offerCode="GIFT")
    ),
    ("DID_RENEW", None): sequence(lambda s: s.subscribe(), lambda s: s.advance(by="P1M")),
    ("DID_RENEW", "BILLING_RECOVERY"): recover,
    ("EXPIRED", "VOLUNTARY"): sequence(
        lambda s: s.cancel(originalTransactionId=s.subscribe()), lambda s: s.advance(by="P1M")
    ),
    # Two months are 59 days if they begin on January 1.
    ("EXPIRED", "BILLING_RETRY"): sequence(fail, lambda s: s.advance(by="P3M")),
    ("EXPIRED", "PRICE_INCREASE"): sequence(raise_price, lambda s: s.advance(by="P1M")),
    ("EXPIRED", "PRODUCT_NOT_FOR_SALE"): on_sale,
    ("EXPIRED", None): "the App Store's for reasons that it does not name; the engine has a reason for each expiry",
    ("DID_FAIL_TO_RENEW", None): fail,
    ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"): fail,
    ("GRACE_PERIOD_EXPIRED", None): sequence(fail, lambda s: s.advance(by="P3W")),
    ("PRICE_INCREASE", "PENDING"): raise_price,
    ("PRICE_INCREASE", "ACCEPTED"): sequence(
        raise_price, lambda s: s.consent(originalTransactionId=s.original, consents=True)
    ),
    ("REFUND", None): refund,
    ("REFUND_DECLINED", None): lambda s: s.decline_refund(transactionId=s.subscribe()),
    ("REFUND_REVERSED", None): reverse,
    ("CONSUMPTION_REQUEST", None): lambda s: s.request_refund(transactionId=s.subscribe()),
    ("RENEWAL_EXTENDED", None): lambda s: s.api("PUT", f"/inApps/v1/subscriptions/extend/{s.subscribe()}", EXTENSION),
    ("RENEWAL_EXTENSION", "SUMMARY"): sequence(lambda s: s.subscribe(), extend_all),
    ("RENEWAL_EXTENSION", "FAILURE"): extend_thrice,
    ("REVOKE", None): share,
    ("ONE_TIME_CHARGE", None): lambda s: s.buy(account="a", productId=COINS),
    ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED"): lambda s: s.external_purchase_token(),
    ("EXTERNAL_PURCHASE_TOKEN", "CREATED"): lambda s: s.external_purchase_token(subtype="CREATED"),
    ("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER"): lambda s: s.external_purchase_token(
        subtype="ACTIVE_TOKEN_REMINDER"
    ),
    ("TEST", None): lambda s: s.api("POST", "/inApps/v1/notifications/test"),
    ("RESCIND_CONSENT", None): lambda s: s.rescind_consent(appTransactionId="704289572311513293"),
    ("METADATA_UPDATE", None): sequence(lambda s: s.subscribe(), lambda s: s.commerce("changeMetadata")),
    ("MIGRATION", None): sequence(
        lambda s: s.subscribe(),
        lambda s: s.commerce("migrate", targetProductId=YEARLY, descriptors={}, items=[], taxCode="C003-00-2"),
    ),
    ("PRICE_CHANGE", None): sequence(lambda s: s.subscribe(), lambda s: s.commerce("changePrice", items=[])),
}


@pytest.mark.sweep
@pytest.mark.parametrize("kind", HOW, ids=lambda kind: "-".join(filter(None, kind)))
def test_how_a_notification_is_brought_about(tmp_path, kind):
    how = HOW[kind]
    if isinstance(how, str):
        pytest.skip(f"it cannot be: {how}")
    options = [] if kind == ("DID_FAIL_TO_RENEW", None) else ["--grace-period", "16"]
    emulator = Emulator(
        os.environ["STORE_EMULATOR"], tmp_path, "--no-token-checks", "--clock-rate", "0", *options
    )
    how(Store(emulator))
    # What a request of the API causes is sent a moment later.
    end = time.monotonic() + 10
    while True:
        posted = emulator.control("GET", "notifications")["notifications"]
        if all(n["sendAttempts"] for n in posted) or time.monotonic() > end:
            break
        time.sleep(0.02)
    assert kind in [(n["notificationType"], n.get("subtype")) for n in posted]
    assert all([a["sendAttemptResult"] for a in n["sendAttempts"]] == ["SUCCESS"] for n in posted)
    assert emulator.stop() == 0


def test_every_type_and_subtype_is_in_the_table():
    types = {kind[0] for kind in HOW}
    assert types == {kind.value for kind in NotificationTypeV2}
    # Apple's documentation has two more than Apple's library.
    subtypes = {kind[1] for kind in HOW if kind[1]}
    assert subtypes >= {kind.value for kind in Subtype}


def test_the_article_has_the_same_table():
    rows = re.findall(r"^\| `([A-Z_]+)` \| (?:`([A-Z_]+)`|) *\|", ARTICLE.read_text(), re.MULTILINE)
    assert [(name, subtype or None) for name, subtype in rows] == list(HOW)
