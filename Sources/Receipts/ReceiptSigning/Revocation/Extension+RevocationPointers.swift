// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCrypto

extension Certificate.Extension {
  /// The URL of the issuer's OCSP responder (RFC 5280 section 4.2.2.1).
  package static func authorityInformationAccess(ocspURLs: [String]) -> Certificate.Extension {
    // id-ad-ocsp: 1.3.6.1.5.5.7.48.1
    let method: [UInt8] = [0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x30, 0x01]
    let value = ASN1Writer.encoding { writer in
      writer.write(.sequence) { descriptions in
        for url in ocspURLs {
          descriptions.write(.sequence) { description in
            description.write(.objectIdentifier, contents: method)
            description.write(location: url)
          }
        }
      }
    }
    return Certificate.Extension(
      oid: ObjectIdentifiers.authorityInformationAccess, isCritical: false, value: value)
  }

  /// The URL of the issuer's revocation list (RFC 5280 section 4.2.1.13).
  package static func crlDistributionPoints(_ urls: [String]) -> Certificate.Extension {
    let value = ASN1Writer.encoding { writer in
      writer.write(.sequence) { points in
        for url in urls { points.write(.sequence) { $0.write(distributionPoint: url) } }
      }
    }
    return Certificate.Extension(
      oid: ObjectIdentifiers.crlDistributionPoints, isCritical: false, value: value)
  }

  /// The key identifier of a revocation list's issuer (RFC 5280 section 5.2.1); `nil` if the issuer has no key
  /// identifier.
  package static func authorityKeyIdentifier(of issuer: Certificate) -> Certificate.Extension? {
    issuer.subjectKeyIdentifier.map { identifier in
      let value = ASN1Writer.encoding { writer in
        writer.write(.sequence) { $0.write(.contextSpecific(0), contents: identifier) }
      }
      return Certificate.Extension(
        oid: ObjectIdentifiers.authorityKeyIdentifier, isCritical: false, value: value)
    }
  }

  /// The number of a revocation list (RFC 5280 section 5.2.3).
  package static func crlNumber(_ number: Int64) -> Certificate.Extension {
    Certificate.Extension(
      oid: ObjectIdentifiers.crlNumber, isCritical: false,
      value: ASN1Writer.encoding { $0.write(integer: number) })
  }

  /// The scope of a revocation list (RFC 5280 section 5.2.5), critical.
  package static func issuingDistributionPoint(
    url: String? = nil, coversUsersAlone: Bool = false, coversAuthoritiesAlone: Bool = false,
    isIndirect: Bool = false
  ) -> Certificate.Extension {
    let flags: [(UInt32, Bool)] = [(1, coversUsersAlone), (2, coversAuthoritiesAlone), (4, isIndirect)]
    let value = ASN1Writer.encoding { writer in
      writer.write(.sequence) { fields in
        if let url { fields.write(distributionPoint: url) }
        for (number, isSet) in flags where isSet { fields.write(.contextSpecific(number), contents: [0xFF]) }
      }
    }
    return Certificate.Extension(
      oid: ObjectIdentifiers.issuingDistributionPoint, isCritical: true, value: value)
  }
}

extension ASN1Writer {
  /// Writes a GeneralName of the kind uniformResourceIdentifier.
  fileprivate mutating func write(location url: String) {
    write(.contextSpecific(6), contents: Array(url.utf8))
  }

  /// Writes a DistributionPointName of the kind fullName.
  fileprivate mutating func write(distributionPoint url: String) {
    write(.contextSpecificConstructed(0)) { name in
      name.write(.contextSpecificConstructed(0)) { $0.write(location: url) }
    }
  }
}
