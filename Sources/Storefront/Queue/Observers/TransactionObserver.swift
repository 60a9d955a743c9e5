// SPDX-License-Identifier: Apache-2.0

/// Delivers what was bought (`SKPaymentTransactionObserver`): processes transactions, unlocks the content and
/// finishes them.
///
/// Add it at launch, before anything is bought, with ``PaymentQueue/addObserver(_:)``. Calls to one observer come one
/// after the other, each when the one before has returned; nothing is said of the order among several observers.
/// ``PaymentQueue/updates`` gives the same as a sequence.
public protocol TransactionObserver: AnyObject, Sendable {
  /// Transactions are new or have changed (`paymentQueue:updatedTransactions:`).
  ///
  /// Look at each one's state: unlock what was purchased or restored, report what failed, then
  /// ``PaymentQueue/finish(_:)-(PaymentTransaction)``. Until it is finished a transaction comes again whenever an
  /// observer is added, so also after each launch.
  func paymentQueue(_ queue: PaymentQueue, updated transactions: [PaymentTransaction]) async

  /// Transactions have left the queue (`paymentQueue:removedTransactions:`): bring the user interface up to date.
  func paymentQueue(_ queue: PaymentQueue, removed transactions: [PaymentTransaction]) async

  /// A restoration failed (`paymentQueue:restoreCompletedTransactionsFailedWithError:`).
  func paymentQueue(_ queue: PaymentQueue, restoreFailedWith error: StoreError) async

  /// All that a restoration gives was delivered (`paymentQueueRestoreCompletedTransactionsFinished:`). Nothing need
  /// be done.
  func paymentQueueRestoreFinished(_ queue: PaymentQueue) async

  /// Downloads have changed their state, or more of them has come (`paymentQueue:updatedDownloads:`). Of what happens
  /// while this runs, only the latest is told.
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
  /// Calls what an update is for.
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

/// What a queue tells those who watch it.
public enum PaymentQueueUpdate: Sendable, Hashable {
  /// Transactions as they are now: new ones, those whose state changed, and after a relaunch all that are not finished.
  case updated([PaymentTransaction])
  /// Transactions that left the queue, as they were. Their receipts are not with them any more.
  case removed([PaymentTransaction])
  /// All that a restoration gives was delivered before.
  case restoreFinished
  /// A restoration failed. What it had given until then was delivered before, and stays.
  case restoreFailed(StoreError)
  /// Downloads as they are now: their states and how much has come.
  case updatedDownloads([Download])
}
