// SPDX-License-Identifier: Apache-2.0

/// Delivery of unfinished transactions.
extension LocalStore {
  func unfinishedTransactions(
    of account: String, after position: StorePosition?, limit: Int
  ) throws(LocalStoreError) -> StoreTransactionPage {
    try catchUp()
    let limit = min(max(1, limit), StoredRecords.pageSize)
    let keys = try durable.records(
      in: .storeUnfinished, with: account, after: position?.rawValue, limit: limit
    ).map(\.key)
    var transactions: [StoreTransaction] = []
    for sale in try sales(keys) { transactions.append(try storeTransaction(sale)) }
    return StoreTransactionPage(
      transactions: transactions,
      next: keys.count < limit ? nil : keys.last.map { StorePosition(rawValue: $0) })
  }

  func finish(_ identifier: String, of account: String) async throws(LocalStoreError) {
    try grouped { () throws(LocalStoreError) in
      if try sale(identifier)?.account == account { try finish(identifier) }
    }
    try await synchronized()
  }

  /// Finishes a transaction for its customer.
  ///
  /// - Throws: ``LocalStoreError`` with `not-found`.
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
}
