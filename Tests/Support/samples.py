# SPDX-License-Identifier: Apache-2.0
"""Payloads that the tests sign, with the values that a verdict on them must report."""

BUNDLE = "com.example.app"
APP_ID = 1234567890
SIGNED = 1740823205123
SIGNED_TEXT = "2025-03-01T10:00:05.123Z"

TRANSACTION = {
    "transactionId": "2000000000000001",
    "originalTransactionId": "2000000000000000",
    "webOrderLineItemId": "2000000000000777",
    "bundleId": BUNDLE,
    "productId": "com.example.app.monthly",
    "subscriptionGroupIdentifier": "20900001",
    "purchaseDate": 1740823200000,
    "originalPurchaseDate": 1738404000000,
    "expiresDate": 1743501600000,
    "quantity": 1,
    "type": "Auto-Renewable Subscription",
    "inAppOwnershipType": "PURCHASED",
    "signedDate": SIGNED,
    "environment": "Production",
    "transactionReason": "RENEWAL",
    "storefront": "CHE",
    "storefrontId": "143459",
    "price": 4990,
    "currency": "CHF",
    "appTransactionId": "700000000000000001",
}

TRANSACTION_REPORTED = {
    "transactionId": "2000000000000001",
    "originalTransactionId": "2000000000000000",
    "productId": "com.example.app.monthly",
    "quantity": 1,
    "purchaseDate": "2025-03-01T10:00:00.000Z",
    "originalPurchaseDate": "2025-02-01T10:00:00.000Z",
    "expiresDate": "2025-04-01T10:00:00.000Z",
    "isExpired": True,
    "type": "Auto-Renewable Subscription",
    "inAppOwnershipType": "PURCHASED",
    "subscriptionGroupIdentifier": "20900001",
    "transactionReason": "RENEWAL",
    "price": 4990,
    "currency": "CHF",
    "storefront": "CHE",
    "standing": "expired",
    "standingSince": "2025-04-01T10:00:00.000Z",
    "standingSource": "receipt",
    "grantsAccess": False,
    "remainingQuantity": 1,
}

RENEWAL_INFO = {
    "originalTransactionId": "2000000000000000",
    "autoRenewProductId": "com.example.app.yearly",
    "productId": "com.example.app.monthly",
    "autoRenewStatus": 1,
    "signedDate": SIGNED,
    "environment": "Production",
    "recentSubscriptionStartDate": 1738404000000,
    "renewalDate": 1743501600000,
    "eligibleWinBackOfferIds": ["back1", "back2"],
}

APP_TRANSACTION = {
    "receiptType": "Production",
    "appAppleId": APP_ID,
    "bundleId": BUNDLE,
    "applicationVersion": "2.1",
    "versionExternalIdentifier": 870000001,
    "receiptCreationDate": SIGNED,
    "originalPurchaseDate": 1738404000000,
    "originalApplicationVersion": "1.0",
    "deviceVerification": "q83vEjRWeJA=",
    "deviceVerificationNonce": "48ccfa42-7431-4f22-9908-7e88983e105a",
}

NOTIFICATION = {
    "notificationType": "DID_RENEW",
    "notificationUUID": "002e14d5-51f5-4503-b5a8-c3a1af68eb20",
    "version": "2.0",
    "signedDate": SIGNED,
    "data": {
        "appAppleId": APP_ID,
        "bundleId": BUNDLE,
        "bundleVersion": "3",
        "environment": "Production",
        "status": 1,
    },
}

REALTIME_REQUEST = {
    "originalTransactionId": "2000000000000000",
    "appAppleId": APP_ID,
    "productId": "com.example.app.monthly",
    "userLocale": "de-CH",
    "requestIdentifier": "3db5c98d-8acf-4e29-831e-8e1f82f9f6e9",
    "environment": "Production",
    "signedDate": SIGNED,
}

STANDING = ("standing", "standingSince", "standingUntil", "standingSource", "grantsAccess", "remainingQuantity")


def stated(purchases: list[dict]) -> list[dict]:
    """What a receipt states of purchases, without the standing that follows from it: see lives.py."""
    return [{name: value for name, value in purchase.items() if name not in STANDING} for purchase in purchases]


def notification(signed_transaction: str | None = None, signed_renewal_info: str | None = None, **changes) -> dict:
    """A notification around nested signed parts; `changes` replace fields of its data."""
    data = NOTIFICATION["data"] | changes
    if signed_transaction:
        data["signedTransactionInfo"] = signed_transaction
    if signed_renewal_info:
        data["signedRenewalInfo"] = signed_renewal_info
    return NOTIFICATION | {"data": data}
