// SPDX-License-Identifier: Apache-2.0

/// How a signature is made and encoded.
public enum SignatureAlgorithm: Sendable, Hashable {
  /// ECDSA over P-256 and SHA-256, encoded as the 64 bytes r ‖ s: `ES256` of RFC 7518 section 3.4.
  case ecdsaP256SHA256
  /// ECDSA over the key's own curve (P-256, P-384 or P-521), encoded as the DER `Ecdsa-Sig-Value` of RFC 3279
  /// section 2.2.3.
  case ecdsa(DigestAlgorithm)
  /// RSASSA-PKCS1-v1_5 of RFC 8017 section 8.2.
  case rsaPKCS1v15(DigestAlgorithm)

  /// The digest of the message that is signed.
  public var digestAlgorithm: DigestAlgorithm {
    switch self {
    case .ecdsaP256SHA256: .sha256
    case .ecdsa(let digest), .rsaPKCS1v15(let digest): digest
    }
  }
}
