// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A group of subscriptions in an Xcode `.storekit` file.
struct StoreKitSubscriptionGroup: JSONObject, Sendable, Hashable {
  /// The group's identifier.
  var id = ""
  /// The name that developers see.
  var name: String?
  /// Names that customers see.
  var localizations: [StoreKitLocalization]?
  /// The subscriptions, each a product.
  var subscriptions: [StoreKitProduct]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case id, name, localizations, subscriptions
  }

  static let fieldNames = JSONFieldNames<Field>(required: [.id])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .id: try coder.code(&id)
    case .name: try coder.code(&name)
    case .localizations: try coder.code(&localizations)
    case .subscriptions: try coder.code(&subscriptions)
    }
  }
}
