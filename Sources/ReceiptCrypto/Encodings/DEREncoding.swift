// SPDX-License-Identifier: Apache-2.0

/// Writes the few DER elements that certificate extensions consist of.
enum DEREncoding {
  static let null: [UInt8] = [0x05, 0x00]

  static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
    var length: [UInt8] = []
    var rest = content.count
    while rest > 0 {
      length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    }
    return [tag, 0x80 | UInt8(length.count)] + length + content
  }

  static func sequence(_ elements: [[UInt8]]) -> [UInt8] { element(0x30, Array(elements.joined())) }

  static func octetString(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }

  /// A non-negative INTEGER.
  static func integer(_ value: Int) -> [UInt8] {
    var octets: [UInt8] = []
    var rest = max(0, value)
    repeat {
      octets.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    } while rest > 0
    if octets[0] & 0x80 != 0 { octets.insert(0, at: 0) }
    return element(0x02, octets)
  }

  /// A BIT STRING of named bits: bit `n` is `1 << n`, zero bits at the end are left out (X.690 section
  /// 11.2.2).
  static func namedBits(_ bits: UInt16) -> [UInt8] {
    let count = UInt16.bitWidth - bits.leadingZeroBitCount
    var octets = [UInt8](repeating: 0, count: (count + 7) / 8)
    for bit in 0..<count where bits & (1 << UInt16(bit)) != 0 { octets[bit / 8] |= 0x80 >> UInt8(bit % 8) }
    return element(0x03, [UInt8(octets.count * 8 - count)] + octets)
  }
}
