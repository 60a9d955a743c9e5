// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// Purchases that were made elsewhere, such as those of a test's seed.
extension LocalStore {
  /// Imports purchases in one commit. They become the latest in the history, and no notification is posted. A
  /// transaction without an identifier is refused, and so is a subscription whose status contradicts its dates.
  package func add(_ purchases: [ImportedPurchase]) throws(LocalStoreError) {
    let now = try catchUp()
    var accounts: [String: String] = [:]
    for purchase in purchases { _ = try account(of: purchase, &accounts) }
    try change { engine, change throws(LocalStoreError) in
      for purchase in purchases {
        var transaction = purchase.transaction
        guard let identifier = transaction.transactionId else {
          throw LocalStoreError(.refused, at: "transactionId", "A transaction has an identifier.")
        }
        transaction.originalTransactionId = transaction.originalTransactionId ?? identifier
        let account = try account(of: purchase, &accounts)
        if let renewalInfo = purchase.renewalInfo {
          do throws(SubscriptionError) {
            try engine.adopt(transaction, renewalInfo, purchase.status, account: account, at: now)
          } catch {
            throw LocalStoreError(error)
          }
        }
        engine.replace(transaction)
        var sale = try sale(identifier, in: change) ?? StoreSaleRecord()
        sale.account = account
        sale.payment.setProduct(of: transaction)
        sale.transaction = transaction
        sale.receipt = nil
        sale.isImported = true
        change.sales[identifier] = sale
        for name in Self.names(of: purchase) {
          change.records.append(.put(.storeNames, key: name, value: Array(account.utf8)))
        }
        change.records.append(.put(.storeAccounts, key: StoreKey.joined(account, identifier), value: []))
        if let order = purchase.orderIdentifier {
          change.records.append(.put(.storeOrders, key: StoreKey.joined(order, identifier), value: []))
        }
      }
    }
  }

  /// Imports a purchase and its renewals, one month apart and with consecutive numbers as identifiers.
  package func addHistory(of first: JWSTransaction, count: Int, customer: String?) throws(LocalStoreError) {
    guard let start = first.transactionId.flatMap({ Int64($0) }) else {
      throw LocalStoreError(.refused, at: "transactionId", "A history begins with a number.")
    }
    var next = ImportedPurchase(first, customer: customer)
    next.transaction.originalTransactionId = first.originalTransactionId ?? String(start)
    next.transaction.originalPurchaseDate = first.originalPurchaseDate ?? first.purchaseDate
    var batch: [ImportedPurchase] = []
    for offset in 0..<count {
      next.transaction.transactionId = String(start &+ Int64(offset))
      batch.append(next)
      if batch.count == 1000 || offset == count - 1 {
        try add(batch)
        batch = []
      }
      next.transaction.purchaseDate = next.transaction.purchaseDate?.addingSeconds(30 * 86_400)
      next.transaction.expiresDate = next.transaction.expiresDate?.addingSeconds(30 * 86_400)
      next.transaction.transactionReason = .renewal
    }
  }

  /// Changes the current state of a transaction, without an event.
  package func amend(
    _ identifier: String, _ amendment: @Sendable (inout JWSTransaction) -> Void
  ) throws(LocalStoreError) {
    var sale = try knownSale(identifier)
    amendment(&sale.transaction)
    sale.transaction.transactionId = identifier
    try change { engine, change throws(LocalStoreError) in
      engine.replace(sale.transaction)
      change.sales[identifier] = sale
    }
  }

  /// Imports an app transaction, which replaces that of the same customer. It is refused if it has no identifier and
  /// no customer is given.
  package func add(_ appTransaction: AppTransaction, customer: String?) throws(LocalStoreError) {
    let names = [customer, appTransaction.appTransactionId].compactMap(\.self)
    guard let name = names.first else {
      throw LocalStoreError(.refused, at: "appTransactionId", "An app transaction has an identifier.")
    }
    var account: String?
    for name in names where account == nil { account = try self.account(of: name) }
    let owner = account ?? name
    try commit(
      names.map { .put(.storeNames, key: $0, value: Array(owner.utf8)) }
        + [.put(.storeAppTransactions, key: owner, value: appTransaction.encodedJSON())])
  }

  private static let collections = RecordCollection.ofStore + RecordCollection.ofPlay

  package func allRecords() throws(LocalStoreError) -> [(RecordCollection, StoredRecord)] {
    var all: [(RecordCollection, StoredRecord)] = []
    for collection in Self.collections {
      try durable.forEach(in: collection) { all.append((collection, $0)) }
    }
    return all
  }

  /// Removes all records of the store, and imports records of ``allRecords()``, in one commit. If the records are not
  /// those of a store, this throws `refused` or `corrupt`, and nothing is changed.
  package func replaceAll(with records: [RecordChange]) throws(LocalStoreError) {
    let trial = StoredRecords(storage: MemoryRecordStorage())
    for case .put(let collection, _, _) in records where !Self.collections.contains(collection) {
      throw LocalStoreError(.refused, at: collection.rawValue, "A store has no such records.")
    }
    try LocalStoreError.wrapping(try trial.storage.commit(records))
    let (loaded, _, isNew) = try Self.read(catalog: catalog, options: options, trial)
    let removals: [RecordChange] = try allRecords().map { .remove($0.0, key: $0.1.key) }
    // The next call reads the state again.
    (state, texts) = (nil, nil)
    try commit(removals + records + (isNew ? [Self.header(of: loaded)] : []))
  }

