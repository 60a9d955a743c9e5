// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension ProductsAnswer {
  init(_ response: ProductsResponse) {
    products = response.products.map { WireProduct($0) }
    invalidProductIdentifiers = response.invalidProductIdentifiers
  }

  init(_ error: StoreError) { self.error = WireStoreError(error) }

  /// The response, or the store's refusal.
  ///
  /// - Throws: ``ReceiptCodec/MalformedReceipt`` for an answer with neither, and for one that does not cover exactly
  ///   the requested identifiers.
  func value(
    askedFor identifiers: Set<String>
  ) throws(MalformedReceipt) -> Result<ProductsResponse, StoreError> {
    if let error { return .failure(error.value) }
    guard let products else {
      throw MalformedReceipt(.missing, at: .jsonPath("$.products"), "Neither products nor an error came.")
    }
    let invalid = invalidProductIdentifiers ?? []
    let answered = products.map(\.productIdentifier) + invalid
    guard answered.count == identifiers.count, Set(answered) == identifiers else {
      throw MalformedReceipt(
        .invalidValue, at: .jsonPath("$.products"),
        "Each of the \(identifiers.count) identifiers asked for is either a product or invalid, once.")
    }
    return .success(
      ProductsResponse(products: products.map(\.value), invalidProductIdentifiers: invalid))
  }
}

extension UnfinishedAnswer {
  init(_ page: StoreTransactionPage) {
    transactions = page.transactions.map { WireTransaction($0) }
    next = page.next?.rawValue
  }
}

extension RestoreAnswer {
  init(_ page: RestoredTransactionPage, to requestIdentifier: String) {
    self.requestIdentifier = requestIdentifier
    transactions = page.transactions.map { WireRestoredTransaction($0) }
    next = page.next?.rawValue
  }

  init(_ error: StoreError, to requestIdentifier: String) {
    self.requestIdentifier = requestIdentifier
    self.error = WireStoreError(error)
  }

  /// The page, or the store's refusal.
  ///
  /// - Throws: ``ReceiptCodec/MalformedReceipt`` for an answer with neither.
  func value() throws(MalformedReceipt) -> Result<RestoredTransactionPage, StoreError> {
    if let error { return .failure(error.value) }
    guard let transactions else {
      throw MalformedReceipt(
        .missing, at: .jsonPath("$.transactions"), "Neither transactions nor an error came.")
    }
    return .success(
      RestoredTransactionPage(
        transactions: transactions.map(\.value), next: next.map { StorePosition(rawValue: $0) }))
  }
}
