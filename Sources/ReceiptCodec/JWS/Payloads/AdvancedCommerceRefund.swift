// SPDX-License-Identifier: Apache-2.0

/// A refund of an item.
public struct AdvancedCommerceRefund: Sendable, Hashable {
  /// Amount times 1000.
  public var refundAmount: Int64?
  /// When it was paid back.
  public var refundDate: Timestamp?
  /// Why.
  public var refundReason: AdvancedCommerceRefundReason?
  /// How much of the price.
  public var refundType: AdvancedCommerceRefundType?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    refundAmount: Int64? = nil, refundDate: Timestamp? = nil,
    refundReason: AdvancedCommerceRefundReason? = nil, refundType: AdvancedCommerceRefundType? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.refundAmount = refundAmount
    self.refundDate = refundDate
    self.refundReason = refundReason
    self.refundType = refundType
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceRefund: JSONObject {
  package enum Field: String, CaseIterable {
    case refundAmount, refundDate, refundReason, refundType
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .refundAmount: try coder.code(&refundAmount)
    case .refundDate: try coder.code(&refundDate)
    case .refundReason: try coder.code(&refundReason)
    case .refundType: try coder.code(&refundType)
    }
  }
}
