// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
package import ReceiptCrypto

extension CertificateAuthority.Options {
  /// Creates options.
  ///
  /// - Parameters:
  ///   - organization: The organization in all subjects, and the prefix of the common names.
  ///   - country: The two-letter country code in all subjects (ISO 3166).
  ///   - algorithm: The kind of all keys.
  ///   - start: The instant from which the days of validity count, usually the current time.
  ///   - days: The validity of a leaf in days; 3650 by default.
  public init(
    organization: String = "ReceiptKit", country: String? = nil,
    algorithm: CertificateAuthority.Algorithm = .es256, start: Timestamp, days: Int = 3650
  ) {
    self.init(
      algorithm: algorithm, organization: organization, country: country,
      rootName: "\(organization) Receipt Root CA",
      intermediateName: "\(organization) Receipt Intermediate CA",
      leafName: "\(organization) Receipt Signing", start: start, leafDays: days,
      leafMarker: ObjectIdentifiers.appStoreReceiptSigning,
      intermediateMarker: ObjectIdentifiers.worldwideDeveloperRelations)
  }

  private static let daysOfFiveYears = 1826

  /// The template of a root, which signs certificates and revocation lists.
  package var rootTemplate: CertificateTemplate {
    var template = template(
      named: rootName, days: leafDays.addingSaturated(2 * Self.daysOfFiveYears),
      serialNumber: rootSerialNumber)
    template.basicConstraints = .certificateAuthority(pathLength: nil)
    template.keyUsage = [.keyCertSign, .cRLSign]
    return template
  }

  /// The template of an intermediate, which may issue leaves but no further authority.
  package var intermediateTemplate: CertificateTemplate {
    var template = template(
      named: intermediateName, days: leafDays.addingSaturated(Self.daysOfFiveYears),
      serialNumber: intermediateSerialNumber)
    template.basicConstraints = .certificateAuthority(pathLength: 0)
    template.keyUsage = [.keyCertSign, .cRLSign]
    template.markers = [intermediateMarker]
    template.additionalExtensions = pointers(list: "root")
    return template
  }

  /// The template of a leaf, which signs receipts.
  package var leafTemplate: CertificateTemplate {
    var template = template(named: leafName, days: leafDays, serialNumber: nil)
    template.basicConstraints = .endEntity
    template.keyUsage = .digitalSignature
    template.markers = [leafMarker]
    template.additionalExtensions = pointers(list: AuthorityDirectory.firstIntermediate)
    return template
  }

  /// The extensions that say where the status of a certificate is found: at the responder, and in an issuer's list.
  func pointers(list name: String) -> [Certificate.Extension] {
    [
      ocspURL.map { Certificate.Extension.authorityInformationAccess(ocspURLs: [$0]) },
      crlURL.map { .crlDistributionPoints(["\($0)/\(name).crl"]) },
    ].compactMap(\.self)
  }

  func template(
    named name: String, days: Int, serialNumber: [UInt8]?
  ) -> CertificateTemplate {
    // A value out of range becomes a time that X.509 cannot express, so that issuing fails.
    let begin = start.wholeSecondsSince1970 ?? .min
    let length = Int64(days).multipliedReportingOverflow(by: 86_400)
    let end = begin.addingReportingOverflow(length.overflow ? .max : length.partialValue)
    return CertificateTemplate(
      subject: DistinguishedName(country: country, organization: organization, commonName: name),
      serialNumber: serialNumber ?? CertificateTemplate.randomSerialNumber(),
      notBefore: validFrom.map { $0.wholeSecondsSince1970 ?? .min } ?? begin,
      notAfter: end.overflow ? .max : end.partialValue)
  }
}

extension Int {
  fileprivate func addingSaturated(_ other: Int) -> Int {
    let sum = addingReportingOverflow(other)
    return sum.overflow ? .max : sum.partialValue
  }
}
