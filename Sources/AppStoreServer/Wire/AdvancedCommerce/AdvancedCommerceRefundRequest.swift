// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// An item to refund (Apple's AdvancedCommerceRequestRefundItem).
public struct AdvancedCommerceRefundRequestItem: Sendable, Hashable {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The app's identifier of the item, at most 128 characters (`SKU`).
  public var SKU: String
  /// The amount times 1000, for a chosen one (`refundAmount`).
  public var refundAmount: Int64?
  /// Why (`refundReason`).
  public var refundReason: AdvancedCommerceRefundReason
  /// How much (`refundType`).
  public var refundType: AdvancedCommerceRefundType
  /// Whether the customer loses the item (`revoke`).
  public var revoke: Bool
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    SKU: String, refundReason: AdvancedCommerceRefundReason, refundType: AdvancedCommerceRefundType,
    revoke: Bool, refundAmount: Int64? = nil, unknownFields: [JSONMember] = []
  ) {
    self.SKU = SKU
    self.refundAmount = refundAmount
    self.refundReason = refundReason
    self.refundType = refundType
    self.revoke = revoke
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceRefundRequestItem: JSONObject {
  package enum Field: String, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    case SKU
    case refundAmount, refundReason, refundType, revoke
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.SKU, .refundReason, .refundType, .revoke])

  /// Filled before anyone sees it.
  package init() {
    self.init(
      SKU: "", refundReason: AdvancedCommerceRefundReason(rawValue: ""),
      refundType: AdvancedCommerceRefundType(rawValue: ""), revoke: false)
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .SKU: try coder.code(&SKU)
    case .refundAmount: try coder.code(&refundAmount)
    case .refundReason: try coder.code(&refundReason)
    case .refundType: try coder.code(&refundType)
    case .revoke: try coder.code(&revoke)
    }
  }
}

/// Asks for the refund of a one-time charge or a subscription (Apple's AdvancedCommerceRequestRefundRequest).
public struct AdvancedCommerceRefundRequest: Sendable, Hashable {
  /// Identifies the request (`requestInfo`).
  public var requestInfo: AdvancedCommerceRequestInfo
  /// The items (`items`).
  public var items: [AdvancedCommerceRefundRequestItem]
  /// Whether Apple shall weigh the risk of the refund (`refundRiskingPreference`).
  public var refundRiskingPreference: Bool
  /// Three letters of ISO 4217 (`currency`).
  public var currency: String?
  /// The storefront, three letters of ISO 3166-1 (`storefront`).
  public var storefront: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestInfo: AdvancedCommerceRequestInfo, items: [AdvancedCommerceRefundRequestItem],
    refundRiskingPreference: Bool, currency: String? = nil, storefront: String? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.requestInfo = requestInfo
    self.items = items
    self.refundRiskingPreference = refundRiskingPreference
    self.currency = currency
    self.storefront = storefront
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceRefundRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case requestInfo, items, refundRiskingPreference, currency, storefront
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [
    .requestInfo, .items, .refundRiskingPreference,
  ])

  /// Filled before anyone sees it.
  package init() {
    self.init(requestInfo: AdvancedCommerceRequestInfo(), items: [], refundRiskingPreference: false)
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestInfo: try coder.code(&requestInfo)
    case .items: try coder.code(&items)
    case .refundRiskingPreference: try coder.code(&refundRiskingPreference)
    case .currency: try coder.code(&currency)
    case .storefront: try coder.code(&storefront)
    }
  }
}
