// SPDX-License-Identifier: Apache-2.0

/// The pending updates of one observer.
///
/// A transaction is queued at most once, by number, and its state is read on delivery. So a slow observer costs little
/// memory and receives the latest state.
struct ObserverMailbox {
  enum Item {
    case transaction(SequenceNumber)
    case other(PaymentQueueUpdate)
  }

  /// The identifier of a mailbox in its queue.
  typealias ID = UInt64

  /// The greatest number of transactions in one call.
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

  /// Removes delivered items.
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
