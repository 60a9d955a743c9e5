// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptRemote
import ReceiptTesting
import ReceiptVerification
import Storefront
import Testing

/// An engine whose events are signed, verified and folded: what a server knows that trusts the store's root and is
/// notified in any order.
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
    var new: [StoreEvent] = []
    engine.advance(to: instant) { new.append($0) }
    try add(new)
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

  mutating func run(_ operation: (inout SubscriptionEngine) throws -> [StoreEvent]) throws {
    try add(try operation(&engine))
  }

  /// The last events, as type and subtype.
  func last(_ count: Int) -> [String] { events.suffix(count).map(\.name) }

  /// Whether the ledger says of every subscription what the engine says, at an instant until which time has passed.
  func agrees(
    at instant: Timestamp, shuffled by: inout some RandomNumberGenerator,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var ledger = EntitlementLedger()
    for notification in notifications.shuffled(using: &by) { ledger.apply(notification) }
    for subscription in engine.subscriptions {
      let id = Entitlement.ID(
        environment: .sandbox, bundleId: StoreFixture.bundle, originalTransactionId: subscription.id)
      guard let entitlement = ledger[id] else {
        Issue.record("The ledger does not know \(subscription.id).", sourceLocation: sourceLocation)
        continue
      }
      // What was signed a little later than asked, because it came at once with something else, is asked for then.
      let last = events.last { $0.originalTransactionIdentifier == subscription.id }?.signedDate ?? instant
      let instant = max(instant, last)
      let trace = {
        events.filter { $0.originalTransactionIdentifier == subscription.id }.suffix(6).map(\.name)
          .joined(separator: ", ")
      }
      #expect(
        entitlement.state(at: instant).rawValue == subscription.status(at: instant).rawValue,
        "\(subscription.id): \(trace())", sourceLocation: sourceLocation)
      #expect(
        entitlement.transaction.productId == subscription.productIdentifier, "\(subscription.id): \(trace())",
        sourceLocation: sourceLocation)
      #expect(
        entitlement.expiresDate == subscription.expiresDate, "\(subscription.id): \(trace())",
        sourceLocation: sourceLocation)
      #expect(
        entitlement.autoRenewProductId == subscription.autoRenewProductIdentifier
          && (entitlement.autoRenewStatus == .on) == subscription.autoRenews
          && entitlement.expirationIntent == subscription.expirationIntent,
        "\(subscription.id): \(trace())", sourceLocation: sourceLocation)
      let reported: [Subscription.Status: SubscriptionStatus] = [
        .active: .active, .expired: .expired, .inBillingRetry: .billingRetry, .inGracePeriod: .gracePeriod,
        .refunded: .revoked, .revoked: .revoked,
      ]
      if instant == last {
        #expect(
          entitlement.reportedStatus == reported[subscription.status(at: instant)], "\(trace())",
          sourceLocation: sourceLocation)
      }
    }
  }
}

extension StoreEvent {
  var name: String { subtype.map { "\(type.rawValue) \($0.rawValue)" } ?? type.rawValue }
}
