// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The status of a certificate according to its issuer, from an OCSP response or a revocation list.
package struct CertificateStatus: Sendable, Hashable {
  /// The revocation state of a certificate.
  package enum Standing: Sendable, Hashable {
    /// The certificate is not revoked.
    case good
    /// The certificate is revoked since a time, in seconds since 1970, with the reason if it is stated.
    case revoked(at: Int64, reason: CRLReason?)
    /// The responder does not know the certificate.
    case unknown
  }

  /// The revocation state of the certificate.
  package let standing: Standing
  /// The time at which the status was known to be correct, in seconds since 1970.
  package let thisUpdate: Int64
  /// The latest time at which newer information will be available, in seconds since 1970.
  ///
  /// `nil` if newer information is always available; the status must then not be stored.
  package let nextUpdate: Int64?

  /// Creates a status.
  package init(_ standing: Standing, thisUpdate: Int64, nextUpdate: Int64?) {
    self.standing = standing
    self.thisUpdate = thisUpdate
    self.nextUpdate = nextUpdate
  }
}

/// The reason for a revocation (RFC 5280 section 5.3.1). Values without a name are kept.
package struct CRLReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The number of the reason.
  package let rawValue: Int

  /// Creates a reason from its number.
  package init(rawValue: Int) { self.rawValue = rawValue }

  /// No reason was given.
  package static let unspecified = CRLReason(rawValue: 0)
  /// The private key was compromised.
  package static let keyCompromise = CRLReason(rawValue: 1)
  /// The private key of a certificate authority was compromised.
  package static let cACompromise = CRLReason(rawValue: 2)
  /// The names in the certificate are no longer correct.
  package static let affiliationChanged = CRLReason(rawValue: 3)
  /// Another certificate has replaced the certificate.
  package static let superseded = CRLReason(rawValue: 4)
  /// The certificate is no longer needed.
  package static let cessationOfOperation = CRLReason(rawValue: 5)
  /// The certificate is suspended.
  package static let certificateHold = CRLReason(rawValue: 6)
  /// The certificate is no longer suspended.
  package static let removeFromCRL = CRLReason(rawValue: 8)
  /// A privilege that the certificate states was withdrawn.
  package static let privilegeWithdrawn = CRLReason(rawValue: 9)
  /// The private key of an attribute authority was compromised.
  package static let aACompromise = CRLReason(rawValue: 10)

  /// `true` if the reason implies that the key was not compromised, so that signatures from before the revocation are
  /// valid.
  package var isBenign: Bool { [.affiliationChanged, .superseded, .cessationOfOperation].contains(self) }

  /// The name in RFC 5280, or the number if there is no name.
  package var description: String {
    switch self {
    case .unspecified: "unspecified"
    case .keyCompromise: "keyCompromise"
    case .cACompromise: "cACompromise"
    case .affiliationChanged: "affiliationChanged"
    case .superseded: "superseded"
    case .cessationOfOperation: "cessationOfOperation"
    case .certificateHold: "certificateHold"
    case .removeFromCRL: "removeFromCRL"
    case .privilegeWithdrawn: "privilegeWithdrawn"
    case .aACompromise: "aACompromise"
    default: "reason \(rawValue)"
    }
  }
}

/// The algorithms with which revocation statements may be signed, as dotted object identifiers.
enum RevocationSignature {
  /// Returns `true` if an OCSP response may be signed with the algorithm.
  ///
  /// SHA-1 is rejected: a responder signs the nonces of strangers, who could prepare two responses with the same SHA-1
  /// digest.
  static func acceptsInResponse(oid: String) -> Bool { Certificate.sha2SignatureOIDs.contains(oid) }

  /// Returns `true` if a revocation list may be signed with the algorithm.
  ///
  /// SHA-1 is accepted, because a list contains no data that a stranger chose. Apple's first root, from 2006, signs
  /// with it.
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
