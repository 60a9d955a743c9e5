// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Texts of a migrated subscription (Apple's AdvancedCommerceSubscriptionMigrateDescriptors).
public struct AdvancedCommerceMigrationDescriptors: Sendable, Hashable {
  /// Description that the customer sees, at most 45 characters (`description`).
  public var description: String
  /// Name that the customer sees, at most 30 characters (`displayName`).
  public var displayName: String
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    description: String, displayName: String, unknownFields: [JSONMember] = []
  ) {
    self.description = description
    self.displayName = displayName
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceMigrationDescriptors: JSONObject {
  package enum Field: String, CaseIterable {
    case description, displayName
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it.
  package init() {
    self.init(description: "", displayName: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .description: try coder.code(&description)
    case .displayName: try coder.code(&displayName)
    }
  }
}

/// An item of a migrated subscription (Apple's AdvancedCommerceSubscriptionMigrateItem).
public struct AdvancedCommerceMigrationItem: Sendable, Hashable {
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The app's identifier of the item, at most 128 characters (`SKU`).
  public var SKU: String
  /// Description that the customer sees, at most 45 characters (`description`).
  public var description: String
  /// Name that the customer sees, at most 30 characters (`displayName`).
  public var displayName: String
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    SKU: String, description: String, displayName: String, unknownFields: [JSONMember] = []
  ) {
    self.SKU = SKU
    self.description = description
    self.displayName = displayName
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceMigrationItem: JSONObject {
  package enum Field: String, CaseIterable {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    case SKU
    case description, displayName
  }

  package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)

  /// Filled before anyone sees it.
  package init() {
    self.init(SKU: "", description: "", displayName: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .SKU: try coder.code(&SKU)
    case .description: try coder.code(&description)
    case .displayName: try coder.code(&displayName)
    }
  }
}

/// Moves an ordinary subscription to Advanced Commerce (Apple's AdvancedCommerceSubscriptionMigrateRequest).
public struct AdvancedCommerceMigrationRequest: Sendable, Hashable {
  /// Identifies the request (`requestInfo`).
  public var requestInfo: AdvancedCommerceRequestInfo
  /// The generic product (`targetProductId`).
  public var targetProductId: String
  /// Texts of the subscription (`descriptors`).
  public var descriptors: AdvancedCommerceMigrationDescriptors
  /// Its items (`items`).
  public var items: [AdvancedCommerceMigrationItem]
  /// Its items from the next renewal on (`renewalItems`).
  public var renewalItems: [AdvancedCommerceMigrationItem]?
  /// Apple's tax code of what is sold (`taxCode`).
  public var taxCode: String
  /// The storefront, three letters of ISO 3166-1 (`storefront`).
  public var storefront: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestInfo: AdvancedCommerceRequestInfo, targetProductId: String,
    descriptors: AdvancedCommerceMigrationDescriptors, items: [AdvancedCommerceMigrationItem],
    taxCode: String, renewalItems: [AdvancedCommerceMigrationItem]? = nil, storefront: String? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.requestInfo = requestInfo
    self.targetProductId = targetProductId
    self.descriptors = descriptors
    self.items = items
    self.renewalItems = renewalItems
    self.taxCode = taxCode
    self.storefront = storefront
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceMigrationRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case requestInfo, targetProductId, descriptors, items, renewalItems, taxCode, storefront
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [
    .requestInfo, .targetProductId, .descriptors, .items, .taxCode,
  ])

  /// Filled before anyone sees it.
  package init() {
    self.init(
      requestInfo: AdvancedCommerceRequestInfo(), targetProductId: "",
      descriptors: AdvancedCommerceMigrationDescriptors(), items: [], taxCode: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestInfo: try coder.code(&requestInfo)
    case .targetProductId: try coder.code(&targetProductId)
    case .descriptors: try coder.code(&descriptors)
    case .items: try coder.code(&items)
    case .renewalItems: try coder.code(&renewalItems)
    case .taxCode: try coder.code(&taxCode)
    case .storefront: try coder.code(&storefront)
    }
  }
}
