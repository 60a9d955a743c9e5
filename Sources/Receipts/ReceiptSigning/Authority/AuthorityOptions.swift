// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec
package import ReceiptCrypto

extension CertificateAuthority {
  /// What the certificates of an authority say.
  public struct Options: Sendable, Hashable {
    /// The extension by which App Store receipt signers are known, Apple's.
    public static let receiptSigningMarker = ObjectIdentifiers.appStoreReceiptSigning
    /// The extension by which their issuer is known, Apple's.
    public static let intermediateMarker = ObjectIdentifiers.worldwideDeveloperRelations

    /// The kind of all keys; P-256 by default.
    public var algorithm: Algorithm
    /// The organization in all subjects, at most 64 characters.
    public var organization: String
    /// The root's common name.
    public var rootName: String
    /// The intermediate's common name.
    public var intermediateName: String
    /// The leaves' common name.
    public var leafName: String
    /// The instant from which the days count, to the second.
    public var start: Timestamp
    /// When the certificates begin to be valid; ``start`` unless set. Set it earlier to sign receipts that bear
    /// past dates.
    public var validFrom: Timestamp?
    /// How many days from ``start`` a leaf is valid. The intermediate lasts five years longer, the root ten.
    public var leafDays: Int
    /// The marker extension of leaves, in dotted form: Apple's by default, or one under your own arc.
    public var leafMarker: String
    /// The marker extension of the intermediate.
    public var intermediateMarker: String
    /// The root's serial number, 1 to 20 bytes; 16 random ones unless set.
    public var rootSerialNumber: [UInt8]?
    /// The intermediate's serial number.
    public var intermediateSerialNumber: [UInt8]?

    /// Creates options.
    ///
    /// - Parameters:
    ///   - organization: The organization in all subjects; it begins the common names too.
    ///   - algorithm: The kind of all keys.
    ///   - start: The instant from which the days count: the current time, as a rule.
    ///   - days: How many days a leaf is valid; 3650 by default.
    public init(
      organization: String = "ReceiptKit", algorithm: Algorithm = .es256, start: Timestamp, days: Int = 3650
    ) {
      self.algorithm = algorithm
      self.organization = organization
      self.rootName = "\(organization) Receipt Root CA"
      self.intermediateName = "\(organization) Receipt Intermediate CA"
      self.leafName = "\(organization) Receipt Signing"
      self.start = start
      self.validFrom = nil
      self.leafDays = days
      self.leafMarker = Self.receiptSigningMarker
      self.intermediateMarker = Self.intermediateMarker
      self.rootSerialNumber = nil
      self.intermediateSerialNumber = nil
    }
  }
}

extension CertificateAuthority.Options {
  private static let daysOfFiveYears = 1826

  /// A root: signs certificates and revocation lists.
  package var rootTemplate: CertificateTemplate {
    var template = template(
      named: rootName, days: leafDays.addingSaturated(2 * Self.daysOfFiveYears),
      serialNumber: rootSerialNumber)
    template.basicConstraints = .certificateAuthority(pathLength: nil)
    template.keyUsage = [.keyCertSign, .cRLSign]
    return template
  }

  /// An intermediate: may issue leaves and no further authority.
  package var intermediateTemplate: CertificateTemplate {
    var template = template(
      named: intermediateName, days: leafDays.addingSaturated(Self.daysOfFiveYears),
      serialNumber: intermediateSerialNumber)
    template.basicConstraints = .certificateAuthority(pathLength: 0)
    template.keyUsage = [.keyCertSign, .cRLSign]
    template.markers = [intermediateMarker]
    return template
  }

  /// A leaf: signs receipts.
  package var leafTemplate: CertificateTemplate {
    var template = template(named: leafName, days: leafDays, serialNumber: nil)
    template.basicConstraints = .endEntity
    template.keyUsage = .digitalSignature
    template.markers = [leafMarker]
    return template
  }

  private func template(
    named name: String, days: Int, serialNumber: [UInt8]?
  ) -> CertificateTemplate {
    // Out of range becomes a time that X.509 cannot express, which issuing refuses.
    let begin = start.wholeSecondsSince1970 ?? .min
    let length = Int64(days).multipliedReportingOverflow(by: 86_400)
    let end = begin.addingReportingOverflow(length.overflow ? .max : length.partialValue)
    return CertificateTemplate(
      subject: DistinguishedName(organization: organization, commonName: name),
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
