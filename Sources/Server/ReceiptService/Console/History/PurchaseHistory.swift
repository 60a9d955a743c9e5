// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// The life of purchases by the store's time, from all that this server knows: the ledger, its changes, and the audit
  /// trail.
  ///
  /// The ledger keeps only the latest transaction of each purchase, and its changes tell when this server learned of
  /// something. What happened earlier, or was told in another order, is in the notifications of the trail.
  ///
  /// Each event has a key. The sources state the same event, each with its own details.
  struct PurchaseHistory {
    /// The events, oldest first.
    private(set) var events: [PurchaseEvent] = []
    private(set) var periods: [AccessPeriod] = []
    /// The identifiers of the purchases that have a page.
    let knownPurchases: Set<String>

    private var collected: [String: PurchaseEvent] = [:]
    private var order: [String] = []
    private var periodsByKey: [String: AccessPeriod] = [:]
    /// Subscriptions that gave access when they were evaluated last, such as in a grace period.
    private var current: Set<String> = []
    private let customer: String?
    private let hasTrail: Bool

    /// The maximum number of transactions of one app receipt, which can have thousands.
    private static let maximumTransactionCount = 200

    /// - Parameters:
    ///   - stored: The purchases, grants and refund reviews.
    ///   - changes: Their changes, as far as they are kept.
    ///   - entries: The entries of the audit trail about them, each with its erasable part; `nil` without a trail.
    ///   - customer: The customer whose history it is; `nil` for that of a purchase.
    ///   - now: The current time.
    init(
      of stored: [StoredEntitlement], changes: [EntitlementChange],
      entries: [(recorded: RecordedEntry, part: ErasablePart?)]?, customer: String? = nil, at now: Timestamp
    ) {
      self.customer = customer
      hasTrail = entries != nil
      knownPurchases = Set(stored.filter { $0.refundReview == nil }.map(\.identifier))
      for (recorded, part) in entries ?? [] { add(recorded, part) }
      for change in changes { add(change) }
      for entitlement in stored { add(entitlement.ledger, at: now) }
      addExpiries(at: now)
      periods = periodsByKey.values.sorted { ($0.start, $0.purchase) < ($1.start, $1.purchase) }
      let places = Dictionary(uniqueKeysWithValues: zip(order, order.indices))
      events = collected.sorted {
        ($0.value.time.millisecondsSince1970, places[$0.key] ?? 0)
          < ($1.value.time.millisecondsSince1970, places[$1.key] ?? 0)
      }.map(\.value)
    }

    /// Returns `true` if a purchase has a page to link to.
    func hasPage(_ purchase: String) -> Bool {
      knownPurchases.contains(purchase) && purchase.utf8.count <= ConsoleURL.longestIdentifier
    }

    // MARK: Events

    /// Adds what a source states of an event, whose key is the same in all sources.
    ///
    /// The store's time is `nil` if the source does not state it. This server learned of the event at the time `heard`.
    private mutating func add(
      _ key: String, _ what: String, _ style: String = "", at time: Timestamp?, heard: Timestamp? = nil,
      product: String? = nil, purchase: String? = nil, entry: UInt64? = nil
    ) {
      guard let shown = time ?? heard else { return }
      guard var known = collected[key] else {
        order.append(key)
        collected[key] = PurchaseEvent(
          time: shown, isTimeOfArrival: time == nil, heard: heard, what: what, style: style,
          product: product, purchase: purchase, entry: entry)
        return
      }
      if known.isTimeOfArrival, let time { (known.time, known.isTimeOfArrival) = (time, false) }
      known.heard = [known.heard, heard].compactMap(\.self).min()
      known.product = known.product ?? product
      known.purchase = known.purchase ?? purchase
      known.entry = known.entry ?? entry
      if precision(of: what) > precision(of: known.what) { known.what = what }
      collected[key] = known
    }

    /// Sources that know less have more general words for the same event.
    private func precision(of what: String) -> Int {
      switch what {
      case "First bought": 0
      case "Bought", "Renewed", "Restored": 1
      default: 2
      }
    }

    private mutating func add(
      _ transaction: Transaction, signed: Timestamp?, heard: Timestamp? = nil, entry: UInt64? = nil,
      what: String? = nil
    ) {
      guard let id = transaction.transactionId else { return }
      let purchase = transaction.purchaseToken ?? transaction.originalTransactionId ?? id
      let isFirst = transaction.purchaseToken != nil || purchase == id
      let isSubscription = transaction.type == .autoRenewableSubscription
      add(
        "bought \(id)", what ?? (isFirst ? "Bought" : isSubscription ? "Renewed" : "Restored"), "good",
        at: transaction.purchaseDate, heard: heard, product: transaction.productId, purchase: purchase,
        entry: entry)
      if !isFirst, let first = transaction.originalPurchaseDate, first != transaction.purchaseDate {
        add("bought \(purchase)", "First bought", "good", at: first, purchase: purchase)
      }
      if let date = transaction.revocationDate {
        add(
          "taken back \(id)",
          transaction.inAppOwnershipType == .familyShared ? "No longer shared" : "Refunded",
          "bad", at: date, heard: heard, product: transaction.productId, purchase: purchase, entry: entry)
      }
      guard let start = transaction.purchaseDate, let product = transaction.productId,
        transaction.expiresDate != nil || transaction.type == .nonConsumable
      else { return }
      let known = periodsByKey[id]
      guard
        (known?.signed?.millisecondsSince1970 ?? -.infinity) <= (signed?.millisecondsSince1970 ?? -.infinity)
      else { return }
      periodsByKey[id] = AccessPeriod(
        product: product, purchase: purchase, start: start, end: transaction.expiresDate,
        takenBack: transaction.revocationDate, signed: signed, renews: isSubscription)
    }

    // MARK: The audit trail

    private mutating func add(_ recorded: RecordedEntry, _ part: ErasablePart?) {
      let entry = recorded.entry
      // Only an entry of a receipt whose signature was found valid states a format. The trail has compared the receipt
      // with the commitment in the entry.
      guard entry.kind == .verdict, entry.format != nil else { return }
      let heard = Timestamp(milliseconds: entry.time)
      guard let bytes = part?.receipt, let receipt = try? UnverifiedReceipt(parsing: bytes) else {
        // The receipt was erased, or was not kept.
        if let type = entry.notification {
          add(
            "entry \(recorded.index)", Self.name(NotificationType(rawValue: type), entry.subtype), at: nil,
            heard: heard, product: entry.product, purchase: entry.original, entry: recorded.index)
        }
        return
      }
      switch receipt {
      case .jws(let jws):
        guard let content = try? jws.decoded().content else { return }
        if case .notification(let notification) = content {
          add(notification, heard: heard, entry: recorded.index)
        } else {
          for transaction in content.transactions {
            add(transaction, signed: content.signedDate, heard: heard, entry: recorded.index)
          }
        }
      case .appReceipt(let receipt):
        guard let content = try? receipt.decoded().content else { return }
        for transaction in content.transactions.prefix(Self.maximumTransactionCount) {
          add(transaction, signed: content.receiptCreationDate, heard: heard, entry: recorded.index)
        }
      case .transactionReceipt(let receipt):
        guard let content = try? receipt.decoded().content else { return }
        add(content.transaction, signed: content.purchaseDate, heard: heard, entry: recorded.index)
      case .detached: break
      }
    }

    private mutating func add(
      _ notification: ReceiptCodec.Notification, heard: Timestamp, entry: UInt64
    ) {
      let signed = notification.signedDate
      let type = notification.notificationType ?? .unknown("")
      let part = (notification.data?.signedTransactionInfo).flatMap {
        try? UnverifiedJWS(parsing: Array($0.utf8)).decoded().content
      }
      let transaction = part?.transactions.first
      let (id, product) = (transaction?.transactionId, transaction?.productId)
      let purchase = transaction?.originalTransactionId ?? id
      func add(_ key: String, _ what: String, _ style: String, at time: Timestamp?) {
        self.add(
          key, what, style, at: time, heard: heard, product: product, purchase: purchase, entry: entry)
      }
      switch type {
      case .subscribed, .didRenew, .oneTimeCharge, .offerRedeemed:
        guard let transaction else { break }
        let what: String? =
          switch (type, notification.subtype) {
          case (.subscribed, .resubscribe): "Subscribed again"
          case (.subscribed, _): "Subscribed"
          case (.offerRedeemed, _): "Redeemed an offer"
          default: nil
          }
        self.add(
          transaction, signed: part?.signedDate ?? signed, heard: heard, entry: entry, what: what)
        return
      case .refund:
        add("taken back \(id ?? "")", "Refunded", "bad", at: transaction?.revocationDate ?? signed)
      case .revoke:
        add("taken back \(id ?? "")", "No longer shared", "bad", at: transaction?.revocationDate ?? signed)
      case .expired, .gracePeriodExpired:
        if type == .expired, let end = transaction?.expiresDate {
          add(Self.expiryKey(purchase, end), "Expired", "bad", at: end)
        } else {
          add("notice \(entry)", Self.name(type, notification.subtype?.rawValue), "bad", at: signed)
        }
      case .consumptionRequest: add("asked \(id ?? "")", "Refund asked for", "doubtful", at: signed)
      case .refundDeclined: add("declined \(id ?? "")", "Refund declined", "", at: signed)
      case .refundReversed: add("reversed \(id ?? "")", "Refund taken back", "good", at: signed)
      default:
        let isProblem = type == .didFailToRenew || notification.subtype == .autoRenewDisabled
        add(
          "notice \(entry)", Self.name(type, notification.subtype?.rawValue), isProblem ? "doubtful" : "",
          at: signed)
      }
      // A notification states what the purchase has become, and does not always say when that happened.
      if let transaction { self.add(transaction, signed: part?.signedDate ?? signed) }
    }

    /// The name of a notification, in words that a customer would use.
    static func name(_ type: NotificationType, _ subtype: String?) -> String {
      switch (type, subtype.map { NotificationSubtype(rawValue: $0) }) {
      case (.didChangeRenewalStatus, .autoRenewDisabled): "Renewal switched off"
      case (.didChangeRenewalStatus, .autoRenewEnabled): "Renewal switched on"
      case (.didChangeRenewalPref, _): "Chose another product"
      case (.didFailToRenew, .gracePeriod): "Charge failed, grace period"
      case (.didFailToRenew, _): "Charge failed"
      case (.gracePeriodExpired, _): "Grace period ended"
      case (.priceIncrease, _): "Told of a higher price"
      case (.renewalExtended, _): "Renewal extended"
      case (.rescindConsent, _): "Guardian withdrew consent"
      case (.subscribed, .resubscribe): "Subscribed again"
      case (.subscribed, _): "Subscribed"
      case (.didRenew, _): "Renewed"
      case (.expired, _): "Expired"
      case (.oneTimeCharge, _): "Bought"
      case (.offerRedeemed, _): "Redeemed an offer"
      case (.refund, _): "Refunded"
      case (.refundDeclined, _): "Refund declined"
      case (.refundReversed, _): "Refund taken back"
      case (.consumptionRequest, _): "Refund asked for"
      case (.revoke, _): "No longer shared"
      default: [type.rawValue, subtype].compactMap(\.self).joined(separator: " ")
      }
    }

    // MARK: Changes

    private mutating func add(_ change: EntitlementChange) {
      guard let body = try? JSONValue(parsing: change.body), let now = body["data"]?["entitlement"] else {
        return
      }
      let kind = ChangeKind(rawValue: change.type)
      func text(_ name: String) -> String? { now[name]?.string }
      func date(_ value: JSONValue?) -> Timestamp? { value?.string.flatMap { try? Timestamp(iso8601: $0) } }
      let purchase = text("originalTransactionId") ?? text("purchaseToken")
      let product = text("productId") ?? now["productIds"]?.array?.first?.string
      if kind == .transferred {
        let hasCome = customer.map { $0 == change.customer }
        add(
          "change \(change.sequence)",
          hasCome.map { $0 ? "Came from another customer" : "Moved to another customer" }
            ?? "Moved to another customer", "doubtful", at: change.time, heard: change.time, product: product,
          purchase: purchase)
      }
      if kind == .consentRescinded, !hasTrail {
        add(
          "change \(change.sequence)", "Guardian withdrew consent", "doubtful", at: nil, heard: change.time)
      }
      // Grants and refund reviews are in the ledger with all their dates.
      guard let purchase, text("refundReviewId") == nil else { return }
      if let token = text("purchaseToken") {
        addPlay(
          change, kind, token, product, previousEnd: date(body["data"]?["previous"]?["expiresDate"]), now)
        return
      }
      var transaction = Transaction()
      transaction.transactionId = text("transactionId")
      transaction.originalTransactionId = purchase
      transaction.productId = product
      transaction.purchaseDate = date(now["purchaseDate"])
      transaction.originalPurchaseDate = date(now["originalPurchaseDate"])
      transaction.expiresDate = date(now["expiresDate"])
      transaction.revocationDate = date(now["revocationDate"])
      transaction.type = text("productType").map { ProductType(rawValue: $0) }
      transaction.inAppOwnershipType = text("inAppOwnershipType").map { InAppOwnershipType(rawValue: $0) }
      // An older version never replaces one that the store signed.
      add(transaction, signed: nil, heard: change.time)
      guard !hasTrail else { return }
      addRenewal(change, body, purchase, product)
      if kind == .gracePeriod {
        add(
          "change \(change.sequence)", "Charge failed, grace period", "doubtful",
          at: transaction.expiresDate, heard: change.time, product: product, purchase: purchase)
      }
    }

    /// Adds that the customer switched the renewal on or off.
    private mutating func addRenewal(
      _ change: EntitlementChange, _ body: JSONValue, _ purchase: String, _ product: String?
    ) {
      let renews = body["data"]?["entitlement"]?["renews"]
      guard let old = body["data"]?["previous"]?["renews"], let renews, old != renews else { return }
      add(
        "change \(change.sequence)",
        renews == .bool(true) ? "Renewal switched on" : "Renewal switched off",
        renews == .bool(true) ? "" : "doubtful", at: nil, heard: change.time, product: product,
        purchase: purchase)
    }

    private mutating func addPlay(
      _ change: EntitlementChange, _ kind: ChangeKind?, _ token: String, _ product: String?,
      previousEnd: Timestamp?, _ now: JSONValue
    ) {
      func date(_ value: JSONValue?) -> Timestamp? { value?.string.flatMap { try? Timestamp(iso8601: $0) } }
      func add(_ key: String, _ what: String, _ style: String, at time: Timestamp?) {
        self.add(
          key, what, style, at: time, heard: change.time, product: product, purchase: token)
      }
      let order = now["orderId"]?.string ?? token
      let end = date(now["expiresDate"])
      switch kind {
      case .granted: add("bought \(token)", "Bought", "good", at: date(now["purchaseDate"]))
      case .renewed:
        add("bought \(order)", "Renewed", "good", at: previousEnd.flatMap { $0 <= change.time ? $0 : nil })
      case .refunded, .revoked:
        let dates = now["lineItems"]?.array?.compactMap { date($0["revocationDate"]) } ?? []
        add("taken back \(order)", kind == .refunded ? "Refunded" : "Revoked", "bad", at: dates.max())
      case .expired:
        add(
          Self.expiryKey(token, end ?? change.time), "Expired", "bad",
          at: end.flatMap { $0 <= change.time ? $0 : nil })
      case .gracePeriod:
        add("change \(change.sequence)", "Charge failed, grace period", "doubtful", at: previousEnd)
      case .updated:
        if now["state"]?.string == "consumed" {
          add("consumed \(token)", "Consumed", "", at: nil)
        } else if let body = try? JSONValue(parsing: change.body) {
          addRenewal(change, body, token, product)
        }
      default: break
      }
    }

    // MARK: The ledger

    private mutating func add(_ ledger: EntitlementLedger, at now: Timestamp) {
      for entitlement in ledger.entitlements {
        if entitlement.grantsAccess(at: now) { current.insert(entitlement.originalTransactionId) }
        add(entitlement.transaction.transaction, signed: entitlement.transaction.signedDate)
      }
      for purchase in ledger.playEntitlements {
        let token = purchase.id.purchaseToken
        if purchase.grantsAccess(at: now) { current.insert(token) }
        for bought in purchase.purchases(.ledger) {
          add(
            "bought \(token)", "Bought", "good", at: bought.purchaseDate, product: bought.productId,
            purchase: token)
          if let date = bought.revocationDate {
            add(
              "taken back \(bought.transactionId ?? token)", "Refunded", "bad", at: date,
              product: bought.productId, purchase: token)
          }
          guard let start = bought.purchaseDate, let product = bought.productId, let end = bought.expiresDate
          else { continue }
          periodsByKey["\(token) \(product)"] = AccessPeriod(
            product: product, purchase: token, start: start, end: end, takenBack: bought.revocationDate,
            signed: nil, renews: true)
        }
      }
      for grant in ledger.entitlementGrants { add(grant, at: now) }
      for review in ledger.refundReviews { add(review) }
    }

    private mutating func add(_ grant: EntitlementGrant, at now: Timestamp) {
      let id = grant.id.identifier
      let product = "\(grant.entitlement) (by hand)"
      add(
        "granted \(id)", "Granted by hand", "good", at: grant.grantedDate, heard: grant.grantedDate,
        product: product, purchase: id)
      if let date = grant.withdrawnDate {
        add(
          "withdrawn \(id)", "Grant withdrawn", "bad", at: date, heard: date, product: product, purchase: id)
      }
      periodsByKey[id] = AccessPeriod(
        product: product, purchase: id, start: grant.grantedDate, end: grant.expiresDate,
        takenBack: grant.withdrawnDate, signed: nil, renews: true)
      if grant.grantsAccess(at: now) { current.insert(id) }
    }

    private mutating func add(_ review: RefundReview) {
      let id = review.id.identifier
      func add(_ key: String, _ what: String, _ style: String, at time: Timestamp?) {
        self.add(
          "\(key) \(id)", what, style, at: time, product: review.productId, purchase: review.request.purchase)
      }
      add("asked", "Refund asked for", "doubtful", at: review.requestedDate)
      if let sent = review.currentAnswer?.sentDate {
        add(
          "answered", review.currentAnswer?.body == nil ? "Not answered, by choice" : "Store answered", "",
          at: sent)
      }
      switch review.outcome?.outcome {
      case "declined": add("declined", "Refund declined", "", at: review.outcome?.date)
      case "reversed": add("reversed", "Refund taken back", "good", at: review.outcome?.date)
      default: break
      }
    }

    // MARK: Expiry

    private static func expiryKey(_ purchase: String?, _ end: Timestamp) -> String {
      "expired \(purchase ?? "") \(end.milliseconds)"
    }

    /// Adds the ends of paid periods after which no other period of the same purchase began.
    ///
    /// No store sends a notification of each of them.
    private mutating func addExpiries(at now: Timestamp) {
      let all = Dictionary(grouping: periodsByKey.values.filter(\.renews), by: \.purchase)
      for (purchase, periods) in all {
        for period in periods {
          guard let end = period.end, end <= now, period.takenBack.map({ $0 > end }) ?? true else { continue }
          // The store charges up to a day before the end of a period.
          let isFollowed = periods.contains { next in
            guard let otherEnd = next.end else { return true }
            return otherEnd > end && next.start <= end.addingSeconds(60)
          }
          let isLatest = !periods.contains { ($0.end ?? end) > end }
          guard !isFollowed, !(isLatest && current.contains(purchase)) else { continue }
          add(
            Self.expiryKey(purchase, end), "Expired", "bad", at: end, product: period.product,
            purchase: purchase)
        }
      }
    }
  }
#endif
