// SPDX-License-Identifier: Apache-2.0

public import ReceiptCrypto

/// Who signed a receipt, and how.
public struct SignerInformation: Sendable, Hashable {
  /// The leaf's subject (RFC 4514); for a key without certificates the app and store that it belongs to.
  public let subject: String
  /// SHA-256 of the leaf certificate, or of a key's SubjectPublicKeyInfo where there are no certificates; lower-case
  /// hexadecimal.
  public let sha256: String
  /// SHA-256 of the root certificate, lower-case hexadecimal. For self-signed testing data it is the pinned
  /// certificate itself; `nil` where there are no certificates.
  public let rootSHA256: String?
  /// How the receipt is signed.
  public let algorithm: ReceiptAlgorithm
  /// Whether SHA-1 was involved: in the receipt's signature, or in a certificate's below the root.
  public let involvesSHA1: Bool
  /// The path that was checked: leaf first, the trusted root last; the pinned certificate alone for self-signed
  /// testing data; empty where the policy names the key (``VerifiedReceipt/Assurance/appKey``).
  public let certificates: [Certificate]

  /// Whether leaf, root and algorithm are the same. Of intermediates a store may have several with one name and
  /// key; which of them the path went through says nothing about who signed.
  public static func == (left: SignerInformation, right: SignerInformation) -> Bool {
    left.sha256 == right.sha256 && left.rootSHA256 == right.rootSHA256 && left.algorithm == right.algorithm
      && left.involvesSHA1 == right.involvesSHA1
  }

  /// Hashes leaf and algorithm.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(sha256)
    hasher.combine(algorithm)
  }
}
