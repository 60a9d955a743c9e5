// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptBytes
import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptTesting
import StoreSimulation
import Storefront
import Testing

/// The notification, transaction and renewal information of each operation. After every step the ledger of the folded
/// notifications is compared with the engine.
@Suite struct SubscriptionScenarioTests {
  private let start = StoreFixture.start
  private var random = SeededGenerator(seed: 1)

  private func fold(
    grace: Int? = nil, declined: Bool = false, keys: Bool = false
  ) throws -> Fold {
    var options = SubscriptionEngine.Options(bundleIdentifier: StoreFixture.bundle, seed: 1)
    options.gracePeriodDays = grace
    if declined { options.billing = BillingPolicy { _ in false } }
    if keys { options.offerKeys = ["K1": try TestKeys.developer().publicKey] }
    return try Fold(options)
  }

  private func date(_ text: String) throws -> Timestamp { try Timestamp(iso8601: text) }

  @Test mutating func aSubscriptionStartsRenewsAndExpires() throws {
    var fold = try fold()
    let id = try fold.subscribe("gold", "alice", at: start)
    #expect(fold.last(9) == ["SUBSCRIBED INITIAL_BUY"])
    fold.agrees(at: start, shuffled: &random)
    try fold.advance(to: date("2025-02-01T00:00:00Z"))
    #expect(fold.last(9) == ["SUBSCRIBED INITIAL_BUY", "DID_RENEW"])
    let renewal = try #require(fold.events.last)
    #expect(renewal.transaction.transactionReason == .renewal)
    #expect(renewal.transaction.originalTransactionId == id)
    #expect(renewal.transaction.transactionId != id)
    #expect(renewal.transaction.price == 10_000)
    #expect(try renewal.transaction.expiresDate == date("2025-03-01T00:00:00Z"))
    #expect(renewal.renewalInfo?.renewalDate == renewal.transaction.expiresDate)
    #expect(renewal.status == .active)
    let cancelled = try date("2025-02-10T00:00:00Z")
    try fold.run(at: cancelled) { try $0.perform(.setAutoRenew(false, of: id)) }
    #expect(fold.last(1) == ["DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED"])
    try fold.run(at: cancelled) { try $0.perform(.setAutoRenew(true, of: id)) }
    try fold.run(at: cancelled) { try $0.perform(.setAutoRenew(true, of: id)) }
    try fold.run(at: cancelled) { try $0.perform(.setAutoRenew(false, of: id)) }
    #expect(
      fold.last(3) == [
        "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_ENABLED",
        "DID_CHANGE_RENEWAL_STATUS AUTO_RENEW_DISABLED",
      ])
    fold.agrees(at: cancelled, shuffled: &random)
    let end = try date("2025-03-01T00:00:00Z")
    try fold.advance(to: end)
    #expect(fold.last(1) == ["EXPIRED VOLUNTARY"])
    #expect(fold.events.last?.renewalInfo?.expirationIntent == .cancelled)
    #expect(fold.engine[id]?.status(at: end) == .expired)
    fold.agrees(at: end, shuffled: &random)
    #expect(throws: SubscriptionError.self) {
      try fold.run(at: end) { try $0.perform(.setAutoRenew(true, of: id)) }
    }
    #expect(try fold.subscribe("gold", "alice", at: end) == id)
    #expect(fold.last(1) == ["SUBSCRIBED RESUBSCRIBE"])
    fold.agrees(at: end, shuffled: &random)
  }

  @Test func periodsEndOnTheDayOnWhichTheyBegan() throws {
    var fold = try fold()
    let id = try fold.subscribe("gold", "alice", at: date("2025-01-31T12:00:00Z"))
    var ends = [fold.engine[id]?.expiresDate]
    for _ in 0..<4 {
      try fold.advance(to: try #require(fold.engine[id]?.expiresDate))
      ends.append(fold.engine[id]?.expiresDate)
    }
    #expect(
      ends.map { $0?.iso8601 } == [
        "2025-02-28T12:00:00.000Z", "2025-03-31T12:00:00.000Z", "2025-04-30T12:00:00.000Z",
        "2025-05-31T12:00:00.000Z", "2025-06-30T12:00:00.000Z",
      ])
  }

  @Test mutating func aFailedRenewalHasAGracePeriodAndRetries() throws {
    var fold = try fold(grace: 16, declined: true)
    let id = try fold.subscribe("gold", "alice", at: start)
    let end = try date("2025-02-01T00:00:00Z")
    try fold.advance(to: end)
    #expect(fold.last(1) == ["DID_FAIL_TO_RENEW GRACE_PERIOD"])
    #expect(fold.events.last?.renewalInfo?.isInBillingRetryPeriod == true)
    #expect(fold.events.last?.renewalInfo?.gracePeriodExpiresDate == end.addingSeconds(16 * 86_400))
    #expect(fold.events.last?.status == .gracePeriod)
    fold.agrees(at: end, shuffled: &random)
    try fold.advance(to: end.addingSeconds(16 * 86_400))
    #expect(fold.last(1) == ["GRACE_PERIOD_EXPIRED"])
    fold.agrees(at: end.addingSeconds(16 * 86_400), shuffled: &random)
    try fold.advance(to: end.addingSeconds(60 * 86_400 - 1))
    #expect(fold.engine[id]?.status(at: end.addingSeconds(60 * 86_400 - 1)) == .inBillingRetry)
    try fold.advance(to: end.addingSeconds(60 * 86_400))
    #expect(fold.last(1) == ["EXPIRED BILLING_RETRY"])
    #expect(fold.events.last?.renewalInfo?.expirationIntent == .billingError)
    fold.agrees(at: end.addingSeconds(60 * 86_400), shuffled: &random)
  }

  @Test mutating func recoveryInTheGracePeriodKeepsTheDateAndLaterStartsANewPeriod() throws {
    for (day, expected) in [(10.0, "2025-03-01T00:00:00.000Z"), (20.0, "2025-03-21T00:00:00.000Z")] {
      var fold = try fold(grace: 16, declined: true)
      let id = try fold.subscribe("gold", "alice", at: start)
      let paid = try date("2025-02-01T00:00:00Z").addingSeconds(day * 86_400)
      try fold.advance(to: paid)
      try fold.run(at: paid) { try $0.perform(.renewNow(id)) }
      #expect(fold.last(1) == ["DID_RENEW BILLING_RECOVERY"])
      #expect(fold.engine[id]?.expiresDate.iso8601 == expected)
      fold.agrees(at: paid, shuffled: &random)
    }
    var fold = try fold(declined: true)
    _ = try fold.subscribe("gold", "alice", at: start)
    try fold.advance(to: date("2025-02-03T00:00:00Z"))
    #expect(fold.last(1) == ["DID_FAIL_TO_RENEW"])
    // Buying the same product again pays the renewal, and nothing is charged twice.
    _ = try fold.subscribe("gold", "alice", at: date("2025-02-03T00:00:00Z"))
    #expect(fold.last(1) == ["DID_RENEW BILLING_RECOVERY"])
  }

  @Test mutating func upgradesAreAtOnceDowngradesAtTheRenewal() throws {
    var fold = try fold()
    let id = try fold.subscribe("silver.plus", "alice", at: start)
    let first = try #require(fold.events.last?.transaction)
    let day = start.addingSeconds(86_400)
    _ = try fold.subscribe("gold", "alice", at: day)
    #expect(fold.last(1) == ["DID_CHANGE_RENEWAL_PREF UPGRADE"])
    let upgrade = try #require(fold.events.last)
    #expect(upgrade.transaction.productId == "gold")
    #expect(upgrade.transaction.originalTransactionId == id)
    #expect(upgrade.replacedTransaction?.transactionId == first.transactionId)
    #expect(upgrade.replacedTransaction?.isUpgraded == true)
    #expect(upgrade.replacedTransaction?.expiresDate == upgrade.transaction.purchaseDate)
    #expect(upgrade.replacedTransaction?.revocationDate == nil)
    fold.agrees(at: day, shuffled: &random)

    let answer = try fold.engine.subscribe("silver.plus", account: "alice", at: day)
    try fold.add(answer.events)
    #expect(!answer.events.contains { $0.isNewTransaction })
    #expect(answer.transaction.transactionId == upgrade.transaction.transactionId)
    #expect(fold.last(1) == ["DID_CHANGE_RENEWAL_PREF DOWNGRADE"])
    #expect(fold.events.last?.renewalInfo?.autoRenewProductId == "silver.plus")
    try fold.run(at: day) { try $0.perform(.changeRenewal(of: id, to: "gold")) }
    #expect(fold.last(1) == ["DID_CHANGE_RENEWAL_PREF"])
    try fold.run(at: day) { try $0.perform(.changeRenewal(of: id, to: "bronze")) }
    fold.agrees(at: day, shuffled: &random)
    try fold.advance(to: day.addingSeconds(31 * 86_400))
    #expect(fold.last(1) == ["DID_RENEW"])
    #expect(fold.engine[id]?.productIdentifier == "bronze")
    #expect(fold.events.last?.transaction.price == 20_000)
    fold.agrees(at: day.addingSeconds(31 * 86_400), shuffled: &random)
    #expect(throws: SubscriptionError.self) {
      try fold.run(at: day.addingSeconds(31 * 86_400)) { try $0.perform(.changeRenewal(of: id, to: "news")) }
    }
  }

  @Test mutating func crossgradesOfTheSameLengthAreAtOnce() throws {
    var fold = try fold()
    let id = try fold.subscribe("silver.plus", "alice", at: start)
    try fold.run(at: start.addingSeconds(9)) { try $0.perform(.changeRenewal(of: id, to: "silver")) }
    #expect(fold.last(1) == ["DID_CHANGE_RENEWAL_PREF UPGRADE"])
    #expect(fold.engine[id]?.productIdentifier == "silver")
    // A change of product gets no introductory offer, which is only for new subscribers.
    #expect(fold.events.last?.transaction.offerType == nil)
    fold.agrees(at: start.addingSeconds(9), shuffled: &random)
  }

  @Test func theSameAgainIsNotChargedAgain() throws {
    var fold = try fold()
    _ = try fold.subscribe("gold", "alice", at: start)
    let again = try fold.engine.subscribe("gold", account: "alice", at: start.addingSeconds(60))
    #expect(!again.events.contains { $0.isNewTransaction })
    #expect(again.events.isEmpty)
    #expect(again.transaction.transactionId == fold.events.last?.transaction.transactionId)
  }

  @Test mutating func introductoryOffersAreForTheFirstTime() throws {
    var fold = try fold()
    let id = try fold.subscribe("silver", "alice", at: start)
    let trial = try #require(fold.events.last?.transaction)
    #expect(trial.offerType == .introductory)
    #expect(trial.offerDiscountType == .freeTrial)
    #expect(trial.price == 0)
    #expect(trial.offerPeriod == "P1W")
    #expect(trial.expiresDate == start.addingSeconds(7 * 86_400))
    #expect(throws: SubscriptionError.self) {
      try fold.run(at: start) { try $0.perform(.extend(id, byDays: 5)) }
    }
    try fold.advance(to: start.addingSeconds(7 * 86_400))
    #expect(fold.events.last?.transaction.price == 5000)
    #expect(fold.events.last?.transaction.offerType == nil)
    try fold.run(at: start.addingSeconds(8 * 86_400)) { try $0.perform(.setAutoRenew(false, of: id)) }
    let later = start.addingSeconds(100 * 86_400)
    try fold.advance(to: later)
    _ = try fold.subscribe("silver", "alice", at: later)
    #expect(fold.last(1) == ["SUBSCRIBED RESUBSCRIBE"])
    #expect(fold.events.last?.transaction.offerType == nil)
    #expect(fold.events.last?.transaction.price == 5000)
    fold.agrees(at: later, shuffled: &random)
  }

  @Test mutating func codesWorkOnceAndForEligibleCustomers() throws {
    var fold = try fold()
    let id = try fold.subscribe("silver", "alice", offer: .code("WELCOME"), at: start)
    #expect(fold.events.last?.transaction.offerType == .offerCode)
    #expect(fold.events.last?.transaction.offerIdentifier == "welcome")
    let refused: (PaymentOffer) -> StoreError.Code? = { [engine = fold.engine, start] offer in
      var engine = engine
      do throws(StoreError) {
        _ = try engine.subscribe("silver", account: "alice", offer: offer, at: start)
        return nil
      } catch { return error.code }
    }
    #expect(refused(.code("WELCOME")) == .ineligibleForOffer)
    #expect(refused(.code("NONSENSE")) == .invalidOfferIdentifier)
    #expect(refused(.winBack("come-back")) == .ineligibleForOffer)
    _ = try fold.subscribe("silver", "alice", offer: .code("SPRING"), at: start.addingSeconds(60))
    #expect(fold.last(1) == ["OFFER_REDEEMED"])
    #expect(fold.events.last?.renewalInfo?.offerIdentifier == "spring")
    #expect(fold.events.last?.renewalInfo?.renewalPrice == 5000)
    fold.agrees(at: start.addingSeconds(60), shuffled: &random)
    try fold.advance(to: date("2025-02-01T00:00:00Z"))
    #expect(fold.events.last?.transaction.offerIdentifier == "spring")
    // Paid up front: one period of two months.
    #expect(fold.engine[id]?.expiresDate.iso8601 == "2025-04-01T00:00:00.000Z")
    try fold.advance(to: date("2025-04-01T00:00:00Z"))
    #expect(fold.events.last?.transaction.offerIdentifier == nil)
    #expect(fold.engine[id]?.expiresDate.iso8601 == "2025-05-01T00:00:00.000Z")
    let later = try date("2025-04-02T00:00:00Z")
    let again = #expect(throws: StoreError.self) {
      _ = try fold.subscribe("silver", "alice", offer: .code("SPRING"), at: later)
    }
    #expect(again?.code == .ineligibleForOffer)
  }

  @Test func purchasesThatAnotherMemberPaidForAreNotRefunded() throws {
    var fold = try fold()
    _ = try fold.subscribe("gold", "alice", at: start)
    var shared = try #require(fold.events.last?.transaction)
    shared.inAppOwnershipType = .familyShared
    let error = #expect(throws: SubscriptionError.self) {
      try fold.run(at: start) { try $0.refund(shared, account: "alice") }
    }
    #expect(error?.code == .familyShared)
  }

  @Test mutating func formerPayingSubscribersCanRedeemWinBackOffers() throws {
    var fold = try fold()
    let id = try fold.subscribe("silver", "alice", at: start)
    try fold.run(at: start.addingSeconds(60)) { try $0.perform(.renewNow(id)) }
    try fold.run(at: start.addingSeconds(90)) { try $0.perform(.setAutoRenew(false, of: id)) }
    let later = start.addingSeconds(100 * 86_400)
    try fold.advance(to: later)
    #expect(fold.events.last?.renewalInfo?.eligibleWinBackOfferIds == ["come-back"])
    _ = try fold.subscribe("silver", "alice", offer: .winBack("come-back"), at: later)
    #expect(fold.last(1) == ["SUBSCRIBED RESUBSCRIBE"])
    #expect(fold.events.last?.transaction.offerType == .winBack)
    // Pay as you go for two periods.
    var prices: [Int64?] = []
    for _ in 0..<3 {
      prices.append(fold.events.last?.transaction.price)
      try fold.advance(to: try #require(fold.engine[id]?.expiresDate))
    }
    #expect(prices == [1000, 1000, 5000])
    fold.agrees(at: try #require(fold.events.last?.signedDate), shuffled: &random)
  }

  @Test func winBackOffersOfAProductThatIsNotForSaleAreNone() throws {
    var fold = try fold()
    let id = try fold.subscribe("gold", "alice", at: start)
    try fold.run(at: start.addingSeconds(60)) { try $0.perform(.renewNow(id)) }
    try fold.run(at: start.addingSeconds(90)) { try $0.perform(.setAutoRenew(false, of: id)) }
    try fold.run(at: start.addingSeconds(91)) { try $0.perform(.setForSale(false, "silver")) }
    try fold.advance(to: start.addingSeconds(100 * 86_400))
    #expect(fold.events.last?.type == .expired)
    #expect(fold.events.last?.renewalInfo?.eligibleWinBackOfferIds == nil)
  }

  @Test func winBackOffersOfTheWholeGroupAreForFormerSubscribers() throws {
    var fold = try fold()
    let id = try fold.subscribe("gold", "alice", at: start)
    try fold.run(at: start.addingSeconds(60)) { try $0.perform(.renewNow(id)) }
    try fold.run(at: start.addingSeconds(90)) { try $0.perform(.setAutoRenew(false, of: id)) }
    // As long as she subscribes, the offer is not for her.
    let early = #expect(throws: StoreError.self) {
      _ = try fold.subscribe("silver", "alice", offer: .winBack("come-back"), at: start.addingSeconds(120))
    }
    #expect(early?.code == .ineligibleForOffer)
    let later = start.addingSeconds(100 * 86_400)
    try fold.advance(to: later)
    #expect(fold.events.last?.renewalInfo?.eligibleWinBackOfferIds == ["come-back"])
    _ = try fold.subscribe("silver", "alice", offer: .winBack("come-back"), at: later)
    #expect(fold.last(1) == ["SUBSCRIBED RESUBSCRIBE"])
    #expect(fold.events.last?.transaction.offerIdentifier == "come-back")
    // Once is enough.
    try fold.run(at: later.addingSeconds(60)) { try $0.perform(.setAutoRenew(false, of: id)) }
    let last = later.addingSeconds(300 * 86_400)
    try fold.advance(to: last)
    #expect(fold.events.last?.renewalInfo?.eligibleWinBackOfferIds == nil)
    let again = #expect(throws: StoreError.self) {
      _ = try fold.subscribe("silver", "alice", offer: .winBack("come-back"), at: last)
    }
    #expect(again?.code == .ineligibleForOffer)
  }

  @Test func winBackOffersOfAnotherGroupAreNotForItsFormerSubscribers() throws {
    var fold = try fold()
    let id = try fold.subscribe("news", "bob", at: start)
    try fold.run(at: start.addingSeconds(60)) { try $0.perform(.renewNow(id)) }
    try fold.run(at: start.addingSeconds(90)) { try $0.perform(.setAutoRenew(false, of: id)) }
    let later = start.addingSeconds(800 * 86_400)
    try fold.advance(to: later)
    #expect(fold.events.last?.type == .expired)
    #expect(fold.events.last?.renewalInfo?.eligibleWinBackOfferIds == nil)
    let error = #expect(throws: StoreError.self) {
      _ = try fold.subscribe("silver", "bob", offer: .winBack("come-back"), at: later)
    }
    #expect(error?.code == .ineligibleForOffer)
  }

  @Test mutating func promotionalOffersNeedTheDevelopersSignature() throws {
    var fold = try fold(keys: true)
    let developer = try DeveloperSigner(
      privateKey: TestKeys.developer(), keyId: "K1", issuerId: "57246542-96fe-1a63-e053-0824d011072a",
      bundleId: StoreFixture.bundle)
    func offer(
      _ now: Timestamp, username: String = "User", nonce: UUIDString = DeveloperSigner.randomNonce(),
      identifier: String = "loyal"
    ) throws -> PromotionalOfferRedemption {
      let signed = try developer.promotionalOfferSignature(
        productId: "silver", offerIdentifier: identifier, appAccountToken: username, nonce: nonce,
        timestamp: now)
      return PromotionalOfferRedemption(
        identifier: identifier, keyIdentifier: "K1", nonce: signed.nonce.rawValue.uppercased(),
        signature: try Base64.decode(Array(signed.encodedSignature.utf8)), timestamp: signed.timestamp)
    }
    func refusal(
      _ redemption: PromotionalOfferRedemption, by account: String = "alice", username: String = "User",
      at now: Timestamp
    ) -> StoreError.Code? {
      var engine = fold.engine
      do throws(StoreError) {
        _ = try engine.subscribe(
          "silver", account: account, applicationUsername: username, offer: .promotional(redemption), at: now)
        return nil
      } catch { return error.code }
    }
    let id = try fold.subscribe("silver", "alice", username: "User", at: start)
    let now = start.addingSeconds(60)
    let good = try offer(now)
    #expect(refusal(good, by: "stranger", at: now) == .ineligibleForOffer)
    #expect(refusal(try offer(now, username: "Other"), at: now) == .invalidSignature)
    // U+2063 separates the signed fields, and our signer refuses it inside one.
    for (username, expected) in [("user", nil), ("us\u{2063}er", .invalidSignature)]
      as [(String, StoreError.Code?)]
    {
      let nonce = DeveloperSigner.randomNonce().rawValue
      let fields = [StoreFixture.bundle, "K1", "silver", "loyal", username, nonce, "\(good.timestamp)"]
      let signature = try TestKeys.developer().signature(
        for: Array(fields.joined(separator: "\u{2063}").utf8), using: .ecdsa(.sha256))
      let redemption = PromotionalOfferRedemption(
        identifier: "loyal", keyIdentifier: "K1", nonce: nonce, signature: signature,
        timestamp: good.timestamp)
      #expect(refusal(redemption, username: username, at: now) == expected)
    }
    #expect(refusal(try offer(now, identifier: "none"), at: now) == .invalidOfferIdentifier)
    #expect(refusal(good, at: now.addingSeconds(86_401)) == .invalidSignature)
    #expect(refusal(try offer(now.addingSeconds(3600)), at: now) == .invalidSignature)
    for index in good.signature.indices {
      var signature = good.signature
      signature[index] ^= 1
      let forged = PromotionalOfferRedemption(
        identifier: good.identifier, keyIdentifier: good.keyIdentifier, nonce: good.nonce,
        signature: signature,
        timestamp: good.timestamp)
      #expect(refusal(forged, at: now) == .invalidSignature)
    }
    let otherKey = PromotionalOfferRedemption(
      identifier: good.identifier, keyIdentifier: "K2", nonce: good.nonce, signature: good.signature,
      timestamp: good.timestamp)
    #expect(refusal(otherKey, at: now) == .invalidSignature)
    let noNonce = PromotionalOfferRedemption(
      identifier: good.identifier, keyIdentifier: "K1", nonce: "x", signature: good.signature,
      timestamp: good.timestamp)
    #expect(refusal(noNonce, at: now) == .missingOfferParameters)

    _ = try fold.subscribe("silver", "alice", offer: .promotional(good), username: "User", at: now)
    #expect(fold.last(1) == ["OFFER_REDEEMED"])
    #expect(refusal(good, at: now) == .invalidSignature)
    try fold.advance(to: start.addingSeconds(7 * 86_400))
    #expect(fold.events.last?.transaction.offerType == .promotional)
    #expect(fold.events.last?.transaction.price == 2000)
    #expect(fold.engine[id]?.renewalOffer?.remaining == 2)
    fold.agrees(at: start.addingSeconds(7 * 86_400), shuffled: &random)
  }

  @Test mutating func aHigherPriceNeedsConsent() throws {
    let day = start.addingSeconds(86_400)
    let end = try date("2025-02-01T00:00:00Z")
    for answer in [nil, true, false] {
      var fold = try fold()
      let id = try fold.subscribe("gold", "alice", at: start)
      try fold.run(at: day) { try $0.perform(.changePrice(of: "gold", to: 12, needsConsent: true)) }
      #expect(fold.last(1) == ["PRICE_INCREASE PENDING"])
      #expect(fold.events.last?.renewalInfo?.priceIncreaseStatus == .noResponse)
      if let answer {
        try fold.run(at: day) { try $0.perform(.answerPriceIncrease(of: id, consents: answer)) }
      }
      fold.agrees(at: day, shuffled: &random)
      try fold.advance(to: end)
      if answer == true {
        #expect(fold.last(2) == ["PRICE_INCREASE ACCEPTED", "DID_RENEW"])
        #expect(fold.events.last?.transaction.price == 12_000)
      } else {
        #expect(fold.last(1) == ["EXPIRED PRICE_INCREASE"])
        #expect(fold.events.last?.renewalInfo?.expirationIntent == .priceIncreaseRefused)
      }
      fold.agrees(at: end, shuffled: &random)
    }
    var fold = try fold()
    _ = try fold.subscribe("gold", "alice", at: start)
    try fold.run(at: day) { try $0.perform(.changePrice(of: "gold", to: 11, needsConsent: false)) }
    #expect(fold.last(1) == ["PRICE_INCREASE ACCEPTED"])
    try fold.run(at: day) { try $0.perform(.changePrice(of: "gold", to: 9, needsConsent: true)) }
    #expect(fold.last(1) == ["PRICE_INCREASE ACCEPTED"])
    try fold.advance(to: end)
    #expect(fold.events.last?.transaction.price == 9000)
  }

  @Test mutating func productsNotForSaleDoNotRenew() throws {
    var fold = try fold()
    _ = try fold.subscribe("gold", "alice", at: start)
    try fold.run(at: fold.engine.ledger.time) { try $0.perform(.setForSale(false, "gold")) }
    try fold.advance(to: date("2025-02-01T00:00:00Z"))
    #expect(fold.last(1) == ["EXPIRED PRODUCT_NOT_FOR_SALE"])
    #expect(fold.events.last?.renewalInfo?.expirationIntent == .productUnavailable)
    fold.agrees(at: try date("2025-02-01T00:00:00Z"), shuffled: &random)
    #expect(throws: StoreError.self) { try fold.subscribe("gold", "alice", at: start) }
  }

  @Test mutating func extensionsMoveTheEndTwiceAYear() throws {
    var fold = try fold()
    let id = try fold.subscribe("gold", "alice", at: start)
    for days in [0, 91] {
      #expect(throws: SubscriptionError.self) {
        try fold.run(at: start) { try $0.perform(.extend(id, byDays: days)) }
      }
    }
    for _ in 0..<2 { try fold.run(at: start) { try $0.perform(.extend(id, byDays: 5)) } }
    #expect(fold.last(2) == ["RENEWAL_EXTENDED", "RENEWAL_EXTENDED"])
    #expect(fold.engine[id]?.expiresDate.iso8601 == "2025-02-11T00:00:00.000Z")
    #expect(throws: SubscriptionError.self) {
      try fold.run(at: start) { try $0.perform(.extend(id, byDays: 5)) }
    }
    fold.agrees(at: start, shuffled: &random)
    try fold.advance(to: date("2025-02-10T23:59:59Z"))
    #expect(fold.last(1) == ["RENEWAL_EXTENDED"])
    try fold.advance(to: date("2025-02-11T00:00:00Z"))
    #expect(fold.last(1) == ["DID_RENEW"])
  }

  @Test mutating func refundsAreGrantedDeclinedAndUndone() throws {
    var fold = try fold()
    let id = try fold.subscribe("gold", "alice", at: start)
    let bought = try #require(fold.engine[id]?.transaction)
    let day = start.addingSeconds(86_400)
    try fold.run(at: day) {
      $0.notify(
        .consumptionRequest, about: bought, account: "alice", reason: .unintendedPurchase)
    }
    #expect(fold.last(1) == ["CONSUMPTION_REQUEST"])
    #expect(fold.events.last?.consumptionRequestReason == .unintendedPurchase)
    try fold.run(at: day) { $0.notify(.refundDeclined, about: bought, account: "alice") }
    #expect(fold.last(1) == ["REFUND_DECLINED"])
    try fold.run(at: day) {
      try $0.refund(bought, account: "alice", reason: .issue, amount: .prorated(30_000))
    }
    #expect(fold.last(1) == ["REFUND"])
    let refunded = try #require(fold.events.last?.transaction)
    #expect(refunded.revocationReason == .issue)
    #expect(refunded.revocationType == .refundProrated)
    #expect(refunded.revocationPercentage == 30_000)
    #expect(refunded.revocationDate != nil)
    #expect(fold.events.last?.status == .revoked)
    #expect(fold.events.last?.renewalInfo?.autoRenewStatus == .off)
    fold.agrees(at: day, shuffled: &random)
    #expect(throws: SubscriptionError.self) {
      try fold.run(at: day) { try $0.refund(refunded, account: "alice") }
    }
    try fold.run(at: day) { try $0.reverseRefund(of: refunded, account: "alice") }
    #expect(fold.last(1) == ["REFUND_REVERSED"])
    fold.agrees(at: day, shuffled: &random)
    #expect(fold.engine[id]?.status(at: day.addingSeconds(1)) == .active)
    try fold.advance(to: date("2025-02-01T00:00:00Z"))
    #expect(fold.last(1) == ["EXPIRED VOLUNTARY"])
    fold.agrees(at: try date("2025-02-01T00:00:00Z"), shuffled: &random)
  }

  @Test mutating func familiesFollowThePayer() throws {
    var fold = try fold(grace: 3)
    let id = try fold.subscribe("gold", "alice", at: start)
    let day = start.addingSeconds(86_400)
    try fold.run(at: day) { try $0.addToFamily("bob", of: "alice") }
    #expect(fold.last(1) == ["SUBSCRIBED INITIAL_BUY"])
    let member = try #require(fold.engine.subscriptions(of: "bob").first)
    #expect(member.isFamilyShared)
    #expect(member.id != id)
    #expect(member.transaction.inAppOwnershipType == .familyShared)
    #expect(member.transaction.price == 0)
    #expect(member.expiresDate == fold.engine[id]?.expiresDate)
    fold.agrees(at: day, shuffled: &random)
    try fold.advance(to: date("2025-02-01T00:00:00Z"))
    #expect(fold.last(2) == ["DID_RENEW", "DID_RENEW"])
    #expect(throws: SubscriptionError.self) {
      try fold.run(at: day) { try $0.perform(.setAutoRenew(false, of: member.id)) }
    }
    try fold.run(at: fold.engine.ledger.time) { try $0.perform(.setBillingIssue(true, of: "alice")) }
    try fold.advance(to: date("2025-03-02T00:00:00Z"))
    #expect(fold.last(2) == ["DID_FAIL_TO_RENEW GRACE_PERIOD", "DID_FAIL_TO_RENEW GRACE_PERIOD"])
    fold.agrees(at: try date("2025-03-02T00:00:00Z"), shuffled: &random)
    try fold.run(at: date("2025-03-02T00:00:00Z")) { try $0.perform(.renewNow(id)) }
    try fold.run(at: fold.engine.ledger.time) { try $0.perform(.setBillingIssue(false, of: "alice")) }
    let now = try date("2025-03-05T00:00:00Z")
    let paid = try #require(fold.engine[id]?.transaction)
    try fold.run(at: now) { try $0.refund(paid, account: "alice") }
    #expect(fold.last(2) == ["REFUND", "REVOKE"])
    #expect(fold.engine[member.id]?.status(at: now.addingSeconds(1)) == .revoked)
    fold.agrees(at: now, shuffled: &random)
    let refunded = try #require(fold.engine[id]?.transaction)
    try fold.run(at: now) { try $0.reverseRefund(of: refunded, account: "alice") }
    #expect(fold.last(2) == ["REFUND_REVERSED", "SUBSCRIBED RESUBSCRIBE"])
    fold.agrees(at: now, shuffled: &random)
    // To a product that is not shared, and back.
    try fold.run(at: now) { try $0.perform(.changeRenewal(of: id, to: "silver")) }
    try fold.advance(to: date("2025-04-02T00:00:00Z"))
    #expect(fold.last(2) == ["DID_RENEW", "REVOKE"])
    try fold.run(at: date("2025-04-03T00:00:00Z")) { try $0.perform(.changeRenewal(of: id, to: "gold")) }
    #expect(fold.last(2) == ["DID_CHANGE_RENEWAL_PREF UPGRADE", "SUBSCRIBED RESUBSCRIBE"])
    try fold.run(at: date("2025-04-04T00:00:00Z")) { try $0.removeFromFamily("bob") }
    #expect(fold.last(1) == ["REVOKE"])
    fold.agrees(at: try date("2025-04-04T00:00:00Z"), shuffled: &random)
    #expect(throws: SubscriptionError.self) {
      try fold.run(at: date("2025-04-04T00:00:00Z")) { try $0.revokeSharing(member.id) }
    }
  }
}
