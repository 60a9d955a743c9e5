// SPDX-License-Identifier: Apache-2.0

/// One element of DER (X.690): just enough of a reader to tell the formats of keys apart, and to hold certificates to
/// what OpenSSL lets pass. Certificates and keys themselves are decoded by OpenSSL.
struct DERElement {
  static let boolean: UInt8 = 0x01
  static let integer: UInt8 = 0x02
  static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let null: UInt8 = 0x05
  static let enumerated: UInt8 = 0x0A
  static let utcTime: UInt8 = 0x17
  static let sequence: UInt8 = 0x30
  static let set: UInt8 = 0x31

  /// The first identifier octet: all of the tag where its number is below 31.
  let tag: UInt8
  /// The element with its tag and length.
  let encoded: ArraySlice<UInt8>
  let content: ArraySlice<UInt8>
  /// What follows the element.
  let rest: ArraySlice<UInt8>

  /// Reads one element with a minimal tag and a minimal definite length; `nil` where there is none.
  init?(_ bytes: ArraySlice<UInt8>) {
    guard let tag = bytes.first else { return nil }
    var start = bytes.startIndex + 1
    if tag & 0x1F == 0x1F {
      // The number, seven bits an octet; without leading zeros, and 31 at least (X.690 section 8.1.2.4).
      let number = bytes[start...].prefix { $0 >= 0x80 }
      guard number.first != 0x80, number.endIndex < bytes.endIndex, number.first ?? bytes[start] >= 0x1F
      else {
        return nil
      }
      start = number.endIndex + 1
    }
    guard start < bytes.endIndex else { return nil }
    let first = bytes[start]
    start += 1
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
    self.encoded = bytes[..<(start + length)]
    self.content = bytes[start..<start + length]
    self.rest = bytes[(start + length)...]
  }

  var isConstructed: Bool { tag & 0x20 != 0 }

  /// Whether an element of a universal type has the one form, and its content the one encoding, that DER allows
  /// (X.690 sections 10.2 and 11, 8.3.2 for integers). Other classes say nothing about their content.
  var isCanonical: Bool {
    guard tag & 0xC0 == 0 else { return true }
    guard isConstructed == (tag == Self.sequence || tag == Self.set) else { return false }
    switch tag {
    case 0x00: return false
    case Self.boolean: return content == [0x00] || content == [0xFF]
    case Self.integer, Self.enumerated:
      guard let first = content.first, let second = content.dropFirst().first else { return !content.isEmpty }
      return first != (second < 0x80 ? 0x00 : 0xFF)
    case Self.bitString:
      guard let unused = content.first, unused < 8, let last = content.last else { return false }
      return content.count > 1 ? last & (1 << unused - 1) == 0 : unused == 0
    case Self.null: return content.isEmpty
    default: return true
    }
  }

  /// The SEQUENCE that fills `bytes` to the last byte.
  static func onlySequence(in bytes: [UInt8]) -> DERElement? {
    guard let element = DERElement(bytes[...]), element.tag == sequence, element.rest.isEmpty else {
      return nil
    }
    return element
  }
}
