// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptCrypto

/// The instant at which the certificates of a receipt must be valid.
public enum TimeRule: Sendable, Hashable {
  /// When the receipt was signed, so that old receipts stay valid after their certificates expire.
  ///
  /// The signing time is part of the signed data, so the holder of a stolen, expired key could backdate a receipt. If
  /// that matters, also set ``VerificationPolicy/maximumAge``.
  case atSigning
  /// At a given instant, for audits; a receipt signed after it is refused.
  case at(Timestamp)
  /// Now, by the verifier's clock.
  case now
}

/// The system's clock, which a verifier uses by default.
public enum SystemClock {
  /// The current time, in whole milliseconds.
  public static func now() -> Timestamp { Timestamp.now() }
}

extension ReceiptAlgorithm {
  /// The primitive, with its digest and padding.
  var signatureAlgorithm: SignatureAlgorithm {
    switch self {
    case .es256: .ecdsaP256SHA256
    case .rsaSHA256: .rsaPKCS1v15(.sha256)
    case .rsaSHA1: .rsaPKCS1v15(.sha1)
    case .rsaPSSSHA256: .rsaPSS(.sha256)
    }
  }

  /// Creates the algorithm of a detached signature.
  init(_ algorithm: DetachedAlgorithm) {
    self =
      switch algorithm {
      case .sha1WithRSA: .rsaSHA1
      case .sha256WithRSA: .rsaSHA256
      case .sha256WithRSAPSS: .rsaPSSSHA256
      }
  }
}

/// The treatment of data that Xcode or a unit test signed with its own certificate.
///
/// Any Xcode user can create such data, so it proves no purchase. It is refused unless a policy admits it by name, and
/// then only if a pinned certificate signed it. ``VerifiedReceipt/assurance`` states that a receipt was admitted this
/// way.
public enum SelfSignedTesting: Sendable, Hashable {
  /// Refused: the default.
  case refused
  /// Admitted if one of these self-signed certificates signed it, and only for receipts whose environment is Xcode or
  /// LocalTesting.
  ///
  /// The certificates are given by SHA-256 fingerprints of 32 bytes each.
  case pinned(Set<[UInt8]>)

  /// Admits data that these certificates signed, and the app receipts that every Xcode signs.
  public static func pinned(certificates: [Certificate]) -> SelfSignedTesting {
    .pinned(Set(certificates.map(\.sha256Fingerprint)).union([storeKitTestCertificate]))
  }

  /// The SHA-256 fingerprint of the certificate that signs app receipts under StoreKit testing, the same in every
  /// Xcode. Its subject is "StoreKit", and it is valid from 2020 to 2040. Xcode signs its JWS with another certificate,
  /// which each machine creates.
  package static let storeKitTestCertificate: [UInt8] =
    Hexadecimal.decode("ff0ba36e721d2db741d2aa11e6112ef78bf7131b46c7f035b00891d045c864fe") ?? []

  /// The sentences that say how to admit such data.
  static let remedy =
    "Xcode and unit tests sign with a certificate of their own, which proves no purchase. To admit it, pin that certificate "
    + "(setting: selfSignedTesting; receipt-tool: --admit-xcode --trust FILE; receipt-server: xcodeCertificates)."

  func admits(_ certificate: Certificate) -> Bool {
    switch self {
    case .refused: false
    case .pinned(let fingerprints): fingerprints.contains(certificate.sha256Fingerprint)
    }
  }
}
