// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// The signer of a receipt and the signature algorithm.
public struct SignerInformation: Sendable, Hashable {
  /// The leaf's subject (RFC 4514); for a key without certificates, the app and the store that it belongs to.
  public let subject: String
  /// The SHA-256 of the leaf certificate in lower-case hexadecimal.
  ///
  /// For a key without certificates, it is the SHA-256 of the key's SubjectPublicKeyInfo.
  public let sha256: String
  /// The SHA-256 of the root certificate in lower-case hexadecimal.
  ///
  /// For self-signed testing data it is that of the pinned certificate itself. It is `nil` if there are no
  /// certificates.
  public let rootSHA256: String?
  /// The signature algorithm of the receipt.
  public let algorithm: ReceiptAlgorithm
  /// `true` if the receipt's signature, or that of a certificate below the root, uses SHA-1.
  public let involvesSHA1: Bool
  /// The path that was checked, leaf first, trusted root last.
  ///
  /// For self-signed testing data, it is the pinned certificate alone. It is empty if the policy names the key
  /// (``VerifiedReceipt/Assurance/appKey``).
  public let certificates: [Certificate]

  /// Returns `true` if leaf, root and algorithm are the same.
  ///
  /// Intermediates are not compared: a store may have several with the same name and key, and the choice among them
  /// does not change the signer.
  public static func == (left: SignerInformation, right: SignerInformation) -> Bool {
    left.sha256 == right.sha256 && left.rootSHA256 == right.rootSHA256 && left.algorithm == right.algorithm
      && left.involvesSHA1 == right.involvesSHA1
  }

  /// Hashes the leaf's fingerprint and the algorithm.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(sha256)
    hasher.combine(algorithm)
  }
}
