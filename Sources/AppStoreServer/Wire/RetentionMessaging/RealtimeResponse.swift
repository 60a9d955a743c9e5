// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A message to show (Apple's Message).
public struct RealtimeMessage: Sendable, Hashable {
  /// The message (`messageIdentifier`).
  public var messageIdentifier: UUIDString?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    messageIdentifier: UUIDString? = nil, unknownFields: [JSONMember] = []
  ) {
    self.messageIdentifier = messageIdentifier
    self.unknownFields = unknownFields
  }
}

extension RealtimeMessage: JSONObject {
  package enum Field: String, CaseIterable {
    case messageIdentifier
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .messageIdentifier: try coder.code(&messageIdentifier)
    }
  }
}

/// Another product to suggest (Apple's AlternateProduct).
public struct RealtimeAlternateProduct: Sendable, Hashable {
  /// The message (`messageIdentifier`).
  public var messageIdentifier: UUIDString?
  /// The product, of the same group (`productId`).
  public var productId: String?
  /// How it is billed (`billingPlanType`).
  public var billingPlanType: BillingPlanType?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    messageIdentifier: UUIDString? = nil, productId: String? = nil, billingPlanType: BillingPlanType? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.messageIdentifier = messageIdentifier
    self.productId = productId
    self.billingPlanType = billingPlanType
    self.unknownFields = unknownFields
  }
}

extension RealtimeAlternateProduct: JSONObject {
  package enum Field: String, CaseIterable {
    case messageIdentifier, productId, billingPlanType
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .messageIdentifier: try coder.code(&messageIdentifier)
    case .productId: try coder.code(&productId)
    case .billingPlanType: try coder.code(&billingPlanType)
    }
  }
}

/// An Advanced Commerce offer to suggest (Apple's AdvancedCommerceInfo).
public struct RealtimeAdvancedCommerceInfo: Sendable, Hashable {
  /// The message (`messageIdentifier`).
  public var messageIdentifier: UUIDString?
  /// A signed Advanced Commerce request (`advancedCommerceData`).
  public var advancedCommerceData: String?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    messageIdentifier: UUIDString? = nil, advancedCommerceData: String? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.messageIdentifier = messageIdentifier
    self.advancedCommerceData = advancedCommerceData
    self.unknownFields = unknownFields
  }
}

extension RealtimeAdvancedCommerceInfo: JSONObject {
  package enum Field: String, CaseIterable {
    case messageIdentifier, advancedCommerceData
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .messageIdentifier: try coder.code(&messageIdentifier)
    case .advancedCommerceData: try coder.code(&advancedCommerceData)
    }
  }
}

/// The answer to a ``/ReceiptCodec/RealtimeRequest`` (Apple's RealtimeResponseBody): one of its fields, or
/// none for the default message.
public struct RealtimeResponse: Sendable, Hashable {
  /// A message (`message`).
  public var message: RealtimeMessage?
  /// Another product (`alternateProduct`).
  public var alternateProduct: RealtimeAlternateProduct?
  /// A promotional offer (`promotionalOffer`).
  public var promotionalOffer: RealtimePromotionalOffer?
  /// An Advanced Commerce offer (`advancedCommerceInfo`).
  public var advancedCommerceInfo: RealtimeAdvancedCommerceInfo?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    message: RealtimeMessage? = nil, alternateProduct: RealtimeAlternateProduct? = nil,
    promotionalOffer: RealtimePromotionalOffer? = nil,
    advancedCommerceInfo: RealtimeAdvancedCommerceInfo? = nil, unknownFields: [JSONMember] = []
  ) {
    self.message = message
    self.alternateProduct = alternateProduct
    self.promotionalOffer = promotionalOffer
    self.advancedCommerceInfo = advancedCommerceInfo
    self.unknownFields = unknownFields
  }

  /// The object as compact JSON: fields in the order of Apple's documentation, unknown ones last.
  public func encoded() -> [UInt8] { encodedJSON() }
}

extension RealtimeResponse: JSONObject {
  package enum Field: String, CaseIterable {
    case message, alternateProduct, promotionalOffer, advancedCommerceInfo
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .message: try coder.code(&message)
    case .alternateProduct: try coder.code(&alternateProduct)
    case .promotionalOffer: try coder.code(&promotionalOffer)
    case .advancedCommerceInfo: try coder.code(&advancedCommerceInfo)
    }
  }
}
