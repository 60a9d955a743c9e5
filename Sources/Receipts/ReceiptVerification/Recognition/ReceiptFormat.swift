// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The formats of receipts. Each has an adapter that makes ``Evidence`` of its bytes.
enum ReceiptFormat: Int, CaseIterable, Sendable {
  /// RFC 7515: ``JWSEvidence``.
  case jws
  /// PKCS#7 (RFC 5652): ``AppReceiptEvidence``.
  case appReceipt
  /// The property list of `SKPaymentTransaction.transactionReceipt`: ``TransactionReceiptEvidence``.
  case transactionReceipt
  /// Data with its signature beside it: ``DetachedEvidence``.
  case detached

  /// How the format is called in diagnostics.
  var name: String {
    switch self {
    case .jws: "a JWS"
    case .appReceipt: "an app receipt"
    case .transactionReceipt: "a transaction receipt"
    case .detached: "data with a signature beside it"
    }
  }

  /// The place of the signature, and the words for what it covers, in reasons and diagnostics.
  var signatureTerms: (place: String, covers: String) {
    switch self {
    case .jws: ("JWS signature", "header and payload")
    case .appReceipt: ("signerInfo", "the content")
    case .transactionReceipt: ("key \"signature\"", "purchase-info")
    case .detached: ("$.signature", "the data")
    }
  }
}

/// What a format requires of the certificates that sign it.
struct SignerRequirements: Sendable {
  /// The signer's key.
  enum Key: Sendable {
    /// On P-256, as ES256 demands.
    case p256
    /// RSA of at least so many bits.
    case rsa(bits: Int)
  }

  /// How the path from the signer's certificate to a trusted root is found.
  enum Path: Sendable {
    /// The receipt embeds all of it in order: leaf, intermediate, root (RFC 7515 section 4.1.6).
    case embedded
    /// Issuers may stand anywhere among the embedded certificates and the verifier's intermediates.
    case searched
  }

  let key: Key
  let path: Path
  /// The marker extensions of other formats, which do not count here.
  let foreignMarkers: CertificateMarkers
  /// Whether the format was ever signed under certificates that are signed with SHA-1.
  let allowsSHA1Certificates: Bool

  /// What stores sign with that have a key per app.
  static let keyBits = 2048
  /// What authors of libraries have signed test data with.
  static let shortKeyBits = 1024

  /// ES256 was never used with SHA-1.
  static let jws = SignerRequirements(
    key: .p256, path: .embedded, foreignMarkers: .iTunesStore, allowsSHA1Certificates: false)
  static let appReceipt = SignerRequirements(
    key: .rsa(bits: 2048), path: .searched, foreignMarkers: .iTunesStore, allowsSHA1Certificates: true)
  /// Until 2016, with version 2 of the signature, the iTunes Store's certificates signed.
  static func transactionReceipt(signatureVersion: UInt8) -> SignerRequirements {
    signatureVersion == 2
      ? SignerRequirements(
        key: .rsa(bits: 1024), path: .searched, foreignMarkers: .appStore, allowsSHA1Certificates: true)
      : SignerRequirements(
        key: .rsa(bits: 2048), path: .searched, foreignMarkers: .iTunesStore, allowsSHA1Certificates: true)
  }
}

extension UnverifiedReceipt {
  /// The format that it came in.
  var format: ReceiptFormat {
    switch self {
    case .jws: .jws
    case .appReceipt: .appReceipt
    case .transactionReceipt: .transactionReceipt
    case .detached: .detached
    }
  }
}
