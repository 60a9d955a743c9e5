// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto

/// How a receipt is signed.
public enum ReceiptAlgorithm: String, Sendable, Hashable, CaseIterable {
  /// ECDSA on P-256 with SHA-256, r‖s (RFC 7518 section 3.4): every JWS.
  case es256 = "ES256"
  /// RSA PKCS#1 v1.5 with SHA-256: app receipts since 2023, transaction receipts of version 4.
  case rsaSHA256 = "RSA-SHA256"
  /// RSA PKCS#1 v1.5 with SHA-1: older app receipts, transaction receipts of versions 2 and 3.
  case rsaSHA1 = "RSA-SHA1"
}

extension ReceiptAlgorithm {
  /// The primitive, its digest and its encoding.
  var signatureAlgorithm: SignatureAlgorithm {
    switch self {
    case .es256: .ecdsaP256SHA256
    case .rsaSHA256: .rsaPKCS1v15(.sha256)
    case .rsaSHA1: .rsaPKCS1v15(.sha1)
    }
  }
}
