// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension CertificateStatus {
  package enum Standing: Sendable, Hashable {
    /// The certificate is not revoked.
    case good
    /// The certificate is revoked since a time, in seconds since 1970, with the reason if it is stated.
    case revoked(at: Int64, reason: CRLReason?)
    /// The responder does not know the certificate.
    case unknown
  }
}

/// The reason for a revocation (RFC 5280 section 5.3.1). Values without a name are kept.
public struct CRLReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The number of the reason.
  public let rawValue: Int

  /// Creates a reason from its number.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Creates a reason from its name in RFC 5280, such as `keyCompromise`; `nil` for any other text.
  public init?(name: String) {
    guard let index = Self.names.firstIndex(of: name) else { return nil }
    rawValue = index
  }

  /// No reason is given.
  public static let unspecified = CRLReason(rawValue: 0)
  /// The private key is known to others, or may be.
  public static let keyCompromise = CRLReason(rawValue: 1)
  /// The private key of an authority is known to others, or may be.
  public static let cACompromise = CRLReason(rawValue: 2)
  /// The subject's name or other information has changed.
  public static let affiliationChanged = CRLReason(rawValue: 3)
  /// Another certificate replaces this one.
  public static let superseded = CRLReason(rawValue: 4)
  /// The certificate is no longer needed.
  public static let cessationOfOperation = CRLReason(rawValue: 5)
  /// The certificate is revoked for a time.
  public static let certificateHold = CRLReason(rawValue: 6)
  /// The subject may no longer do what the certificate says.
  public static let privilegeWithdrawn = CRLReason(rawValue: 9)

  /// `true` if the reason implies that the key was not compromised, so that signatures from before the revocation are
  /// valid.
  package var isBenign: Bool { [.affiliationChanged, .superseded, .cessationOfOperation].contains(self) }

  /// The name in RFC 5280, or the number if there is no name.
  public var description: String {
    Self.names.indices.contains(rawValue) ? Self.names[rawValue] : "reason \(rawValue)"
  }

  /// The names by value; 7 is not used.
  private static let names = [
    "unspecified", "keyCompromise", "cACompromise", "affiliationChanged", "superseded",
    "cessationOfOperation", "certificateHold", "reason 7", "removeFromCRL", "privilegeWithdrawn",
    "aACompromise",
  ]
}

/// The algorithms with which revocation statements may be signed, as dotted object identifiers.
enum RevocationSignature {
  /// Returns `true` if an OCSP response may be signed with the algorithm. SHA-1 is rejected: a responder signs the
  /// nonces of strangers, who could prepare two responses with the same SHA-1 digest.
  static func acceptsInResponse(oid: String) -> Bool { Certificate.sha2SignatureOIDs.contains(oid) }

  /// Returns `true` if a revocation list may be signed with the algorithm. SHA-1 is accepted, because a list contains
  /// no data that a stranger chose. Apple's first root, from 2006, signs with it.
  static func acceptsInList(oid: String) -> Bool {
    Certificate.sha2SignatureOIDs.contains(oid) || oid == ObjectIdentifiers.sha1WithRSAEncryption
  }
}

extension OCSPError {
  /// Indicates whether the request can be repeated later.
  package var isRetryable: Bool { code == .tryLater || code == .internalError }

  static let outOfMemory = OCSPError(.internalFailure, "OpenSSL has no memory.")
}

extension RevocationListError {
  static let outOfMemory = RevocationListError(.internalFailure, "OpenSSL has no memory.")
}
