// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The status of a certificate according to its issuer, by OCSP or by a revocation list.
public struct CertificateStatus: Sendable, Hashable {
  /// Indicates whether the certificate stands.
  public enum Standing: Sendable, Hashable {
    /// It is not revoked.
    case good
    /// It is revoked since an instant, in seconds since 1970, for a reason where one is stated.
    case revoked(at: Int64, reason: CRLReason?)
    /// The responder does not know the certificate.
    case unknown
  }

  /// Indicates whether the certificate stands.
  public let standing: Standing
  /// When this was known to be right, in seconds since 1970.
  public let thisUpdate: Int64
  /// When newer information will be there at the latest, in seconds since 1970. `nil` if it always is:
  /// then the status must not be kept.
  public let nextUpdate: Int64?

  /// Creates a status.
  public init(_ standing: Standing, thisUpdate: Int64, nextUpdate: Int64?) {
    self.standing = standing
    self.thisUpdate = thisUpdate
    self.nextUpdate = nextUpdate
  }
}

/// Why a certificate was revoked (RFC 5280 section 5.3.1). Other values are kept as they are.
public struct CRLReason: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
  /// The number of the reason.
  public let rawValue: Int

  /// Any reason by its number.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// No reason is given.
  public static let unspecified = CRLReason(rawValue: 0)
  /// The private key is in other hands.
  public static let keyCompromise = CRLReason(rawValue: 1)
  /// The private key of an authority is in other hands.
  public static let cACompromise = CRLReason(rawValue: 2)
  /// Names in the certificate are no longer right.
  public static let affiliationChanged = CRLReason(rawValue: 3)
  /// Another certificate took its place.
  public static let superseded = CRLReason(rawValue: 4)
  /// It is no longer needed.
  public static let cessationOfOperation = CRLReason(rawValue: 5)
  /// It is suspended.
  public static let certificateHold = CRLReason(rawValue: 6)
  /// It is no longer suspended.
  public static let removeFromCRL = CRLReason(rawValue: 8)
  /// A right that it certifies was withdrawn.
  public static let privilegeWithdrawn = CRLReason(rawValue: 9)
  /// The private key of an attribute authority is in other hands.
  public static let aACompromise = CRLReason(rawValue: 10)

  /// Indicates whether the key was in nobody else's hands: what was signed before the revocation was signed rightly.
  public var isBenign: Bool { [.affiliationChanged, .superseded, .cessationOfOperation].contains(self) }

  /// The name in RFC 5280, or the number.
  public var description: String {
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

/// The signature algorithms allowed for OCSP responses and revocation lists, as dotted identifiers.
enum RevocationSignature {
  /// RSA and ECDSA with SHA-2.
  private static let strong: Set<String> = [
    ObjectIdentifiers.sha256WithRSAEncryption, ObjectIdentifiers.sha384WithRSAEncryption,
    ObjectIdentifiers.sha512WithRSAEncryption, ObjectIdentifiers.ecdsaWithSHA256,
    ObjectIdentifiers.ecdsaWithSHA384, ObjectIdentifiers.ecdsaWithSHA512,
  ]

  private static let rsaWithSHA1 = ObjectIdentifiers.sha1WithRSAEncryption

  /// A responder signs the nonces of strangers, who could prepare two responses with one SHA-1 digest.
  static func acceptsInResponse(oid: String) -> Bool { strong.contains(oid) }

  /// A list holds nothing that a stranger chose, so that SHA-1 can still be believed: Apple's first root, of
  /// 2006, certifies with it.
  static func acceptsInList(oid: String) -> Bool { strong.contains(oid) || oid == rsaWithSHA1 }
}
