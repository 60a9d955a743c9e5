// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// Converts a digest to and from base64, eight symbols at a time. An entry of an audit trail has six digests, and there
/// may be millions of entries. A word of eight 6-bit lanes, the first symbol highest, is converted to eight symbols by
/// arithmetic only. No lane carries into another.
extension SHA256Digest {
  /// The length of the text: 42 symbols of six bits, one of four bits, and the padding.
  @inlinable package static var base64Count: Int { 44 }

  /// The digest in base64 with padding.
  package var base64: String {
    let groups = base64Groups
    var text: [UInt8] = []
    text.reserveCapacity(48)
    for group in [groups.0, groups.1, groups.2, groups.3, groups.4, groups.5] {
      for shift in stride(from: 56, through: 0, by: -8) {
        text.append(UInt8(truncatingIfNeeded: group >> UInt64(shift)))
      }
    }
    return String(decoding: text.prefix(Self.base64Count), as: UTF8.self)
  }

  /// The symbols, eight in each word, the first highest. The last word has only four, the padding included.
  @inlinable @inline(__always)
  package var base64Groups: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) {
    let (a, b, c, d) = words
    let last = Self.symbols(of: (d & 0xFFFF) << 32)
    return (
      Self.symbols(of: a >> 16),
      Self.symbols(of: (a & 0xFFFF) << 32 | b >> 32),
      Self.symbols(of: (b & 0xFFFF_FFFF) << 16 | c >> 48),
      Self.symbols(of: c & 0xFFFF_FFFF_FFFF),
      Self.symbols(of: d >> 16),
      // Three symbols and the padding.
      last & 0xFFFF_FF00_0000_0000 | UInt64(UInt8(ascii: "=")) << 32
    )
  }

  /// Decodes the digest at `index`; `nil` if the text ends early or is not canonical base64.
  @inlinable @inline(__always)
  package init?(base64 text: Span<UInt8>, at index: Int) {
    guard index >= 0, text.count - index >= Self.base64Count else { return nil }
    let raw = unsafe text.bytes
    func symbols(_ offset: Int) -> UInt64 {
      UInt64(bigEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: index + offset, as: UInt64.self))
    }
    let (s0, s1, s2, s3, s4) = (symbols(0), symbols(8), symbols(16), symbols(24), symbols(32))
    // The last four symbols are loaded together with the four before them.
    let s5 = symbols(36) << 32
    let (v0, v1, v2) = (Self.value(of: s0), Self.value(of: s1), Self.value(of: s2))
    let (v3, v4, v5) = (Self.value(of: s3), Self.value(of: s4), Self.value(of: s5))
    self.init(
      words: (
        v0 << 16 | v1 >> 32, v1 << 32 | v2 >> 16, v2 << 48 | v3, v4 << 16 | v5 >> 32 & 0xFFFF
      ))
    // Bytes that are not symbols decode to some value too, so encode again and compare.
    let groups = base64Groups
    let differences =
      (groups.0 ^ s0) | (groups.1 ^ s1) | (groups.2 ^ s2) | (groups.3 ^ s3) | (groups.4 ^ s4)
      | (groups.5 ^ s5)
    guard differences == 0 else { return nil }
  }

  @inlinable package static var lanes: UInt64 { 0x0101_0101_0101_0101 }

  /// Returns a word with a one in each lane that is at least `bound`. Lanes and bound are below 128.
  @inlinable @inline(__always)
  package static func atLeast(_ bound: UInt64, _ lanes: UInt64) -> UInt64 {
    ((lanes &+ Self.lanes &* (128 - bound)) >> 7) & Self.lanes
  }

  /// Returns the eight symbols that encode 48 bits.
  @inlinable @inline(__always)
  package static func symbols(of bits: UInt64) -> UInt64 {
    var word = bits & 0xFFFF_FFFF_FFFF
    word = (word << 8 & 0x00FF_FFFF_0000_0000) | (word & 0x0000_0000_00FF_FFFF)
    word = (word << 4 & 0x0FFF_0000_0FFF_0000) | (word & 0x0000_0FFF_0000_0FFF)
    word = (word << 2 & 0x3F00_3F00_3F00_3F00) | (word & 0x003F_003F_003F_003F)
    // A to Z, a to z, 0 to 9, + and /.
    return word &+ lanes &* 65 &+ atLeast(26, word) &* 6 &- atLeast(52, word) &* 75
      &- atLeast(62, word) &* 15 &+ atLeast(63, word) &* 3
  }

  /// Returns the 48 bits that eight symbols encode; unspecified bits for bytes that are not symbols.
  @inlinable @inline(__always)
  package static func value(of symbols: UInt64) -> UInt64 {
    let ascii = symbols & 0x7F7F_7F7F_7F7F_7F7F
    var word =
      ascii &+ lanes &* 19 &- atLeast(47, ascii) &* 3 &- atLeast(48, ascii) &* 12
      &- atLeast(65, ascii) &* 69 &- atLeast(97, ascii) &* 6
    word &= 0x3F3F_3F3F_3F3F_3F3F
    word = (word >> 2 & 0x0FC0_0FC0_0FC0_0FC0) | (word & 0x003F_003F_003F_003F)
    word = (word >> 4 & 0x00FF_F000_00FF_F000) | (word & 0x0000_0FFF_0000_0FFF)
    return (word >> 8 & 0x0000_FFFF_FF00_0000) | (word & 0x0000_0000_00FF_FFFF)
  }
}
