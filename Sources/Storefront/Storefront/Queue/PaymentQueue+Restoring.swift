// SPDX-License-Identifier: Apache-2.0

extension PaymentQueue {
  /// Restores finished purchases (`restoreCompletedTransactions`,
  /// `restoreCompletedTransactionsWithApplicationUsername:`). Apps that sell non-consumables or subscriptions must
  /// offer it.
  ///
  /// The store decides which products are restored; usually non-consumables. Consumables and subscriptions are
  /// restored from a vendor's own record. Each purchase makes a new transaction in
  /// ``PaymentTransaction/State/restored``, with a copy of the original. Observers receive all of these transactions
  /// and then, exactly once, the completion or failure of the restoration. A purchase that is already in the queue,
  /// restored and not finished, is not restored again.
  ///
  /// Transactions that were restored before a failure or cancellation stay.
  ///
  /// - Parameter applicationUsername: Only purchases with this ``Payment/applicationUsername`` are restored; `nil` for
  ///   all.
  /// - Throws: ``StoreError`` of the store; `unknown` if the store could not be reached or the queue could not be
  ///   changed; `paymentCancelled` if the task was cancelled.
  public func restoreCompletedTransactions(applicationUsername: String? = nil) async throws(StoreError) {
    let request = RestoreRequest(id: options.makeIdentifier(), applicationUsername: applicationUsername)
    do { try await restore(request) } catch {
      notify(.restoreFailed(error))
      throw error
    }
    notify(.restoreFinished)
  }

  private func restore(_ request: RestoreRequest) async throws(StoreError) {
    do {
      try requireOpen()
      // The store restores only purchases that it knows to be finished.
      try await sendFinishes { !Task.isCancelled }
    } catch {
      throw StoreError(.unknown, error.description)
    }
    var position: StorePosition?
    while true {
      guard !Task.isCancelled else {
        throw StoreError(.paymentCancelled, "The restoration was cancelled before its end.")
      }
      let next = try await withRequestLock { () async throws(StoreError) in
        try await restorePage(of: request, after: position)
      }
      guard let next else { return }
      guard next != position else { throw StoreError(.unknown, "The store's list of purchases has no end.") }
      position = next
    }
  }

  private func restorePage(
    of request: RestoreRequest, after position: StorePosition?
  ) async throws(StoreError) -> StorePosition? {
    let page = try await store.restore(request, after: position, limit: Self.pageLimit)
    var changes = LedgerChanges()
    for restored in page.transactions { changes.restore(restored, in: ledger) }
    do { try commit(changes) } catch { throw StoreError(.unknown, error.description) }
    return page.next
  }
}
