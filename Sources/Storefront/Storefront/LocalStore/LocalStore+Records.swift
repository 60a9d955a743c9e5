// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension LocalStore {
  static func header(of state: State) -> RecordChange {
    let header = StoreHeader(
      version: StoreHeader.currentVersion, seed: String(state.engine.options.seed),
      ledger: state.engine.ledger)
    return .put(.storeHeader, key: StoreHeader.key, value: header.encodedJSON())
  }

  /// Adds a transaction to the history of its account.
  static func place(_ sale: StoreSaleRecord) -> RecordChange {
    .put(.storeHistory, key: historyKey(sale.account, sale.modification), value: Array(sale.identifier.utf8))
  }

  static func historyKey(_ account: String, _ modification: Int64) -> String {
    StoreKey.joined(account, StoreKey.number(modification))
  }

  /// Adds a notification to the list by date.
  static func date(_ notification: SignedNotification) -> RecordChange {
    .put(.storeOutboxDates, key: StoreKey.dated(notification.signedDate, notification.number), value: [])
  }

  /// Runs an operation and commits all of its changes, or none. After an error the state is read from the storage
  /// again, unless the operation was refused before its first change.
  func change<Result>(
    _ body: (inout SubscriptionEngine, inout Change) throws(LocalStoreError) -> Result
  ) throws(LocalStoreError) -> Result {
    // Moved out, so that it is mutated without a copy and discarded if the operation fails.
    var working = try loaded()
    state = nil
    var change = Change(texts: texts ?? SharedTexts())
    let ledger = working.engine.ledger
    let result: Result
    do throws(LocalStoreError) { result = try body(&working.engine, &change) } catch {
      // The engine treats a record that it could not read as absent. Report the read error first.
      try working.engine.source?.check()
      // If one of several purchases is refused, others may have been imported before.
      let isRefusal = error.code == .refused || error.code == .notFound
      if isRefusal, working.engine.isUnchanged(since: ledger) { state = working }
      throw error
    }
    for var sale in change.sales.values.sorted(by: { $0.identifier < $1.identifier }) {
      if !sale.isRestoration {
        if sale.modification > 0 {
          change.records.append(.remove(.storeHistory, key: Self.historyKey(sale.account, sale.modification)))
        }
        sale.modification = working.engine.nextModification()
        change.records.append(Self.place(sale))
      }
      change.records.append(.put(.storeSales, key: sale.identifier, value: sale.record(&change.texts)))
    }
    change.records += working.engine.takeChanges() + change.texts.takeAdded()
    try working.engine.source?.check()
    if !change.records.isEmpty {
      change.records.append(Self.header(of: working))
      texts = nil
      try commit(change.records)
      working.nextDueDate = working.engine.nextDueDate
      try working.engine.source?.check()
    }
    state = working
    texts = change.texts
    if !change.notifications.isEmpty { deliver() }
    signalSales(of: change)
    // The next due date may be earlier than before.
    sleeper?.cancel()
    return result
  }

  /// Performs all events that are due, in several commits, and returns the instant up to which it did, now by default.
  @discardableResult
  func catchUp(to instant: Timestamp? = nil) throws(LocalStoreError) -> Timestamp {
    let now = instant ?? clock()
    while true {
      if let state, state.nextDueDate.map({ $0 > now }) ?? true { return now }
      let isDone = try change { engine, change throws(LocalStoreError) in
        let (events, isDone) = engine.advance(to: now, atMost: 64)
        try record(events, in: &change)
        return isDone
      }
      if isDone { return now }
    }
  }

  func read<Result>(_ body: (SubscriptionEngine) -> Result) throws(LocalStoreError) -> Result {
    let engine = try loaded().engine
    try makeDurable()
    let result = body(engine)
    try engine.source?.check()
    return result
  }

  func sale(_ identifier: String, in change: Change? = nil) throws(LocalStoreError) -> StoreSaleRecord? {
    if let sale = change?.sales[identifier] { return sale }
    guard let record = try durable.value(of: identifier, in: .storeSales) else { return nil }
    let place = "store-sales/\(identifier)"
    let (json, packed) = PackedText.split(record)
    var sale: StoreSaleRecord = try StoredRecords.decode(json, at: place)
    if let packed {
      sale.receipt = try unpack(packed, known: sale.transaction.encodedJSON(), at: place)
    } else if sale.receipt ?? "" == "" {
      // Version 3 has the receipt in its own record, which remains if an import replaced the sale.
      let packed = sale.isImported == true ? nil : try durable.value(of: identifier, in: .storeReceipts)
      sale.receipt = try packed.map { (packed) throws(LocalStoreError) in
        try unpack(packed, at: "store-receipts/\(identifier)")
      }
    }
    return sale
  }

  /// A transaction that another record refers to. It is an error if it is missing.
  func storedSale(_ identifier: String) throws(LocalStoreError) -> StoreSaleRecord {
    guard let sale = try sale(identifier) else {
      throw LocalStoreError(.corrupt, at: "store-sales/\(identifier)", "The sale is not stored.")
    }
    return sale
  }

  /// Performs everything that is due, and then returns the transaction that a caller named.
  func knownSale(_ identifier: String) throws(LocalStoreError) -> StoreSaleRecord {
    try catchUp()
    guard let sale = try sale(identifier) else {
      throw LocalStoreError(.notFound, at: identifier, "The store has sold nothing with this identifier.")
    }
    return sale
  }

  func sales(_ identifiers: [String]) throws(LocalStoreError) -> [StoreSaleRecord] {
    try identifiers.map { (identifier) throws(LocalStoreError) in try sale(identifier) }.compactMap(\.self)
  }

  func unpack(_ packed: [UInt8], known: [UInt8]? = nil, at place: String) throws(LocalStoreError) -> String {
    if texts == nil { _ = try loaded() }
    guard let texts, let text = PackedText.unpack(packed, texts, known: known) else {
      throw LocalStoreError(.corrupt, at: place, "Its signed text is damaged.")
    }
    return String(decoding: text, as: UTF8.self)
  }

  package func value(of key: String, in collection: RecordCollection) throws(LocalStoreError) -> [UInt8]? {
    try durable.value(of: key, in: collection)
  }

  package func records(
    in collection: RecordCollection, after key: String? = nil, limit: Int = 1000
  ) throws(LocalStoreError) -> [StoredRecord] {
    try durable.records(in: collection, after: key, limit: limit)
  }
}

