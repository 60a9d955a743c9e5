// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension Purchase {
  /// Writes the statements about the purchase with Apple's names, and its standing at an instant, for reports on
  /// verdicts. What is absent is omitted, and so is what depends on the instant if that is `nil`.
  func write(to object: inout JSONWriter, at instant: Timestamp?) {
    object.beginObject()
    object.member("transactionId", transaction.transactionId)
    object.member("originalTransactionId", transaction.originalTransactionId)
    object.member("productId", transaction.productId)
    object.member("type", transaction.type?.rawValue)
    object.member("quantity", transaction.quantity)
    object.member("purchaseDate", transaction.purchaseDate)
    object.member("originalPurchaseDate", transaction.originalPurchaseDate)
    object.member("expiresDate", transaction.expiresDate)
    if let instant { object.member("isExpired", transaction.expiresDate.map { $0 <= instant }) }
    object.member("revocationDate", transaction.revocationDate)
    object.member("revocationReason", signed?.revocationReason?.rawValue)
    object.member("revocationType", signed?.revocationType?.rawValue)
    object.member("isUpgraded", isUpgraded)
    object.member("inAppOwnershipType", transaction.inAppOwnershipType?.rawValue)
    object.member("appAccountToken", transaction.appAccountToken)
    object.member("subscriptionGroupIdentifier", signed?.subscriptionGroupIdentifier)
    object.member("transactionReason", signed?.transactionReason?.rawValue)
    object.member("price", transaction.price)
    object.member("currency", transaction.currency)
    object.member("storefront", signed?.storefront)
    object.member("offerType", transaction.offerType?.rawValue)
    object.member("offerDiscountType", transaction.offerDiscountType?.rawValue)
    object.member("offerPeriod", signed?.offerPeriod)
    object.member("offerIdentifier", transaction.offerIdentifier)
    object.member("isTrialPeriod", inApp?.isTrialPeriod)
    object.member("isInIntroOfferPeriod", inApp?.isInIntroOfferPeriod)
    object.member("purchaseToken", transaction.purchaseToken)
    writeStanding(to: &object, at: instant)
    object.endObject()
  }

  /// Writes the purchase as one that was not paid for when it was signed.
  func writeUnpaid(to object: inout JSONWriter, at instant: Timestamp?) {
    object.beginObject()
    object.member("orderId", transaction.transactionId)
    object.member("productId", transaction.productId)
    object.member("purchaseState", unpaidState)
    writeStanding(to: &object, at: instant)
    object.endObject()
  }

  private func writeStanding(to object: inout JSONWriter, at instant: Timestamp?) {
    guard let instant else { return }
    let standing = standing(at: instant)
    standing.write(to: &object)
    object.member("grantsAccess", standing.grantsAccess)
    object.member("remainingQuantity", remainingQuantity(at: instant))
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
    if case .jws(.renewalInfo(let renewalInfo)) = content { return renewalInfo }
    return nested.lazy.compactMap(\.renewalInfo).first
  }
}
