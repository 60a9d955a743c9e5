// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec

/// The terms of an auto-renewable subscription.
public struct SubscriptionTerms: Sendable, Hashable {
  /// The group that it is in (`subscriptionGroupIdentifier`).
  public var groupIdentifier: String
  /// Its rank in the group (`groupNumber`): 1 is the highest level of service. A change to a lower number is an
  /// upgrade, to a higher one a downgrade, to the same a crossgrade.
  public var level: Int
  /// How long it is paid for at a time.
  public var period: SubscriptionPeriod
  /// Its offers; identifiers are unique per ``SubscriptionOffer/type``.
  public var offers: [SubscriptionOffer]

  /// Creates terms.
  public init(
    groupIdentifier: String, level: Int = 1, period: SubscriptionPeriod, offers: [SubscriptionOffer] = []
  ) {
    self.groupIdentifier = groupIdentifier
    self.level = level
    self.period = period
    self.offers = offers
  }
}

/// A reduced price for a number of periods.
public struct SubscriptionOffer: Sendable, Hashable {
  /// The type: introductory, promotional, offer code or win-back.
  public var type: OfferType
  /// The identifier agreed upon with the store; `nil` for an introductory offer.
  public var identifier: String?
  /// How it is paid for (`paymentMode`): `FREE_TRIAL`, `PAY_AS_YOU_GO`, `PAY_UP_FRONT`.
  public var paymentMode: OfferDiscountType
  /// How long each of its periods is.
  public var period: SubscriptionPeriod
  /// How many of them there are.
  public var periodCount: Int
  /// The price of one period, or for `PAY_UP_FRONT` of all periods; 0 for a free trial.
  public var price: Decimal
  /// The codes that redeem it; for offers by code only. Each may be used once by each customer.
  public var codes: Set<String>
  /// Who may redeem a code.
  public var eligibility: Set<Eligibility>

  /// A kind of customer, as `.storekit` files name them.
  public struct Eligibility: RawRepresentable, Sendable, Hashable {
    /// The name.
    public let rawValue: String

    /// Creates a kind from any name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Never subscribed in the group.
    public static let new = Eligibility(rawValue: "new")
    /// Subscribed now.
    public static let existing = Eligibility(rawValue: "existing")
    /// Subscribed before, but not now.
    public static let expired = Eligibility(rawValue: "expired")
  }

  /// Creates an offer.
  public init(
    type: OfferType, identifier: String? = nil, paymentMode: OfferDiscountType, period: SubscriptionPeriod,
    periodCount: Int = 1, price: Decimal = 0, codes: Set<String> = [],
    eligibility: Set<Eligibility> = [.new, .existing, .expired]
  ) {
    self.type = type
    self.identifier = identifier
    self.paymentMode = paymentMode
    self.period = period
    self.periodCount = periodCount
    self.price = price
    self.codes = codes
    self.eligibility = eligibility
  }
}
