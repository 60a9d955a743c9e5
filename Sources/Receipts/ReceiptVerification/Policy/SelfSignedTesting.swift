// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCrypto

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

  func admits(_ certificate: Certificate) -> Bool {
    switch self {
    case .refused: false
    case .pinned(let fingerprints): fingerprints.contains(certificate.sha256Fingerprint)
    }
  }
}
