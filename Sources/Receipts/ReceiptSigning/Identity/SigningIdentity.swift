// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// An identity that signs: a private key with its certificate chain, or a key of an app, which has no certificates.
///
/// The key is never printed: descriptions, dumps and mirrors show subjects and fingerprints instead.
public struct SigningIdentity: Sendable {
  /// The private key, which belongs to the first certificate of ``chain``.
  public let privateKey: PrivateKey
  /// The certificates, leaf first; for Apple's receipts leaf, intermediate, root. Empty for the key of an app.
  public let chain: [Certificate]

  /// Creates an identity from a key and its chain.
  ///
  /// - Throws: ``SigningError`` with `empty-chain`, `key-mismatch` if the key does not belong to the leaf, or
  ///   `broken-chain` if a certificate was not issued and signed by the next one.
  public init(privateKey: PrivateKey, chain: [Certificate]) throws(SigningError) {
    guard let leaf = chain.first else {
      throw SigningError(
        .emptyChain, "The chain has no certificate. Give the leaf's certificate and those above it.")
    }
    guard leaf.publicKey == privateKey.publicKey else {
      throw SigningError(
        .keyMismatch,
        "The private key does not belong to \"\(leaf.subject)\", the first certificate of the chain. The "
          + "leaf comes first; check that key and chain are of one identity.")
    }
    for (index, (certificate, issuer)) in zip(chain, chain.dropFirst()).enumerated() {
      guard certificate.issuerDER == issuer.subjectDER, certificate.isSigned(by: issuer) else {
        throw SigningError(
          .brokenChain, at: "certificate \(index)",
          "\"\(certificate.subject)\" was not issued by the next certificate, \"\(issuer.subject)\". "
            + "The order is leaf, intermediate, root.")
      }
    }
    self.init(uncheckedKey: privateKey, chain: chain)
  }

  /// Creates an identity from a key without certificates, as Google Play and Huawei AppGallery use one for each app.
  public init(appKey privateKey: PrivateKey) { self.init(uncheckedKey: privateKey, chain: []) }

  /// Creates an unchecked identity, to produce receipts that verifiers must refuse.
  package init(uncheckedKey privateKey: PrivateKey, chain: [Certificate]) {
    self.privateKey = privateKey
    self.chain = chain
  }

  /// The signer's certificate; `nil` for the key of an app.
  package var leaf: Certificate? { chain.first }
}

extension SigningIdentity: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The leaf's subject and fingerprint; for the key of an app, the public key's fingerprint.
  public var description: String {
    guard let leaf else { return "SigningIdentity(key, sha256 \(privateKey.publicKey.sha256FingerprintHex))" }
    return "SigningIdentity(\(leaf.subject), sha256 \(leaf.sha256FingerprintHex))"
  }

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// The certificates without the key.
  public var customMirror: Mirror { Mirror(self, children: ["chain": chain.map(\.description)]) }
}
