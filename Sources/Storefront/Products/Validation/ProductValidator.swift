// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Validates a list of product identifiers with the store before products are shown for sale
/// (`validateProductIdentifiers:` and `displayStoreUI` of the guide).
///
/// ```swift
/// let validator = ProductValidator(store: store, log: { print($0) })
/// let products = try await validator.validate(list)
/// switch products.storeUI(canMakePayments: queue.canMakePayments) {
/// case .shown(let products): show(products)
/// case .hidden: hideTheShop()
/// }
/// ```
public struct ProductValidator: Sendable {
  private let store: any Store
  private let preferredLocales: [Locale]
  private let policy: InvalidIdentifierPolicy
  private let report: (@Sendable (InvalidProductIdentifiers) async -> Void)?
  private let log: @Sendable (String) -> Void

  /// Creates a validator.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - preferredLocales: The languages that the customer reads, best first.
  ///   - invalidIdentifiers: How identifiers are handled that the store does not know.
  ///   - report: Reports them, for example to the vendor's own server.
  ///   - log: Receives warnings, one line each.
  public init(
    store: any Store, preferredLocales: [Locale] = [.current],
    invalidIdentifiers: InvalidIdentifierPolicy = .production,
    report: (@Sendable (InvalidProductIdentifiers) async -> Void)? = nil,
    log: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.store = store
    self.preferredLocales = preferredLocales
    policy = invalidIdentifiers
    self.report = report
    self.log = log
  }

  /// Asks the store about the list.
  ///
  /// - Parameter list: The identifiers, in the order in which products are shown.
  /// - Returns: The products in that order, and the invalid identifiers.
  /// - Throws: ``StoreError`` if the store did not answer.
  public func validate(_ list: ProductIdentifierList) async throws(StoreError) -> ValidatedProducts {
    let request = ProductsRequest(
      productIdentifiers: Set(list.identifiers), store: store, preferredLocales: preferredLocales,
      invalidIdentifiers: policy, log: log)
    let response = try await request.response()
    let invalid = InvalidProductIdentifiers(response.invalidProductIdentifiers)
    if let invalid { await report?(invalid) }
    return ValidatedProducts(response, orderedBy: list)
  }
}

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
  package var validationError: InvalidProductIdentifiers? {
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
