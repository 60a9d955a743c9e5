// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What a customer may use by virtue of one purchase in Google Play. Made by an ``EntitlementLedger``.
///
/// As an ``Entitlement`` it holds no state of its own: ask for it at an instant, ``state(at:)`` or
/// ``grantsAccess(at:)``.
public struct PlayEntitlement: Sendable, Hashable, Identifiable {
  /// Which purchase.
  public struct ID: Sendable, Hashable {
    /// The app.
    public let packageName: String
    /// The purchase token. Another purchase that replaces this one has another.
    public let purchaseToken: String

    /// Names a purchase; `nil` unless both are of 1 to 2048 visible ASCII characters, the name of 256 at most.
    public init?(packageName: String, purchaseToken: String) {
      guard Entitlement.ID.isIdentifier(packageName),
        1...2048 ~= purchaseToken.utf8.count, purchaseToken.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
      else { return nil }
      self.packageName = packageName
      self.purchaseToken = purchaseToken
    }
  }

  /// A line item: a product of the purchase, with the order that paid for it.
  public struct Item: Sendable, Hashable {
    /// The product.
    public let productId: String?
    /// The latest order that paid for it.
    public let orderId: String?
    /// When it expires, or renews; `nil` for a one-time product.
    public let expiryTime: Timestamp?
    /// Whether it renews.
    public let renews: Bool
    /// How many were bought.
    public let quantity: Int64
    /// That its order was voided.
    public let voided: Voided?

    /// How many were not refunded, as Google Play said when it was asked.
    let refundable: Int64?
    /// Refunds of a part of the quantity, by date.
    let partialRefunds: [PartialRefund]
  }

  /// A refund of a part of the quantity.
  struct PartialRefund: Sendable, Hashable {
    let date: Timestamp
    let quantity: Int64
  }

  /// That an order was refunded, charged back or revoked.
  public struct Voided: Sendable, Hashable {
    /// From when on.
    public let date: Timestamp
    /// The order.
    public let orderId: String?
  }

  /// What has become of a purchase at some instant.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// The payment is awaited; nothing may be granted.
    case pending
    /// Paid for, and not expired.
    case active
    /// The renewal could not be charged for, and access continues.
    case inGracePeriod = "in-grace-period"
    /// The renewal could not be charged for, and access is suspended.
    case onHold = "on-hold"
    /// The customer paused the subscription.
    case paused
    /// The subscription expired, or Google Play no longer knows the purchase.
    case expired
    /// The purchase was cancelled before it was paid for, or Google Play refunded it.
    case cancelled
    /// The order was refunded, charged back or revoked, or its whole quantity refunded.
    case refunded
    /// Another purchase replaced it.
    case replaced
    /// Google Play names a state that this version does not know; nothing is granted.
    case unknown
  }

  /// Which purchase.
  public let id: ID
  /// Whether it is a subscription.
  public let isSubscription: Bool
  /// The line items: the products, each with its order.
  public let items: [Item]
  /// The state as Google Play named it, the last time that it was asked.
  public let reportedState: String
  /// When it was asked.
  public let asOf: Timestamp
  /// The latest order.
  public let orderId: String?
  /// The purchase that this one replaced.
  public let linkedPurchaseToken: String?
  /// The purchase that replaced this one.
  public let replacedByPurchaseToken: String?
  /// Whether it was made by a licence tester, who pays nothing.
  public let isTest: Bool
  /// Whether the app acknowledged it; Google refunds it otherwise after three days.
  public let isAcknowledged: Bool
  /// The account that the app stated when it started the purchase. If the customer subscribed again in the Play app, that
  /// of the expired purchase.
  public let obfuscatedAccountId: String?
  /// The profile that the app stated when it started the purchase, or the expired one.
  public let obfuscatedProfileId: String?
  /// That the orders of all line items were voided: the order that was voided last.
  public let voided: Voided?

  private let replacedDate: Timestamp?
  private let goneDate: Timestamp?

  /// `nil` while Google Play was not asked about the purchase.
  init?(_ id: ID, _ line: PlayPurchaseLine) {
    guard let purchase = line.purchase else { return nil }
    self.id = id
    isSubscription = purchase.isSubscription
    items = line.items(of: purchase)
    reportedState = purchase.state
    asOf = purchase.asOf
    orderId = purchase.orderId
    linkedPurchaseToken = purchase.linkedPurchaseToken
    replacedByPurchaseToken = line.replaced?.purchaseToken
    isTest = purchase.isTest ?? false
    isAcknowledged = purchase.isAcknowledged ?? false
    obfuscatedAccountId = purchase.accountId ?? line.account?.accountId
    obfuscatedProfileId = purchase.profileId ?? line.account?.profileId
    let voids = items.map(\.voided)
    voided = voids.contains(nil) ? nil : voids.compactMap(\.self).max { $0.date < $1.date }
    replacedDate = line.replaced?.date
    // An answer after that one says that the token is known again.
    goneDate = line.gone.flatMap { $0.asOf >= purchase.asOf ? $0.asOf : nil }
  }
}

