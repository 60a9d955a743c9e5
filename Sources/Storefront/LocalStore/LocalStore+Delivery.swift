// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Delivery of unfinished transactions.
extension LocalStore {
  /// The greatest number of transactions in one page.
  static let greatestPage = 256

  func unfinishedTransactions(
    of account: String, after position: StorePosition?, limit: Int
  ) throws(StoreUnavailable) -> StoreTransactionPage {
    let fault = nextFault(of: .unfinished)
    switch fault {
    case .error(let error): throw StoreUnavailable(error.message)
    case .unavailable(let retryAfter):
      throw StoreUnavailable("The store cannot be reached.", retryAfter: retryAfter)
    case .answerLost: throw StoreUnavailable("The store's answer was lost.")
    case nil: break
    }
    let limit = min(max(1, limit), Self.greatestPage)
    do throws(LocalStoreError) {
      try catchUp()
      let identifiers = try keys(
        in: .storeUnfinished, with: account, after: position?.rawValue, limit: limit)
      var transactions: [StoreTransaction] = []
      for identifier in identifiers {
        if let sale = try sale(identifier) { transactions.append(try storeTransaction(sale)) }
      }
      return StoreTransactionPage(
        transactions: transactions,
        next: identifiers.count < limit ? nil : identifiers.last.map { StorePosition(rawValue: $0) })
    } catch {
      throw error.unavailable
    }
  }

  func finish(_ identifier: String, of account: String) async throws(StoreUnavailable) {
    let fault = nextFault(of: .finish)
    switch fault {
    case .error(let error): throw StoreUnavailable(error.message)
    case .unavailable(let retryAfter):
      throw StoreUnavailable("The store cannot be reached.", retryAfter: retryAfter)
    case .answerLost, nil: break
    }
    do throws(LocalStoreError) {
      try grouped { () throws(LocalStoreError) in
        if try sale(identifier)?.account == account { try finish(identifier) }
      }
      try await synchronized()
    } catch {
      throw error.unavailable
    }
    if case .answerLost = fault { throw StoreUnavailable("The store's answer was lost.") }
  }

  /// Finishes a transaction for its customer.
  ///
  /// - Throws: ``LocalStoreError`` with `not-found`.
  package func finish(_ identifier: String) throws(LocalStoreError) {
    var sale = try knownSale(identifier)
    guard !sale.isFinished else { return }
    sale.isFinished = true
    try change { _, change throws(LocalStoreError) in
      // This is no modification of the transaction: its place in the history stays.
      change.records.append(.put(.storeSales, key: identifier, value: sale.encodedJSON()))
      change.records.append(.remove(.storeUnfinished, key: StoreKey.joined(sale.account, identifier)))
    }
  }
}
