// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Entitlements
import ReceiptTesting
import ReceiptVerification
import Testing

/// Upgrades, refunds, family sharing and purchases that are no subscriptions.
@Suite struct ChangeStoryTests {
  private func subscribed() throws -> Story {
    var story = try Story()
    try story.notify(.subscribed, .initialBuy, day: 0, Story.period(1), Story.renewal())
    return story
  }

  private func refunded(_ transaction: JWSTransaction, day: Double) -> JWSTransaction {
    var refunded = transaction
    refunded.revocationDate = Story.day(day)
    refunded.revocationReason = .issue
    refunded.revocationType = .refundFull
    refunded.revocationPercentage = 100_000
    return refunded
  }

  @Test(
    "UPGRADE: the new product at once, whichever of the two transactions is delivered first",
    arguments: [NotificationType.didChangeRenewalPref, .offerRedeemed])
  func upgrade(type: NotificationType) throws {
    var story = try subscribed()
    let upgraded = Story.period(2) {
      $0.productId = Story.yearly
      $0.purchaseDate = Story.day(10)
      $0.expiresDate = Story.day(375)
    }
    let renewal = Story.renewal {
      $0.productId = Story.yearly
      $0.autoRenewProductId = Story.yearly
    }
    try story.notify(type, .upgrade, day: 10, upgraded, renewal)
    #expect(try story.entitlement.productId == Story.yearly)
    try story.expect([(10, .active), (31, .active), (375, .expired)])
    // The old one, as history has it from now on.
    try story.notify(.consumptionRequest, day: 11, Story.period(1) { $0.isUpgraded = true })
    #expect(try story.entitlement.productId == Story.yearly)
    #expect(try story.entitlement.refund == nil)
    try story.expect([(12, .active), (31, .active)])
  }

  @Test("an upgraded transaction grants nothing, and names its replacement")
  func upgradedAlone() throws {
    var story = try subscribed()
    try story.notify(
      .didChangeRenewalStatus, .autoRenewEnabled, day: 11, Story.period(1) { $0.isUpgraded = true },
      Story.renewal { $0.productId = Story.yearly })
    try story.expect([(12, .upgraded), (31, .upgraded)])
    #expect(try story.entitlement.replacedByProductId == Story.yearly)
  }

  @Test("DOWNGRADE: the current product to the end of the period, the lower one from the renewal on")
  func downgrade() throws {
    for type in [NotificationType.didChangeRenewalPref, .offerRedeemed] {
      var story = try subscribed()
      let lower = "com.example.app.basic"
      try story.notify(
        type, .downgrade, day: 10, Story.period(1), Story.renewal { $0.autoRenewProductId = lower })
      #expect(try story.entitlement.productId == Story.monthly)
      #expect(try story.entitlement.renewalInfo?.autoRenewProductId == lower)
      try story.expect([(29, .active)])
      try story.notify(.didRenew, day: 30, Story.period(2) { $0.productId = lower }, Story.renewal())
      #expect(try story.entitlement.productId == lower)
      try story.expect([(31, .active)])
    }
  }

  @Test("DID_CHANGE_RENEWAL_PREF without subtype: the downgrade was cancelled")
  func downgradeReverted() throws {
    var story = try subscribed()
    try story.notify(
      .didChangeRenewalPref, .downgrade, day: 10, Story.period(1),
      Story.renewal { $0.autoRenewProductId = "com.example.app.basic" })
    try story.notify(.didChangeRenewalPref, day: 12, Story.period(1), Story.renewal())
    #expect(try story.entitlement.renewalInfo?.autoRenewProductId == Story.monthly)
    try story.expect([(29, .active)])
  }

  @Test("OFFER_REDEEMED without subtype: the offer shows in the transaction")
  func offer() throws {
    var story = try subscribed()
    try story.notify(
      .offerRedeemed, day: 5,
      Story.period(2) {
        $0.purchaseDate = Story.day(5)
        $0.offerType = .offerCode
        $0.offerIdentifier = "AUTUMN"
      }, Story.renewal())
    #expect(try story.entitlement.transaction.offerType == .offerCode)
    #expect(try story.entitlement.transaction.offerIdentifier == "AUTUMN")
    try story.expect([(59, .active)])
  }

