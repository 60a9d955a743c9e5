// SPDX-License-Identifier: Apache-2.0

public import Entitlements
public import ReceiptCodec

extension EntitlementLedger {
  /// Merges Google Play's answer about a subscription; a purchase that it replaced ends.
  ///
  /// - Parameters:
  ///   - purchase: The answer.
  ///   - id: The purchase that the answer is about.
  ///   - asOf: The time of the request; of two answers the later one counts.
  public mutating func apply(_ purchase: SubscriptionPurchaseV2, to id: PlayEntitlement.ID, asOf: Timestamp) {
    let items = (purchase.lineItems ?? []).map { item in
      PlayItem().with {
        $0.productId = item.productId
        $0.expiryTime = item.expiryTime
        $0.renews = item.autoRenewingPlan?.autoRenewEnabled
        $0.orderId = item.latestSuccessfulOrderId ?? purchase.latestOrderId
        $0.basePlanId = item.offerDetails?.basePlanId
        $0.offerId = item.offerDetails?.offerId
        $0.isPrepaid = item.prepaidPlan == nil ? nil : true
        $0.offerPhase = item.offerPhase?.period
        $0.priceConsent = item.autoRenewingPlan?.priceConsent
      }
    }
    var fact = PlayPurchaseFact(
      asOf: asOf, isSubscription: true, state: (purchase.subscriptionState ?? .unspecified).rawValue,
      items: items)
    fact.startTime = purchase.startTime
    fact.orderId =
      purchase.lineItems?.lazy.compactMap(\.latestSuccessfulOrderId).first ?? purchase.latestOrderId
    fact.linkedPurchaseToken = purchase.linkedPurchaseToken
    fact.isTest = purchase.testPurchase == nil ? nil : true
    fact.isAcknowledged = purchase.acknowledgementState == .acknowledged
    fact.accountId = purchase.externalAccountIdentifiers?.obfuscatedExternalAccountId
    fact.profileId = purchase.externalAccountIdentifiers?.obfuscatedExternalProfileId
    fact.autoResumeTime = purchase.pausedStateContext?.autoResumeTime
    fact.cancellation = purchase.canceledStateContext?.cancellation
    apply(
      PlayPurchaseLine().with {
        $0.purchase = fact
        $0.account = purchase.account(asOf: asOf)
      }, to: id)
  }

  /// Merges Google Play's answer about a one-time purchase.
  ///
  /// - Parameters:
  ///   - purchase: The answer.
  ///   - id: The purchase that the answer is about.
  ///   - asOf: The time of the request; of two answers the later one counts.
  public mutating func apply(_ purchase: ProductPurchaseV2, to id: PlayEntitlement.ID, asOf: Timestamp) {
    let items = (purchase.productLineItem ?? []).map { item in
      PlayItem().with {
        $0.productId = item.productId
        $0.quantity = item.productOfferDetails?.quantity
        $0.orderId = purchase.orderId
        $0.refundable = item.productOfferDetails?.refundableQuantity
        $0.isConsumed = item.productOfferDetails?.consumptionState == .consumed ? true : nil
      }
    }
    var fact = PlayPurchaseFact(
      asOf: asOf, isSubscription: false,
      state: (purchase.purchaseStateContext?.purchaseState ?? .unspecified).rawValue, items: items)
    fact.startTime = purchase.purchaseCompletionTime
    fact.orderId = purchase.orderId
    fact.isTest = purchase.testPurchaseContext == nil ? nil : true
    fact.isAcknowledged = purchase.acknowledgementState == .acknowledged
    fact.accountId = purchase.obfuscatedExternalAccountId
    fact.profileId = purchase.obfuscatedExternalProfileId
    apply(
      PlayPurchaseLine().with {
        $0.purchase = fact
        $0.account = PlayAccountFact(fact.accountId, fact.profileId, asOf: asOf)
      }, to: id)
  }

