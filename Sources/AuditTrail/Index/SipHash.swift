// SPDX-License-Identifier: Apache-2.0

/// SipHash-2-4 (Aumasson and Bernstein, 2012): a pseudorandom function of 64 bits for short messages, at a tenth
/// of the cost of SHA-256. Who does not know the key can neither predict a hash nor find messages that collide.
struct SipHash: Sendable {
  private let key: (UInt64, UInt64)

  init(_ k0: UInt64, _ k1: UInt64) { key = (k0, k1) }

  /// The hash of the byte `first` followed by `rest`.
  func hash(_ first: UInt8, _ rest: Span<UInt8>) -> UInt64 {
    let bytes = unsafe rest.bytes
    var state = SipState(key.0, key.1)
    var word = UInt64(first)
    var shift: UInt64 = 8
    var offset = 0
    if rest.count >= 7 {
      for _ in 0..<7 {
        word |= UInt64(rest[offset]) << shift
        offset += 1
        shift += 8
      }
      state.absorb(word)
      while rest.count - offset >= 8 {
        state.absorb(
          UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        offset += 8
      }
      word = 0
      shift = 0
    }
    while offset < rest.count {
      word |= UInt64(rest[offset]) << shift
      offset += 1
      shift += 8
    }
    state.absorb(word | UInt64(truncatingIfNeeded: rest.count + 1) << 56)
    return state.finalize()
  }

  /// The hash of two words, in little endian.
  func hash(_ a: UInt64, _ b: UInt64) -> UInt64 {
    var state = SipState(key.0, key.1)
    state.absorb(a)
    state.absorb(b)
    state.absorb(16 << 56)
    return state.finalize()
  }
}

private struct SipState {
  private var v0: UInt64
  private var v1: UInt64
  private var v2: UInt64
  private var v3: UInt64

  init(_ k0: UInt64, _ k1: UInt64) {
    v0 = k0 ^ 0x736f_6d65_7073_6575
    v1 = k1 ^ 0x646f_7261_6e64_6f6d
    v2 = k0 ^ 0x6c79_6765_6e65_7261
    v3 = k1 ^ 0x7465_6462_7974_6573
  }

  @inline(__always)
  mutating func absorb(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  @inline(__always)
  mutating func finalize() -> UInt64 {
    v2 ^= 0xff
    round()
    round()
    round()
    round()
    return v0 ^ v1 ^ v2 ^ v3
  }

  @inline(__always)
  private mutating func round() {
    v0 &+= v1
    v1 = rotated(v1, 13) ^ v0
    v0 = rotated(v0, 32)
    v2 &+= v3
    v3 = rotated(v3, 16) ^ v2
    v0 &+= v3
    v3 = rotated(v3, 21) ^ v0
    v2 &+= v1
    v1 = rotated(v1, 17) ^ v2
    v2 = rotated(v2, 32)
  }

  @inline(__always)
  private func rotated(_ word: UInt64, _ count: UInt64) -> UInt64 {
    word &<< count | word &>> (64 - count)
  }
}
