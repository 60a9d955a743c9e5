// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Opening a store, also one that an earlier version wrote.
extension LocalStore {
  struct State {
    var engine: SubscriptionEngine
    var seed: UInt64
    /// When something is due next.
    var nextDueDate: Timestamp?
  }

  /// Reads the state of a store, or creates that of a new one. Customers and subscriptions are read when they are used.
  static func read(
    catalog: ProductCatalog, options: Options, _ stored: StoredRecords
  ) throws(LocalStoreError) -> (State, SharedTexts, isNew: Bool) {
    var engineOptions = options.engine
    var texts = SharedTexts()
    let source = EngineSource(stored)
    guard var header: StoreHeader = try stored.row(StoreHeader.key, in: .storeHeader) else {
      if engineOptions.seed == 0 { engineOptions.seed = UInt64.random(in: 1 ... .max) }
      let engine = SubscriptionEngine(
        catalog: catalog, options: engineOptions, ledger: EngineLedger(), source: source)
      return (State(engine: engine, seed: engineOptions.seed), texts, true)
    }
    guard 1...StoreHeader.currentVersion ~= header.version, let seed = UInt64(header.seed) else {
      throw LocalStoreError(
        .corrupt, at: "store-header",
        "The store is of version \(header.version), and this program reads \(StoreHeader.currentVersion).")
    }
    try upgrade(stored, &header)
    engineOptions.seed = seed
    var state = State(
      engine: SubscriptionEngine(
        catalog: catalog, options: engineOptions, ledger: header.ledger, source: source), seed: seed)
    try stored.forEach(in: .storeNonces) { (record) throws(LocalStoreError) in
      guard let expires = Double(String(decoding: record.value, as: UTF8.self)) else {
        throw LocalStoreError(.corrupt, at: "store-nonces/\(record.key)", "The record is no date.")
      }
      state.engine.nonces[record.key] = Timestamp(millisecondsSince1970: expires)
    }
    try stored.forEach(in: .storeTexts) { (record) throws(LocalStoreError) in try texts.restore(record) }
    state.nextDueDate = state.engine.nextDueDate
    try source.check()
    return (state, texts, false)
  }

  /// The state, read from the storage after a failure.
  func loaded() throws(LocalStoreError) -> State {
    if let state, texts != nil { return state }
    let read: State
    (read, texts, _) = try Self.read(catalog: catalog, options: options, stored)
    state = read
    return read
  }

  /// Adds what the present version has more than that of the header. Everything is added page by page, and again where
  /// the process ended before the header.
  private static func upgrade(
    _ stored: StoredRecords, _ header: inout StoreHeader
  ) throws(LocalStoreError) {
    guard header.version < StoreHeader.currentVersion else { return }
    var changes: [RecordChange] = []
    if header.version < 2 { try addHistory(to: stored, &header) }
    if header.version < 3 {
      try addIndexes(to: stored)
      changes = try takeFamilies(from: &header.ledger)
    }
    // Version 4 has receipts in the records of sales; earlier ones are read where they are.
    header.version = StoreHeader.currentVersion
    changes.append(.put(.storeHeader, key: StoreHeader.key, value: header.encodedJSON()))
    try stored.commit(changes)
  }

  /// Version 2: the places of transactions in histories, in the order of their identifiers, and the dates of
  /// notifications.
  private static func addHistory(
    to stored: StoredRecords, _ header: inout StoreHeader
  ) throws(LocalStoreError) {
    try addPages(to: stored, from: .storeSales) { (record, changes) throws(LocalStoreError) in
      var sale: StoreSaleRecord = try StoredRecords.decode(record.value, at: "store-sales/\(record.key)")
      guard !sale.isRestoration else { return }
      header.ledger.modificationCount += 1
      sale.modification = header.ledger.modificationCount
      changes.append(place(sale))
      changes.append(.put(.storeSales, key: record.key, value: sale.encodedJSON()))
    }
    try addPages(to: stored, from: .storeOutbox) { (record, changes) throws(LocalStoreError) in
      changes.append(date(try StoredRecords.decode(record.value, at: "store-outbox/\(record.key)")))
    }
  }

  /// Version 3: subscriptions by account and by due date.
  private static func addIndexes(to stored: StoredRecords) throws(LocalStoreError) {
    try addPages(to: stored, from: .storeSubscriptions) { (record, changes) throws(LocalStoreError) in
      changes += SubscriptionEngine.index(
        try StoredRecords.decode(record.value, at: "store-subscriptions/\(record.key)"), dueBefore: nil)
    }
  }

  private static func addPages(
    to stored: StoredRecords, from collection: RecordCollection,
    _ body: (StoredRecord, inout [RecordChange]) throws(LocalStoreError) -> Void
  ) throws(LocalStoreError) {
    var changes: [RecordChange] = []
    try stored.forEach(in: collection) { (record) throws(LocalStoreError) in
      try body(record, &changes)
      guard changes.count >= 1000 else { return }
      try stored.commit(changes)
      changes = []
    }
    try stored.commit(changes)
  }

  /// Version 3: families and accounts whose charges fail have records of their own.
  private static func takeFamilies(from ledger: inout EngineLedger) throws(LocalStoreError) -> [RecordChange]
  {
    var changes: [RecordChange] = []
    for member in ledger.unknownFields {
      switch member.name {
      case "families":
        for family in member.value.array ?? [] {
          let record: FamilyRecord = try StoredRecords.decode(family.encoded(), at: "store-header/families")
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
