// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension Certificate {
  /// An extension of a certificate (RFC 5280 section 4.2).
  package struct Extension: Sendable, Hashable {
    /// The object identifier in dotted form.
    package var oid: String
    /// Indicates whether a verifier that does not know the extension must reject the certificate.
    package var isCritical: Bool
    /// The value in DER: the contents of the OCTET STRING.
    package var value: [UInt8]

    package init(oid: String, isCritical: Bool, value: [UInt8]) {
      self.oid = oid
      self.isCritical = isCritical
      self.value = value
    }
  }

  /// The extensions, in the order of the certificate.
  package var extensions: [Extension] {
    let count = unsafe X509_get_ext_count(backing.certificate)
    guard count > 0 else { return [] }
    return (0..<count).compactMap { index in
      guard let found = unsafe X509_get_ext(backing.certificate, index) else { return nil }
      let value = unsafe X509_EXTENSION_get_data(found)
      return unsafe Extension(
        oid: OpenSSLObject.dotted(X509_EXTENSION_get_object(found)),
        isCritical: X509_EXTENSION_get_critical(found) == 1,
        value: value.map { unsafe OpenSSLBytes.content(of: UnsafeRawPointer($0)) } ?? [])
    }
  }

  /// Returns `true` if the certificate has the extension with this object identifier, in dotted form.
  package func hasExtension(_ oid: String) -> Bool {
    // Compare text: creating an OpenSSL object from it would allocate and could fail.
    (0..<(unsafe X509_get_ext_count(backing.certificate))).contains { index in
      unsafe OpenSSLObject.dotted(X509_EXTENSION_get_object(X509_get_ext(backing.certificate, index))) == oid
    }
  }

  /// Indicates whether basicConstraints has `cA TRUE`.
  package var isCertificateAuthority: Bool {
    unsafe X509_get_extension_flags(backing.certificate) & UInt32(EXFLAG_CA) != 0
  }

  /// The number of intermediate certificates that may follow in a path; `nil` if basicConstraints does not limit it.
  package var pathLengthConstraint: Int? {
    let length = unsafe X509_get_pathlen(backing.certificate)
    return length >= 0 ? length : nil
  }

  /// The permitted uses of the key; `nil` if the extension is absent, and all uses are permitted.
  package var keyUsage: KeyUsage? {
    guard unsafe X509_get_extension_flags(backing.certificate) & UInt32(EXFLAG_KUSAGE) != 0 else {
      return nil
    }
    return KeyUsage(openSSL: unsafe X509_get_key_usage(backing.certificate))
  }

  package var subjectKeyIdentifier: [UInt8]? {
    unsafe X509_get0_subject_key_id(backing.certificate).map {
      unsafe OpenSSLBytes.content(of: UnsafeRawPointer($0))
    }
  }

  /// The key identifier of the issuer's key.
  package var authorityKeyIdentifier: [UInt8]? {
    unsafe X509_get0_authority_key_id(backing.certificate).map {
      unsafe OpenSSLBytes.content(of: UnsafeRawPointer($0))
    }
  }
}
