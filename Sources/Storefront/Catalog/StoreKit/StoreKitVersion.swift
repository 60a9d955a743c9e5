// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The version of an Xcode `.storekit` file.
public struct StoreKitVersion: Sendable, Hashable {
  /// 1 to 6 are known.
  public var major: Int64
  /// The minor version.
  public var minor: Int64
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(major: Int64, minor: Int64, unknownFields: [JSONMember] = []) {
    self.major = major
    self.minor = minor
    self.unknownFields = unknownFields
  }
}

extension StoreKitVersion: JSONObject {
  package enum Field: String, CaseIterable {
    case major
    case minor
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.major, .minor])

  package init() { self.init(major: 0, minor: 0) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .major: try coder.code(&major)
    case .minor: try coder.code(&minor)
    }
  }
}
