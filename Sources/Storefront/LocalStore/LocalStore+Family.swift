// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Family Sharing of one-time purchases; the engine shares subscriptions.
extension LocalStore {
  /// Adds an account to another one's family. Members share all purchases of products that allow Family Sharing.
  ///
  /// - Returns: `SUBSCRIBED` and `ONE_TIME_CHARGE` for what is shared.
  /// - Throws: ``LocalStoreError`` with `refused` if the account is in a family, or the family has six members.
  @discardableResult
  public func addToFamily(
    _ account: String, of organizer: String
  ) throws(LocalStoreError) -> [SignedNotification] {
    let now = clock()
    try catchUp(to: now)
    let others = try read { $0.family(of: organizer) } + [organizer]
    var shares: [(sale: StoreSaleRecord, members: [String])] = []
    for sale in try shareablePurchases(of: account) { shares.append((sale, others)) }
    for other in others { for sale in try shareablePurchases(of: other) { shares.append((sale, [account])) } }
    return try change { engine, change throws(LocalStoreError) in
      let events: [StoreEvent]
      do throws(SubscriptionError) {
        events = try engine.addToFamily(account, of: organizer, at: now)
      } catch {
        throw LocalStoreError(error)
      }
      try record(events, in: &change)
      for (sale, members) in shares {
        for member in members { try share(sale.transaction, with: member, &engine, in: &change, at: now) }
      }
      if change.records.isEmpty { change.records.append(Self.nothing) }
      return change.notifications
    }
  }

  /// Removes an account from its family, which ends sharing in both directions.
  ///
  /// - Returns: `REVOKE` for each.
  /// - Throws: ``LocalStoreError`` with `refused` if the account is in no family.
  @discardableResult
  public func removeFromFamily(_ account: String) throws(LocalStoreError) -> [SignedNotification] {
    let now = clock()
    try catchUp(to: now)
    let others = try read { $0.family(of: account) }
    var lost: [StoreSaleRecord] = []
    for other in others {
      for sale in try shareablePurchases(of: other) {
        lost += try transactions(ofPurchase: sale.identifier).filter {
          $0.account == account && $0.sharedFrom != nil
        }
      }
    }
    for sale in try shareablePurchases(of: account) {
      lost += try transactions(ofPurchase: sale.identifier).filter { $0.sharedFrom != nil }
    }
    return try operate { engine, now throws(SubscriptionError) in
      var events = try engine.removeFromFamily(account, at: now)
      for sale in lost where sale.transaction.revocationDate == nil {
        events += engine.unshare(sale.transaction, account: sale.account, at: now)
      }
      return events
    }
  }

  /// Ends the sharing of one purchase with one member.
  ///
  /// - Parameter transactionIdentifier: The member's transaction.
  /// - Returns: `REVOKE`.
  /// - Throws: ``LocalStoreError`` with `not-found`, or `refused` if it is not shared.
  @discardableResult
  public func revoke(_ transactionIdentifier: String) throws(LocalStoreError) -> [SignedNotification] {
    let sale = try knownSale(transactionIdentifier)
    return try operate { engine, now throws(SubscriptionError) in
      guard sale.transaction.inAppOwnershipType == .familyShared, sale.transaction.revocationDate == nil
      else {
        throw SubscriptionError(.notEligible, at: transactionIdentifier, "It is not shared by the family.")
      }
      return sale.transaction.type == .autoRenewableSubscription
        ? try engine.revokeSharing(sale.originalIdentifier, at: now)
        : engine.unshare(sale.transaction, account: sale.account, at: now)
    }
  }

  /// Shares a new one-time purchase.
  func shareWithFamily(
    _ transaction: JWSTransaction, of account: String, engine: inout SubscriptionEngine,
    in change: inout Change, at now: Timestamp
  ) throws(LocalStoreError) {
    // A repurchase is shared already.
    guard isShareable(transaction), transaction.transactionId == transaction.originalTransactionId else {
      return
    }
    for member in engine.family(of: account) {
      try share(transaction, with: member, &engine, in: &change, at: now)
    }
  }

  func share(
    _ transaction: JWSTransaction, with member: String, _ engine: inout SubscriptionEngine,
    in change: inout Change, at now: Timestamp
  ) throws(LocalStoreError) {
    let events = engine.share(transaction, with: member, at: now)
    try record(events, in: &change, sharedFrom: transaction.transactionId)
  }

  func isShareable(_ transaction: JWSTransaction) -> Bool {
    let product = products[transaction.productId ?? ""]
    return product?.type == .nonConsumable && product?.isFamilyShareable == true
  }

  /// The one-time purchases of an account that its family may have: its own, and not revoked.
  private func shareablePurchases(of account: String) throws(LocalStoreError) -> [StoreSaleRecord] {
    var found: [StoreSaleRecord] = []
    for product in products.values.sorted(by: { $0.id < $1.id })
    where product.type == .nonConsumable && product.isFamilyShareable {
      guard let bytes = try value(of: StoreKey.joined(account, product.id), in: .storeOwned),
        let sale = try sale(String(decoding: bytes, as: UTF8.self)), sale.transaction.revocationDate == nil
      else { continue }
      found.append(sale)
    }
    return found
  }
}
