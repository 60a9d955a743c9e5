// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The signature of a promotional offer, version 1, and what it covers (Apple's PromotionalOfferSignatureV1).
public struct RealtimePromotionalOfferSignatureV1: Sendable, Hashable {
  /// The signature in base64 (`encodedSignature`).
  public var encodedSignature: String?
  /// The product (`productId`).
  public var productId: String?
  /// The nonce, in lower case (`nonce`).
  public var nonce: UUIDString?
  /// When it was signed, in milliseconds since 1970 (`timestamp`).
  public var timestamp: Int64?
  /// The key that signed (`keyId`).
  public var keyId: String?
  /// The offer (`offerIdentifier`).
  public var offerIdentifier: String?
  /// The account, where the signature covers one (`appAccountToken`).
  public var appAccountToken: UUIDString?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    encodedSignature: String? = nil, productId: String? = nil, nonce: UUIDString? = nil,
    timestamp: Int64? = nil, keyId: String? = nil, offerIdentifier: String? = nil,
    appAccountToken: UUIDString? = nil, unknownFields: [JSONMember] = []
  ) {
    self.encodedSignature = encodedSignature
    self.productId = productId
    self.nonce = nonce
    self.timestamp = timestamp
    self.keyId = keyId
    self.offerIdentifier = offerIdentifier
    self.appAccountToken = appAccountToken
    self.unknownFields = unknownFields
  }
}

extension RealtimePromotionalOfferSignatureV1: JSONObject {
  package enum Field: String, CaseIterable {
    case encodedSignature, productId, nonce, timestamp, keyId, offerIdentifier, appAccountToken
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .encodedSignature: try coder.code(&encodedSignature)
    case .productId: try coder.code(&productId)
    case .nonce: try coder.code(&nonce)
    case .timestamp: try coder.code(&timestamp)
    case .keyId: try coder.code(&keyId)
    case .offerIdentifier: try coder.code(&offerIdentifier)
    case .appAccountToken: try coder.code(&appAccountToken)
    }
  }
}

/// A promotional offer to suggest (Apple's PromotionalOffer), with one of the two signatures.
public struct RealtimePromotionalOffer: Sendable, Hashable {
  /// The message (`messageIdentifier`).
  public var messageIdentifier: UUIDString?
  /// The offer, signed as a JWS (`promotionalOfferSignatureV2`).
  public var promotionalOfferSignatureV2: String?
  /// The offer, signed in the older way (`promotionalOfferSignatureV1`).
  public var promotionalOfferSignatureV1: RealtimePromotionalOfferSignatureV1?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    messageIdentifier: UUIDString? = nil, promotionalOfferSignatureV2: String? = nil,
    promotionalOfferSignatureV1: RealtimePromotionalOfferSignatureV1? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.messageIdentifier = messageIdentifier
    self.promotionalOfferSignatureV2 = promotionalOfferSignatureV2
    self.promotionalOfferSignatureV1 = promotionalOfferSignatureV1
    self.unknownFields = unknownFields
  }
}

extension RealtimePromotionalOffer: JSONObject {
  package enum Field: String, CaseIterable {
    case messageIdentifier, promotionalOfferSignatureV2, promotionalOfferSignatureV1
  }

  package static let fieldNames = JSONFieldNames<Field>()

  package init() { self.init(unknownFields: []) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .messageIdentifier: try coder.code(&messageIdentifier)
    case .promotionalOfferSignatureV2: try coder.code(&promotionalOfferSignatureV2)
    case .promotionalOfferSignatureV1: try coder.code(&promotionalOfferSignatureV1)
    }
  }
}
