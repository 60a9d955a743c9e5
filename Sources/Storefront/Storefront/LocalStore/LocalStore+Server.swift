// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// Queries of a developer's server about customers.
extension LocalStore {
  /// The account of a transaction, an original transaction, an app transaction or an imported name.
  package func account(of identifier: String) throws(LocalStoreError) -> String? {
    if let sale = try sale(identifier) { return sale.account }
    return try durable.value(of: identifier, in: .storeNames).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The transaction with this identifier, in its current state.
  package func currentSale(_ identifier: String) throws(LocalStoreError) -> StoreSaleRecord? {
    try catchUp()
    return try sale(identifier)
  }

  /// The next page of an account's transactions, in the order of their last modification. The page begins after
  /// `position`.
  package func history(
    of account: String, after position: Int64? = nil, isDescending: Bool = false, limit: Int = .max,
    where accepts: @Sendable (StoreSaleRecord) -> Bool = { _ in true }
  ) throws(LocalStoreError) -> HistoryPage {
    try catchUp()
    var page = HistoryPage(position: position)
    let prefix = StoreKey.prefix(account)
    // The byte after the slash ends the account's keys.
    var next =
      position.map { Self.historyKey(account, $0) } ?? (isDescending ? prefix.dropLast() + "0" : prefix)
    while true {
      let size = limit < StoredRecords.pageSize ? limit + 1 : StoredRecords.pageSize
      let storage = try durable.storage
      let records = try LocalStoreError.wrapping(
        isDescending
          ? try storage.records(in: .storeHistory, before: next, limit: size)
          : try storage.records(in: .storeHistory, after: next, limit: size))
      for record in records {
        guard record.key.hasPrefix(prefix) else { return page }
        next = record.key
        guard let sale = try sale(String(decoding: record.value, as: UTF8.self)), accepts(sale) else {
          continue
        }
        guard page.sales.count < limit else {
          page.hasMore = true
          return page
        }
        page.sales.append(sale)
        page.position = sale.modification
      }
      if records.count < size { return page }
    }
  }

  /// The subscriptions of an account, in the order in which they began.
  package func subscriptionStates(of account: String) throws(LocalStoreError) -> [SubscriptionState] {
    try catchUp()
    return try read { engine in
      engine.subscriptions(of: account).map { Self.state($0, engine, at: clock()) }
    }
  }

  package func subscriptionState(_ original: String) throws(LocalStoreError) -> SubscriptionState? {
    try catchUp()
    return try read { engine in engine[original].map { Self.state($0, engine, at: clock()) } }
  }

  private static func state(
    _ subscription: Subscription, _ engine: SubscriptionEngine, at now: Timestamp
  ) -> SubscriptionState {
    // The events of one subscription in the same millisecond have ascending dates, so the last one may be later than
    // now.
    let now = max(now, subscription.lastSignedDate)
    return SubscriptionState(
      subscription: subscription, status: subscription.statusCode(at: now),
      renewalInfo: engine.renewalInfo(of: subscription, at: now))
  }

  /// The order identifier on the customer's invoice, for a transaction that this store sold.
  package static func orderIdentifier(of transactionIdentifier: String) -> String {
    "W" + transactionIdentifier
  }

  package func transactions(ofOrder order: String) throws(LocalStoreError) -> [JWSTransaction] {
    try catchUp()
    let identifiers = try durable.records(in: .storeOrders, with: order).map(\.key)
    if identifiers.isEmpty, order.hasPrefix("W"), let sale = try sale(String(order.dropFirst())),
      sale.transaction.inAppOwnershipType != .familyShared
    {
      return [sale.transaction]
    }
    return try sales(identifiers).map(\.transaction)
  }

  /// The app transaction of an account: an imported one, or one that this store creates for its customer.
  package func appTransaction(of account: String) throws(LocalStoreError) -> AppTransaction? {
    if let known: AppTransaction = try durable.row(account, in: .storeAppTransactions) { return known }
    let identifier = try read { $0.appTransactionIdentifier(of: account) }
    guard try durable.value(of: identifier, in: .storeNames) != nil,
      let first = try history(of: account, limit: 1).sales.first?.transaction
    else { return nil }
    return AppTransaction().with {
      $0.receiptType = options.engine.environment
      $0.appAppleId = options.appAppleId
      $0.bundleId = options.engine.bundleIdentifier
      $0.applicationVersion = "1"
      $0.originalApplicationVersion = "1"
      $0.originalPurchaseDate = first.originalPurchaseDate
      $0.appTransactionId = identifier
    }
  }

  /// Sets the `appAccountToken` of all transactions with an original transaction, and of their future renewals.
  package func setAppAccountToken(_ token: UUIDString, of original: String) throws(LocalStoreError) {
    let account = try knownSale(original).account
    let sales = try history(of: account) { $0.originalIdentifier == original }.sales
    try change { engine, change throws(LocalStoreError) in
      for var sale in sales {
        sale.transaction.appAccountToken = token
        change.sales[sale.identifier] = sale
      }
      engine.setAppAccountToken(token, of: original)
    }
  }

  package func addConsumption(_ json: JSONValue, of transaction: String) throws(LocalStoreError) {
    let number = try consumption(of: transaction).count + 1
    try commit([
      .put(
        .storeConsumption, key: StoreKey.joined(transaction, StoreKey.number(Int64(number))),
        value: json.encoded())
    ])
  }

  /// The consumption information about a transaction, in the order in which it was sent.
  package func consumption(of transaction: String) throws(LocalStoreError) -> [JSONValue] {
    var found: [JSONValue] = []
    try durable.forEach(in: .storeConsumption, with: transaction) { (record) throws(LocalStoreError) in
      do throws(MalformedReceipt) { found.append(try JSONValue(parsing: record.value)) } catch {
        throw LocalStoreError(error, at: "store-consumption/\(transaction)/\(record.key)")
      }
    }
    return found
  }
}

extension RecordedPurchase {
  /// The charged amount, which is price times quantity, in thousandths of the transaction's currency. It is 0 for a
  /// repurchase and for a shared purchase.
  package var charged: Int64 {
    let (total, isTooGreat) = (current.price ?? 0).multipliedReportingOverflow(by: current.quantity ?? 1)
    return isTooGreat ? .max : total
  }
}

/// The purchase history. A vendor's server uses it to restore purchases that StoreKit does not restore.
extension LocalStore {
  /// All transactions of an account, oldest first, including consumables and subscriptions. The page begins after the
  /// given transaction and has at most `limit` transactions, and at most 256.
  public func purchaseRecord(
    of account: String, after transactionIdentifier: String? = nil, limit: Int = 256
  ) throws(LocalStoreError) -> [RecordedPurchase] {
    try catchUp()
    let keys = try durable.records(
      in: .storeAccounts, with: account, after: transactionIdentifier,
      limit: min(max(1, limit), StoredRecords.pageSize)
    ).map(\.key)
    return try sales(keys).map { (sale) throws(LocalStoreError) in try recorded(sale) }
  }

