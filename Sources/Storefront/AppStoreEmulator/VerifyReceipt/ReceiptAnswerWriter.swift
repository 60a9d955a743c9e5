// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Writes the JSON of `verifyReceipt`. Nearly all values are strings, and each date has three formats.
struct ReceiptAnswerWriter {
  let now: Timestamp

  func receipt(_ payload: AppReceiptPayload) -> JSONValue {
    var members: [JSONMember] = []
    func add(_ name: String, _ value: JSONValue?) {
      if let value { members.append(JSONMember(name: name, value: value)) }
    }
    add("receipt_type", payload.environment.map { .string($0.rawValue) })
    add("adam_id", .integer(payload.appAppleId ?? 0))
    add("app_item_id", .integer(payload.appAppleId ?? 0))
    add("bundle_id", payload.bundleId.map { .string($0) })
    add("application_version", payload.applicationVersion.map { .string($0) })
    add("download_id", payload.downloadId.map { .integer($0) })
    add("version_external_identifier", .integer(0))
    members += Self.date("receipt_creation_date", payload.receiptCreationDate)
    members += Self.date("request_date", now)
    members += Self.date("original_purchase_date", payload.originalPurchaseDate)
    members += Self.date("expiration_date", payload.expirationDate)
    add("original_application_version", payload.originalApplicationVersion.map { .string($0) })
    add("in_app", .array(payload.inAppPurchases.map { purchase($0, details: [:]) }))
    return .object(members)
  }

  /// The JSON of one purchase. `details` has, by transaction identifier, the information that a receipt does not
  /// contain.
  func purchase(_ purchase: InAppPurchase, details: [String: JWSTransaction]) -> JSONValue {
    let detail = purchase.transactionId.flatMap { details[$0] }
    var members: [JSONMember] = []
    func add(_ name: String, _ value: String?) {
      if let value { members.append(JSONMember(name: name, value: .string(value))) }
    }
    add("quantity", String(purchase.quantity ?? 1))
    add("product_id", purchase.productId)
    add("transaction_id", purchase.transactionId)
    add("original_transaction_id", purchase.originalTransactionId)
    members += Self.date("purchase_date", purchase.purchaseDate)
    members += Self.date("original_purchase_date", purchase.originalPurchaseDate)
    members += Self.date("expires_date", purchase.expiresDate)
    members += Self.date("cancellation_date", purchase.cancellationDate)
    if purchase.cancellationDate != nil {
      add("cancellation_reason", detail?.revocationReason == .issue ? "1" : "0")
    }
    if let identifier = purchase.webOrderLineItemId, identifier != 0 {
      add("web_order_line_item_id", String(identifier))
    }
    if purchase.isSubscription {
      add("is_trial_period", purchase.isTrialPeriod == true ? "true" : "false")
      add("is_in_intro_offer_period", purchase.isInIntroOfferPeriod == true ? "true" : "false")
    }
    add("is_upgraded", detail?.isUpgraded == true ? "true" : nil)
    add("promotional_offer_id", purchase.promotionalOfferId)
    add("subscription_group_identifier", detail?.subscriptionGroupIdentifier)
    add("app_account_token", detail?.appAccountToken?.rawValue)
    add("in_app_ownership_type", (detail?.inAppOwnershipType ?? .purchased).rawValue)
    return .object(members)
  }

  func renewal(_ renewal: JWSRenewalInfo) -> JSONValue {
    var members: [JSONMember] = []
    func add(_ name: String, _ value: String?) {
      if let value { members.append(JSONMember(name: name, value: .string(value))) }
    }
    add("product_id", renewal.productId)
    add("auto_renew_product_id", renewal.autoRenewProductId)
    add("original_transaction_id", renewal.originalTransactionId)
    add("auto_renew_status", renewal.autoRenewStatus == .on ? "1" : "0")
    add("expiration_intent", renewal.expirationIntent.map { String($0.rawValue) })
    add("is_in_billing_retry_period", renewal.isInBillingRetryPeriod.map { $0 ? "1" : "0" })
    add("price_increase_status", renewal.priceIncreaseStatus.map { String($0.rawValue) })
    members += Self.date("grace_period_expires_date", renewal.gracePeriodExpiresDate)
    return .object(members)
  }

  /// A date in UTC, in milliseconds as a string, and in Pacific time.
  static func date(_ name: String, _ instant: Timestamp?) -> [JSONMember] {
    guard let instant else { return [] }
    return [
      JSONMember(name: name, value: .string(PurchaseInfoDate.greenwich(instant))),
      JSONMember(name: "\(name)_ms", value: .string(String(instant.wholeMilliseconds))),
      JSONMember(name: "\(name)_pst", value: .string(PurchaseInfoDate.losAngeles(instant))),
    ]
  }
}
