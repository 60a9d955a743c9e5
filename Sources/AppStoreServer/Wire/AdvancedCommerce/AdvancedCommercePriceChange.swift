// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The new price of an item (Apple's AdvancedCommerceSubscriptionPriceChangeItem).
public struct AdvancedCommercePriceChangeItem: Sendable, Hashable {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The app's identifier of the item, at most 128 characters (`SKU`).
  public var SKU: String
  /// The price times 1000 (`price`).
  public var price: Int64
  /// Items that depend on this one (`dependentSKUs`).
  public var dependentSKUs: [String]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    SKU: String, price: Int64, dependentSKUs: [String]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.SKU = SKU
    self.price = price
    self.dependentSKUs = dependentSKUs
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommercePriceChangeItem: JSONObject {
  package enum Field: String, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    case SKU
    case price, dependentSKUs
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.SKU, .price])

  /// Filled before anyone sees it.
  package init() {
    self.init(SKU: "", price: 0)
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .SKU: try coder.code(&SKU)
    case .price: try coder.code(&price)
    case .dependentSKUs: try coder.code(&dependentSKUs)
    }
  }
}

/// Changes prices of a subscription (Apple's AdvancedCommerceSubscriptionPriceChangeRequest).
public struct AdvancedCommercePriceChangeRequest: Sendable, Hashable {
  /// Identifies the request (`requestInfo`).
  public var requestInfo: AdvancedCommerceRequestInfo
  /// The items (`items`).
  public var items: [AdvancedCommercePriceChangeItem]
  /// Three letters of ISO 4217 (`currency`).
  public var currency: String?
  /// The storefront, three letters of ISO 3166-1 (`storefront`).
  public var storefront: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestInfo: AdvancedCommerceRequestInfo, items: [AdvancedCommercePriceChangeItem],
    currency: String? = nil, storefront: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.requestInfo = requestInfo
    self.items = items
    self.currency = currency
    self.storefront = storefront
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommercePriceChangeRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case requestInfo, items, currency, storefront
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.requestInfo, .items])

  /// Filled before anyone sees it.
  package init() {
    self.init(requestInfo: AdvancedCommerceRequestInfo(), items: [])
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestInfo: try coder.code(&requestInfo)
    case .items: try coder.code(&items)
    case .currency: try coder.code(&currency)
    case .storefront: try coder.code(&storefront)
    }
  }
}
