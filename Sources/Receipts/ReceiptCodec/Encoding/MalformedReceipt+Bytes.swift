// SPDX-License-Identifier: Apache-2.0

package import ReceiptBytes

/// Creates the errors for malformed ASN.1 in a receipt.
package enum ReceiptASN1Errors: ASN1Errors {
  package static func error(
    _ fault: ASN1Fault, at offset: Int, in part: StaticString, _ message: String
  ) -> MalformedReceipt {
    // Each fault has a code of the same name.
    let code = MalformedReceipt.Code(rawValue: fault.rawValue) ?? .invalidValue
    return MalformedReceipt(code, at: .byteOffset(offset, within: part.description), message)
  }
}

package typealias ReceiptASN1Reader = ASN1Reader<ReceiptASN1Errors>

extension MalformedReceipt {
  /// Creates the error for malformed base64 that begins at `start` of the part.
  fileprivate init(_ error: Base64Error, part: String, start: Int) {
    self.init(.invalidBase64, at: .byteOffset(start + error.offset, within: part), error.message)
  }
}

extension ReceiptASN1Reader {
  func failure(_ code: MalformedReceipt.Code, at offset: Int, _ message: String) -> MalformedReceipt {
    MalformedReceipt(code, at: .byteOffset(offset, within: part.description), message)
  }
}

extension Base64 {
  /// Decodes base64 in a part of a receipt; errors name the part.
  static func decode(
    _ text: [UInt8], allowingWhitespace: Bool, part: String
  ) throws(MalformedReceipt) -> [UInt8] {
    do throws(Base64Error) {
      return try decode(text, allowingWhitespace: allowingWhitespace)
    } catch {
      throw MalformedReceipt(error, part: part, start: 0)
    }
  }
}

extension Base64URL {
  /// Decodes base64url in a part of a receipt; errors name the part and count offsets from its `start`.
  static func decode(
    _ text: Span<UInt8>, part: String, start: Int = 0
  ) throws(MalformedReceipt) -> [UInt8] {
    do throws(Base64Error) {
      return try decode(text)
    } catch {
      throw MalformedReceipt(error, part: part, start: start)
    }
  }
}
