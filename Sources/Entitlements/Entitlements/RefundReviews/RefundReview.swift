// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
package import ReceiptVerification

extension RefundReview {
  /// The time before the deadline, in seconds, from which a review is due.
  package static let warningTime: Double = 4 * 3600

  /// The store's reason, as it states it.
  public var reason: String? { request.reason }
  /// The time at which the store asked.
  public var requestedDate: Timestamp { request.date }
  /// The time until which the store takes an answer.
  public var deadline: Timestamp { request.deadline }
  /// The product.
  public var productId: String? { request.productId }

  /// The answer to the present question; `nil` if only an earlier one was answered.
  package var currentAnswer: RefundAnswerFact? {
    answer.flatMap { $0.requestId == request.requestId ? $0 : nil }
  }

  /// The decision over the present question; `nil` if only an earlier one was decided.
  private var currentOutcome: RefundOutcomeFact? {
    outcome.flatMap { $0.date >= request.date ? $0 : nil }
  }

  /// Returns the state at an instant.
  public func state(at instant: Timestamp) -> State {
    if let outcome = currentOutcome, instant >= outcome.date {
      return State(rawValue: outcome.outcome) ?? .granted
    }
    if let answer = currentAnswer, instant >= answer.date {
      if answer.body == nil { return .skipped }
      if answer.sentDate != nil { return .answered }
      // What did not arrive in time does not arrive.
      return instant >= deadline ? .missed : .answering
    }
    return unansweredState(at: instant)
  }

  private func unansweredState(at instant: Timestamp) -> State {
    if instant >= deadline { return .missed }
    return instant >= deadline.addingSeconds(-Self.warningTime) ? .due : .open
  }

  /// `true` for a subscription of the App Store, which computes the used share itself.
  package var isAutoRenewable: Bool { request.productType == ProductType.autoRenewableSubscription.rawValue }

  /// Indicates whether the purchase was delivered, as the backend or the ledger knows it.
  package var isDelivered: Bool? {
    evidence?.deliveryStatus.map { $0 == "DELIVERED" } ?? request.isDelivered
  }

  /// The part that was used, in thousandths of a percent; `nil` if it is not known.
  package var consumedShare: Int64? {
    evidence?.consumptionPercentage ?? (request.isConsumed == true ? 100_000 : nil)
  }

  /// The wish that follows from the evidence.
  ///
  /// What was not delivered or not used is refunded, what was used up is not, and of the rest the unused part is. Without
  /// evidence there is no wish.
  public var suggestedPreference: Preference {
    if isDelivered == false { return .grant }
    switch consumedShare {
    case nil: return .undecided
    case 0: return .grant
    case .some(100_000...): return .decline
    case .some: return .grantProrated
    }
  }
}

extension RefundReview.ID: StoreLineID {
  package var name: String {
    ["refund-review", store.rawValue, environment?.rawValue, app, identifier].compactMap(\.self)
      .joined(separator: " ")
  }

  package static func isLower(_ left: Self, _ right: Self) -> Bool? {
    FactOrder.isLower(left.name, right.name)
  }

  /// The name of the part of a ledger that has the purchase, by its original transaction or purchase token.
  func purchaseName(_ purchase: String) -> String? {
    switch store {
    case .appStore:
      environment.map {
        Entitlement.ID(environment: $0, bundleId: app, originalTransactionId: purchase).name
      }
    case .googlePlay: PlayEntitlement.ID(packageName: app, purchaseToken: purchase)?.name
    case .grant: nil
    }
  }
}

extension RefundReview: StoreLine {
  package static var source: EntitlementSource? { nil }
  package static var reportType: String { "refund-review" }
  package static var identifierMember: String { "refundReviewId" }
  package static var listedKind: String? { "refund-review" }
  package static var customerMembers: [String] { [] }

