// SPDX-License-Identifier: Apache-2.0

import AppStoreServer
@testable import Entitlements
import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// Refund reviews: what the stores ask, until when, what was answered and what they decided.
@Suite struct RefundReviewTests {
  private static let id = RefundReview.ID(
    store: .googlePlay, environment: nil, app: "com.example.app", identifier: "GPA.1")
  private static let start = Timestamp(millisecondsSince1970: 1_800_000_000_000)

  private static func hour(_ hours: Double) -> Timestamp { start.addingSeconds(hours * 3600) }

  private static func request(_ id: String = "r1", at hours: Double = 0) -> RefundRequestFact {
    RefundRequestFact(date: hour(hours), requestId: id, deadline: hour(hours + 24))
  }

  private static func answer(
    to request: String = "r1", at hours: Double, sent: Double? = nil, body: String? = "{}"
  ) -> RefundAnswerFact {
    var fact = RefundAnswerFact(date: hour(hours), requestId: request)
    fact.body = body
    fact.sentDate = sent.map { hour($0) }
    return fact
  }

  private static func ledger(
    request: RefundRequestFact? = request(), evidence: RefundEvidenceFact? = nil,
    answer: RefundAnswerFact? = nil, outcome: RefundOutcomeFact? = nil
  ) -> EntitlementLedger {
    var ledger = EntitlementLedger()
    ledger.apply(id, request: request, evidence: evidence, answer: answer, outcome: outcome)
    return ledger
  }

  private static func state(_ ledgers: EntitlementLedger..., at hours: Double) throws -> RefundReview.State {
    let ledger = ledgers.reduce(into: EntitlementLedger()) { $0.merge($1) }
    return try #require(ledger.refundReviews.first).state(at: hour(hours))
  }

  @Test("a review is open, then due, then missed")
  func time() throws {
    for (hours, state) in [
      (0.0, RefundReview.State.open), (19.9, .open), (20, .due), (23.9, .due), (24, .missed), (90, .missed),
    ] {
      #expect(try Self.state(Self.ledger(), at: hours) == state, "\(hours)")
    }
    let review = try #require(Self.ledger().refundReviews.first)
    #expect(review.nextDueInstant(after: Self.start) == Self.hour(20))
    #expect(review.nextDueInstant(after: Self.hour(20)) == Self.hour(24))
  }

