// SPDX-License-Identifier: Apache-2.0

extension [UInt8] {
  /// Appends an integer, most significant byte first.
  mutating func append(bigEndian value: some FixedWidthInteger) {
    var shift = value.bitWidth - 8
    while shift >= 0 {
      append(UInt8(truncatingIfNeeded: value >> shift))
      shift -= 8
    }
  }

  /// The integer whose most significant byte is at `offset`. The bytes must be there.
  func bigEndian<Value: FixedWidthInteger>(at offset: Int) -> Value {
    var value: Value = 0
    for byte in self[offset..<offset + Value.bitWidth / 8] { value = value << 8 | Value(byte) }
    return value
  }
}
