// SPDX-License-Identifier: Apache-2.0

/// Texts that the customer sees.
public struct AdvancedCommerceDescriptors: Sendable, Hashable {
  /// Description of the purchase.
  public var description: String?
  /// Name of the purchase.
  public var displayName: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    description: String? = nil, displayName: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.description = description
    self.displayName = displayName
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceDescriptors: JSONObject {
  package enum Field: String, CaseIterable {
    case description, displayName
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .description: try coder.code(&description)
    case .displayName: try coder.code(&displayName)
    }
  }
}
