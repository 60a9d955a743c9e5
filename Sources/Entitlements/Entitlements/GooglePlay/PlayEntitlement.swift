// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

extension PlayEntitlement {
  /// The identifier of the purchase.
  public struct ID: Sendable, Hashable {
    /// The app.
    public let packageName: String
    /// The purchase token; a purchase that replaces this one has another token.
    public let purchaseToken: String

    /// Creates an identifier; `nil` unless both are visible ASCII characters, the name 1 to 256 and the token 1 to
    /// 2048.
    public init?(packageName: String, purchaseToken: String) {
      guard packageName.isIdentifier(1...256), purchaseToken.isIdentifier(1...2048) else { return nil }
      self.packageName = packageName
      self.purchaseToken = purchaseToken
    }
  }

  /// Creates an entitlement; `nil` until Google Play was asked about the purchase.
  init?(_ id: ID, _ line: PlayPurchaseLine) {
    guard let purchase = line.purchase else { return nil }
    let items = line.items(of: purchase)
    let voids = items.owned.map(\.voided)
    self.init(
      id: id, items: items,
      voided: voids.contains(nil) ? nil : voids.compactMap(\.self).max { $0.date < $1.date },
      purchase: purchase, account: line.account, replaced: line.replaced,
      // A later answer shows that the token is known again.
      goneDate: line.gone.flatMap { $0.asOf >= purchase.asOf ? $0.asOf : nil })
  }
}

extension PlayEntitlement {
  package var isSubscription: Bool { purchase.isSubscription }
  /// The time at which Google Play was asked for its last answer.
  public var asOf: Timestamp { purchase.asOf }
  /// The latest order.
  public var orderId: String? { purchase.orderId }
  /// The purchase that this one replaced.
  package var linkedPurchaseToken: String? { purchase.linkedPurchaseToken }
  /// The purchase that replaced this one.
  package var replacedByPurchaseToken: String? { replaced?.purchaseToken }
  /// `true` if a licence tester made the purchase, who pays nothing.
  public var isTest: Bool { purchase.isTest ?? false }
  /// `true` if the app acknowledged the purchase; otherwise Google refunds it after three days.
  public var isAcknowledged: Bool { purchase.isAcknowledged ?? false }
  /// The account that the app stated when it started the purchase.
  ///
  /// If the customer subscribed again in the Play app, it is the account of the expired purchase.
  public var obfuscatedAccountId: String? { purchase.accountId ?? account?.accountId }
  /// The profile that the app stated when it started the purchase, or the expired one.
  package var obfuscatedProfileId: String? { purchase.profileId ?? account?.profileId }
}

extension [PlayEntitlement.Item] {
  /// The line items that the customer owns. One without an order, beside others that have one, is to be owned later, as
  /// after a deferred replacement (`latestSuccessfulOrderId`).
  fileprivate var owned: [PlayEntitlement.Item] {
    contains { $0.orderId != nil } ? filter { $0.orderId != nil } : self
  }
}

extension PlayEntitlement.State {
  var grantsAccess: Bool { status == .active }

  package var status: PurchaseStanding.Status {
    switch self {
    case .pending: .pending
    case .active, .inGracePeriod: .active
    case .onHold, .paused, .expired: .expired
    case .consumed: .consumed
    case .cancelled: .revoked
    case .refunded: .refunded
    case .replaced: .upgraded
    case .unknown: .unknown
    }
  }
}

extension PlayEntitlement {
  /// Returns the state at an instant, from all that is known now; expiry follows from the dates of the products.
  ///
  /// It is the state of a line item that gives access. If no line item does, it is that of the one that ended last.
  public func state(at instant: Timestamp) -> State {
    let items = items.owned
    let states = items.map { state(of: $0, at: instant) }
    for state in [State.active, .inGracePeriod] where states.contains(state) { return state }
    guard let other = states.first(where: { $0 != .refunded }) else { return .refunded }
    guard other == .expired, let refunded = lastRefund(at: instant) else { return other }
    return zip(items, states).contains { item, state in
      guard state != .refunded, let expiryTime = item.expiryTime else { return false }
      return refunded < min(expiryTime, goneDate ?? expiryTime)
    } ? .expired : .refunded
  }

