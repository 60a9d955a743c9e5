// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension Certificate {
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

extension Certificate {
  /// The URLs at which the issuer answers OCSP requests (authority information access, RFC 5280 section 4.2.2.1).
  package var ocspURLs: [String] {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    guard let addresses = unsafe X509_get1_ocsp(backing.certificate) else { return [] }
    defer { unsafe X509_email_free(addresses) }
    let count = unsafe OPENSSL_sk_num(addresses)
    guard count > 0 else { return [] }
    return (0..<count).compactMap { index in
      unsafe OPENSSL_sk_value(addresses, index).map {
        unsafe String(cString: UnsafePointer($0.assumingMemoryBound(to: CChar.self)))
      }
    }
  }

  /// The URLs at which the issuer publishes revocation lists (CRL distribution points, RFC 5280 section 4.2.1.13).
  /// Distribution points that are not URLs are omitted.
  package var crlURLs: [String] {
    ErrorQueue.clear()
    defer { ErrorQueue.clear() }
    let decoded = unsafe X509_get_ext_d2i(backing.certificate, NID_crl_distribution_points, nil, nil)
    guard let points = unsafe decoded.map({ OpaquePointer($0) }) else { return [] }
    defer { unsafe CRL_DIST_POINTS_free(points) }
    var addresses: [String] = []
    for index in 0..<max(0, unsafe OPENSSL_sk_num(points)) {
      guard let point = unsafe OPENSSL_sk_value(points, index)?.assumingMemoryBound(to: DIST_POINT.self),
        let name = unsafe point.pointee.distpoint,
        // 0 is fullName; 1 is a name relative to the issuer.
        unsafe name.pointee.type == 0, let names = unsafe name.pointee.name.fullname
      else { continue }
      unsafe addresses += Self.urls(in: names)
    }
    return addresses
  }

  static func urls(in names: OpaquePointer) -> [String] {
    (0..<max(0, unsafe OPENSSL_sk_num(names))).compactMap { index -> String? in
      guard let name = unsafe OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self),
        unsafe name.pointee.type == GEN_URI, let text = unsafe name.pointee.d.uniformResourceIdentifier
      else { return nil }
      return unsafe String(decoding: OpenSSLBytes.content(of: UnsafeRawPointer(text)), as: UTF8.self)
    }
  }
}

/// The permitted uses of a certificate's key: the keyUsage extension (RFC 5280 section 4.2.1.3). Bit `n` of the BIT
/// STRING is the value `1 << n`.
package struct KeyUsage: OptionSet, Sendable, Hashable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Signing data other than certificates and revocation lists.
  package static let digitalSignature = KeyUsage(rawValue: 1 << 0)
  package static let keyEncipherment = KeyUsage(rawValue: 1 << 2)
  package static let keyCertSign = KeyUsage(rawValue: 1 << 5)
  package static let cRLSign = KeyUsage(rawValue: 1 << 6)

  /// Creates a set from OpenSSL's layout. The low byte is the first octet of the BIT STRING, and the octet's first bit
  /// is its highest.
  init(openSSL bits: UInt32) {
    var value: UInt16 = 0
    for bit in 0..<8 where bits & (0x80 >> UInt32(bit)) != 0 { value |= 1 << UInt16(bit) }
    if bits & 0x8000 != 0 { value |= 1 << 8 }
    self.init(rawValue: value)
  }
}
