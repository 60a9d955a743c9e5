// SPDX-License-Identifier: Apache-2.0

extension PaymentQueue {
  /// Removes a transaction from the queue (`finishTransaction:`). Call it after delivering what was bought or showing
  /// the failure: the queue does not report the transaction again. The finish is sent to the store, if need be after
  /// the next launch.
  ///
  /// This is idempotent, so that several observers may call it.
  ///
  /// - Parameter id: The identifier of the transaction.
  /// - Throws: ``PaymentQueueError`` with `still-purchasing`, `unknown-transaction`, `storage` or `closed`; then
  ///   nothing was changed.
  public func finish(_ id: PaymentTransaction.ID) throws(PaymentQueueError) {
    try requireOpen()
    guard let number = SequenceNumber(key: id.rawValue), ledger.hasAssigned(number) else {
      throw PaymentQueueError(
        .unknownTransaction, at: id.rawValue, "The queue never had it: finish what the queue delivered.")
    }
    guard ledger.transactions[number]?.transactionState != .purchasing else {
      throw PaymentQueueError(
        .stillPurchasing, at: id.rawValue, "The store has not decided: wait until it is purchased or failed.")
    }
    let finished = try stoppingIfFatal { () throws(PaymentQueueError) in try ledger.finish(number) }
    guard let removed = finished else { return }
    notify(.removed([removed]))
    endDownloads(of: id)
    guard ledger.finishes[number] != nil else { return }
    synchronization.toFinish.append(number)
    wake()
  }

  /// Removes a transaction from the queue.
  ///
  /// - Parameter transaction: The transaction; the state of this snapshot does not matter.
  /// - Throws: As ``finish(_:)-(PaymentTransaction.ID)``.
  public func finish(_ transaction: PaymentTransaction) throws(PaymentQueueError) {
    try finish(transaction.id)
  }
}
