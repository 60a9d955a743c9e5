// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The contents of a certificate to be issued (X.509 version 3, RFC 5280 section 4).
package struct CertificateTemplate: Sendable, Hashable {
  /// The critical basicConstraints extension, which states whether the subject may issue certificates.
  package enum BasicConstraints: Sendable, Hashable {
    /// No extension: the subject may not issue certificates.
    case absent
    /// `cA FALSE`.
    case endEntity
    /// `cA TRUE`, with an optional limit on the number of intermediate certificates that may follow.
    case certificateAuthority(pathLength: Int?)
  }

  package var subject: DistinguishedName
  /// The serial number: 1 to 20 octets, most significant first, not zero. An issuer must not use a serial number twice.
  package var serialNumber: [UInt8]
  /// The first second of validity, since 1970-01-01T00:00:00Z, in the years 1950 to 9999.
  package var notBefore: Int64
  /// The last second of validity, since 1970-01-01T00:00:00Z, in the years 1950 to 9999.
  package var notAfter: Int64
  package var basicConstraints: BasicConstraints = .absent
  /// The permitted uses of the key, in a critical extension; empty to omit the extension.
  package var keyUsage: KeyUsage = []
  /// The purposes of the key in an extendedKeyUsage extension, as dotted object identifiers; empty to omit it.
  package var extendedKeyUsages: [String] = []
  /// The object identifiers of extensions whose presence alone has a meaning; they are not critical and have the value
  /// NULL. Apple marks certificates in this way.
  package var markers: [String] = []
  /// Further extensions, encoded by the caller.
  package var additionalExtensions: [Certificate.Extension] = []
  /// Indicates whether subject and authority key identifiers are added. They are the SHA-1 of the key, method 1 of RFC
  /// 5280 section 4.2.1.2.
  package var includesKeyIdentifiers: Bool = true
  package var digest: DigestAlgorithm = .sha256

  /// Creates a template for a certificate whose only extensions are the key identifiers; set its properties for others.
  package init(
    subject: DistinguishedName, serialNumber: [UInt8] = CertificateTemplate.randomSerialNumber(),
    notBefore: Int64, notAfter: Int64
  ) {
    self.subject = subject
    self.serialNumber = serialNumber
    self.notBefore = notBefore
    self.notAfter = notAfter
  }

  /// Returns 16 random octets; the first octet is not zero, and its highest bit is not set.
  package static func randomSerialNumber() -> [UInt8] {
    var octets = Random.bytes(16)
    octets[0] = octets[0] & 0x7F | 0x40
    return octets
  }
}

/// The signer of a certificate to be issued.
package enum CertificateIssuer: Sendable {
  /// The subject itself, with the private key that matches its public key: a root certificate.
  case itself(PrivateKey)
  /// A certificate authority, with its certificate and private key.
  case authority(Certificate, PrivateKey)

  var key: PrivateKey {
    switch self {
    case .itself(let key), .authority(_, let key): key
    }
  }
}

/// The name of a certificate's subject, with the attributes that are used here. They are encoded in the order of the
/// properties, the country as PrintableString and the others as UTF8String.
package struct DistinguishedName: Sendable, Hashable {
  /// The two-letter country code of ISO 3166.
  package var country: String?
  /// The legal name of the organization, at most 64 characters.
  package var organization: String?
  package var organizationalUnit: String?
  /// The common name, which describes the certificate's purpose, at most 64 characters.
  package var commonName: String?

  /// Creates a name; attributes that are `nil` are omitted.
  package init(
    country: String? = nil, organization: String? = nil, organizationalUnit: String? = nil,
    commonName: String? = nil
  ) {
    self.country = country
    self.organization = organization
    self.organizationalUnit = organizationalUnit
    self.commonName = commonName
  }

  /// Appends the attributes to an OpenSSL name.
  func append(to name: OpaquePointer) throws(CryptoError) {
    let parts: [(nid: Int32, label: String, value: String?)] = [
      (NID_countryName, "country", country), (NID_organizationName, "organization", organization),
      (NID_organizationalUnitName, "organizational unit", organizationalUnit),
      (NID_commonName, "common name", commonName),
    ]
    for part in parts {
      guard let value = part.value else { continue }
      let bytes = Array(value.utf8)
      let added = unsafe X509_NAME_add_entry_by_NID(
        name, part.nid, MBSTRING_FLAG, bytes, Int32(clamping: bytes.count), -1, 0)
      guard !bytes.isEmpty, added == 1 else {
        throw ErrorQueue.error(
          .invalidTemplate,
          """
          The \(part.label) "\(value)" does not fit a certificate's name: 1 to 64 characters, the country \
          two ASCII letters.
          """)
      }
    }
  }
}
