// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The CMS container of an app receipt (RFC 5652 section 5), which PKCS#7 version 1.5 calls the same.
///
/// ```
/// SignedData ::= SEQUENCE {
///   version CMSVersion,
///   digestAlgorithms SET OF AlgorithmIdentifier,
///   encapContentInfo SEQUENCE { eContentType OBJECT IDENTIFIER, eContent [0] EXPLICIT OCTET STRING },
///   certificates [0] IMPLICIT CertificateSet OPTIONAL,
///   crls [1] IMPLICIT RevocationInfoChoices OPTIONAL,
///   signerInfos SET OF SignerInfo }
/// ```
///
/// Nothing in it was verified.
package struct CMSSignedData: Sendable, Hashable {
  /// The syntax version: 1 in every receipt of the App Store.
  package var version: Int
  /// The digest algorithms announced, as dotted object identifiers, in order.
  package var digestAlgorithms: [String]
  /// The octets of `eContent`, which are what is signed (or digested into the signed attributes).
  package var content: ArraySlice<UInt8>
  /// The embedded certificates in DER, each exactly as embedded, in order.
  package var certificates: [ArraySlice<UInt8>]
  /// The contents octets of the whole `certificates` field: the same for all receipts of one signer.
  package var certificatesBytes: ArraySlice<UInt8>
  /// The signatures. The App Store writes exactly one.
  package var signerInfos: [CMSSignerInfo]

  /// Creates a container around one signature, as the App Store lays it out: version 1, no signed
  /// attributes.
  ///
  /// - Parameters:
  ///   - content: The octets that were signed.
  ///   - digestAlgorithm: The dotted object identifier of the digest, such as ``sha256``.
  ///   - certificates: The chain in DER, leaf first.
  ///   - issuer: The issuer of the signer's certificate, a `Name` in DER.
  ///   - serialNumber: The contents octets of that certificate's serial number.
  ///   - signatureAlgorithm: The dotted object identifier, ``ObjectIdentifiers/rsaEncryption`` by default.
  ///   - signature: The signature over `content`.
  package init(
    content: ArraySlice<UInt8>, digestAlgorithm: String, certificates: [ArraySlice<UInt8>],
    issuer: ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>,
    signatureAlgorithm: String = ObjectIdentifiers.rsaEncryption, signature: ArraySlice<UInt8>
  ) {
    self.version = 1
    self.digestAlgorithms = [digestAlgorithm]
    self.content = content
    self.certificates = certificates
    var joined: [UInt8] = []
    for certificate in certificates { joined += certificate }
    self.certificatesBytes = joined[...]
    self.signerInfos = [
      CMSSignerInfo(
        version: 1, issuer: issuer, serialNumber: serialNumber, subjectKeyIdentifier: nil,
        digestAlgorithm: digestAlgorithm, signedAttributes: nil, signatureAlgorithm: signatureAlgorithm,
        signature: signature)
    ]
  }

  init(
    version: Int, digestAlgorithms: [String], content: ArraySlice<UInt8>, certificates: [ArraySlice<UInt8>],
    certificatesBytes: ArraySlice<UInt8>, signerInfos: [CMSSignerInfo]
  ) {
    self.version = version
    self.digestAlgorithms = digestAlgorithms
    self.content = content
    self.certificates = certificates
    self.certificatesBytes = certificatesBytes
    self.signerInfos = signerInfos
  }
}

/// One signature of a CMS container (RFC 5652 section 5.3).
package struct CMSSignerInfo: Sendable, Hashable {
  /// 1 when the signer is named by issuer and serial number, 3 when by subject key identifier.
  package var version: Int
  /// The issuer of the signer's certificate, a `Name` in DER; empty when the signer is named by key.
  package var issuer: ArraySlice<UInt8>
  /// The contents octets of the serial number of the signer's certificate, a two's complement number
  /// without needless octets; empty when the signer is named by key.
  package var serialNumber: ArraySlice<UInt8>
  /// The subject key identifier of the signer's certificate, where the signer is named by that.
  package var subjectKeyIdentifier: ArraySlice<UInt8>?
  /// The digest algorithm, as a dotted object identifier.
  package var digestAlgorithm: String
  /// The signed attributes. Where present, they are what is signed, and the content only through them.
  package var signedAttributes: CMSSignedAttributes?
  /// The signature algorithm, as a dotted object identifier: ``CMSSignedData/rsaEncryption`` from the App
  /// Store, ``CMSSignedData/sha256WithRSAEncryption`` from Xcode.
  package var signatureAlgorithm: String
  /// The signature.
  package var signature: ArraySlice<UInt8>
}
