// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCrypto

/// The roots that a verifier accepts.
///
/// A root is trusted by its whole certificate or by the SHA-256 of that certificate, never by name or key. If a receipt
/// embeds another certificate with a trusted root's name and key, the path ends at the trusted one. If only the
/// fingerprint is known, the certificate itself may come with the receipt. It is a candidate until its fingerprint
/// matches, and every signature of the path is still verified.
public struct TrustAnchors: Sendable, Hashable {
  // A short array with linear search: a set of byte arrays makes the first receipt of a process slower.
  /// The SHA-256 fingerprints of the roots, 32 bytes each, in ascending order.
  public private(set) var fingerprints: [[UInt8]]
  /// The roots whose certificates are available; their fingerprints are also in ``fingerprints``.
  public private(set) var certificates: [Certificate]

  /// Trusts the given roots, in any order and number.
  public init(certificates: [Certificate] = [], fingerprints: [[UInt8]] = []) {
    self.certificates = certificates
    self.fingerprints = []
    for fingerprint in fingerprints { insert(fingerprint) }
    for certificate in certificates { insert(certificate.sha256Fingerprint) }
  }

  private mutating func insert(_ fingerprint: [UInt8]) {
    guard !fingerprints.contains(fingerprint) else { return }
    let place = fingerprints.firstIndex { fingerprint.lexicographicallyPrecedes($0) }
    fingerprints.insert(fingerprint, at: place ?? fingerprints.endIndex)
  }

  /// Apple's three published roots, by fingerprint: Apple Root CA, Apple Root CA - G2 and Apple Root CA - G3.
  public static let apple: TrustAnchors = {
    // The other roots need no copy: the receipts that use them embed them. A transaction receipt embeds only its leaf.
    let rootCA = (try? Certificate.certificates(in: Array(AppleCertificates.rootCA.utf8))) ?? []
    let pinned = appleFingerprints.compactMap { Hexadecimal.decode($0) }
    return TrustAnchors(
      certificates: rootCA.filter { pinned.contains($0.sha256Fingerprint) }, fingerprints: pinned)
  }()

  /// The intermediates that issued the signers of Apple's transaction receipts, which embed only their leaf.
  ///
  /// They are published at www.apple.com/certificateauthority. They are not trusted: a path through one is valid only
  /// if Apple's pinned root signed it.
  public static let appleIntermediates: [Certificate] = [
    AppleCertificates.iTunesStore, AppleCertificates.worldwideDeveloperRelations2008,
    AppleCertificates.worldwideDeveloperRelations2013, AppleCertificates.worldwideDeveloperRelationsG5,
  ].flatMap { (try? Certificate.certificates(in: Array($0.utf8))) ?? [] }

  /// The SHA-256 fingerprints of Apple's published roots in lower-case hexadecimal.
  static let appleFingerprints = [
    "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024",
    "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050",
    "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179",
  ]

  /// Returns the roots of both.
  package func union(_ other: TrustAnchors) -> TrustAnchors {
    TrustAnchors(
      certificates: certificates + other.certificates.filter { !certificates.contains($0) },
      fingerprints: fingerprints + other.fingerprints)
  }

  /// Returns `true` if exactly this certificate is a trusted root.
  package func contains(_ certificate: Certificate) -> Bool {
    fingerprints.contains(certificate.sha256Fingerprint)
  }
}

extension CertificateMarkers {
  /// App Store receipt signing (leaf) under Apple Worldwide Developer Relations (intermediate): signed JWS,
  /// app receipts, and transaction receipts since version 3.
  public static let appStore = CertificateMarkers(
    leaf: ObjectIdentifiers.appStoreReceiptSigning,
    intermediate: ObjectIdentifiers.worldwideDeveloperRelations)

  /// The certificates of transaction receipts of version 2 (before 2016).
  public static let iTunesStore = CertificateMarkers(
    leaf: ObjectIdentifiers.iTunesStoreReceiptSigning, intermediate: ObjectIdentifiers.iTunesStoreIntermediate
  )
}
