// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
internal import ReceiptVerification
package import Entitlements
package import Storefront

extension EntitlementLedger {
  /// Lists the differences between a ledger, folded from a store's notifications, and the store's engine. The list is
  /// empty if they agree on every subscription.
  ///
  /// - Parameters:
  ///   - engine: Knows the truth.
  ///   - lastSigned: When the last event of each original transaction was signed.
  ///   - bundleIdentifier: The app.
  ///   - instant: When both are asked; time has passed until then in the engine.
  /// - Returns: A line for each difference.
  package func disagreements(
    with engine: SubscriptionEngine, lastSigned: [String: Timestamp], bundleIdentifier: String,
    at instant: Timestamp
  ) -> [String] {
    engine.subscriptions.flatMap {
      disagreements(
        with: $0, lastSigned: lastSigned[$0.id], bundleIdentifier: bundleIdentifier, at: instant)
    }
  }

  /// Lists the differences between the ledger and the engine about one subscription.
  package func disagreements(
    with subscription: Subscription, lastSigned: Timestamp?, bundleIdentifier: String, at instant: Timestamp
  ) -> [String] {
    let id = Entitlement.ID(
      environment: .sandbox, bundleId: bundleIdentifier, originalTransactionId: subscription.id)
    guard let entitlement = self[id] else { return ["\(subscription.id): the ledger does not know it"] }
    var found: [String] = []
    // The last event may be signed a little after `instant`, because it came at once with another. Then both are asked
    // at its time.
    let last = lastSigned ?? instant
    let instant = max(instant, last)
    let status = subscription.status(at: instant)
    func compare<Value: Equatable>(_ name: String, _ folded: Value, _ known: Value) {
      if folded != known { found.append("\(subscription.id): \(name) is \(folded), not \(known)") }
    }
    compare("state", entitlement.state(at: instant).rawValue, status.rawValue)
    compare("product", entitlement.transaction.productId, subscription.productIdentifier)
    compare("expiry", entitlement.expiresDate, subscription.expiresDate)
    compare(
      "next product", entitlement.renewalInfo?.autoRenewProductId, subscription.autoRenewProductIdentifier)
    compare("renewal", entitlement.renewalInfo?.autoRenewStatus == .on, subscription.autoRenews)
    compare("expiration intent", entitlement.renewalInfo?.expirationIntent, subscription.expirationIntent)
    // No notification says that the store took a higher price back; the next one of any type does. Before an offer's
    // periods the renewal information states the offer's price instead.
    let isTakenBack =
      subscription.priceIncreaseStatus == nil
      && (entitlement.renewalInfo?.offerType != nil
        || entitlement.renewalInfo?.renewalPrice ?? 0 > subscription.renewalPrice)
    if !isTakenBack {
      compare(
        "price increase", entitlement.renewalInfo?.priceIncreaseStatus, subscription.priceIncreaseStatus)
    }
    if subscription.isInBillingRetry {
      compare("end of grace", entitlement.gracePeriodExpiresDate, subscription.gracePeriodExpiresDate)
    }
    // With the offer, the owner and the refund; the engine's own was never signed.
    compare(
      "transaction", entitlement.transaction.with { $0.signedDate = nil },
      subscription.transaction.with { $0.signedDate = nil })
    // Notifications state the status of their own moment.
    if instant == last { compare("reported status", entitlement.reportedStatus, Self.reported(status)) }
    return found
  }

  private static func reported(_ status: Subscription.Status) -> SubscriptionStatus {
    switch status {
    case .active: .active
    case .expired: .expired
    case .inBillingRetry: .billingRetry
    case .inGracePeriod: .gracePeriod
    case .refunded, .revoked: .revoked
    }
  }
}
