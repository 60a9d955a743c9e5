// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// A policy that requires a current purchase, which is a verdict on the standing of the purchases.
@Suite struct CurrentPurchaseTests {
  private let running = SampleReceipts.expiresAt.addingSeconds(-0.001)
  private let over = SampleReceipts.expiresAt

  private func verifier(at now: Timestamp = Fixture.now) throws -> ReceiptVerifier {
    let keys = try TestReceipts.appKeys()
    return try Fixture.verifier(at: now) {
      $0.appKeys = keys
      $0.environments = [.production, .sandbox]
      $0.requiresCurrentPurchase = true
    }
  }

  private func code(_ receipt: [UInt8], at now: Timestamp = Fixture.now) throws -> ReasonCode? {
    let verdict = try verifier(at: now).verify(receipt)
    #expect((verdict.receipt == nil) == (verdict.reason != nil))
    return verdict.reason?.code
  }

  @Test(
    "a subscription is current until the instant at which it expires",
    arguments: [ReceiptKind.signedTransaction, .signedNotification, .huaweiPurchase])
  func expiry(kind: ReceiptKind) throws {
    let receipt = try Fixture.sample(kind)
    #expect(try code(receipt, at: running) == nil)
    #expect(try code(receipt, at: over) == .notCurrent)
    #expect(try Fixture.verifierOfAllStores().verify(receipt).receipt != nil)
  }

  @Test("the instant is that of the time rule if that names one")
  func timeRule() throws {
    let receipt = try Fixture.sample(.signedTransaction)
    for (instant, code) in [(running, nil), (over, ReasonCode.notCurrent)] {
      let verifier = try Fixture.verifier(at: over.addingSeconds(86_400)) {
        $0.requiresCurrentPurchase = true
        $0.timeRule = .at(instant)
      }
      #expect(verifier.verify(receipt).reason?.code == code)
    }
  }

  @Test("a copy of the app that was bought for a time, and all its purchases, end with that time")
  func expiredReceipt() throws {
    let end = SampleReceipts.expiresAt.addingSeconds(-1000)
    let limited = try Fixture.receipts.appReceipt { $0.expirationDate = end }
    let empty = try Fixture.receipts.appReceipt {
      $0.expirationDate = end
      $0.inAppPurchases = []
    }
    for receipt in [limited, empty] {
      #expect(try code(receipt, at: end.addingSeconds(-1)) == nil)
      #expect(try code(receipt, at: end) == .notCurrent)
    }
    #expect(try code(Fixture.receipts.appReceipt { $0.inAppPurchases = [] }) == .notCurrent)
  }

  @Test("what was refunded before a copy of the app ended is refunded then")
  func refundBeforeExpiry() throws {
    let end = SampleReceipts.expiresAt.addingSeconds(-1000)
    let receipt = try Fixture.receipts.appReceipt { payload in
      payload.expirationDate = end
      for index in payload.inAppPurchases.indices {
        payload.inAppPurchases[index].cancellationDate = payload.inAppPurchases[index].purchaseDate
      }
    }
    let verified = try #require(try Fixture.verifierOfAllStores().verify(receipt).receipt)
    #expect(Set(verified.purchases.map { $0.standing(at: end).status }) == [.refunded])
  }

  @Test("a receipt without a purchase is not current, and one that does not tell is undetermined")
  func withoutPurchase() throws {
    #expect(try code(Fixture.sample(.signedAppTransaction)) == .notCurrent)
    let announced = try Fixture.receipts.signedNotification { $0.data?.signedTransactionInfo = nil }
    #expect(try code(Array(announced.utf8)) == .notCurrent)
    #expect(try code(Fixture.sample(.signedRenewalInfo)) == .standingUnknown)
    #expect(try code(Fixture.sample(.signedRealtimeRequest)) == .standingUnknown)
    #expect(try code(Fixture.receipts.googlePlayPurchase { $0.autoRenewing = true }) == .standingUnknown)
    #expect(try code(Fixture.receipts.googlePlayPurchase { $0.purchaseState = .pending }) == .notCurrent)
  }

