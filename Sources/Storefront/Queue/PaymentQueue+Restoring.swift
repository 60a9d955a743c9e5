// SPDX-License-Identifier: Apache-2.0

extension PaymentQueue {
  /// Restores finished purchases (`restoreCompletedTransactions`,
  /// `restoreCompletedTransactionsWithApplicationUsername:`). Apps that sell non-consumables or subscriptions must
  /// offer it.
  ///
  /// The store decides which products are restored: as a rule non-consumables. Consumables and subscriptions are
  /// restored from a vendor's own record. Each purchase makes a new transaction in
  /// ``PaymentTransaction/State/restored``, with a copy of the original. Observers receive all of them and then,
  /// exactly once, that the restoration finished or failed. A purchase that is already in the queue, restored and not
  /// finished, is not restored again.
  ///
  /// Transactions that were restored before a failure or cancellation stay.
  ///
  /// - Parameter applicationUsername: Only purchases with this ``Payment/applicationUsername``; `nil` for all.
  /// - Throws: ``StoreError`` of the store; `unknown` if the store could not be reached or the queue could not be
  ///   changed; `paymentCancelled` if the task was cancelled.
  public func restoreCompletedTransactions(
    applicationUsername: String? = nil
  ) async throws(StoreError) {
    do {
      try await restore(
        RestoreRequest(id: options.makeIdentifier(), applicationUsername: applicationUsername))
    } catch {
      notify(.restoreFailed(error))
      throw error
    }
    notify(.restoreFinished)
  }

  private func restore(_ request: RestoreRequest) async throws(StoreError) {
    // The store restores only what it knows to be finished.
    do {
      try requireOpen()
    } catch {
      throw StoreError(.unknown, error.description)
    }
    do { try await sendFinishes { !Task.isCancelled } } catch { throw error.storeError }
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
      answer = try await withRequestLock { () async throws(SynchronizationFault) in
        try await fetchRestored(request, after: position)
      }
    } catch {
      throw error.storeError
    }
    return try answer.get()
  }

  private func fetchRestored(
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
