// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// Has the store confirm a list of product identifiers before anything is shown for sale (`validateProductIdentifiers:`
/// and `displayStoreUI` of the guide).
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
  ///   - invalidIdentifiers: What is done about identifiers that the store does not know.
  ///   - report: Tells them to the vendor's own server, if that is wanted.
  ///   - log: Takes what should be looked into, a line each.
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
  /// - Returns: The products in that order, and what was wrong with the list.
  /// - Throws: ``StoreError`` when the store could not be asked.
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
