// SPDX-License-Identifier: Apache-2.0

/// What one observer has not been told.
///
/// Of a transaction only its number waits here, and once at most; its state is read when it is delivered. So a slow
/// observer costs little memory, and hears of the latest state.
struct ObserverMailbox {
  private enum Item {
    case transaction(SequenceNumber)
    case other(PaymentQueueUpdate)
  }

  /// What is to be delivered next.
  enum Batch {
    case transactions([SequenceNumber])
    case other(PaymentQueueUpdate)
  }

  /// Which of the queue's mailboxes.
  struct ID: Hashable {
    let number: UInt64
  }

  /// At most so many transactions come in one call.
  static let pageLimit = 256

  /// Whose it is; `nil` for a sequence of updates.
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
    // Transactions that leave one by one are told of together.
    if case .removed(let more) = update, taken < items.count,
      case .other(.removed(let others)) = items[items.count - 1], others.count < Self.pageLimit
    {
      items[items.count - 1] = .other(.removed(others + more))
    } else if case .updatedDownloads(let news) = update, taken < items.count,
      case .other(.updatedDownloads(let others)) = items[items.count - 1]
    {
      // Of a download only the latest is told.
      let told = others.filter { other in !news.contains { $0.id == other.id } }
      items[items.count - 1] = .other(.updatedDownloads(told + news))
    } else {
      items.append(.other(update))
    }
    wake()
  }

  /// What is next, without taking it; `nil` where nothing waits.
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

  /// Takes as many items as were delivered: transactions, or 1 for anything else.
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

  /// Has everyone look again.
  mutating func wake() {
    for reader in readers { reader.resume() }
    readers = []
  }
}
