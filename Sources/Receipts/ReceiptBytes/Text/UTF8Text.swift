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
  package static func isIdentical(_ lhs: String?, _ rhs: String?) -> Bool {
    switch (lhs, rhs) {
    case (nil, nil): true
    case (.some(let lhs), .some(let rhs)): isIdentical(lhs, rhs)
    default: false
    }
  }

  /// The same for two strings that are there.
  package static func isIdentical(_ lhs: String, _ rhs: String) -> Bool {
    ByteSearch.isEqual(lhs.utf8.span, rhs.utf8.span)
  }
}

/// The byte order mark of UTF-8. Editors and spreadsheets put it in front of a text. It is not part of the text.
package enum ByteOrderMark {
  package static let bytes: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Returns the text without a leading byte order mark; does not copy if there is no mark.
  package static func dropped(from text: [UInt8]) -> [UInt8] {
    text.starts(with: bytes) ? Array(text.dropFirst(bytes.count)) : text
  }
}

package enum ProgramArguments {
  /// A description of the first argument that is not UTF-8; `nil` if all are. `CommandLine.arguments` replaces invalid
  /// UTF-8 with U+FFFD. The program would then read or write a file with a different name.
  package static var fault: String? {
    for position in 0..<Int(CommandLine.argc) {
      guard let argument = unsafe CommandLine.unsafeArgv[position] else { break }
      if unsafe String(validatingCString: argument) == nil {
        return "argument \(position) is not UTF-8; rename the file, or give a link to it whose name is UTF-8"
      }
    }
    return nil
  }
}
