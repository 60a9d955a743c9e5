// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The statements of a receipt about one purchase, with Apple's names, for reports on verdicts.
package struct PurchaseReport {
  package let transaction: Transaction
  /// The instant at which expiry is evaluated; `nil` if it is not evaluated.
  package let instant: Timestamp?
  /// The signed transaction, whose fields no other kind of receipt states.
  package private(set) var signed: JWSTransaction?
  package private(set) var inApp: InAppPurchase?

  /// Returns the purchases of a receipt.
  package static func all(of receipt: VerifiedReceipt, at instant: Timestamp?) -> [PurchaseReport] {
    let transactions = receipt.transactions
    var reports = transactions.map { PurchaseReport(transaction: $0, instant: instant) }
    switch receipt.content {
    case .appReceipt(let payload) where payload.inAppPurchases.count == reports.count:
      for index in reports.indices { reports[index].inApp = payload.inAppPurchases[index] }
    case .jws where reports.count == 1:
      reports[0].signed = receipt.firstPayload { payload in
        if case .transaction(let transaction) = payload { transaction } else { nil }
      }
    default: break
    }
    return reports
  }

  private init(transaction: Transaction, instant: Timestamp?) {
    self.transaction = transaction
    self.instant = instant
  }

  /// Indicates whether the purchase has expired; `nil` if it does not expire or if there is no instant.
  package var isExpired: Bool? {
    guard let instant else { return nil }
    return transaction.expiresDate.map { $0 <= instant }
  }
  package var isUpgraded: Bool? { signed?.isUpgraded }
  var type: ProductType? { signed?.type ?? inApp?.productType?.productType }
  package var offerIdentifier: String? { signed?.offerIdentifier ?? inApp?.promotionalOfferId }

  /// Writes the object; absent members are omitted.
  func write(to object: inout JSONWriter) {
    object.beginObject()
    object.member("transactionId", transaction.transactionId)
    object.member("originalTransactionId", transaction.originalTransactionId)
    object.member("productId", transaction.productId)
    object.member("type", type?.rawValue)
    object.member("quantity", transaction.quantity)
    object.member("purchaseDate", transaction.purchaseDate)
    object.member("originalPurchaseDate", transaction.originalPurchaseDate)
    object.member("expiresDate", transaction.expiresDate)
    object.member("isExpired", isExpired)
    object.member("revocationDate", transaction.revocationDate)
    if let signed { write(signed, to: &object) }
    object.member("offerIdentifier", offerIdentifier)
    object.member("isTrialPeriod", inApp?.isTrialPeriod)
    object.member("isInIntroOfferPeriod", inApp?.isInIntroOfferPeriod)
    object.member("purchaseToken", transaction.purchaseToken)
    object.endObject()
  }

  private func write(_ signed: JWSTransaction, to object: inout JSONWriter) {
    object.member("revocationReason", signed.revocationReason?.rawValue)
    object.member("revocationType", signed.revocationType?.rawValue)
    object.member("isUpgraded", signed.isUpgraded)
    object.member("inAppOwnershipType", signed.inAppOwnershipType?.rawValue)
    object.member("appAccountToken", signed.appAccountToken?.rawValue)
    object.member("subscriptionGroupIdentifier", signed.subscriptionGroupIdentifier)
    object.member("transactionReason", signed.transactionReason?.rawValue)
    object.member("price", signed.price)
    object.member("currency", signed.currency)
    object.member("storefront", signed.storefront)
    object.member("offerType", signed.offerType?.rawValue)
    object.member("offerDiscountType", signed.offerDiscountType?.rawValue)
    object.member("offerPeriod", signed.offerPeriod)
  }
}

extension JWSRenewalInfo {
  /// Writes the statements about the next renewal, with Apple's names, for reports on verdicts.
  func write(to object: inout JSONWriter) {
    object.beginObject()
    object.member("autoRenewStatus", autoRenewStatus?.rawValue)
    object.member("autoRenewProductId", autoRenewProductId)
    object.member("renewalDate", renewalDate)
    object.member("renewalPrice", renewalPrice)
    object.member("currency", currency)
    object.member("expirationIntent", expirationIntent?.rawValue)
    object.member("isInBillingRetryPeriod", isInBillingRetryPeriod)
    object.member("gracePeriodExpiresDate", gracePeriodExpiresDate)
    object.member("priceIncreaseStatus", priceIncreaseStatus?.rawValue)
    object.member("offerType", offerType?.rawValue)
    object.member("offerIdentifier", offerIdentifier)
    object.member("offerDiscountType", offerDiscountType?.rawValue)
    object.endObject()
  }
}

extension VerifiedReceipt {
  /// The renewal info that the receipt is, or that a notification contains.
  package var renewalInfo: JWSRenewalInfo? {
    firstPayload { payload in
      if case .renewalInfo(let renewal) = payload { renewal } else { nil }
    }
  }

  /// Returns the first match among the receipt's payload and the payloads of a notification's signed parts.
  fileprivate func firstPayload<Found>(_ find: (JWSPayload) -> Found?) -> Found? {
    if case .jws(let payload) = content, let found = find(payload) { return found }
    for part in nested {
      if let found = part.firstPayload(find) { return found }
    }
    return nil
  }
}
