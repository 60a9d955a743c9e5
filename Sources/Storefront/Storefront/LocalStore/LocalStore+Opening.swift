// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Opens a store, including one that an earlier version wrote.
extension LocalStore {
  /// Reads the state of a store, or creates it for a new store. Customers and subscriptions are read on first use.
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
      return (State(engine: engine), texts, true)
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
        catalog: catalog, options: engineOptions, ledger: header.ledger, source: source))
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

  /// Upgrades the records of an earlier version. Records are committed in batches. If the process ends before the
  /// header is written, the upgrade starts again.
  private static func upgrade(_ stored: StoredRecords, _ header: inout StoreHeader) throws(LocalStoreError) {
    guard header.version < StoreHeader.currentVersion else { return }
    var changes: [RecordChange] = []
    func add(_ more: [RecordChange]) throws(LocalStoreError) {
      changes += more
      guard changes.count >= 1000 else { return }
      try LocalStoreError.wrapping(try stored.storage.commit(changes))
      changes = []
    }
    if header.version < 2 {
      // Version 2 adds the places of transactions in histories, in the order of their identifiers, and the dates of
      // notifications.
      try stored.forEach(in: .storeSales) { (record) throws(LocalStoreError) in
        var sale: StoreSaleRecord = try StoredRecords.decode(record, in: .storeSales)
        guard !sale.isRestoration else { return }
        header.ledger.modificationCount += 1
        sale.modification = header.ledger.modificationCount
        try add([place(sale), .put(.storeSales, key: record.key, value: sale.encodedJSON())])
      }
      try stored.forEach(in: .storeOutbox) { (record) throws(LocalStoreError) in
        try add([date(try StoredRecords.decode(record, in: .storeOutbox))])
      }
    }
    if header.version < 3 {
      // Version 3 indexes subscriptions by account and by due date. Families, and accounts whose charges fail, have
      // records of their own.
      try stored.forEach(in: .storeSubscriptions) { (record) throws(LocalStoreError) in
        let subscription: Subscription = try StoredRecords.decode(record, in: .storeSubscriptions)
        try add(SubscriptionEngine.index(subscription, dueBefore: nil))
      }
      try add(takeFamilies(from: &header.ledger))
    }
    // Version 4 stores receipts in the records of sales. Receipts of earlier versions are read from their own records.
    header.version = StoreHeader.currentVersion
    changes.append(.put(.storeHeader, key: StoreHeader.key, value: header.encodedJSON()))
    try LocalStoreError.wrapping(try stored.storage.commit(changes))
  }

  private static func takeFamilies(
    from ledger: inout EngineLedger
  ) throws(LocalStoreError) -> [RecordChange] {
    var changes: [RecordChange] = []
    for member in ledger.unknownFields {
      switch member.name {
      case "families":
        for family in member.value.array ?? [] {
          let record: FamilyRecord = try StoredRecords.decode(family.encoded(), at: "store-header/families")
          changes += record.members.map { .put(.storeFamilies, key: $0, value: record.encodedJSON()) }
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
