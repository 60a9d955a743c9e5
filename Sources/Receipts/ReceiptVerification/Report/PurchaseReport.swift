// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// What a receipt states of one purchase, by Apple's names, for reports on verdicts.
package struct PurchaseReport {
  package let transaction: Transaction
  /// When it is evaluated; `nil` where that is not told.
  package let instant: Timestamp?
  /// What no other kind of receipt states.
  package private(set) var signed: JWSTransaction?
  package private(set) var inApp: InAppPurchase?

  /// The purchases of a receipt.
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

  /// `nil` for a purchase that does not expire.
  package var isExpired: Bool? {
    guard let instant else { return nil }
    return transaction.expiresDate.map { $0 <= instant }
  }
  package var isUpgraded: Bool? { signed?.isUpgraded }
  var type: ProductType? {
    signed?.type
      ?? inApp?.productType.flatMap { type in
        switch type {
        case .nonConsumable: .nonConsumable
        case .consumable: .consumable
        case .nonRenewingSubscription: .nonRenewingSubscription
        case .autoRenewableSubscription: .autoRenewableSubscription
        case .unknown: nil
        }
      }
  }
  package var offerIdentifier: String? { signed?.offerIdentifier ?? inApp?.promotionalOfferId }

  /// Writes the object. Absent members are left out.
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

/// What a receipt states of the next renewal, by Apple's names, for reports on verdicts.
package struct RenewalReport {
  package let renewal: JWSRenewalInfo

  /// The renewal information that the receipt is, or that a notification has.
  package init?(of receipt: VerifiedReceipt) {
    let found = receipt.firstPayload { payload in
      if case .renewalInfo(let renewal) = payload { renewal } else { nil }
    }
    guard let found else { return nil }
    renewal = found
  }

  /// Writes the object. Absent members are left out.
  func write(to object: inout JSONWriter) {
    object.beginObject()
    object.member("autoRenewStatus", renewal.autoRenewStatus?.rawValue)
    object.member("autoRenewProductId", renewal.autoRenewProductId)
    object.member("renewalDate", renewal.renewalDate)
    object.member("renewalPrice", renewal.renewalPrice)
    object.member("currency", renewal.currency)
    object.member("expirationIntent", renewal.expirationIntent?.rawValue)
    object.member("isInBillingRetryPeriod", renewal.isInBillingRetryPeriod)
    object.member("gracePeriodExpiresDate", renewal.gracePeriodExpiresDate)
    object.member("priceIncreaseStatus", renewal.priceIncreaseStatus?.rawValue)
    object.member("offerType", renewal.offerType?.rawValue)
    object.member("offerIdentifier", renewal.offerIdentifier)
    object.member("offerDiscountType", renewal.offerDiscountType?.rawValue)
    object.endObject()
  }
}

extension VerifiedReceipt {
  /// What is found first in the receipt itself and in the parts of a notification that have signatures of their own.
  fileprivate func firstPayload<Found>(_ find: (JWSPayload) -> Found?) -> Found? {
    if case .jws(let payload) = content, let found = find(payload) { return found }
    for part in nested {
      if let found = part.firstPayload(find) { return found }
    }
    return nil
  }
}
