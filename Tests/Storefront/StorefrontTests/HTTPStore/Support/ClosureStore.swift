// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storefront

/// A store with fixed answers that records its requests.
actor ClosureStore: Store {
  struct Answers: Sendable {
    var products: @Sendable (Set<String>) throws(StoreError) -> ProductsResponse = {
      identifiers throws(StoreError) in
      ProductsResponse(products: [], invalidProductIdentifiers: identifiers.sorted())
    }
    var purchase: @Sendable (PurchaseRequest) throws(StoreUnavailable) -> PurchaseOutcome = {
      _ throws(StoreUnavailable) in .pending
    }
    var unfinished: @Sendable (Int) throws(StoreUnavailable) -> StoreTransactionPage = {
      _ throws(StoreUnavailable) in StoreTransactionPage(transactions: [], next: nil)
    }
    var finish: @Sendable () throws(StoreUnavailable) -> Void = {}
    var restore: @Sendable (Int) throws(StoreError) -> RestoredTransactionPage = { _ throws(StoreError) in
      RestoredTransactionPage(transactions: [], next: nil)
    }
  }

  enum Call: Sendable, Hashable {
    case products(Set<String>, [Locale])
    case purchase(PurchaseRequest)
    case unfinished(StorePosition?, Int)
    case finish(String)
    case restore(RestoreRequest, StorePosition?, Int)
  }

  private let answers: Answers
  private(set) var calls: [Call] = []

  init(_ answers: Answers = Answers()) { self.answers = answers }

  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse {
    calls.append(.products(identifiers, preferredLocales))
    return try answers.products(identifiers)
  }

  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
    calls.append(.purchase(request))
    return try answers.purchase(request)
  }

  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage {
    calls.append(.unfinished(position, limit))
    return try answers.unfinished(limit)
  }

  func finish(transactionIdentifier: String) async throws(StoreUnavailable) {
    calls.append(.finish(transactionIdentifier))
    try answers.finish()
  }

  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage {
    calls.append(.restore(request, position, limit))
    return try answers.restore(limit)
  }
}
