// SPDX-License-Identifier: Apache-2.0

/// SplitMix64: the same damage in every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// One to three of: a byte replaced, a run removed, a run doubled, two runs swapped.
  mutating func damage(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 1...3, using: &self) where bytes.count > 64 {
      let start = Int.random(in: 0..<bytes.count - 32, using: &self)
      let length = Int.random(in: 1...16, using: &self)
      switch Int.random(in: 0..<4, using: &self) {
      case 0: bytes[start] = UInt8.random(in: 0...255, using: &self)
      case 1: bytes.removeSubrange(start..<start + length)
      case 2: bytes.insert(contentsOf: bytes[start..<start + length], at: start)
      default:
        let run = bytes[start..<start + length]
        bytes.removeSubrange(start..<start + length)
        bytes.insert(contentsOf: run, at: Int.random(in: 0...bytes.count, using: &self))
      }
    }
    return bytes
  }
}
