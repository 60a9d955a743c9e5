// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The CMS container of an app receipt (RFC 5652 section 5); `SignedData` in PKCS#7 version 1.5 too.
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
/// Nothing in it has been verified.
package struct CMSSignedData: Sendable, Hashable {
  /// The syntax version: 1 in every App Store receipt.
  package var version: Int
  /// The digest algorithms listed in the container, as dotted object identifiers, in order.
  package var digestAlgorithms: [String]
  /// The octets of `eContent`. The signature covers them directly, or through their digest in the signed attributes.
  package var content: ArraySlice<UInt8>
  /// The embedded certificates in DER, exactly as embedded, in order.
  package var certificates: [ArraySlice<UInt8>]
  /// The contents octets of the `certificates` field, which are the same for all receipts of one signer.
  package var certificatesBytes: ArraySlice<UInt8>
  /// The signatures. An App Store receipt has exactly one.
  package var signerInfos: [CMSSignerInfo]
}

extension CMSSignedData {
  /// Creates a container with one signature, laid out as in App Store receipts: version 1, no signed attributes.
  package init(
    content: ArraySlice<UInt8>, digestAlgorithm: String, certificates: [ArraySlice<UInt8>],
    issuer: ArraySlice<UInt8>, serialNumber: ArraySlice<UInt8>,
    signatureAlgorithm: String = ObjectIdentifiers.rsaEncryption, signature: ArraySlice<UInt8>
  ) {
    let signerInfo = CMSSignerInfo(
      version: 1, issuer: issuer, serialNumber: serialNumber, subjectKeyIdentifier: nil,
      digestAlgorithm: digestAlgorithm, signedAttributes: nil, signatureAlgorithm: signatureAlgorithm,
      signature: signature)
    self.init(
      version: 1, digestAlgorithms: [digestAlgorithm], content: content, certificates: certificates,
      certificatesBytes: certificates.flatMap { $0 }[...], signerInfos: [signerInfo])
  }
}

/// One signature of a CMS container (RFC 5652 section 5.3).
package struct CMSSignerInfo: Sendable, Hashable {
  /// The syntax version: 1 if the signer is identified by issuer and serial number, 3 if by subject key identifier.
  package var version: Int
  /// The issuer of the signer's certificate, a `Name` in DER; empty if a key identifier identifies the signer.
  package var issuer: ArraySlice<UInt8>
  /// The contents octets of the serial number of the signer's certificate. They are a minimal two's complement number;
  /// empty if a key identifier identifies the signer.
  package var serialNumber: ArraySlice<UInt8>
  /// The subject key identifier of the signer's certificate; `nil` if issuer and serial number identify the signer.
  package var subjectKeyIdentifier: ArraySlice<UInt8>?
  /// The digest algorithm, as a dotted object identifier.
  package var digestAlgorithm: String
  /// The signed attributes, if there are any. The signature then covers them, and the content only through its digest.
  package var signedAttributes: CMSSignedAttributes?
  /// The signature algorithm, as a dotted object identifier. It is `rsaEncryption` in App Store receipts, and
  /// `sha256WithRSAEncryption` in those of Xcode.
  package var signatureAlgorithm: String
  package var signature: ArraySlice<UInt8>
}
