// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
