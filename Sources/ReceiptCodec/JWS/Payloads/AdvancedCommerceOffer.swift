// SPDX-License-Identifier: Apache-2.0

/// A discount on an item.
public struct AdvancedCommerceOffer: Sendable, Hashable {
  /// Length of one period of the offer.
  public var period: AdvancedCommerceOfferPeriod?
  /// How many periods, 1 to 12.
  public var periodCount: Int64?
  /// Price of a period times 1000.
  public var price: Int64?
  /// What the offer is for.
  public var reason: AdvancedCommerceOfferReason?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    period: AdvancedCommerceOfferPeriod? = nil, periodCount: Int64? = nil, price: Int64? = nil,
    reason: AdvancedCommerceOfferReason? = nil, unknownFields: [JSONMember] = []
  ) {
    self.period = period
    self.periodCount = periodCount
    self.price = price
    self.reason = reason
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceOffer: JSONObject {
  package enum Field: String, CaseIterable {
    case period, periodCount, price, reason
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .period: try coder.code(&period)
    case .periodCount: try coder.code(&periodCount)
    case .price: try coder.code(&price)
    case .reason: try coder.code(&reason)
    }
  }
}