  package func state(of item: Item, at instant: Timestamp) -> State {
    if remainingQuantity(of: item, at: instant) == 0 { return .refunded }
    if let replaced, instant >= replaced.date { return .replaced }
    if let goneDate, instant >= goneDate { return .expired }
    guard isSubscription else { return item.isConsumed && productState == .active ? .consumed : productState }
    let isCurrent = item.expiryTime.map { instant < $0 } ?? false
    let isOwned = item.orderId != nil || items.owned.count == items.count
    return switch purchase.state {
    case "SUBSCRIPTION_STATE_ACTIVE" where !isOwned, "SUBSCRIPTION_STATE_CANCELED" where !isOwned,
      "SUBSCRIPTION_STATE_IN_GRACE_PERIOD" where !isOwned:
      .pending
    case "SUBSCRIPTION_STATE_ACTIVE", "SUBSCRIPTION_STATE_CANCELED": isCurrent ? .active : .expired
    case "SUBSCRIPTION_STATE_IN_GRACE_PERIOD": isCurrent ? .inGracePeriod : .expired
    case "SUBSCRIPTION_STATE_ON_HOLD": .onHold
    case "SUBSCRIPTION_STATE_PAUSED": .paused
    case "SUBSCRIPTION_STATE_EXPIRED": .expired
    case "SUBSCRIPTION_STATE_PENDING": .pending
    case "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED": .cancelled
    default: .unknown
    }
  }

  /// Returns the quantity of a line item that is not refunded at an instant, in which Google Play's answer counts from
  /// its time on.
  package func remainingQuantity(of item: Item, at instant: Timestamp) -> Int64 {
    if let voided = item.voided, instant >= voided.date { return 0 }
    // A refund may be contained in both counts, so the lower count is right.
    let refunded = item.partialRefunds.lazy.filter { instant >= $0.date }.reduce(0) { sum, refund in
      sum.addingReportingOverflow(refund.quantity).overflow ? .max : sum + refund.quantity
    }
    let quantity = item.quantity
    let stated = instant >= asOf ? item.refundable ?? quantity : quantity
    return max(0, min(stated, quantity > refunded ? quantity - refunded : 0))
  }

  /// Returns the standing at an instant, in terms that all stores share.
  public func standing(at instant: Timestamp) -> PurchaseStanding { standings.standing(at: instant) }

  private var standings: StandingTimeline {
    StandingTimeline(from: start, due: dueInstants, .ledger) { status(of: state(at: $0)) }
  }

  /// Returns the standing of a state. Google Play has one word for a one-time purchase that was cancelled and for one
  /// that was refunded; one that was paid for was refunded.
  private func status(of state: State) -> PurchaseStanding.Status {
    state == .cancelled && !isSubscription && purchase.startTime != nil ? .refunded : state.status
  }

  /// The instant from which the first known state holds; `nil` if Google Play does not state it.
  private var start: Timestamp? {
    switch purchase.state {
    case "SUBSCRIPTION_STATE_ON_HOLD", "SUBSCRIPTION_STATE_PAUSED": items.compactMap(\.expiryTime).max()
    case "SUBSCRIPTION_STATE_PENDING_PURCHASE_CANCELED", "CANCELLED": nil
    default: purchase.startTime
    }
  }

  /// Returns the products of the purchase as purchases, each with its own standing.
  package func purchases(_ source: PurchaseStanding.Source) -> [Purchase] {
    items.map { item in
      let transaction = Transaction(
        transactionId: item.orderId, productId: item.productId, quantity: item.quantity,
        purchaseDate: purchase.startTime, expiresDate: item.expiryTime, revocationDate: item.voided?.date,
        type: isSubscription ? .autoRenewableSubscription : nil, appAccountToken: obfuscatedAccountId,
        purchaseToken: id.purchaseToken)
      let timeline = StandingTimeline(from: start, due: dueInstants, source) {
        status(of: state(of: item, at: $0))
      }
      return Purchase(transaction, timeline, remaining: remainingQuantity(of: item, at: asOf))
    }
  }