  @Test("REFUND: refunded from the day of the refund on")
  func refund() throws {
    var story = try subscribed()
    try story.notify(
      .consumptionRequest, day: 4, Story.period(1), Story.renewal(), reason: .unintendedPurchase)
    #expect(try story.entitlement.refund?.progress == .requested)
    #expect(try story.entitlement.refund?.reason == .unintendedPurchase)
    try story.expect([(5, .active)])
    try story.notify(.refund, day: 6, refunded(Story.period(1), day: 5.5), Story.renewal())
    try story.expect([(5.4, .active), (5.5, .refunded), (31, .refunded)])
    let entitlement = try story.entitlement
    #expect(entitlement.refund?.progress == .granted)
    #expect(entitlement.revocation?.reason == .issue)
    #expect(entitlement.revocation?.type == .refundFull)
    #expect(entitlement.revocation?.percentage == 100_000)
    #expect(entitlement.nextChange(after: Story.day(1)) == Story.day(5.5))
  }

  @Test("REFUND_DECLINED: the customer keeps it")
  func declined() throws {
    var story = try subscribed()
    try story.notify(.consumptionRequest, day: 4, Story.period(1), Story.renewal())
    try story.notify(.refundDeclined, day: 6, Story.period(1), Story.renewal())
    #expect(try story.entitlement.refund?.progress == .declined)
    try story.expect([(7, .active), (30, .expired)])
  }

  @Test("REFUND_REVERSED reinstates, even if the transaction in it still states the refund")
  func reversed() throws {
    for isCleared in [true, false] {
      var story = try subscribed()
      let refunded = refunded(Story.period(1), day: 5)
      try story.notify(.refund, day: 5, refunded, Story.renewal())
      try story.notify(.refundReversed, day: 8, isCleared ? Story.period(1) : refunded, Story.renewal())
      #expect(try story.entitlement.refund?.progress == .reversed)
      #expect(try story.entitlement.revocation == nil)
      try story.expect([(9, .active), (30, .expired)])
      // Refunded once more, and this time it stands.
      try story.notify(.refund, day: 12, self.refunded(Story.period(1), day: 12), Story.renewal())
      try story.expect([(13, .refunded)])
    }
  }

  @Test("REFUND and REVOKE count even if the transaction inside states no revocation")
  func withoutRevocationDate() throws {
    for (type, state) in [(NotificationType.refund, Entitlement.State.refunded), (.revoke, .revoked)] {
      var story = try subscribed()
      try story.notify(type, day: 6, Story.period(1), Story.renewal())
      try story.expect([(5, .active), (6, state)])
      try story.notify(.didChangeRenewalStatus, .autoRenewEnabled, day: 9, Story.period(1))
      try story.expect([(9, .active)])
    }
  }

  @Test("a refund counts even if the transaction inside was signed just after the notification")
  func signedAMomentLater() throws {
    var story = try subscribed()
    let transaction = Story.period(1) { $0.signedDate = Story.day(6).addingSeconds(0.05) }
    try story.notify(.refund, day: 6, transaction, Story.renewal())
    try story.expect([(5, .active), (7, .refunded)])
  }

  @Test("a refund of a past period does not affect the current one")
  func pastRefund() throws {
    var story = try subscribed()
    try story.notify(.didRenew, day: 30, Story.period(2), Story.renewal())
    try story.notify(.refund, day: 35, refunded(Story.period(1), day: 35), Story.renewal())
    try story.expect([(36, .active), (60, .expired)])
    #expect(try story.entitlement.refund == nil)
    #expect(story.ledger.latestNotice?.type == .refund)
    try story.notify(.refund, day: 40, refunded(Story.period(2), day: 40), Story.renewal())
    try story.expect([(41, .refunded)])
    // The next renewal is paid for again.
    try story.notify(.didRenew, day: 60, Story.period(3), Story.renewal())
    try story.expect([(61, .active)])
    #expect(try story.entitlement.refund == nil)
  }

