// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Title and description in one language, in an Xcode `.storekit` file.
public struct StoreKitLocalization: Sendable, Hashable {
  /// The language, such as `en_US`.
  public var locale: String
  /// The title; groups have it, too.
  public var displayName: String?
  /// The description.
  public var description: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    locale: String, displayName: String? = nil, description: String? = nil, unknownFields: [JSONMember] = []
  ) {
    self.locale = locale
    self.displayName = displayName
    self.description = description
    self.unknownFields = unknownFields
  }
}

extension StoreKitLocalization: JSONObject {
  package enum Field: String, CaseIterable {
    case locale
    case displayName
    case description
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.locale])

  package init() { self.init(locale: "") }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .locale: try coder.code(&locale)
    case .displayName: try coder.code(&displayName)
    case .description: try coder.code(&description)
    }
  }
}
