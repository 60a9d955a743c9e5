// SPDX-License-Identifier: Apache-2.0

internal import AppStoreEmulator
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import Synchronization

/// Signs purchases with the app's key, as the app receives them from Google Play: `INAPP_PURCHASE_DATA` and its
/// signature, RSA PKCS#1 v1.5 with SHA-1.
final class PurchaseSigner: Sendable {
  private let cached = Mutex<(pem: String, key: PrivateKey)?>(nil)

  /// Generates a key for an app: PKCS#8 in PEM.
  static func newKey() throws(CryptoError) -> String { try PrivateKey.generateRSA(bits: 2048).pkcs8PEM() }

  private func key(_ pem: String) throws(CryptoError) -> PrivateKey {
    if let known = cached.withLock({ $0 }), known.pem == pem { return known.key }
    let key = try PrivateKey(pem: pem)
    cached.withLock { $0 = (pem, key) }
    return key
  }

  /// The public key in base64, as the console shows it.
  func publicKey(pem: String) throws(CryptoError) -> String {
    Base64.encodeToString(try key(pem).publicKey.subjectPublicKeyInfo)
  }

  /// The members `purchaseData`, `signature` and `publicKey`.
  func sign(_ view: PlayView, packageName: String, pem: String) throws(CryptoError) -> JSONMembers {
    let data = Self.data(view, packageName: packageName).encoded()
    let signature = try key(pem).signature(for: data, using: .rsaPKCS1v15(.sha1))
    return [
      "purchaseData": String(decoding: data, as: UTF8.self), "signature": Base64.encodeToString(signature),
      "publicKey": try publicKey(pem: pem),
    ]
  }

  private static func data(_ view: PlayView, packageName: String) -> JSONMembers {
    let purchase = view.purchase
    let isPending = purchase.state == .pending
    return [
      "orderId": isPending ? nil : purchase.orders.last?.orderId, "packageName": packageName,
      "productId": purchase.productId, "purchaseTime": purchase.purchaseDate,
      "purchaseState": isPending ? 4 : view.isRevoked ? 1 : 0, "purchaseToken": purchase.token,
      "obfuscatedAccountId": purchase.obfuscatedAccountId,
      "obfuscatedProfileId": purchase.obfuscatedProfileId, "quantity": purchase.quantity,
      "autoRenewing": purchase.isSubscription ? view.autoRenews : nil,
      "acknowledged": purchase.isAcknowledged, "developerPayload": purchase.developerPayload,
    ]
  }
}
