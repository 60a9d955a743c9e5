// SPDX-License-Identifier: Apache-2.0

/// The base64 of 32 bytes, eight symbols at a time, without an array.
///
/// An entry of an audit trail has six digests, and there may be millions of entries. A word of eight 6-bit lanes, the
/// first symbol highest, is converted to eight symbols by arithmetic only. No lane carries into another.
extension Base64 {
  /// 32 bytes, eight in each word, the first highest.
  @usableFromInline package typealias DigestWords = (UInt64, UInt64, UInt64, UInt64)
  /// The symbols of 32 bytes, eight in each word, the first highest. The last word has only four, the padding included.
  @usableFromInline package typealias DigestSymbols = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

  /// The length of the text of 32 bytes: 42 symbols of six bits, one of four bits, and the padding.
  @inlinable package static var digestCount: Int { 44 }

  /// Encodes 32 bytes.
  @inlinable @inline(__always)
  package static func encode(digest words: DigestWords) -> DigestSymbols {
    let (a, b, c, d) = words
    let last = symbols(of: (d & 0xFFFF) << 32)
    return (
      symbols(of: a >> 16),
      symbols(of: (a & 0xFFFF) << 32 | b >> 32),
      symbols(of: (b & 0xFFFF_FFFF) << 16 | c >> 48),
      symbols(of: c & 0xFFFF_FFFF_FFFF),
      symbols(of: d >> 16),
      // Three symbols and the padding.
      last & 0xFFFF_FF00_0000_0000 | UInt64(UInt8(ascii: "=")) << 32
    )
  }

  /// Decodes the 32 bytes whose text begins at `index`; `nil` if the text ends early or is not canonical base64.
  @inlinable @inline(__always)
  package static func decode(digestIn text: Span<UInt8>, at index: Int) -> DigestWords? {
    guard index >= 0, text.count - index >= digestCount else { return nil }
    let raw = unsafe text.bytes
    func symbols(_ offset: Int) -> UInt64 {
      UInt64(bigEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: index + offset, as: UInt64.self))
    }
    let (s0, s1, s2, s3, s4) = (symbols(0), symbols(8), symbols(16), symbols(24), symbols(32))
    // The last four symbols are loaded together with the four before them.
    let s5 = symbols(36) << 32
    let (v0, v1, v2) = (value(of: s0), value(of: s1), value(of: s2))
    let (v3, v4, v5) = (value(of: s3), value(of: s4), value(of: s5))
    let words = (v0 << 16 | v1 >> 32, v1 << 32 | v2 >> 16, v2 << 48 | v3, v4 << 16 | v5 >> 32 & 0xFFFF)
    // Bytes that are not symbols decode to some value too, so encode again and compare.
    let again = encode(digest: words)
    let differences =
      (again.0 ^ s0) | (again.1 ^ s1) | (again.2 ^ s2) | (again.3 ^ s3) | (again.4 ^ s4) | (again.5 ^ s5)
    return differences == 0 ? words : nil
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
