// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The state of a subscription, and its last purchase.
public struct VerifiedSubscription: Sendable, Hashable {
  /// The group of the subscription.
  public let subscriptionGroupIdentifier: String?
  /// The state. The App Store does not sign it: ask for its ``contradiction(at:)`` with what is signed.
  public let status: SubscriptionStatus
  /// The subscription, by its first transaction.
  public let originalTransactionId: String
  /// The last transaction, and the renewal information of the same subscription.
  public let purchase: VerifiedPurchase

  /// For how many seconds around the end of a period the status may be ahead of the last transaction, or behind it:
  /// a renewal is being processed.
  static let processingTime: Double = 3_600

  /// What the status, which is not signed, says against the signed dates; `nil` where they agree.
  ///
  /// | Status | Agrees with |
  /// |---|---|
  /// | active, grace period | no `revocationDate`; and an end in the future: `expiresDate`, `gracePeriodExpiresDate`, or the `renewalDate` of a renewal that did not fail |
  /// | expired | no such end in the future |
  /// | billing retry | the same; and `isInBillingRetryPeriod` before `expiresDate`, as the App Store charges ahead |
  /// | revoked | `revocationDate` |
  ///
  /// An end that is less than an hour away counts as past and as future.
  ///
  /// - Parameter instant: When the status was received.
  /// - Returns: Both, in a sentence; `nil` for a status that is not known to this version, too.
  public func contradiction(at instant: Timestamp) -> String? {
    let revocation = purchase.transaction.payload.revocationDate
    let endsLater =
      revocation == nil
      ? ends.first { instant.addingSeconds(Self.processingTime) < $0.date } : nil
    let isContradicted: Bool
    switch status {
    case .active, .gracePeriod:
      let isRunning = ends.contains { instant.addingSeconds(-Self.processingTime) < $0.date }
      isContradicted = revocation != nil || !isRunning
    case .expired: isContradicted = endsLater != nil
    case .billingRetry:
      let isCharged = renewalInfo?.isInBillingRetryPeriod == true
      isContradicted = endsLater.map { !isCharged || $0.name == Self.graceEnd } ?? false
    case .revoked: isContradicted = revocation == nil
    case .unknown: isContradicted = false
    }
    guard isContradicted else { return nil }
    let signed = (revocation.map { [("revocationDate", $0)] } ?? []) + ends
    let dates = signed.map { "\($0.name) \($0.date.iso8601)" }.joined(separator: ", ")
    return "The App Store answers status \(status.rawValue) (\(status)), which it does not sign, for the "
      + "subscription \(originalTransactionId); signed is \(dates.isEmpty ? "no date" : dates)."
  }

  private var renewalInfo: JWSRenewalInfo? { purchase.renewalInfo?.payload }

  private static let graceEnd = "gracePeriodExpiresDate"

  /// Until when the customer has access, by each member that states it.
  private var ends: [(name: String, date: Timestamp)] {
    let isRetrying = renewalInfo?.isInBillingRetryPeriod
    let grace = isRetrying == false ? nil : renewalInfo?.gracePeriodExpiresDate
    let renewal = isRetrying == true || renewalInfo?.expirationIntent != nil ? nil : renewalInfo?.renewalDate
    return [
      (Self.graceEnd, grace), ("expiresDate", purchase.transaction.payload.expiresDate),
      ("renewalDate", renewal),
    ].compactMap { name, date in date.map { (name, $0) } }
  }
}
