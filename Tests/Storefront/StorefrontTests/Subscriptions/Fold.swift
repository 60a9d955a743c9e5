// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Entitlements
import ReceiptTesting
import ReceiptVerification
import StoreSimulation
import Storefront
import Testing

/// An engine whose events are signed, verified and folded, like at a server that trusts the store's root and receives
/// notifications in any order.
struct Fold {
  var engine: SubscriptionEngine
  var events: [StoreEvent] = []
  private let signer: StoreEventSigner
  private let receiver: NotificationReceiver
  private var notifications: [AppStoreNotification] = []

  init(_ options: SubscriptionEngine.Options, catalog: ProductCatalog = StoreFixture.catalog) throws {
    engine = SubscriptionEngine(catalog: catalog, options: options)
    signer = try StoreEventSigner(identity: TestAuthority.es256().identity)
    receiver = NotificationReceiver(verifier: try StoreFixture.verifier())
  }

  mutating func add(_ new: [StoreEvent]) throws {
    for event in new {
      let signed = try signer.sign(event)
      notifications.append(try receiver.receive(Array(signed.notification.utf8)))
      events.append(event)
    }
  }

  mutating func advance(to instant: Timestamp) throws {
    try add(engine.advance(to: instant, atMost: .max).0)
  }

  mutating func subscribe(
    _ product: String, _ account: String, offer: PaymentOffer? = nil, username: String? = nil,
    at instant: Timestamp
  ) throws -> String {
    let purchase = try engine.subscribe(
      product, account: account, applicationUsername: username, offer: offer, at: instant)
    try add(purchase.events)
    return purchase.transaction.originalTransactionId ?? ""
  }

  mutating func run(at instant: Timestamp, _ operation: (inout SubscriptionEngine) throws -> Void) throws {
    try add(try engine.operate(at: instant, operation))
  }

  /// The last events, as type and subtype.
  func last(_ count: Int) -> [String] { events.suffix(count).map(\.name) }

  /// Expects the ledger and the engine to agree about every subscription, at an instant that has passed.
  func agrees(
    at instant: Timestamp, shuffled by: inout some RandomNumberGenerator,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var ledger = EntitlementLedger()
    for notification in notifications.shuffled(using: &by) { ledger.apply(notification) }
    let lastSigned = Dictionary(events.map { ($0.originalTransactionIdentifier, $0.signedDate) }) { $1 }
    let found = ledger.disagreements(
      with: engine, lastSigned: lastSigned, bundleIdentifier: StoreFixture.bundle, at: instant)
    #expect(found == [], "\(last(6))", sourceLocation: sourceLocation)
  }
}

extension StoreEvent {
  var name: String { subtype.map { "\(type.rawValue) \($0.rawValue)" } ?? type.rawValue }
}
