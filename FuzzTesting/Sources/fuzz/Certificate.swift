// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto

/// Certificates in DER, in PEM, and everything that is read out of one.
func fuzzCertificate(_ bytes: [UInt8]) {
  if let certificate = try? Certificate(der: bytes) {
    require(certificate.der == bytes, "the certificate is not kept as received")
    read(certificate)
  }
  if let certificates = try? Certificate.certificates(in: bytes) {
    for certificate in certificates.prefix(8) { read(certificate) }
  }
}

private func read(_ certificate: Certificate) {
  _ = certificate.subject + certificate.issuer + certificate.serialNumberHex + certificate.pem
  _ = (certificate.subjectCommonName, certificate.issuerOrganization, certificate.publicKey.kind)
  _ = (certificate.notBefore, certificate.notAfter, certificate.signatureAlgorithmOID)
  _ = (certificate.extensions, certificate.isCertificateAuthority, certificate.pathLengthConstraint)
  _ = (certificate.keyUsage, certificate.subjectKeyIdentifier, certificate.authorityKeyIdentifier)
  _ = (certificate.ocspURLs, certificate.crlURLs, certificate.isSelfIssued)
  _ = certificate.isSigned(by: certificate)
}
