// SPDX-License-Identifier: Apache-2.0

/// What the Advanced Commerce API adds to a transaction.
public struct AdvancedCommerceTransactionInfo: Sendable, Hashable {
  /// Name and description of the purchase.
  public var descriptors: AdvancedCommerceDescriptors?
  /// Tax times 1000.
  public var estimatedTax: Int64?
  /// What was bought.
  public var items: [AdvancedCommerceTransactionItem]?
  /// How often it renews.
  public var period: AdvancedCommercePeriod?
  /// The app's identifier of the request.
  public var requestReferenceId: String?
  /// Tax category.
  public var taxCode: String?
  /// Price before tax, times 1000.
  public var taxExclusivePrice: Int64?
  /// Tax rate as a decimal.
  public var taxRate: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    descriptors: AdvancedCommerceDescriptors? = nil, estimatedTax: Int64? = nil,
    items: [AdvancedCommerceTransactionItem]? = nil, period: AdvancedCommercePeriod? = nil,
    requestReferenceId: String? = nil, taxCode: String? = nil, taxExclusivePrice: Int64? = nil,
    taxRate: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.descriptors = descriptors
    self.estimatedTax = estimatedTax
    self.items = items
    self.period = period
    self.requestReferenceId = requestReferenceId
    self.taxCode = taxCode
    self.taxExclusivePrice = taxExclusivePrice
    self.taxRate = taxRate
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceTransactionInfo: JSONObject {
  package enum Field: String, CaseIterable {
    case descriptors, estimatedTax, items, period, requestReferenceId, taxCode, taxExclusivePrice, taxRate
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .descriptors: try coder.code(&descriptors)
    case .estimatedTax: try coder.code(&estimatedTax)
    case .items: try coder.code(&items)
    case .period: try coder.code(&period)
    case .requestReferenceId: try coder.code(&requestReferenceId)
    case .taxCode: try coder.code(&taxCode)
    case .taxExclusivePrice: try coder.code(&taxExclusivePrice)
    case .taxRate: try coder.code(&taxRate)
    }
  }
}
