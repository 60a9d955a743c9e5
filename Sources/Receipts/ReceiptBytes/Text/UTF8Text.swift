// SPDX-License-Identifier: Apache-2.0

/// Decodes UTF-8 strictly: invalid bytes are rejected, never repaired.
package enum UTF8Text {
  /// Returns the string that the bytes encode; `nil` if they are not valid UTF-8.
  package static func string(_ bytes: Span<UInt8>) -> String? {
    guard let text = try? UTF8Span(validating: bytes) else { return nil }
    return String(copying: text)
  }

  /// Returns the string that the bytes encode; `nil` if they are not valid UTF-8.
  package static func string(_ bytes: [UInt8]) -> String? { string(bytes.span) }

  /// Returns the string that the bytes encode; `nil` if they are not valid UTF-8.
  package static func string(_ bytes: ArraySlice<UInt8>) -> String? { string(bytes.span) }

  /// Returns the offset of the first byte that is not valid UTF-8; `nil` if all are valid.
  package static func firstInvalidByte(_ bytes: Span<UInt8>) -> Int? {
    do throws(UTF8.ValidationError) {
      _ = try UTF8Span(validating: bytes)
      return nil
    } catch {
      return error.byteOffsets.lowerBound
    }
  }

  /// Returns `true` if two strings have the same bytes. Swift's `==` also treats canonically equivalent strings as
  /// equal. Identifiers must not be compared like that.
  package static func isIdentical(_ lhs: String, _ rhs: String) -> Bool {
    ByteSearch.isEqual(lhs.utf8.span, rhs.utf8.span)
  }
}
