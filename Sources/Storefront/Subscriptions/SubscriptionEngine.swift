// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import ReceiptCodec
public import ReceiptCrypto

/// What happens to purchases as time passes and customers change their minds: renewals, failures to charge, offers,
/// upgrades, refunds, families. It emits a ``StoreEvent`` for each, as Apple's store would notify.
///
/// It is a value, and pure: it reads no clock, does no I/O and draws no random numbers but those of its seed. The same
/// operations at the same instants give the same events, byte for byte.
///
/// ```swift
/// var engine = SubscriptionEngine(catalog: catalog, options: options)
/// let events = try engine.subscribe("pro.monthly", account: "alice", at: start)
/// engine.advance(to: start.addingSeconds(90 * 86_400)) { event in … }
/// ```
///
/// The rules are in <doc:Subscriptions>.
public struct SubscriptionEngine: Sendable {
  /// Whose store it is, and how it bills.
  public struct Options: Sendable {
    /// The app.
    public var bundleIdentifier: String
    /// The environment that transactions state.
    public var environment: ReceiptEnvironment
    /// The storefront that transactions state, three letters of ISO 3166-1.
    public var storefront: String
    /// Decides identifiers of notifications, and which renewals fail.
    public var seed: UInt64
    /// When periods end.
    public var calendar: SubscriptionCalendar
    /// For how many days service goes on when a renewal cannot be charged for, at most 6 for periods of a week or
    /// less; `nil`: not at all.
    public var gracePeriodDays: Int?
    /// Whether renewals can be charged for.
    public var billing: BillingPolicy
    /// The keys that promotional offers are signed with, by their identifiers.
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

  /// Whose store it is, and how it bills.
  public let options: Options
  /// The state that is not of one subscription.
  package internal(set) var ledger = EngineLedger()
  var products: [String: CatalogProduct] = [:]
  /// By original transaction.
  var all: [String: Subscription] = [:]
  /// The line of an account in a group; of a member of a family, beside the line that it follows.
  var lines: [LineKey: String] = [:]
  /// All members of the family of each that has one.
  var families: [String: [String]] = [:]
  var due = DueQueue()
  /// Nonces of promotional offers that were redeemed, and until when they could be used again.
  var nonces: [String: Timestamp] = [:]
  var changedNonces: Set<String> = []
  /// What was changed since somebody asked: what must be stored.
  var changed: Set<String> = []
  /// Events of the operation at hand.
  var events: [StoreEvent] = []

  struct LineKey: Sendable, Hashable {
    let account: String
    let group: String
    let sharedFrom: String?
  }

  /// Creates an engine without subscriptions.
  public init(catalog: ProductCatalog, options: Options) {
    self.options = options
    // The first of two wins; a catalogue that was read has no duplicates.
    for product in catalog.products where products[product.productIdentifier] == nil {
      products[product.productIdentifier] = product
    }
  }

  /// An engine as it was stored.
  package init(
    catalog: ProductCatalog, options: Options, ledger: EngineLedger, subscriptions: [Subscription],
    nonces: [String: Timestamp]
  ) {
    self.init(catalog: catalog, options: options)
    self.ledger = ledger
    self.nonces = nonces
    for subscription in subscriptions { store(subscription) }
    indexFamilies()
    changed = []
  }

  /// The subscriptions that were changed since this was asked: what must be stored.
  package mutating func takeChanges() -> [Subscription] {
    defer { changed = [] }
    return changed.sorted().compactMap { all[$0] }
  }

  /// The same of nonces: until when each could be used again; `nil` when that is over.
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

  /// The subscriptions of an account, its own and those that the family shares, by original transaction.
  public func subscriptions(of account: String) -> [Subscription] {
    all.values.filter { $0.account == account }.sorted { $0.id < $1.id }
  }

  /// The account's own subscription in a group, expired or not.
  public func subscription(of account: String, inGroup group: String) -> Subscription? {
    lines[LineKey(account: account, group: group, sharedFrom: nil)].flatMap { all[$0] }
  }

  /// When something is due next; `nil` if nothing ever is.
  public var nextDueDate: Timestamp? { due.first?.date }

  /// The product, with prices and sale as they are now.
  public func product(_ productIdentifier: String) -> CatalogProduct? {
    guard var product = products[productIdentifier] else { return nil }
    if ledger.removedProducts.contains(productIdentifier) { product.isForSale = false }
    return product
  }

  /// The price of a product for new customers, times 1000.
  public func price(of productIdentifier: String) -> Int64? {
    if let increased = ledger.prices.first(where: { $0.productIdentifier == productIdentifier }) {
      return increased.price
    }
    return products[productIdentifier].flatMap { Milliunits.of($0.price) }
  }
}

/// Prices as signed transactions state them: thousandths of the currency's unit.
enum Milliunits {
  /// A price times 1000, what is finer cut off; `nil` for one that is negative or does not fit.
  static func of(_ price: Decimal) -> Int64? {
    guard price >= 0, price <= 9_000_000_000_000 else { return nil }
    // In plain digits: never binary floating point.
    let text = (price * 1000).description
    return Int64(text.prefix { $0 != "." })
  }
}
