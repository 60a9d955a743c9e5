// SPDX-License-Identifier: Apache-2.0

/// How often an Advanced Commerce subscription renews (`period`).
public struct AdvancedCommercePeriod: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `P1W`: one week.
  public static let oneWeek = AdvancedCommercePeriod(rawValue: "P1W")
  /// `P1M`: one month.
  public static let oneMonth = AdvancedCommercePeriod(rawValue: "P1M")
  /// `P2M`: two months.
  public static let twoMonths = AdvancedCommercePeriod(rawValue: "P2M")
  /// `P3M`: three months.
  public static let threeMonths = AdvancedCommercePeriod(rawValue: "P3M")
  /// `P6M`: six months.
  public static let sixMonths = AdvancedCommercePeriod(rawValue: "P6M")
  /// `P1Y`: one year.
  public static let oneYear = AdvancedCommercePeriod(rawValue: "P1Y")
}

extension AdvancedCommercePeriod: JSONEnumeration {}

/// Length of a period of an offer (`period`).
public struct AdvancedCommerceOfferPeriod: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `P3D`: three days.
  public static let threeDays = AdvancedCommerceOfferPeriod(rawValue: "P3D")
  /// `P1W`: one week.
  public static let oneWeek = AdvancedCommerceOfferPeriod(rawValue: "P1W")
  /// `P2W`: two weeks.
  public static let twoWeeks = AdvancedCommerceOfferPeriod(rawValue: "P2W")
  /// `P1M`: one month.
  public static let oneMonth = AdvancedCommerceOfferPeriod(rawValue: "P1M")
  /// `P2M`: two months.
  public static let twoMonths = AdvancedCommerceOfferPeriod(rawValue: "P2M")
  /// `P3M`: three months.
  public static let threeMonths = AdvancedCommerceOfferPeriod(rawValue: "P3M")
  /// `P6M`: six months.
  public static let sixMonths = AdvancedCommerceOfferPeriod(rawValue: "P6M")
  /// `P9M`: nine months.
  public static let nineMonths = AdvancedCommerceOfferPeriod(rawValue: "P9M")
  /// `P1Y`: one year.
  public static let oneYear = AdvancedCommerceOfferPeriod(rawValue: "P1Y")
}

extension AdvancedCommerceOfferPeriod: JSONEnumeration {}

/// What an offer is for (`reason`).
public struct AdvancedCommerceOfferReason: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `ACQUISITION`: winning a customer.
  public static let acquisition = AdvancedCommerceOfferReason(rawValue: "ACQUISITION")
  /// `WIN_BACK`: winning a customer back.
  public static let winBack = AdvancedCommerceOfferReason(rawValue: "WIN_BACK")
  /// `RETENTION`: keeping a customer.
  public static let retention = AdvancedCommerceOfferReason(rawValue: "RETENTION")
}

extension AdvancedCommerceOfferReason: JSONEnumeration {}

/// How much of the price a refund covers (`refundType`).
public struct AdvancedCommerceRefundType: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `FULL`: all.
  public static let full = AdvancedCommerceRefundType(rawValue: "FULL")
  /// `PRORATED`: the unused part.
  public static let prorated = AdvancedCommerceRefundType(rawValue: "PRORATED")
  /// `CUSTOM`: a chosen amount.
  public static let custom = AdvancedCommerceRefundType(rawValue: "CUSTOM")
}

extension AdvancedCommerceRefundType: JSONEnumeration {}

/// Why an item was refunded (`refundReason`).
public struct AdvancedCommerceRefundReason: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `UNINTENDED_PURCHASE`: the customer did not mean to buy.
  public static let unintendedPurchase = AdvancedCommerceRefundReason(rawValue: "UNINTENDED_PURCHASE")
  /// `FULFILLMENT_ISSUE`: the customer had trouble receiving it.
  public static let fulfillmentIssue = AdvancedCommerceRefundReason(rawValue: "FULFILLMENT_ISSUE")
  /// `UNSATISFIED_WITH_PURCHASE`: the customer was not satisfied.
  public static let unsatisfiedWithPurchase = AdvancedCommerceRefundReason(
    rawValue: "UNSATISFIED_WITH_PURCHASE")
  /// `LEGAL`: for legal reasons.
  public static let legal = AdvancedCommerceRefundReason(rawValue: "LEGAL")
  /// `OTHER`: for some other reason.
  public static let other = AdvancedCommerceRefundReason(rawValue: "OTHER")
  /// `MODIFY_ITEMS_REFUND`: the items of the subscription changed.
  public static let modifyItemsRefund = AdvancedCommerceRefundReason(rawValue: "MODIFY_ITEMS_REFUND")
  /// `SIMULATE_REFUND_DECLINE`: asks the sandbox to decline the refund.
  public static let simulateRefundDecline = AdvancedCommerceRefundReason(rawValue: "SIMULATE_REFUND_DECLINE")
}

extension AdvancedCommerceRefundReason: JSONEnumeration {}

/// How far a price increase has come (`status`).
public struct AdvancedCommercePriceIncreaseStatus: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `SCHEDULED`: it is scheduled.
  public static let scheduled = AdvancedCommercePriceIncreaseStatus(rawValue: "SCHEDULED")
  /// `PENDING`: the customer has not answered.
  public static let pending = AdvancedCommercePriceIncreaseStatus(rawValue: "PENDING")
  /// `ACCEPTED`: the customer agreed.
  public static let accepted = AdvancedCommercePriceIncreaseStatus(rawValue: "ACCEPTED")
}

extension AdvancedCommercePriceIncreaseStatus: JSONEnumeration {}