  package func items(at instant: Timestamp) -> [Item] {
    items.filter { state(of: $0, at: instant).grantsAccess }
  }

  private var productState: State {
    switch purchase.state {
    case "PURCHASED": .active
    case "CANCELLED": .cancelled
    case "PENDING": .pending
    default: .unknown
    }
  }

  /// Returns the time at which the last line item was refunded; `nil` if no line item was.
  private func lastRefund(at instant: Timestamp) -> Timestamp? {
    items.owned.filter { state(of: $0, at: instant) == .refunded }
      .compactMap { $0.voided?.date ?? $0.partialRefunds.last?.date ?? asOf }.max()
  }

  /// Returns `true` if the customer may use a product of the purchase at an instant: active or in the grace period.
  ///
  /// For a consumable, `true` means that the purchase is valid; only the app knows the quantity consumed.
  public func grantsAccess(at instant: Timestamp) -> Bool {
    state(at: instant).grantsAccess
  }

  /// Returns the products that the customer may use at an instant.
  public func productIds(at instant: Timestamp) -> [String] { items(at: instant).compactMap(\.productId) }

  /// Returns the line items to report at an instant: those that give access; if no line item does, all of them.
  package func toldItems(at instant: Timestamp) -> [Item] {
    let items = items(at: instant)
    return items.isEmpty ? self.items : items
  }

  /// Returns the order to report at an instant.
  package func orderId(at instant: Timestamp) -> String? {
    let orders = toldItems(at: instant).compactMap(\.orderId)
    return orders.contains { $0 == orderId } ? orderId : orders.first ?? orderId
  }

  /// Returns the time at which the last of the reported products expires or renews.
  package func expiresDate(at instant: Timestamp) -> Timestamp? {
    toldItems(at: instant).compactMap(\.expiryTime).max()
  }

  /// Returns the refunded quantity of the line items that give access at an instant.
  package func refundedQuantity(at instant: Timestamp) -> Int64 {
    items(at: instant).reduce(0) { $0 + max(0, $1.quantity - remainingQuantity(of: $1, at: instant)) }
  }

  /// Returns the next instant at which the state, the usable products or their quantities change without news from the
  /// store.
  ///
  /// `nil` if they never change.
  public func nextChange(after instant: Timestamp) -> Timestamp? { nextDueInstant(after: instant) }
}

extension PlayEntitlement.ID: StoreLineID {
  package var identifier: String { purchaseToken }
  package var name: String { "\(packageName) \(purchaseToken)" }

  package static func isLower(_ left: Self, _ right: Self) -> Bool? {
    FactOrder.isLower(left.packageName, right.packageName)
      ?? FactOrder.isLower(left.purchaseToken, right.purchaseToken)
  }
}

extension PlayEntitlement: StoreLine {
  package static var source: EntitlementSource? { .googlePlay }
  package static var reportType: String { "play-entitlement" }
  package static var identifierMember: String { "purchaseToken" }
  package static var customerMembers: [String] { ["obfuscatedAccountId"] }
  package static var lapsedStates: [String] { [State.expired, .onHold, .paused].map(\.rawValue) }

  package var statedCustomer: String? { obfuscatedAccountId }

  package var timeline: StandingTimeline? { standings }

  package var dueInstants: [Timestamp] {
    [replaced?.date, goneDate, asOf].compactMap(\.self)
      + items.flatMap { [$0.expiryTime, $0.voided?.date].compactMap(\.self) + $0.partialRefunds.map(\.date) }
  }

  package func condition(at instant: Timestamp) -> Condition {
    Condition(
      state: state(at: instant),
      quantities: items.map { item in
        state(of: item, at: instant).grantsAccess ? remainingQuantity(of: item, at: instant) : 0
      })
  }