/// Sales of several customers share a sync. Each is stored at once, and answered after the sync.
extension LocalStore {
  /// The records, after everything that a caller is about to see has been written to disk. Grouped operations skip the
  /// sync.
  var durable: StoredRecords {
    get throws(LocalStoreError) {
      try makeDurable()
      return stored
    }
  }

  func makeDurable() throws(LocalStoreError) {
    guard isUnsynchronized, !isGrouping else { return }
    do throws(LocalStoreError) { try LocalStoreError.wrapping(try stored.storage.synchronize()) } catch {
      (state, texts) = (nil, nil)
      throw error
    }
    isUnsynchronized = false
  }

  /// Runs an operation whose changes need not be on disk before ``synchronized()``.
  func grouped<Result>(_ body: () throws(LocalStoreError) -> Result) throws(LocalStoreError) -> Result {
    isGrouping = true
    defer { isGrouping = false }
    return try body()
  }

  /// Returns when everything that was stored before the call is on disk.
  func synchronized() async throws(LocalStoreError) {
    guard isUnsynchronized else { return }
    // The calls that wait for the actor run first. The first call that continues syncs for all of them.
    await Task.yield()
    try makeDurable()
  }

  /// Stores changes, and syncs them to disk unless the operation is grouped.
  package func commit(_ changes: [RecordChange]) throws(LocalStoreError) {
    if isGrouping {
      // Set before the call, because after an error it is not known which changes were stored.
      isUnsynchronized = true
      try LocalStoreError.wrapping(try stored.storage.append(changes))
    } else {
      try LocalStoreError.wrapping(try stored.storage.commit(changes))
      isUnsynchronized = false
    }
  }
}