  /// Merges a voided purchase from the list of voided purchases.
  ///
  /// A refund of a part of the quantity voids only that part.
  ///
  /// - Returns: The purchase; `nil` if the list does not name its token or date.
  @discardableResult
  public mutating func apply(_ voided: VoidedPurchase, packageName: String) -> PlayEntitlement.ID? {
    guard let date = voided.voidedTimeMillis,
      let id = voided.purchaseToken.flatMap({
        PlayEntitlement.ID(packageName: packageName, purchaseToken: $0)
      })
    else { return nil }
    var fact = PlayVoidedFact(date: date)
    fact.orderId = voided.orderId
    fact.source = voided.voidedSource?.rawValue
    fact.reason = voided.voidedReason?.rawValue
    // A negative quantity is invalid, and only shows that a part was refunded.
    fact.quantity = voided.voidedQuantity.map { max(0, $0) }
    apply(PlayPurchaseLine().with { $0.voids = [fact] }, to: id)
    return id
  }

  /// Merges the facts that a message itself states: its arrival, and that a purchase was voided.
  package mutating func apply(_ message: DeveloperMessage, to id: PlayEntitlement.ID, at now: Timestamp) {
    let date = message.eventTime ?? now
    var line = PlayPurchaseLine()
    line.notice = PlayNoticeFact(date: date, messageId: message.messageId, event: message.event)
    line.notice?.type = message.eventType
    if let voided = message.notification.voidedPurchaseNotification,
      voided.refundType != .quantityBasedPartial
    {
      var fact = PlayVoidedFact(date: date)
      fact.orderId = voided.orderId
      line.voids = [fact]
    }
    apply(line, to: id)
  }

  /// Merges the fact that Google Play does not know a purchase token, or no longer knows it.
  mutating func applyUnknownToken(_ id: PlayEntitlement.ID, asOf: Timestamp) {
    apply(PlayPurchaseLine().with { $0.gone = PlayGoneFact(asOf: asOf) }, to: id)
  }
}

extension SubscriptionPurchaseV2 {
  /// The account that owns the purchase. A customer can subscribe again in the Play app, without the app. The app
  /// states the account only when it acknowledges such a purchase; until then it is the account of the expired
  /// purchase.
  fileprivate func account(asOf: Timestamp) -> PlayAccountFact? {
    let own = externalAccountIdentifiers
    let expired = outOfAppPurchaseContext?.expiredExternalAccountIdentifiers
    return PlayAccountFact(own?.obfuscatedExternalAccountId, own?.obfuscatedExternalProfileId, asOf: asOf)
      ?? PlayAccountFact(
        expired?.obfuscatedExternalAccountId, expired?.obfuscatedExternalProfileId, asOf: asOf)?
      .with { $0.isOfExpired = true }
  }
}

extension PlayAccountFact {
  /// Creates a fact; `nil` if neither identifier is stated.
  fileprivate init?(_ accountId: String?, _ profileId: String?, asOf: Timestamp) {
    if accountId == nil, profileId == nil { return nil }
    self.init(asOf: asOf)
    self.accountId = accountId
    self.profileId = profileId
  }
}

extension PlayOfferPhase {
  /// The phase; `nil` for the price of the base plan.
  fileprivate var period: PlayOfferPeriod? {
    if freeTrial != nil { return .freeTrial }
    if introductoryPrice != nil { return .introductoryPrice }
    return prorationPeriod == nil ? nil : .proration
  }
}

extension PlayAutoRenewingPlan {
  fileprivate var priceConsent: PlayPriceConsent? {
    guard let mode = priceChangeDetails?.priceChangeMode, mode == .increase || mode == .optOutIncrease else {
      return nil
    }
    return switch priceChangeDetails?.priceChangeState {
    case .outstanding: .awaited
    case .confirmed, .applied: .given
    default: nil
    }
  }
}

extension PlayCanceledStateContext {
  fileprivate var cancellation: PlayCancellation? {
    if let userInitiatedCancellation {
      return switch userInitiatedCancellation.cancelSurveyResult?.reason {
      case .notEnoughUsage: .notEnoughUsage
      case .technicalIssues: .technicalIssues
      case .costRelated: .cost
      case .foundBetterApp: .foundBetterApp
      case .others: .otherReason
      case .unspecified, .unknown, nil: .customer
      }
    }
    if systemInitiatedCancellation != nil { return .system }
    if developerInitiatedCancellation != nil { return .developer }
    return replacementCancellation == nil ? nil : .replacement
  }
}
