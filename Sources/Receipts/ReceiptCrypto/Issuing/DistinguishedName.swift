// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
