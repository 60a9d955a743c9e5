// SPDX-License-Identifier: Apache-2.0

extension PaymentQueue {
  /// Sends finishes and undecided payments to the store, and fetches unfinished sales. An observed queue does this by
  /// itself.
  ///
  /// The call waits for a slow store. If the task is cancelled, the call ends after the current request.
  ///
  /// - Throws: ``PaymentQueueError`` with `store-unavailable`, `storage` or `closed`. The remaining work is done
  ///   later.
  public func synchronize() async throws(PaymentQueueError) {
    try requireOpen()
    try await synchronize(fully: true) { !Task.isCancelled }
  }

  /// Makes one pass. If the store does not answer a request, it moves to the end of its queue, and the pass continues
  /// with the next kind of request. So no request blocks the others forever.
  func synchronize(fully isFull: Bool, while isWanted: () -> Bool) async throws(PaymentQueueError) {
    if isFull {
      synchronization.toSend += synchronization.awaitingApproval.sorted()
      synchronization.awaitingApproval = []
    }
    var fault: PaymentQueueError?
    do { try await sendFinishes(while: isWanted) } catch { fault = try error.unlessFatal() }
    do { try await sendPayments(while: isWanted) } catch { fault = try error.unlessFatal() }
    if isFull {
      do { try await fetchSales(while: isWanted) } catch { fault = try error.unlessFatal() }
    }
    if let fault { throw fault }
  }

  /// Sends the finishes that are queued when it is called.
  func sendFinishes(while isWanted: () -> Bool) async throws(PaymentQueueError) {
    for _ in 0..<synchronization.toFinish.count {
      guard isWanted(), let number = synchronization.toFinish.popFirst() else { return }
      do {
        try await withRequestLock { () async throws(PaymentQueueError) in try await sendFinish(number) }
      } catch {
        synchronization.toFinish.append(number)
        // The loop may have ended meanwhile, because there was nothing to send.
        startSynchronizing()
        throw error
      }
    }
  }

  private func sendFinish(_ number: SequenceNumber) async throws(PaymentQueueError) {
    try requireOpen()
    guard let sale = ledger.finishes[number] else { return }
    try await ask { () async throws(StoreUnavailable) in try await store.finish(transactionIdentifier: sale) }
    if synchronization.fetches > 0 { synchronization.finishedDuringFetch.insert(sale) }
    try requireOpen()
    try confirmFinish(number)
  }

  /// Sends the payments that are queued when it is called.
  private func sendPayments(while isWanted: () -> Bool) async throws(PaymentQueueError) {
    for _ in 0..<synchronization.toSend.count {
      guard isWanted(), let number = synchronization.toSend.popFirst() else { return }
      do {
        try await withRequestLock { () async throws(PaymentQueueError) in try await send(number) }
      } catch {
        synchronization.toSend.append(number)
        throw error
      }
    }
  }

  private func send(_ number: SequenceNumber) async throws(PaymentQueueError) {
    try requireOpen()
    guard let transaction = ledger.transactions[number], let request = ledger.requests[number] else { return }
    let answer = try await ask { () async throws(StoreUnavailable) in
      try await store.purchase(PurchaseRequest(id: request, payment: transaction.payment))
    }
    var changes = LedgerChanges()
    switch answer {
    case .pending: synchronization.awaitingApproval.insert(number)
    case .purchased(let sale): changes.complete(number, .purchased(sale), in: ledger)
    case .failed(let error): changes.complete(number, .failed(error), in: ledger)
    }
    try commit(changes)
  }

  static let pageLimit = 100
  /// The greatest number of pages in one pass, so that a store whose list never ends does not block the queue.
  private static let greatestPageCount = 10_000

  private func fetchSales(while isWanted: () -> Bool) async throws(PaymentQueueError) {
    if synchronization.fetches == 0 { synchronization.finishedDuringFetch = [] }
    synchronization.fetches += 1
    defer { synchronization.fetches -= 1 }
    var position: StorePosition?
    for _ in 0..<Self.greatestPageCount where isWanted() {
      let next = try await withRequestLock { () async throws(PaymentQueueError) in
        try await fetchPage(after: position)
      }
      guard let next, next != position else { return }
      position = next
      // A new payment must not wait for the end of a long list.
      try await sendPayments(while: isWanted)
    }
  }

  private func fetchPage(after position: StorePosition?) async throws(PaymentQueueError) -> StorePosition? {
    try requireOpen()
    let page = try await ask { () async throws(StoreUnavailable) in
      try await store.unfinishedTransactions(after: position, limit: Self.pageLimit)
    }
    var changes = LedgerChanges()
    for sale in page.transactions
    where !synchronization.finishedDuringFetch.contains(sale.transactionIdentifier) {
      changes.take(sale, in: ledger)
    }
    try commit(changes)
    return page.next
  }

  private func ask<Answer>(
    _ request: () async throws(StoreUnavailable) -> Answer
  ) async throws(PaymentQueueError) -> Answer {
    do throws(StoreUnavailable) {
      let answer = try await request()
      synchronization.progress += 1
      return answer
    } catch {
      synchronization.retryAfter = error.retryAfter
      throw PaymentQueueError(.storeUnavailable, "\(error.message); the queue tries again later")
    }
  }
}

extension PaymentQueueError {
  /// Returns the error itself, or throws it if it is fatal.
  fileprivate func unlessFatal() throws(PaymentQueueError) -> PaymentQueueError {
    if isFatal { throw self }
    return self
  }
}
