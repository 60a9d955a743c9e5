// SPDX-License-Identifier: Apache-2.0

/// The contents of a new certificate (X.509 version 3, RFC 5280 section 4).
public struct CertificateTemplate: Sendable, Hashable {
  /// Indicates whether the subject may issue certificates: the basicConstraints extension, which is critical.
  public enum BasicConstraints: Sendable, Hashable {
    /// No extension, which means that it may not.
    case absent
    /// `cA FALSE`.
    case endEntity
    /// `cA TRUE`, with a limit to the intermediates that may follow, or none.
    case certificateAuthority(pathLength: Int?)
  }

  /// The subject of the certificate.
  public var subject: DistinguishedName
  /// The serial number, 1 to 20 octets, most significant first, not zero. An issuer must not use one twice.
  public var serialNumber: [UInt8]
  /// First second of validity, since 1970-01-01T00:00:00Z. Years 1950 to 9999.
  public var notBefore: Int64
  /// Last second of validity, since 1970-01-01T00:00:00Z. Years 1950 to 9999.
  public var notAfter: Int64
  /// Indicates whether the subject may issue certificates.
  public var basicConstraints: BasicConstraints = .absent
  /// The uses of the key (critical); empty for no extension.
  public var keyUsage: KeyUsage = []
  /// Identifiers of what the key is for in an extendedKeyUsage extension, in dotted form; empty for none.
  public var extendedKeyUsages: [String] = []
  /// Identifiers of extensions that say something by being there: not critical, value NULL. Apple marks
  /// certificates in this way.
  public var markers: [String] = []
  /// Any other extensions, encoded by the caller.
  public var additionalExtensions: [Certificate.Extension] = []
  /// Indicates whether subject and authority key identifiers are added. They are SHA-1 of the key, as in RFC 5280
  /// section 4.2.1.2, method 1.
  public var includesKeyIdentifiers: Bool = true
  /// The digest of the issuer's signature.
  public var digest: DigestAlgorithm = .sha256

  /// Creates a template for a certificate without extensions but key identifiers; set what else it needs.
  ///
  /// - Parameters:
  ///   - subject: Whose certificate it is.
  ///   - serialNumber: 1 to 20 octets; 16 random ones by default.
  ///   - notBefore: First second of validity, since 1970.
  ///   - notAfter: Last second of validity, since 1970.
  public init(
    subject: DistinguishedName, serialNumber: [UInt8] = CertificateTemplate.randomSerialNumber(),
    notBefore: Int64, notAfter: Int64
  ) {
    self.subject = subject
    self.serialNumber = serialNumber
    self.notBefore = notBefore
    self.notAfter = notAfter
  }

  /// 16 random octets; the first is not zero, and its highest bit is not set.
  public static func randomSerialNumber() -> [UInt8] {
    var octets = Random.bytes(16)
    octets[0] = octets[0] & 0x7F | 0x40
    return octets
  }
}

/// The signer of a new certificate.
public enum CertificateIssuer: Sendable {
  /// The subject itself, with the private key of its public key: a root.
  case itself(PrivateKey)
  /// An authority.
  case authority(Certificate, PrivateKey)

  var key: PrivateKey {
    switch self {
    case .itself(let key), .authority(_, let key): key
    }
  }
}
