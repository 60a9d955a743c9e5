// SPDX-License-Identifier: Apache-2.0

/// Device identifiers in the forms that people write.
package enum DeviceIdentifier {
  /// Reads a UUID (`identifierForVendor`) or the hardware address of a Mac. The text is a UUID with hyphens or plain
  /// hexadecimal digits, two for each byte. A colon or a hyphen may separate two bytes.
  package static func bytes(_ text: String) -> [UInt8]? {
    var digits: [UInt8] = []
    var endsWithSeparator = true
    for character in text.utf8 {
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(character - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digits.append(character - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digits.append(character - UInt8(ascii: "A") + 10)
      case UInt8(ascii: "-"), UInt8(ascii: ":"):
        // Separators are allowed only between whole bytes.
        guard !endsWithSeparator, digits.count.isMultiple(of: 2) else { return nil }
        endsWithSeparator = true
        continue
      default: return nil
      }
      endsWithSeparator = false
      guard digits.count <= 32 else { return nil }
    }
    guard !endsWithSeparator, digits.count == 32 || digits.count == 12 else { return nil }
    return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }
}
