// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Searching and comparing bytes, eight at a time.
///
/// A word's lane is marked by its high bit. Borrows between lanes can only mark lanes above a true mark, so the
/// lowest mark is always right.
public enum ByteSearch {
  /// The lowest bit of each lane.
  @inlinable public static var lowBits: UInt64 { 0x0101_0101_0101_0101 }
  /// The highest bit of each lane.
  @inlinable public static var highBits: UInt64 { 0x8080_8080_8080_8080 }

  /// Marks the lanes that are zero.
  @inlinable @inline(__always)
  public static func zeroLanes(_ word: UInt64) -> UInt64 { (word &- lowBits) & ~word & highBits }

  /// The eight bytes from `index` on, the first one lowest. Reading beyond the end is trapped, as with any
  /// index; what is unsafe is that it takes bytes for an integer; every integer is valid.
  @inlinable @inline(__always)
  public static func word(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
    let raw = unsafe bytes.bytes
    return UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// A word that tells names apart, nearly always: equal names have equal ones.
  @inlinable @inline(__always)
  public static func fingerprint(_ bytes: Span<UInt8>) -> UInt64 {
    let count = bytes.count
    var fingerprint = UInt64(truncatingIfNeeded: count)
    if count >= 8 {
      fingerprint ^= word(bytes, at: 0) ^ (word(bytes, at: count - 8) &* 31)
    } else {
      for index in bytes.indices { fingerprint = fingerprint << 8 | UInt64(bytes[index]) }
    }
    return fingerprint
  }

  /// Index of the first byte from `start` on that equals `byte`; `nil` without one.
  public static func firstIndex(of byte: UInt8, in bytes: Span<UInt8>, from start: Int = 0) -> Int? {
    var index = start
    let pattern = UInt64(byte) &* lowBits
    // Four words at a time while there is no mark among them.
    while index <= bytes.count - 32 {
      let marks =
        zeroLanes(word(bytes, at: index) ^ pattern) | zeroLanes(word(bytes, at: index + 8) ^ pattern)
        | zeroLanes(word(bytes, at: index + 16) ^ pattern) | zeroLanes(word(bytes, at: index + 24) ^ pattern)
      if marks != 0 { break }
      index += 32
    }
    while index <= bytes.count - 8 {
      let marks = zeroLanes(word(bytes, at: index) ^ pattern)
      if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < bytes.count {
      if bytes[index] == byte { return index }
      index += 1
    }
    return nil
  }

  /// Indicates whether a few bytes stand among others, in time linear in these. `firstRange(of:)` of the standard
  /// library takes a hundred times as long.
  package static func contains(_ part: StaticString, in bytes: Span<UInt8>) -> Bool {
    let count = part.utf8CodeUnitCount
    guard count > 0, part.hasPointerRepresentation else { return false }
    let part = unsafe UnsafeBufferPointer(start: part.utf8Start, count: count)
    var start = 0
    while let index = firstIndex(of: unsafe part[0], in: bytes, from: start), index <= bytes.count - count {
      var matched = 1
      while matched < count, unsafe part[matched] == bytes[index + matched] { matched += 1 }
      if matched == count { return true }
      start = index + 1
    }
    return false
  }

  /// Indicates whether the bytes are the same.
  public static func isEqual(_ lhs: Span<UInt8>, _ rhs: Span<UInt8>) -> Bool {
    guard lhs.count == rhs.count else { return false }
    return unsafe lhs.withUnsafeBytes { lhs in
      unsafe rhs.withUnsafeBytes { rhs in
        guard let left = lhs.baseAddress, let right = rhs.baseAddress else { return lhs.count == 0 }
        return unsafe memcmp(left, right, lhs.count) == 0
      }
    }
  }
}