extension PlayEntitlement.Item {
  /// How many have not been refunded at an instant. What was consumed the app knows.
  ///
  /// - Parameters:
  ///   - instant: When.
  ///   - asOf: When Google Play was asked: what it said then counts from then on.
  /// - Returns: How many.
  func remainingQuantity(at instant: Timestamp, asOf: Timestamp) -> Int64 {
    if let voided, instant >= voided.date { return 0 }
    // One refund may show in both; of two counts the lower is right.
    let refunded = partialRefunds.lazy.filter { instant >= $0.date }.reduce(0) { sum, refund in
      sum.addingReportingOverflow(refund.quantity).overflow ? .max : sum + refund.quantity
    }
    let stated = instant >= asOf ? refundable ?? quantity : quantity
    return max(0, min(stated, quantity > refunded ? quantity - refunded : 0))
  }
}

extension PlayEntitlement {
  /// The state at an instant, from all that is known now. Expiry comes from the dates of the products.
  ///
  /// It is the state of a line item that gives access. If none does, it is that of the one that ended last.
  public func state(at instant: Timestamp) -> State {
    let states = items.map { state(of: $0, at: instant) }
    for state in [State.active, .inGracePeriod] where states.contains(state) { return state }
    guard let other = states.first(where: { $0 != .refunded }) else { return .refunded }
    guard other == .expired, let refunded = lastRefund(at: instant) else { return other }
    return zip(items, states).contains { item, state in
      guard state != .refunded, let expiryTime = item.expiryTime else { return false }
      return refunded < min(expiryTime, goneDate ?? expiryTime)
    } ? .expired : .refunded
  }

  /// The state of a line item at an instant.
  public func state(of item: Item, at instant: Timestamp) -> State {
    if remainingQuantity(of: item, at: instant) == 0 { return .refunded }
    return unrefundedState(expiryTime: item.expiryTime, at: instant)
  }

  /// How many of a line item have not been refunded at an instant.
  public func remainingQuantity(of item: Item, at instant: Timestamp) -> Int64 {
    item.remainingQuantity(at: instant, asOf: asOf)
  }

  /// The line items that give access at an instant.
  public func items(at instant: Timestamp) -> [Item] {
    items.filter { [.active, .inGracePeriod].contains(state(of: $0, at: instant)) }
  }

  private func unrefundedState(expiryTime: Timestamp?, at instant: Timestamp) -> State {
    if let replacedDate, instant >= replacedDate { return .replaced }
    if let goneDate, instant >= goneDate { return .expired }
    guard isSubscription else { return productState }
    let isCurrent = expiryTime.map { instant < $0 } ?? false
    return switch reportedState {
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

  private var productState: State {
    switch reportedState {
    case "PURCHASED": .active
    case "CANCELLED": .cancelled
    case "PENDING": .pending
    default: .unknown
    }
  }

  /// When the last line item was refunded; `nil` if none was.
  private func lastRefund(at instant: Timestamp) -> Timestamp? {
    items.filter { state(of: $0, at: instant) == .refunded }
      .compactMap { $0.voided?.date ?? $0.partialRefunds.last?.date ?? asOf }.max()
  }

  /// Whether the customer may use a product of the purchase at an instant: active or in the grace period. For a
  /// consumable it says that the purchase stands; what was consumed the app knows.
  public func grantsAccess(at instant: Timestamp) -> Bool {
    [.active, .inGracePeriod].contains(state(at: instant))
  }

  /// The products that the customer may use at an instant.
  public func productIds(at instant: Timestamp) -> [String] { items(at: instant).compactMap(\.productId) }

  /// The line items to tell of at an instant: those that give access; if none does, all that there were.
  package func toldItems(at instant: Timestamp) -> [Item] {
    let items = items(at: instant)
    return items.isEmpty ? self.items : items
  }

  /// The order to tell of at an instant.
  package func orderId(at instant: Timestamp) -> String? {
    let orders = toldItems(at: instant).compactMap(\.orderId)
    return orders.contains { $0 == orderId } ? orderId : orders.first ?? orderId
  }

  /// When the last of the products to tell of expires, or renews.
  package func expiresDate(at instant: Timestamp) -> Timestamp? {
    toldItems(at: instant).compactMap(\.expiryTime).max()
  }

  /// How many of what still gives access were refunded.
  package func refundedQuantity(at instant: Timestamp) -> Int64 {
    items(at: instant).reduce(0) { $0 + max(0, $1.quantity - remainingQuantity(of: $1, at: instant)) }
  }

  /// When the products that the customer may use, how many of them, or the state will next change if nothing more is
  /// heard of the purchase; `nil` if never.
  public func nextChange(after instant: Timestamp) -> Timestamp? { nextDueInstant(after: instant) }
}

extension PlayEntitlement: StoreLine {
  package var dueInstants: [Timestamp] {
    [replacedDate, goneDate, asOf].compactMap(\.self)
      + items.flatMap { [$0.expiryTime, $0.voided?.date].compactMap(\.self) + $0.partialRefunds.map(\.date) }
  }

  /// What is told of the purchase at an instant.
  package struct Standing: Sendable, Hashable {
    let state: State
    let quantities: [Int64]
  }

  package func standing(at instant: Timestamp) -> Standing {
    Standing(
      state: state(at: instant),
      quantities: items.map { item in
        [.active, .inGracePeriod].contains(state(of: item, at: instant))
          ? remainingQuantity(of: item, at: instant) : 0
      })
  }
}
