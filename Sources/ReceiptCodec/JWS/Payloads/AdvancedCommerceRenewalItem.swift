// SPDX-License-Identifier: Apache-2.0

/// An item of an Advanced Commerce subscription.
public struct AdvancedCommerceRenewalItem: Sendable, Hashable {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The app's identifier of the item.
  public var SKU: String?
  /// Description of the item.
  public var description: String?
  /// Name of the item.
  public var displayName: String?
  /// The offer that applies.
  public var offer: AdvancedCommerceOffer?
  /// Price times 1000.
  public var price: Int64?
  /// A coming price increase.
  public var priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    SKU: String? = nil, description: String? = nil, displayName: String? = nil,
    offer: AdvancedCommerceOffer? = nil, price: Int64? = nil,
    priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo? = nil, unknownFields: [JSONMember] = []
  ) {
    self.SKU = SKU
    self.description = description
    self.displayName = displayName
    self.offer = offer
    self.price = price
    self.priceIncreaseInfo = priceIncreaseInfo
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceRenewalItem: JSONObject {
  package enum Field: String, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    case SKU
    case description, displayName, offer, price, priceIncreaseInfo
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .SKU: try coder.code(&SKU)
    case .description: try coder.code(&description)
    case .displayName: try coder.code(&displayName)
    case .offer: try coder.code(&offer)
    case .price: try coder.code(&price)
    case .priceIncreaseInfo: try coder.code(&priceIncreaseInfo)
    }
  }
}
