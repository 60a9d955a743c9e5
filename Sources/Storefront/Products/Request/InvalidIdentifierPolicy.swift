// SPDX-License-Identifier: Apache-2.0

/// How identifiers are handled that the store does not know. They are a mistake in the list of identifiers or in the
/// store's catalogue. Either policy logs them and lists them separately in the response.
public enum InvalidIdentifierPolicy: Sendable {
  /// Ignores them: customers buy the other products.
  case production
  /// Also reports them to the developer, by a handler that shows the error prominently.
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
