// SPDX-License-Identifier: Apache-2.0

/// One of the two base64 alphabets of RFC 4648, with the encoding and decoding that both share. Each sequence of bytes
/// has exactly one encoding: the unused bits of the last symbol must be zero (section 3.5). So signed text has no
/// second spelling.
struct Base64Alphabet: Sendable {
  private let name: String
  /// The symbol for each value 0…63.
  private let symbols: [UInt8]
  /// The value of each byte; 0xFF for a byte that is not a symbol.
  private let values: [UInt8]
  /// Indicates whether `=` pads the last group.
  private let isPadded: Bool

  static let standard = Base64Alphabet(name: "base64", last: "+/", isPadded: true)
  static let url = Base64Alphabet(name: "base64url", last: "-_", isPadded: false)

  private init(name: String, last: String, isPadded: Bool) {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    self.symbols = Array((letters + last).utf8)
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, symbol) in symbols.enumerated() { values[Int(symbol)] = UInt8(value) }
    self.name = name
    self.values = values
    self.isPadded = isPadded
  }

  // MARK: Encoding

  func encode(_ bytes: Span<UInt8>) -> [UInt8] {
    let groups = bytes.count / 3
    return [UInt8](capacity: (groups + 1) * 4) { output in
      for group in 0..<groups {
        let index = group * 3
        let word = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
        append(word, symbolCount: 4, to: &output)
      }
      let index = groups * 3
      switch bytes.count - index {
      case 1: append(UInt32(bytes[index]) << 16, symbolCount: 2, to: &output)
      case 2: append(UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8, symbolCount: 3, to: &output)
      default: break
      }
    }
  }

  /// Appends a group of 24 bits. Only its first `symbolCount` symbols carry data.
  @inline(__always)
  private func append(_ word: UInt32, symbolCount: Int, to output: inout OutputSpan<UInt8>) {
    output.append(symbols[Int(word >> 18 & 0x3F)])
    output.append(symbols[Int(word >> 12 & 0x3F)])
    if symbolCount > 2 { output.append(symbols[Int(word >> 6 & 0x3F)]) }
    if symbolCount > 3 { output.append(symbols[Int(word & 0x3F)]) }
    if isPadded { output.append(repeating: UInt8(ascii: "="), count: 4 - symbolCount) }
  }

  // MARK: Decoding

  func decode(_ text: Span<UInt8>, allowingWhitespace: Bool) throws(Base64Error) -> [UInt8] {
    // Two groups are stored as a word of eight bytes. Its last two bytes are overwritten by the next group or cut off.
    var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3 + 8)
    var count = 0
    var index = 0
    var word: UInt32 = 0
    var pending = 0
    while true {
      if pending == 0 { decodeWholeGroups(text, &index, &bytes, &count) }
      guard index < text.count else { break }
      let byte = text[index]
      let value = values[Int(byte)]
      if value != 0xFF {
        word = word << 6 | UInt32(value)
        pending += 1
        if pending == 4 {
          bytes[count] = UInt8(truncatingIfNeeded: word >> 16)
          bytes[count + 1] = UInt8(truncatingIfNeeded: word >> 8)
          bytes[count + 2] = UInt8(truncatingIfNeeded: word)
          count += 3
          (word, pending) = (0, 0)
        }
      } else if byte == UInt8(ascii: "="), isPadded {
        break
      } else if !(allowingWhitespace && Self.isWhitespace(byte)) {
        throw Base64Error(offset: index, message: "Byte \(hexadecimal: byte) is not part of \(name).")
      }
      index += 1
    }
    let end = index
    var padding = 0
    while index < text.count {
      let byte = text[index]
      if byte == UInt8(ascii: "="), padding + pending < 4, pending >= 2 {
        padding += 1
      } else if !(allowingWhitespace && Self.isWhitespace(byte)) {
        throw Base64Error(offset: index, message: "Misplaced padding, or a byte after it.")
      }
      index += 1
    }
    guard isPadded ? pending == 0 || pending + padding == 4 : pending != 1 else {
      throw Base64Error(offset: index, message: "The \(name) text ends inside a group of four.")
    }
    let unused = pending == 2 ? word & 0xF : pending == 3 ? word & 0x3 : 0
    guard unused == 0 else {
      throw Base64Error(
        offset: end - 1, message: "The last symbol of the \(name) text carries surplus bits.")
    }
    if pending == 2 { bytes[count] = UInt8(truncatingIfNeeded: word >> 4) }
    if pending == 3 {
      bytes[count] = UInt8(truncatingIfNeeded: word >> 10)
      bytes[count + 1] = UInt8(truncatingIfNeeded: word >> 2)
    }
    count += max(0, pending - 1)
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  /// Decodes eight symbols at a time, until fewer than eight bytes remain or one of the next eight is not a symbol.
  private func decodeWholeGroups(
    _ text: Span<UInt8>, _ index: inout Int, _ bytes: inout [UInt8], _ count: inout Int
  ) {
    let values = values.span
    var output = bytes.mutableSpan
    var outputBytes = unsafe output.mutableBytes
    while index <= text.count - 8 {
      let input = ByteSearch.word(text, at: index)
      var word: UInt64 = 0
      var all: UInt8 = 0
      for lane in 0..<8 {
        let value = values[Int(UInt8(truncatingIfNeeded: input >> UInt64(lane * 8)))]
        all |= value
        word |= UInt64(value) << UInt64(58 - lane * 6)
      }
      guard all & 0xC0 == 0 else { return }
      outputBytes.storeBytes(of: word.bigEndian, toByteOffset: count, as: UInt64.self)
      index += 8
      count += 6
    }
  }

  private static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }
}
