// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The key that signs promotional offers in StoreKit testing.
public struct StoreKitKeyPair: Sendable, Hashable {
  /// The key's identifier (`keyIdentifier` of an offer's signature).
  public var id: String
  /// The private key, PKCS#8 of P-256 in base64.
  public var privateKey: String
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(id: String, privateKey: String, unknownFields: [JSONMember] = []) {
    self.id = id
    self.privateKey = privateKey
    self.unknownFields = unknownFields
  }
}

extension StoreKitKeyPair: JSONObject {
  package enum Field: String, CaseIterable {
    case id
    case privateKey
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.id, .privateKey])

  package init() { self.init(id: "", privateKey: "") }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .id: try coder.code(&id)
    case .privateKey: try coder.code(&privateKey)
    }
  }
}
