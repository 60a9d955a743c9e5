// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

extension Entitlement {
  /// The state of a purchase at an instant.
  public typealias State = AppStorePurchaseState

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
    purchase.isBillingProblemCurrent ? renewalInfo?.gracePeriodExpiresDate : nil
  }

  /// Returns the revocation if it holds at an instant.
  package func revocation(at instant: Timestamp) -> Revocation? {
    revocation.flatMap { $0.date <= instant ? $0 : nil }
  }

  /// The facts that determine the state.
  package var purchase: AppStorePurchase {
    var purchase = AppStorePurchase(transaction)
    purchase.revocation = revocation.map { ($0.date, $0.isSharingWithdrawn) }
    purchase.renewalInfo = renewalInfo
    purchase.renewalInfoSignedDate = renewalInfoSignedDate
    return purchase
  }

  /// Returns the state at an instant, from all that is known now.
  ///
  /// Expiry and the ends of grace period and billing retry follow from the signed dates, not from the time at which a
  /// notification arrived.
  ///
  /// For an instant before the latest purchase, the result assumes that this purchase had already been made, because
  /// earlier purchases are not kept.
  public func state(at instant: Timestamp) -> State { purchase.state(at: instant) }

  /// Returns the standing at an instant, in terms that all stores share.
  public func standing(at instant: Timestamp) -> PurchaseStanding { standings.standing(at: instant) }

  private var standings: StandingTimeline { purchase.timeline(.ledger, signedAt: transaction.signedDate) }

  /// Returns `true` if the customer may use the product at an instant: active or in the grace period.
  ///
  /// For a consumable, `true` means that the purchase is valid. Only the app knows the quantity consumed, and the end
  /// of a non-renewing subscription.
  public func grantsAccess(at instant: Timestamp) -> Bool {
    state(at: instant).status == .active
  }

  /// Returns the product that the customer may use at an instant; `nil` if access is not granted.
  public func productId(at instant: Timestamp) -> String? {
    guard grantsAccess(at: instant) else { return nil }
    if let laterPeriod = purchase.laterPeriod, let expiresDate, instant >= expiresDate {
      return laterPeriod.productId
    }
    return transaction.productId
  }

  /// Returns the next instant at which the state changes without news from the store; `nil` if it never does.
  public func nextChange(after instant: Timestamp) -> Timestamp? {
    nextDueInstant(after: instant)
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
  package static var source: EntitlementSource? { .appStore }
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

  package var dueInstants: [Timestamp] { purchase.dueInstants }

  package func condition(at instant: Timestamp) -> State { state(at: instant) }

  package var timeline: StandingTimeline? { standings }

  package func holdings(at instant: Timestamp) -> [LineHolding] {
    [
      LineHolding(
        productId: productId(at: instant) ?? productId, standing: standing(at: instant),
        environment: id.environment, isShared: transaction.inAppOwnershipType == .familyShared)
    ]
  }

  package func renewal(at instant: Timestamp, heard: Timestamp) -> StoreRenewal? {
    guard let expiresDate, transaction.type == .autoRenewableSubscription else { return nil }
    return switch state(at: max(instant, expiresDate)) {
    case .active, .expired:
      StoreRenewal(due: purchase.laterPeriod?.expiresDate ?? expiresDate, isAwaited: false)
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
    object.member("productType", transaction.type?.rawValue)
    object.member("purchaseDate", transaction.purchaseDate)
    object.member("originalPurchaseDate", transaction.originalPurchaseDate)
    object.member("expiresDate", expiresDate)
    object.member("nextChangeDate", nextChange(after: instant))
    object.member("gracePeriodExpiresDate", gracePeriodExpiresDate)
    object.member("revocationDate", revocation?.date)
    object.member("period", period?.rawValue)
    object.member("offerIdentifier", transaction.offerIdentifier)
    object.member("inAppOwnershipType", transaction.inAppOwnershipType?.rawValue)
    object.member("price", transaction.price)
    object.member("currency", transaction.currency)
    object.member("storefront", transaction.storefront)
    object.member("renews", renews)
    object.member("renewalProductId", renewalProductId)
    object.member("expirationIntent", currentRenewal?.expirationIntent?.rawValue)
  }

  /// The renewal information, if it is about the renewal after the latest transaction.
  private var currentRenewal: JWSRenewalInfo? {
    guard let renewalInfo, let signedDate = renewalInfoSignedDate,
      signedDate >= (transaction.purchaseDate ?? signedDate)
    else { return nil }
    return renewalInfo
  }

  /// Indicates whether the subscription renews; `nil` if that is not known.
  private var renews: Bool? { currentRenewal?.autoRenewStatus.map { $0 == .on } }

  /// The product of the next period, if it is another one.
  private var renewalProductId: String? {
    currentRenewal?.autoRenewProductId.flatMap { $0 == productId ? nil : $0 }
  }

  /// The kind of the latest period; `nil` for a purchase that is no subscription.
  private var period: PeriodType? {
    guard transaction.type == .autoRenewableSubscription else { return nil }
    switch (transaction.offerType, transaction.offerDiscountType) {
    case (nil, _): return .normal
    case (_, .freeTrial): return .trial
    case (.introductory, _): return .introductory
    default: return .promotional
    }
  }

  package func snapshot(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.member("productId", productId)
    object.member("transactionId", transactionId)
    object.member("expiresDate", expiresDate)
    object.member("revocationDate", revocation?.date)
    object.member("period", period?.rawValue)
    object.member("renews", renews)
    object.member("renewalProductId", renewalProductId)
  }
}