  @Test("an answer counts when it was sent, and for its own question")
  func answers() throws {
    #expect(try Self.state(Self.ledger(answer: Self.answer(at: 1)), at: 2) == .answering)
    #expect(try Self.state(Self.ledger(answer: Self.answer(at: 1, sent: 1.1)), at: 2) == .answered)
    #expect(try Self.state(Self.ledger(answer: Self.answer(at: 1, sent: 1, body: nil)), at: 2) == .skipped)
    #expect(try Self.state(Self.ledger(answer: Self.answer(at: 1, sent: 1.1)), at: 90) == .answered)
    // The same answer, once it had arrived, counts before the one that was only begun.
    let (begun, sent) = (Self.answer(at: 1), Self.answer(at: 1, sent: 1.1))
    for ledgers in [[begun, sent], [sent, begun]] {
      #expect(
        try Self.state(Self.ledger(answer: ledgers[0]), Self.ledger(answer: ledgers[1]), at: 2) == .answered)
    }
    #expect(try Self.state(Self.ledger(answer: Self.answer(to: "r0", at: 1, sent: 1.1)), at: 2) == .open)
  }

  @Test("a decision closes the question before it, and a later question opens the review again")
  func decisions() throws {
    let declined = RefundOutcomeFact(date: Self.hour(3), outcome: "declined")
    #expect(try Self.state(Self.ledger(outcome: declined), at: 4) == .declined)
    #expect(try Self.state(Self.ledger(request: nil, outcome: declined), Self.ledger(), at: 4) == .declined)
    let again = Self.ledger(request: Self.request("r2", at: 10))
    #expect(try Self.state(Self.ledger(outcome: declined), again, at: 11) == .open)
    let answered = Self.ledger(answer: Self.answer(at: 1, sent: 1.1), outcome: declined)
    #expect(try Self.state(answered, again, at: 11) == .open)
    let granted = RefundOutcomeFact(date: Self.hour(12), outcome: "granted")
    #expect(
      try Self.state(again, Self.ledger(outcome: granted), Self.ledger(outcome: declined), at: 13) == .granted
    )
  }

  @Test("without a question there is no review")
  func noQuestion() {
    let ledger = Self.ledger(
      request: nil, outcome: RefundOutcomeFact(date: Self.start, outcome: "granted"))
    #expect(ledger.refundReviews.isEmpty)
    #expect(ledger.parts.count == 1)
  }

  @Test("the suggestion follows from the evidence")
  func suggestions() throws {
    func suggestion(_ change: (inout RefundEvidenceFact) -> Void) throws -> RefundReview.Preference {
      var evidence = RefundEvidenceFact(date: Self.hour(1))
      change(&evidence)
      return try #require(Self.ledger(evidence: evidence).refundReviews.first).suggestedPreference
    }
    #expect(try suggestion { _ in } == .undecided)
    #expect(try suggestion { $0.deliveryStatus = "DELIVERED" } == .undecided)
    #expect(try suggestion { $0.deliveryStatus = "UNDELIVERED_OTHER" } == .grant)
    #expect(try suggestion { $0.consumptionPercentage = 0 } == .grant)
    #expect(try suggestion { $0.consumptionPercentage = 50_000 } == .grantProrated)
    #expect(try suggestion { $0.consumptionPercentage = 100_000 } == .decline)
    var consumed = Self.request()
    consumed.isConsumed = true
    #expect(
      try #require(Self.ledger(request: consumed).refundReviews.first).suggestedPreference == .decline)
  }

  @Test("a ledger with reviews is encoded and read")
  func encoding() throws {
    var evidence = RefundEvidenceFact(date: Self.hour(1))
    evidence.usageEvents = [RefundUsageEvent().with { $0.ipAddress = "192.0.2.1" }]
    var ledger = Self.ledger(evidence: evidence, answer: Self.answer(at: 1, sent: 2))
    ledger.apply(
      RefundReview.ID(store: .appStore, environment: .sandbox, app: "com.example.app", identifier: "2"),
      request: Self.request())
    let read = try EntitlementLedger(decoding: ledger.encoded())
    #expect(read == ledger)
    #expect(read.encoded() == ledger.encoded())
    #expect(Set(ledger.parts.map(\.name)).count == 2)
    for record in [
      #"{"store":"app-store","app":"a","identifier":"1","facts":{}}"#,
      #"{"store":"grant","app":"a","identifier":"1","facts":{}}"#,
      #"{"store":"app-store","environment":"moon","app":"a","identifier":"1","facts":{}}"#,
      #"{"store":"google-play","app":"","identifier":"1","facts":{}}"#,
    ] {
      #expect(throws: MalformedReceipt.self, "\(record)") {
        try EntitlementLedger(
          decoding: Array(#"{"version":4,"purchases":[],"refundReviews":[\#(record)]}"#.utf8))
      }
    }
  }

  @Test("the App Store's notifications open a review, decide it, and take a decision back")
  func notifications() throws {
    var story = try Story()
    let refunded = Story.period(1) { $0.revocationDate = Story.day(3) }
    let part = Story.period(1) {
      $0.revocationDate = Story.day(3)
      $0.revocationType = .refundProrated
      $0.revocationPercentage = 40_000
    }
    try story.notify(.consumptionRequest, day: 1, Story.period(1), reason: .unintendedPurchase)
    try story.notify(.refundDeclined, day: 2, Story.period(1))
    try story.notify(.refund, day: 3, refunded)
    try story.notify(.refund, day: 4, part)
    try story.notify(.refundReversed, day: 5, Story.period(1))
    var ledger = EntitlementLedger()
    var states: [RefundReview.State] = []
    for notification in story.received {
      ledger.applyRefundReview(notification)
      states.append(try #require(ledger.refundReviews.first).state(at: Story.day(30)))
    }
    #expect(states == [.missed, .declined, .granted, .partlyGranted, .reversed])
    let review = try #require(ledger.refundReviews.first)
    #expect(review.deadline == Story.day(1).addingSeconds(12 * 3600))
    #expect(review.reason == "UNINTENDED_PURCHASE")
    #expect(review.id.identifier == "2000000001")
    #expect(ledger.parts.first?.purchase == Story.id.name)
    #expect(review.productId == Story.period(1).productId)
  }
}
