// SPDX-License-Identifier: Apache-2.0

/// The shape of this package's errors: a code that stays stable, the place, and a message that says what was found and
/// what to do.
package protocol PlacedError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The words for what can go wrong.
  associatedtype Code: RawRepresentable<String>

  /// The kind of fault, as a word that stays stable.
  var code: Code { get }
  /// The place: a file, a table and key, a server; empty without a single place.
  var place: String { get }
  /// A description of the fault and the remedy, on one line.
  var message: String { get }
}

extension PlacedError {
  /// The code, the place and the message, on one line.
  package var line: String {
    place.isEmpty ? "\(code.rawValue): \(message)" : "\(code.rawValue) at \(place): \(message)"
  }
}
