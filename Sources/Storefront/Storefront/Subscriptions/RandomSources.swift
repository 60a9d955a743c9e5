// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCrypto

/// A random source whose values depend only on the seed, a purpose and a number, and not on earlier values. So the
/// order in which a store processes its customers does not change the results.
struct KeyedRandomSource: Sendable {
  let seed: UInt64

  /// The first 16 bytes of SHA-256 over the seed, the purpose and a number.
  private func bytes(_ purpose: String, _ number: UInt64) -> ArraySlice<UInt8> {
    Digest.hash(seed.bigEndianBytes + number.bigEndianBytes + Array(purpose.utf8), using: .sha256).prefix(16)
  }

  /// A number from 0 up to, but not including, 1.
  func chance(_ purpose: String, _ number: UInt64) -> Double {
    let word = bytes(purpose, number).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Double(word >> 11) / Double(UInt64(1) << 53)
  }

  /// A UUID of version 8 (RFC 9562): all bits but version and variant are free.
  func uuid(_ purpose: String, _ number: UInt64) -> String {
    var bytes = Array(bytes(purpose, number))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    var text = Hexadecimal.encode(bytes)
    for place in [20, 16, 12, 8] { text.insert("-", at: text.index(text.startIndex, offsetBy: place)) }
    return text
  }
}

/// A deterministic random number generator: SplitMix64 (Steele, Lea, Flood 2014). For simulations, never for secrets.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { self.state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
