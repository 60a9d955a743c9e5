// SPDX-License-Identifier: Apache-2.0

/// Base64 of RFC 4648 section 4, as PEM uses it: canonical, padded, white space skipped.
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var index = 0
    while index < bytes.count {
      let available = min(3, bytes.count - index)
      var group = UInt32(bytes[index]) << 16
      if available > 1 { group |= UInt32(bytes[index + 1]) << 8 }
      if available > 2 { group |= UInt32(bytes[index + 2]) }
      for position in 0..<4 {
        let digit = Int(group >> UInt32(18 - 6 * position)) & 0x3F
        text.append(position <= available ? alphabet[digit] : UInt8(ascii: "="))
      }
      index += 3
    }
    return text
  }

  /// The decoded bytes; `nil` where anything but canonical base64 and white space is found.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var group: UInt32 = 0
    var digits = 0
    var padding = 0
    for character in text {
      if character == 0x20 || (0x09...0x0D).contains(character) { continue }
      if character == UInt8(ascii: "=") {
        padding += 1
        continue
      }
      guard padding == 0, let digit = value(of: character) else { return nil }
      group = group << 6 | digit
      digits += 1
      if digits % 4 == 0 {
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
        group = 0
      }
    }
    // What is left is one or two bytes, whose unused low bits must be zero: one spelling only.
    switch (digits % 4, padding) {
    case (0, 0):
      break
    case (2, 2) where group & 0xF == 0:
      bytes.append(UInt8(truncatingIfNeeded: group >> 4))
    case (3, 1) where group & 0x3 == 0:
      bytes.append(UInt8(truncatingIfNeeded: group >> 10))
      bytes.append(UInt8(truncatingIfNeeded: group >> 2))
    default:
      return nil
    }
    return bytes
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
