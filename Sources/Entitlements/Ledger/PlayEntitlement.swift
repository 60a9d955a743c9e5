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

  /// A product of the purchase.
  public struct Item: Sendable, Hashable {
    /// The product.
    public let productId: String?
    /// When it expires, or renews; `nil` for a one-time product.
    public let expiryTime: Timestamp?
    /// Whether it renews.
    public let renews: Bool
    /// How many were bought.
    public let quantity: Int64
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
    /// The order was refunded, charged back or revoked.
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
  /// The products.
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
  /// The account that the app stated when it started the purchase.
  public let obfuscatedAccountId: String?
  /// The profile that the app stated when it started the purchase.
  public let obfuscatedProfileId: String?
  /// That the order was voided.
  public let voided: Voided?

  private let replacedDate: Timestamp?
  private let goneDate: Timestamp?

  /// `nil` while Google Play was not asked about the purchase.
  init?(_ id: ID, _ line: PlayPurchaseLine) {
    guard let purchase = line.purchase else { return nil }
    self.id = id
    isSubscription = purchase.isSubscription
    items = purchase.items.map {
      Item(
        productId: $0.productId, expiryTime: $0.expiryTime, renews: $0.renews ?? false,
        quantity: $0.quantity ?? 1)
    }
    reportedState = purchase.state
    asOf = purchase.asOf
    orderId = purchase.orderId
    linkedPurchaseToken = purchase.linkedPurchaseToken
    replacedByPurchaseToken = line.replaced?.purchaseToken
    isTest = purchase.isTest ?? false
    isAcknowledged = purchase.isAcknowledged ?? false
    obfuscatedAccountId = purchase.accountId
    obfuscatedProfileId = purchase.profileId
    voided = line.isVoided ? line.voided.map { Voided(date: $0.date, orderId: $0.orderId) } : nil
    replacedDate = line.replaced?.date
    // An answer after that one says that the token is known again.
    goneDate = line.gone.flatMap { $0.asOf >= purchase.asOf ? $0.asOf : nil }
  }
}

extension PlayEntitlement {
  /// The state at an instant, from all that is known now. Expiry comes from the dates of the products.
  public func state(at instant: Timestamp) -> State {
    if let voided, instant >= voided.date { return .refunded }
    if let replacedDate, instant >= replacedDate { return .replaced }
    if let goneDate, instant >= goneDate { return .expired }
    return isSubscription ? subscriptionState(at: instant) : productState
  }

  private func subscriptionState(at instant: Timestamp) -> State {
    switch reportedState {
    case "SUBSCRIPTION_STATE_ACTIVE", "SUBSCRIPTION_STATE_CANCELED": isCurrent(instant) ? .active : .expired
    case "SUBSCRIPTION_STATE_IN_GRACE_PERIOD": isCurrent(instant) ? .inGracePeriod : .expired
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

  private func isCurrent(_ instant: Timestamp) -> Bool {
    items.contains { item in item.expiryTime.map { instant < $0 } ?? false }
  }

  /// Whether the customer may use a product of the purchase at an instant: active or in the grace period. For a
  /// consumable it says that the purchase stands; what was consumed the app knows.
  public func grantsAccess(at instant: Timestamp) -> Bool {
    [.active, .inGracePeriod].contains(state(at: instant))
  }

  /// The products that the customer may use at an instant.
  public func productIds(at instant: Timestamp) -> [String] {
    guard grantsAccess(at: instant) else { return [] }
    return items.filter { item in !isSubscription || (item.expiryTime.map { instant < $0 } ?? false) }
      .compactMap(\.productId)
  }

  /// When the products that the customer may use will next change if nothing more is heard of the purchase; `nil` if
  /// never.
  public func nextChange(after instant: Timestamp) -> Timestamp? {
    guard !productIds(at: instant).isEmpty else { return nil }
    return (items.compactMap(\.expiryTime) + [voided?.date, replacedDate, goneDate].compactMap(\.self))
      .filter { $0 > instant }.min()
  }
}
