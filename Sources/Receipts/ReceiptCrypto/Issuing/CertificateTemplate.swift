// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension CertificateTemplate {
  /// The critical basicConstraints extension, which states whether the subject may issue certificates.
  package enum BasicConstraints: Sendable, Hashable {
    /// No extension: the subject may not issue certificates.
    case absent
    /// `cA FALSE`.
    case endEntity
    /// `cA TRUE`, with an optional limit on the number of intermediate certificates that may follow.
    case certificateAuthority(pathLength: Int?)
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

extension DistinguishedName {
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
