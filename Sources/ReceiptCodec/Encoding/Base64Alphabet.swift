// SPDX-License-Identifier: Apache-2.0

/// The 64 symbols of one of the two base64 alphabets of RFC 4648, and the coding that both share.
///
/// Only one text stands for given bytes: unused bits of the last symbol must be zero (section 3.5), so that a
/// receipt cannot be respelled without breaking it.
struct Base64Alphabet: Sendable {
  /// Symbol of each value 0…63.
  private let symbols: [UInt8]
  /// Value of each byte; 0xFF for one that is no symbol.
  private let values: [UInt8]
  /// Whether the last group is filled up with `=`.
  private let isPadded: Bool
  private let name: String

  static let standard = Base64Alphabet(name: "base64", last: "+/", isPadded: true)
  static let url = Base64Alphabet(name: "base64url", last: "-_", isPadded: false)

  private init(name: String, last: String, isPadded: Bool) {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    self.symbols = Array((letters + last).utf8)
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, symbol) in symbols.enumerated() { values[Int(symbol)] = UInt8(value) }
    self.values = values
    self.isPadded = isPadded
    self.name = name
  }

  func encode(_ bytes: Span<UInt8>) -> [UInt8] {
    let symbols = symbols.span
    let groups = bytes.count / 3
    return [UInt8](capacity: (groups + 1) * 4) { output in
      for group in 0..<groups {
        let index = group * 3
        let word = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
        output.append(symbols[Int(word >> 18)])
        output.append(symbols[Int(word >> 12 & 0x3F)])
        output.append(symbols[Int(word >> 6 & 0x3F)])
        output.append(symbols[Int(word & 0x3F)])
      }
      switch bytes.count - groups * 3 {
      case 1:
        let word = UInt32(bytes[groups * 3]) << 4
        output.append(symbols[Int(word >> 6)])
        output.append(symbols[Int(word & 0x3F)])
        if isPadded { output.append(repeating: UInt8(ascii: "="), count: 2) }
      case 2:
        let word = UInt32(bytes[groups * 3]) << 10 | UInt32(bytes[groups * 3 + 1]) << 2
        output.append(symbols[Int(word >> 12)])
        output.append(symbols[Int(word >> 6 & 0x3F)])
        output.append(symbols[Int(word & 0x3F)])
        if isPadded { output.append(UInt8(ascii: "=")) }
      default: break
      }
    }
  }

  /// `part` and `start` say in an error which part of the receipt the text is, and at which offset it begins.
  func decode(
    _ text: Span<UInt8>, allowingWhitespace: Bool, part: String, start: Int
  ) throws(MalformedReceipt) -> [UInt8] {
    let values = values.span
    return try [UInt8](capacity: text.count / 4 * 3 + 3) { (output) throws(MalformedReceipt) in
      var index = 0
      var word: UInt32 = 0
      var pending = 0
      reading: while true {
        // Whole groups of four symbols; anything else falls through to the byte-wise code below.
        while pending == 0, index <= text.count - 4 {
          let first = values[Int(text[index])]
          let second = values[Int(text[index + 1])]
          let third = values[Int(text[index + 2])]
          let fourth = values[Int(text[index + 3])]
          guard (first | second | third | fourth) & 0xC0 == 0 else { break }
          output.append(first << 2 | second >> 4)
          output.append(second << 4 | third >> 2)
          output.append(third << 6 | fourth)
          index += 4
        }
        guard index < text.count else { break reading }
        let byte = text[index]
        let value = values[Int(byte)]
        if value != 0xFF {
          word = word << 6 | UInt32(value)
          pending += 1
          if pending == 4 {
            output.append(UInt8(truncatingIfNeeded: word >> 16))
            output.append(UInt8(truncatingIfNeeded: word >> 8))
            output.append(UInt8(truncatingIfNeeded: word))
            (word, pending) = (0, 0)
          }
        } else if byte == UInt8(ascii: "="), isPadded {
          break reading
        } else if !(allowingWhitespace && Self.isWhitespace(byte)) {
          throw failure("Byte \(hexadecimal: byte) is not part of \(name).", at: start + index, within: part)
        }
        index += 1
      }
      let paddingIndex = index
      var padding = 0
      while index < text.count {
        let byte = text[index]
        if byte == UInt8(ascii: "="), padding + pending < 4, pending >= 2 {
          padding += 1
        } else if !(allowingWhitespace && Self.isWhitespace(byte)) {
          throw failure("Misplaced padding, or a byte after it.", at: start + index, within: part)
        }
        index += 1
      }
      let isComplete = isPadded ? pending == 0 || pending + padding == 4 : pending != 1
      guard isComplete else {
        throw failure("The \(name) text ends inside a group of four.", at: start + index, within: part)
      }
      let unused = pending == 2 ? word & 0xF : pending == 3 ? word & 0x3 : 0
      guard unused == 0 else {
        let place = start + max(0, paddingIndex - 1)
        throw failure("The last symbol of the \(name) text carries surplus bits.", at: place, within: part)
      }
      if pending == 2 { output.append(UInt8(truncatingIfNeeded: word >> 4)) }
      if pending == 3 {
        output.append(UInt8(truncatingIfNeeded: word >> 10))
        output.append(UInt8(truncatingIfNeeded: word >> 2))
      }
    }
  }

  private static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  private func failure(_ message: String, at offset: Int, within part: String) -> MalformedReceipt {
    MalformedReceipt(.invalidBase64, at: .byteOffset(offset, within: part), message)
  }
}

extension DefaultStringInterpolation {
  /// `0x0A`: a byte as errors show it.
  mutating func appendInterpolation(hexadecimal byte: UInt8) {
    let digits = String(byte, radix: 16, uppercase: true)
    appendLiteral(digits.utf8.count == 1 ? "0x0" : "0x")
    appendLiteral(digits)
  }
}
