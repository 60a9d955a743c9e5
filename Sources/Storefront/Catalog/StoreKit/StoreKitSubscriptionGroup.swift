// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A group of subscriptions in an Xcode `.storekit` file.
public struct StoreKitSubscriptionGroup: Sendable, Hashable {
  /// The group's identifier.
  public var id: String
  /// The name that developers see.
  public var name: String?
  /// Names that customers see.
  public var localizations: [StoreKitLocalization]?
  /// The subscriptions, each a product.
  public var subscriptions: [StoreKitProduct]?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    id: String, name: String? = nil, localizations: [StoreKitLocalization]? = nil,
    subscriptions: [StoreKitProduct]? = nil, unknownFields: [JSONMember] = []
  ) {
    self.id = id
    self.name = name
    self.localizations = localizations
    self.subscriptions = subscriptions
    self.unknownFields = unknownFields
  }
}

extension StoreKitSubscriptionGroup: JSONObject {
  package enum Field: String, CaseIterable {
    case id
    case name
    case localizations
    case subscriptions
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.id])

  package init() { self.init(id: "") }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .id: try coder.code(&id)
    case .name: try coder.code(&name)
    case .localizations: try coder.code(&localizations)
    case .subscriptions: try coder.code(&subscriptions)
    }
  }
}
