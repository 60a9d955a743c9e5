// SPDX-License-Identifier: Apache-2.0

/// An error for bytes that are not an entry, or facts that no entry can hold, with its place.
package struct MalformedEntry: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of the error.
  package let code: Code
  /// The number of the line, starting at 1; 0 if the error concerns no single line.
  package let line: Int
  /// The offset of the error, in bytes.
  package let offset: Int
  /// A message for people.
  package let message: String

  init(_ code: Code, line: Int = 0, offset: Int = 0, _ message: String) {
    self.code = code
    self.line = line
    self.offset = offset
    self.message = message
  }

  /// The message with its place.
  package var description: String {
    line == 0 ? message : "\(message) (line \(line), byte \(offset))"
  }
}
