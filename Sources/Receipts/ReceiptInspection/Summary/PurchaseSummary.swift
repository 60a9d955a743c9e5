// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The signed payloads of the App Store.
extension InspectionSummary {
  mutating func add(_ payload: JWSPayload) {
    switch payload {
    case .transaction(let transaction): add(transaction)
    case .renewalInfo(let renewal): add(renewal)
    case .appTransaction(let app): add(app)
    case .notification(let notification): add(notification)
    case .realtimeRequest(let request): add(request)
    }
  }

  private mutating func add(_ transaction: JWSTransaction) {
    collected.add("product", product(transaction.productId, transaction.type?.rawValue, transaction.quantity))
    collected.add("price", Money.text(transaction.price, transaction.currency))
    addBought(
      transaction.purchaseDate, first: transaction.originalPurchaseDate,
      isRenewal: transaction.transactionReason == .renewal)
    addState(transaction)
    if let ownership = transaction.inAppOwnershipType, ownership != .purchased {
      collected.add("ownership", meaning(ownership.meaning, of: ownership.rawValue))
    }
    addOffer(
      transaction.offerType, transaction.offerDiscountType, transaction.offerPeriod,
      transaction.offerIdentifier)
    collected.add(
      "items",
      transaction.advancedCommerceInfo?.items.flatMap { items in
        items.compactMap { $0.displayName ?? $0.sku }.joined(separator: ", ")
      })
    if let commitment = transaction.commitmentInfo, let number = commitment.billingPeriodNumber {
      collected.add(
        "commitment", "month \(number) of \(commitment.totalBillingPeriods.map { "\($0)" } ?? "unknown")")
    }
    addApp(transaction.bundleId, nil, transaction.environment, transaction.storefront)
    addTransaction(transaction.transactionId, transaction.originalTransactionId)
    collected.add("account", transaction.appAccountToken?.rawValue)
  }

  private mutating func addState(_ transaction: JWSTransaction) {
    if let date = transaction.revocationDate {
      let share = transaction.revocationPercentage.map {
        "\($0 % 1000 == 0 ? "\($0 / 1000)" : "\(Double($0) / 1000)") %"
      }
      let why = listed(
        transaction.revocationType.map { meaning($0.meaning, of: $0.rawValue) },
        transaction.revocationType == .refundProrated ? share : nil,
        transaction.revocationReason.map { meaning($0.meaning, of: $0.rawValue) }, separator: "; ")
      addRevoked(date, why)
    }
    if transaction.isUpgraded == true {
      collected.add("state", "UPGRADED", .caution, " to another subscription")
    }
    addExpiry(transaction.expiresDate)
  }

  private mutating func add(_ renewal: JWSRenewalInfo) {
    collected.add("product", renewal.productId)
    switch renewal.autoRenewStatus {
    case .on:
      let product = renewal.autoRenewProductId.flatMap { $0 == renewal.productId ? nil : "as \($0)" }
      let price = Money.text(renewal.renewalPrice, renewal.currency).map { "for \($0)" }
      let when = renewal.renewalDate.map { TimeText.relative($0, to: now) }
      let isDue = renewal.renewalDate.map { $0 <= now } ?? false
      collected.add(
        "renewal", "ON", .good,
        listed(when, product, price).map { ": \(isDue ? "was to renew" : "renews") \($0)" } ?? "")
    case .off:
      let end = renewal.renewalDate.map {
        ": \($0 <= now ? "ended" : "ends") \(TimeText.relative($0, to: now))"
      }
      collected.add("renewal", "OFF", .caution, end ?? "")
    case .unknown(let status): collected.add("renewal", "\(status) (unknown)")
    case nil: break
    }
    if let intent = renewal.expirationIntent {
      collected.add("state", "EXPIRED", .bad, ": \(meaning(intent.meaning, of: intent.rawValue))")
    }
    if renewal.isInBillingRetryPeriod == true {
      collected.add("state", "BILLING RETRY", .bad, ": the charge failed, and the App Store tries again")
    }
    if let date = renewal.gracePeriodExpiresDate {
      let isOver = date <= now
      collected.add(
        "state", "GRACE PERIOD", .caution,
        ", \(isOver ? "ended" : "ends") \(TimeText.relative(date, to: now))")
    }
    collected.add(
      "higher price", renewal.priceIncreaseStatus.map { meaning($0.meaning, of: $0.rawValue) })
    addOffer(renewal.offerType, renewal.offerDiscountType, renewal.offerPeriod, renewal.offerIdentifier)
    collected.add("win-back", renewal.eligibleWinBackOfferIds.map { $0.joined(separator: ", ") })
    collected.add("subscribed", renewal.recentSubscriptionStartDate.map { TimeText.relative($0, to: now) })
    addApp(nil, nil, renewal.environment, nil)
    addTransaction(nil, renewal.originalTransactionId)
    collected.add("account", renewal.appAccountToken?.rawValue)
  }