  @Test("a licence is current if it was granted, until its validity ends")
  func license() throws {
    #expect(try code(Fixture.sample(.googlePlayLicense)) == nil)
    let receipt = try #require(
      try Fixture.verifierOfAllStores().verify(Fixture.sample(.googlePlayLicense)).receipt)
    guard case .detached(.googlePlayLicense(let license)) = receipt.content else {
      Issue.record("\(receipt.content)")
      return
    }
    let end = try #require(license.validUntil)
    #expect(try code(Fixture.sample(.googlePlayLicense), at: end) == .notCurrent)
  }

  @Test("of several purchases one that stands is enough, and is all that is to be granted")
  func severalPurchases() throws {
    let receipt = try Fixture.receipts.appReceipt { payload in
      payload.inAppPurchases += payload.inAppPurchases.map { purchase in
        var refunded = purchase
        refunded.transactionId = "99"
        refunded.cancellationDate = purchase.purchaseDate
        return refunded
      }
    }
    let verified = try #require(try verifier().verify(receipt).receipt)
    let standings = verified.purchases.map { $0.standing(at: Fixture.now).status }
    #expect(Set(standings) == [.active, .refunded])
    let granted = verified.activePurchases(at: Fixture.now)
    #expect(granted.count == standings.count / 2)
    #expect(!granted.contains { $0.transactionId == "99" })
    #expect(verified.standing(at: Fixture.now)?.status == .active)
  }

  // MARK: Checkers

  private func verdict(
    _ receipt: [UInt8], at now: Timestamp = Fixture.now, _ answer: CheckerAnswer
  ) async throws -> Verdict {
    try await verifier(at: now).verify(receipt, checkers: [FakeChecker(answers: [answer])])
  }

  private func confirmed(_ purchases: CheckedStanding...) -> CheckerAnswer {
    .response(CheckerResponse(.confirmed, environment: .production, purchases: purchases))
  }

  @Test("a standing that the receipt does not tell is the store's")
  func askedStanding() async throws {
    let receipt = try Fixture.receipts.googlePlayPurchase { $0.autoRenewing = true }
    let end = Fixture.now.addingSeconds(60)
    let valid = try await verdict(receipt, confirmed(CheckedStanding(status: .active, expiresDate: end)))
    let purchase = try #require(valid.receipt?.purchases.first)
    #expect(purchase.standing(at: Fixture.now).source == .store)
    #expect(purchase.standing(at: Fixture.now).until == end)
    #expect(purchase.standing(at: end).status == .expired)
    for status in [PurchaseStanding.Status.expired, .refunded, .consumed] {
      let refused = try await verdict(receipt, confirmed(CheckedStanding(status: status)))
      #expect(refused.reason?.code == .notCurrent)
      #expect(refused.checks.count == 1)
    }
    #expect(try await verdict(receipt, confirmed()).reason?.code == .standingUnknown)
    let other = confirmed(CheckedStanding(status: .active, productId: "another"))
    #expect(try await verdict(receipt, other).reason?.code == .standingUnknown)
    let failure = CheckerAnswer.retryableFailure(message: "away")
    #expect(try await verdict(receipt, failure).reason?.code == .checkerUnavailable)
  }

  @Test("an expired purchase is asked about, since the store may know of a renewal; a refunded one is not")
  func renewed() async throws {
    let receipt = try Fixture.sample(.signedTransaction)
    let now = over.addingSeconds(60)
    func confirmed(_ purchases: CheckedStanding...) -> CheckerAnswer {
      .response(CheckerResponse(.confirmed, environment: .sandbox, purchases: purchases))
    }
    let active = CheckedStanding(status: .active, expiresDate: now.addingSeconds(1))
    #expect(try await verdict(receipt, at: now, confirmed(active)).receipt != nil)
    #expect(try await verdict(receipt, at: now, confirmed()).reason?.code == .notCurrent)
    let revoked = CheckerAnswer.response(CheckerResponse(.revoked(at: now)))
    #expect(try await verdict(receipt, at: now, revoked).reason?.code == .revoked)
    let refunded = try Fixture.receipts.signedTransaction { $0.revocationDate = $0.purchaseDate }
    let refusal = try await verdict(Array(refunded.utf8), confirmed(active))
    #expect(refusal.reason?.code == .notCurrent)
    #expect(refusal.checks.isEmpty)
  }

  @Test("a refund of a part leaves the rest, and one that a checker names ends the purchase")
  func partialRefund() async throws {
    let receipt = try Fixture.receipts.googlePlayPurchase { $0.quantity = 3 }
    let valid = try await verdict(receipt, confirmed(CheckedStanding(status: .active, quantity: 2)))
    #expect(valid.receipt?.purchases.first?.remainingQuantity(at: Fixture.now) == 2)
    let order = try #require(valid.receipt?.purchases.first?.transactionId)
    let answer = CheckerAnswer.response(
      CheckerResponse(
        .confirmed, environment: .production,
        revokedTransactions: [.init(transactionId: order, revocationDate: Fixture.now)]))
    let verifier = try Fixture.verifierOfAllStores()
    let refunded = try #require(
      await verifier.verify(receipt, checkers: [FakeChecker(answers: [answer])]).receipt?.purchases.first)
    #expect(
      refunded.standing(at: Fixture.now)
        == .init(status: .refunded, since: Fixture.now, until: nil, source: .store))
    #expect(refunded.remainingQuantity(at: Fixture.now) == 0)
    #expect(refunded.revocationDate == Fixture.now)
  }

  @Test("an expired purchase whose environment is not proven needs a checker for both")
  func expiredAndUnproven() async throws {
    // The signature of a transaction receipt does not cover its environment.
    let receipt = try Fixture.receipts.transactionReceipt { $0.expiresDate = over }
    let now = over.addingSeconds(60)
    let keys = try TestReceipts.appKeys()
    let verifier = try Fixture.verifier(at: now) {
      $0.appKeys = keys
      $0.environments = [.production]
      $0.requiresCurrentPurchase = true
    }
    let active = CheckedStanding(status: .active, expiresDate: now.addingSeconds(1))
    func answer(_ environment: ReceiptEnvironment.Category?) -> CheckerAnswer {
      .response(CheckerResponse(.confirmed, environment: environment, purchases: [active]))
    }
    for (environment, code) in [
      (nil, ReasonCode.environmentUnproven), (.sandbox, .wrongEnvironment), (.production, nil),
    ] as [(ReceiptEnvironment.Category?, ReasonCode?)] {
      let checker = FakeChecker(answers: [answer(environment)])
      #expect(await verifier.verify(receipt, checkers: [checker]).reason?.code == code)
    }
  }

  @Test(
    "what a ledger states counts where no store was asked, and a ledger that knows nothing changes nothing")
  func ledger() async throws {
    let receipt = try Fixture.receipts.googlePlayPurchase { $0.quantity = 3 }
    let verifier = try Fixture.verifierOfAllStores()
    let refunded = CheckedStanding(status: .refunded, since: Fixture.now, source: .ledger)
    let active = CheckedStanding(status: .active)
    func standing(_ answers: [CheckerResponse]) async throws -> PurchaseStanding {
      let checkers = answers.map { FakeChecker(answers: [.response($0)]) }
      return try #require(await verifier.verify(receipt, checkers: checkers).receipt?.purchases.first)
        .standing(at: Fixture.now)
    }
    let ofLedger = CheckerResponse(.confirmed, purchases: [refunded])
    let ofStore = CheckerResponse(.confirmed, purchases: [active])
    let alone = try await standing([ofLedger])
    #expect(alone.status == .refunded && alone.source == .ledger)
    for answers in [[ofLedger, ofStore], [ofStore, ofLedger]] {
      let asked = try await standing(answers)
      #expect(asked.status == .active && asked.source == .store)
    }
    let silent = try await standing([CheckerResponse(.unknown)])
    #expect(silent.status == .active && silent.source == .receipt)
    // What requires a statement is not met by silence.
    let unknown = CheckerAnswer.response(CheckerResponse(.unknown))
    let subscription = try Fixture.receipts.googlePlayPurchase { $0.autoRenewing = true }
    #expect(try await verdict(subscription, unknown).reason?.code != nil)
  }

  @Test("where checkers contradict each other, the purchase does not stand, in either order")
  func contradiction() async throws {
    let receipt = try Fixture.receipts.googlePlayPurchase { $0.quantity = 3 }
    let verifier = try Fixture.verifierOfAllStores()
    let order = try #require(verifier.verify(receipt).receipt?.purchases.first?.transactionId)
    let active = CheckerResponse(.confirmed, purchases: [CheckedStanding(status: .active, quantity: 3)])
    let consumed = CheckerResponse(.confirmed, purchases: [CheckedStanding(status: .consumed, quantity: 2)])
    let refunded = CheckerResponse(
      .confirmed, revokedTransactions: [.init(transactionId: order, revocationDate: Fixture.now)])
    for (other, status) in [(consumed, PurchaseStanding.Status.consumed), (refunded, .refunded)] {
      for answers in [[active, other], [other, active]] {
        let checkers = answers.map { FakeChecker(answers: [.response($0)]) }
        let purchase = try #require(
          await verifier.verify(receipt, checkers: checkers).receipt?.purchases.first)
        #expect(purchase.standing(at: Fixture.now).status == status)
        #expect(!purchase.grantsAccess(at: Fixture.now))
      }
    }
  }
}
