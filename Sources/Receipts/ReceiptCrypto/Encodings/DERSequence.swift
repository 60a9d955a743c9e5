// SPDX-License-Identifier: Apache-2.0

package import ReceiptBytes

/// The outermost elements of DER, which tell formats of keys apart. Keys themselves are decoded by OpenSSL.
package enum DERSequence {
  /// The elements of the SEQUENCE that fills `der` to the last byte; `nil` for anything else.
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

  /// The contents of the one element that `der` is; `nil` for anything else.
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

/// The errors of the ASN.1 of certificates and keys.
enum CryptoASN1Errors: ASN1Errors {
  static func error(
    _ fault: ASN1Fault, at offset: Int, in part: StaticString, _ message: String
  ) -> CryptoError {
    CryptoError(.malformedCertificate, at: "byte \(offset)", message)
  }
}
