// SPDX-License-Identifier: Apache-2.0

package import ReceiptBytes

/// Reads the outermost elements of DER, which distinguish key formats. OpenSSL decodes the keys themselves.
package enum DERSequence {
  /// Returns the elements of a SEQUENCE that fills all of `der`; `nil` for any other input.
  package static func elements(of der: [UInt8]) -> [ASN1Element]? {
    let bytes = der.span
    var top = ASN1Reader<CryptoASN1Errors>(der.indices, part: "DER")
    var elements: [ASN1Element] = []
    do throws(CryptoError) {
      var sequence = try top.enter(.sequence, bytes)
      while try !sequence.isAtEnd(bytes) { elements.append(try sequence.readElement(bytes)) }
      try top.leave(sequence, bytes)
      try top.requireEnd(bytes)
      return elements
    } catch {
      return nil
    }
  }

  /// Returns the contents of a single element that fills all of `der`; `nil` for any other input.
  package static func contents(of tag: ASN1Tag, in der: [UInt8]) -> ArraySlice<UInt8>? {
    var reader = ASN1Reader<CryptoASN1Errors>(der.indices, part: "DER")
    do throws(CryptoError) {
      let contents = try reader.read(tag, der.span)
      try reader.requireEnd(der.span)
      return der[contents]
    } catch {
      return nil
    }
  }
}

/// Creates the errors for malformed ASN.1 in certificates and keys.
enum CryptoASN1Errors: ASN1Errors {
  static func error(
    _ fault: ASN1Fault, at offset: Int, in part: StaticString, _ message: String
  ) -> CryptoError {
    CryptoError(.malformedCertificate, at: "byte \(offset)", message)
  }
}
