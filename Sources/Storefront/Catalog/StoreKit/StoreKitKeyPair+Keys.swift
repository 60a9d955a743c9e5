// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
public import ReceiptCrypto

extension StoreKitKeyPair {
  /// The key to sign promotional offers with; its public key checks them.
  ///
  /// - Throws: ``CatalogError`` where it is not a P-256 key in PKCS#8 and base64.
  public func signingKey() throws(CatalogError) -> PrivateKey {
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
  public var description: String { "StoreKitKeyPair(\(id))" }

  /// The key's identifier alone.
  public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
