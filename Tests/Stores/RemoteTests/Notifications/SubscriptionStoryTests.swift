// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Entitlements
import ReceiptTesting
import ReceiptVerification
import Testing

/// Purchase, renewal, failure and end of a subscription, notification by notification.
@Suite struct SubscriptionStoryTests {
  private func subscribed() throws -> Story {
    var story = try Story()
    try story.notify(.subscribed, .initialBuy, day: 0, Story.period(1), Story.renewal())
    return story
  }

  /// The renewal information after a charge failed.
  private func failing(graceUntil day: Double? = nil) -> JWSRenewalInfo {
    Story.renewal {
      $0.isInBillingRetryPeriod = true
      $0.expirationIntent = .billingError
      $0.gracePeriodExpiresDate = day.map(Story.day)
    }
  }

  @Test("SUBSCRIBED/INITIAL_BUY: active until it expires, without another notification")
  func initialBuy() throws {
    let story = try subscribed()
    try story.expect([(0, .active), (29.99, .active), (30, .expired), (1000, .expired)])
    let entitlement = try story.entitlement
    #expect(entitlement.transactionId == "2000000001")
    #expect(entitlement.productId == Story.monthly)
    #expect(entitlement.renewalInfo?.autoRenewStatus == .on)
    #expect(story.ledger.latestNotice?.type == .subscribed)
    #expect(story.ledger.latestNotice?.subtype == .initialBuy)
    #expect(entitlement.nextChange(after: Story.day(1)) == Story.day(30))
    #expect(entitlement.nextChange(after: Story.day(30)) == nil)
  }

  @Test("DID_RENEW: the later period counts")
  func renewed() throws {
    var story = try subscribed()
    try story.notify(.didRenew, day: 29.5, Story.period(2), Story.renewal())
    try story.expect([(29.6, .active), (30, .active), (59, .active), (60, .expired)])
    #expect(try story.entitlement.transactionId == "2000000002")
  }

  @Test("DID_CHANGE_RENEWAL_STATUS: cancelled stays active to the end, and may be switched on again")
  func renewalStatus() throws {
    var story = try subscribed()
    try story.notify(
      .didChangeRenewalStatus, .autoRenewDisabled, day: 3, Story.period(1),
      Story.renewal { $0.autoRenewStatus = .off })
    #expect(try story.entitlement.renewalInfo?.autoRenewStatus == .off)
    try story.expect([(29, .active)])
    try story.notify(
      .didChangeRenewalStatus, .autoRenewEnabled, day: 4, Story.period(1), Story.renewal())
    #expect(try story.entitlement.renewalInfo?.autoRenewStatus == .on)
    try story.expect([(29, .active), (31, .expired)])
  }

  @Test(
    "EXPIRED: expired, with the reason",
    arguments: [
      (NotificationSubtype.voluntary, ExpirationIntent.cancelled), (.billingRetry, .billingError),
      (.priceIncrease, .priceIncreaseRefused), (.productNotForSale, .productUnavailable), (nil, .other),
    ] as [(NotificationSubtype?, ExpirationIntent)])
  func expired(subtype: NotificationSubtype?, intent: ExpirationIntent) throws {
    var story = try subscribed()
    try story.notify(
      .expired, subtype, day: 30, Story.period(1),
      Story.renewal {
        $0.expirationIntent = intent
        $0.autoRenewStatus = .off
        $0.isInBillingRetryPeriod = false
      })
    try story.expect([(29, .active), (30, .expired), (31, .expired)])
    #expect(try story.entitlement.renewalInfo?.expirationIntent == intent)
  }

  @Test("SUBSCRIBED/RESUBSCRIBE: active again under the same original transaction")
  func resubscribed() throws {
    var story = try subscribed()
    try story.notify(
      .expired, .voluntary, day: 30, Story.period(1), Story.renewal { $0.expirationIntent = .cancelled })
    let again = Story.period(4)
    try story.notify(.subscribed, .resubscribe, day: 90, again, Story.renewal())
    try story.expect([(90, .active), (119, .active), (120, .expired)])
    #expect(try story.entitlement.renewalInfo?.expirationIntent == nil)
  }

