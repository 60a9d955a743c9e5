// SPDX-License-Identifier: Apache-2.0

/// Processes the transactions of a queue (`SKPaymentTransactionObserver`): unlocks content and finishes them.
///
/// Add an observer at launch with ``PaymentQueue/addObserver(_:)``, before anything is bought. Calls to one observer
/// do not overlap. The order among several observers is not defined. ``PaymentQueue/updates`` delivers the same
/// updates as a sequence.
public protocol TransactionObserver: AnyObject, Sendable {
  /// Transactions are new or have changed (`paymentQueue:updatedTransactions:`).
  ///
  /// Check the state of each transaction: unlock purchased or restored content, report failures, then call
  /// ``PaymentQueue/finish(_:)``. An unfinished transaction is delivered again to each new observer, and so after each
  /// launch.
  func paymentQueue(_ queue: PaymentQueue, updated transactions: [PaymentTransaction]) async

  /// Transactions have left the queue (`paymentQueue:removedTransactions:`). Update the user interface.
  func paymentQueue(_ queue: PaymentQueue, removed transactions: [PaymentTransaction]) async

  /// A restoration failed (`paymentQueue:restoreCompletedTransactionsFailedWithError:`).
  func paymentQueue(_ queue: PaymentQueue, restoreFailedWith error: StoreError) async

  /// All restored transactions were delivered (`paymentQueueRestoreCompletedTransactionsFinished:`). No action is
  /// needed.
  func paymentQueueRestoreFinished(_ queue: PaymentQueue) async

  /// Downloads changed their state or made progress (`paymentQueue:updatedDownloads:`). If a download changes
  /// repeatedly during this call, only its latest state is reported.
  func paymentQueue(_ queue: PaymentQueue, updatedDownloads downloads: [Download]) async
}

extension TransactionObserver {
  /// Does nothing.
  public func paymentQueue(_ queue: PaymentQueue, removed transactions: [PaymentTransaction]) async {}
  /// Does nothing.
  public func paymentQueue(_ queue: PaymentQueue, restoreFailedWith error: StoreError) async {}
  /// Does nothing.
  public func paymentQueueRestoreFinished(_ queue: PaymentQueue) async {}
  /// Does nothing.
  public func paymentQueue(_ queue: PaymentQueue, updatedDownloads downloads: [Download]) async {}
}

extension TransactionObserver {
  func receive(_ update: PaymentQueueUpdate, from queue: PaymentQueue) async {
    switch update {
    case .updated(let transactions): await paymentQueue(queue, updated: transactions)
    case .removed(let transactions): await paymentQueue(queue, removed: transactions)
    case .restoreFinished: await paymentQueueRestoreFinished(queue)
    case .restoreFailed(let error): await paymentQueue(queue, restoreFailedWith: error)
    case .updatedDownloads(let downloads): await paymentQueue(queue, updatedDownloads: downloads)
    }
  }
}
