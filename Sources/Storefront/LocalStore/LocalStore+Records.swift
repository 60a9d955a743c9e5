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
  }

  /// Reads the state of a store, or creates that of a new one.
  static func read(
    catalog: ProductCatalog, options: Options, storage: any RecordStorage
  ) throws(LocalStoreError) -> (State, isNew: Bool) {
    var engineOptions = options.engine
    guard let bytes = try value(of: StoreHeader.key, in: .storeHeader, of: storage) else {
      if engineOptions.seed == 0 { engineOptions.seed = UInt64.random(in: 1 ... .max) }
      let engine = SubscriptionEngine(catalog: catalog, options: engineOptions)
      return (State(engine: engine, seed: engineOptions.seed), true)
    }
    var header: StoreHeader = try decode(bytes, at: "store-header")
    guard 1...StoreHeader.currentVersion ~= header.version, let seed = UInt64(header.seed) else {
      throw LocalStoreError(
        .corrupt, at: "store-header",
        "The store is of version \(header.version), and this program reads \(StoreHeader.currentVersion).")
    }
    if header.version == 1 { try addHistory(to: storage, &header) }
    engineOptions.seed = seed
    var engine = SubscriptionEngine(catalog: catalog, options: engineOptions, ledger: header.ledger)
    var last: String?
    while true {
      let page = try records(in: .storeSubscriptions, after: last, limit: 1000, of: storage)
      for record in page {
        engine.restore(try decode(record.value, at: "store-subscriptions/\(record.key)"))
      }
      guard let next = page.last?.key else { break }
      last = next
    }
    last = nil
    while true {
      let page = try records(in: .storeNonces, after: last, limit: 1000, of: storage)
      for record in page {
        guard let expires = Double(String(decoding: record.value, as: UTF8.self)) else {
          throw LocalStoreError(.corrupt, at: "store-nonces/\(record.key)", "The record is no date.")
        }
        engine.restore(nonce: record.key, until: Timestamp(millisecondsSince1970: expires))
      }
      guard let next = page.last?.key else { break }
      last = next
    }
    return (State(engine: engine, seed: seed), false)
  }

  static func header(of state: State) -> RecordChange {
    var header = StoreHeader()
    header.seed = String(state.seed)
    header.ledger = state.engine.ledger
    return .put(.storeHeader, key: StoreHeader.key, value: header.encodedJSON())
  }

  /// Adds what version 2 has more than version 1, in one commit: the places of transactions in histories, in the order
  /// of their identifiers, and the dates of notifications.
  private static func addHistory(
    to storage: any RecordStorage, _ header: inout StoreHeader
  ) throws(LocalStoreError) {
    var changes: [RecordChange] = []
    var last: String?
    while true {
      let page = try records(in: .storeSales, after: last, limit: 1000, of: storage)
      guard let next = page.last?.key else { break }
      last = next
      for record in page {
        var sale: StoreSaleRecord = try decode(record.value, at: "store-sales/\(record.key)")
        guard !sale.isRestoration else { continue }
        header.ledger.modificationCount += 1
        sale.modification = header.ledger.modificationCount
        changes.append(place(sale))
        changes.append(.put(.storeSales, key: record.key, value: sale.encodedJSON()))
      }
    }
    last = nil
    while true {
      let page = try records(in: .storeOutbox, after: last, limit: 1000, of: storage)
      guard let next = page.last?.key else { break }
      last = next
      for record in page {
        changes.append(date(try decode(record.value, at: "store-outbox/\(record.key)")))
      }
    }
    header.version = StoreHeader.currentVersion
    changes.append(.put(.storeHeader, key: StoreHeader.key, value: header.encodedJSON()))
    do throws(RecordStorageError) { try storage.commit(changes) } catch { throw LocalStoreError(error) }
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
    var working: State
    if let state {
      working = state
    } else {
      working = try Self.read(catalog: catalog, options: options, storage: storage).0
    }
    state = nil
    var change = Change()
    let result: Result
    do throws(LocalStoreError) {
      result = try body(&working.engine, &change)
    } catch {
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
    for subscription in working.engine.takeChanges() {
      change.records.append(
        .put(.storeSubscriptions, key: subscription.id, value: subscription.encodedJSON()))
    }
    for (nonce, expires) in working.engine.takeNonces() {
      let value = expires.map { Array(String($0.millisecondsSince1970).utf8) }
      change.records.append(
        value.map { .put(.storeNonces, key: nonce, value: $0) } ?? .remove(.storeNonces, key: nonce))
    }
    if !change.records.isEmpty {
      change.records.append(Self.header(of: working))
      do throws(RecordStorageError) {
        try storage.commit(change.records)
      } catch {
        throw LocalStoreError(error)
      }
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
      if let state, state.engine.nextDueDate.map({ $0 > now }) ?? true { return }
      let isDone = try change { engine, change throws(LocalStoreError) in
        let (events, isDone) = engine.advance(to: now, atMost: 64)
        try record(events, in: &change)
        return isDone
      }
      if isDone { return }
    }
  }

  func sale(_ identifier: String, in change: Change = Change()) throws(LocalStoreError) -> StoreSaleRecord? {
    if let sale = change.sales[identifier] { return sale }
    guard let bytes = try value(of: identifier, in: .storeSales) else { return nil }
    return try Self.decode(bytes, at: "store-sales/\(identifier)")
  }

  package func value(of key: String, in collection: RecordCollection) throws(LocalStoreError) -> [UInt8]? {
    try Self.value(of: key, in: collection, of: storage)
  }

  /// The keys of an account in a collection, after a position.
  ///
  /// - Returns: The part of each key after the account.
  func keys(
    in collection: RecordCollection, with part: String, after position: String?, limit: Int
  ) throws(LocalStoreError) -> [String] {
    let prefix = StoreKey.prefix(part)
    let records = try Self.records(
      in: collection, after: prefix + (position ?? ""), limit: limit, of: storage)
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
