// SPDX-License-Identifier: Apache-2.0

/// More about the event that a notification reports (`subtype`).
public struct NotificationSubtype: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `INITIAL_BUY`: first subscription of the group.
  public static let initialBuy = NotificationSubtype(rawValue: "INITIAL_BUY")
  /// `RESUBSCRIBE`: subscribed again after expiry.
  public static let resubscribe = NotificationSubtype(rawValue: "RESUBSCRIBE")
  /// `UPGRADE`: to a higher level, at once.
  public static let upgrade = NotificationSubtype(rawValue: "UPGRADE")
  /// `DOWNGRADE`: to a lower level, at the next renewal.
  public static let downgrade = NotificationSubtype(rawValue: "DOWNGRADE")
  /// `AUTO_RENEW_ENABLED`: renewal was switched on.
  public static let autoRenewEnabled = NotificationSubtype(rawValue: "AUTO_RENEW_ENABLED")
  /// `AUTO_RENEW_DISABLED`: renewal was switched off.
  public static let autoRenewDisabled = NotificationSubtype(rawValue: "AUTO_RENEW_DISABLED")
  /// `BILLING_RECOVERY`: renewed after the charge had failed.
  public static let billingRecovery = NotificationSubtype(rawValue: "BILLING_RECOVERY")
  /// `VOLUNTARY`: the customer had cancelled.
  public static let voluntary = NotificationSubtype(rawValue: "VOLUNTARY")
  /// `BILLING_RETRY`: the App Store gave up trying to charge.
  public static let billingRetry = NotificationSubtype(rawValue: "BILLING_RETRY")
  /// `PRICE_INCREASE`: the customer did not agree to a higher price.
  public static let priceIncrease = NotificationSubtype(rawValue: "PRICE_INCREASE")
  /// `PRODUCT_NOT_FOR_SALE`: the product was not for sale.
  public static let productNotForSale = NotificationSubtype(rawValue: "PRODUCT_NOT_FOR_SALE")
  /// `GRACE_PERIOD`: service goes on while the App Store tries to charge.
  public static let gracePeriod = NotificationSubtype(rawValue: "GRACE_PERIOD")
  /// `PENDING`: the customer has not answered.
  public static let pending = NotificationSubtype(rawValue: "PENDING")
  /// `ACCEPTED`: the customer agreed, or did not need to.
  public static let accepted = NotificationSubtype(rawValue: "ACCEPTED")
  /// `SUMMARY`: the mass extension finished.
  public static let summary = NotificationSubtype(rawValue: "SUMMARY")
  /// `FAILURE`: the extension failed for one subscription.
  public static let failure = NotificationSubtype(rawValue: "FAILURE")
  /// `UNREPORTED`: the token has not been reported on.
  public static let unreported = NotificationSubtype(rawValue: "UNREPORTED")
  /// `CREATED`: the token was made.
  public static let created = NotificationSubtype(rawValue: "CREATED")
  /// `ACTIVE_TOKEN_REMINDER`: the token is still active.
  public static let activeTokenReminder = NotificationSubtype(rawValue: "ACTIVE_TOKEN_REMINDER")
}

extension NotificationSubtype: JSONEnumeration {}

/// Why the customer asked for a refund (`consumptionRequestReason`).
public struct ConsumptionRequestReason: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `UNINTENDED_PURCHASE`: did not mean to buy.
  public static let unintendedPurchase = ConsumptionRequestReason(rawValue: "UNINTENDED_PURCHASE")
  /// `FULFILLMENT_ISSUE`: had trouble receiving it.
  public static let fulfillmentIssue = ConsumptionRequestReason(rawValue: "FULFILLMENT_ISSUE")
  /// `UNSATISFIED_WITH_PURCHASE`: was not satisfied.
  public static let unsatisfiedWithPurchase = ConsumptionRequestReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
  /// `LEGAL`: for legal reasons.
  public static let legal = ConsumptionRequestReason(rawValue: "LEGAL")
  /// `OTHER`: for some other reason.
  public static let other = ConsumptionRequestReason(rawValue: "OTHER")
}

extension ConsumptionRequestReason: JSONEnumeration {}

/// What a token of an external purchase is for (`tokenType`).
public struct ExternalPurchaseTokenType: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `SERVICES`: services.
  public static let services = ExternalPurchaseTokenType(rawValue: "SERVICES")
  /// `ACQUISITION`: acquisition.
  public static let acquisition = ExternalPurchaseTokenType(rawValue: "ACQUISITION")
  /// `CORE_TECHNOLOGY`: core technology.
  public static let coreTechnology = ExternalPurchaseTokenType(rawValue: "CORE_TECHNOLOGY")
}

extension ExternalPurchaseTokenType: JSONEnumeration {}
