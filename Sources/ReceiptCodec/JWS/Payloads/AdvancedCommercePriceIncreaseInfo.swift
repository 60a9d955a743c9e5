// SPDX-License-Identifier: Apache-2.0

/// A coming price increase of an item.
public struct AdvancedCommercePriceIncreaseInfo: Sendable, Hashable {
  /// Items whose price depends on this one.
  public var dependentSKUs: [String]?
  /// The new price times 1000.
  public var price: Int64?
  /// How far the increase has come.
  public var status: AdvancedCommercePriceIncreaseStatus?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    dependentSKUs: [String]? = nil, price: Int64? = nil, status: AdvancedCommercePriceIncreaseStatus? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.dependentSKUs = dependentSKUs
    self.price = price
    self.status = status
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommercePriceIncreaseInfo: JSONObject {
  package enum Field: String, CaseIterable {
    case dependentSKUs, price, status
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .dependentSKUs: try coder.code(&dependentSKUs)
    case .price: try coder.code(&price)
    case .status: try coder.code(&status)
    }
  }
}
