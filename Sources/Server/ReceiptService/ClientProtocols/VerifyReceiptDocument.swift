// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// A verified receipt in the form in which Apple's `verifyReceipt` answers it, with what the ledger knows beside it.
  ///
  /// Purchases have texts alone; the receipt around them has numbers for identifiers.
  struct VerifyReceiptDocument {
    let receipt: VerifiedReceipt
    let lines: [ReceiptLine]
    let now: Timestamp
    /// What the ledger knows to be revoked, by transaction.
    private let revocations: [String: Entitlement.Revocation]

    init(_ receipt: VerifiedReceipt, _ ledger: EntitlementLedger, at now: Timestamp) {
      self.receipt = receipt
      lines = ledger.appStoreLines(of: receipt)
      self.now = now
      revocations = Dictionary(
        lines.compactMap(\.entitlement).compactMap { known in
          known.revocation(at: now).flatMap { revocation in known.transactionId.map { ($0, revocation) } }
        }
      ) { first, _ in first }
    }

    /// `true` if the receipt has a subscription; only then it has renewals.
    var hasSubscriptions: Bool {
      receipt.purchases.contains { purchase in
        purchase.expiresDate != nil || purchase.inApp?.webOrderLineItemId.map { $0 != 0 } ?? false
      }
    }

    // MARK: The receipt

    /// Writes the members of `receipt` for an app receipt.
    func writeMembers(of payload: AppReceiptPayload, to json: inout JSONWriter) {
      let isProduction = payload.environment?.category == .production
      json.member("receipt_type", payload.environment?.rawValue)
      json.member("adam_id", payload.appAppleId ?? 0)
      json.member("app_item_id", payload.appAppleId ?? 0)
      json.member("bundle_id", payload.bundleId)
      json.member("application_version", payload.applicationVersion)
      if let downloadId = payload.downloadId ?? (isProduction ? nil : 0) {
        json.member("download_id", downloadId)
      } else {
        json.name("download_id")
        json.null()
      }
      json.member("version_external_identifier", payload.installerVersion ?? 0)
      json.dates("receipt_creation_date", payload.receiptCreationDate)
      json.dates("request_date", now)
      json.dates("original_purchase_date", payload.originalPurchaseDate)
      json.member("original_application_version", payload.originalApplicationVersion)
      json.dates("preorder_date", payload.preorderDate)
      json.dates("expiration_date", payload.expirationDate)
      json.array("in_app", receipt.purchases) { purchase, json in
        json.beginObject()
        if let inApp = purchase.inApp { write(inApp, of: purchase, to: &json) }
        json.endObject()
      }
    }

    // MARK: Transaction receipts

    /// Writes the members of the answer about a transaction receipt of iOS 6 and before, which has one purchase.
    func writeFlatMembers(to json: inout JSONWriter) {
      guard let line = lines.first else { return }
      let renewed = line.entitlement
      let own = FlatPurchase(receipt, line.latest)
      let expiresDate = renewed.map(\.expiresDate) ?? line.latest.expiresDate
      let isExpired = expiresDate.map { $0 <= now } ?? false
      json.member("status", isExpired ? 21006 : 0)
      if let environment = receipt.environment?.category {
        json.member("environment", environment == .production ? "Production" : "Sandbox")
      }
      json.member("receipt", own)
      guard expiresDate != nil else { return }
      var latest = own
      if let renewed { latest.replace(with: renewed, after: line.latest, at: now) }
      json.member("latest_receipt", Base64.encodeToString(receipt.encoded))
      json.member(isExpired ? "latest_expired_receipt_info" : "latest_receipt_info", latest)
      json.member("auto_renew_status", renewed?.renewalInfo?.autoRenewStatus?.rawValue)
    }

    // MARK: App receipts

    /// Writes the members of a purchase in an app receipt, with a refund that the ledger or a store reported since.
    private func write(
      _ purchase: InAppPurchase, of stated: Purchase, to json: inout JSONWriter
    ) {
      json.text("quantity", purchase.quantity ?? 1)
      json.member("product_id", purchase.productId)
      json.member("transaction_id", purchase.transactionId)
      json.member("original_transaction_id", purchase.originalTransactionId)
      json.dates("purchase_date", purchase.purchaseDate)
      json.dates("original_purchase_date", purchase.originalPurchaseDate)
      json.dates("expires_date", purchase.expiresDate)
      json.text("web_order_line_item_id", purchase.webOrderLineItemId.flatMap { $0 == 0 ? nil : $0 })
      json.text("is_trial_period", purchase.isTrialPeriod ?? false)
      json.text("is_in_intro_offer_period", purchase.isInIntroOfferPeriod)
      let revocation = purchase.transactionId.flatMap { revocations[$0] }
      if let date = stated.revocationDate ?? revocation?.date {
        json.dates("cancellation_date", date)
        json.text("cancellation_reason", (purchase.cancellationReason ?? revocation?.reason)?.rawValue)
      }
      json.member("promotional_offer_id", purchase.promotionalOfferId)
    }

    // MARK: Renewals

    /// A purchase for `latest_receipt_info`.
    private struct Row {
      let line: Int
      let purchaseDate: Timestamp?
      let isSubscription: Bool
      let json: JSONWriter
    }

    /// The objects of `latest_receipt_info`: the purchases of the receipt and the ledger's later ones, newest first.
    ///
    /// - Parameter excludesOld: `true` for only the newest of each subscription.
    /// - Returns: The objects.
    func latestReceiptInfo(excludesOld: Bool) -> [JSONWriter] {
      var rows: [Row] = []
      for (index, line) in lines.enumerated() {
        let known = line.entitlement
        if let known { rows.append(row(known, index)) }
        for purchase in line.purchases.reversed()
        where known == nil || purchase.transactionId != known?.transactionId {
          guard let inApp = purchase.inApp else { continue }
          var json = JSONWriter()
          json.beginObject()
          write(inApp, of: purchase, to: &json)
          json.endObject()
          rows.append(
            Row(
              line: index, purchaseDate: purchase.purchaseDate, isSubscription: purchase.expiresDate != nil,
              json: json))
        }
      }
      func date(_ row: Row) -> Double { row.purchaseDate?.millisecondsSince1970 ?? -.infinity }
      rows = rows.enumerated().sorted {
        (date($1.element), $0.offset) < (date($0.element), $1.offset)
      }.map(\.element)
      var seen: Set<Int> = []
      if excludesOld { rows.removeAll { $0.isSubscription && !seen.insert($0.line).inserted } }
      return rows.map(\.json)
    }

    private func row(_ known: Entitlement, _ index: Int) -> Row {
      let transaction = known.transaction
      var json = JSONWriter()
      json.beginObject()
      json.text("quantity", transaction.quantity ?? 1)
      json.member("product_id", transaction.productId)
      json.member("transaction_id", transaction.transactionId)
      json.member("original_transaction_id", transaction.originalTransactionId)
      json.dates("purchase_date", transaction.purchaseDate)
      json.dates("original_purchase_date", transaction.originalPurchaseDate)
      json.dates("expires_date", transaction.expiresDate)
      json.member("web_order_line_item_id", transaction.webOrderLineItemId)
      let isIntroductory = transaction.offerType == .introductory
      let isTrial = isIntroductory && transaction.offerDiscountType == .freeTrial
      json.text("is_trial_period", isTrial)
      if transaction.expiresDate != nil { json.text("is_in_intro_offer_period", isIntroductory && !isTrial) }
      if let revocation = known.revocation(at: now) {
        json.dates("cancellation_date", revocation.date)
        json.member("cancellation_reason", revocation.cancellationReason)
      }
      json.member("in_app_ownership_type", transaction.inAppOwnershipType?.rawValue)
      json.member("app_account_token", transaction.appAccountToken?.rawValue)
      offer(transaction.offerType, transaction.offerIdentifier, to: &json)
      json.member("subscription_group_identifier", transaction.subscriptionGroupIdentifier)
      if transaction.isUpgraded == true { json.text("is_upgraded", true) }
      json.endObject()
      return Row(
        line: index, purchaseDate: transaction.purchaseDate, isSubscription: transaction.expiresDate != nil,
        json: json)
    }

    private func offer(_ type: OfferType?, _ identifier: String?, to json: inout JSONWriter) {
      switch type {
      case .promotional: json.member("promotional_offer_id", identifier)
      case .offerCode: json.member("offer_code_ref_name", identifier)
      default: break
      }
    }

    /// The objects of `pending_renewal_info`: one for each subscription whose renewal information the ledger has.
    func pendingRenewalInfo() -> [JSONWriter] {
      lines.compactMap { line in
        guard let renewal = line.entitlement?.renewalInfo else { return nil }
        var json = JSONWriter()
        json.beginObject()
        json.member("auto_renew_product_id", renewal.autoRenewProductId)
        json.member("product_id", renewal.productId ?? line.entitlement?.productId)
        json.member("original_transaction_id", renewal.originalTransactionId)
        json.text("auto_renew_status", renewal.autoRenewStatus?.rawValue)
        json.text("expiration_intent", renewal.expirationIntent?.rawValue)
        json.text("is_in_billing_retry_period", renewal.isInBillingRetryPeriod.map { $0 ? 1 : 0 })
        json.dates("grace_period_expires_date", renewal.gracePeriodExpiresDate)
        json.text("price_consent_status", renewal.priceIncreaseStatus?.rawValue)
        json.text("price_increase_status", renewal.priceIncreaseStatus?.rawValue)
        offer(renewal.offerType, renewal.offerIdentifier, to: &json)
        json.endObject()
        return json
      }
    }
  }

  extension Entitlement.Revocation {
    /// `cancellation_reason`: 1 for an issue within the app, else 0.
    fileprivate var cancellationReason: String { reason == .issue ? "1" : "0" }
  }

  /// A purchase as `verifyReceipt` answers it for a transaction receipt: the signed entries, with other names.
  private struct FlatPurchase: JSONWritable {
    private var members: [(name: String, value: String)]

    init(_ receipt: VerifiedReceipt, _ purchase: Purchase) {
      let signed = (try? PropertyList(parsing: Array(receipt.signedContent.dropFirst())))?.entries ?? []
      members = signed.map { (name: $0.key.replacing("-", with: "_"), value: $0.value) }
      // Old receipts have some of the forms of a date alone.
      set("purchase_date", purchase.purchaseDate, onlyIfMissing: true)
      set("original_purchase_date", purchase.originalPurchaseDate, onlyIfMissing: true)
      setExpiry(purchase.expiresDate, onlyIfMissing: true)
    }

    /// Replaces the receipt's statements by those of a ledger.
    mutating func replace(with known: Entitlement, after purchase: Purchase, at now: Timestamp) {
      let transaction = known.transaction
      if transaction.transactionId != purchase.transactionId {
        set("transaction_id", transaction.transactionId)
        set("product_id", transaction.productId)
        set("web_order_line_item_id", transaction.webOrderLineItemId)
        set("purchase_date", transaction.purchaseDate)
        setExpiry(transaction.expiresDate)
      }
      if let revocation = known.revocation(at: now) {
        set("cancellation_date", revocation.date)
        set("cancellation_reason", revocation.cancellationReason)
      }
    }

    private mutating func set(_ name: String, _ value: String?, onlyIfMissing: Bool = false) {
      guard let value else { return }
      if let index = members.firstIndex(where: { $0.name == name }) {
        if !onlyIfMissing { members[index].value = value }
      } else {
        members.append((name, value))
      }
    }

    private mutating func set(_ name: String, _ date: Timestamp?, onlyIfMissing: Bool = false) {
      guard let date = date.map(VerifyReceiptDate.init(date:)) else { return }
      set(name, date.gmt, onlyIfMissing: onlyIfMissing)
      set("\(name)_ms", date.milliseconds, onlyIfMissing: onlyIfMissing)
      set("\(name)_pst", date.pacific, onlyIfMissing: onlyIfMissing)
    }

    private mutating func setExpiry(_ date: Timestamp?, onlyIfMissing: Bool = false) {
      guard let date = date.map(VerifyReceiptDate.init(date:)) else { return }
      set("expires_date", date.milliseconds, onlyIfMissing: onlyIfMissing)
      set("expires_date_formatted", date.gmt, onlyIfMissing: onlyIfMissing)
      set("expires_date_formatted_pst", date.pacific, onlyIfMissing: onlyIfMissing)
    }

    func write(to json: inout JSONWriter) {
      json.beginObject()
      for member in members { json.member(member.name, member.value) }
      json.endObject()
    }
  }
#endif
