// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

extension PaymentQueue {
  /// Adds an observer (`addTransactionObserver:`), which receives all unfinished transactions immediately. The first
  /// observer makes the queue synchronize with the store.
  ///
  /// The queue retains the observer until it is removed. Adding it again has no effect.
  ///
  /// - Parameter observer: The object that delivers purchases.
  public func addObserver(_ observer: any TransactionObserver) {
    guard fault == nil, mailbox(of: observer) == nil else { return }
    let id = addMailbox(for: observer)
    Task {
      while let update = await nextUpdate(for: id) { await observer.receive(update, from: self) }
    }
  }

  /// Removes an observer (`removeTransactionObserver:`). A call in progress completes; no other follows. Without
  /// observers the queue does not synchronize.
  ///
  /// - Parameter observer: The observer. If it was not added, this has no effect.
  public func removeObserver(_ observer: any TransactionObserver) {
    if let id = mailbox(of: observer) { removeMailbox(id) }
  }

  /// The updates of the queue, beginning with all unfinished transactions. Each sequence is independent, and counts as
  /// an observer until it is released or its task is cancelled. It ends when the queue is closed or stops.
  ///
  /// ```swift
  /// for await update in await queue.updates {
  ///   guard case .updated(let transactions) = update else { continue }
  ///   for transaction in transactions where transaction.transactionState == .purchased {
  ///     // Verify the receipt, deliver, and then:
  ///     try await queue.finish(transaction)
  ///   }
  /// }
  /// ```
  ///
  /// There is no prefetch: updates stay in the queue until they are read.
  public var updates: AsyncStream<PaymentQueueUpdate> {
    guard fault == nil else { return AsyncStream { nil } }
    let subscription = Subscription(queue: self, mailbox: addMailbox(for: nil))
    return AsyncStream {
      await subscription.next()
    } onCancel: {
      subscription.end()
    }
  }

  /// Keeps a mailbox until its sequence is released or cancelled.
  private final class Subscription: Sendable {
    private let queue: PaymentQueue
    private let mailbox: ObserverMailbox.ID

    init(queue: PaymentQueue, mailbox: ObserverMailbox.ID) {
      self.queue = queue
      self.mailbox = mailbox
    }

    deinit { end() }

    func next() async -> PaymentQueueUpdate? { await queue.nextUpdate(for: mailbox) }

    func end() { Task { [queue, mailbox] in await queue.removeMailbox(mailbox) } }
  }

  package func notify(_ update: PaymentQueueUpdate) {
    for id in mailboxes.keys { mailboxes[id]?.post(update) }
  }

  private func mailbox(of observer: any TransactionObserver) -> ObserverMailbox.ID? {
    mailboxes.first { $0.value.observer === observer }?.key
  }

  private func addMailbox(for observer: (any TransactionObserver)?) -> ObserverMailbox.ID {
    mailboxCount += 1
    let id = mailboxCount
    var mailbox = ObserverMailbox(observer: observer)
    for number in ledger.order { mailbox.post(number) }
    mailboxes[id] = mailbox
    startSynchronizing()
    return id
  }

  private func removeMailbox(_ id: ObserverMailbox.ID) {
    mailboxes[id]?.wake()
    mailboxes[id] = nil
    wakeIfUnwatched()
  }
}

// MARK: Delivering

extension PaymentQueue {
  /// The greatest number of receipt bytes in one call, unless one transaction has more.
  private static let receiptLimit = 4 << 20

  /// Waits for the next update of an observer; `nil` after the observer is removed.
  private func nextUpdate(for id: ObserverMailbox.ID) async -> PaymentQueueUpdate? {
    while mailboxes[id] != nil {
      do {
        if let update = try takeUpdate(id) { return update }
        await withCheckedContinuation { mailboxes[id]?.wait($0) }
      } catch {
        if error.isFatal { return nil }
        options.log("A receipt could not be read, and is tried again: \(error)")
        try? await options.time.sleep(options.delay(afterFailures: 1, asked: nil))
        if Task.isCancelled { return nil }
      }
    }
    return nil
  }

  /// Takes the next update from a mailbox; `nil` if it is empty.
  private func takeUpdate(_ id: ObserverMailbox.ID) throws(PaymentQueueError) -> PaymentQueueUpdate? {
    while let items = mailboxes[id]?.next, let first = items.first {
      if case .other(let update) = first {
        mailboxes[id]?.take(1)
        return update
      }
      var page: [PaymentTransaction] = []
      var taken = 0
      var size = 0
      for item in items {
        guard case .transaction(let number) = item, size < Self.receiptLimit else { break }
        // The transaction may have been finished meanwhile.
        let whole = try usingLedger(try ledger.withReceipts(number))
        if let whole {
          page.append(whole)
          size += whole.outcome.sales.reduce(0) { $0 + $1.receipt.count }
        }
        taken += 1
      }
      mailboxes[id]?.take(taken)
      if !page.isEmpty { return .updated(page) }
    }
    return nil
  }
}

/// The pending updates of one observer.
///
/// A transaction is queued at most once, by number, and its state is read on delivery. So a slow observer costs little
/// memory and receives the latest state.
struct ObserverMailbox {
  enum Item {
    case transaction(SequenceNumber)
    case other(PaymentQueueUpdate)
  }

  typealias ID = UInt64

  static let pageLimit = 256

  /// The observer; `nil` for a sequence of updates.
  let observer: (any TransactionObserver)?
  private var items: ArraySlice<Item> = []
  private var waiting: Set<SequenceNumber> = []
  private var readers: [CheckedContinuation<Void, Never>] = []

  init(observer: (any TransactionObserver)?) { self.observer = observer }

  mutating func post(_ transaction: SequenceNumber) {
    guard waiting.insert(transaction).inserted else { return }
    items.append(.transaction(transaction))
    wake()
  }

  mutating func post(_ update: PaymentQueueUpdate) {
    // Consecutive removals are combined.
    switch (items.last, update) {
    case (.other(.removed(let others)), .removed(let more)) where others.count < Self.pageLimit:
      items[items.endIndex - 1] = .other(.removed(others + more))
    case (.other(.updatedDownloads(let others)), .updatedDownloads(let news)):
      // Only the latest state of a download is delivered.
      let unchanged = others.filter { other in !news.contains { $0.id == other.id } }
      items[items.endIndex - 1] = .other(.updatedDownloads(unchanged + news))
    default: items.append(.other(update))
    }
    wake()
  }

  /// The next items, which stay in the mailbox.
  var next: [Item] { Array(items.prefix(Self.pageLimit)) }

  mutating func take(_ count: Int) {
    for case .transaction(let number) in items.prefix(count) { waiting.remove(number) }
    items.removeFirst(count)
    // Releases the memory of the delivered items.
    if items.isEmpty { items = [] }
  }

  mutating func wait(_ reader: CheckedContinuation<Void, Never>) { readers.append(reader) }

  /// Resumes all readers, which then check the mailbox again.
  mutating func wake() {
    for reader in readers { reader.resume() }
    readers = []
  }
}

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
