// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  package import Entitlements
  internal import ReceiptBytes
  package import ReceiptCodec

  extension StoredEntitlement {
    package var refundReview: RefundReview? { ledger.refundReviews.first }
  }

  extension ServiceEntitlements {
    /// The columns of a review, whose customer is the one of its purchase.
    private static let reviewColumns =
      "ledgers.name, ledgers.identifier, coalesce(purchases.customer, ledgers.customer), ledgers.ledger FROM ledgers "
      + "LEFT JOIN ledgers AS purchases ON purchases.app = ledgers.app AND purchases.name = ledgers.purchase"

    /// The refund reviews of an app, latest question first.
    package func refundReviews(
      app: String, since instant: Timestamp = Timestamp(millisecondsSince1970: 0), limit: Int = 1000
    ) async throws -> [StoredEntitlement] {
      try await database.rows(
        """
        SELECT \(Self.reviewColumns) WHERE ledgers.app = $1 AND ledgers.kind = $2 AND ledgers.heard >= $3
        ORDER BY ledgers.heard DESC, ledgers.name LIMIT $4
        """, .text(app), .text(RefundReview.listedKind), .integer(instant.milliseconds),
        .integer(Int64(limit))
      ).map { try StoredEntitlement($0) }
    }

    /// The refund reviews of a transaction or an order, latest question first: one for each environment.
    package func refundReviews(app: String, identifier: String) async throws -> [StoredEntitlement] {
      try await database.rows(
        """
        SELECT \(Self.reviewColumns) WHERE ledgers.app = $1 AND ledgers.identifier = $2 AND ledgers.kind = $3
        ORDER BY ledgers.heard DESC, ledgers.name
        """, .text(app), .text(identifier), .text(RefundReview.listedKind)
      ).map { try StoredEntitlement($0) }
    }

    /// The refund reviews of a purchase, by the name of its part, latest question first.
    package func refundReviews(app: String, purchase name: String) async throws -> [StoredEntitlement] {
      try await database.rows(
        """
        SELECT \(Self.reviewColumns) WHERE ledgers.app = $1 AND ledgers.purchase = $2 AND ledgers.kind = $3
        ORDER BY ledgers.heard DESC, ledgers.name LIMIT 100
        """, .text(app), .text(name), .text(RefundReview.listedKind)
      ).map { try StoredEntitlement($0) }
    }

    /// The refund reviews of a customer's purchases, latest question first.
    package func refundReviews(
      app: String, customer: String, limit: Int = 1000
    ) async throws -> [StoredEntitlement] {
      let customer = RecordingOptions.canonicalCustomer(customer)
      return try await database.rows(
        """
        SELECT \(Self.reviewColumns) WHERE ledgers.app = $1 AND ledgers.kind = $2 AND (
          ledgers.customer = $3
          OR ledgers.purchase IN (SELECT name FROM ledgers AS owned WHERE owned.app = $1 AND owned.customer = $3))
        ORDER BY ledgers.heard DESC, ledgers.name LIMIT $4
        """, .text(app), .text(RefundReview.listedKind), .text(customer), .integer(Int64(limit))
      ).map { try StoredEntitlement($0) }.filter { UTF8Text.isIdentical($0.customer, customer) }
    }

    /// States evidence for a review.
    ///
    /// - Throws: ``RefundAnswerFailure``; ``DatabaseError``.
    package func state(
      _ evidence: RefundAnswer, for name: String, app: String, by actor: String
    ) async throws {
      try evidence.validate()
      try await changeReview(name, app: app) { review, now in
        var change = EntitlementLedger()
        change.apply(
          review.id, evidence: evidence.evidence(after: review.evidence, actor: actor, at: now))
        return (change, nil)
      }
    }

    /// What would be sent as an answer; `nil` for a review that is skipped.
    ///
    /// - Throws: ``RefundAnswerFailure``.
    package func body(
      of answer: RefundAnswer, to review: RefundReview, by actor: String
    ) throws(RefundAnswerFailure) -> String? {
      try answer.validate()
      if answer.skips { return nil }
      let full = review.with(answer.evidence(after: review.evidence, actor: actor, at: clock()))
      return try full.body(answer.preference ?? full.suggestedPreference)
    }

    /// Answers a review at its store, once.
    ///
    /// The answer is stored before it is sent, so that no other answer follows one of which it is not known whether it
    /// arrived; the same answer can be sent again.
    ///
    /// - Throws: ``RefundAnswerFailure``; ``DatabaseError``.
    package func answer(
      _ answer: RefundAnswer, to name: String, app: String, by actor: String, _ sender: RefundAnswerSender?
    ) async throws {
      try answer.validate()
      try await changeReview(name, app: app) { review, now in
        let evidence = answer.evidence(after: review.evidence, actor: actor, at: now)
        let full = review.with(evidence)
        let preference = answer.preference ?? full.suggestedPreference
        let state = review.state(at: now)
        guard ![.granted, .partlyGranted, .declined, .reversed].contains(state) else {
          throw RefundAnswerFailure(.closed, "The store decided already.")
        }
        // Whenever it was given: the clock of another process may be ahead.
        if let given = review.currentAnswer {
          guard try given.asked == answer.text || given.body == (answer.skips ? nil : full.body(preference))
          else {
            throw RefundAnswerFailure(
              .alreadyAnswered, "The review has another answer. A store takes the first and no other.")
          }
          return nil
        }
        guard state != .missed else { throw RefundAnswerFailure(.closed, "The deadline passed.") }
        let body = answer.skips ? nil : try full.body(preference)
        if body != nil, sender?.canSend(review.id) != true { throw RefundAnswerSender.noCredentials }
        var fact = RefundAnswerFact(date: now, requestId: review.request.requestId)
        fact.preference = answer.skips ? nil : preference.rawValue
        fact.body = body
        fact.asked = answer.text
        fact.actor = actor
        fact.sentDate = answer.skips ? now : nil
        var change = EntitlementLedger()
        change.apply(review.id, evidence: evidence, answer: fact)
        return (
          change,
          (
            answer.skips ? "refund-review.skip" : "refund-review.answer",
            "\(review.id.store.rawValue) \(review.id.identifier) of \(app)", actor
          )
        )
      }
      if !answer.skips { try await send(name, app: app, sender) }
    }

    /// Sends the stored answer of a review, unless it arrived.
    ///
    /// - Throws: ``RefundAnswerFailure``; ``DatabaseError``.
    func send(_ name: String, app: String, _ sender: RefundAnswerSender?) async throws {
      guard let review = try await review(name, app: app), review.state(at: clock()) == .answering,
        let answer = review.currentAnswer, let body = answer.body
      else { return }
      guard let sender else { throw RefundAnswerSender.noCredentials }
      do throws(RefundAnswerFailure) {
        try await sender.send(body, to: review.id)
      } catch {
        // What the store did not take leaves the review open.
        if error.code == .refused {
          try await merge(RefundAnswerFact(date: clock(), requestId: ""), name, app)
        }
        throw error
      }
      var sent = answer
      sent.sentDate = clock()
      try await merge(sent, name, app)
    }

    private func merge(_ answer: RefundAnswerFact, _ name: String, _ app: String) async throws {
      try await changeReview(name, app: app) { review, _ in
        var change = EntitlementLedger()
        change.apply(review.id, answer: answer)
        return (change, nil)
      }
    }

    private func review(_ name: String, app: String) async throws -> RefundReview? {
      try await database.read { session in
        try LedgerRows.ledger(name, app: app, in: session)?.refundReviews.first
      }
    }

    /// Changes a review.
    private func changeReview(
      _ name: String, app: String,
      _ change: @escaping @Sendable (RefundReview, Timestamp) throws -> ManualChange?
    ) async throws {
      try await self.change(name, app: app) { ledger, now in
        guard let review = ledger?.refundReviews.first else {
          throw RefundAnswerFailure(.unknownReview, "There is no such review.")
        }
        return try change(review, now)
      }
    }
  }

  extension RefundReview {
    /// The review with the evidence of an answer.
    fileprivate func with(_ evidence: RefundEvidenceFact) -> RefundReview {
      RefundReview(id: id, request: request, evidence: evidence, answer: answer, outcome: outcome)
    }
  }
#endif
