// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The facts that determine the state of a purchase in the App Store, from a receipt or from a ledger.
package struct AppStorePurchase: Sendable {
  package var purchaseDate: Timestamp?
  package var expiresDate: Timestamp?
  package var type: ProductType?
  package var isUpgraded = false
  /// The instant of the revocation, and whether it withdrew sharing; `nil` if the purchase was not revoked.
  package var revocation: (date: Timestamp, isSharingWithdrawn: Bool)?
  package var renewalInfo: JWSRenewalInfo?
  package var renewalInfoSignedDate: Timestamp?

  package init(_ transaction: JWSTransaction) {
    purchaseDate = transaction.purchaseDate
    expiresDate = transaction.expiresDate
    type = transaction.type
    isUpgraded = transaction.isUpgraded == true
    revocation = transaction.revocationDate.map { ($0, transaction.revokesSharing) }
  }

  init(_ transaction: Transaction) {
    purchaseDate = transaction.purchaseDate
    expiresDate = transaction.expiresDate
    type = transaction.type
    revocation = transaction.revocationDate.map { ($0, false) }
  }

  /// The time, in seconds, during which the App Store tries to charge for a renewal: 60 days.
  package static let billingRetryDuration: Double = 60 * 86_400
  /// The time, in seconds, before expiry from which the App Store may charge for a renewal: two days, to be safe; Apple
  /// states one.
  private static let renewalLeadTime: Double = 2 * 86_400

  package func state(at instant: Timestamp) -> AppStorePurchaseState {
    if let laterPeriod, let expiresDate, instant >= expiresDate {
      return instant < laterPeriod.expiresDate ? .active : .expired
    }
    if let revocation, instant >= revocation.date {
      return revocation.isSharingWithdrawn ? .revoked : .refunded
    }
    if isUpgraded { return .upgraded }
    guard let expiresDate else {
      // A subscription must state the end of its paid period.
      return type == .autoRenewableSubscription ? .expired : .active
    }
    if instant < expiresDate { return .active }
    guard isBillingProblemCurrent else { return .expired }
    if let end = renewalInfo?.gracePeriodExpiresDate, instant < end { return .inGracePeriod }
    let isRetrying = renewalInfo?.isInBillingRetryPeriod == true
    return isRetrying && instant < expiresDate.addingSeconds(Self.billingRetryDuration)
      ? .inBillingRetry : .expired
  }

  /// The instants at which the state may change by itself.
  package var dueInstants: [Timestamp] {
    guard let renewalInfo else {
      // Nearly every receipt: without renewal information there is neither a later period nor a billing problem.
      guard let revocation else { return expiresDate.map { [$0] } ?? [] }
      return expiresDate.map { [revocation.date, $0] } ?? [revocation.date]
    }
    return [
      revocation?.date, expiresDate, laterPeriod?.expiresDate, renewalInfo.gracePeriodExpiresDate,
      expiresDate?.addingSeconds(Self.billingRetryDuration),
    ]
    .compactMap(\.self)
  }

  /// A period after the purchase that only the renewal information states.
  ///
  /// A notification about a past purchase, such as a request for a refund, carries the current renewal information.
  ///
  /// `nil` as soon as the transaction of the period is known. `nil` also after sharing was withdrawn, because the
  /// period is then another customer's.
  package var laterPeriod: (productId: String?, expiresDate: Timestamp)? {
    guard let renewalInfo, let signedDate = renewalInfoSignedDate, let expiresDate,
      let end = renewalInfo.renewalDate, signedDate >= expiresDate, end > signedDate,
      renewalInfo.isInBillingRetryPeriod != true, renewalInfo.expirationIntent == nil,
      revocation?.isSharingWithdrawn != true
    else { return nil }
    return (renewalInfo.productId, end)
  }

  /// `true` if the renewal information is about the renewal after the latest transaction, and may report a billing
  /// problem.
  ///
  /// If the transaction is newer than the renewal information, a reported problem was solved.
  package var isBillingProblemCurrent: Bool {
    guard let renewalInfo, renewalInfo.isInBillingRetryPeriod != false,
      let signedDate = renewalInfoSignedDate, let expiresDate
    else { return false }
    return signedDate >= (purchaseDate ?? signedDate)
      && signedDate >= expiresDate.addingSeconds(-Self.renewalLeadTime)
  }

  /// Returns the timeline of the purchase. A purchase without a date, and a subscription without an end, are unknown.
  /// From the time of the statement, `signedAt`, an upgrade holds at the latest.
  package func timeline(_ source: PurchaseStanding.Source, signedAt: Timestamp?) -> StandingTimeline {
    let withdrawn = revocation.map { $0.isSharingWithdrawn ? PurchaseStanding.Status.revoked : .refunded }
    guard let purchaseDate, expiresDate != nil || type != .autoRenewableSubscription else {
      return StandingTimeline(withdrawn ?? .unknown, since: revocation?.date, source)
    }
    let start = isUpgraded && revocation == nil ? signedAt ?? purchaseDate : purchaseDate
    return StandingTimeline(from: start, due: dueInstants, source) { state(at: $0).status }
  }
}

extension AppStorePurchaseState {
  package var status: PurchaseStanding.Status {
    switch self {
    case .active, .inGracePeriod: .active
    case .inBillingRetry, .expired: .expired
    case .revoked: .revoked
    case .refunded: .refunded
    case .upgraded: .upgraded
    }
  }
}

extension JWSTransaction {
  /// `true` if the revocation withdrew sharing with this customer, `false` if it was a refund; `nil` if the transaction
  /// does not say.
  package var isSharingWithdrawn: Bool? {
    switch revocationType {
    case .some(.familyRevoke), .some(.assignmentRevoke): true
    case .some: false
    case nil: nil
    }
  }

  /// `true` if the purchase is shared with this customer.
  package var isShared: Bool { [.familyShared, .assigned].contains(inAppOwnershipType) }

  /// `true` if a revocation of the transaction withdrew sharing, as far as the transaction tells.
  fileprivate var revokesSharing: Bool { isSharingWithdrawn ?? isShared }
}
