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
