// SPDX-License-Identifier: Apache-2.0

extension PaymentQueue {
  /// Removes a transaction from the queue (`finishTransaction:`). Do so when what was bought has been delivered, or
  /// the failure has been shown: afterwards the queue reports it no more. The store is told, if need be after the next
  /// relaunch.
  ///
  /// What was finished may be finished again, by several observers too; it has no effect.
  ///
  /// - Parameter id: Which transaction.
  /// - Throws: ``PaymentQueueError`` with `still-purchasing`, `unknown-transaction`, `storage` or `closed`; then
  ///   it is where it was.
  public func finish(_ id: PaymentTransaction.ID) throws(PaymentQueueError) {
    try requireOpen()
    guard let number = SequenceNumber(key: id.rawValue), ledger.hasGiven(number) else {
      throw PaymentQueueError(
        .unknownTransaction, at: id.rawValue, "The queue never had it: finish what the queue delivered.")
    }
    guard ledger.transactions[number]?.transactionState != .purchasing else {
      throw PaymentQueueError(
        .stillPurchasing, at: id.rawValue, "The store has not decided: wait until it is purchased or failed.")
    }
    let finished = try ending { () throws(PaymentQueueError) in try ledger.finish(number) }
    guard let removed = finished else { return }
    tell(.removed([removed]))
    endDownloads(of: id)
    guard ledger.finishes[number] != nil else { return }
    synchronization.toFinish.append(number)
    wake()
  }

  /// Removes a transaction from the queue.
  ///
  /// - Parameter transaction: Which; its state here does not matter.
  /// - Throws: As ``finish(_:)-(PaymentTransaction.ID)``.
  public func finish(_ transaction: PaymentTransaction) throws(PaymentQueueError) {
    try finish(transaction.id)
  }
}
