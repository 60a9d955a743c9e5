// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Searches and compares bytes, eight at a time.
///
/// A byte of a word is a *lane*, and the high bit of a lane marks it. A borrow between lanes can set a false mark only
/// above a true one, so the lowest mark is always correct.
public enum ByteSearch {
  /// The lowest bit of each lane.
  @inlinable public static var lowBits: UInt64 { 0x0101_0101_0101_0101 }
  /// The highest bit of each lane.
  @inlinable public static var highBits: UInt64 { 0x8080_8080_8080_8080 }

  /// Returns a word that marks the lanes that are zero.
  @inlinable @inline(__always)
  public static func zeroLanes(_ word: UInt64) -> UInt64 { (word &- lowBits) & ~word & highBits }

  /// Returns the eight bytes from `index` on as a word, the first byte lowest.
  ///
  /// Reading beyond the end traps, as with any index. The load is unsafe only because it reinterprets bytes as an
  /// integer, and any eight bytes are a valid integer.
  @inlinable @inline(__always)
  public static func word(_ bytes: Span<UInt8>, at index: Int) -> UInt64 {
    let raw = unsafe bytes.bytes
    return UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
  }

  /// Returns a word that nearly always differs for different names; equal names have equal fingerprints.
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

  /// Returns the index of the first byte from `start` on that equals `byte`; `nil` if there is no such byte.
  public static func firstIndex(of byte: UInt8, in bytes: Span<UInt8>, from start: Int = 0) -> Int? {
    var index = start
    let pattern = UInt64(byte) &* lowBits
    // Skips four words at a time while no lane of them is marked.
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

  /// Returns the first index from `start` on at which `bytes` contain `part`; `nil` if there is no such index, or `part`
  /// is empty. The search is usually linear in the number of bytes. The standard library's `firstRange(of:)` takes a
  /// hundred times as long.
  package static func firstIndex(
    of part: Span<UInt8>, in bytes: Span<UInt8>, from start: Int = 0
  ) -> Int? {
    guard !part.isEmpty else { return nil }
    var start = start
    while let index = firstIndex(of: part[0], in: bytes, from: start), index <= bytes.count - part.count {
      if isEqual(part, bytes.extracting(index..<index + part.count)) { return index }
      start = index + 1
    }
    return nil
  }

  /// Returns `true` if `bytes` contain `part`.
  package static func contains(_ part: StaticString, in bytes: Span<UInt8>) -> Bool {
    guard part.hasPointerRepresentation else { return false }
    let part = unsafe UnsafeBufferPointer(start: part.utf8Start, count: part.utf8CodeUnitCount)
    return unsafe firstIndex(of: part.span, in: bytes) != nil
  }

  /// Returns `true` if the bytes are equal.
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
