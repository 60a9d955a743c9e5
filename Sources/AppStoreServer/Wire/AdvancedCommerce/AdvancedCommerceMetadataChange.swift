// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// When a change takes effect (`effective`).
public struct AdvancedCommerceEffective: RawRepresentable, Sendable, Hashable {
  /// The spelling on the wire.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `IMMEDIATELY`: at once.
  public static let immediately = AdvancedCommerceEffective(rawValue: "IMMEDIATELY")
  /// `NEXT_BILL_CYCLE`: at the next renewal.
  public static let nextBillCycle = AdvancedCommerceEffective(rawValue: "NEXT_BILL_CYCLE")
}

extension AdvancedCommerceEffective: JSONEnumeration {}

/// New texts of a subscription (Apple's AdvancedCommerceSubscriptionChangeMetadataDescriptors).
public struct AdvancedCommerceMetadataChangeDescriptors: Sendable, Hashable {
  /// When it takes effect (`effective`).
  public var effective: AdvancedCommerceEffective?
  /// Description that the customer sees, at most 45 characters (`description`).
  public var description: String?
  /// Name that the customer sees, at most 30 characters (`displayName`).
  public var displayName: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    effective: AdvancedCommerceEffective? = nil, description: String? = nil, displayName: String? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.effective = effective
    self.description = description
    self.displayName = displayName
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceMetadataChangeDescriptors: JSONObject {
  package enum Field: String, CaseIterable {
    case effective, description, displayName
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .effective: try coder.code(&effective)
    case .description: try coder.code(&description)
    case .displayName: try coder.code(&displayName)
    }
  }
}

/// New texts of an item (Apple's AdvancedCommerceSubscriptionChangeMetadataItem).
public struct AdvancedCommerceMetadataChangeItem: Sendable, Hashable {
  /// The identifier that the item has now, at most 128 characters (`currentSKU`).
  public var currentSKU: String
  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// Its new identifier, at most 128 characters (`SKU`).
  public var SKU: String?
  /// Name that the customer sees, at most 30 characters (`displayName`).
  public var displayName: String?
  /// Description that the customer sees, at most 45 characters (`description`).
  public var description: String?
  /// When it takes effect (`effective`).
  public var effective: AdvancedCommerceEffective?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    currentSKU: String, SKU: String? = nil, displayName: String? = nil, description: String? = nil,
    effective: AdvancedCommerceEffective? = nil, unknownFields: [JSONMember] = []
  ) {
    self.currentSKU = currentSKU
    self.SKU = SKU
    self.displayName = displayName
    self.description = description
    self.effective = effective
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceMetadataChangeItem: JSONObject {
  package enum Field: String, CaseIterable {
    case currentSKU
    // swift-format-ignore: AlwaysUseLowerCamelCase
    case SKU
    case displayName, description, effective
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.currentSKU])

  /// Filled before anyone sees it.
  package init() {
    self.init(currentSKU: "")
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .currentSKU: try coder.code(&currentSKU)
    case .SKU: try coder.code(&SKU)
    case .displayName: try coder.code(&displayName)
    case .description: try coder.code(&description)
    case .effective: try coder.code(&effective)
    }
  }
}

/// Changes texts of a subscription and its items (Apple's AdvancedCommerceSubscriptionChangeMetadataRequest).
public struct AdvancedCommerceMetadataChangeRequest: Sendable, Hashable {
  /// Identifies the request (`requestInfo`).
  public var requestInfo: AdvancedCommerceRequestInfo
  /// Texts of the subscription (`descriptors`).
  public var descriptors: AdvancedCommerceMetadataChangeDescriptors?
  /// Texts of items (`items`).
  public var items: [AdvancedCommerceMetadataChangeItem]?
  /// Apple's tax code of what is sold (`taxCode`).
  public var taxCode: String?
  /// The storefront, three letters of ISO 3166-1 (`storefront`).
  public var storefront: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    requestInfo: AdvancedCommerceRequestInfo, descriptors: AdvancedCommerceMetadataChangeDescriptors? = nil,
    items: [AdvancedCommerceMetadataChangeItem]? = nil, taxCode: String? = nil, storefront: String? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.requestInfo = requestInfo
    self.descriptors = descriptors
    self.items = items
    self.taxCode = taxCode
    self.storefront = storefront
    self.unknownFields = unknownFields
  }
}

extension AdvancedCommerceMetadataChangeRequest: JSONObject {
  package enum Field: String, CaseIterable {
    case requestInfo, descriptors, items, taxCode, storefront
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.requestInfo])

  /// Filled before anyone sees it.
  package init() {
    self.init(requestInfo: AdvancedCommerceRequestInfo())
  }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .requestInfo: try coder.code(&requestInfo)
    case .descriptors: try coder.code(&descriptors)
    case .items: try coder.code(&items)
    case .taxCode: try coder.code(&taxCode)
    case .storefront: try coder.code(&storefront)
    }
  }
}
