// SPDX-License-Identifier: Apache-2.0

/// Bytes that are not an entry, or facts that no entry can hold: what is wrong and where.
public struct MalformedEntry: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of fault, as a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The first line is not that of this version of the format.
    case version
    /// The bytes end in the middle of a line, or before a line that every entry has.
    case truncated
    /// A line that the format does not have, or not in this place.
    case unexpectedLine = "unexpected-line"
    /// A value is empty.
    case emptyValue = "empty-value"
    /// A value is not spelled in the one way that it has.
    case invalidValue = "invalid-value"
    /// A number that is negative where none may be, or beyond the range of its line.
    case outOfRange = "out-of-range"
    /// Longer than ``AuditEntry/maximumByteCount``.
    case tooLong = "too-long"
  }

  /// The kind of fault.
  public let code: Code
  /// The number of the line, the first being 1; 0 where it is no line's fault.
  public let line: Int
  /// The byte at which it is wrong.
  public let offset: Int
  /// A sentence for a person.
  public let message: String

  init(_ code: Code, line: Int = 0, offset: Int = 0, _ message: String) {
    self.code = code
    self.line = line
    self.offset = offset
    self.message = message
  }

  /// The message with its place.
  public var description: String {
    line == 0 ? message : "\(message) (line \(line), byte \(offset))"
  }
}
