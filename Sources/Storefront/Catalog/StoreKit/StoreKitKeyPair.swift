// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

/// The key that signs promotional offers in StoreKit testing.
struct StoreKitKeyPair: JSONObject, Sendable, Hashable {
  /// The key's identifier (`keyIdentifier` of an offer's signature).
  var id = ""
  /// The private key, PKCS#8 of P-256 in base64.
  var privateKey = ""
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case id, privateKey
  }

  static let fieldNames = JSONFieldNames<Field>(required: [.id, .privateKey])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .id: try coder.code(&id)
    case .privateKey: try coder.code(&privateKey)
    }
  }
}

extension StoreKitKeyPair {
  /// The key to sign promotional offers with; its public key checks them.
  ///
  /// - Throws: ``CatalogError`` where it is not a P-256 key in PKCS#8 and base64.
  func signingKey() throws(CatalogError) -> PrivateKey {
    let path = "$.subscriptionOffersKeyPair.privateKey"
    let key: PrivateKey
    do {
      key = try PrivateKey(der: try Base64.decode(Array(privateKey.utf8), allowingWhitespace: true))
    } catch {
      throw CatalogError(.invalidValue, at: path, "The key is not PKCS#8 in base64: \(error)")
    }
    guard key.publicKey.kind == .p256 else {
      throw CatalogError(.invalidValue, at: path, "Promotional offers are signed by a key on P-256.")
    }
    return key
  }
}

extension StoreKitKeyPair: CustomStringConvertible, CustomReflectable {
  /// The key's identifier; not the key.
  var description: String { "StoreKitKeyPair(\(id))" }

  /// The key's identifier alone.
  var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
