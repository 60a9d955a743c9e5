// SPDX-License-Identifier: Apache-2.0

/// Products that the store confirmed. Keep them to make payments.
public struct ValidatedProducts: Sendable, Hashable {
  /// The products, in the order of the list.
  public let products: [Product]
  /// Identifiers of the list that the store does not know.
  public let invalidProductIdentifiers: [String]

  /// Creates a value from a store's response, in the order of the list.
  package init(_ response: ProductsResponse, orderedBy list: ProductIdentifierList) {
    let products = Dictionary(
      response.products.map { ($0.productIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
    self.products = list.identifiers.compactMap { products[$0] }
    invalidProductIdentifiers = response.invalidProductIdentifiers
  }

  /// The error about invalid identifiers; `nil` if all are valid.
  public var validationError: InvalidProductIdentifiers? {
    InvalidProductIdentifiers(invalidProductIdentifiers)
  }

  /// The product with this identifier; `nil` if the store did not confirm it.
  public func product(_ productIdentifier: String) -> Product? {
    products.first { $0.productIdentifier == productIdentifier }
  }

  /// A payment for one of a product; `nil` if the store did not confirm it.
  public func payment(for productIdentifier: String) -> Payment? {
    product(productIdentifier).map { Payment(product: $0) }
  }

  /// What a user interface should show: nothing to a user who may not pay, and only products that can be bought.
  ///
  /// - Parameter canMakePayments: Whether the user may authorise payments; ask the queue just before showing.
  /// - Returns: The products in the order of the list, or why there is nothing to show.
  public func storeUI(canMakePayments: Bool) -> StoreUI {
    guard canMakePayments else { return .hidden(.paymentsNotAllowed) }
    return products.isEmpty ? .hidden(.noProducts) : .shown(products)
  }
}

/// What the user interface of a store should show.
public enum StoreUI: Sendable, Hashable {
  /// These products, each with its title, description and ``Product/localizedPrice``.
  case shown([Product])
  /// No products: change, disable or hide the user interface.
  case hidden(Reason)

  /// Why there is nothing to show.
  public enum Reason: Sendable, Hashable {
    /// The user may not authorise payments.
    case paymentsNotAllowed
    /// None of the products is for sale.
    case noProducts
  }
}
