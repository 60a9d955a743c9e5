// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The formats of receipts, each with an extension of ``SignedMessage`` that recognizes it.
enum ReceiptFormat: Int, CaseIterable, Sendable {
  /// RFC 7515.
  case jws
  /// PKCS#7 (RFC 5652).
  case appReceipt
  /// The property list of `SKPaymentTransaction.transactionReceipt`.
  case transactionReceipt
  /// Data with a detached signature.
  case detached

  /// The name of the format, the place of the signature, and the words for the content that it covers, in reasons and
  /// diagnostics.
  var terms: (name: String, place: String, covers: String) {
    switch self {
    case .jws: ("a JWS", "JWS signature", "header and payload")
    case .appReceipt: ("an app receipt", "signerInfo", "the content")
    case .transactionReceipt: ("a transaction receipt", "key \"signature\"", "purchase-info")
    case .detached: ("data with a signature beside it", "$.signature", "the data")
    }
  }
}

extension CertificateRequirements {
  enum Key: Sendable {
    /// A key on P-256, as ES256 requires.
    case p256
    /// An RSA key of at least this many bits.
    case rsa(bits: Int)
  }

  /// The minimum key length of stores that have a key per app.
  static let keyBits = 2048
  /// The minimum key length if the policy admits short keys, with which authors of libraries signed test data.
  static let shortKeyBits = 1024

  /// The requirements for a JWS; ES256 was never used with SHA-1.
  static let jws = CertificateRequirements(
    key: .p256, path: .embedded, foreignMarkers: .iTunesStore, allowsSHA1Certificates: false)
  static let appReceipt = CertificateRequirements(
    key: .rsa(bits: 2048), path: .searched, foreignMarkers: .iTunesStore, allowsSHA1Certificates: true)
  /// Returns the requirements for a transaction receipt; the iTunes Store's certificates signed version 2, until 2016.
  static func transactionReceipt(signatureVersion: UInt8) -> CertificateRequirements {
    signatureVersion == 2
      ? CertificateRequirements(
        key: .rsa(bits: 1024), path: .searched, foreignMarkers: .appStore, allowsSHA1Certificates: true)
      : CertificateRequirements(
        key: .rsa(bits: 2048), path: .searched, foreignMarkers: .iTunesStore, allowsSHA1Certificates: true)
  }
}

extension UnverifiedReceipt {
  var format: ReceiptFormat {
    switch self {
    case .jws: .jws
    case .appReceipt: .appReceipt
    case .transactionReceipt: .transactionReceipt
    case .detached: .detached
    }
  }
}
