// SPDX-License-Identifier: Apache-2.0

/// Encodes and decodes bytes as pairs of hexadecimal digits.
package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Returns two lower-case digits for each byte.
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0xF)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes pairs of digits in either case; returns `nil` for any other text.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let text = Array(text.utf8)
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    for index in stride(from: 0, to: text.count, by: 2) {
      guard let high = value(text[index]), let low = value(text[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// Returns the value of a digit in either case; `nil` for any other character.
  package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension DefaultStringInterpolation {
  /// Appends a byte as errors show it, such as `0x0A`.
  package mutating func appendInterpolation(hexadecimal byte: UInt8) {
    let digits = String(byte, radix: 16, uppercase: true)
    appendLiteral(digits.utf8.count == 1 ? "0x0" : "0x")
    appendLiteral(digits)
  }
}