  package var statedCustomer: String? { request.account }
  package var listedDate: Timestamp? { requestedDate }
  package var dueInstants: [Timestamp] {
    [
      deadline, deadline.addingSeconds(-Self.warningTime), currentAnswer?.date, currentOutcome?.date,
    ].compactMap(\.self)
  }
  package var timeline: StandingTimeline? { nil }

  package func condition(at instant: Timestamp) -> State { state(at: instant) }
  package func holdings(at instant: Timestamp) -> [LineHolding] { [] }

  package func report(to object: inout JSONWriter, at instant: Timestamp) {
    object.member("store", id.store.rawValue)
    object.member("environment", id.environment?.plainName)
    object.member(id.store == .appStore ? "bundleId" : "packageName", id.app)
    object.member("state", state(at: instant).rawValue)
    object.member("requestedDate", requestedDate)
    object.member("deadline", deadline)
    object.member("reason", reason)
    object.member(id.store == .appStore ? "originalTransactionId" : "purchaseToken", request.purchase)
    object.member("productId", request.productId)
    object.member("productType", request.productType)
    object.member("purchaseDate", request.purchaseDate)
    object.member("expiresDate", request.expiresDate)
    object.member("price", request.price)
    object.member("currency", request.currency)
    object.object("evidence") { object in
      object.member("customerConsented", evidence?.customerConsented)
      object.member("isDelivered", isDelivered)
      object.member("deliveryStatus", evidence?.deliveryStatus)
      object.member("sampleContentProvided", evidence?.sampleContentProvided)
      object.member("consumptionPercentage", consumedShare)
      object.member("playTime", evidence?.playTime)
      object.member("usageEventCount", evidence?.usageEvents.map { Int64($0.count) })
    }
    object.member("suggestedPreference", suggestedPreference.rawValue)
    if let answer = currentAnswer {
      object.object("answer") { object in
        object.member("date", answer.date)
        object.member("preference", answer.preference)
        object.member("answeredBy", answer.actor)
        object.member("sentDate", answer.sentDate)
        object.member("body", answer.body)
      }
    }
    object.member("decidedDate", currentOutcome?.date)
  }

  package func snapshot(to object: inout JSONWriter, at instant: Timestamp) {
    let state = state(at: instant)
    // That an answer was sent is told when it arrived.
    object.member("state", (state == .answering ? unansweredState(at: instant) : state).rawValue)
    // A second question about the same purchase is a change, although it has the state of the first.
    object.member("requestedDate", requestedDate)
  }
}

extension RefundReviewLine: LineFacts {
  static let invalidIdentity = "A refund review names its store, its app, and a transaction or an order."

  static func decode(_ record: RefundReviewRecord) -> (RefundReview.ID, Self)? {
    let environment = record.environment.map { ReceiptEnvironment.Category(rawValue: $0) }
    guard let store = EntitlementSource(rawValue: record.store), store != .grant, !record.app.isEmpty,
      !record.identifier.isEmpty, environment.map({ $0 != nil }) ?? (store == .googlePlay)
    else { return nil }
    return (
      RefundReview.ID(
        store: store, environment: environment ?? nil, app: record.app, identifier: record.identifier),
      record.facts
    )
  }

  func record(_ id: RefundReview.ID) -> RefundReviewRecord {
    var record = RefundReviewRecord()
    record.store = id.store.rawValue
    record.environment = id.environment?.rawValue
    record.app = id.app
    record.identifier = id.identifier
    record.facts = self
    return record
  }

  /// The maximum number of questions that are kept.
  private static let maximumRequestCount = 8

  /// The latest question.
  var request: RefundRequestFact? { requests?.last }

  mutating func join(_ other: Self) {
    requests = Self.joined(requests ?? [], other.requests ?? [])
    evidence = .higher(evidence, other.evidence)
    answer = .higher(answer, other.answer)
    outcome = .higher(outcome, other.outcome)
  }

