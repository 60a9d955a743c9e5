// SPDX-License-Identifier: Apache-2.0

@testable import Entitlements
import Foundation
import GooglePlay
import ReceiptCodec
import ReceiptTesting
import SQLite
import ReceiptVerification
import Testing

/// Purchases of both stores side by side, in the ledger and in its file.
@Suite struct PlayLedgerTests {
  private static func id(_ token: String) throws -> PlayEntitlement.ID {
    try #require(PlayEntitlement.ID(packageName: PlayFixture.packageName, purchaseToken: token))
  }

  private static func subscription(
    _ state: PlaySubscriptionState, days: Double, order: String, linked: String? = nil
  ) -> SubscriptionPurchaseV2 {
    SubscriptionPurchaseV2().with {
      $0.subscriptionState = state
      $0.startTime = PlayFixture.now
      $0.linkedPurchaseToken = linked
      $0.lineItems = [
        PlaySubscriptionLineItem().with {
          $0.productId = "pro"
          $0.expiryTime = PlayFixture.now.addingSeconds(days * 86_400)
          $0.latestSuccessfulOrderId = order
        }
      ]
    }
  }

  /// Returns the ledgers of a purchase, its renewal, a voided order, and the purchase that replaced it.
  private static func changes() throws -> [EntitlementLedger] {
    func change(_ body: (inout EntitlementLedger) throws -> Void) rethrows -> EntitlementLedger {
      var ledger = EntitlementLedger()
      try body(&ledger)
      return ledger
    }
    let now = PlayFixture.now
    return try [
      change { try $0.apply(subscription(.active, days: 30, order: "GPA.1"), to: id("t1"), asOf: now) },
      change {
        try $0.apply(
          subscription(.active, days: 60, order: "GPA.1..0"), to: id("t1"), asOf: now.addingSeconds(86_400))
      },
      change {
        let voided = VoidedPurchase().with {
          $0.purchaseToken = "t1"
          $0.orderId = "GPA.1..0"
          $0.voidedTimeMillis = now.addingSeconds(2 * 86_400)
        }
        let concerned = try $0.apply(voided, packageName: PlayFixture.packageName) == id("t1")
        #expect(concerned)
      },
      change {
        try $0.apply(
          subscription(.active, days: 90, order: "GPA.2", linked: "t1"), to: id("t2"),
          asOf: now.addingSeconds(3 * 86_400))
      },
    ]
  }

  @Test("any order and any repetition of what was learned gives the same ledger")
  func order() throws {
    let changes = try Self.changes()
    var expected = EntitlementLedger()
    for change in changes { expected.merge(change) }
    for first in changes.indices {
      var ledger = EntitlementLedger()
      for offset in 0...changes.count { ledger.merge(changes[(first + offset) % changes.count]) }
      for change in changes.reversed() { ledger.merge(change) }
      #expect(ledger == expected)
      #expect(ledger.encoded() == expected.encoded())
    }
    let replaced = try #require(try expected[Self.id("t1")])
    #expect(replaced.orderId == "GPA.1..0")
    #expect(replaced.replacedByPurchaseToken == "t2")
    #expect(replaced.state(at: PlayFixture.now.addingSeconds(2 * 86_400)) == .refunded)
    #expect(replaced.state(at: PlayFixture.now.addingSeconds(2 * 86_400 - 1)) == .replaced)
    #expect(replaced.state(at: PlayFixture.now.addingSeconds(-1)) == .active)
    #expect(expected.playEntitlements.map(\.id.purchaseToken) == ["t1", "t2"])
  }

  @Test(
    "each state of a subscription gives access or does not",
    arguments: [
      (PlaySubscriptionState.active, PlayEntitlement.State.active, true), (.canceled, .active, true),
      (.inGracePeriod, .inGracePeriod, true), (.onHold, .onHold, false), (.paused, .paused, false),
      (.expired, .expired, false), (.pending, .pending, false), (.pendingPurchaseCanceled, .cancelled, false),
      (.unspecified, .unknown, false), (.unknown("SUBSCRIPTION_STATE_NEW"), .unknown, false),
    ])
  func states(reported: PlaySubscriptionState, state: PlayEntitlement.State, grantsAccess: Bool) throws {
    var ledger = EntitlementLedger()
    let id = try Self.id("t1")
    ledger.apply(Self.subscription(reported, days: 30, order: "GPA.1"), to: id, asOf: PlayFixture.now)
    let entitlement = try #require(ledger[id])
    #expect(entitlement.state(at: PlayFixture.now) == state)
    #expect(entitlement.grantsAccess(at: PlayFixture.now) == grantsAccess)
    #expect(!entitlement.grantsAccess(at: PlayFixture.now.addingSeconds(30 * 86_400)))
  }

  @Test("a purchase that is not paid for yet replaces nothing")
  func pendingReplacement() throws {
    var ledger = EntitlementLedger()
    ledger.apply(
      Self.subscription(.active, days: 30, order: "GPA.1"), to: try Self.id("t1"), asOf: PlayFixture.now)
    for state in [PlaySubscriptionState.pending, .pendingPurchaseCanceled] {
      ledger.apply(
        Self.subscription(state, days: 30, order: "GPA.2", linked: "t1"), to: try Self.id("t2"),
        asOf: PlayFixture.now)
      #expect(try ledger[Self.id("t1")]?.state(at: PlayFixture.now) == .active)
    }
  }

  @Test("a ledger of the App Store alone is written in version 1, one with Google Play in version 3")
  func versions() throws {
    var story = try Story()
    try story.notify(.subscribed, day: 0, Story.period(1), Story.renewal())
    var ledger = story.ledger
    #expect(String(decoding: ledger.encoded(), as: UTF8.self).hasPrefix(#"{"version":1,"#))
    #expect(!String(decoding: ledger.encoded(), as: UTF8.self).contains("play"))
    for change in try Self.changes() { ledger.merge(change) }
    let encoded = ledger.encoded()
    #expect(String(decoding: encoded, as: UTF8.self).hasPrefix(#"{"version":3,"#))
    let decoded = try EntitlementLedger(decoding: encoded)
    #expect(decoded == ledger)
    #expect(decoded.encoded() == encoded)
    #expect(decoded.entitlements == story.ledger.entitlements)
    #expect(decoded.playEntitlements.count == 2)
    let broken = String(decoding: encoded, as: UTF8.self).replacing(
      #""purchaseToken":"t2""#, with: #""purchaseToken":"""#)
    let error = #expect(throws: MalformedReceipt.self) { try EntitlementLedger(decoding: Array(broken.utf8)) }
    #expect(error?.place == .jsonPath("$.playPurchases[1]"))
  }
}
