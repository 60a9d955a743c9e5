// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Opening a store, also one that an earlier version wrote.
extension LocalStore {
  struct State {
    var engine: SubscriptionEngine
    var seed: UInt64
    var texts = SharedTexts()
    /// When something is due next.
    var nextDueDate: Timestamp?
  }

  /// Reads the state of a store, or creates that of a new one. Customers and subscriptions are read when they are used.
  static func read(
    catalog: ProductCatalog, options: Options, storage: any RecordStorage
  ) throws(LocalStoreError) -> (State, isNew: Bool) {
    var engineOptions = options.engine
    let source = EngineSource(storage)
    guard let bytes = try value(of: StoreHeader.key, in: .storeHeader, of: storage) else {
      if engineOptions.seed == 0 { engineOptions.seed = UInt64.random(in: 1 ... .max) }
      let engine = SubscriptionEngine(
        catalog: catalog, options: engineOptions, ledger: EngineLedger(), source: source)
      return (State(engine: engine, seed: engineOptions.seed), true)
    }
    var header: StoreHeader = try decode(bytes, at: "store-header")
    guard 1...StoreHeader.currentVersion ~= header.version, let seed = UInt64(header.seed) else {
      throw LocalStoreError(
        .corrupt, at: "store-header",
        "The store is of version \(header.version), and this program reads \(StoreHeader.currentVersion).")
    }
    try upgrade(storage, &header)
    engineOptions.seed = seed
    var state = State(
      engine: SubscriptionEngine(
        catalog: catalog, options: engineOptions, ledger: header.ledger, source: source), seed: seed)
    try forEach(in: .storeNonces, of: storage) { (record) throws(LocalStoreError) in
      guard let expires = Double(String(decoding: record.value, as: UTF8.self)) else {
        throw LocalStoreError(.corrupt, at: "store-nonces/\(record.key)", "The record is no date.")
      }
      state.engine.restore(nonce: record.key, until: Timestamp(millisecondsSince1970: expires))
    }
    try forEach(in: .storeTexts, of: storage) { (record) throws(LocalStoreError) in
      try state.texts.restore(record)
    }
    state.nextDueDate = state.engine.nextDueDate
    try source.check()
    return (state, false)
  }

  /// The state, read from the storage after a failure.
  func loaded() throws(LocalStoreError) -> State {
    if let state { return state }
    let read = try Self.read(catalog: catalog, options: options, storage: storage).0
    state = read
    return read
  }

  private static func forEach(
    in collection: RecordCollection, of storage: any RecordStorage,
    _ body: (StoredRecord) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    try storage.forEachRecord(in: collection, limit: 256, wrapping: { LocalStoreError($0) }, body)
  }

  /// Adds what the present version has more than that of the header. Everything is added page by page, and again where
  /// the process ended before the header.
  private static func upgrade(
    _ storage: any RecordStorage, _ header: inout StoreHeader
  ) throws(LocalStoreError) {
    guard header.version < StoreHeader.currentVersion else { return }
    if header.version < 2 { try addHistory(to: storage, &header) }
    try addIndexes(to: storage)
    var changes = try takeFamilies(from: &header.ledger)
    header.version = StoreHeader.currentVersion
    changes.append(.put(.storeHeader, key: StoreHeader.key, value: header.encodedJSON()))
    try commit(changes, to: storage)
  }

  private static func commit(
    _ changes: [RecordChange], to storage: any RecordStorage
  ) throws(LocalStoreError) {
    do throws(RecordStorageError) { try storage.commit(changes) } catch { throw LocalStoreError(error) }
  }

  /// Version 2: the places of transactions in histories, in the order of their identifiers, and the dates of
  /// notifications.
  private static func addHistory(
    to storage: any RecordStorage, _ header: inout StoreHeader
  ) throws(LocalStoreError) {
    try addPages(to: storage, from: .storeSales) { (record, changes) throws(LocalStoreError) in
      var sale: StoreSaleRecord = try decode(record.value, at: "store-sales/\(record.key)")
      guard !sale.isRestoration else { return }
      header.ledger.modificationCount += 1
      sale.modification = header.ledger.modificationCount
      changes.append(place(sale))
      changes.append(.put(.storeSales, key: record.key, value: sale.encodedJSON()))
    }
    try addPages(to: storage, from: .storeOutbox) { (record, changes) throws(LocalStoreError) in
      changes.append(date(try decode(record.value, at: "store-outbox/\(record.key)")))
    }
  }

  /// Version 3: subscriptions by account and by due date.
  private static func addIndexes(to storage: any RecordStorage) throws(LocalStoreError) {
    try addPages(to: storage, from: .storeSubscriptions) { (record, changes) throws(LocalStoreError) in
      changes += SubscriptionEngine.index(
        try decode(record.value, at: "store-subscriptions/\(record.key)"), dueBefore: nil)
    }
  }

  private static func addPages(
    to storage: any RecordStorage, from collection: RecordCollection,
    _ body: (StoredRecord, inout [RecordChange]) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    var changes: [RecordChange] = []
    try forEach(in: collection, of: storage) { (record) throws(LocalStoreError) in
      try body(record, &changes)
      guard changes.count >= 1000 else { return }
      try commit(changes, to: storage)
      changes = []
    }
    try commit(changes, to: storage)
  }

  /// Version 3: families and accounts whose charges fail have records of their own.
  private static func takeFamilies(from ledger: inout EngineLedger) throws(LocalStoreError) -> [RecordChange]
  {
    var changes: [RecordChange] = []
    for member in ledger.unknownFields {
      switch member.name {
      case "families":
        for family in member.value.array ?? [] {
          let record: FamilyRecord = try decode(family.encoded(), at: "store-header/families")
          for account in record.members {
            changes.append(.put(.storeFamilies, key: account, value: record.encodedJSON()))
          }
        }
      case "declinedAccounts":
        for account in (member.value.array ?? []).compactMap(\.string) {
          changes.append(.put(.storeDeclined, key: account, value: FamilyRecord().encodedJSON()))
        }
      default: break
      }
    }
    ledger.unknownFields.removeAll { ["families", "declinedAccounts"].contains($0.name) }
    return changes
  }
}
