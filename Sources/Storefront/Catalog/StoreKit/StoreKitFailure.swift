// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A failure that StoreKit testing is told to produce (`_storeKitErrors`).
public struct StoreKitFailure: Sendable, Hashable {
  /// Which call fails, such as `Purchase`.
  public var name: String
  /// Whether it fails.
  public var enabled: Bool?
  /// How it fails; always absent or `null` in the files that were seen.
  public var current: JSONValue?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(name: String, enabled: Bool? = nil, current: JSONValue? = nil, unknownFields: [JSONMember] = [])
  {
    self.name = name
    self.enabled = enabled
    self.current = current
    self.unknownFields = unknownFields
  }
}

extension StoreKitFailure: JSONObject {
  package enum Field: String, CaseIterable {
    case name
    case enabled
    case current
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.name])

  package init() { self.init(name: "") }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .name: try coder.code(&name)
    case .enabled: try coder.code(&enabled)
    case .current: try coder.code(&current)
    }
  }
}
