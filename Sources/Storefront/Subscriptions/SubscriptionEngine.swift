// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import ReceiptCodec
public import ReceiptCrypto

/// Simulates the life of purchases: renewals, billing failures, offers, upgrades, refunds and Family Sharing. It emits
/// a ``StoreEvent`` for each notification that Apple's store would send.
///
/// It is a value type without side effects: it reads no clock, does no I/O, and derives random numbers from its seed.
/// The same operations at the same instants give the same events, byte for byte.
///
/// ```swift
/// var engine = SubscriptionEngine(catalog: catalog, options: options)
/// let events = try engine.subscribe("pro.monthly", account: "alice", at: start)
/// engine.advance(to: start.addingSeconds(90 * 86_400)) { event in … }
/// ```
///
/// The rules are in <doc:Subscriptions>.
public struct SubscriptionEngine: Sendable {
  /// The app, the storefront and the billing rules.
  public struct Options: Sendable {
    /// The app.
    public var bundleIdentifier: String
    /// The environment that transactions state.
    public var environment: ReceiptEnvironment
    /// The storefront that transactions state, three letters of ISO 3166-1.
    public var storefront: String
    /// Determines the identifiers of notifications, and which renewals fail.
    public var seed: UInt64
    /// The calendar of periods.
    public var calendar: SubscriptionCalendar
    /// The grace period of a failed renewal in days, at most 6 for periods of a week or less; `nil` for none.
    public var gracePeriodDays: Int?
    /// Decides whether charges for renewals succeed.
    public var billing: BillingPolicy
    /// The public keys of promotional offers, by their identifiers.
    public var offerKeys: [String: PublicKey]

    /// Creates options.
    public init(
      bundleIdentifier: String, environment: ReceiptEnvironment = .sandbox, storefront: String = "USA",
      seed: UInt64 = 0, calendar: SubscriptionCalendar = SubscriptionCalendar(), gracePeriodDays: Int? = nil,
      billing: BillingPolicy = .always, offerKeys: [String: PublicKey] = [:]
    ) {
      self.bundleIdentifier = bundleIdentifier
      self.environment = environment
      self.storefront = storefront
      self.seed = seed
      self.calendar = calendar
      self.gracePeriodDays = gracePeriodDays
      self.billing = billing
      self.offerKeys = offerKeys
    }
  }

  /// The app, the storefront and the billing rules.
  public let options: Options
  /// The state besides the subscriptions.
  package internal(set) var ledger = EngineLedger()
  var products: [String: CatalogProduct] = [:]
  /// The subscriptions, by original transaction.
  var all: [String: Subscription] = [:]
  /// The original transactions of subscriptions, by account and group, and for a shared one by the subscription that it
  /// is shared from.
  var identifiersByOwner: [OwnerKey: String] = [:]
  /// The original transactions of subscriptions, by account.
  var identifiersByAccount: [String: [String]] = [:]
  /// All members of a family, by each member.
  var families: [String: [String]] = [:]
  var due = DueQueue()
  /// Redeemed nonces of promotional offers, with the dates from which they may be forgotten.
  var nonces: [String: Timestamp] = [:]
  var changedNonces: Set<String> = []
  /// The subscriptions that changed since the last ``takeChanges()``.
  var changed: Set<String> = []
  /// The events that no operation returned yet.
  var events: [StoreEvent] = []

  struct OwnerKey: Sendable, Hashable {
    let account: String
    let group: String
    let sharedFrom: String?
  }

  /// Creates an engine without subscriptions.
  public init(catalog: ProductCatalog, options: Options) {
    self.options = options
    // Only a catalogue built in code can have duplicates; the first one counts.
    for product in catalog.products where products[product.productIdentifier] == nil {
      products[product.productIdentifier] = product
    }
  }

  /// Restores a stored engine; its subscriptions and nonces follow.
  package init(catalog: ProductCatalog, options: Options, ledger: EngineLedger) {
    self.init(catalog: catalog, options: options)
    self.ledger = ledger
    indexFamilies()
  }

  /// Restores a stored subscription.
  package mutating func restore(_ subscription: Subscription) {
    store(subscription)
    changed.remove(subscription.id)
  }

  /// Restores a redeemed nonce, and the date from which it may be forgotten.
  package mutating func restore(nonce: String, until date: Timestamp) { nonces[nonce] = date }

  /// The subscriptions that changed since the last call, to be stored.
  package mutating func takeChanges() -> [Subscription] {
    defer { changed = [] }
    return changed.sorted().compactMap { all[$0] }
  }

  /// The same for nonces: the date from which each may be forgotten; `nil` for one to remove.
  package mutating func takeNonces() -> [(nonce: String, expires: Timestamp?)] {
    defer { changedNonces = [] }
    return changedNonces.sorted().map { ($0, nonces[$0]) }
  }

  /// The subscription of an original transaction.
  public subscript(originalTransactionIdentifier: String) -> Subscription? {
    all[originalTransactionIdentifier]
  }

  /// All subscriptions, in no particular order.
  public var subscriptions: some Collection<Subscription> { all.values }

  /// The subscriptions of an account, its own and shared ones, by original transaction.
  public func subscriptions(of account: String) -> [Subscription] {
    (identifiersByAccount[account] ?? []).sorted().compactMap { all[$0] }
  }

  /// The account's own subscription in a group, expired or not.
  public func subscription(of account: String, inGroup group: String) -> Subscription? {
    identifiersByOwner[OwnerKey(account: account, group: group, sharedFrom: nil)].flatMap { all[$0] }
  }

  /// The date of the next due event, if any.
  public var nextDueDate: Timestamp? { due.first?.date }

  /// The product with its current price and availability.
  public func product(_ productIdentifier: String) -> CatalogProduct? {
    guard var product = products[productIdentifier] else { return nil }
    if ledger.removedProducts.contains(productIdentifier) { product.isForSale = false }
    return product
  }

  /// The price of a product for new customers, in thousandths.
  public func price(of productIdentifier: String) -> Int64? {
    if let increased = ledger.prices.first(where: { $0.productIdentifier == productIdentifier }) {
      return increased.price
    }
    return products[productIdentifier].flatMap { Milliunits.of($0.price) }
  }
}

/// Prices as signed transactions state them: thousandths of the currency's unit.
enum Milliunits {
  /// A price in thousandths, truncated; `nil` if it is negative or too large.
  static func of(_ price: Decimal) -> Int64? {
    guard price >= 0, price <= 9_000_000_000_000 else { return nil }
    // From the decimal digits, to avoid binary floating point.
    let text = (price * 1000).description
    return Int64(text.prefix { $0 != "." })
  }
}
