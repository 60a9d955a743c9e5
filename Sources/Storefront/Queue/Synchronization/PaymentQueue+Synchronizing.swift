// SPDX-License-Identifier: Apache-2.0

extension PaymentQueue {
  /// Tells the store of what was finished, sends it the payments that it has not decided, and fetches the sales that
  /// were not finished. While somebody watches, the queue does so by itself.
  ///
  /// It returns only when a slow store has answered; cancelling the task ends it after the
  /// question at hand.
  ///
  /// - Throws: ``PaymentQueueError`` with `store-unavailable`, `storage` or `closed`. What was not done is done later.
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

  /// Goes through everything once. A question that the store does not answer is put behind the others of its kind,
  /// and the next kind is turned to; so nothing waits for ever for something else.
  func synchronize(
    fully isFull: Bool, while isWanted: () -> Bool
  ) async throws(SynchronizationFault) {
    if isFull {
      synchronization.toSend.append(contentsOf: synchronization.awaitingApproval.sorted())
      synchronization.awaitingApproval = []
    }
    var fault: SynchronizationFault?
    do { try await tellFinishes(while: isWanted) } catch { fault = try error.orEnd() }
    do { try await sendPayments(while: isWanted) } catch { fault = try error.orEnd() }
    if isFull {
      do { try await fetchSales(while: isWanted) } catch { fault = try error.orEnd() }
    }
    if let fault { throw fault }
  }

  /// Tells the store of what was finished when it was begun.
  func tellFinishes(while isWanted: () -> Bool) async throws(SynchronizationFault) {
    for _ in 0..<synchronization.toFinish.count {
      guard isWanted(), let number = synchronization.toFinish.popFirst() else { return }
      do {
        try await inTurn { () async throws(SynchronizationFault) in try await tellFinish(number) }
      } catch {
        synchronization.toFinish.append(number)
        throw error
      }
    }
  }

  private func tellFinish(_ number: SequenceNumber) async throws(SynchronizationFault) {
    try open()
    guard let sale = ledger.finishes[number] else { return }
    do { try await store.finish(transactionIdentifier: sale) } catch { throw .store(error) }
    synchronization.progress += 1
    if synchronization.fetches > 0 { synchronization.finishedMeanwhile.insert(sale) }
    try open()
    do {
      try ending { () throws(PaymentQueueError) in try ledger.forgetFinish(number) }
    } catch {
      throw .queue(error)
    }
  }

  /// Sends the payments that were to be sent when it was begun.
  private func sendPayments(while isWanted: () -> Bool) async throws(SynchronizationFault) {
    for _ in 0..<synchronization.toSend.count {
      guard isWanted(), let number = synchronization.toSend.popFirst() else { return }
      do {
        try await inTurn { () async throws(SynchronizationFault) in try await send(number) }
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

  /// How many sales are asked for at a time.
  static let pageLimit = 100
  /// How many pages of sales are fetched at most before the rest waits for the next time: a store that never comes to
  /// an end must not keep the queue from everything else.
  private static let greatestPageCount = 10_000

  private func fetchSales(while isWanted: () -> Bool) async throws(SynchronizationFault) {
    if synchronization.fetches == 0 { synchronization.finishedMeanwhile = [] }
    synchronization.fetches += 1
    defer { synchronization.fetches -= 1 }
    var position: StorePosition?
    for _ in 0..<Self.greatestPageCount where isWanted() {
      let next = try await inTurn { () async throws(SynchronizationFault) in
        try await fetchPage(after: position)
      }
      guard let next, next != position else { return }
      position = next
      // A payment added meanwhile does not wait for the end of a long list.
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
    where !synchronization.finishedMeanwhile.contains(sale.transactionIdentifier) {
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
  /// Itself, where the next kind of question can be turned to.
  fileprivate func orEnd() throws(SynchronizationFault) -> SynchronizationFault {
    if case .queue(let fault) = self, fault.endsTheQueue { throw self }
    return self
  }
}
