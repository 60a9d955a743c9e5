// SPDX-License-Identifier: Apache-2.0

/// The pending updates of one observer.
///
/// A transaction is queued at most once, by number; its state is read on delivery. So a slow observer costs little
/// memory and receives the latest state.
struct ObserverMailbox {
  private enum Item {
    case transaction(SequenceNumber)
    case other(PaymentQueueUpdate)
  }

  /// The next delivery.
  enum Batch {
    case transactions([SequenceNumber])
    case other(PaymentQueueUpdate)
  }

  /// The identifier of a mailbox in its queue.
  struct ID: Hashable {
    let number: UInt64
  }

  /// The greatest number of transactions in one call.
  static let pageLimit = 256

  /// The observer; `nil` for a sequence of updates.
  let observer: (any TransactionObserver)?
  private var items: [Item] = []
  private var taken = 0
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
    if case .removed(let more) = update, taken < items.count,
      case .other(.removed(let others)) = items[items.count - 1], others.count < Self.pageLimit
    {
      items[items.count - 1] = .other(.removed(others + more))
    } else if case .updatedDownloads(let news) = update, taken < items.count,
      case .other(.updatedDownloads(let others)) = items[items.count - 1]
    {
      // Only the latest state of a download is delivered.
      let unchanged = others.filter { other in !news.contains { $0.id == other.id } }
      items[items.count - 1] = .other(.updatedDownloads(unchanged + news))
    } else {
      items.append(.other(update))
    }
    wake()
  }

  /// The next delivery, which stays in the mailbox; `nil` if it is empty.
  func next() -> Batch? {
    guard taken < items.count else { return nil }
    if case .other(let update) = items[taken] { return .other(update) }
    var page: [SequenceNumber] = []
    for item in items[taken...] {
      guard case .transaction(let number) = item, page.count < Self.pageLimit else { break }
      page.append(number)
    }
    return .transactions(page)
  }

  /// Removes delivered items: the number of transactions, or 1 for any other update.
  mutating func take(_ count: Int) {
    for item in items[taken..<taken + count] {
      if case .transaction(let number) = item { waiting.remove(number) }
    }
    taken += count
    if taken * 2 >= items.count {
      items.removeFirst(taken)
      taken = 0
    }
  }

  mutating func wait(_ reader: CheckedContinuation<Void, Never>) { readers.append(reader) }

  /// Resumes all readers, which then check again.
  mutating func wake() {
    for reader in readers { reader.resume() }
    readers = []
  }
}