  @Test("REVOKE: family sharing lost, and shared again")
  func familySharing() throws {
    var story = try Story()
    func shared(_ change: (inout JWSTransaction) -> Void = { _ in }) -> JWSTransaction {
      Story.period(1) {
        $0.inAppOwnershipType = .familyShared
        change(&$0)
      }
    }
    try story.notify(.subscribed, .initialBuy, day: 0, shared(), Story.renewal())
    #expect(try story.entitlement.transaction.inAppOwnershipType == .familyShared)
    try story.expect([(1, .active)])
    for type in [RevocationType.familyRevoke, nil] {
      try story.notify(
        .revoke, day: 5 + Double(story.received.count),
        shared {
          $0.revocationDate = Story.day(5 + Double(story.received.count))
          $0.revocationType = type
        })
      try story.expect([(20, .revoked)])
      #expect(try story.entitlement.revocation?.isSharingWithdrawn == true)
      try story.notify(
        .subscribed, .resubscribe, day: 6 + Double(story.received.count), shared(), Story.renewal())
      try story.expect([(20, .active)])
    }
  }

  @Test(
    "ONE_TIME_CHARGE: a purchase without expiry stays until it is refunded",
    arguments: [ProductType.consumable, .nonConsumable, .nonRenewingSubscription])
  func oneTimeCharge(type: ProductType) throws {
    var story = try Story()
    try story.notify(.oneTimeCharge, day: 0, Story.oneTime(type) { $0.quantity = 3 })
    #expect(try story.entitlement.transaction.quantity == 3)
    #expect(try story.entitlement.renewalInfo == nil)
    try story.expect([(0, .active), (1900, .active)])
    #expect(try story.entitlement.nextChange(after: Story.day(1)) == nil)
    try story.notify(.consumptionRequest, day: 3, Story.oneTime(type), reason: .other)
    try story.notify(.refund, day: 4, refunded(Story.oneTime(type), day: 4))
    try story.expect([(3.9, .active), (4, .refunded)])
    try story.notify(.refundReversed, day: 9, Story.oneTime(type))
    try story.expect([(9, .active)])
  }

  @Test("snapshots signed in the same millisecond: later events of the purchase win, in any order")
  func sameInstant() throws {
    var story = try subscribed()
    try story.notify(.refund, day: 5, refunded(Story.period(1), day: 5))
    try story.notify(.didChangeRenewalStatus, .autoRenewDisabled, day: 5, Story.period(1))
    try story.expect([(6, .refunded)])
  }

  @Test("events of one millisecond count in the order in which they happen")
  func sameMillisecond() throws {
    let refunded = refunded(Story.period(1), day: 10)
    let events: [(NotificationType, JWSTransaction)] = [
      (.consumptionRequest, Story.period(1)), (.refundDeclined, Story.period(1)), (.refund, refunded),
      (.refundReversed, Story.period(1)),
    ]
    let outcomes: [(Entitlement.Refund.Progress, Entitlement.State)] = [
      (.requested, .active), (.declined, .active), (.granted, .refunded), (.reversed, .active),
    ]
    for (earlier, first) in events.enumerated() {
      for (later, second) in events.enumerated() where earlier < later {
        // Whichever of the two arrives first.
        for delivered in [[first, second], [second, first]] {
          var story = try subscribed()
          for (type, transaction) in delivered { try story.notify(type, day: 10, transaction) }
          #expect(try story.entitlement.refund?.progress == outcomes[later].0, "\(first.0), \(second.0)")
          try story.expect([(9, .active), (11, outcomes[later].1)])
        }
      }
    }
  }

  @Test("of two snapshots of one millisecond the one with more events counts")
  func snapshotsOfOneMillisecond() throws {
    let snapshots: [(JWSTransaction, Entitlement.State)] = [
      (refunded(Story.period(1), day: 10), .refunded), (Story.period(1) { $0.isUpgraded = true }, .upgraded),
      (Story.period(1) { $0.expiresDate = Story.day(45) }, .active),
    ]
    for (changed, state) in snapshots {
      for delivered in [[Story.period(1), changed], [changed, Story.period(1)]] {
        var story = try Story()
        for transaction in delivered {
          try story.notify(.renewalExtended, day: 10, transaction, Story.renewal())
        }
        try story.expect([(40, state)])
      }
    }
  }
}

extension Entitlement {
  /// The product that replaced an upgraded one, if it is known.
  fileprivate var replacedByProductId: String? {
    guard transaction.isUpgraded == true else { return nil }
    return [renewalInfo?.productId, renewalInfo?.autoRenewProductId].compactMap(\.self)
      .first { $0 != transaction.productId }
  }
}
