// SPDX-License-Identifier: Apache-2.0

/// The spelling of text in entries: UTF-8, with control characters, space and the percent sign as `%` and two
/// upper-case hexadecimal digits.
package enum EntryText {
  /// Returns `true` if a value must percent-encode the byte.
  @inline(__always)
  static func isReserved(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: "%") || byte == 0x7F
  }

  /// Returns `true` if any of the bytes is reserved; eight bytes are compared at a time.
  @inline(__always)
  static func containsReserved(_ bytes: Span<UInt8>) -> Bool {
    let count = bytes.count
    guard count >= 8 else {
      for index in bytes.indices where isReserved(bytes[index]) { return true }
      return false
    }
    let ones: UInt64 = 0x0101_0101_0101_0101
    let raw = unsafe bytes.bytes
    var found: UInt64 = 0
    var index = 0
    while true {
      let word = unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
      let (percent, delete) = (word ^ ones &* 0x25, word ^ ones &* 0x7F)
      // The highest bit of a byte remains if the byte was below the subtrahend. The lowest such byte is always correct.
      found |= (word &- ones &* 0x21) & ~word | (percent &- ones) & ~percent | (delete &- ones) & ~delete
      guard index < count - 8 else { return found & (ones &* 0x80) != 0 }
      // The last eight bytes overlap the preceding ones.
      index = min(index + 8, count - 8)
    }
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  static func value(ofDigit digit: UInt8) -> UInt8? { digits.firstIndex(of: digit).map { UInt8($0) } }

  /// Calls `body` with the bytes that a value has in an entry, copied only if they differ from the text's.
  static func withEncoded<Result>(_ text: String, _ body: (Span<UInt8>) -> Result) -> Result {
    let bytes = text.utf8Span.span
    return containsReserved(bytes) ? body(encoded(text).span) : body(bytes)
  }

  /// Returns the bytes that a value has in an entry: equal texts have equal bytes, so indexes need not decode them.
  package static func encoded(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if isReserved(byte) {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
