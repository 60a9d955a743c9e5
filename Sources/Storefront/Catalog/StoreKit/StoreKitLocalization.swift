// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Title and description in one language, in an Xcode `.storekit` file.
struct StoreKitLocalization: JSONObject, Sendable, Hashable {
  /// The language, such as `en_US`.
  var locale = ""
  /// The title; groups have it, too.
  var displayName: String?
  /// The description.
  var description: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case locale, displayName, description
  }

  static let fieldNames = JSONFieldNames<Field>(required: [.locale])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .locale: try coder.code(&locale)
    case .displayName: try coder.code(&displayName)
    case .description: try coder.code(&description)
    }
  }
}
