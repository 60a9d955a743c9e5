// SPDX-License-Identifier: Apache-2.0

package import FoundationEssentials
package import ReceiptCodec

/// Simulates the life of purchases: renewals, billing failures, offers, upgrades, refunds and Family Sharing. It emits
/// a `StoreEvent` for each notification that Apple's store would send.
///
/// It is a value type without side effects: it reads no clock, does no I/O, and derives random numbers from its seed.
/// The same operations at the same instants give the same events, byte for byte.
///
/// ```swift
/// var engine = SubscriptionEngine(catalog: catalog, options: options)
/// let purchase = try engine.subscribe("pro.monthly", account: "alice", at: start)
/// let (events, _) = engine.advance(to: start.addingSeconds(90 * 86_400), atMost: .max)
/// ```
///
/// The rules are in <doc:Subscriptions>.
public struct SubscriptionEngine: Sendable {
  package let options: Options
  /// The state besides the subscriptions.
  package internal(set) var ledger = EngineLedger()
  let products: [String: CatalogProduct]
  /// The subscriptions, by original transaction.
  var all: EngineTable<Subscription>
  /// The original transactions of subscriptions in memory, by account.
  var identifiersByAccount: [String: [String]] = [:]
  /// The families, by each member.
  var families: EngineTable<FamilyRecord>
  /// The accounts whose charges fail, regardless of the billing policy. Each is stored as a family of its own.
  var declined: EngineTable<FamilyRecord>
  /// The due dates of subscriptions in memory.
  var due = DueQueue()
  /// The key of the last stored due date whose subscription was taken into memory.
  var dueKey: String?
  /// The stored due dates of subscriptions that changed since the last ``takeChanges()``; `nil` for new ones.
  var dueBefore: [String: Timestamp?] = [:]
  /// Redeemed nonces of promotional offers, with the dates from which they may be forgotten.
  var nonces: [String: Timestamp] = [:]
  var changedNonces: Set<String> = []
  /// The events that no operation has returned yet.
  var events: [StoreEvent] = []
  /// The storage of rows that are not in memory; `nil` if the whole engine is in memory.
  let source: EngineSource?

  /// Creates an engine without subscriptions.
  package init(catalog: ProductCatalog, options: Options) {
    self.init(catalog: catalog, options: options, ledger: EngineLedger(), source: nil)
  }

  /// Continues a stored engine.
  init(catalog: ProductCatalog, options: Options, ledger: EngineLedger, source: EngineSource?) {
    self.options = options
    self.products = catalog.productsByIdentifier
    self.ledger = ledger
    self.source = source
    all = EngineTable(.storeSubscriptions, of: source)
    families = EngineTable(.storeFamilies, of: source)
    declined = EngineTable(.storeDeclined, of: source)
  }

  /// The subscription with an original transaction.
  public subscript(originalTransactionIdentifier: String) -> Subscription? {
    all[originalTransactionIdentifier]
  }

  /// All subscriptions, in no particular order. For a stored engine, only those in memory.
  package var subscriptions: some Collection<Subscription> { all.rows.values }

  /// The subscriptions of an account, its own and shared ones, by original transaction.
  package func subscriptions(of account: String) -> [Subscription] {
    identifiers(of: account).compactMap { self[$0] }
  }

  private func identifiers(of account: String) -> [String] {
    var found = Set(identifiersByAccount[account] ?? [])
    source?.read { (stored) throws(LocalStoreError) in
      try stored.forEach(in: .storeSubscribers, with: account) {
        found.insert(String(decoding: $0.value, as: UTF8.self))
      }
    }
    return found.sorted()
  }

  /// The account's subscription in a group, expired or not: its own, or one that is shared from another subscription.
  func subscription(
    of account: String, inGroup group: String, sharedFrom other: String? = nil
  ) -> Subscription? {
    // After an import there may be several; the latest is used.
    subscriptions(of: account).last { $0.groupIdentifier == group && $0.sharedFrom == other }
  }

  /// The original transactions of all subscriptions that satisfy a condition, in order.
  func identifiers(where isMeant: (Subscription) -> Bool) -> [String] {
    var found = Set(all.rows.values.lazy.filter(isMeant).map(\.id))
    source?.read { (stored) throws(LocalStoreError) in
      try stored.forEach(in: .storeSubscriptions) { (record) throws(LocalStoreError) in
        let subscription: Subscription = try StoredRecords.decode(record, in: .storeSubscriptions)
        if all.rows[subscription.id] == nil, isMeant(subscription) { found.insert(subscription.id) }
      }
    }
    // Sorted, because the order of a set is not deterministic.
    return found.sorted()
  }

  package var nextDueDate: Timestamp? {
    [due.first?.date, nextStoredDue?.entry.date].compactMap(\.self).min()
  }

  /// The first stored due date whose subscription was not taken into memory.
  var nextStoredDue: (key: String, entry: DueQueue.Entry)? {
    source?.read { (stored) throws(LocalStoreError) in try stored.firstDue(after: dueKey) } ?? nil
  }

  /// The product with its current price and availability.
  func product(_ productIdentifier: String) -> CatalogProduct? {
    guard var product = products[productIdentifier] else { return nil }
    if ledger.removedProducts.contains(productIdentifier) { product.isForSale = false }
    return product
  }

  /// The price of a product for new customers, in thousandths.
  func price(of productIdentifier: String) -> Int64? {
    ledger.prices.first { $0.productIdentifier == productIdentifier }?.price
      ?? products[productIdentifier].flatMap { Milliunits.of($0.price) }
  }
}

/// Prices as in signed transactions: thousandths of the currency's unit.
package enum Milliunits {
  /// A price in thousandths, truncated; `nil` if it is negative or too large.
  package static func of(_ price: Decimal) -> Int64? {
    guard price >= 0, price <= 9_000_000_000_000 else { return nil }
    // Computed from the decimal digits, to avoid binary floating point.
    let text = (price * 1000).description
    return Int64(text.prefix { $0 != "." })
  }
}
