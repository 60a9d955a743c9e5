// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP
internal import Synchronization

/// A queue of payments to a store and their transactions (`SKPaymentQueue`).
///
/// A queue is durable: every change is stored and synced before it is reported, and survives a crash or relaunch. Each
/// payment makes one transaction, which stays until it is finished.
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
/// The queue sends payments and fetches sales only while it is observed: by an observer, by a sequence of ``updates``,
/// or by a pending ``purchase(_:)``. Finishes are always sent. ``synchronize()`` and
/// ``restoreCompletedTransactions(applicationUsername:)`` work at any time.
///
/// An observed queue stays alive until ``close()``, or until it has no observers and the store has accepted all
/// finishes. Create one queue per storage.
public actor PaymentQueue {
  package nonisolated let options: Options
  /// The storage of the queue. Other components use their own collections in it.
  package nonisolated let storage: any RecordStorage
  let store: any Store
  /// `true` if finished transactions are kept for a ``QueuePurchaseRecord``.
  nonisolated let keepsPurchases = Mutex(false)

  var ledger: TransactionLedger
  /// The error that stopped the queue; `nil` while it is running.
  public internal(set) var fault: PaymentQueueError?

  var mailboxes: [ObserverMailbox.ID: ObserverMailbox] = [:]
  var mailboxCount: UInt64 = 0
  typealias Answer<Value: Sendable> = FirstResult<Result<Value, any Error>>
  /// The pending calls of `purchase`, by transaction.
  var purchases: [SequenceNumber: Answer<PaymentTransaction>] = [:]
  /// The calls that wait until the store has accepted a finish.
  var confirmations: [(number: SequenceNumber, answer: Answer<Void>)] = []

  /// The downloads; `nil` until they are enabled.
  var downloadQueue: DownloadQueue?

  var requestLock = StoreRequestLock()
  var synchronization = SynchronizationState()

  /// Opens a queue, and reads its transactions.
  ///
  /// - Parameters:
  ///   - store: The store that receives payments.
  ///   - storage: The storage of the queue. No other queue may use it; the queue closes it.
  ///   - options: The options.
  /// - Throws: ``PaymentQueueError`` with `storage`, `corrupt` or `unsupported`.
  public init(
    store: any Store, storage: any RecordStorage, options: Options = Options()
  ) throws(PaymentQueueError) {
    self.store = store
    self.storage = storage
    self.options = options
    ledger = try TransactionLedger.read(from: storage)
    synchronization.toSend += ledger.requests.keys.sorted()
    synchronization.toFinish += ledger.finishes.keys.sorted()
    // Transactions that were finished in an earlier launch are reported without waiting for an observer.
    if !ledger.finishes.isEmpty { Task { await self.startSynchronizing() } }
  }

  // MARK: Reading

  /// `true` if the user may authorise payments (`canMakePayments`). If not, disable or hide the store's user
  /// interface.
  public nonisolated var canMakePayments: Bool { store.canMakePayments && options.canMakePayments() }

  /// The unfinished transactions, oldest first (`transactions`), without their receipts. They may be outdated while the
  /// queue is not observed. Prefer ``updates``.
  public var transactions: [PaymentTransaction] { ledger.order.compactMap { ledger.transactions[$0] } }

  /// An unfinished transaction, with its receipt; `nil` if it is not in the queue.
  ///
  /// - Throws: ``PaymentQueueError``.
  public func transaction(_ id: PaymentTransaction.ID) throws(PaymentQueueError) -> PaymentTransaction? {
    try requireOpen()
    guard let number = SequenceNumber(key: id.rawValue) else { return nil }
    return try usingLedger(try ledger.withReceipts(number))
  }

  // MARK: Closing

  /// Closes the queue and its storage. Sequences of updates end, and pending purchases throw `closed`. Payments are
  /// not changed. Closing again has no effect.
  ///
  /// - Throws: ``PaymentQueueError`` if the storage cannot be closed.
  public func close() throws(PaymentQueueError) {
    if fault?.code == .closed { return }
    stop(PaymentQueueError(.closed, "The queue was closed."))
    try PaymentQueueError.wrapping(try storage.close())
  }

  func requireOpen() throws(PaymentQueueError) {
    if let fault { throw fault }
  }

  /// Uses the ledger, and stops the queue after a fatal error.
  func usingLedger<Result>(
    _ call: @autoclosure () throws(PaymentQueueError) -> Result
  ) throws(PaymentQueueError) -> Result {
    do { return try call() } catch {
      if error.isFatal { stop(error) }
      throw error
    }
  }

  /// Ends all observation.
  private func stop(_ error: PaymentQueueError) {
    if error.code != .closed { options.log("The payment queue stopped: \(error)") }
    fault = error
    for id in mailboxes.keys { mailboxes[id]?.wake() }
    mailboxes = [:]
    for purchase in purchases.values { purchase.deliver(.failure(error)) }
    for confirmation in confirmations { confirmation.answer.deliver(.failure(error)) }
    closeDownloads()
    wake()
  }
}

extension PaymentQueueError: StorageFailure {
  init(damage: String, at place: String) {
    self.init(
      .corrupt, at: place,
      "A record is damaged, or of another build: \(damage). Restore it from a backup, or use that build.")
  }

  package init(_ fault: RecordStorageError) {
    self.init(.storage, at: fault.place, "\(fault.code.rawValue): \(fault.message)", storageError: fault)
  }

  /// `true` if the queue must stop: memory may differ from the storage, or the storage cannot be read.
  var isFatal: Bool {
    switch (code, storageError?.code) {
    case (.storage, .full), (.storage, .busy), (.storage, .inputOutput): false
    case (.storage, _), (.corrupt, _), (.unsupported, _), (.closed, _): true
    default: false
    }
  }
}

extension PaymentQueue.Options {
  package func delay(afterFailures failures: Int, asked: Duration?) -> Duration {
    let policy = RetryPolicy(firstDelay: retryDelays.lowerBound, maximumDelay: retryDelays.upperBound)
    // At least a tenth, so that small random values do not cause a retry storm.
    let share = 0.1 + 0.9 * min(max(time.random(), 0), 1)
    let own = policy.greatestDelay(afterAttempts: failures) * share
    // The store may ask for a longer delay, up to a bound.
    return max(own, min(asked ?? .zero, .seconds(3600)))
  }
}

extension PaymentQueue {
  private static let shared = Mutex<PaymentQueue?>(nil)

  /// The shared queue of the app (`defaultQueue`); `nil` until ``configureDefault(_:)`` sets it at launch.
  public static var `default`: PaymentQueue? { shared.withLock { $0 } }

  /// Sets the shared queue of the app. Libraries should create their own or take one as a parameter.
  ///
  /// - Parameter queue: The queue; `nil` to remove it.
  public static func configureDefault(_ queue: PaymentQueue?) { shared.withLock { $0 = queue } }
}
