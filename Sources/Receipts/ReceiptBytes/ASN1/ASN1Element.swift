// SPDX-License-Identifier: Apache-2.0

/// A value of definite length: its tag, and where it stands in the input.
public struct ASN1Element: Sendable, Hashable {
  /// Its tag.
  public let tag: ASN1Tag
  /// The value with its identifier and length octets.
  public let encoded: Range<Int>
  /// The value without them.
  public let contents: Range<Int>

  /// Creates an element.
  @inlinable
  public init(tag: ASN1Tag, encoded: Range<Int>, contents: Range<Int>) {
    (self.tag, self.encoded, self.contents) = (tag, encoded, contents)
  }

  /// Indicates whether a value of a universal type has the one form, and its contents the one encoding, that DER allows
  /// (X.690 sections 10.2 and 11, 8.3.2 for integers). Other classes say nothing about their contents.
  public func isCanonical(in bytes: Span<UInt8>) -> Bool {
    guard tag.tagClass == .universal else { return true }
    // SEQUENCE (16) and SET (17); 0 is the end of contents of a BER encoding.
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
