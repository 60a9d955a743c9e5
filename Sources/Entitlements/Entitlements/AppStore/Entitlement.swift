// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension Entitlement {
  /// The identifier of the first transaction in the series.
  package var originalTransactionId: String { id.originalTransactionId }
  /// The identifier of the latest purchase or renewal.
  package var transactionId: String? { transaction.transactionId }
  /// The product of the latest transaction; ``productId(at:)`` returns the product that the customer may use.
  public var productId: String? { transaction.productId }
  /// The time at which the subscription expires or renews; `nil` for purchases that do not expire.
  public var expiresDate: Timestamp? { transaction.expiresDate }
  /// The end of the grace period of the latest renewal, if that renewal could not be charged for.
  package var gracePeriodExpiresDate: Timestamp? {
    isBillingProblemCurrent ? renewalInfo?.gracePeriodExpiresDate : nil
  }

  /// The time, in seconds, during which the App Store tries to charge for a renewal: 60 days.
  static let billingRetryDuration: Double = 60 * 86_400
  /// The time, in seconds, before expiry from which the App Store may charge for a renewal: two days, to be safe; Apple
  /// states one.
  static let renewalLeadTime: Double = 2 * 86_400

  /// Returns the state at an instant, from all that is known now.
  ///
  /// Expiry and the ends of grace period and billing retry follow from the signed dates, not from the time at which a
  /// notification arrived.
  ///
  /// For an instant before the latest purchase, the result assumes that this purchase had already been made, because
  /// earlier purchases are not kept.
  public func state(at instant: Timestamp) -> State {
    if let laterPeriod, let expiresDate, instant >= expiresDate {
      return instant < laterPeriod.expiresDate ? .active : .expired
    }
    if let revocation, instant >= revocation.date {
      return revocation.isSharingWithdrawn ? .revoked : .refunded
    }
    if transaction.isUpgraded == true { return .upgraded }
    guard let expiresDate else {
      // A subscription must state the end of its paid period.
      return transaction.type == .autoRenewableSubscription ? .expired : .active
    }
    if instant < expiresDate { return .active }
    guard isBillingProblemCurrent else { return .expired }
    if let end = renewalInfo?.gracePeriodExpiresDate, instant < end { return .inGracePeriod }
    let isRetrying = renewalInfo?.isInBillingRetryPeriod == true
    return isRetrying && instant < expiresDate.addingSeconds(Self.billingRetryDuration)
      ? .inBillingRetry : .expired
  }

  /// Returns `true` if the customer may use the product at an instant: active or in the grace period.
  ///
  /// For a consumable, `true` means that the purchase is valid. Only the app knows the quantity consumed, and the end
  /// of a non-renewing subscription.
  public func grantsAccess(at instant: Timestamp) -> Bool {
    switch state(at: instant) {
    case .active, .inGracePeriod: true
    case .inBillingRetry, .expired, .revoked, .refunded, .upgraded: false
    }
  }

  /// Returns the product that the customer may use at an instant; `nil` if access is not granted.
  public func productId(at instant: Timestamp) -> String? {
    guard grantsAccess(at: instant) else { return nil }
    if let laterPeriod, let expiresDate, instant >= expiresDate { return laterPeriod.productId }
    return transaction.productId
  }

  /// A period after that of ``transaction`` that only the renewal information states.
  ///
  /// A notification about a past purchase, such as a request for a refund, carries the current renewal information.
  ///
  /// `nil` as soon as the transaction of the period is known. `nil` also after sharing was withdrawn, because the
  /// period is then another customer's.
  package var laterPeriod: LaterPeriod? {
    guard let renewalInfo, let signedDate = renewalInfoSignedDate, let expiresDate,
      let end = renewalInfo.renewalDate, signedDate >= expiresDate, end > signedDate,
      renewalInfo.isInBillingRetryPeriod != true, renewalInfo.expirationIntent == nil,
      revocation?.isSharingWithdrawn != true
    else { return nil }
    return LaterPeriod(productId: renewalInfo.productId, expiresDate: end)
  }

  /// Returns the next instant at which the state changes without news from the store; `nil` if it never does.
  public func nextChange(after instant: Timestamp) -> Timestamp? {
    nextDueInstant(after: instant)
  }

  /// `true` if the renewal information is about the renewal after the latest transaction, and may report a billing
  /// problem.
  ///
  /// If the transaction is newer than the renewal information, a reported problem was solved.
  var isBillingProblemCurrent: Bool {
    guard let renewalInfo, renewalInfo.isInBillingRetryPeriod != false,
      let signedDate = renewalInfoSignedDate, let expiresDate
    else { return false }
    return signedDate >= (transaction.purchaseDate ?? signedDate)
      && signedDate >= expiresDate.addingSeconds(-Self.renewalLeadTime)
  }
}

extension Entitlement.ID: AppStoreLineID {
  package init(environment: ReceiptEnvironment.Category, bundleId: String, identifier: String) {
    self.init(environment: environment, bundleId: bundleId, originalTransactionId: identifier)
  }

  package var identifier: String { originalTransactionId }
  package var name: String { "\(environment.rawValue) \(bundleId) \(originalTransactionId)" }
}

extension Entitlement: StoreLine {
  package static var reportType: String { "entitlement" }
  package static var identifierMember: String { "originalTransactionId" }
  package static var customerMembers: [String] { ["appAccountToken"] }
  package static var lapsedStates: [String] { [State.expired, .inBillingRetry].map(\.rawValue) }

  package var statedCustomer: String? { transaction.appAccountToken?.rawValue }

  package var namesOfCustomer: [String] {
    [transaction.appTransactionId].compactMap(\.self).map {
      RescindedConsent.Customer(environment: id.environment, bundleId: id.bundleId, identifier: $0).name
    }
  }

  package var dueInstants: [Timestamp] {
    [
      revocation?.date, expiresDate, laterPeriod?.expiresDate, renewalInfo?.gracePeriodExpiresDate,
      expiresDate?.addingSeconds(Self.billingRetryDuration),
    ]
    .compactMap(\.self)
  }

  package func standing(at instant: Timestamp) -> State { state(at: instant) }

  package func renewal(at instant: Timestamp, heard: Timestamp) -> StoreRenewal? {
    guard let expiresDate, transaction.type == .autoRenewableSubscription else { return nil }
    return switch state(at: max(instant, expiresDate)) {
    case .active, .expired: StoreRenewal(due: laterPeriod?.expiresDate ?? expiresDate, isAwaited: false)
    case .inGracePeriod, .inBillingRetry: StoreRenewal(due: expiresDate, isAwaited: true)
    case .revoked, .refunded, .upgraded: nil
    }
  }

  package func report(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("bundleId", id.bundleId)
    object.member("environment", id.environment.plainName)
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.member("productId", productId)
    object.member("transactionId", transactionId)
    object.member("appAccountToken", transaction.appAccountToken?.rawValue)
    object.member("expiresDate", expiresDate)
    object.member("nextChangeDate", nextChange(after: instant))
  }

  package func snapshot(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.member("productId", productId)
    object.member("transactionId", transactionId)
    object.member("expiresDate", expiresDate)
    object.member("revocationDate", revocation?.date)
  }
}
