// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptVerification

/// What a receipt states of one purchase, for the text and the JSON of a verdict.
struct PurchaseReport {
  let transaction: Transaction
  /// When it is evaluated; `nil` where that is not told.
  let instant: Timestamp?
  /// What no other kind of receipt states.
  private var signed: JWSTransaction?
  private var inApp: InAppPurchase?

  /// The purchases of a receipt.
  static func all(of receipt: VerifiedReceipt, at instant: Timestamp?) -> [PurchaseReport] {
    let transactions = receipt.transactions
    var reports = transactions.map { PurchaseReport(transaction: $0, instant: instant) }
    switch receipt.content {
    case .appReceipt(let payload) where payload.inAppPurchases.count == reports.count:
      for index in reports.indices { reports[index].inApp = payload.inAppPurchases[index] }
    case .jws where reports.count == 1:
      reports[0].signed =
        receipt.signedParts.lazy.compactMap { part in
          if case .jws(.transaction(let payload)) = part.content { payload } else { nil }
        }.first
    default: break
    }
    return reports
  }

  private init(transaction: Transaction, instant: Timestamp?) {
    self.transaction = transaction
    self.instant = instant
  }

  /// `nil` for a purchase that does not expire.
  private var isExpired: Bool? {
    guard let instant else { return nil }
    return transaction.expiresDate.map { $0 <= instant }
  }
  private var isUpgraded: Bool? { signed?.isUpgraded }
  private var type: ProductType? {
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
  private var offerIdentifier: String? { signed?.offerIdentifier ?? inApp?.promotionalOfferId }

  /// One line for a person.
  var text: String {
    var parts = [transaction.transactionId ?? "(no identifier)"]
    if let productId = transaction.productId { parts.append(productId) }
    if let quantity = transaction.quantity, quantity != 1 { parts.append("×\(quantity)") }
    if let original = transaction.originalTransactionId, original != transaction.transactionId {
      parts.append("original \(original)")
    }
    if let date = transaction.purchaseDate { parts.append("bought \(date.iso8601)") }
    if let date = transaction.expiresDate {
      parts.append("\(isExpired == true ? "EXPIRED" : "expires") \(date.iso8601)")
    }
    if let date = transaction.revocationDate { parts.append("REVOKED \(date.iso8601)") }
    if isUpgraded == true { parts.append("UPGRADED") }
    if let ownership = signed?.inAppOwnershipType, ownership != .purchased {
      parts.append(ownership.rawValue)
    }
    if let price = Money.text(signed?.price, signed?.currency) { parts.append(price) }
    let offer = [signed?.offerType.map { "\($0)" }, signed?.offerDiscountType?.rawValue, offerIdentifier]
    if offer.contains(where: { $0 != nil }) {
      parts.append("offer " + offer.compactMap { $0 }.joined(separator: " "))
    }
    if inApp?.isTrialPeriod == true { parts.append("trial period") }
    if inApp?.isInIntroOfferPeriod == true { parts.append("introductory offer period") }
    if let account = signed?.appAccountToken { parts.append("account \(account.rawValue)") }
    return parts.joined(separator: "  ")
  }

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
    if let isExpired { object.member("isExpired", isExpired) }
    object.member("revocationDate", transaction.revocationDate)
    if let signed { write(signed, to: &object) }
    object.member("offerIdentifier", offerIdentifier)
    if let flag = inApp?.isTrialPeriod { object.member("isTrialPeriod", flag) }
    if let flag = inApp?.isInIntroOfferPeriod { object.member("isInIntroOfferPeriod", flag) }
    object.member("purchaseToken", transaction.purchaseToken)
    object.endObject()
  }

  private func write(_ signed: JWSTransaction, to object: inout JSONWriter) {
    object.member("revocationReason", signed.revocationReason?.rawValue)
    object.member("revocationType", signed.revocationType?.rawValue)
    if let flag = signed.isUpgraded { object.member("isUpgraded", flag) }
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

/// What a receipt states of the next renewal, for the text and the JSON of a verdict.
struct RenewalReport {
  let renewal: JWSRenewalInfo

  /// The renewal information that the receipt is, or that a notification has.
  init?(of receipt: VerifiedReceipt) {
    for part in receipt.signedParts {
      guard case .jws(.renewalInfo(let payload)) = part.content else { continue }
      renewal = payload
      return
    }
    return nil
  }

  /// One line for a person.
  var text: String {
    var parts: [String] = []
    switch renewal.autoRenewStatus {
    case .on: parts.append("renews")
    case .off: parts.append("does NOT renew")
    default: break
    }
    if let product = renewal.autoRenewProductId { parts.append(product) }
    if let date = renewal.renewalDate { parts.append("on \(date.iso8601)") }
    if let price = Money.text(renewal.renewalPrice, renewal.currency) { parts.append("for \(price)") }
    if renewal.isInBillingRetryPeriod == true { parts.append("IN BILLING RETRY") }
    if let date = renewal.gracePeriodExpiresDate { parts.append("grace period until \(date.iso8601)") }
    if let intent = renewal.expirationIntent { parts.append("expired: \(intent)") }
    return parts.joined(separator: "  ")
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
    if let flag = renewal.isInBillingRetryPeriod { object.member("isInBillingRetryPeriod", flag) }
    object.member("gracePeriodExpiresDate", renewal.gracePeriodExpiresDate)
    object.member("priceIncreaseStatus", renewal.priceIncreaseStatus?.rawValue)
    object.member("offerType", renewal.offerType?.rawValue)
    object.member("offerIdentifier", renewal.offerIdentifier)
    object.member("offerDiscountType", renewal.offerDiscountType?.rawValue)
    object.endObject()
  }
}

extension VerifiedReceipt {
  /// The receipt itself, and the parts of a notification that have signatures of their own.
  fileprivate var signedParts: [VerifiedReceipt] { [self] + nested }
}
