// SPDX-License-Identifier: Apache-2.0

package enum Hexadecimal {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Two lower-case digits a byte.
  package static func encode(_ bytes: some Collection<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 0xF)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
