// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// One-time purchases: consumables, non-consumables and non-renewing subscriptions. The engine does not store them.
extension SubscriptionEngine {
  /// Charges for a product other than an auto-renewable subscription: `ONE_TIME_CHARGE`. If `original`, the customer's
  /// earlier purchase of the same non-consumable, is given, nothing is charged.
  mutating func charge(
    for product: CatalogProduct, account: String, quantity: Int, applicationUsername: String?,
    original: JWSTransaction?, at instant: Timestamp
  ) throws(StoreError) -> SubscriptionPurchase {
    guard let price = price(of: product.productIdentifier) else {
      throw StoreError(.paymentInvalid, "The price is negative, or too great to be stated.")
    }
    begin(at: instant)
    var transaction = newTransaction(
      of: product, account: account, applicationUsername: applicationUsername, continuing: original,
      price: original == nil ? price : 0, at: now)
    transaction.quantity = Int64(quantity)
    emitOneTime(.oneTimeCharge, transaction, account: account, isNewTransaction: true)
    return SubscriptionPurchase(transaction: transaction, events: finish())
  }

  /// Shares a one-time purchase with a family member: `ONE_TIME_CHARGE`, with the member's own transaction.
  mutating func share(_ shared: JWSTransaction, with account: String, at instant: Timestamp) -> [StoreEvent] {
    begin(at: instant)
    var transaction = sharedTransaction(of: shared, with: account, at: now)
    transaction.removeRevocation()
    emitOneTime(
      .oneTimeCharge, transaction, account: account, isNewTransaction: true, sharedFrom: shared.transactionId)
    return finish()
  }

  /// Stops sharing a one-time purchase with a family member: `REVOKE`.
  mutating func unshare(_ shared: JWSTransaction, account: String, at instant: Timestamp) -> [StoreEvent] {
    begin(at: instant)
    stopSharing(shared, account: account, at: now)
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
    sharedFrom: String? = nil, reason: ConsumptionRequestReason? = nil
  ) {
    let uuid = nextUUID()
    events.append(
      StoreEvent(
        number: ledger.eventCount, account: account, signedDate: transaction.signedDate ?? ledger.time,
        type: type, uuid: uuid, transaction: transaction, consumptionRequestReason: reason,
        isNewTransaction: isNewTransaction, sharedFrom: sharedFrom))
  }

  func appTransactionIdentifier(of account: String) -> String {
    // 18 digits; the first is not zero.
    let chance = KeyedRandomSource(seed: options.seed).chance("app-transaction/" + account, 0)
    return String(700_000_000_000_000_000 + Int64(chance * 1e16))
  }
}

extension JWSTransaction {
  mutating func setOffer(_ offer: Subscription.RenewalOffer?) {
    offerType = offer?.type
    offerIdentifier = offer?.identifier
    offerDiscountType = offer?.paymentMode
    offerPeriod = offer?.period.description
  }

  mutating func removeRevocation() {
    revocationDate = nil
    revocationReason = nil
    revocationType = nil
    revocationPercentage = nil
  }
}
