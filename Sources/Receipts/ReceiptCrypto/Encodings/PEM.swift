// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// A block of the textual encoding of RFC 7468. For example:
///
///     -----BEGIN CERTIFICATE-----
///     MIIBtjCCAVugAwIBAgITBmyf1XSXNmY/Owua2eiedgPySjAKBggqhkjOPQQDAjA5
///     -----END CERTIFICATE-----
///
/// Text before, between and after blocks is skipped, as section 2 requires, so the output of `openssl x509 -text` is
/// accepted.
struct PEMBlock: Sendable {
  /// The label after `BEGIN`, such as `CERTIFICATE`.
  let label: String
  /// Indicates whether headers such as `DEK-Info` precede the base64, as in keys that old versions of OpenSSL
  /// encrypted.
  let hasHeaders: Bool
  /// The decoded bytes; empty if the block has headers.
  var bytes: [UInt8]

  /// Returns all blocks of a text, in order.
  static func blocks(in text: [UInt8]) throws(CryptoError) -> [PEMBlock] {
    let text = ByteOrderMark.dropped(from: text)
    var blocks: [PEMBlock] = []
    var open: (label: String, start: Int)?
    var lineStart = 0
    while lineStart < text.count {
      let lineEnd = text[lineStart...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? text.count
      let line = text[lineStart..<lineEnd]
      if let label = label(of: line, after: "-----BEGIN ") {
        guard open == nil else {
          throw CryptoError(.malformedPEM, "A PEM block \"\(label)\" begins inside another one.")
        }
        open = (label, lineEnd)
      } else if let label = label(of: line, after: "-----END ") {
        guard let begun = open, begun.label == label else {
          throw CryptoError(.malformedPEM, "A PEM block \"\(label)\" ends that never began.")
        }
        blocks.append(try block(begun.label, body: text[begun.start..<lineStart]))
        open = nil
      }
      lineStart = lineEnd + 1
    }
    if let open {
      throw CryptoError(
        .malformedPEM, "The PEM block \"\(open.label)\" has no END line; the file was probably cut short.")
    }
    return blocks
  }

  static func encode(_ bytes: [UInt8], label: String) -> String {
    let base64 = Base64.encode(bytes)
    var text = "-----BEGIN \(label)-----\n"
    text.reserveCapacity(base64.count + base64.count / 64 + 2 * label.utf8.count + 64)
    var index = 0
    while index < base64.count {
      let end = min(index + 64, base64.count)
      text += String(decoding: base64[index..<end], as: UTF8.self)
      text += "\n"
      index = end
    }
    return text + "-----END \(label)-----\n"
  }

  private static func block(_ label: String, body: ArraySlice<UInt8>) throws(CryptoError) -> PEMBlock {
    if body.contains(UInt8(ascii: ":")) { return PEMBlock(label: label, hasHeaders: true, bytes: []) }
    // White space includes vertical tabs and form feeds (section 3).
    let base64 = body.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
    guard let bytes = try? Base64.decode(base64), !bytes.isEmpty else {
      throw CryptoError(.malformedPEM, "The PEM block \"\(label)\" does not hold valid base64.")
    }
    return PEMBlock(label: label, hasHeaders: false, bytes: bytes)
  }

  private static func label(of line: ArraySlice<UInt8>, after prefix: String) -> String? {
    guard line.starts(with: prefix.utf8) else { return nil }
    var rest = line.dropFirst(prefix.utf8.count)
    while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
    let suffix = "-----".utf8
    guard rest.count >= suffix.count, rest.suffix(suffix.count).elementsEqual(suffix) else { return nil }
    return String(decoding: rest.dropLast(suffix.count), as: UTF8.self)
  }
}
