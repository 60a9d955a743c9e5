// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A privacy policy in one language.
struct StoreKitPolicy: JSONObject, Sendable, Hashable {
  /// The language.
  var locale: String?
  /// The text.
  var policyText: String?
  /// The address of the policy.
  var policyURL: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case locale, policyText, policyURL
  }

  static let fieldNames = JSONFieldNames<Field>()

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .locale: try coder.code(&locale)
    case .policyText: try coder.code(&policyText)
    case .policyURL: try coder.code(&policyURL)
    }
  }
}
