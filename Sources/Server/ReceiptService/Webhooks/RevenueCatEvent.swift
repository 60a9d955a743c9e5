// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// A change of an entitlement in the form of RevenueCat's webhooks
  /// (<https://www.revenuecat.com/docs/integrations/webhooks/event-types-and-fields>), for backends that were made for
  /// them.
  ///
  /// What RevenueCat computes and stores do not tell is `null`: prices in US dollars, taxes, commissions.
  struct RevenueCatEvent {
    /// The types of events that changes of entitlements are told as.
    enum Kind: String {
      case initialPurchase = "INITIAL_PURCHASE"
      case nonRenewingPurchase = "NON_RENEWING_PURCHASE"
      case renewal = "RENEWAL"
      case cancellation = "CANCELLATION"
      case uncancellation = "UNCANCELLATION"
      case subscriptionPaused = "SUBSCRIPTION_PAUSED"
      case subscriptionExtended = "SUBSCRIPTION_EXTENDED"
      case billingIssue = "BILLING_ISSUE"
      case productChange = "PRODUCT_CHANGE"
      case expiration = "EXPIRATION"
      case refundReversed = "REFUND_REVERSED"
      case transfer = "TRANSFER"
    }

    private let change: EntitlementChange
    private let kind: Kind
    /// The identifier: that of the change, with a number for events after the first.
    private let id: String
    private let customer: String?
    private let entitlement: JSONValue
    private let previous: JSONValue?
    /// The named entitlements.
    private let names: [String]

    /// Creates the events of a change, in order; none for a change that RevenueCat has no event for.
    static func events(of change: EntitlementChange) -> [RevenueCatEvent] {
      guard let data = (try? JSONValue(parsing: change.body))?["data"], let entitlement = data["entitlement"]
      else { return [] }
      return kinds(of: change.type, entitlement, after: data["previous"]).enumerated().map { index, kind in
        RevenueCatEvent(
          change: change, kind: kind, id: index == 0 ? change.id : "\(change.id)-\(index + 1)",
          customer: data["customer"]?.string, entitlement: entitlement, previous: data["previous"],
          names: data["names"]?.array?.compactMap(\.string) ?? [])
      }
    }

    private init(
      change: EntitlementChange, kind: Kind, id: String, customer: String?, entitlement: JSONValue,
      previous: JSONValue?, names: [String]
    ) {
      self.change = change
      self.kind = kind
      self.id = id
      self.customer = customer
      self.entitlement = entitlement
      self.previous = previous
      self.names = names
    }

    // MARK: The types

    private static func kinds(
      of type: String, _ entitlement: JSONValue, after previous: JSONValue?
    ) -> [Kind] {
      let (state, before) = (entitlement["state"]?.string ?? "", previous?["state"]?.string)
      switch type {
      case "entitlement.granted":
        if before == "refunded" || before == "revoked" { return [.refundReversed] }
        return isSubscription(entitlement) ? [.initialPurchase] : [.nonRenewingPurchase]
      case "entitlement.renewed":
        return isOtherProduct(entitlement, after: previous) ? [.productChange, .renewal] : [.renewal]
      case "entitlement.grace-period": return [.billingIssue, .cancellation]
      case "entitlement.refunded": return [.cancellation]
      case "entitlement.transferred": return [.transfer]
      case "entitlement.expired", "entitlement.revoked":
        switch state {
        // What replaced the purchase is told itself.
        case "replaced": return []
        case "paused": return [.subscriptionPaused, .expiration]
        case "in-billing-retry", "on-hold":
          // A backend withdraws access at the expiration alone.
          return before == "in-grace-period" ? [.expiration] : [.billingIssue, .cancellation, .expiration]
        default: return [.expiration]
        }
      case "entitlement.updated": return previous.map { update(of: entitlement, after: $0) } ?? []
      default: return []
      }
    }

    private static func update(of entitlement: JSONValue, after previous: JSONValue) -> [Kind] {
      func isChanged(_ member: String) -> Bool { previous[member] != entitlement[member] }
      if isOtherProduct(entitlement, after: previous) { return [.productChange, .renewal] }
      if isChanged("renews"), let renews = entitlement["renews"] {
        return renews == .bool(true) ? [.uncancellation] : [.cancellation]
      }
      if isChanged("renewalProductId"), entitlement["renewalProductId"] != nil { return [.productChange] }
      let isLater = (entitlement["expiresDate"]?.string ?? "") > (previous["expiresDate"]?.string ?? "")
      return isLater && entitlement["grantsAccess"] == .bool(true) ? [.subscriptionExtended] : []
    }

    /// Returns `true` if an original transaction of the App Store goes on with another product.
    private static func isOtherProduct(_ entitlement: JSONValue, after previous: JSONValue?) -> Bool {
      guard entitlement["grantsAccess"] == .bool(true), let product = previous?["productId"]?.string,
        let now = entitlement["productId"]?.string
      else { return false }
      return product != now
    }

    private static func isSubscription(_ entitlement: JSONValue) -> Bool {
      entitlement["isSubscription"] == .bool(true)
        || entitlement["productType"]?.string == "Auto-Renewable Subscription"
    }

    // MARK: The members

    private var isOtherProduct: Bool { Self.isOtherProduct(entitlement, after: previous) }

    /// `true` for a grant by hand, which RevenueCat calls a promotional purchase.
    private var isGrant: Bool { entitlement["grantId"] != nil }

    private var isGooglePlay: Bool { entitlement["purchaseToken"] != nil }

    private var lineItem: JSONValue? { entitlement["lineItems"]?.array?.first }

    private var productId: String? {
      if kind == .productChange, isOtherProduct { return previous?["productId"]?.string }
      if isGrant { return entitlement["entitlement"]?.string.map { "rc_promo_\($0)" } }
      guard isGooglePlay else { return entitlement["productId"]?.string }
      guard let product = lineItem?["productId"]?.string else { return nil }
      return lineItem?["basePlanId"]?.string.map { "\(product):\($0)" } ?? product
    }

    private var isTest: Bool {
      guard !isGrant else { return false }
      guard !isGooglePlay else { return entitlement["isTest"] == .bool(true) }
      return entitlement["environment"]?.string?.lowercased() != "production"
    }

    private var originalTransaction: String? {
      entitlement["originalTransactionId"]?.string ?? entitlement["grantId"]?.string
        ?? entitlement["orderId"]?.string.map { order in
          order.firstRange(of: "..").map { String(order[..<$0.lowerBound]) } ?? order
        }
    }

    private func milliseconds(_ member: String) -> Int64? {
      entitlement[member]?.string.flatMap { Timestamp(iso8601: Array($0.utf8).span) }?.milliseconds
    }

    private static func period(_ value: JSONValue?) -> String {
      switch value?["period"]?.string {
      case "trial": "TRIAL"
      case "introductory": "INTRO"
      case "promotional": "PROMOTIONAL"
      case "prepaid": "PREPAID"
      default: "NORMAL"
      }
    }

    /// The reason of a cancellation or an expiration, as far as the store told.
    private var reason: String {
      if kind == .cancellation, change.type == "entitlement.refunded" { return "CUSTOMER_SUPPORT" }
      switch entitlement["state"]?.string {
      case "withdrawn": return "DEVELOPER_INITIATED"
      case "paused": return "SUBSCRIPTION_PAUSED"
      case "in-grace-period", "in-billing-retry", "on-hold": return "BILLING_ERROR"
      default: break
      }
      switch entitlement["cancellation"]?.string {
      case "developer": return "DEVELOPER_INITIATED"
      case "system": return "BILLING_ERROR"
      case "replacement": return "UNKNOWN"
      case .some: return "UNSUBSCRIBE"
      case nil: break
      }
      switch entitlement["expirationIntent"]?.int64 {
      case 1: return "UNSUBSCRIBE"
      case 2: return "BILLING_ERROR"
      case 3: return "PRICE_INCREASE"
      case .some: return "UNKNOWN"
      case nil: return entitlement["renews"] == .bool(false) ? "UNSUBSCRIBE" : "UNKNOWN"
      }
    }

    /// The price that was paid, or was given back; `nil` if the store does not tell.
    private var price: JSONNumber? {
      switch kind {
      case .initialPurchase, .nonRenewingPurchase, .renewal, .refundReversed:
        if isGrant { return JSONNumber(0) }
        return entitlement["price"]?.int64.flatMap { JSONNumber(Double($0) / 1000) }
      case .cancellation where change.type == "entitlement.refunded":
        return entitlement["price"]?.int64.flatMap { JSONNumber(-Double($0) / 1000) }
      case .cancellation, .uncancellation, .subscriptionPaused, .subscriptionExtended, .billingIssue,
        .productChange, .expiration, .transfer:
        return JSONNumber(0)
      }
    }

    var json: JSONWriter {
      var json = JSONWriter()
      json.beginObject()
      json.member("api_version", "1.0")
      json.name("event")
      json.beginObject()
      json.member("type", kind.rawValue)
      json.member("id", id)
      json.member("app_id", change.app)
      json.member("event_timestamp_ms", change.time.milliseconds)
      json.member("store", isGrant ? "PROMOTIONAL" : isGooglePlay ? "PLAY_STORE" : "APP_STORE")
      json.member("environment", isTest ? "SANDBOX" : "PRODUCTION")
      if kind == .transfer {
        json.member("transferred_from", [previous?["customer"]?.string].compactMap(\.self))
        json.member("transferred_to", [customer].compactMap(\.self))
      } else {
        writePurchase(to: &json)
      }
      json.endObject()
      json.endObject()
      return json
    }

    private func writePurchase(to json: inout JSONWriter) {
      // A backend finds its user by this name; where the purchase names none, it has that of the purchase.
      let user = customer ?? originalTransaction
      json.member("app_user_id", user)
      json.member("original_app_user_id", user)
      json.member("aliases", [user].compactMap(\.self))
      json.name("subscriber_attributes")
      json.beginObject()
      json.endObject()
      json.orNull("product_id", productId)
      json.null("entitlement_id")
      json.name("entitlement_ids")
      json.value(names.isEmpty ? .null : .array(names.map { .string($0) }))
      json.member("period_type", isGrant ? "PROMOTIONAL" : Self.period(entitlement))
      json.orNull("purchased_at_ms", milliseconds(isGrant ? "grantedDate" : "purchaseDate"))
      json.orNull("expiration_at_ms", milliseconds("expiresDate"))
      if kind == .billingIssue {
        // Google Play moves the expiry to the end of the grace period.
        let isInGracePeriod = isGooglePlay && entitlement["grantsAccess"] == .bool(true)
        json.orNull(
          "grace_period_expiration_at_ms",
          milliseconds(isInGracePeriod ? "expiresDate" : "gracePeriodExpiresDate"))
      }
      if kind == .subscriptionPaused { json.orNull("auto_resume_at_ms", milliseconds("autoResumeDate")) }
      if kind == .renewal {
        json.member(
          "is_trial_conversion", Self.period(previous) == "TRIAL" && Self.period(entitlement) != "TRIAL")
      }
      if kind == .cancellation { json.member("cancel_reason", reason) }
      if kind == .expiration { json.member("expiration_reason", reason) }
      if kind == .productChange {
        json.member(
          "new_product_id", entitlement[isOtherProduct ? "productId" : "renewalProductId"]?.string)
      }
      let currency = entitlement["currency"]?.string
      json.orNull("price", currency == "USD" || price == JSONNumber(0) ? price : nil)
      json.orNull("price_in_purchased_currency", price)
      json.orNull("currency", currency)
      for name in ["tax_percentage", "commission_percentage", "takehome_percentage"] {
        json.null(name)
      }
      json.orNull(
        "transaction_id",
        entitlement["transactionId"]?.string ?? entitlement["orderId"]?.string
          ?? entitlement["grantId"]?.string)
      json.orNull("original_transaction_id", originalTransaction)
      let ownership = entitlement["inAppOwnershipType"]?.string
      json.member("is_family_share", ownership == "FAMILY_SHARED" || ownership == "ASSIGNED")
      json.null("country_code")
      json.orNull("offer_code", entitlement["offerIdentifier"]?.string ?? lineItem?["offerId"]?.string)
      json.null("presented_offering_id")
      json.null("renewal_number")
      json.null("metadata")
    }
  }

  extension JSONWriter {
    fileprivate mutating func null(_ name: String) {
      self.name(name)
      null()
    }

    fileprivate mutating func orNull(_ name: String, _ value: String?) {
      if let value { return member(name, value) }
      null(name)
    }

    fileprivate mutating func orNull(_ name: String, _ value: Int64?) {
      if let value { return member(name, value) }
      null(name)
    }

    fileprivate mutating func orNull(_ name: String, _ value: JSONNumber?) {
      self.name(name)
      self.value(value.map { .number($0) } ?? .null)
    }
  }
#endif
