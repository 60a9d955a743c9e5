// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storefront

/// A store with fixed sales and answers.
struct FixedSales: Store {
  var sales: [StoreTransaction] = []
  var next: StorePosition?
  var restored: [RestoredTransaction] = []
  var answer = PurchaseOutcome.pending
  /// `false` if no finish reaches the store.
  var takesFinishes = true

  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse { ProductsResponse(products: []) }

  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome { answer }

  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage {
    StoreTransactionPage(transactions: sales, next: next)
  }

  func finish(transactionIdentifier: String) async throws(StoreUnavailable) {
    if !takesFinishes { throw StoreUnavailable("The store is down.") }
  }

  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage {
    RestoredTransactionPage(transactions: restored, next: next)
  }
}
