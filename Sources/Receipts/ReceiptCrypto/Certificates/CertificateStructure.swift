// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Checks the requirements of X.690 and RFC 5280 for a certificate's bytes that OpenSSL does not check.
///
/// Encoding the certificate again would prove nothing, because OpenSSL keeps the bytes of the tbsCertificate and writes
/// them unchanged.
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
struct CertificateStructure {
  private typealias Reader = ASN1Reader<CryptoASN1Errors>

  private let der: [UInt8]

  /// Checks a certificate that OpenSSL has decoded; its fields therefore match the grammar above.
  ///
  /// - Throws: ``CryptoError/Code/malformedCertificate`` with the offset of the element at fault.
  static func check(_ der: [UInt8]) throws(CryptoError) { try CertificateStructure(der: der).check() }

  private func check() throws(CryptoError) {
    try checkEncoding(of: der.indices)
    var top = reader(of: der.indices)
    var certificate = reader(of: try next(&top).contents)
    var fields = reader(of: try next(&certificate).contents)
    var version: UInt8 = 1
    if try fields.nextTag(der.span) == .contextSpecificConstructed(0) {
      var explicit = reader(of: try next(&fields).contents)
      let number = try next(&explicit)
      let value = der[number.contents]
      // The number is the version minus one. DER does not encode a DEFAULT value (X.690 section 11.5).
      guard value == [1] || value == [2] else {
        throw fault(
          at: number, "The version is neither 2 nor 3, nor 1 by being absent (RFC 5280 section 4.1.2.1).")
      }
      version += value[value.startIndex]
    }
    for _ in ["serialNumber", "signature", "issuer"] { _ = try next(&fields) }
    var validity = reader(of: try next(&fields).contents)
    while try !validity.isAtEnd(der.span) { try checkTime(next(&validity)) }
    for _ in ["subject", "subjectPublicKeyInfo"] { _ = try next(&fields) }
    while try !fields.isAtEnd(der.span) {
      let field = try next(&fields)
      let firstVersion: UInt8? = [
        ASN1Tag.contextSpecific(1): 2, .contextSpecific(2): 2, .contextSpecificConstructed(3): 3,
      ][field.tag]
      guard let firstVersion, firstVersion <= version else {
        throw fault(
          at: field,
          "A certificate of version \(version) does not have this field: unique identifiers are of version 2, "
            + "extensions of version 3 (RFC 5280 section 4.1).")
      }
      if firstVersion == 3 {
        var explicit = reader(of: field.contents)
        try checkExtensions(next(&explicit))
      }
    }
  }

  /// Checks a date of the validity (RFC 5280 section 4.1.2.5).
  private func checkTime(_ time: ASN1Element) throws(CryptoError) {
    let isUTCTime = time.tag == .utcTime
    let text = der[time.contents]
    guard text.count == (isUTCTime ? 13 : 15), text.last == UInt8(ascii: "Z"),
      text.dropLast().allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      isUTCTime || !text.lexicographicallyPrecedes("2050".utf8)
    else {
      throw fault(
        at: time,
        "A date of the validity is neither a UTCTime YYMMDDHHMMSSZ, through 2049, nor a GeneralizedTime "
          + "YYYYMMDDHHMMSSZ, from 2050 (RFC 5280 section 4.1.2.5).")
    }
  }

  /// Checks the extensions (RFC 5280 section 4.2).
  private func checkExtensions(_ list: ASN1Element) throws(CryptoError) {
    var rest = reader(of: list.contents)
    var seen: Set<ArraySlice<UInt8>> = []
    repeat {
      let element = try next(&rest)
      var fields = reader(of: element.contents)
      let identifier = der[try next(&fields).contents]
      guard seen.insert(identifier).inserted else {
        throw fault(at: element, "An extension occurs for the second time (RFC 5280 section 4.2).")
      }
      if try fields.nextTag(der.span) == .boolean { try checkIsTrue(next(&fields), "criticality") }
      var value = reader(of: try next(&fields).contents)
      let range = value.position..<value.end
      let content = try next(&value)
      guard value.position == value.end else {
        throw CryptoError(
          .malformedCertificate, at: "byte \(value.position)",
          "Bytes follow the value of an extension (RFC 5280 section 4.1).")
      }
      try checkEncoding(of: range)
      guard identifier == [0x55, 0x1D, 0x13] else { continue }
      var constraints = reader(of: content.contents)
      if try constraints.nextTag(der.span) == .boolean {
        try checkIsTrue(next(&constraints), "cA of basicConstraints")
      }
    } while try !rest.isAtEnd(der.span)
  }

  /// Checks that a BOOLEAN DEFAULT FALSE is TRUE: DER does not encode the default (X.690 section 11.5).
  private func checkIsTrue(_ element: ASN1Element, _ name: String) throws(CryptoError) {
    guard der[element.contents] != [0] else {
      throw fault(at: element, "The \(name) is FALSE, which DER does not encode (X.690 section 11.5).")
    }
  }

  /// Checks the encoding of every element, nested ones included.
  private func checkEncoding(
    of range: Range<Int>, inSet: Bool = false, depth: Int = 0
  ) throws(CryptoError) {
    var rest = reader(of: range)
    var previous: ArraySlice<UInt8> = []
    while try !rest.isAtEnd(der.span) {
      let element = try next(&rest)
      guard element.isCanonical(in: der.span), depth < 32 else {
        throw fault(
          at: element, "An element is not in DER, or nested deeper than 32 levels (X.690 section 10).")
      }
      if element.tag.isConstructed {
        try checkEncoding(of: element.contents, inSet: element.tag == .set, depth: depth + 1)
      }
      guard inSet else { continue }
      let encoded = der[element.encoded]
      guard !encoded.lexicographicallyPrecedes(previous) else {
        throw fault(at: element, "The elements of a SET OF are not in ascending order (X.690 section 11.6).")
      }
      previous = encoded
    }
  }

  private func reader(of range: Range<Int>) -> Reader { Reader(range, part: "certificate") }

  /// Reads the next element; errors are placed at the element's first byte.
  private func next(_ reader: inout Reader) throws(CryptoError) -> ASN1Element {
    let start = reader.position
    do throws(CryptoError) {
      return try reader.readElement(der.span)
    } catch {
      throw CryptoError(.malformedCertificate, at: "byte \(start)", error.message)
    }
  }

  private func fault(at element: ASN1Element, _ message: String) -> CryptoError {
    CryptoError(.malformedCertificate, at: "byte \(element.encoded.lowerBound)", message)
  }
}
