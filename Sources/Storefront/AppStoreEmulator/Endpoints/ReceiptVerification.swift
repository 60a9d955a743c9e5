// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptSigning
internal import ReceiptVerification
internal import Storefront

/// The answer of `verifyReceipt` to one app receipt.
struct ReceiptVerification {
  static let routes = [
    Route("POST", "/verifyReceipt", needsToken: false) { call in
      .json(await ReceiptVerification(call: call).answer())
    }
  ]

  fileprivate let call: EndpointCall

  func answer() async -> JSONMembers {
    guard let request = try? call.body() else { return status(.unreadableRequest) }
    guard let text = request["receipt-data"]?.string,
      let bytes = try? Base64.decode(Array(text.utf8), allowingWhitespace: true),
      let unverified = try? UnverifiedAppReceipt(parsing: bytes),
      let payload = try? unverified.decoded().content
    else { return status(.malformedReceipt) }
    guard isAuthentic(bytes) else { return status(.notAuthenticated) }
    let isSandbox = payload.environment?.category == .sandbox
    let isProductionHere = call.configuration.environment == .production
    if isSandbox, isProductionHere { return status(.sandboxReceipt) }
    if !isSandbox, !isProductionHere { return status(.productionReceipt) }
    let hasSubscription = payload.inAppPurchases.contains(where: \.isSubscription)
    let password = request["password"]?.string
    if let secret = call.configuration.sharedSecret, hasSubscription || password != nil, password != secret {
      return status(.wrongSharedSecret)
    }
    return await accepted(
      payload, bytes: bytes, excludesOld: request["exclude-old-transactions"]?.flag ?? false,
      hasSubscription: hasSubscription)
  }

  private func status(_ status: Status) -> JSONMembers {
    ["environment": call.configuration.environment.rawValue, "status": status.rawValue] as JSONMembers
  }

  private func isAuthentic(_ bytes: [UInt8]) -> Bool {
    let now = call.now
    let verifier = ReceiptVerifier(
      trust: TrustAnchors(certificates: [call.store.signing.appReceiptRoot]),
      policy: VerificationPolicy(
        bundleIds: .oneOf([call.configuration.bundleId]), environments: [.production, .sandbox]),
      clock: { now })
    if case .valid = verifier.verify(bytes) { return true }
    return false
  }

  private func accepted(
    _ payload: AppReceiptPayload, bytes: [UInt8], excludesOld: Bool, hasSubscription: Bool
  ) async -> JSONMembers {
    let answer: JSONMembers = [
      "status": 0, "environment": call.configuration.environment.rawValue,
      "receipt": receipt(payload),
    ]
    guard hasSubscription else { return answer }
    let latest = await latest(for: payload)
    let shown = excludesOld ? Self.newestOfEachSubscription(latest.purchases) : latest.purchases
    var renewed = payload
    renewed.inAppPurchases = latest.purchases
    renewed.receiptCreationDate = call.now
    let signed = (try? call.store.signing.appReceipts.sign(renewed)) ?? bytes
    return answer + [
      "latest_receipt": Base64.encodeToString(signed),
      "latest_receipt_info": shown.map { purchase($0, details: latest.details) },
      "pending_renewal_info": latest.renewals.map(renewal),
    ]
  }

  private typealias Latest = (
    purchases: [InAppPurchase], details: [String: JWSTransaction], renewals: [JWSRenewalInfo]
  )

  /// The store's purchases of the receipt's customer. If the store has none, the purchases in the receipt.
  private func latest(for payload: AppReceiptPayload) async -> Latest {
    let store = call.store.purchases
    var latest: Latest = (payload.inAppPurchases, [:], [])
    for original in payload.inAppPurchases.compactMap(\.originalTransactionId) {
      guard let account = try? await store.account(of: original),
        let sales = try? await store.history(of: account).sales,
        let subscriptions = try? await store.subscriptionStates(of: account)
      else { continue }
      latest.purchases = []
      for sale in sales where !(sale.isFinished && sale.transaction.type == .consumable) {
        latest.details[sale.identifier] = sale.transaction
        latest.purchases.append(InAppPurchase(of: sale.transaction))
      }
      latest.renewals = subscriptions.map(\.renewalInfo)
      return latest
    }
    return latest
  }

  private static func newestOfEachSubscription(_ purchases: [InAppPurchase]) -> [InAppPurchase] {
    var newest: [String: InAppPurchase] = [:]
    for purchase in purchases {
      let key = purchase.originalTransactionId ?? ""
      let known = newest[key]?.purchaseDate?.millisecondsSince1970 ?? -.infinity
      if (purchase.purchaseDate?.millisecondsSince1970 ?? 0) >= known { newest[key] = purchase }
    }
    return newest.sorted { $0.key < $1.key }.map(\.value)
  }

  // MARK: - JSON, in which nearly all values are strings, and each date has three formats

  private func receipt(_ payload: AppReceiptPayload) -> JSONMembers {
    var answer: JSONMembers = [
      "receipt_type": payload.environment?.rawValue, "adam_id": payload.appAppleId ?? 0,
      "app_item_id": payload.appAppleId ?? 0, "bundle_id": payload.bundleId,
      "application_version": payload.applicationVersion, "download_id": payload.downloadId,
      "version_external_identifier": 0,
    ]
    answer += Self.date("receipt_creation_date", payload.receiptCreationDate)
    answer += Self.date("request_date", call.now)
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
  private func purchase(_ purchase: InAppPurchase, details: [String: JWSTransaction]) -> JSONMembers {
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

  private func renewal(_ renewal: JWSRenewalInfo) -> JSONMembers {
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

extension InAppPurchase {
  var isSubscription: Bool { productType == .autoRenewableSubscription || expiresDate != nil }

  init(of transaction: JWSTransaction) {
    let isIntroductory = transaction.offerType == .introductory
    let isFree = transaction.offerDiscountType == .freeTrial
    self.init(transaction: transaction.transaction)
    productType = transaction.type.flatMap(AppReceiptProductType.init)
    webOrderLineItemId = transaction.webOrderLineItemId.flatMap { Int64($0) }
    isTrialPeriod = isIntroductory && isFree
    isInIntroOfferPeriod = isIntroductory && !isFree
    promotionalOfferId = transaction.offerType == .promotional ? transaction.offerIdentifier : nil
  }
}
