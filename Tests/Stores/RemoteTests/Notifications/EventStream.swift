// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import Entitlements
import ReceiptTesting

/// One thing that a ledger learns, in plain values: what notifications and history amount to once verified.
struct StreamEvent: Sendable {
  var id: Entitlement.ID
  var notification: Notification
  var transaction: JWSTransaction?
  var renewalInfo: JWSRenewalInfo?

  var line: PurchaseLine {
    PurchaseLine(
      notification, transaction: transaction, renewalInfo: renewalInfo, signedDate: notification.signedDate)
  }
}

extension EntitlementLedger {
  init(_ events: some Sequence<StreamEvent>) {
    self.init()
    for event in events { purchases.join(event.line, to: event.id) }
  }
}

/// Streams of events for three original transactions.
struct StreamGenerator {
  static let types: [NotificationType] = [
    .subscribed, .didChangeRenewalPref, .didChangeRenewalStatus, .offerRedeemed, .didRenew, .expired,
    .didFailToRenew, .gracePeriodExpired, .priceIncrease, .refund, .refundDeclined, .refundReversed,
    .consumptionRequest, .renewalExtended, .renewalExtension, .revoke, .oneTimeCharge, .metadataUpdate,
    .migration, .priceChange, NotificationType(rawValue: "UNKNOWN"),
  ]

  var random: SeededRandom

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private mutating func day(_ range: Range<Int>) -> Timestamp {
    Story.day(Double(Int.random(in: range, using: &random)))
  }

  private mutating func maybe(_ range: Range<Int>, percent: Int) -> Timestamp? {
    chance(percent) ? day(range) : nil
  }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: 0..<values.count, using: &random)]
  }

  private mutating func someID() -> Entitlement.ID {
    Entitlement.ID(
      environment: pick([.sandbox, .sandbox, .production]), bundleId: SampleReceipts.bundleId,
      originalTransactionId: pick(["2000000001", "2000000002"]))
  }

  /// Events that agree with each other in nothing: dates from a narrow range, so that most are equal to some
  /// other, or absent; purchase dates that change; any field with any type.
  mutating func hostile() -> [StreamEvent] {
    let count = Int.random(in: 1...14, using: &random)
    return (0..<count).map { _ in hostileEvent() }
  }

  private mutating func hostileEvent() -> StreamEvent {
    let id = someID()
    var event = StreamEvent(
      id: id,
      notification: Notification().with {
        $0.notificationType = chance(95) ? pick(Self.types) : nil
        $0.notificationUUID = chance(90) ? UUIDString(rawValue: pick(["a", "b", "c"])) : nil
        $0.signedDate = maybe(0..<6, percent: 90)
        $0.data = NotificationData().with {
          $0.status = chance(30) ? SubscriptionStatus(rawValue: pick([1, 2, 3, 4, 5])) : nil
          $0.consumptionRequestReason = chance(20) ? pick([.legal, .other]) : nil
        }
      })
    if chance(85) {
      // "é" in two spellings that Swift calls equal.
      event.transaction = JWSTransaction().with {
        $0.originalTransactionId = id.originalTransactionId
        $0.transactionId = chance(95) ? pick(["9", "10", "11"]) : nil
        $0.bundleId = id.bundleId
        $0.productId = pick([Story.monthly, Story.yearly, "caf\u{E9}", "cafe\u{301}"])
        $0.purchaseDate = maybe(0..<4, percent: 95)
        $0.expiresDate = maybe(3..<8, percent: 85)
        $0.type = chance(80) ? .autoRenewableSubscription : pick([.consumable, nil])
        $0.inAppOwnershipType = pick([.purchased, .familyShared, nil])
        $0.signedDate = maybe(0..<6, percent: 80)
        $0.revocationDate = maybe(0..<6, percent: 25)
        $0.isUpgraded = pick([true, false, nil, nil])
        $0.revocationType = chance(30) ? pick([.refundFull, .familyRevoke]) : nil
      }
    }
    if chance(70) {
      event.renewalInfo = JWSRenewalInfo().with {
        $0.originalTransactionId = id.originalTransactionId
        $0.autoRenewProductId = pick([Story.monthly, Story.yearly])
        $0.autoRenewStatus = pick([.on, .off])
        $0.isInBillingRetryPeriod = pick([true, true, false, nil])
        $0.gracePeriodExpiresDate = maybe(3..<12, percent: 40)
        $0.signedDate = maybe(0..<8, percent: 85)
        $0.renewalDate = maybe(3..<12, percent: 50)
      }
    }
    return event
  }

  /// Events as a store sends them: each signed at an instant of its own, with what it then knew; purchase
  /// dates that stay; in the order of signing.
  mutating func plausible() -> [StreamEvent] {
    var lines: [(id: Entitlement.ID, transactions: [JWSTransaction])] = ["2000000001", "2000000101"].map {
      let id = Entitlement.ID(
        environment: .sandbox, bundleId: SampleReceipts.bundleId, originalTransactionId: $0)
      return (id, [Story.period(1) { $0.originalTransactionId = id.originalTransactionId }])
    }
    let count = Int.random(in: 1...25, using: &random)
    return (0..<count).map { number in
      let signedDate = Story.day(Double(number * 5) + 0.5)
      let index = Int.random(in: 0..<lines.count, using: &random)
      var type = pick(Self.types)
      if [.didRenew, .subscribed].contains(type) {
        let period = lines[index].transactions.count + 1
        let originalTransactionId = lines[index].id.originalTransactionId
        let start = Double(number * 5) + 0.25
        lines[index].transactions.append(
          Story.period(period) {
            $0.originalTransactionId = originalTransactionId
            $0.purchaseDate = Story.day(start)
            $0.expiresDate = Story.day(start + 30)
          })
      }
      // Mostly about the present period.
      let transactions = lines[index].transactions
      let which = chance(75) ? transactions.count - 1 : Int.random(in: 0..<transactions.count, using: &random)
      var transaction = transactions[which]
      switch type {
      case .refund, .revoke: if chance(80) { transaction.revocationDate = signedDate.addingSeconds(-60) }
      case .refundReversed: if chance(70) { transaction.revocationDate = nil }
      case .renewalExtended: transaction.expiresDate = transaction.expiresDate?.addingSeconds(864_000)
      case .didChangeRenewalPref: if chance(30) { transaction.isUpgraded = true }
      case .didChangeRenewalStatus: if chance(50) { transaction.revocationDate = nil }
      default: break
      }
      lines[index].transactions[which] = transaction
      let renewalDate = lines[index].transactions.last?.expiresDate
      transaction.signedDate = signedDate
      if chance(5) { type = NotificationType(rawValue: "UNKNOWN") }
      let isFailing = [.didFailToRenew, .gracePeriodExpired].contains(type)
      return StreamEvent(
        id: lines[index].id,
        notification: Notification().with {
          $0.notificationType = type
          $0.notificationUUID = UUIDString(rawValue: "\(number)")
          $0.signedDate = signedDate
        },
        transaction: transaction,
        renewalInfo: chance(80)
          ? Story.renewal {
            $0.isInBillingRetryPeriod = isFailing
            $0.gracePeriodExpiresDate = isFailing && number % 2 == 0 ? signedDate.addingSeconds(864_000) : nil
            $0.signedDate = signedDate
            $0.renewalDate = renewalDate
          } : nil)
    }
  }
}
