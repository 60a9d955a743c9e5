// SPDX-License-Identifier: Apache-2.0

/// One element of DER (X.690): just enough of a reader to tell the formats of keys apart. Certificates and
/// keys themselves are decoded by OpenSSL.
struct DERElement {
  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let sequence: UInt8 = 0x30

  let tag: UInt8
  let content: ArraySlice<UInt8>
  /// What follows the element.
  let rest: ArraySlice<UInt8>

  /// Reads one element with a one-byte tag and a minimal definite length; `nil` where there is none.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 2 else { return nil }
    let tag = bytes[bytes.startIndex]
    guard tag & 0x1F != 0x1F else { return nil }
    let first = bytes[bytes.startIndex + 1]
    var start = bytes.startIndex + 2
    var length = Int(first)
    if first >= 0x80 {
      let octets = Int(first & 0x7F)
      guard (1...4).contains(octets), bytes.endIndex - start >= octets else { return nil }
      length = bytes[start..<start + octets].reduce(0) { $0 << 8 | Int($1) }
      guard length >= 0x80, bytes[start] != 0 else { return nil }
      start += octets
    }
    guard bytes.endIndex - start >= length else { return nil }
    self.tag = tag
    self.content = bytes[start..<start + length]
    self.rest = bytes[(start + length)...]
  }

  /// The SEQUENCE that fills `bytes` to the last byte.
  static func onlySequence(in bytes: [UInt8]) -> DERElement? {
    guard let element = DERElement(bytes[...]), element.tag == sequence, element.rest.isEmpty else {
      return nil
    }
    return element
  }
}
