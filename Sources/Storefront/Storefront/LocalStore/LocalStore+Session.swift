// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

extension LocalStore {
  /// The store as one signed-in customer sees it.
  public struct Session: Store {
    let store: LocalStore
    package let account: String

    /// Looks products up. Products that are not for sale are returned as invalid identifiers.
    public func products(
      for identifiers: Set<String>, preferredLocales: [Locale]
    ) async throws(StoreError) -> ProductsResponse {
      try await store.answer(.products, or: StoreError.self) { store, _ throws(LocalStoreError) in
        try store.products(for: identifiers, preferredLocales: preferredLocales)
      }
    }

    /// Processes a payment.
    public func purchase(_ request: PurchaseRequest) async throws(StoreUnavailable) -> PurchaseOutcome {
      try await store.answer(.purchase, or: StoreUnavailable.self) {
        store, refusal async throws(LocalStoreError) in
        try await store.purchase(request, account: account, refusedWith: refusal)
      }
    }

    /// The unfinished sales of this customer, oldest first.
    public func unfinishedTransactions(
      after position: StorePosition?, limit: Int
    ) async throws(StoreUnavailable) -> StoreTransactionPage {
      try await store.answer(.unfinished, or: StoreUnavailable.self) { store, _ throws(LocalStoreError) in
        try store.unfinishedTransactions(of: account, after: position, limit: limit)
      }
    }

    /// Finishes a transaction. Another customer's transaction is left unchanged.
    public func finish(transactionIdentifier: String) async throws(StoreUnavailable) {
      try await store.answer(.finish, or: StoreUnavailable.self) { store, _ async throws(LocalStoreError) in
        try await store.finish(transactionIdentifier, of: account)
      }
    }

    /// Restores finished purchases of restorable products.
    public func restore(
      _ request: RestoreRequest, after position: StorePosition?, limit: Int
    ) async throws(StoreError) -> RestoredTransactionPage {
      if let refusal = store.options.signInRefusal(of: account) { throw refusal }
      return try await store.answer(.restore, or: StoreError.self) { store, _ throws(LocalStoreError) in
        try store.restore(request, account: account, after: position, limit: limit)
      }
    }

    /// `true` unless the account is restricted.
    public var canMakePayments: Bool { !store.options.restrictedAccounts.contains(account) }

    /// Returns `true` if the product is in the catalogue, for sale or not.
    public func isRegistered(_ productIdentifier: String) -> Bool { store.products[productIdentifier] != nil }

    /// A signal for each decision about a pending payment, and for each sale that was not caused by a payment of the
    /// customer.
    public func changes() async -> AsyncStream<Void>? { await store.changes(of: account) }
  }

  /// Performs a call of a customer, after its delay and with the next fault. `body` receives the error with which a
  /// payment must be refused, if any.
  fileprivate func answer<Answer: Sendable, Failure: StoreCallError>(
    _ call: Fault.Call, or failure: Failure.Type,
    _ body: @Sendable (isolated LocalStore, StoreError?) async throws(LocalStoreError) -> Answer
  ) async throws(Failure) -> Answer {
    if let delay = options.delays[call], delay > .zero {
      do { try await options.sleep(delay) } catch {
        throw Failure(StoreUnavailable("Nobody waited for the answer."))
      }
    }
    let fault = nextFault(of: call)
    var refusal: StoreError?
    switch fault {
    case .error(let error) where call == .purchase: refusal = error
    case .error(let error): throw Failure(refused: error)
    case .unavailable(let retryAfter):
      throw Failure(StoreUnavailable("The store cannot be reached.", retryAfter: retryAfter))
    case .answerLost, nil: break
    }
    let answer: Answer
    do throws(LocalStoreError) { answer = try await body(self, refusal) } catch {
      throw Failure(StoreUnavailable(error.description))
    }
    if case .answerLost = fault { throw Failure(StoreUnavailable("The store's answer was lost.")) }
    return answer
  }

  private func nextFault(of call: Fault.Call) -> Fault.Failure? {
    guard let index = faults.firstIndex(where: { $0.call == call && $0.count > 0 }) else { return nil }
    faults[index].count -= 1
    return faults[index].count == 0 ? faults.remove(at: index).failure : faults[index].failure
  }
}

/// Signals to the queues of customers in this process, so that they do not have to poll.
extension LocalStore {
  func changes(of account: String) -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    listenerCount += 1
    let number = listenerCount
    listeners[account, default: [:]][number] = continuation
    continuation.onTermination = { [weak self] _ in
      Task { await self?.removeListener(number, of: account) }
    }
    return stream
  }

  private func removeListener(_ number: UInt64, of account: String) {
    listeners[account]?[number] = nil
    if listeners[account]?.isEmpty == true { listeners[account] = nil }
  }

  /// Signals that an account has changes to fetch.
  func signalChange(of account: String) {
    for listener in (listeners[account] ?? [:]).values { listener.yield() }
  }

  /// Signals the sales of a change that no queue requested, such as renewals.
  func signalSales(of change: Change) {
    guard !listeners.isEmpty else { return }
    for sale in change.sales.values where sale.requestIdentifier == nil && !sale.isFinished {
      signalChange(of: sale.account)
    }
  }
}

/// The error of a call to a store. Some calls can be refused, others can only be repeated.
protocol StoreCallError: Error {
  init(_ unavailable: StoreUnavailable)
  init(refused error: StoreError)
}

extension StoreError: StoreCallError {
  init(_ unavailable: StoreUnavailable) { self.init(.unknown, unavailable.message) }
  init(refused error: StoreError) { self = error }
}

extension StoreUnavailable: StoreCallError {
  init(_ unavailable: StoreUnavailable) { self = unavailable }
  init(refused error: StoreError) { self.init(error.message) }
}
