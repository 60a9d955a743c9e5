// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Bytes that JSON carries as a string of standard base64 (RFC 4648, section 4), such as those of `x5c`.
package struct Base64Bytes: JSONFieldValue, Sendable, Hashable {
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) { self.bytes = bytes }

  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let text = try json.stringBytes()
    do throws(Base64Error) {
      self.bytes = try Base64.decode(text)
    } catch {
      throw json.fieldFailure(.invalidBase64, "expected standard base64. \(error.message)")
    }
  }

  package func write(to json: inout JSONWriter) { json.string(Base64.encodeToString(bytes)) }
}
