// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A privacy policy in one language.
public struct StoreKitPolicy: Sendable, Hashable {
  /// The language.
  public var locale: String?
  /// The text.
  public var policyText: String?
  /// The address of the policy.
  public var policyURL: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    locale: String? = nil, policyText: String? = nil, policyURL: String? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.locale = locale
    self.policyText = policyText
    self.policyURL = policyURL
    self.unknownFields = unknownFields
  }
}

extension StoreKitPolicy: JSONObject {
  package enum Field: String, CaseIterable {
    case locale
    case policyText
    case policyURL
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .locale: try coder.code(&locale)
    case .policyText: try coder.code(&policyText)
    case .policyURL: try coder.code(&policyURL)
    }
  }
}
