// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptCodec
internal import ReceiptCrypto
internal import Storefront

/// A purchase with its present state in the engine.
struct PlayView {
  let purchase: PlayPurchase
  /// The present period of a subscription, or the one-time purchase; `nil` if it was not paid for.
  var transaction: JWSTransaction?
  /// The state of the subscription, if this is its present purchase.
  var state: LocalStore.SubscriptionState?

  init(_ purchase: PlayPurchase, in store: LocalStore) async throws(LocalStoreError) {
    self.purchase = purchase
    if purchase.isSubscription, purchase.endDate == nil, let original = purchase.originalTransactionId {
      state = try await store.subscriptionState(original)
      transaction = state?.subscription.transaction
    } else if let paid = purchase.paidOrders.last?.transactionId {
      transaction = try await store.purchase(paid)?.current
    }
  }

  /// `true` if the purchase was refunded and revoked.
  var isRevoked: Bool { transaction?.revocationDate != nil }

  /// `true` if the customer owns the purchase: it was paid for, and neither revoked nor replaced.
  var isOwned: Bool { purchase.state == .purchased && purchase.endDate == nil && !isRevoked }

  /// `subscriptionState` without its prefix.
  var subscriptionState: String {
    switch purchase.state {
    case .requested: return "UNSPECIFIED"
    case .pending: return "PENDING"
    case .canceled: return "PENDING_PURCHASE_CANCELED"
    case .purchased: break
    }
    switch state?.status {
    case .active:
      guard state?.subscription.autoRenews == true else { return "CANCELED" }
      return purchase.isPaused ? "PAUSED" : "ACTIVE"
    case .gracePeriod: return "IN_GRACE_PERIOD"
    case .billingRetry: return "ON_HOLD"
    default: return "EXPIRED"
    }
  }

  /// The date on which service ended or will end, including the grace period and excluding a pause.
  var expiryDate: Timestamp? {
    if let end = purchase.endDate { return end }
    if let revoked = transaction?.revocationDate { return revoked }
    if state?.status == .gracePeriod { return state?.subscription.gracePeriodExpiresDate }
    if let pause = purchase.pauseDate { return pause }
    return transaction?.expiresDate
  }

  var autoRenews: Bool { state?.subscription.autoRenews ?? false }

  /// The price of renewals, in thousandths.
  var recurringPrice: Int64 { state?.subscription.renewalPrice ?? transaction?.price ?? 0 }

  /// Returns `true` if the subscription expired too long ago to be requested.
  func isForgotten(at now: Timestamp) -> Bool {
    guard purchase.isSubscription, subscriptionState == "EXPIRED", let expiryDate else { return false }
    return now > expiryDate.addingSeconds(EmulatedPlayStore.rememberedDays * 86_400)
  }

  /// `INAPP_PURCHASE_DATA`.
  func purchaseData(packageName: String) -> JSONMembers {
    let isPending = purchase.state == .pending
    return [
      "orderId": isPending ? nil : purchase.orders.last?.orderId, "packageName": packageName,
      "productId": purchase.productId, "purchaseTime": purchase.purchaseDate,
      "purchaseState": isPending ? 4 : isRevoked ? 1 : 0, "purchaseToken": purchase.token,
      "obfuscatedAccountId": purchase.obfuscatedAccountId,
      "obfuscatedProfileId": purchase.obfuscatedProfileId, "quantity": purchase.quantity,
      "autoRenewing": purchase.isSubscription ? autoRenews : nil, "acknowledged": purchase.isAcknowledged,
      "developerPayload": purchase.developerPayload,
    ]
  }

  /// The two letters of the storefront's region; `nil` if the storefront is unknown.
  var region: String? {
    transaction?.storefront.flatMap { StorefrontRegion(countryCode: $0)?.regionCode }
  }
}
