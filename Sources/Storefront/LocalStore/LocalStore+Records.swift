// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptSigning

/// Reading and writing records.
extension LocalStore {
  /// The changes of one operation, which are committed together.
  struct Change {
    var records: [RecordChange] = []
    /// Transactions that are new or changed, by identifier.
    var sales: [String: StoreSaleRecord] = [:]
    var notifications: [SignedNotification] = []
    var texts: SharedTexts
  }

  static func header(of state: State) -> RecordChange {
    var header = StoreHeader()
    header.version = StoreHeader.currentVersion
    header.seed = String(state.seed)
    header.ledger = state.engine.ledger
    return .put(.storeHeader, key: StoreHeader.key, value: header.encodedJSON())
  }

  /// Puts a transaction into the history of its account.
  static func place(_ sale: StoreSaleRecord) -> RecordChange {
    .put(.storeHistory, key: historyKey(sale.account, sale.modification), value: Array(sale.identifier.utf8))
  }

  static func historyKey(_ account: String, _ modification: Int64) -> String {
    StoreKey.joined(account, StoreKey.number(modification))
  }

  /// Puts a notification into the list by date.
  static func date(_ notification: SignedNotification) -> RecordChange {
    .put(.storeOutboxDates, key: StoreKey.dated(notification.signedDate, notification.number), value: [])
  }

  /// Runs an operation and commits all of its changes, or none.
  ///
  /// - Throws: ``LocalStoreError``. After `not-found` and `refused` the state is unchanged; after any other error it is
  ///   read from the storage again.
  func change<Result>(
    _ body: (inout SubscriptionEngine, inout Change) throws(LocalStoreError) -> Result
  ) throws(LocalStoreError) -> Result {
    // Moved out, so that it is mutated without a copy, and lost if the operation fails half-way.
    var working = try loaded()
    state = nil
    var change = Change(texts: working.texts)
    let result: Result
    do throws(LocalStoreError) {
      result = try body(&working.engine, &change)
    } catch {
      // What the engine could not read, it took for absent.
      try working.engine.source?.check()
      // These errors are thrown before anything is changed.
      if error.code == .refused || error.code == .notFound { state = working }
      throw error
    }
    for var sale in change.sales.values.sorted(by: { $0.identifier < $1.identifier }) {
      if !sale.isRestoration {
        if sale.modification > 0 {
          change.records.append(
            .remove(.storeHistory, key: Self.historyKey(sale.account, sale.modification)))
        }
        sale.modification = working.engine.nextModification()
        change.records.append(Self.place(sale))
      }
      change.records.append(.put(.storeSales, key: sale.identifier, value: sale.encodedJSON()))
    }
    change.records += working.engine.takeChanges() + change.texts.takeAdded()
    working.texts = change.texts
    try working.engine.source?.check()
    if !change.records.isEmpty {
      change.records.append(Self.header(of: working))
      try commit(change.records)
      working.nextDueDate = working.engine.nextDueDate
      try working.engine.source?.check()
    }
    state = working
    if !change.notifications.isEmpty { deliver() }
    signalSales(of: change)
    // The next due date may be earlier than before.
    sleeper?.cancel()
    return result
  }

  /// Performs all events that are due, in several commits.
  func catchUp(to instant: Timestamp? = nil) throws(LocalStoreError) {
    let now = instant ?? clock()
    while true {
      if let state, state.nextDueDate.map({ $0 > now }) ?? true { return }
      let isDone = try change { engine, change throws(LocalStoreError) in
        let (events, isDone) = engine.advance(to: now, atMost: 64)
        try record(events, in: &change)
        return isDone
      }
      if isDone { return }
    }
  }

  /// Reads from the engine.
  func read<Result>(_ body: (SubscriptionEngine) -> Result) throws(LocalStoreError) -> Result {
    let engine = try loaded().engine
    try makeDurable()
    let result = body(engine)
    try engine.source?.check()
    return result
  }

  func sale(_ identifier: String, in change: Change? = nil) throws(LocalStoreError) -> StoreSaleRecord? {
    if let sale = change?.sales[identifier] { return sale }
    guard let bytes = try value(of: identifier, in: .storeSales) else { return nil }
    return try Self.decode(bytes, at: "store-sales/\(identifier)")
  }

  package func value(of key: String, in collection: RecordCollection) throws(LocalStoreError) -> [UInt8]? {
    try makeDurable()
    return try Self.value(of: key, in: collection, of: storage)
  }

  /// The records of a collection after a key, in the order of their keys.
  ///
  /// - Throws: ``LocalStoreError`` with `storage`.
  package func records(
    in collection: RecordCollection, after key: String? = nil, limit: Int = 1000
  ) throws(LocalStoreError) -> [StoredRecord] {
    try makeDurable()
    return try Self.records(in: collection, after: key, limit: limit, of: storage)
  }

  /// The keys of an account in a collection, after a position.
  ///
  /// - Returns: The part of each key after the account.
  func keys(
    in collection: RecordCollection, with part: String, after position: String?, limit: Int
  ) throws(LocalStoreError) -> [String] {
    let prefix = StoreKey.prefix(part)
    let records = try records(in: collection, after: prefix + (position ?? ""), limit: limit)
    return records.lazy.map(\.key).prefix { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
  }

  static func value(
    of key: String, in collection: RecordCollection, of storage: any RecordStorage
  ) throws(LocalStoreError) -> [UInt8]? {
    do throws(RecordStorageError) {
      return try storage.value(of: key, in: collection)
    } catch {
      throw LocalStoreError(error)
    }
  }

  static func records(
    in collection: RecordCollection, after key: String?, limit: Int, of storage: any RecordStorage
  ) throws(LocalStoreError) -> [StoredRecord] {
    do throws(RecordStorageError) {
      return try storage.records(in: collection, after: key, limit: limit)
    } catch {
      throw LocalStoreError(error)
    }
  }

  static func decode<Record: JSONObject>(_ bytes: [UInt8], at place: String) throws(LocalStoreError) -> Record
  {
    do throws(MalformedReceipt) {
      return try Record(json: bytes, part: "record", limits: .standard)
    } catch {
      throw LocalStoreError(error, at: place)
    }
  }
}

/// Sales of several customers share a sync: each is stored at once, and answered after the sync.
extension LocalStore {
  /// Runs an operation whose changes need not be on disk before ``synchronized()``.
  func grouped<Result>(_ body: () throws(LocalStoreError) -> Result) throws(LocalStoreError) -> Result {
    isGrouping = true
    defer { isGrouping = false }
    return try body()
  }

  /// Returns when everything that was stored before the call is on disk.
  func synchronized() async throws(LocalStoreError) {
    guard isUnsynchronized else { return }
    // The calls that wait for the actor come first, and the first that goes on syncs for all of them.
    await Task.yield()
    try makeDurable()
  }

  /// Has everything on disk that a caller is about to see, but for grouped operations.
  func makeDurable() throws(LocalStoreError) {
    guard isUnsynchronized, !isGrouping else { return }
    do throws(RecordStorageError) { try storage.synchronize() } catch {
      state = nil
      throw LocalStoreError(error)
    }
    isUnsynchronized = false
  }

  /// Stores changes: on disk unless the operation is grouped.
  package func commit(_ changes: [RecordChange]) throws(LocalStoreError) {
    do throws(RecordStorageError) {
      if isGrouping {
        // Before the call: after an error it is not known what was stored.
        isUnsynchronized = true
        try storage.append(changes)
      } else {
        try storage.commit(changes)
        isUnsynchronized = false
      }
    } catch {
      throw LocalStoreError(error)
    }
  }
}
