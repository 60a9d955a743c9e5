// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Family Sharing of one-time purchases. The engine shares subscriptions.
extension LocalStore {
  /// Adds an account to the family of another account: `SUBSCRIBED` or `ONE_TIME_CHARGE` for each purchase of a product
  /// that allows Family Sharing. It is refused if the account is in a family, or the family has six members.
  @discardableResult
  package func addToFamily(
    _ account: String, of organizer: String
  ) throws(LocalStoreError) -> [SignedNotification] {
    try catchUp()
    let others = try read { $0.family(of: organizer) } + [organizer]
    var shares: [(sale: StoreSaleRecord, members: [String])] = []
    for sale in try shareablePurchases(of: account) { shares.append((sale, others)) }
    for other in others { for sale in try shareablePurchases(of: other) { shares.append((sale, [account])) } }
    return try operate { engine throws(SubscriptionError) in
      try engine.addToFamily(account, of: organizer)
      for (sale, members) in shares {
        for member in members { engine.share(sale.transaction, with: member) }
      }
    }
  }

  /// Removes an account from its family. Sharing ends in both directions: `REVOKE` for each purchase.
  @discardableResult
  package func removeFromFamily(_ account: String) throws(LocalStoreError) -> [SignedNotification] {
    try catchUp()
    var lost: [StoreSaleRecord] = []
    for member in try read({ $0.family(of: account) }) + [account] {
      for purchase in try shareablePurchases(of: member) {
        lost += try transactions(ofPurchase: purchase.identifier).filter {
          $0.sharedFrom != nil && (member == account || $0.account == account)
            && $0.transaction.revocationDate == nil
        }
      }
    }
    return try operate { engine throws(SubscriptionError) in
      try engine.removeFromFamily(account)
      for sale in lost { engine.stopSharing(sale.transaction, account: sale.account, at: engine.now) }
    }
  }

  /// Stops sharing one purchase with one member. The member's transaction identifies both.
  ///
  /// - Returns: `REVOKE`.
  /// - Throws: ``LocalStoreError`` with `not-found`, or `refused` if it is not shared.
  @discardableResult
  public func revoke(_ transactionIdentifier: String) throws(LocalStoreError) -> [SignedNotification] {
    let sale = try knownSale(transactionIdentifier)
    return try operate { engine throws(SubscriptionError) in
      try SubscriptionError.require(
        sale.transaction.inAppOwnershipType == .familyShared && sale.transaction.revocationDate == nil,
        .notEligible, at: transactionIdentifier, "It is not shared by the family.")
      if sale.transaction.type == .autoRenewableSubscription {
        try engine.revokeSharing(sale.originalIdentifier)
      } else {
        engine.stopSharing(sale.transaction, account: sale.account, at: engine.now)
      }
    }
  }

  /// Shares a one-time purchase with the family of its buyer, if its product allows it.
  func share(_ purchase: JWSTransaction, of account: String, _ engine: inout SubscriptionEngine) {
    guard products[purchase.productId ?? ""]?.isShareable == true else { return }
    for member in engine.family(of: account) { engine.share(purchase, with: member) }
  }

  /// The one-time purchases of an account that it can share with its family: its own, if they are not revoked.
  private func shareablePurchases(of account: String) throws(LocalStoreError) -> [StoreSaleRecord] {
    try products.values.filter(\.isShareable).map(\.id).sorted()
      .map { (product) throws(LocalStoreError) in try ownedPurchase(of: product, by: account) }
      .compactMap(\.self)
  }

  /// The account's purchase of a non-consumable, if it is not revoked.
  func ownedPurchase(
    of productIdentifier: String, by account: String
  ) throws(LocalStoreError) -> StoreSaleRecord? {
    let key = StoreKey.joined(account, productIdentifier)
    guard let identifier = try durable.value(of: key, in: .storeOwned),
      let sale = try sale(String(decoding: identifier, as: UTF8.self)), sale.transaction.revocationDate == nil
    else { return nil }
    return sale
  }
}

extension CatalogProduct {
  fileprivate var isShareable: Bool { type == .nonConsumable && isFamilyShareable }
}
