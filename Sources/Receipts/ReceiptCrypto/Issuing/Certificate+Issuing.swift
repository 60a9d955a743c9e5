// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

extension Certificate {
  /// Issues a certificate for `publicKey`. It does not check that the issuer may issue certificates, because tests need
  /// chains that no verifier accepts.
  ///
  /// - Throws: ``CryptoError`` with the code `keyMismatch` if the issuer's key does not match its certificate (or, for
  ///   a root, `publicKey`), `invalidTemplate` if the template cannot be encoded, or `signingFailed` if OpenSSL cannot
  ///   sign.
  package static func issue(
    _ template: CertificateTemplate, for publicKey: PublicKey, by issuer: CertificateIssuer
  ) throws(CryptoError) -> Certificate {
    let builder = try CertificateBuilder()
    ErrorQueue.clear()
    try builder.setFields(template, publicKey)
    switch issuer {
    case .itself(let key):
      guard key.publicKey == publicKey else {
        throw CryptoError(.keyMismatch, "A root's private key must belong to the public key in it.")
      }
      try builder.setIssuer(nil)
    case .authority(let certificate, let key):
      guard key.publicKey == certificate.publicKey else {
        throw CryptoError(.keyMismatch, "The private key does not belong to \(certificate).")
      }
      try builder.setIssuer(certificate)
    }
    try builder.addExtensions(template)
    if template.includesKeyIdentifiers {
      let keyIdentifier = builder.subjectKeyIdentifier()
      try builder.add(
        oid: ObjectIdentifiers.subjectKeyIdentifier, isCritical: false,
        value: ASN1Writer.encoding { $0.write(octetString: keyIdentifier) })
      let authority: [UInt8]? =
        switch issuer {
        case .itself: keyIdentifier
        case .authority(let certificate, _): certificate.subjectKeyIdentifier
        }
      if let authority {
        // AuthorityKeyIdentifier ::= SEQUENCE { keyIdentifier [0] IMPLICIT OCTET STRING }
        try builder.add(
          oid: ObjectIdentifiers.authorityKeyIdentifier, isCritical: false,
          value: ASN1Writer.encoding { writer in
            writer.write(.sequence) { $0.write(.contextSpecific(0), contents: authority) }
          })
      }
    }
    return try builder.sign(issuer.key, template.digest)
  }
}
