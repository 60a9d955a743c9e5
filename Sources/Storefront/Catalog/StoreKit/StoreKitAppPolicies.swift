// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Licence and privacy policies of an app, in an Xcode `.storekit` file since version 4.
struct StoreKitAppPolicies: JSONObject, Sendable, Hashable {
  /// The licence.
  var eula: String?
  /// The privacy policies.
  var policies: [StoreKitPolicy]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case eula, policies
  }

  static let fieldNames = JSONFieldNames<Field>()

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .eula: try coder.code(&eula)
    case .policies: try coder.code(&policies)
    }
  }
}
