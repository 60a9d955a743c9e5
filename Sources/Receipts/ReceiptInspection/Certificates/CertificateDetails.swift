// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec
package import ReceiptCrypto

/// The contents of a certificate in words; names are untrusted text, exactly as in the certificate.
package struct CertificateDetails: Sendable, Hashable {
  package let subject: String
  package let issuer: String
  /// The serial number in hexadecimal.
  package let serialNumber: String
  package let notBefore: Timestamp
  package let notAfter: Timestamp
  /// The SHA-256 of the certificate in hexadecimal.
  package let sha256: String
  /// The kind of the public key, such as `P-256`.
  package let key: String
  /// The object identifier of the algorithm with which the issuer signed the certificate.
  package let signatureAlgorithm: String
  /// The extensions, in the order of the certificate.
  package let extensions: [ExtensionDetails]

  /// The name of the signature algorithm; its object identifier if the name is unknown.
  package var signatureAlgorithmName: String {
    ObjectIdentifiers.names[signatureAlgorithm] ?? signatureAlgorithm
  }

  package init(_ certificate: Certificate) {
    subject = certificate.subject
    issuer = certificate.issuer
    serialNumber = Hexadecimal.encode(certificate.serialNumber)
    notBefore = Timestamp(secondsSince1970: certificate.notBefore)
    notAfter = Timestamp(secondsSince1970: certificate.notAfter)
    sha256 = certificate.sha256FingerprintHex
    key = certificate.publicKey.kind.name
    signatureAlgorithm = certificate.signatureAlgorithmOID
    extensions = certificate.extensions.map { ExtensionDetails($0, of: certificate) }
  }

  var jsonValue: JSONValue {
    .members(
      ("subject", .string(subject)),
      ("issuer", .string(issuer)),
      ("serialNumber", .string(serialNumber)),
      ("notBefore", .string(notBefore.iso8601)),
      ("notAfter", .string(notAfter.iso8601)),
      ("sha256", .string(sha256)),
      ("key", .string(key)),
      ("signatureAlgorithm", .string(signatureAlgorithm)),
      ("extensions", .array(extensions.map(\.jsonValue))))
  }
}
