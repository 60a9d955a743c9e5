// SPDX-License-Identifier: Apache-2.0

/// An error of this package: a stable code, the place of the error, and a message. The message says what is wrong and
/// what to do about it.
package protocol PlacedError: Error, Sendable, Hashable, CustomStringConvertible {
  associatedtype Code: RawRepresentable<String>

  var code: Code { get }
  /// The place of the error, such as a file, a table and key, or a server; empty if there is no single place.
  var place: String { get }
  /// A description of the error and of what to do about it, on one line.
  var message: String { get }
}

extension PlacedError {
  /// The code, the place and the message, on one line.
  package var line: String {
    place.isEmpty ? "\(code.rawValue): \(message)" : "\(code.rawValue) at \(place): \(message)"
  }
}
