// SPDX-License-Identifier: Apache-2.0

/// What X.690 and RFC 5280 demand of a certificate's bytes and OpenSSL lets pass.
///
/// Encoding the certificate again would prove nothing: OpenSSL keeps the tbsCertificate as it came and writes these
/// bytes out.
///
/// ```
/// TBSCertificate ::= SEQUENCE {
///   version [0] EXPLICIT INTEGER DEFAULT v1, serialNumber INTEGER, signature SEQUENCE, issuer SEQUENCE,
///   validity SEQUENCE { notBefore Time, notAfter Time }, subject SEQUENCE, subjectPublicKeyInfo SEQUENCE,
///   issuerUniqueID [1] IMPLICIT BIT STRING OPTIONAL, subjectUniqueID [2] IMPLICIT BIT STRING OPTIONAL,
///   extensions [3] EXPLICIT SEQUENCE OF Extension OPTIONAL }
/// Extension ::= SEQUENCE {
///   extnID OBJECT IDENTIFIER, critical BOOLEAN DEFAULT FALSE, extnValue OCTET STRING }
/// ```
enum CertificateStructure {
  /// Checks a certificate that OpenSSL has decoded, so that its fields are those of the grammar above.
  ///
  /// - Throws: ``CryptoError/Code/malformedCertificate`` with the offset of the element that is wrong.
  static func check(_ der: [UInt8]) throws(CryptoError) {
    try checkEncoding(of: der[...])
    var certificate = try first(in: der[...]).content
    var fields = try next(&certificate).content
    var version: UInt8 = 1
    if fields.first == 0xA0 {
      let number = try first(in: next(&fields).content)
      // The number is one less than the version. A DEFAULT value is not encoded (X.690 section 11.5).
      guard number.content == [1] || number.content == [2] else {
        throw fault(
          at: number, "The version is neither 2 nor 3, nor 1 by being absent (RFC 5280 section 4.1.2.1).")
      }
      version += number.content[number.content.startIndex]
    }
    for _ in ["serialNumber", "signature", "issuer"] { _ = try next(&fields) }
    var validity = try next(&fields).content
    while !validity.isEmpty { try checkTime(next(&validity)) }
    for _ in ["subject", "subjectPublicKeyInfo"] { _ = try next(&fields) }
    while !fields.isEmpty {
      let field = try next(&fields)
      let firstVersion: UInt8? = [0x81: 2, 0x82: 2, 0xA3: 3][field.tag]
      guard let firstVersion, firstVersion <= version else {
        throw fault(
          at: field,
          "A certificate of version \(version) does not have this field: unique identifiers are of version 2, "
            + "extensions of version 3 (RFC 5280 section 4.1).")
      }
      if field.tag == 0xA3 { try checkExtensions(first(in: field.content).content) }
    }
  }

  /// RFC 5280 section 4.1.2.5.
  private static func checkTime(_ time: DERElement) throws(CryptoError) {
    let isUTCTime = time.tag == DERElement.utcTime
    guard time.content.count == (isUTCTime ? 13 : 15), time.content.last == UInt8(ascii: "Z"),
      time.content.dropLast().allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      isUTCTime || !time.content.lexicographicallyPrecedes("2050".utf8)
    else {
      throw fault(
        at: time,
        "A date of the validity is neither a UTCTime YYMMDDHHMMSSZ, through 2049, nor a GeneralizedTime "
          + "YYYYMMDDHHMMSSZ, from 2050 (RFC 5280 section 4.1.2.5).")
    }
  }

  /// RFC 5280 section 4.2.
  private static func checkExtensions(_ list: ArraySlice<UInt8>) throws(CryptoError) {
    var rest = list
    var seen: Set<ArraySlice<UInt8>> = []
    repeat {
      let element = try next(&rest)
      var fields = element.content
      let identifier = try next(&fields).content
      guard seen.insert(identifier).inserted else {
        throw fault(at: element, "An extension occurs for the second time (RFC 5280 section 4.2).")
      }
      if fields.first == DERElement.boolean { try checkIsTrue(next(&fields), "criticality") }
      let value = try next(&fields).content
      let content = try first(in: value)
      guard content.rest.isEmpty else {
        throw CryptoError(
          .malformedCertificate, at: "byte \(content.rest.startIndex)",
          "Bytes follow the value of an extension (RFC 5280 section 4.1).")
      }
      try checkEncoding(of: value)
      if identifier == [0x55, 0x1D, 0x13], content.content.first == DERElement.boolean {
        try checkIsTrue(first(in: content.content), "cA of basicConstraints")
      }
    } while !rest.isEmpty
  }

  /// A BOOLEAN DEFAULT FALSE is encoded where it is TRUE alone (X.690 section 11.5).
  private static func checkIsTrue(_ element: DERElement, _ name: String) throws(CryptoError) {
    guard element.content != [0] else {
      throw fault(at: element, "The \(name) is FALSE, which DER does not encode (X.690 section 11.5).")
    }
  }

  /// Checks every element, and those inside it.
  private static func checkEncoding(
    of bytes: ArraySlice<UInt8>, inSet: Bool = false, depth: Int = 0
  ) throws(CryptoError) {
    var rest = bytes
    var previous: ArraySlice<UInt8> = []
    while !rest.isEmpty {
      let element = try next(&rest)
      guard element.isCanonical, depth < 32 else {
        throw fault(
          at: element, "An element is not in DER, or nested deeper than 32 levels (X.690 section 10).")
      }
      if element.isConstructed {
        try checkEncoding(of: element.content, inSet: element.tag == DERElement.set, depth: depth + 1)
      }
      guard inSet else { continue }
      guard !element.encoded.lexicographicallyPrecedes(previous) else {
        throw fault(at: element, "The elements of a SET OF are not in ascending order (X.690 section 11.6).")
      }
      previous = element.encoded
    }
  }

  private static func next(_ rest: inout ArraySlice<UInt8>) throws(CryptoError) -> DERElement {
    let element = try first(in: rest)
    rest = element.rest
    return element
  }

  private static func first(in bytes: ArraySlice<UInt8>) throws(CryptoError) -> DERElement {
    guard let element = DERElement(bytes) else {
      throw CryptoError(
        .malformedCertificate, at: "byte \(bytes.startIndex)",
        "There is no element in DER here: its tag or length is missing, not minimal or too long.")
    }
    return element
  }

  private static func fault(at element: DERElement, _ message: String) -> CryptoError {
    CryptoError(.malformedCertificate, at: "byte \(element.encoded.startIndex)", message)
  }
}
