// SPDX-License-Identifier: Apache-2.0

/// An item of an Advanced Commerce purchase.
public struct AdvancedCommerceTransactionItem: Sendable, Hashable {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The app's identifier of the item.
  public var SKU: String?
  /// Description of the item.
  public var description: String?
  /// Name of the item.
  public var displayName: String?
  /// The offer that applied.
  public var offer: AdvancedCommerceOffer?
  /// Price times 1000.
  public var price: Int64?
  /// What was paid back.
  public var refunds: [AdvancedCommerceRefund]?
  /// When the item was revoked.
  public var revocationDate: Timestamp?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    SKU: String? = nil, description: String? = nil, displayName: String? = nil,
    offer: AdvancedCommerceOffer? = nil, price: Int64? = nil, refunds: [AdvancedCommerceRefund]? = nil,
    revocationDate: Timestamp? = nil, unknownFields: [JSONMember] = []
  ) {
    self.SKU = SKU
    self.description = description
    self.displayName = displayName
    self.offer = offer
    self.price = price
    self.refunds = refunds
    self.revocationDate = revocationDate
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceTransactionItem: JSONObject {
  package enum Field: String, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    case SKU
    case description, displayName, offer, price, refunds, revocationDate
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
    case .refunds: try coder.code(&refunds)
    case .revocationDate: try coder.code(&revocationDate)
    }
  }
}
