// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// Writes the JSON of `verifyReceipt`. Nearly all values are strings, and each date has three formats.
struct ReceiptAnswerWriter {
  let now: Timestamp

  func receipt(_ payload: AppReceiptPayload) -> JSONMembers {
    var answer: JSONMembers = [
      "receipt_type": payload.environment?.rawValue, "adam_id": payload.appAppleId ?? 0,
      "app_item_id": payload.appAppleId ?? 0, "bundle_id": payload.bundleId,
      "application_version": payload.applicationVersion, "download_id": payload.downloadId,
      "version_external_identifier": 0,
    ]
    answer += Self.date("receipt_creation_date", payload.receiptCreationDate)
    answer += Self.date("request_date", now)
    answer += Self.date("original_purchase_date", payload.originalPurchaseDate)
    answer += Self.date("expiration_date", payload.expirationDate)
    answer += [
      "original_application_version": payload.originalApplicationVersion,
      "in_app": payload.inAppPurchases.map { purchase($0, details: [:]) },
    ]
    return answer
  }

  /// The JSON of one purchase. `details` has, by transaction identifier, the information that a receipt does not
  /// contain.
  func purchase(_ purchase: InAppPurchase, details: [String: JWSTransaction]) -> JSONMembers {
    let detail = purchase.transactionId.flatMap { details[$0] }
    var answer: JSONMembers = [
      "quantity": String(purchase.quantity ?? 1), "product_id": purchase.productId,
      "transaction_id": purchase.transactionId, "original_transaction_id": purchase.originalTransactionId,
    ]
    answer += Self.date("purchase_date", purchase.purchaseDate)
    answer += Self.date("original_purchase_date", purchase.originalPurchaseDate)
    answer += Self.date("expires_date", purchase.expiresDate)
    answer += Self.date("cancellation_date", purchase.cancellationDate)
    if purchase.cancellationDate != nil {
      answer += ["cancellation_reason": detail?.revocationReason == .issue ? "1" : "0"]
    }
    if let identifier = purchase.webOrderLineItemId, identifier != 0 {
      answer += ["web_order_line_item_id": String(identifier)]
    }
    if purchase.isSubscription {
      answer += [
        "is_trial_period": purchase.isTrialPeriod == true ? "true" : "false",
        "is_in_intro_offer_period": purchase.isInIntroOfferPeriod == true ? "true" : "false",
      ]
    }
    answer += [
      "is_upgraded": detail?.isUpgraded == true ? "true" : nil,
      "promotional_offer_id": purchase.promotionalOfferId,
      "subscription_group_identifier": detail?.subscriptionGroupIdentifier,
      "app_account_token": detail?.appAccountToken?.rawValue,
      "in_app_ownership_type": (detail?.inAppOwnershipType ?? .purchased).rawValue,
    ]
    return answer
  }

  func renewal(_ renewal: JWSRenewalInfo) -> JSONMembers {
    [
      "product_id": renewal.productId, "auto_renew_product_id": renewal.autoRenewProductId,
      "original_transaction_id": renewal.originalTransactionId,
      "auto_renew_status": renewal.autoRenewStatus == .on ? "1" : "0",
      "expiration_intent": renewal.expirationIntent.map { String($0.rawValue) },
      "is_in_billing_retry_period": renewal.isInBillingRetryPeriod.map { $0 ? "1" : "0" },
      "price_increase_status": renewal.priceIncreaseStatus.map { String($0.rawValue) },
    ] + Self.date("grace_period_expires_date", renewal.gracePeriodExpiresDate)
  }

  /// A date in UTC, in milliseconds as a string, and in Pacific time.
  private static func date(_ name: String, _ instant: Timestamp?) -> JSONMembers {
    guard let instant else { return [:] }
    return [
      name: PurchaseInfoDate.greenwich(instant), "\(name)_ms": String(instant.wholeMilliseconds),
      "\(name)_pst": PurchaseInfoDate.losAngeles(instant),
    ]
  }
}