  package func purchase(_ transactionIdentifier: String) throws(LocalStoreError) -> RecordedPurchase? {
    try currentSale(transactionIdentifier).map { (sale) throws(LocalStoreError) in try recorded(sale) }
  }

  private func recorded(_ sale: StoreSaleRecord) throws(LocalStoreError) -> RecordedPurchase {
    RecordedPurchase(
      transaction: try storeTransaction(sale), current: sale.transaction, isFinished: sale.isFinished,
      isRestoration: sale.isRestoration)
  }

  /// The current state of a transaction, newly signed as a compact JWS, as servers receive it.
  package func signedTransaction(_ transactionIdentifier: String) throws(LocalStoreError) -> String {
    var transaction = try knownSale(transactionIdentifier).transaction
    transaction.signedDate = SubscriptionEngine.later(than: transaction.signedDate, clock())
    return try sign(transaction)
  }

  package func subscription(
    _ originalTransactionIdentifier: String
  ) throws(LocalStoreError) -> Subscription? {
    try catchUp()
    return try read { $0[originalTransactionIdentifier] }
  }

  /// The subscriptions of an account, both its own and shared ones.
  public func subscriptions(of account: String) throws(LocalStoreError) -> [Subscription] {
    try catchUp()
    return try read { $0.subscriptions(of: account) }
  }
}
