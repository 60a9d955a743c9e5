// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

extension Certificate {
  /// The subject as an RFC 4514 string, such as `CN=Apple Root CA,O=Apple Inc.,C=US`.
  ///
  /// It is for display: the text does not compare names.
  public var subject: String { unsafe Self.text(of: X509_get_subject_name(backing.certificate)) }

  /// The issuer as an RFC 4514 string.
  ///
  /// It is for display: the text does not compare names.
  public var issuer: String { unsafe Self.text(of: X509_get_issuer_name(backing.certificate)) }

  /// The subject on one line as OpenSSL's certificate index has it, such as `/C=US/O=Apple Inc./CN=Apple Root CA`.
  /// Octets that are not printable ASCII are escaped.
  package var subjectOneLine: String {
    guard
      let text = unsafe X509_NAME_oneline(X509_get_subject_name(backing.certificate), nil, 0)
    else { return "" }
    defer { unsafe COpenSSL_OPENSSL_free(text) }
    return unsafe String(cString: text)
  }

  /// The subject's first common name.
  package var subjectCommonName: String? {
    unsafe Self.entry(NID_commonName, of: X509_get_subject_name(backing.certificate))
  }

  package var subjectOrganization: String? {
    unsafe Self.entry(NID_organizationName, of: X509_get_subject_name(backing.certificate))
  }

  package var issuerCommonName: String? {
    unsafe Self.entry(NID_commonName, of: X509_get_issuer_name(backing.certificate))
  }

  package var issuerOrganization: String? {
    unsafe Self.entry(NID_organizationName, of: X509_get_issuer_name(backing.certificate))
  }

  /// The `Name` of the subject in DER, exactly as in the certificate.
  package var subjectDER: [UInt8] { unsafe Self.encoding(of: X509_get_subject_name(backing.certificate)) }

  /// The `Name` of the issuer in DER, exactly as in the certificate.
  package var issuerDER: [UInt8] { unsafe Self.encoding(of: X509_get_issuer_name(backing.certificate)) }

  /// Indicates whether subject and issuer have the same name; this does not imply a valid signature.
  package var isSelfIssued: Bool {
    unsafe X509_get_extension_flags(backing.certificate) & UInt32(EXFLAG_SI) != 0
  }

  private static func text(of name: OpaquePointer?) -> String {
    guard let name = unsafe name else { return "" }
    // RFC 2253 escaping, except that non-ASCII characters are not escaped. If a string cannot be converted to UTF-8,
    // all strings are shown in hexadecimal.
    let readable = COpenSSL_XN_FLAG_RFC2253() & ~UInt(ASN1_STRFLGS_ESC_MSB)
    for flags in [readable, readable | UInt(ASN1_STRFLGS_DUMP_ALL)] {
      let bytes = unsafe OpenSSLBytes.written { bio in
        unsafe X509_NAME_print_ex(bio, name, 0, flags) >= 0
      }
      if let bytes { return String(decoding: bytes, as: UTF8.self) }
    }
    return ""
  }

  private static func entry(_ nid: Int32, of name: OpaquePointer?) -> String? {
    guard let name = unsafe name else { return nil }
    let index = unsafe X509_NAME_get_index_by_NID(name, nid, -1)
    guard index >= 0, let entry = unsafe X509_NAME_get_entry(name, index) else { return nil }
    var bytes: UnsafeMutablePointer<UInt8>?
    let length = unsafe ASN1_STRING_to_UTF8(&bytes, X509_NAME_ENTRY_get_data(entry))
    guard length >= 0, let bytes = unsafe bytes else {
      ErrorQueue.clear()
      return nil
    }
    defer { unsafe COpenSSL_OPENSSL_free(bytes) }
    return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: Int(length)), as: UTF8.self)
  }

  private static func encoding(of name: OpaquePointer?) -> [UInt8] {
    unsafe OpenSSLBytes.encoded { unsafe i2d_X509_NAME(name, $0) } ?? []
  }
}