  /// Removes all records of the store: purchases, customers and notifications.
  package func removeAll() throws(LocalStoreError) { try replaceAll(with: []) }

  private static func names(of purchase: ImportedPurchase) -> [String] {
    let transaction = purchase.transaction
    return [
      purchase.customer, transaction.appTransactionId,
      transaction.originalTransactionId ?? transaction.transactionId,
    ].compactMap(\.self)
  }

  /// The account of a purchase. `accounts` contains the accounts of names that are not stored yet.
  private func account(
    of purchase: ImportedPurchase, _ accounts: inout [String: String]
  ) throws(LocalStoreError) -> String {
    let names = Self.names(of: purchase)
    var account = try purchase.transaction.transactionId.flatMap { (id) throws(LocalStoreError) in
      try sale(id)?.account
    }
    for name in names where account == nil {
      account = if let known = accounts[name] { known } else { try self.account(of: name) }
    }
    let owner = account ?? names.first ?? ""
    for name in names where accounts[name] == nil { accounts[name] = owner }
    return owner
  }
}

extension SubscriptionEngine {
  /// Imports a subscription in its present state. It is refused if the status contradicts the dates; the status `nil`
  /// accepts any.
  mutating func adopt(
    _ transaction: JWSTransaction, _ renewalInfo: JWSRenewalInfo, _ status: SubscriptionStatus?,
    account: String, at instant: Timestamp
  ) throws(SubscriptionError) {
    let identifier = transaction.originalTransactionId ?? ""
    var subscription = self[identifier] ?? Subscription()
    subscription.account = account
    subscription.applicationUsername = transaction.appAccountToken?.rawValue
    subscription.transaction = transaction
    subscription.autoRenewProductIdentifier = renewalInfo.autoRenewProductId ?? transaction.productId ?? ""
    subscription.autoRenews = renewalInfo.autoRenewStatus != .off
    subscription.expirationIntent = renewalInfo.expirationIntent
    subscription.gracePeriodExpiresDate = renewalInfo.gracePeriodExpiresDate
    subscription.isInBillingRetry =
      renewalInfo.isInBillingRetryPeriod == true || status == .billingRetry || status == .gracePeriod
    subscription.priceIncreaseStatus = renewalInfo.priceIncreaseStatus
    subscription.productPrice = transaction.price ?? price(of: subscription.productIdentifier) ?? 0
    subscription.renewalPrice = renewalInfo.renewalPrice ?? subscription.productPrice
    subscription.recentStartDate =
      renewalInfo.recentSubscriptionStartDate ?? transaction.originalPurchaseDate ?? transaction.purchaseDate
      ?? instant
    subscription.lastSignedDate = Timestamp(
      millisecondsSince1970: max(
        transaction.signedDate?.millisecondsSince1970 ?? 0, renewalInfo.signedDate?.millisecondsSince1970 ?? 0
      ))
    subscription.anchorDay = Int64(options.calendar.anchorDay(of: subscription.expiresDate))
    subscription.hasPaid = transaction.price != 0 && transaction.offerDiscountType != .freeTrial
    subscription.hasHadIntroductoryOffer = transaction.offerType == .introductory

    if status == .expired, subscription.expirationIntent == nil { subscription.expirationIntent = .cancelled }
    if subscription.expirationIntent != nil { subscription.autoRenews = false }
    subscription.dueDate = dueDate(of: subscription)
    // A renewal that is due now is performed before the next call is answered, so the subscription counts as active.
    let isRenewing = subscription.dueDate == subscription.expiresDate && subscription.autoRenews
    let found = isRenewing ? .active : subscription.statusCode(at: instant)
    try SubscriptionError.require(
      status == nil || status == found, .invalidValue, at: identifier,
      "The status \(status?.rawValue ?? 0) contradicts the dates, by which it is \(found.rawValue) now.")
    store(subscription)
  }

  /// Replaces the latest transaction of a subscription.
  mutating func replace(_ transaction: JWSTransaction) {
    guard var subscription = presentSubscription(of: transaction) else { return }
    subscription.transaction = transaction
    if transaction.revocationDate != nil { subscription.autoRenews = false }
    subscription.dueDate = dueDate(of: subscription)
    store(subscription)
  }

  private func dueDate(of subscription: Subscription) -> Timestamp? {
    guard subscription.transaction.revocationDate == nil, subscription.expirationIntent == nil else {
      return nil
    }
    return subscription.isInBillingRetry ? nextDueInRetry(subscription) : subscription.expiresDate
  }

  mutating func setAppAccountToken(_ token: UUIDString, of original: String) {
    guard var subscription = self[original] else { return }
    subscription.applicationUsername = token.rawValue
    subscription.transaction.appAccountToken = token
    store(subscription)
  }
}