  @Test("DID_FAIL_TO_RENEW without grace period: billing retry, for at most sixty days")
  func billingRetry() throws {
    var story = try subscribed()
    try story.notify(.didFailToRenew, day: 29.5, Story.period(1), failing())
    try story.expect([
      (29.9, .active), (30, .inBillingRetry), (89.9, .inBillingRetry), (90, .expired),
    ])
    #expect(try story.entitlement.nextChange(after: Story.day(31)) == Story.day(90))
  }

  @Test("DID_FAIL_TO_RENEW/GRACE_PERIOD, then GRACE_PERIOD_EXPIRED, then EXPIRED/BILLING_RETRY")
  func gracePeriod() throws {
    var story = try subscribed()
    try story.notify(.didFailToRenew, .gracePeriod, day: 30, Story.period(1), failing(graceUntil: 46))
    try story.expect([
      (29, .active), (30, .inGracePeriod), (45.9, .inGracePeriod), (46, .inBillingRetry), (90, .expired),
    ])
    #expect(try story.entitlement.gracePeriodExpiresDate == Story.day(46))
    #expect(try story.entitlement.nextChange(after: Story.day(31)) == Story.day(46))
    try story.notify(.gracePeriodExpired, day: 46, Story.period(1), failing(graceUntil: 46))
    try story.expect([(46, .inBillingRetry), (60, .inBillingRetry)])
    try story.notify(
      .expired, .billingRetry, day: 80, Story.period(1),
      Story.renewal {
        $0.isInBillingRetryPeriod = false
        $0.expirationIntent = .billingError
      })
    try story.expect([(80, .expired), (200, .expired)])
  }

  @Test("DID_RENEW/BILLING_RECOVERY: active again, from the day of the recovery or from the renewal's")
  func recovery() throws {
    for start in [30.0, 33] {
      var story = try subscribed()
      try story.notify(.didFailToRenew, .gracePeriod, day: 30, Story.period(1), failing(graceUntil: 46))
      let recovered = Story.period(2) {
        $0.purchaseDate = Story.day(start)
        $0.expiresDate = Story.day(start + 30)
      }
      try story.notify(.didRenew, .billingRecovery, day: 33, recovered, Story.renewal())
      try story.expect([(33, .active), (start + 29, .active), (start + 30, .expired)])
    }
  }

  @Test("a failure of an earlier renewal does not affect a later period")
  func overcomeFailure() throws {
    var story = try subscribed()
    try story.notify(.didFailToRenew, .gracePeriod, day: 30, Story.period(1), failing(graceUntil: 75))
    // The renewal information of the recovery never arrived.
    try story.notify(.didRenew, .billingRecovery, day: 33, Story.period(2))
    try story.expect([(59, .active), (60, .expired), (74, .expired)])
    #expect(try story.entitlement.gracePeriodExpiresDate == nil)
  }

  @Test(
    "an earlier failure does not affect a later period in the sandbox either, where a month has five minutes")
  func overcomeFailureInMinutes() throws {
    let minute = 1 / 1440.0
    func period(_ number: Int, from start: Double) -> JWSTransaction {
      Story.period(number) {
        $0.purchaseDate = Story.day(start * minute)
        $0.expiresDate = Story.day((start + 5) * minute)
      }
    }
    var story = try Story()
    try story.notify(.subscribed, .initialBuy, day: 0, period(1, from: 0), Story.renewal())
    try story.notify(.didFailToRenew, day: 5 * minute, period(1, from: 0), failing())
    try story.expect([(6 * minute, .inBillingRetry)])
    try story.notify(.didRenew, .billingRecovery, day: 7 * minute, period(2, from: 7))
    try story.expect([(11 * minute, .active), (13 * minute, .expired)])
  }

  @Test("RENEWAL_EXTENDED: the expiry that was signed last counts, even if an older one is delivered later")
  func extended() throws {
    var story = try subscribed()
    try story.notify(
      .renewalExtended, day: 10, Story.period(1) { $0.expiresDate = Story.day(44) }, Story.renewal())
    try story.notify(
      .didChangeRenewalStatus, .autoRenewDisabled, day: 11,
      Story.period(1) { $0.signedDate = Story.day(9) }, Story.renewal { $0.autoRenewStatus = .off })
    try story.expect([(43, .active), (44, .expired)])
    #expect(try story.entitlement.renewalInfo?.autoRenewStatus == .off)
  }

