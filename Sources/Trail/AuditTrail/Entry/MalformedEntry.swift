// SPDX-License-Identifier: Apache-2.0

/// An error for bytes that are not an entry, or facts that no entry can hold, with its place.
package struct MalformedEntry: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of an error, whose raw values are stable.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// The first line is not that of this version of the format.
    case version
    /// The bytes end in the middle of a line, or before a line that every entry has.
    case truncated
    /// The format has no such line, or not in this place.
    case unexpectedLine = "unexpected-line"
    case emptyValue = "empty-value"
    /// A value is not spelled in its only valid form.
    case invalidValue = "invalid-value"
    /// A number is negative and must not be, or is beyond the range of its line.
    case outOfRange = "out-of-range"
    /// The entry is longer than ``AuditEntry/maximumByteCount``.
    case tooLong = "too-long"
  }

  package let code: Code
  /// The number of the line, starting at 1; 0 if the error concerns no single line.
  package let line: Int
  package let offset: Int
  package let message: String

  init(_ code: Code, line: Int = 0, offset: Int = 0, _ message: String) {
    self.code = code
    self.line = line
    self.offset = offset
    self.message = message
  }

  package var description: String {
    line == 0 ? message : "\(message) (line \(line), byte \(offset))"
  }
}
