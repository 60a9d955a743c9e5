// SPDX-License-Identifier: Apache-2.0

extension PaymentQueue {
  /// Sends finishes and undecided payments to the store, and fetches unfinished sales. An observed queue does so by
  /// itself.
  ///
  /// It waits for a slow store. Cancelling the task ends it after the current request.
  ///
  /// - Throws: ``PaymentQueueError`` with `store-unavailable`, `storage` or `closed`. The rest is done later.
  public func synchronize() async throws(PaymentQueueError) {
    try requireOpen()
    do {
      try await synchronize(fully: true) { !Task.isCancelled }
    } catch {
      switch error {
      case .queue(let fault): throw fault
      case .store(let unavailable):
        throw PaymentQueueError(.storeUnavailable, "\(unavailable.message); the queue tries again later")
      }
    }
  }

  /// Makes one pass. A request that the store does not answer moves to the end of its queue, and the pass continues
  /// with the next kind of request. So no request blocks the others for ever.
  func synchronize(
    fully isFull: Bool, while isWanted: () -> Bool
  ) async throws(SynchronizationFault) {
    if isFull {
      synchronization.toSend.append(contentsOf: synchronization.awaitingApproval.sorted())
      synchronization.awaitingApproval = []
    }
    var fault: SynchronizationFault?
    do { try await sendFinishes(while: isWanted) } catch { fault = try error.unlessFatal() }
    do { try await sendPayments(while: isWanted) } catch { fault = try error.unlessFatal() }
    if isFull {
      do { try await fetchSales(while: isWanted) } catch { fault = try error.unlessFatal() }
    }
    if let fault { throw fault }
  }

  /// Sends the finishes that are queued at the call.
  func sendFinishes(while isWanted: () -> Bool) async throws(SynchronizationFault) {
    for _ in 0..<synchronization.toFinish.count {
      guard isWanted(), let number = synchronization.toFinish.popFirst() else { return }
      do {
        try await withRequestLock { () async throws(SynchronizationFault) in try await sendFinish(number) }
      } catch {
        synchronization.toFinish.append(number)
        throw error
      }
    }
  }

  private func sendFinish(_ number: SequenceNumber) async throws(SynchronizationFault) {
    try open()
    guard let sale = ledger.finishes[number] else { return }
    do { try await store.finish(transactionIdentifier: sale) } catch { throw .store(error) }
    synchronization.progress += 1
    if synchronization.fetches > 0 { synchronization.finishedDuringFetch.insert(sale) }
    try open()
    do { try confirmFinish(number) } catch { throw .queue(error) }
  }

  /// Sends the payments that are queued at the call.
  private func sendPayments(while isWanted: () -> Bool) async throws(SynchronizationFault) {
    for _ in 0..<synchronization.toSend.count {
      guard isWanted(), let number = synchronization.toSend.popFirst() else { return }
      do {
        try await withRequestLock { () async throws(SynchronizationFault) in try await send(number) }
      } catch {
        synchronization.toSend.append(number)
        throw error
      }
    }
  }

  private func send(_ number: SequenceNumber) async throws(SynchronizationFault) {
    try open()
    guard let transaction = ledger.transactions[number], let request = ledger.requests[number] else { return }
    let answer: PurchaseOutcome
    do {
      answer = try await store.purchase(PurchaseRequest(id: request, payment: transaction.payment))
    } catch {
      throw .store(error)
    }
    synchronization.progress += 1
    var changes = LedgerChanges()
    switch answer {
    case .pending: synchronization.awaitingApproval.insert(number)
    case .purchased(let sale): changes.complete(number, .purchased(sale), in: ledger)
    case .failed(let error): changes.complete(number, .failed(error), in: ledger)
    }
    try apply(changes)
  }

  /// The number of sales that are requested at a time.
  static let pageLimit = 100
  /// The greatest number of pages in one pass: a store whose list never ends must not block the queue.
  private static let greatestPageCount = 10_000

  private func fetchSales(while isWanted: () -> Bool) async throws(SynchronizationFault) {
    if synchronization.fetches == 0 { synchronization.finishedDuringFetch = [] }
    synchronization.fetches += 1
    defer { synchronization.fetches -= 1 }
    var position: StorePosition?
    for _ in 0..<Self.greatestPageCount where isWanted() {
      let next = try await withRequestLock { () async throws(SynchronizationFault) in
        try await fetchPage(after: position)
      }
      guard let next, next != position else { return }
      position = next
      // A new payment must not wait for the end of a long list.
      try await sendPayments(while: isWanted)
    }
  }

  private func fetchPage(
    after position: StorePosition?
  ) async throws(SynchronizationFault) -> StorePosition? {
    try open()
    let page: StoreTransactionPage
    do {
      page = try await store.unfinishedTransactions(after: position, limit: Self.pageLimit)
    } catch {
      throw .store(error)
    }
    synchronization.progress += 1
    var changes = LedgerChanges()
    for sale in page.transactions
    where !synchronization.finishedDuringFetch.contains(sale.transactionIdentifier) {
      changes.take(sale, in: ledger)
    }
    try apply(changes)
    return page.next
  }

  func apply(_ changes: LedgerChanges) throws(SynchronizationFault) {
    do { _ = try commit(changes) } catch { throw .queue(error) }
  }

  private func open() throws(SynchronizationFault) {
    if let fault { throw .queue(fault) }
  }
}

extension SynchronizationFault {
  /// The error itself; throws it if it is fatal.
  fileprivate func unlessFatal() throws(SynchronizationFault) -> SynchronizationFault {
    if case .queue(let fault) = self, fault.isFatal { throw self }
    return self
  }
}