  private static func joined(
    _ left: [RefundRequestFact], _ right: [RefundRequestFact]
  ) -> [RefundRequestFact]? {
    let byIdentifier = Dictionary((left + right).map { ($0.requestId, $0) }) { one, other in
      RefundRequestFact.higher(one, other) ?? one
    }
    let ordered = byIdentifier.values.sorted {
      FactOrder.isLower($0.date, $1.date) ?? FactOrder.isLower($0.requestId, $1.requestId) ?? false
    }
    return ordered.isEmpty ? nil : Array(ordered.suffix(maximumRequestCount))
  }

  func line(_ id: RefundReview.ID) -> RefundReview? {
    request.map { RefundReview(id: id, request: $0, evidence: evidence, answer: answer, outcome: outcome) }
  }

  func purchaseName(_ id: RefundReview.ID) -> String? {
    (request?.purchase ?? outcome?.purchase).flatMap(id.purchaseName)
  }

  var withdrawals: Self? { nil }
}

extension RefundRequestFact: PurchaseFact {
  /// Compares two statements of one question: the one that knows the purchase counts, and of two the first.
  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(purchase != nil, other.purchase != nil) ?? FactOrder.isLower(other.date, date)
  }
}

extension RefundEvidenceFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(date, other.date) }
}

extension RefundAnswerFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? {
    FactOrder.isLower(date, other.date) ?? FactOrder.isLower(sentDate, other.sentDate)
  }
}

extension RefundOutcomeFact: PurchaseFact {
  func isLower(than other: Self) -> Bool? { FactOrder.isLower(date, other.date) }
}

extension EntitlementLedger {
  /// The refund reviews, in order.
  package var refundReviews: [RefundReview] { reviews.lines }

  /// Merges facts about a refund review.
  package mutating func apply(
    _ id: RefundReview.ID, request: RefundRequestFact? = nil, evidence: RefundEvidenceFact? = nil,
    answer: RefundAnswerFact? = nil, outcome: RefundOutcomeFact? = nil
  ) {
    var line = RefundReviewLine()
    line.requests = request.map { [$0] }
    line.evidence = evidence
    line.answer = answer
    line.outcome = outcome
    reviews.join(line, to: id)
  }

  /// Merges what a notification of the App Store says about a refund review: that it opens, or that it is decided.
  ///
  /// ``apply(_:)`` leaves it out.
  package mutating func applyRefundReview(_ notification: AppStoreNotification) {
    guard let transaction = notification.transaction, let transactionId = transaction.transactionId,
      let bundleId = notification.bundleId, let environment = notification.environment?.category,
      let date = notification.signedDate
    else { return }
    let id = RefundReview.ID(
      store: .appStore, environment: environment, app: bundleId, identifier: transactionId)
    func outcome(_ state: RefundReview.State) -> RefundOutcomeFact {
      var fact = RefundOutcomeFact(date: date, outcome: state.rawValue)
      fact.purchase = transaction.originalTransactionId
      return fact
    }
    switch notification.type {
    case .consumptionRequest:
      var fact = RefundRequestFact(
        date: date, requestId: notification.uuid?.rawValue ?? "", deadline: date.addingSeconds(12 * 3600))
      fact.reason = notification.notification.data?.consumptionRequestReason?.rawValue
      fact.purchase = transaction.originalTransactionId
      fact.productId = transaction.productId
      fact.productType = transaction.type?.rawValue
      fact.purchaseDate = transaction.purchaseDate
      fact.expiresDate = transaction.expiresDate
      fact.price = transaction.price
      fact.currency = transaction.currency
      fact.account = transaction.appAccountToken?.rawValue
      apply(id, request: fact)
    case .refund:
      let isPartial =
        transaction.revocationType == .refundProrated
        || transaction.revocationPercentage.map { $0 < 100_000 } ?? false
      apply(id, outcome: outcome(isPartial ? .partlyGranted : .granted))
    case .refundDeclined: apply(id, outcome: outcome(.declined))
    case .refundReversed: apply(id, outcome: outcome(.reversed))
    default: break
    }
  }
}