  @Test("RENEWAL_EXTENSION/FAILURE does not change the customer's entitlement")
  func extensionFailed() throws {
    var story = try subscribed()
    try story.notify(.renewalExtension, .failure, day: 10, Story.period(1))
    try story.expect([(29, .active), (30, .expired)])
  }

  @Test("PRICE_INCREASE: unanswered, then agreed to")
  func priceIncrease() throws {
    var story = try subscribed()
    try story.notify(
      .priceIncrease, .pending, day: 5, Story.period(1),
      Story.renewal { $0.priceIncreaseStatus = .noResponse })
    #expect(try story.entitlement.renewalInfo?.priceIncreaseStatus == .noResponse)
    try story.notify(
      .priceIncrease, .accepted, day: 6, Story.period(1),
      Story.renewal { $0.priceIncreaseStatus = .consented })
    #expect(try story.entitlement.renewalInfo?.priceIncreaseStatus == .consented)
    try story.expect([(29, .active)])
  }

  @Test("PRICE_CHANGE, METADATA_UPDATE, MIGRATION and unknown types do not change the state")
  func neutral() throws {
    for type in [
      NotificationType.priceChange, .metadataUpdate, .migration, NotificationType(rawValue: "NEW_IN_2030"),
    ] {
      var story = try subscribed()
      try story.notify(type, day: 5, Story.period(1), Story.renewal())
      try story.expect([(29, .active), (30, .expired)])
      #expect(story.ledger.latestNotice?.type == type)
    }
  }

  @Test("a notification about a past purchase updates the current period by its renewal information")
  func laterPeriod() throws {
    for isRefunded in [false, true] {
      var story = try subscribed()
      let past = Story.period(1) { if isRefunded { $0.revocationDate = Story.day(69) } }
      let renewal = Story.renewal {
        $0.productId = Story.yearly
        $0.renewalDate = Story.day(90)
      }
      try story.notify(isRefunded ? .refund : .consumptionRequest, day: 70, past, renewal)
      try story.expect([(29, .active), (70, .active), (89, .active), (90, .expired)])
      let entitlement = try story.entitlement
      #expect(entitlement.productId(at: Story.day(29)) == Story.monthly)
      #expect(entitlement.productId(at: Story.day(71)) == Story.yearly)
      #expect(entitlement.productId(at: Story.day(91)) == nil)
      #expect(entitlement.nextChange(after: Story.day(70)) == Story.day(90))
      // The transaction of the period, and it was refunded.
      try story.notify(.refund, day: 75, Story.period(3) { $0.revocationDate = Story.day(74) }, renewal)
      try story.expect([(75, .refunded), (91, .refunded)])
      #expect(try story.entitlement.purchase.laterPeriod == nil)
    }
  }

  @Test("after sharing was revoked, renewal information is about another customer's period")
  func withdrawn() throws {
    var story = try subscribed()
    let past = Story.period(1) {
      $0.inAppOwnershipType = .familyShared
      $0.revocationDate = Story.day(69)
      $0.revocationType = .familyRevoke
    }
    try story.notify(.revoke, day: 70, past, Story.renewal { $0.renewalDate = Story.day(90) })
    try story.expect([(29, .active), (71, .revoked)])
  }

  @Test("renewal information of an ended or failed renewal starts no later period")
  func noLaterPeriod() throws {
    for renewal in [
      Story.renewal {
        $0.renewalDate = Story.day(90)
        $0.expirationIntent = .cancelled
      },
      failing(), Story.renewal { $0.renewalDate = Story.day(30) }, Story.renewal(),
    ] {
      var story = try subscribed()
      try story.notify(.consumptionRequest, day: 100, Story.period(1), renewal)
      try story.expect([(29, .active), (101, .expired)])
    }
  }

  @Test("a subscription without an expiry date grants nothing")
  func withoutExpiry() throws {
    var story = try Story()
    try story.notify(.subscribed, .initialBuy, day: 0, Story.period(1) { $0.expiresDate = nil })
    try story.expect([(1, .expired)])
  }
}
