// SPDX-License-Identifier: Apache-2.0

/// An ASN.1 value of definite length: its tag and its position in the input.
public struct ASN1Element: Sendable, Hashable {
  /// The value's tag.
  public let tag: ASN1Tag
  /// The range of the whole value, including the identifier and length octets.
  public let encoded: Range<Int>
  /// The range of the contents, without the identifier and length octets.
  public let contents: Range<Int>

  /// Creates an element.
  @inlinable
  public init(tag: ASN1Tag, encoded: Range<Int>, contents: Range<Int>) {
    (self.tag, self.encoded, self.contents) = (tag, encoded, contents)
  }

  /// Returns `true` if a value of a universal type has the form and the encoding that DER requires. See X.690 sections
  /// 10.2 and 11, and section 8.3.2 for integers. A value of another class always passes: its tag does not determine
  /// its type.
  package func isCanonical(in bytes: Span<UInt8>) -> Bool {
    guard tag.tagClass == .universal else { return true }
    // 16 is SEQUENCE and 17 is SET. 0 is end-of-contents in BER.
    guard tag.number != 0, tag.isConstructed == (16...17).contains(tag.number) else { return false }
    let contents = bytes.extracting(contents)
    switch tag {
    case .boolean: return contents.count == 1 && (contents[0] == 0x00 || contents[0] == 0xFF)
    case .integer, .enumerated:
      guard contents.count > 1 else { return !contents.isEmpty }
      return contents[0] != (contents[1] < 0x80 ? 0x00 : 0xFF)
    case .bitString:
      guard !contents.isEmpty, contents[0] < 8 else { return false }
      let unused = contents[0]
      return contents.count > 1 ? contents[contents.count - 1] & (1 << unused - 1) == 0 : unused == 0
    case .null: return contents.isEmpty
    default: return true
    }
  }
}
