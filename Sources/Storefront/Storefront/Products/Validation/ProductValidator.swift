// SPDX-License-Identifier: Apache-2.0

extension ProductValidator {
  /// Requests the products of a list from the store.
  ///
  /// - Parameter list: The identifiers, in the order in which products are shown.
  /// - Returns: The products in that order, and the invalid identifiers. Keep them to make payments.
  /// - Throws: ``StoreError`` if the store did not answer.
  public func validate(_ list: ProductIdentifierList) async throws(StoreError) -> ProductsResponse {
    let request = ProductsRequest(
      productIdentifiers: Set(list.identifiers), store: store, preferredLocales: preferredLocales,
      report: report, log: log)
    let response = try await request.response()
    return ProductsResponse(
      products: list.identifiers.compactMap { response.product($0) },
      invalidProductIdentifiers: response.invalidProductIdentifiers)
  }
}

extension ProductsResponse {
  /// The product with this identifier; `nil` if the store did not confirm it.
  public func product(_ productIdentifier: String) -> Product? {
    products.first { $0.productIdentifier == productIdentifier }
  }

  /// A payment for one unit of a product; `nil` if the store did not confirm the product.
  public func payment(for productIdentifier: String) -> Payment? {
    product(productIdentifier).map { Payment(product: $0) }
  }

  /// The contents of the store's user interface: nothing if the user may not pay, otherwise the products that can be
  /// bought.
  ///
  /// - Parameter canMakePayments: `true` if the user may authorise payments. Ask the queue just before showing the
  ///   interface.
  /// - Returns: The products in the order of the list, or the reason that there is nothing to show.
  public func storeUI(canMakePayments: Bool) -> StoreUI {
    guard canMakePayments else { return .hidden(.paymentsNotAllowed) }
    return products.isEmpty ? .hidden(.noProducts) : .shown(products)
  }
}
