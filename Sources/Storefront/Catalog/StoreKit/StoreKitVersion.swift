// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The version of an Xcode `.storekit` file.
struct StoreKitVersion: JSONObject, Sendable, Hashable {
  /// 1 to 6 are known.
  var major: Int64 = 0
  /// The minor version.
  var minor: Int64 = 0
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case major, minor
  }

  static let fieldNames = JSONFieldNames<Field>(required: [.major, .minor])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .major: try coder.code(&major)
    case .minor: try coder.code(&minor)
    }
  }
}
