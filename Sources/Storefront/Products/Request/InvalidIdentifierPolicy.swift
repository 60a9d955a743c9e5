// SPDX-License-Identifier: Apache-2.0

/// What is done about identifiers that the store does not know. They mean that the list of identifiers is wrong, or the
/// store's catalogue. Both ways they are logged, and are apart in the response.
public enum InvalidIdentifierPolicy: Sendable {
  /// Leave them out and go on: customers buy what there is.
  case production
  /// Go on, too, but report to the developer: the handler shows the error where it cannot be overlooked.
  case development(@Sendable (InvalidProductIdentifiers) -> Void)
}

/// Identifiers that the store does not know.
public struct InvalidProductIdentifiers: Error, Sendable, Hashable, CustomStringConvertible {
  /// The identifiers, sorted; at least one.
  public let identifiers: [String]

  /// Creates an error; `nil` if there are none.
  public init?(_ identifiers: [String]) {
    guard !identifiers.isEmpty else { return nil }
    self.identifiers = identifiers.sorted()
  }

  /// The identifiers and what to do, on one line.
  public var description: String {
    let names = identifiers.map { "\"\($0)\"" }.joined(separator: ", ")
    return "invalid-product-identifiers: the store does not sell \(names); correct the list of product "
      + "identifiers, or add them to the store's catalogue and put them up for sale."
  }
}
