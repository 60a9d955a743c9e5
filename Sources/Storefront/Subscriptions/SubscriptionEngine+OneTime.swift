// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// One-time purchases: consumables, non-consumables and non-renewing subscriptions. The engine does not store them.
extension SubscriptionEngine {
  /// Charges for a product other than an auto-renewable subscription.
  ///
  /// - Parameters:
  ///   - product: The product.
  ///   - account: The account of the buyer.
  ///   - quantity: How many.
  ///   - applicationUsername: The customer's account with the app; a UUID becomes the `appAccountToken`.
  ///   - original: The customer's earlier purchase of the same non-consumable, if any: it is then not charged again.
  ///   - instant: When.
  /// - Returns: `ONE_TIME_CHARGE`, with the new transaction.
  /// - Throws: ``SubscriptionError`` with `invalid-value` for a price that cannot be stated.
  package mutating func charge(
    for product: CatalogProduct, account: String, quantity: Int = 1, applicationUsername: String? = nil,
    original: JWSTransaction? = nil, at instant: Timestamp
  ) throws(SubscriptionError) -> [StoreEvent] {
    guard let price = price(of: product.productIdentifier) ?? Milliunits.of(product.price) else {
      throw SubscriptionError(
        .invalidValue, at: product.productIdentifier, "The price is negative, or too great to be stated.")
    }
    let now = begin(at: instant)
    let identifier = nextTransactionIdentifier()
    let transaction = JWSTransaction().with {
      $0.originalTransactionId = original?.originalTransactionId ?? identifier
      $0.transactionId = identifier
      $0.bundleId = options.bundleIdentifier
      $0.productId = product.productIdentifier
      $0.purchaseDate = now
      $0.originalPurchaseDate = original?.originalPurchaseDate ?? now
      $0.quantity = Int64(quantity)
      $0.type = product.type
      $0.appAccountToken = Self.accountToken(applicationUsername)
      $0.inAppOwnershipType = .purchased
      $0.signedDate = now
      $0.environment = options.environment
      $0.storefront = options.storefront
      $0.transactionReason = .purchase
      $0.appTransactionId = appTransactionIdentifier(of: account)
      $0.currency = product.currency
      $0.price = original == nil ? price : 0
    }
    emitOneTime(.oneTimeCharge, transaction, account: account, isNewTransaction: true)
    return finish()
  }

  /// Shares a one-time purchase with a family member.
  ///
  /// - Returns: `ONE_TIME_CHARGE`, with the member's own transaction.
  package mutating func share(
    _ shared: JWSTransaction, with account: String, at instant: Timestamp
  ) -> [StoreEvent] {
    let now = begin(at: instant)
    var transaction = shared
    let identifier = nextTransactionIdentifier()
    transaction.originalTransactionId = identifier
    transaction.transactionId = identifier
    transaction.purchaseDate = now
    transaction.originalPurchaseDate = now
    transaction.signedDate = now
    transaction.appAccountToken = nil
    transaction.appTransactionId = appTransactionIdentifier(of: account)
    transaction.inAppOwnershipType = .familyShared
    transaction.revocationDate = nil
    transaction.revocationReason = nil
    transaction.revocationType = nil
    transaction.revocationPercentage = nil
    transaction.price = 0
    emitOneTime(.oneTimeCharge, transaction, account: account, isNewTransaction: true)
    return finish()
  }

  /// Ends the sharing of a one-time purchase with a family member.
  ///
  /// - Returns: `REVOKE`.
  package mutating func unshare(
    _ shared: JWSTransaction, account: String, at instant: Timestamp
  ) -> [StoreEvent] {
    let now = begin(at: instant)
    revoke(shared, account: account, at: now, reason: .other, type: .familyRevoke, percentage: nil)
    return finish()
  }

  /// A new transaction that restores a finished purchase. There is no charge and no notification.
  mutating func restoration(of original: JWSTransaction, at now: Timestamp) -> JWSTransaction {
    var transaction = original
    transaction.transactionId = nextTransactionIdentifier()
    transaction.purchaseDate = now
    transaction.signedDate = now
    transaction.price = 0
    return transaction
  }

  mutating func emitOneTime(
    _ type: NotificationType, _ transaction: JWSTransaction, account: String, isNewTransaction: Bool = false,
    reason: ConsumptionRequestReason? = nil
  ) {
    let uuid = nextUUID()
    let event = StoreEvent(
      number: ledger.eventCount, account: account, applicationUsername: nil,
      signedDate: transaction.signedDate ?? ledger.time,
      type: type, subtype: nil,
      uuid: uuid, transaction: transaction, renewalInfo: nil, status: nil,
      consumptionRequestReason: reason, isNewTransaction: isNewTransaction, replacedTransaction: nil)
    events.append(event)
  }

  /// The identifier of an account's download of the app.
  func appTransactionIdentifier(of account: String) -> String {
    // 18 digits: the first is not zero.
    let chance = KeyedRandomSource(seed: options.seed).chance("app-transaction/" + account, 0)
    return String(700_000_000_000_000_000 + Int64(chance * 1e16))
  }

  /// A username that is a UUID, as `appAccountToken`.
  static func accountToken(_ applicationUsername: String?) -> UUIDString? {
    applicationUsername.flatMap { UUIDString(rawValue: $0).uuid }.map { UUIDString($0) }
  }
}
