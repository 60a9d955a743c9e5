// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP
internal import Synchronization

extension PaymentQueue {
  /// Removes a transaction from the queue (`finishTransaction:`). Call it after delivering the purchase or showing the
  /// failure. The queue does not report the transaction again.
  ///
  /// The finish is stored when this returns. The queue then sends it to the store, even if the queue is not observed.
  /// It retries until the store has accepted the finish, after the next launch if necessary. ``finishAndConfirm(_:)``
  /// waits for the store.
  ///
  /// This is idempotent, so several observers may call it.
  ///
  /// - Parameter transaction: The transaction. The state of this snapshot does not matter.
  /// - Throws: ``PaymentQueueError`` with `still-purchasing`, `unknown-transaction`, `storage` or `closed`; then
  ///   nothing was changed.
  public func finish(_ transaction: PaymentTransaction) throws(PaymentQueueError) {
    try finish([transaction.id])
  }

  /// Removes several transactions from the queue, all of them or none, with one sync.
  ///
  /// - Throws: As ``finish(_:)``.
  public func finish(contentsOf transactions: [PaymentTransaction]) throws(PaymentQueueError) {
    try finish(transactions.map(\.id))
  }

  /// Finishes a transaction, and waits until the store has accepted the finish. After that, the transaction is
  /// delivered to no other device. A failed transaction is unknown to the store, so there is no wait.
  ///
  /// While the store cannot be reached, the queue retries. Cancelling the task only ends the wait.
  ///
  /// - Parameter transaction: The transaction; it may be finished already.
  /// - Throws: ``PaymentQueueError`` as ``finish(_:)``; `CancellationError` if the task is cancelled.
  public func finishAndConfirm(_ transaction: PaymentTransaction) async throws {
    try finish([transaction.id])
    guard let number = SequenceNumber(key: transaction.id.rawValue), ledger.finishes[number] != nil else {
      return
    }
    let answer = Answer<Void>()
    confirmations.append((number, answer))
    defer { confirmations.removeAll { $0.answer === answer } }
    try await answer.value(ifCancelled: .failure(CancellationError())).get()
  }

  package func finish(_ ids: [PaymentTransaction.ID]) throws(PaymentQueueError) {
    try requireOpen()
    var numbers: [SequenceNumber] = []
    for id in ids {
      guard let number = SequenceNumber(key: id.rawValue), ledger.hasAssigned(number) else {
        throw PaymentQueueError(
          .unknownTransaction, at: id.rawValue, "The queue never had it: finish what the queue delivered.")
      }
      try PaymentQueueError.require(
        ledger.transactions[number]?.transactionState != .purchasing, .stillPurchasing, at: id.rawValue,
        "The store has not decided: wait until it is purchased or failed.")
      numbers.append(number)
    }
    let isKept = keepsPurchases.withLock { $0 }
    let finished = try usingLedger(try ledger.finish(numbers, isKept: isKept))
    for (number, transaction) in finished {
      notify(.removed([transaction]))
      endDownloads(of: transaction.id)
      if ledger.finishes[number] != nil { synchronization.toFinish.append(number) }
    }
    startSynchronizing()
    wake()
  }

  func confirmFinish(_ number: SequenceNumber) throws(PaymentQueueError) {
    try usingLedger(try ledger.forgetFinish(number))
    for confirmation in confirmations where confirmation.number == number {
      confirmation.answer.deliver(.success(()))
    }
  }
}

// MARK: Kept transactions

/// Finished transactions that are kept for a ``QueuePurchaseRecord`` until it has verified their receipts.
extension PaymentQueue {
  /// Keeps purchased and restored transactions with their receipts when they are finished.
  nonisolated func keepPurchases() { keepsPurchases.withLock { $0 = true } }

  nonisolated func kept(
    after id: PaymentTransaction.ID?, limit: Int
  ) throws(PaymentQueueError) -> [PaymentTransaction] {
    var found: [PaymentTransaction] = []
    for stored in try PaymentQueueError.wrapping(
      try storage.records(in: .queueKept, after: id?.rawValue, limit: limit))
    {
      let place = "\(RecordCollection.queueKept) \(stored.key)"
      guard let number = SequenceNumber(key: stored.key) else {
        throw PaymentQueueError(damage: "its key is no number", at: place)
      }
      var transaction = try TransactionRecord(stored).transaction(number)
      guard case .purchased(var sale) = transaction.outcome,
        let receipt = try PaymentQueueError.wrapping(try storage.value(of: number.key, in: .queueReceipts))
      else { throw PaymentQueueError(damage: "it has no receipt", at: place) }
      sale.receipt = receipt
      transaction.outcome = .purchased(sale)
      found.append(transaction)
    }
    return found
  }

  static func forgetKept(_ id: PaymentTransaction.ID) -> [RecordChange] {
    [.remove(.queueKept, key: id.rawValue), .remove(.queueReceipts, key: id.rawValue)]
  }
}
