// SPDX-License-Identifier: Apache-2.0

public import Entitlements
public import ReceiptCodec

extension EntitlementLedger {
  /// Folds in what Google Play answers about a subscription. A purchase that it replaced ends.
  ///
  /// - Parameters:
  ///   - purchase: The answer.
  ///   - id: The purchase that was asked about.
  ///   - asOf: When it was asked; of two answers the later counts.
  public mutating func apply(_ purchase: SubscriptionPurchaseV2, to id: PlayEntitlement.ID, asOf: Timestamp) {
    let items = (purchase.lineItems ?? []).map { item in
      PlayItem().with {
        $0.productId = item.productId
        $0.expiryTime = item.expiryTime
        $0.renews = item.autoRenewingPlan?.autoRenewEnabled
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
    apply(PlayPurchaseLine().with { $0.purchase = fact }, to: id)
  }

  /// Folds in what Google Play answers about a one-time purchase.
  ///
  /// - Parameters:
  ///   - purchase: The answer.
  ///   - id: The purchase that was asked about.
  ///   - asOf: When it was asked; of two answers the later counts.
  public mutating func apply(_ purchase: ProductPurchaseV2, to id: PlayEntitlement.ID, asOf: Timestamp) {
    let items = (purchase.productLineItem ?? []).map { item in
      PlayItem().with {
        $0.productId = item.productId
        $0.quantity = item.productOfferDetails?.quantity
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
    apply(PlayPurchaseLine().with { $0.purchase = fact }, to: id)
  }

  /// Folds in that a purchase was voided, as the list of voided purchases states it. A refund of a part of the quantity
  /// voids nothing.
  ///
  /// - Returns: The purchase; `nil` where the list does not name its token or date, and for a part of the quantity.
  @discardableResult
  public mutating func apply(_ voided: VoidedPurchase, packageName: String) -> PlayEntitlement.ID? {
    guard voided.voidedQuantity == nil, let date = voided.voidedTimeMillis,
      let id = voided.purchaseToken.flatMap({
        PlayEntitlement.ID(packageName: packageName, purchaseToken: $0)
      })
    else { return nil }
    var fact = PlayVoidedFact(date: date)
    fact.orderId = voided.orderId
    fact.source = voided.voidedSource?.rawValue
    fact.reason = voided.voidedReason?.rawValue
    apply(PlayPurchaseLine().with { $0.voided = fact }, to: id)
    return id
  }

  /// Folds in what a message itself says: that it came, and that a purchase was voided.
  mutating func apply(_ message: DeveloperMessage, to id: PlayEntitlement.ID, at now: Timestamp) {
    let date = message.eventTime ?? now
    var line = PlayPurchaseLine()
    line.notice = PlayNoticeFact(date: date, messageId: message.messageId, event: message.event)
    line.notice?.type = message.eventType
    if let voided = message.notification.voidedPurchaseNotification,
      voided.refundType != .quantityBasedPartial
    {
      line.voided = PlayVoidedFact(date: date)
      line.voided?.orderId = voided.orderId
    }
    apply(line, to: id)
  }

  /// Folds in that Google Play does not know a purchase token, or no longer.
  mutating func applyUnknownToken(_ id: PlayEntitlement.ID, asOf: Timestamp) {
    apply(PlayPurchaseLine().with { $0.gone = PlayGoneFact(asOf: asOf) }, to: id)
  }
}
