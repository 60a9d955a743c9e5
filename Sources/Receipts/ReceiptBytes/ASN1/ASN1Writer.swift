// SPDX-License-Identifier: Apache-2.0

/// A writer of ASN.1 in the Distinguished Encoding Rules (X.690 section 10).
package struct ASN1Writer: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Returns the bytes that the closure writes.
  package static func encoding(_ body: (inout ASN1Writer) -> Void) -> [UInt8] {
    var writer = ASN1Writer()
    body(&writer)
    return writer.bytes
  }

  /// Returns a constructed value with the contents that the closure writes.
  package static func encoding(_ tag: ASN1Tag, _ body: (inout ASN1Writer) -> Void) -> [UInt8] {
    encoding { $0.write(tag, body) }
  }

  /// Writes a value with the given contents.
  package mutating func write(_ tag: ASN1Tag, contents: some Collection<UInt8>) {
    writeHeader(tag, length: contents.count)
    bytes += contents
  }

  /// Writes a constructed value with the contents that the closure writes.
  package mutating func write(_ tag: ASN1Tag, _ body: (inout ASN1Writer) -> Void) {
    write(tag, contents: Self.encoding(body))
  }

  /// Writes a `SET OF` of complete values, sorted as DER requires (X.690 section 11.6).
  package mutating func writeSet(_ tag: ASN1Tag = .set, of elements: [[UInt8]]) {
    write(tag) { inner in
      for element in elements.sorted(by: { $0.lexicographicallyPrecedes($1) }) { inner.append(element) }
    }
  }

  /// Appends bytes that are already DER.
  package mutating func append(_ encoded: some Collection<UInt8>) { bytes += encoded }

  package mutating func write(integer value: Int64) {
    var octets = value.bigEndianBytes
    while octets.count > 1,
      octets[0] == 0x00 && octets[1] & 0x80 == 0 || octets[0] == 0xFF && octets[1] & 0x80 != 0
    {
      octets.removeFirst()
    }
    write(.integer, contents: octets)
  }

  package mutating func write(boolean value: Bool) { write(.boolean, contents: [value ? 0xFF : 0x00]) }

  /// Writes a BIT STRING of named bits. Bit `n` is `1 << n`. Trailing zero bits are omitted (X.690 section 11.2.2).
  package mutating func write(namedBits bits: UInt16) {
    let count = UInt16.bitWidth - bits.leadingZeroBitCount
    var octets = [UInt8](repeating: 0, count: (count + 7) / 8)
    for bit in 0..<count where bits & (1 << UInt16(bit)) != 0 { octets[bit / 8] |= 0x80 >> UInt8(bit % 8) }
    write(.bitString, contents: [UInt8(octets.count * 8 - count)] + octets)
  }

  package mutating func write(octetString value: some Collection<UInt8>) {
    write(.octetString, contents: value)
  }

  package mutating func write(utf8String value: String) { write(.utf8String, contents: Array(value.utf8)) }

  /// Writes an IA5String; the text must be ASCII.
  package mutating func write(ia5String value: String) { write(.ia5String, contents: Array(value.utf8)) }

  package mutating func write(_ identifier: ObjectIdentifier) {
    write(.objectIdentifier, contents: identifier.contents)
  }

  package mutating func writeNull() { writeHeader(.null, length: 0) }

  private mutating func writeHeader(_ tag: ASN1Tag, length: Int) {
    bytes += tag.octets
    guard length >= 0x80 else {
      bytes.append(UInt8(truncatingIfNeeded: length))
      return
    }
    let octets = length.bigEndianBytes.drop { $0 == 0 }
    bytes.append(0x80 | UInt8(truncatingIfNeeded: octets.count))
    bytes += octets
  }
}
