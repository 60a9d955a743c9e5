// SPDX-License-Identifier: Apache-2.0

extension Certificate.Extension {
  /// Says where the issuer answers OCSP requests (RFC 5280 section 4.2.2.1).
  package static func authorityInformationAccess(ocspURLs: [String]) -> Certificate.Extension {
    // id-ad-ocsp: 1.3.6.1.5.5.7.48.1
    let method: [UInt8] = [0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01]
    let descriptions = ocspURLs.map { DEREncoding.sequence([method, location($0)]) }
    return Certificate.Extension(
      oid: "1.3.6.1.5.5.7.1.1", isCritical: false, value: DEREncoding.sequence(descriptions))
  }

  /// Says where the issuer publishes revocation lists (RFC 5280 section 4.2.1.13).
  package static func crlDistributionPoints(_ urls: [String]) -> Certificate.Extension {
    let points = urls.map { url in
      DEREncoding.sequence([DEREncoding.element(0xA0, DEREncoding.element(0xA0, location(url)))])
    }
    return Certificate.Extension(
      oid: "2.5.29.31", isCritical: false, value: DEREncoding.sequence(points))
  }

  /// Says which certificates a list covers (RFC 5280 section 5.2.5), critically.
  package static func issuingDistributionPoint(
    url: String? = nil, coversUsersAlone: Bool = false, coversAuthoritiesAlone: Bool = false,
    isIndirect: Bool = false
  ) -> Certificate.Extension {
    var fields: [[UInt8]] = []
    if let url { fields.append(DEREncoding.element(0xA0, DEREncoding.element(0xA0, location(url)))) }
    if coversUsersAlone { fields.append(DEREncoding.element(0x81, [0xFF])) }
    if coversAuthoritiesAlone { fields.append(DEREncoding.element(0x82, [0xFF])) }
    if isIndirect { fields.append(DEREncoding.element(0x84, [0xFF])) }
    return Certificate.Extension(oid: "2.5.29.28", isCritical: true, value: DEREncoding.sequence(fields))
  }

  /// A uniformResourceIdentifier of GeneralName.
  private static func location(_ url: String) -> [UInt8] { DEREncoding.element(0x86, Array(url.utf8)) }
}