  package func holdings(at instant: Timestamp) -> [LineHolding] {
    zip(items, purchases(.ledger)).map { item, purchase in
      LineHolding(
        productId: item.productId, basePlanId: item.basePlanId, standing: purchase.standing(at: instant),
        environment: isTest ? .sandbox : .production)
    }
  }

  package func renewal(at instant: Timestamp, heard: Timestamp) -> StoreRenewal? {
    guard isSubscription else { return nil }
    // A base plan and its add-ons renew at different times.
    let renewals = items.filter { state(of: $0, at: instant) != .refunded }.compactMap(\.expiryTime)
    guard let expiryTime = renewals.filter({ heard < $0 }).min() ?? renewals.max() else { return nil }
    return switch state(at: instant) {
    case .active, .expired: StoreRenewal(due: expiryTime, isAwaited: false)
    case .inGracePeriod, .onHold, .paused, .pending: StoreRenewal(due: expiryTime, isAwaited: true)
    case .cancelled, .consumed, .refunded, .replaced, .unknown: nil
    }
  }

  package func report(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("packageName", id.packageName)
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.member("productIds", toldItems(at: instant).compactMap(\.productId))
    object.array("lineItems", items) { append($0, to: &$1, at: instant) }
    object.member("orderId", orderId(at: instant))
    object.member("isTest", isTest)
    object.member("isAcknowledged", isAcknowledged)
    object.member("obfuscatedAccountId", obfuscatedAccountId)
    object.member("obfuscatedProfileId", obfuscatedProfileId)
    object.member("linkedPurchaseToken", linkedPurchaseToken)
    object.member("replacedByPurchaseToken", replacedByPurchaseToken)
    object.member("purchaseDate", purchase.startTime)
    object.member("expiresDate", expiresDate(at: instant))
    object.member("nextChangeDate", nextChange(after: instant))
    object.member("isSubscription", isSubscription)
    object.member("period", period(at: instant)?.rawValue)
    object.member("renews", renews(at: instant))
    object.member("autoResumeDate", purchase.autoResumeTime)
    object.member("cancellation", purchase.cancellation?.rawValue)
  }

  /// Indicates whether a product to report renews; `nil` for a one-time purchase.
  private func renews(at instant: Timestamp) -> Bool? {
    isSubscription ? toldItems(at: instant).contains(where: \.renews) : nil
  }

  /// The kind of the current period of the first product to report; `nil` for a one-time purchase.
  private func period(at instant: Timestamp) -> PeriodType? {
    guard isSubscription, let item = toldItems(at: instant).first else { return nil }
    return switch item.offerPhase {
    case .freeTrial: .trial
    case .introductoryPrice: .introductory
    case .proration, .unknown, nil: item.isPrepaid ? .prepaid : .normal
    }
  }

  private func append(_ item: Item, to object: inout JSONWriter, at instant: Timestamp) {
    object.beginObject()
    object.member("productId", item.productId)
    object.member("basePlanId", item.basePlanId)
    object.member("offerId", item.offerId)
    object.member("orderId", item.orderId)
    object.member("state", state(of: item, at: instant).rawValue)
    object.member("standing", status(of: state(of: item, at: instant)).rawValue)
    object.member("quantity", remainingQuantity(of: item, at: instant))
    object.member("expiresDate", item.expiryTime)
    object.member("revocationDate", item.voided?.date)
    object.endObject()
  }

  package func snapshot(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("state", state(at: instant).rawValue)
    object.member("grantsAccess", grantsAccess(at: instant))
    object.member("productIds", toldItems(at: instant).compactMap(\.productId))
    object.member("orderId", orderId(at: instant))
    object.member("expiresDate", expiresDate(at: instant))
    let refunded = refundedQuantity(at: instant)
    if refunded > 0 { object.member("refundedQuantity", refunded) }
    object.member("revocationDate", voided?.date)
    object.member("period", period(at: instant)?.rawValue)
    object.member("renews", renews(at: instant))
  }
}
