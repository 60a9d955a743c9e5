// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A failure that StoreKit testing is told to produce (`_storeKitErrors`).
struct StoreKitFailure: JSONObject, Sendable, Hashable {
  /// Which call fails, such as `Purchase`.
  var name = ""
  /// Whether it fails.
  var enabled: Bool?
  /// How it fails; always absent or `null` in the files that were seen.
  var current: JSONValue?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case name, enabled, current
  }

  static let fieldNames = JSONFieldNames<Field>(required: [.name])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .name: try coder.code(&name)
    case .enabled: try coder.code(&enabled)
    case .current: try coder.code(&current)
    }
  }
}
