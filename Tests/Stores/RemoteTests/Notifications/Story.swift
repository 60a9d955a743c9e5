// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import Entitlements
import ReceiptTesting
import ReceiptVerification
import Testing

/// The story of one subscription, in days since it was bought: genuinely signed notifications, received and folded one
/// after the other.
struct Story {
  static let originalTransactionId = "2000000001"
  static let monthly = "com.example.app.monthly"
  static let yearly = "com.example.app.yearly"

  private(set) var ledger = EntitlementLedger()
  private(set) var received: [AppStoreNotification] = []
  private let receipts: TestReceipts
  private let receiver: NotificationReceiver

  init() throws {
    receipts = try TestReceipts()
    receiver = NotificationReceiver(verifier: try Self.verifier())
  }

  static func verifier(
    _ change: (inout VerificationPolicy) -> Void = { _ in }, limits: ReceiptLimits = .standard
  ) throws -> ReceiptVerifier {
    var policy = VerificationPolicy(
      bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox])
    change(&policy)
    return ReceiptVerifier(
      trust: try TestAuthority.es256().trustAnchors, policy: policy, limits: limits,
      clock: FixedClock(day(2000)).reading)
  }

  static func day(_ days: Double) -> Timestamp { SampleReceipts.purchasedAt.addingSeconds(days * 86_400) }

  static let id = Entitlement.ID(
    environment: .sandbox, bundleId: SampleReceipts.bundleId, originalTransactionId: originalTransactionId)

  /// The transaction of a period of thirty days; periods count from one.
  static func period(
    _ number: Int, _ change: (inout JWSTransaction) -> Void = { _ in }
  ) -> JWSTransaction {
    var transaction = SampleReceipts.transaction
    transaction.transactionId = "\(2_000_000_000 + number)"
    transaction.purchaseDate = day(30 * Double(number - 1))
    transaction.expiresDate = day(30 * Double(number))
    transaction.transactionReason = number == 1 ? .purchase : .renewal
    transaction.signedDate = nil
    change(&transaction)
    return transaction
  }

  /// A purchase that is no subscription.
  static func oneTime(
    _ type: ProductType, _ change: (inout JWSTransaction) -> Void = { _ in }
  ) -> JWSTransaction {
    period(1) {
      $0.type = type
      $0.expiresDate = nil
      $0.subscriptionGroupIdentifier = nil
      $0.productId = "com.example.app.thing"
      change(&$0)
    }
  }

  static func renewal(_ change: (inout JWSRenewalInfo) -> Void = { _ in }) -> JWSRenewalInfo {
    var renewalInfo = SampleReceipts.renewalInfo
    renewalInfo.signedDate = nil
    renewalInfo.renewalDate = nil
    change(&renewalInfo)
    return renewalInfo
  }

  /// Delivers a notification. Parts without a date of their own are signed when it is.
  mutating func notify(
    _ type: NotificationType, _ subtype: NotificationSubtype? = nil, day: Double,
    _ transaction: JWSTransaction? = nil, _ renewalInfo: JWSRenewalInfo? = nil,
    reason: ConsumptionRequestReason? = nil
  ) throws {
    let signedDate = Self.day(day)
    let number = received.count
    let signedTransaction = try transaction.map { transaction in
      try receipts.signedTransaction {
        $0 = transaction
        $0.signedDate = transaction.signedDate ?? signedDate
      }
    }
    let signedRenewalInfo = try renewalInfo.map { renewalInfo in
      try receipts.signedRenewalInfo {
        $0 = renewalInfo
        $0.signedDate = renewalInfo.signedDate ?? signedDate
      }
    }
    let jws = try receipts.signedNotification {
      $0.notificationType = type
      $0.subtype = subtype
      $0.notificationUUID = UUIDString(rawValue: "00000000-0000-4000-8000-\(100_000_000_000 + number)")
      $0.signedDate = signedDate
      $0.data?.status = nil
      $0.data?.consumptionRequestReason = reason
      $0.data?.signedTransactionInfo = signedTransaction
      $0.data?.signedRenewalInfo = signedRenewalInfo
    }
    let notification = try receiver.receive(Array(#"{"signedPayload":"\#(jws)"}"#.utf8))
    received.append(notification)
    ledger.apply(notification)
  }

  var entitlement: Entitlement {
    get throws { try #require(ledger[Self.id]) }
  }

  func state(_ day: Double) throws -> Entitlement.State { try entitlement.state(at: Self.day(day)) }

  /// Expects these states on these days, and the same ledger from the deliveries backwards, in random orders
  /// and with each one twice.
  func expect(
    _ states: [(day: Double, state: Entitlement.State)], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    for (day, state) in states {
      #expect(try self.state(day) == state, "on day \(day)", sourceLocation: sourceLocation)
      let grants = state == .active || state == .inGracePeriod
      #expect(
        try entitlement.grantsAccess(at: Self.day(day)) == grants, "on day \(day)",
        sourceLocation: sourceLocation)
    }
    var random = SeededRandom(seed: 7)
    for order in [received.reversed(), received + received]
      + (0..<10).map({ _ in received.shuffled(using: &random) })
    {
      var other = EntitlementLedger()
      for notification in order { other.apply(notification) }
      #expect(other.encoded() == ledger.encoded(), sourceLocation: sourceLocation)
    }
  }
}

/// SplitMix64: the same numbers for the same seed everywhere.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

extension EntitlementLedger {
  /// The latest notification about the subscription; history from the App Store Server API leaves it unchanged.
  var latestNotice: (type: NotificationType?, subtype: NotificationSubtype?)? {
    purchases.facts[Story.id]?.notice.map { ($0.notificationType, $0.subtype) }
  }
}
