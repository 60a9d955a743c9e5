// SPDX-License-Identifier: Apache-2.0

/// UTF-8, checked, never repaired.
package enum UTF8Text {
  /// The string that the bytes spell, or `nil` if they are not valid UTF-8.
  package static func string(_ bytes: Span<UInt8>) -> String? {
    guard let text = try? UTF8Span(validating: bytes) else { return nil }
    return String(copying: text)
  }

  /// The string that the bytes spell, or `nil` if they are not valid UTF-8.
  package static func string(_ bytes: [UInt8]) -> String? { string(bytes.span) }

  /// The string that the bytes spell, or `nil` if they are not valid UTF-8.
  package static func string(_ bytes: ArraySlice<UInt8>) -> String? { string(bytes.span) }

  /// Offset of the first byte that breaks UTF-8, or `nil` if all are valid.
  package static func firstInvalidByte(_ bytes: Span<UInt8>) -> Int? {
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: bytes)
      return nil
    } catch {
      return error.byteOffsets.lowerBound
    }
  }

  /// Indicates whether two strings have the same bytes. Swift's `==` also calls canonically equivalent strings equal,
  /// which an identifier must not be.
  package static func isIdentical(_ lhs: String, _ rhs: String) -> Bool {
    ByteSearch.isEqual(lhs.utf8.span, rhs.utf8.span)
  }
}
