// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCrypto

/// What to make of data that Xcode or a unit test signed with a certificate of its own.
///
/// Any Xcode user can mint such data: it proves nothing about a purchase. It is refused unless a policy
/// admits it by name, and then only under certificates that are pinned; a verdict says that it was admitted
/// so (``VerifiedReceipt/assurance``).
public enum SelfSignedTesting: Sendable, Hashable {
  /// Refused: the default.
  case refused
  /// Admitted when signed by one of these self-signed certificates, and only for receipts whose environment
  /// says Xcode or LocalTesting. SHA-256 fingerprints, 32 bytes each.
  case pinned(Set<[UInt8]>)

  /// Admits what these certificates signed, besides Xcode's own app receipts.
  public static func pinned(certificates: [Certificate]) -> SelfSignedTesting {
    .pinned(Set(certificates.map(\.sha256Fingerprint)).union([storeKitTestCertificate]))
  }

  /// SHA-256 of the certificate, the same in every Xcode, that signs app receipts under StoreKit testing (subject
  /// "StoreKit", 2020 to 2040). Xcode's JWS are signed by another one, which each machine creates.
  public static let storeKitTestCertificate: [UInt8] =
    Hexadecimal.decode("ff0ba36e721d2db741d2aa11e6112ef78bf7131b46c7f035b00891d045c864fe") ?? []

  func admits(_ certificate: Certificate) -> Bool {
    switch self {
    case .refused: false
    case .pinned(let fingerprints): fingerprints.contains(certificate.sha256Fingerprint)
    }
  }
}
