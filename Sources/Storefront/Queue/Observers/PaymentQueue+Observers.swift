// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP

extension PaymentQueue {
  /// Adds an observer (`addTransactionObserver:`), which hears at once of all transactions that are not finished. The
  /// first one has the queue begin to speak with the store.
  ///
  /// The queue holds it until it is removed. Adding it again does nothing.
  ///
  /// - Parameter observer: The object that delivers what was bought.
  public func addObserver(_ observer: any TransactionObserver) {
    guard fault == nil, mailbox(of: observer) == nil else { return }
    let id = addMailbox(for: observer)
    Task {
      while let update = await nextUpdate(for: id) { await observer.receive(update, from: self) }
    }
  }

  /// Removes an observer (`removeTransactionObserver:`). A call in progress completes; no other
  /// follows. When the last one goes, the queue no longer speaks with the store.
  ///
  /// - Parameter observer: Which; another one than was added has no effect.
  public func removeObserver(_ observer: any TransactionObserver) {
    if let id = mailbox(of: observer) { removeMailbox(id) }
  }

  /// What happens in the queue, from all transactions that are not finished on. Each sequence is of its own, and
  /// counts as an observer until it is released, or its task is cancelled. It ends when the queue is closed or stops.
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
  /// Nothing is read ahead: what is not taken from the sequence waits in the queue.
  public var updates: AsyncStream<PaymentQueueUpdate> {
    guard fault == nil else { return AsyncStream { nil } }
    let subscription = Subscription(queue: self, mailbox: addMailbox(for: nil))
    return AsyncStream {
      await subscription.next()
    } onCancel: {
      subscription.end()
    }
  }

  /// Keeps a mailbox for as long as a sequence may be read.
  private final class Subscription: Sendable {
    private let queue: PaymentQueue
    private let mailbox: ObserverMailbox.ID

    init(queue: PaymentQueue, mailbox: ObserverMailbox.ID) {
      self.queue = queue
      self.mailbox = mailbox
    }

    deinit { end() }

    func next() async -> PaymentQueueUpdate? { await queue.nextUpdate(for: mailbox) }

    func end() {
      Task { [queue, mailbox] in await queue.removeMailbox(mailbox) }
    }
  }

  /// Tells everybody who watches.
  package func tell(_ update: PaymentQueueUpdate) {
    for id in mailboxes.keys { mailboxes[id]?.post(update) }
  }

  private func mailbox(of observer: any TransactionObserver) -> ObserverMailbox.ID? {
    mailboxes.first { $0.value.observer === observer }?.key
  }

  private func addMailbox(for observer: (any TransactionObserver)?) -> ObserverMailbox.ID {
    mailboxCount += 1
    let id = ObserverMailbox.ID(number: mailboxCount)
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
  /// At most so many bytes of receipts are read for one call, or those of one transaction.
  private static let receiptLimit = 4 << 20

  /// What an observer is told next; waits for it. `nil` when it is removed.
  private func nextUpdate(for id: ObserverMailbox.ID) async -> PaymentQueueUpdate? {
    while mailboxes[id] != nil {
      do {
        if let update = try takeUpdate(id) { return update }
        await withCheckedContinuation { mailboxes[id]?.wait($0) }
      } catch {
        if error.endsTheQueue { return nil }
        options.log("A receipt could not be read, and is tried again: \(error)")
        try? await options.time.sleep(options.delay(afterFailures: 1, asked: nil))
        if Task.isCancelled { return nil }
      }
    }
    return nil
  }

  /// Takes what is next from a mailbox; `nil` where nothing waits.
  private func takeUpdate(_ id: ObserverMailbox.ID) throws(PaymentQueueError) -> PaymentQueueUpdate? {
    while true {
      switch mailboxes[id]?.next() {
      case nil: return nil
      case .other(let update):
        mailboxes[id]?.take(1)
        return update
      case .transactions(let numbers):
        var page: [PaymentTransaction] = []
        var taken = 0
        var size = 0
        for number in numbers where size < Self.receiptLimit {
          // Some have been finished since.
          let whole = try ending { () throws(PaymentQueueError) in try ledger.withReceipts(number) }
          if let whole {
            page.append(whole)
            size += whole.receiptByteCount
          }
          taken += 1
        }
        mailboxes[id]?.take(taken)
        if !page.isEmpty { return .updated(page) }
      }
    }
  }
}

extension PaymentTransaction {
  fileprivate var receiptByteCount: Int {
    let original = originalTransaction?.storeTransaction?.receipt.count ?? 0
    return (storeTransaction?.receipt.count ?? 0) + original
  }
}
