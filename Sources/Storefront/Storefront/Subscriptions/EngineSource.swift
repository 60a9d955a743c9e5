// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import Synchronization

/// The stored rows of an engine, which it reads when they are not in memory.
///
/// The engine itself cannot fail. An error is stored here, and the engine's caller calls ``check()`` before it uses a
/// result.
final class EngineSource: Sendable {
  private let stored: StoredRecords
  private let failure = Mutex<LocalStoreError?>(nil)

  init(_ stored: StoredRecords) { self.stored = stored }

  /// Throws the first error since the last call.
  func check() throws(LocalStoreError) {
    let found = failure.withLock { failure in
      defer { failure = nil }
      return failure
    }
    if let found { throw found }
  }

  /// Reads stored rows; `nil` after an error.
  @discardableResult
  func read<Result>(_ body: (StoredRecords) throws(LocalStoreError) -> Result) -> Result? {
    do { return try body(stored) } catch {
      failure.withLock { if $0 == nil { $0 = error } }
      return nil
    }
  }
}

extension StoredRecords {
  func firstDue(
    after key: String?
  ) throws(LocalStoreError) -> (key: String, entry: DueQueue.Entry)? {
    guard let record = try records(in: .storeDue, after: key, limit: 1).first else { return nil }
    guard let date = record.key.split(separator: "/").first.flatMap({ Int64($0) }) else {
      throw LocalStoreError(.corrupt, at: "store-due/\(record.key)", "Its key begins with no date.")
    }
    let identifier = String(decoding: record.value, as: UTF8.self)
    return (record.key, .init(date: Timestamp(millisecondsSince1970: Double(date)), identifier: identifier))
  }
}

/// The rows of one collection that are in memory. An engine without a source has all rows in memory. Otherwise these
/// are the rows that changed, or whose due date came, since the last commit.
struct EngineTable<Row: JSONObject & Sendable>: Sendable {
  let collection: RecordCollection
  /// The storage of the rows. Without it, changes are not recorded.
  let source: EngineSource?
  var rows: [String: Row] = [:]
  /// The changes since the last commit; a removed row is `nil`.
  private var changes: [String: Row?] = [:]

  init(_ collection: RecordCollection, of source: EngineSource?) {
    self.collection = collection
    self.source = source
  }

  subscript(key: String) -> Row? {
    if let row = rows[key] { return row }
    guard let source, changes.index(forKey: key) == nil else { return nil }
    return source.read { (stored) throws(LocalStoreError) in try stored.row(key, in: collection) } ?? nil
  }

  mutating func set(_ row: Row?, at key: String) {
    rows[key] = row
    if source != nil { changes[key] = .some(row) }
  }

  var hasChanges: Bool { !changes.isEmpty }

  /// Takes the changes since the last call, to be stored. No row remains in memory.
  mutating func takeChanges() -> [RecordChange] {
    defer {
      changes = [:]
      rows = [:]
    }
    return changes.sorted { $0.key < $1.key }.map { key, row in
      row.map { .put(collection, key: key, value: $0.encodedJSON()) } ?? .remove(collection, key: key)
    }
  }
}

extension SubscriptionEngine {
  /// Returns `true` if nothing changed since the last ``takeChanges()``, when the ledger was `before`. A later time is
  /// not a change.
  func isUnchanged(since before: EngineLedger) -> Bool {
    var before = before
    before.time = ledger.time
    return ledger == before && events.isEmpty && dueBefore.isEmpty && changedNonces.isEmpty
      && !all.hasChanges && !families.hasChanges && !declined.hasChanges
  }

  /// Takes the changes since the last call, to be stored in one commit. After that, only the source has the rows.
  mutating func takeChanges() -> [RecordChange] {
    var changes: [RecordChange] = []
    for (id, before) in dueBefore.sorted(by: { $0.key < $1.key }) {
      guard let subscription = all.rows[id] else { continue }
      changes += Self.index(subscription, dueBefore: before)
    }
    changes += all.takeChanges() + families.takeChanges() + declined.takeChanges()
    for nonce in changedNonces.sorted() {
      let value = nonces[nonce].map { Array(String($0.millisecondsSince1970).utf8) }
      changes.append(
        value.map { .put(.storeNonces, key: nonce, value: $0) } ?? .remove(.storeNonces, key: nonce))
    }
    changedNonces = []
    dueBefore = [:]
    dueKey = nil
    identifiersByAccount = [:]
    due = DueQueue()
    return changes
  }

  /// The entries of a subscription in the indexes by account and by due date.
  static func index(_ subscription: Subscription, dueBefore before: Timestamp?) -> [RecordChange] {
    let value = Array(subscription.id.utf8)
    var changes: [RecordChange] = [
      .put(.storeSubscribers, key: StoreKey.joined(subscription.account, subscription.id), value: value)
    ]
    if before != subscription.dueDate {
      if let before { changes.append(.remove(.storeDue, key: StoreKey.due(before, subscription.id))) }
      if let date = subscription.dueDate {
        changes.append(.put(.storeDue, key: StoreKey.due(date, subscription.id), value: value))
      }
    }
    return changes
  }
}

/// A priority queue of due dates, as a binary heap. At the same instant, the lower identifier comes first, so the
/// order is deterministic.
struct DueQueue: Sendable {
  struct Entry: Sendable, Hashable {
    let date: Timestamp
    let identifier: String

    func precedes(_ other: Entry) -> Bool {
      if date != other.date { return date < other.date }
      return identifier.utf8.lexicographicallyPrecedes(other.identifier.utf8)
    }
  }

  private var heap: [Entry] = []

  var count: Int { heap.count }
  var first: Entry? { heap.first }

  mutating func insert(_ entry: Entry) {
    heap.append(entry)
    var index = heap.count - 1
    while index > 0 {
      let parent = (index - 1) / 2
      guard heap[index].precedes(heap[parent]) else { return }
      heap.swapAt(index, parent)
      index = parent
    }
  }

  mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2]
      where child < heap.count && heap[child].precedes(heap[least]) {
        least = child
      }
      guard least != index else { return }
      heap.swapAt(index, least)
      index = least
    }
  }

  /// Rebuilds the queue without stale entries, which would otherwise stay until they are due.
  mutating func replace(with entries: [Entry]) {
    heap = entries.sorted { $0.precedes($1) }
  }
}
