// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
package import ReceiptCrypto

/// Signs transaction receipts, the property lists of iOS 6 and before.
///
/// The RSA signature covers the version byte and the inner property list. Only the leaf is embedded, so a verifier
/// needs the intermediate from elsewhere.
public struct TransactionReceiptSigner: Sendable {
  /// The signature version of a transaction receipt; version 2, RSA of 1024 bits, is read but no longer written.
  public enum SignatureVersion: UInt8, Sendable, Hashable, CaseIterable {
    /// RSA of 2048 bits with SHA-1.
    case three = 3
    /// RSA of 2048 bits with SHA-256.
    case four = 4

    package var digest: DigestAlgorithm { self == .three ? .sha1 : .sha256 }
  }

  package let identity: SigningIdentity

  /// Creates a signer.
  ///
  /// - Throws: ``SigningError`` with `unsuitable-key` unless the key is RSA of exactly 2048 bits, or `empty-chain`.
  public init(identity: SigningIdentity) throws(SigningError) {
    guard identity.privateKey.publicKey.kind == .rsa(bits: 2048) else {
      throw SigningError(
        .unsuitableKey,
        "A transaction receipt is signed with RSA of exactly 2048 bits, and this identity's key is of the "
          + "kind \(identity.privateKey.publicKey.kind). Create one with: receipt-tool identity create "
          + "--algorithm rsa2048")
    }
    guard identity.leaf != nil else {
      throw SigningError(.emptyChain, "The identity has no certificate.")
    }
    self.identity = identity
  }

  /// Signs a receipt.
  ///
  /// - Parameters:
  ///   - purchaseInfo: The content.
  ///   - version: The signature version.
  ///   - environment: The environment, which the signature does not cover; written only if it is not production.
  ///   - pod: The server group, which the signature does not cover either.
  /// - Returns: The text of the property list. Devices deliver it in base64.
  /// - Throws: ``SigningError`` with `crypto-failure`.
  public func sign(
    _ purchaseInfo: TransactionReceiptPurchaseInfo, version: SignatureVersion = .four,
    environment: ReceiptEnvironment = .production, pod: String = "100"
  ) throws(SigningError) -> [UInt8] {
    let text = purchaseInfo.encoded()
    let leaf = identity.leaf?.der ?? []
    let signature = try identity.privateKey.sign(
      TransactionReceiptWriter.signedBytes(signatureVersion: version.rawValue, purchaseInfo: text),
      using: .rsaPKCS1v15(version.digest))
    do throws(MalformedReceipt) {
      return try TransactionReceiptWriter.encode(
        signatureVersion: version.rawValue, signature: signature, leafCertificate: leaf, purchaseInfo: text,
        environment: environment, pod: pod)
    } catch {
      throw SigningError(.cryptoFailure, error.description)
    }
  }
}
