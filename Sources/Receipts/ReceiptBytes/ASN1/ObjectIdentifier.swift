// SPDX-License-Identifier: Apache-2.0

/// An OBJECT IDENTIFIER, converted from and to its contents octets (X.690 section 8.19) and its dotted form.
package struct ObjectIdentifier: Sendable, Hashable, CustomStringConvertible {
  /// The contents octets, without tag and length.
  package let contents: [UInt8]

  /// Creates an identifier from its contents octets. Returns `nil` unless they are well formed and every component fits
  /// in 64 bits.
  package init?(contents: [UInt8]) {
    guard let last = contents.last, last & 0x80 == 0 else { return nil }
    var component: UInt64 = 0
    var isFirstOctet = true
    for octet in contents {
      if isFirstOctet, octet == 0x80 { return nil }
      guard component <= UInt64.max >> 7 else { return nil }
      component = component << 7 | UInt64(octet & 0x7F)
      isFirstOctet = octet & 0x80 == 0
      if isFirstOctet { component = 0 }
    }
    self.contents = contents
  }

  /// Creates an identifier from its dotted form, such as `1.2.840.113549.1.7.2`; `nil` if the text is malformed.
  package init?(_ dotted: String) {
    var components: [UInt64] = []
    for part in dotted.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      guard !part.isEmpty, part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
      var value: UInt64 = 0
      for digit in part {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
        let (product, overflows) = value.multipliedReportingOverflow(by: 10)
        let (sum, overflowsToo) = product.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
        guard !overflows, !overflowsToo else { return nil }
        value = sum
      }
      components.append(value)
    }
    guard components.count >= 2, components[0] <= 2, components[0] == 2 || components[1] < 40 else {
      return nil
    }
    let (first, overflows) = components[1].addingReportingOverflow(components[0] * 40)
    guard !overflows else { return nil }
    var contents = Self.base128(first)
    for component in components.dropFirst(2) { contents += Self.base128(component) }
    self.contents = contents
  }

  package var description: String {
    var text = ""
    var component: UInt64 = 0
    for octet in contents {
      component = component << 7 | UInt64(octet & 0x7F)
      guard octet & 0x80 == 0 else { continue }
      if text.isEmpty {
        // The first number encodes the first two components; the first component is 0, 1 or 2.
        let first = min(component / 40, 2)
        text = "\(first).\(component - first * 40)"
      } else {
        text += ".\(component)"
      }
      component = 0
    }
    return text
  }

  /// Returns a number in groups of seven bits. All bytes but the last have the highest bit set.
  static func base128(_ value: UInt64) -> [UInt8] {
    var octets = [UInt8(truncatingIfNeeded: value & 0x7F)]
    var rest = value >> 7
    while rest > 0 {
      octets.append(UInt8(truncatingIfNeeded: rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return octets.reversed()
  }
}
