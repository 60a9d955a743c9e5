// SPDX-License-Identifier: Apache-2.0

/// Payments on their way to a store, and what has become of them (`SKPaymentQueue`).
///
/// A queue lasts: everything in it is stored and synced before anybody hears of it, and is there after a crash or a
/// relaunch. Each payment makes one transaction, which stays until it is finished.
///
/// ```swift
/// let queue = try PaymentQueue(store: store, storage: storage)
/// let transaction = try await queue.purchase(Payment(productIdentifier: "coins"))
/// if transaction.transactionState == .purchased {
///   // Verify transaction.transactionReceipt, deliver the coins, and then:
///   try await queue.finish(transaction)
/// }
/// ```
///
/// Nothing is sent to the store, and nothing is fetched from it, while nobody watches: neither an observer, nor a
/// sequence of ``updates``, nor a ``purchase(_:)-(Payment)`` that waits. Only ``synchronize()`` and
/// ``restoreCompletedTransactions(applicationUsername:)`` do what they say at any time.
///
/// A queue that somebody watches lives until nobody does, or until ``close()``. Of one storage make one queue.
public actor PaymentQueue {
  /// How it behaves.
  public nonisolated let options: Options
  /// What keeps it. Others keep records of their own there, in collections of their own.
  package nonisolated let storage: any RecordStorage
  let store: any Store

  var ledger: TransactionLedger
  /// Why the queue stopped; `nil` while it goes on.
  public internal(set) var fault: PaymentQueueError?

  var mailboxes: [ObserverMailbox.ID: ObserverMailbox] = [:]
  var mailboxCount: UInt64 = 0
  /// What those who wait for the end of a payment know, by its transaction.
  var purchases: [SequenceNumber: PurchaseWait] = [:]

  /// Content of what was bought, on its way; `nil` until it is said where it goes.
  var downloadQueue: DownloadQueue?

  var conversation = StoreConversation()
  var synchronization = SynchronizationState()

  /// Opens a queue, and reads its transactions.
  ///
  /// - Parameters:
  ///   - store: Where payments go.
  ///   - storage: What keeps the queue. No other queue may use it; the queue closes it.
  ///   - options: How it behaves.
  /// - Throws: ``PaymentQueueError`` with `storage`, `corrupt` or `unsupported`.
  public init(
    store: any Store, storage: any RecordStorage, options: Options = Options()
  ) throws(PaymentQueueError) {
    self.store = store
    self.storage = storage
    self.options = options
    ledger = try TransactionLedger.read(from: storage)
    synchronization.toSend = WorkQueue(ledger.requests.keys.sorted())
    synchronization.toFinish = WorkQueue(ledger.finishes.keys.sorted())
  }

  // MARK: Reading

  /// Whether the user may authorise payments (`canMakePayments`). Where not, switch what sells off, or hide it.
  public nonisolated var canMakePayments: Bool { options.canMakePayments() }

  /// The transactions that are not finished, oldest first (`transactions`), without their receipts. While nobody
  /// watches the queue they may be behind what the store knows. Usually one waits for updates instead.
  public var transactions: [PaymentTransaction] { ledger.order.compactMap { ledger.transactions[$0] } }

  /// A transaction that is not finished, with its receipt; `nil` if there is none.
  ///
  /// - Throws: ``PaymentQueueError``.
  public func transaction(_ id: PaymentTransaction.ID) throws(PaymentQueueError) -> PaymentTransaction? {
    try requireOpen()
    guard let number = SequenceNumber(key: id.rawValue) else { return nil }
    return try ending { () throws(PaymentQueueError) in try ledger.withReceipts(number) }
  }

  /// The receipt of a transaction that was purchased or restored and is not finished; `nil` if there is none. That
  /// of a restored one is of the new transaction.
  ///
  /// - Throws: ``PaymentQueueError``.
  public func receipt(of id: PaymentTransaction.ID) throws(PaymentQueueError) -> [UInt8]? {
    try transaction(id)?.storeTransaction?.receipt
  }

  // MARK: Ending

  /// Ends the use: sequences of updates end, purchases that wait throw `closed`, and the storage is closed. Payments
  /// stay what they are. Closing again does nothing.
  ///
  /// - Throws: ``PaymentQueueError`` with what closing the storage throws.
  public func close() throws(PaymentQueueError) {
    if fault?.code == .closed { return }
    stop(PaymentQueueError(.closed, "The queue was closed."))
    do { try storage.close() } catch { throw PaymentQueueError(error) }
  }

  func requireOpen() throws(PaymentQueueError) {
    if let fault { throw fault }
  }

  /// Runs `body`, and stops the queue where it must not go on after its error.
  func ending<Result>(_ body: () throws(PaymentQueueError) -> Result) throws(PaymentQueueError) -> Result {
    do {
      return try body()
    } catch {
      if error.endsTheQueue { stop(error) }
      throw error
    }
  }

  /// Lets nobody hear of anything more.
  private func stop(_ error: PaymentQueueError) {
    if error.code != .closed { options.log("The payment queue stopped: \(error)") }
    fault = error
    for id in mailboxes.keys { mailboxes[id]?.wake() }
    mailboxes = [:]
    for number in purchases.keys { purchases[number]?.end(.failure(error)) }
    closeDownloads()
    wake()
  }
}
