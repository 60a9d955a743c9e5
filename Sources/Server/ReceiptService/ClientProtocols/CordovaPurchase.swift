// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// An entry of `collection` in an answer to cordova-plugin-purchase (`VerifiedPurchase`).
  struct CordovaPurchase: Sendable, JSONWritable {
    let id: String
    let platform: String
    /// The original transaction, or the purchase token.
    var purchaseId: String?
    var transactionId: String?
    var purchaseDate: Timestamp?
    var expiryDate: Timestamp?
    /// The plugin takes every purchase for owned that is not marked as expired.
    let isExpired: Bool
    var isAcknowledged: Bool?
    var isConsumed: Bool?
    var renews: Bool?
    var cancellationReason: String?
    var isInBillingRetry: Bool?
    var isTrialPeriod: Bool?
    var isIntroPeriod: Bool?
    var discountId: String?
    var priceConsentStatus: String?
    var lastRenewalDate: Timestamp?
    var quantity: Int64?

    /// Marks the purchase as over, at the time from which it does not stand: the plugin's offline rules look at this date
    /// alone.
    private mutating func end(since instant: Timestamp?, at now: Timestamp) {
      guard isExpired, expiryDate.map({ $0 > now }) ?? true else { return }
      expiryDate = min(instant ?? purchaseDate ?? now, now)
    }

    private init(id: String, platform: String, isExpired: Bool) {
      self.id = id
      self.platform = platform
      self.isExpired = isExpired
    }

    /// Returns the entry for a client that asks about a product of a type.
    ///
    /// The plugin does not finish what is acknowledged: a consumable would never be consumed.
    func asked(about type: String) -> CordovaPurchase {
      var entry = self
      let mayBeBoughtAgain = ["consumable", "non renewing subscription"].contains(type)
      if mayBeBoughtAgain, isConsumed != true, isAcknowledged == true { entry.isAcknowledged = nil }
      return entry
    }

    /// Returns the entries as the plugin understands them.
    ///
    /// It knows one purchase of a product: the one that was bought last, and without a network the last of the
    /// collection. So what stands is not followed by what ended, and what ends last comes last.
    static func shown(_ entries: [CordovaPurchase]) -> [CordovaPurchase] {
      let standing = Set(entries.filter { !$0.isExpired }.map(\.id))
      let kept = entries.filter { !$0.isExpired || !standing.contains($0.id) }
      func end(_ entry: CordovaPurchase) -> Double { entry.expiryDate?.millisecondsSince1970 ?? .infinity }
      return kept.enumerated().sorted { left, right in
        let (first, second) = (end(left.element), end(right.element))
        return first == second ? left.offset < right.offset : first < second
      }.map(\.element)
    }

    func write(to json: inout JSONWriter) {
      json.beginObject()
      json.member("id", id)
      json.member("platform", platform)
      json.member("purchaseId", purchaseId)
      json.member("transactionId", transactionId)
      json.member("purchaseDate", purchaseDate?.milliseconds)
      json.member("expiryDate", expiryDate?.milliseconds)
      json.member("isExpired", isExpired)
      json.member("isAcknowledged", isAcknowledged)
      json.member("isConsumed", isConsumed)
      json.member("renewalIntent", renews.map { $0 ? "Renew" : "Lapse" })
      json.member("cancelationReason", cancellationReason)
      json.member("isBillingRetryPeriod", isInBillingRetry)
      json.member("isTrialPeriod", isTrialPeriod)
      json.member("isIntroPeriod", isIntroPeriod)
      json.member("discountId", discountId)
      json.member("priceConsentStatus", priceConsentStatus)
      json.member("lastRenewalDate", lastRenewalDate?.milliseconds)
      json.member("quantity", quantity)
      json.endObject()
    }

    // MARK: App Store

    /// Creates the entry of an original transaction, from what the ledger knows of it, or else from the receipt.
    init?(_ line: ReceiptLine, at now: Timestamp) {
      let latest = line.latest
      guard let entitlement = line.entitlement else {
        let standing = latest.standing(at: now)
        guard let product = latest.productId else { return nil }
        self.init(id: product, platform: "ios-appstore", isExpired: !standing.grantsAccess)
        purchaseId = latest.originalTransactionId ?? latest.transactionId
        expiryDate = standing.grantsAccess ? standing.until ?? latest.expiresDate : latest.expiresDate
        add(latest.transaction)
        if let signed = latest.signed, signed.revocationDate.map({ $0 <= now }) ?? false {
          cancellationReason = Self.reason(
            signed.revocationReason, isSharingWithdrawn: signed.isSharingWithdrawn ?? signed.isShared)
        }
        end(since: standing.since, at: now)
        return
      }
      self.init(entitlement, at: now)
    }

    /// Creates the entry of an original transaction that the ledger knows.
    init?(_ entitlement: Entitlement, at now: Timestamp) {
      let standing = entitlement.standing(at: now)
      guard let product = entitlement.productId(at: now) ?? entitlement.productId else { return nil }
      self.init(id: product, platform: "ios-appstore", isExpired: !standing.grantsAccess)
      purchaseId = entitlement.originalTransactionId
      expiryDate =
        standing.grantsAccess ? standing.until ?? entitlement.expiresDate : entitlement.expiresDate
      add(entitlement.transaction.transaction)
      if let renewal = entitlement.renewalInfo { add(renewal) }
      if let revocation = entitlement.revocation(at: now) {
        cancellationReason = Self.reason(
          revocation.reason, isSharingWithdrawn: revocation.isSharingWithdrawn)
      }
      end(since: standing.since, at: now)
    }

    private static func reason(_ reason: RevocationReason?, isSharingWithdrawn: Bool) -> String {
      if isSharingWithdrawn { return "System" }
      return reason == .issue ? "Customer.TechnicalIssues" : "Customer.OtherReason"
    }

    private mutating func add(_ transaction: Transaction) {
      transactionId = transaction.transactionId
      purchaseDate = transaction.purchaseDate
      quantity = transaction.quantity
      discountId = transaction.offerIdentifier
      let isRenewal = transaction.expiresDate != nil && transaction.transactionId != purchaseId
      if isRenewal { lastRenewalDate = transaction.purchaseDate }
      guard transaction.expiresDate != nil else { return }
      isTrialPeriod = transaction.offerDiscountType == .freeTrial
      isIntroPeriod = transaction.offerType == .introductory && isTrialPeriod != true
    }

    private mutating func add(_ renewal: JWSRenewalInfo) {
      renews = renewal.autoRenewStatus.map { $0 == .on }
      isInBillingRetry = renewal.isInBillingRetryPeriod
      priceConsentStatus =
        switch renewal.priceIncreaseStatus {
        case .noResponse: "Notified"
        case .consented: "Agreed"
        default: nil
        }
      cancellationReason =
        switch renewal.expirationIntent {
        case .cancelled: "Customer"
        case .billingError: "System.BillingError"
        case .priceIncreaseRefused: "Customer.PriceIncrease"
        case .productUnavailable: "System.ProductUnavailable"
        case .other, .unknown: "Unknown"
        case nil: nil
        }
    }

    // MARK: Google Play

    /// Creates the entries of a purchase that Google Play or the ledger knows, one for each product.
    static func entries(of entitlement: PlayEntitlement, at now: Timestamp) -> [CordovaPurchase] {
      entitlement.items.compactMap { item in
        guard let product = item.productId else { return nil }
        let state = entitlement.state(of: item, at: now)
        var entry = CordovaPurchase(
          id: product, platform: "android-playstore", isExpired: state.status != .active)
        entry.purchaseId = entitlement.id.purchaseToken
        entry.transactionId = item.orderId
        entry.purchaseDate = entitlement.purchase.startTime
        entry.expiryDate = item.expiryTime
        entry.isAcknowledged = entitlement.isAcknowledged
        let remaining = entitlement.remainingQuantity(of: item, at: now)
        entry.quantity = remaining > 0 ? remaining : item.quantity
        entry.discountId = item.offerId
        entry.cancellationReason = entitlement.purchase.cancellation?.cordovaReason
        entry.priceConsentStatus = item.priceConsent.map { $0 == .awaited ? "Notified" : "Agreed" }
        if entitlement.isSubscription {
          entry.renews = item.renews
          entry.isInBillingRetry = state == .onHold || state == .inGracePeriod
          entry.isTrialPeriod = item.offerPhase == .freeTrial
          entry.isIntroPeriod = item.offerPhase == .introductoryPrice
        } else {
          entry.isConsumed = item.isConsumed
        }
        if state == .replaced { entry.cancellationReason = "System.Replaced" }
        entry.end(since: nil, at: now)
        return entry
      }
    }

    /// Creates the entry of a purchase that only its signature vouches for.
    init?(_ purchase: Purchase, signed: GooglePlayPurchase, at now: Timestamp) {
      guard let product = purchase.productId else { return nil }
      self.init(id: product, platform: "android-playstore", isExpired: !purchase.grantsAccess(at: now))
      purchaseId = purchase.purchaseToken
      transactionId = purchase.transactionId
      purchaseDate = purchase.purchaseDate
      isAcknowledged = signed.acknowledged
      renews = signed.autoRenewing
      quantity = signed.quantity
      let standing = purchase.standing(at: now)
      if standing.status == .consumed { isConsumed = true }
      end(since: standing.since, at: now)
    }
  }

  extension PlayCancellation {
    /// The reason in the words of the plugin (`CancelationReason`).
    fileprivate var cordovaReason: String {
      switch self {
      case .customer: "Customer"
      case .notEnoughUsage: "Customer.NotUsefulEnough"
      case .technicalIssues: "Customer.TechnicalIssues"
      case .cost: "Customer.Cost"
      case .foundBetterApp: "Customer.FoundBetterApp"
      case .otherReason: "Customer.OtherReason"
      case .system: "System"
      case .developer: "Developer"
      case .replacement: "System.Replaced"
      case .unknown: "Unknown"
      }
    }
  }
#endif
