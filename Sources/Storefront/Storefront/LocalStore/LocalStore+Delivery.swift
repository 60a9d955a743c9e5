// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Delivery of unfinished transactions, and restoration of finished purchases.
extension LocalStore {
  func unfinishedTransactions(
    of account: String, after position: StorePosition?, limit: Int
  ) throws(LocalStoreError) -> StoreTransactionPage {
    try catchUp()
    let limit = min(max(1, limit), StoredRecords.pageSize)
    let keys = try durable.records(
      in: .storeUnfinished, with: account, after: position?.rawValue, limit: limit
    ).map(\.key)
    return StoreTransactionPage(
      transactions: try sales(keys).map { (sale) throws(LocalStoreError) in try storeTransaction(sale) },
      next: keys.count < limit ? nil : keys.last.map { StorePosition(rawValue: $0) })
  }

  func finish(_ identifier: String, of account: String) async throws(LocalStoreError) {
    try grouped { () throws(LocalStoreError) in
      if try sale(identifier)?.account == account { try finish(identifier) }
    }
    try await synchronized()
  }

  /// Finishes a transaction for its customer.
  package func finish(_ identifier: String) throws(LocalStoreError) {
    var sale = try knownSale(identifier)
    guard !sale.isFinished else { return }
    sale.isFinished = true
    try change { _, change throws(LocalStoreError) in
      // Finishing does not modify the transaction, so it keeps its place in the history.
      change.records += [
        .put(.storeSales, key: identifier, value: sale.record(&change.texts)),
        .remove(.storeUnfinished, key: StoreKey.joined(sale.account, identifier)),
      ]
    }
  }

  // MARK: Restoring

  func restore(
    _ request: RestoreRequest, account: String, after position: StorePosition?, limit: Int
  ) throws(LocalStoreError) -> RestoredTransactionPage {
    let now = try catchUp()
    let key = StoreKey.joined(account, request.id)
    let known: StoreRestorationRecord? = try durable.row(key, in: .storeRestorations)
    var restoration = known ?? StoreRestorationRecord()
    if known == nil {
      restoration.originals = try restorablePurchases(
        of: account, applicationUsername: request.applicationUsername)
    }
    let start = position.flatMap { Int($0.rawValue) } ?? 0
    guard 0...restoration.originals.count ~= start else {
      throw LocalStoreError(.notFound, at: position?.rawValue ?? "", "The restoration has no such page.")
    }
    let end = min(restoration.originals.count, start + min(max(1, limit), StoredRecords.pageSize))
    if end > restoration.made.count {
      restoration = try make(upTo: end, of: restoration, account: account, key: key, at: now)
    }
    let transactions = try (start..<end).map { (index) throws(LocalStoreError) in
      RestoredTransaction(
        transaction: try storeTransaction(storedSale(restoration.made[index])),
        original: try storeTransaction(storedSale(restoration.originals[index])))
    }
    return RestoredTransactionPage(
      transactions: transactions,
      next: end < restoration.originals.count ? StorePosition(rawValue: String(end)) : nil)
  }

  /// Creates the transactions of a page, and those of earlier pages that were never requested.
  private func make(
    upTo end: Int, of restoration: StoreRestorationRecord, account: String, key: String, at now: Timestamp
  ) throws(LocalStoreError) -> StoreRestorationRecord {
    try change { engine, change throws(LocalStoreError) in
      var restoration = restoration
      for identifier in restoration.originals[restoration.made.count..<end] {
        let original = try storedSale(identifier)
        let transaction = engine.restoration(of: original.transaction, at: now)
        let restored = StoreSaleRecord(
          account: account, payment: original.payment, transaction: transaction,
          receipt: try receipt(of: transaction), isFinished: true, isRestoration: true)
        add(restored, to: &change)
        restoration.made.append(restored.identifier)
      }
      change.records.append(.put(.storeRestorations, key: key, value: restoration.encodedJSON()))
      return restoration
    }
  }

  /// One finished transaction per purchase, if its product is restorable and it is not revoked: the first of a
  /// one-time purchase, the latest of a subscription.
  private func restorablePurchases(
    of account: String, applicationUsername: String?
  ) throws(LocalStoreError) -> [String] {
    var found: [String] = []
    var places: [String: Int] = [:]
    try durable.forEach(in: .storeAccounts, with: account) { (record) throws(LocalStoreError) in
      let identifier = record.key
      guard let sale = try sale(identifier), sale.isFinished, !sale.isRestoration,
        sale.transaction.revocationDate == nil,
        products[sale.transaction.productId ?? ""]?.isRestorable == true,
        applicationUsername == nil || sale.payment.applicationUsername == applicationUsername
      else { return }
      if let place = places[sale.originalIdentifier] {
        if sale.transaction.type == .autoRenewableSubscription { found[place] = identifier }
      } else {
        places[sale.originalIdentifier] = found.count
        found.append(identifier)
      }
    }
    return found
  }
}
