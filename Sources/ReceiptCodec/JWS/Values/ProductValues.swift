// SPDX-License-Identifier: Apache-2.0

/// The type of a product (`type`).
public struct ProductType: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `Auto-Renewable Subscription`: renews until cancelled.
  public static let autoRenewableSubscription = ProductType(rawValue: "Auto-Renewable Subscription")
  /// `Non-Consumable`: bought once, kept for ever.
  public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
  /// `Consumable`: used up.
  public static let consumable = ProductType(rawValue: "Consumable")
  /// `Non-Renewing Subscription`: lasts for a time that the app keeps.
  public static let nonRenewingSubscription = ProductType(rawValue: "Non-Renewing Subscription")
}

extension ProductType: JSONEnumeration {}

/// How the customer came by a purchase (`inAppOwnershipType`).
public struct InAppOwnershipType: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `PURCHASED`: bought by the customer.
  public static let purchased = InAppOwnershipType(rawValue: "PURCHASED")
  /// `FAMILY_SHARED`: shared by a family member.
  public static let familyShared = InAppOwnershipType(rawValue: "FAMILY_SHARED")
  /// `ASSIGNED`: assigned by an organization.
  public static let assigned = InAppOwnershipType(rawValue: "ASSIGNED")
}

extension InAppOwnershipType: JSONEnumeration {}

/// The kind of an offer (`offerType`).
public struct OfferType: RawRepresentable, Sendable, Hashable {
  /// The code in the payload.
  public let rawValue: Int64

  /// Creates one from any code, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `1`: introductory offer.
  public static let introductory = OfferType(rawValue: 1)
  /// `2`: promotional offer.
  public static let promotional = OfferType(rawValue: 2)
  /// `3`: offer code.
  public static let offerCode = OfferType(rawValue: 3)
  /// `4`: win-back offer.
  public static let winBack = OfferType(rawValue: 4)
}

extension OfferType: JSONEnumeration {}

/// How an offer is paid (`offerDiscountType`).
public struct OfferDiscountType: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `FREE_TRIAL`: for nothing.
  public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
  /// `PAY_AS_YOU_GO`: each period.
  public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
  /// `PAY_UP_FRONT`: at once for all periods.
  public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
  /// `ONE_TIME`: one payment for something other than a subscription.
  public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")
}

extension OfferDiscountType: JSONEnumeration {}

/// How a subscription is billed (`billingPlanType`, `renewalBillingPlanType`).
public struct BillingPlanType: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `BILLED_UPFRONT`: at once for the period.
  public static let billedUpfront = BillingPlanType(rawValue: "BILLED_UPFRONT")
  /// `MONTHLY`: month by month.
  public static let monthly = BillingPlanType(rawValue: "MONTHLY")
}

extension BillingPlanType: JSONEnumeration {}

/// Where the customer first got the app (`originalPlatform`).
public struct PurchasePlatform: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `iOS`: iOS or iPadOS.
  public static let iOS = PurchasePlatform(rawValue: "iOS")
  /// `macOS`: macOS.
  public static let macOS = PurchasePlatform(rawValue: "macOS")
  /// `tvOS`: tvOS.
  public static let tvOS = PurchasePlatform(rawValue: "tvOS")
  /// `visionOS`: visionOS.
  public static let visionOS = PurchasePlatform(rawValue: "visionOS")
}

extension PurchasePlatform: JSONEnumeration {}
