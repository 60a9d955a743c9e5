// SPDX-License-Identifier: Apache-2.0

extension PaymentQueue {
  /// Has the store give finished purchases again (`restoreCompletedTransactions`,
  /// `restoreCompletedTransactionsWithApplicationUsername:`). Apps that sell what is bought once or subscribed to must
  /// offer it.
  ///
  /// Which products are restored is the store's decision: as a rule non-consumable ones, neither consumables nor
  /// subscriptions, which one restores from a record of one's own. Each purchase makes a new transaction in
  /// ``PaymentTransaction/State/restored``, with a copy of the original. Observers hear of them all, and then, exactly
  /// once, that the restoration finished or failed. One that was restored before and is not finished is not given
  /// again.
  ///
  /// What a restoration gave before it failed or was cancelled stays.
  ///
  /// - Parameter applicationUsername: Only purchases with this ``Payment/applicationUsername``; `nil` for all.
  /// - Throws: ``StoreError``: the store's; `unknown` where the store could not be reached or the queue not be
  ///   changed; `paymentCancelled` when the task was cancelled.
  public func restoreCompletedTransactions(
    applicationUsername: String? = nil
  ) async throws(StoreError) {
    do {
      try await restore(
        RestoreRequest(id: options.makeIdentifier(), applicationUsername: applicationUsername))
    } catch {
      tell(.restoreFailed(error))
      throw error
    }
    tell(.restoreFinished)
  }

  private func restore(_ request: RestoreRequest) async throws(StoreError) {
    // What the store does not know to be finished it does not restore.
    do {
      try requireOpen()
    } catch {
      throw StoreError(.unknown, error.description)
    }
    do { try await tellFinishes { !Task.isCancelled } } catch { throw error.storeError }
    var position: StorePosition?
    while true {
      guard !Task.isCancelled else {
        throw StoreError(.paymentCancelled, "The restoration was cancelled before its end.")
      }
      let page = try await restorePage(request, after: position)
      guard let next = page.next else { return }
      guard next != position else {
        throw StoreError(.unknown, "The store's list of purchases has no end.")
      }
      position = next
    }
  }

  private func restorePage(
    _ request: RestoreRequest, after position: StorePosition?
  ) async throws(StoreError) -> RestoredTransactionPage {
    let answer: Result<RestoredTransactionPage, StoreError>
    do {
      answer = try await inTurn { () async throws(SynchronizationFault) in
        try await askForRestored(request, after: position)
      }
    } catch {
      throw error.storeError
    }
    return try answer.get()
  }

  private func askForRestored(
    _ request: RestoreRequest, after position: StorePosition?
  ) async throws(SynchronizationFault) -> Result<RestoredTransactionPage, StoreError> {
    let page: RestoredTransactionPage
    do {
      page = try await store.restore(request, after: position, limit: Self.pageLimit)
    } catch {
      return .failure(error)
    }
    var changes = LedgerChanges()
    for restored in page.transactions { changes.restore(restored, in: ledger) }
    try apply(changes)
    return .success(page)
  }
}

extension SynchronizationFault {
  fileprivate var storeError: StoreError { StoreError(.unknown, description) }
}
