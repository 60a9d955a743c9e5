// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storefront

/// A store that only has products. Its answers can be altered and delayed by a gate.
actor CatalogStore: Store {
  let catalog: ProductCatalog
  let storefrontLocale: Locale
  private let gate: Gate?
  private let error: StoreError?
  private let alter: @Sendable (ProductsResponse) -> ProductsResponse
  private(set) var questions: [Set<String>] = []

  init(
    _ catalog: ProductCatalog, storefrontLocale: Locale = Locale(identifier: "en_US"), gate: Gate? = nil,
    error: StoreError? = nil, alter: @escaping @Sendable (ProductsResponse) -> ProductsResponse = { $0 }
  ) {
    self.catalog = catalog
    self.storefrontLocale = storefrontLocale
    self.gate = gate
    self.error = error
    self.alter = alter
  }

  func products(
    for identifiers: Set<String>, preferredLocales: [Locale]
  ) async throws(StoreError) -> ProductsResponse {
    questions.append(identifiers)
    await gate?.pass()
    if let error { throw error }
    return alter(
      catalog.response(
        for: identifiers, preferredLocales: preferredLocales, storefrontLocale: storefrontLocale))
  }

  private var nothingElse: StoreUnavailable { StoreUnavailable("This store sells nothing.") }

  func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
    throw nothingElse
  }

  func unfinishedTransactions(
    after position: StorePosition?, limit: Int
  ) async throws(StoreUnavailable) -> StoreTransactionPage { throw nothingElse }

  func finish(transactionIdentifier: String) async throws(StoreUnavailable) { throw nothingElse }

  func restore(
    _ request: RestoreRequest, after position: StorePosition?, limit: Int
  ) async throws(StoreError) -> RestoredTransactionPage { throw StoreError(.unknown, "nothing to restore") }
}

/// Blocks tasks until it is opened. It ignores cancellation.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var arrivals = 0
  private var watchers: [CheckedContinuation<Void, Never>] = []

  func pass() async {
    arrivals += 1
    for watcher in watchers { watcher.resume() }
    watchers = []
    if isOpen { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  var hasArrivals: Bool { arrivals > 0 }

  /// Waits until a task is blocked.
  func arrival() async {
    if arrivals > 0 { return }
    await withCheckedContinuation { watchers.append($0) }
  }
}
