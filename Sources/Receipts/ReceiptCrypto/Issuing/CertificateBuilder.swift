// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import ReceiptBytes

/// Owns a certificate whose fields are being set.
@safe
final class CertificateBuilder {
  private let certificate: OpaquePointer

  init() throws(CryptoError) {
    guard let certificate = unsafe X509_new() else {
      throw ErrorQueue.error(.internalFailure, "OpenSSL has no memory for a certificate.")
    }
    unsafe self.certificate = certificate
  }

  deinit { unsafe X509_free(certificate) }

  func setFields(_ template: CertificateTemplate, _ publicKey: PublicKey) throws(CryptoError) {
    guard let key = publicKey.backing else {
      throw CryptoError(.unsupportedKey, "A public key that cannot be decoded cannot be certified.")
    }
    guard let name = unsafe X509_get_subject_name(certificate), unsafe X509_set_version(certificate, 2) == 1,
      unsafe X509_set_pubkey(certificate, key.key) == 1
    else { throw ErrorQueue.error(.internalFailure, "OpenSSL could not set the certificate's fields.") }
    try unsafe template.subject.append(to: name)
    try setSerialNumber(template.serialNumber)
    try setValidity(template.notBefore, template.notAfter)
  }

  /// Sets the issuer's name; `nil` means that the subject is the issuer.
  func setIssuer(_ issuer: Certificate?) throws(CryptoError) {
    let name = unsafe X509_get_subject_name(issuer?.backing.certificate ?? certificate)
    guard unsafe X509_set_issuer_name(certificate, name) == 1 else {
      throw ErrorQueue.error(.internalFailure, "OpenSSL could not set the issuer's name.")
    }
  }

  func addExtensions(_ template: CertificateTemplate) throws(CryptoError) {
    switch template.basicConstraints {
    case .absent: break
    case .endEntity:
      try add(
        oid: ObjectIdentifiers.basicConstraints, isCritical: true,
        value: ASN1Writer.encoding { $0.write(.sequence) { _ in } })
    case .certificateAuthority(let pathLength):
      guard pathLength ?? 0 >= 0 else {
        throw CryptoError(.invalidTemplate, "A path length of \(pathLength ?? 0) is not possible.")
      }
      let value = ASN1Writer.encoding { writer in
        writer.write(.sequence) { constraints in
          constraints.write(boolean: true)
          if let pathLength { constraints.write(integer: Int64(pathLength)) }
        }
      }
      try add(oid: ObjectIdentifiers.basicConstraints, isCritical: true, value: value)
    }
    if !template.keyUsage.isEmpty {
      let value = ASN1Writer.encoding { $0.write(namedBits: template.keyUsage.rawValue) }
      try add(oid: ObjectIdentifiers.keyUsage, isCritical: true, value: value)
    }
    if !template.extendedKeyUsages.isEmpty {
      var identifiers: [ObjectIdentifier] = []
      for oid in template.extendedKeyUsages {
        guard let identifier = ObjectIdentifier(oid) else {
          throw CryptoError(.invalidTemplate, "\"\(oid)\" is not an object identifier in dotted form.")
        }
        identifiers.append(identifier)
      }
      let value = ASN1Writer.encoding { writer in
        writer.write(.sequence) { sequence in for identifier in identifiers { sequence.write(identifier) } }
      }
      try add(oid: ObjectIdentifiers.extendedKeyUsage, isCritical: false, value: value)
    }
    for oid in template.markers {
      try add(oid: oid, isCritical: false, value: ASN1Writer.encoding { $0.writeNull() })
    }
    for other in template.additionalExtensions {
      try add(oid: other.oid, isCritical: other.isCritical, value: other.value)
    }
  }

  func add(oid: String, isCritical: Bool, value: [UInt8]) throws(CryptoError) {
    let added = unsafe OpenSSLObject.withObject(oid) { object -> Bool? in
      guard let data = unsafe ASN1_OCTET_STRING_new() else { return nil }
      defer { unsafe ASN1_OCTET_STRING_free(data) }
      guard unsafe ASN1_OCTET_STRING_set(data, value, Int32(clamping: value.count)) == 1 else { return nil }
      let made = unsafe X509_EXTENSION_create_by_OBJ(nil, object, isCritical ? 1 : 0, data)
      defer { unsafe X509_EXTENSION_free(made) }
      return unsafe X509_add_ext(certificate, made, -1) == 1
    }
    guard added == true else {
      throw ErrorQueue.error(
        .invalidTemplate,
        "\"\(oid)\" is not an object identifier in dotted form, or its extension is too long.")
    }
  }

  /// Returns the SHA-1 of the key's bits.
  func subjectKeyIdentifier() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: DigestAlgorithm.sha1.byteCount)
    unsafe X509_pubkey_digest(certificate, DigestAlgorithm.sha1.implementation, &bytes, nil)
    return bytes
  }

  func sign(_ key: PrivateKey, _ digest: DigestAlgorithm) throws(CryptoError) -> Certificate {
    guard let implementation = unsafe digest.implementation else { throw digest.unavailable }
    guard unsafe X509_sign(certificate, key.backing.key, implementation) > 0,
      let der = unsafe OpenSSLBytes.encoded({ unsafe i2d_X509(certificate, $0) })
    else { throw ErrorQueue.error(.signingFailed, "OpenSSL could not sign the certificate with \(key).") }
    // Decode the certificate again, so that it has passed all checks of a received certificate.
    return try Certificate(der: der)
  }

  private func setSerialNumber(_ octets: [UInt8]) throws(CryptoError) {
    guard (1...20).contains(octets.count), octets.contains(where: { $0 != 0 }) else {
      throw CryptoError(.invalidTemplate, "A serial number has 1 to 20 octets and is not zero.")
    }
    let number = unsafe BN_bin2bn(octets, Int32(octets.count), nil)
    defer { unsafe BN_free(number) }
    let serialNumber = unsafe X509_get_serialNumber(certificate)
    guard let number = unsafe number, unsafe BN_to_ASN1_INTEGER(number, serialNumber) != nil else {
      throw ErrorQueue.error(.internalFailure, "OpenSSL could not set the serial number.")
    }
  }

  private func setValidity(_ notBefore: Int64, _ notAfter: Int64) throws(CryptoError) {
    // 1950-01-01T00:00:00Z to 9999-12-31T23:59:59Z: the range of UTCTime and GeneralizedTime together.
    let expressible: ClosedRange<Int64> = -631_152_000...253_402_300_799
    guard expressible.contains(notBefore), expressible.contains(notAfter), notBefore <= notAfter else {
      throw CryptoError(
        .invalidTemplate, "Validity must lie in the years 1950 to 9999 and end after it begins.")
    }
    // ASN1_TIME_set writes UTCTime until the end of 2049 and GeneralizedTime afterwards (RFC 5280, 4.1.2.5).
    let start = unsafe ASN1_TIME_set(nil, time_t(notBefore))
    defer { unsafe ASN1_TIME_free(start) }
    let end = unsafe ASN1_TIME_set(nil, time_t(notAfter))
    defer { unsafe ASN1_TIME_free(end) }
    guard unsafe X509_set1_notBefore(certificate, start) == 1,
      unsafe X509_set1_notAfter(certificate, end) == 1
    else { throw ErrorQueue.error(.internalFailure, "OpenSSL could not set the validity.") }
  }
}

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