  private mutating func add(_ app: AppTransaction) {
    addApp(app.bundleId, app.applicationVersion, app.receiptType, nil)
    collected.add("store number", app.appAppleId.map { "\($0)" })
    // Xcode writes a date before 1970 if there is no date.
    let firstDate = app.originalPurchaseDate.flatMap { $0.millisecondsSince1970 > 0 ? $0 : nil }
    collected.add("first got", firstDate.map { TimeText.relative($0, to: now) } ?? "(no date)")
    collected.add(
      "",
      listed(
        app.originalApplicationVersion.map { "version \($0)" },
        app.originalPlatform.map { "on \($0.rawValue)" }))
    collected.add("ordered", app.preorderDate.map { "before its release, \(TimeText.relative($0, to: now))" })
    collected.add("download", app.appTransactionId)
    collected.add("device", app.deviceVerification.map { _ in "bound to one device" })
  }

  private mutating func add(_ request: RealtimeRequest) {
    collected.add("announces", "A customer may leave: the App Store asks for a message to keep them.")
    collected.add("product", request.productId)
    collected.add("language", request.userLocale)
    addApp("App Store number \(request.appAppleId)", nil, request.environment, nil)
    addTransaction(nil, request.originalTransactionId)
    collected.add("request", request.requestIdentifier.rawValue)
  }

  // MARK: - Notifications

  private mutating func add(_ notification: Notification) {
    collected.add("announces", Self.sentence(notification))
    collected.add("event", listed(notification.notificationType?.rawValue, notification.subtype?.rawValue))
    if let data = notification.data {
      collected.add("status", data.status.map { meaning($0.meaning, of: $0.rawValue) })
      collected.add(
        "asked because", data.consumptionRequestReason.map { meaning($0.meaning, of: $0.rawValue) })
    }
    if let summary = notification.summary {
      collected.add("product", summary.productId)
      collected.add("extended", summary.succeededCount.map { "\($0)" })
      collected.add("not extended", summary.failedCount.map { "\($0)" })
      collected.add("storefronts", summary.storefrontCountryCodes.map { $0.joined(separator: ", ") })
      collected.add("request", summary.requestIdentifier?.rawValue)
    }
    if let token = notification.externalPurchaseToken {
      collected.add("token", token.externalPurchaseId)
      collected.add("", token.tokenType.map { "for \(meaning($0.meaning, of: $0.rawValue))" })
      collected.add("made", token.tokenCreationDate.map { TimeText.relative($0, to: now) })
      addExpiry(token.tokenExpirationDate)
    }
    addApp(notification.bundleId, notification.data?.bundleVersion, notification.environment, nil)
    collected.add("notification", notification.notificationUUID?.rawValue)
    addPart("transaction", notification.data?.signedTransactionInfo)
    addPart("renewal info", notification.data?.signedRenewalInfo)
    addPart("app transaction", notification.appData?.signedAppTransactionInfo)
  }

  private static func sentence(_ notification: Notification) -> String? {
    let type = notification.notificationType.map { meaning($0.meaning, of: $0.rawValue) }
    let subtype = notification.subtype.map { meaning($0.meaning, of: $0.rawValue) }
    guard let sentence = listed(type, subtype, separator: ": ") else { return nil }
    return sentence.prefix(1).uppercased() + sentence.dropFirst() + "."
  }

  // MARK: - Shared by several kinds

  func product(_ product: String?, _ type: String?, _ quantity: Int64?) -> String? {
    let count = quantity.flatMap { $0 == 1 ? nil : "× \($0)" }
    return listed(product, count, type.map { "(\($0))" }, separator: " ")
  }

  mutating func addBought(_ date: Timestamp?, first: Timestamp?, isRenewal: Bool = false) {
    collected.add("bought", date.map { TimeText.relative($0, to: now) + (isRenewal ? ", as a renewal" : "") })
    collected.add("first bought", first.flatMap { $0 == date ? nil : TimeText.relative($0, to: now) })
  }

  mutating func addRevoked(_ date: Timestamp, _ why: String?) {
    collected.add(
      "state", "REVOKED", .bad, " \(TimeText.relative(date, to: now))" + (why.map { ": \($0)" } ?? ""))
  }

  mutating func addExpiry(_ date: Timestamp?) {
    guard let date else { return }
    guard date > now else {
      return collected.add("state", "EXPIRED", .bad, " \(TimeText.relative(date, to: now))")
    }
    collected.add("state", "active", .good, ", expires or renews \(TimeText.relative(date, to: now))")
  }

  private mutating func addOffer(
    _ type: OfferType?, _ discount: OfferDiscountType?, _ period: String?, _ identifier: String?
  ) {
    let payment: String? = discount.map { discount in
      switch discount {
      case .freeTrial: "free trial"
      case .payAsYouGo: "paid each period"
      case .payUpFront: "paid at once"
      case .oneTime: "one payment"
      case .unknown(let value): "\(value) (unknown)"
      }
    }
    collected.add(
      "offer",
      listed(
        type.map { meaning($0.meaning, of: $0.rawValue) }, payment,
        period.map { "for \(TimeText.period($0))" },
        identifier))
  }

  mutating func addApp(
    _ app: String?, _ version: String?, _ environment: ReceiptEnvironment?, _ storefront: String?
  ) {
    let name = listed(app, version.map { "version \($0)" }, separator: " ")
    collected.add("app", listed(name, environment?.rawValue, storefront.map { "storefront \($0)" }))
  }

  mutating func addTransaction(_ identifier: String?, _ original: String?) {
    collected.add(
      "transaction", listed(identifier, original.flatMap { $0 == identifier ? nil : "original \($0)" }))
  }
}
