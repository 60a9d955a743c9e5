// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import HTTPTypes
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec

  /// Answers which refund reviews there are, and has them answered.
  struct RefundReviewController {
    let entitlements: ServiceEntitlements
    let bodies: BodyReader

    var routes: [Route] {
      [
        .listRefundReviews(list), .getRefundReview(get), .stateRefundEvidence(state),
        .answerRefundReview(answer), .previewRefundAnswer(preview),
      ]
    }

    private func list(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws
      -> RefundReviewList
    {
      let app = try call.app()
      let state = try call.request.queryParameter("state").map { text in
        guard let state = RefundReview.State(rawValue: text) else {
          let states = RefundReview.State.allCases.map(\.rawValue).joined(separator: ", ")
          throw Problem.invalid("state", "It is one of \(states).")
        }
        return state
      }
      let limit = try call.request.limit
      let now = entitlements.clock()
      let found = try await entitlements.refundReviews(app: app.name, limit: state == nil ? limit : 10_000)
      return answer(
        found.filter { state == nil || $0.refundReview?.state(at: now) == state }.prefix(limit).map(\.self))
    }

    private func get(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> RefundReviewList
    {
      answer(try await found(call, context))
    }

    private func state(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws
      -> RefundReviewList
    {
      let stored = try await found(call, context)[0]
      let body = try await bodies.object(of: call.request)
      do {
        try await entitlements.state(
          try RefundAnswer(body), for: stored.name, app: try call.app().name, by: call.principal.keyID)
      } catch let failure as RefundAnswerFailure {
        throw Problem(failure)
      }
      return answer(try await found(call, context))
    }

    private func answer(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> RefundReviewList {
      let app = try call.app()
      let stored = try await found(call, context)[0]
      let body = try await bodies.object(of: call.request)
      do {
        let wanted = try RefundAnswer(body)
        try await entitlements.answer(
          wanted, to: stored.name, app: app.name, by: call.principal.keyID, app.configuration.refundAnswers)
      } catch let failure as RefundAnswerFailure {
        throw Problem(failure)
      }
      return answer(try await found(call, context))
    }

    private func preview(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> RefundAnswerPreview {
      let stored = try await found(call, context)[0]
      let body = try await bodies.object(of: call.request)
      guard let review = stored.refundReview else { throw Problem.notFound }
      do {
        return RefundAnswerPreview(
          body: try entitlements.body(of: try RefundAnswer(body), to: review, by: call.principal.keyID))
      } catch let failure as RefundAnswerFailure {
        throw Problem(failure)
      }
    }

    /// The reviews that a request names; it changes the first.
    private func found(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> [StoredEntitlement] {
      let found = try await entitlements.refundReviews(
        app: try call.app().name, identifier: try context.pathParameter("id"))
      guard !found.isEmpty else { throw Problem.notFound }
      return found
    }

    private func answer(_ found: [StoredEntitlement]) -> RefundReviewList {
      let now = entitlements.clock()
      return RefundReviewList(
        reviews: found.map { stored in
          OwnedRefundReview(customer: stored.customer, review: stored.owned(at: now).entitlement)
        })
    }
  }

  extension RefundAnswer {
    /// Reads the body of a request.
    ///
    /// - Throws: ``Problem``.
    init(_ body: JSONValue) throws {
      self.init()
      func bool(_ name: String) throws -> Bool? {
        guard let value = body[name], value != .null else { return nil }
        guard case .bool(let bool) = value else { throw Problem.invalid("$.\(name)", "It is true or false.") }
        return bool
      }
      func integer(_ name: String) throws -> Int64? {
        guard let value = body[name], value != .null else { return nil }
        guard let number = value.int64 else { throw Problem.invalid("$.\(name)", "It is a whole number.") }
        return number
      }
      let known: Set<String> = [
        "skip", "preference", "customerConsented", "deliveryStatus", "sampleContentProvided",
        "consumptionPercentage", "playTime", "usageEvents",
      ]
      if let other = body.object?.first(where: { !known.contains($0.name) }) {
        throw Problem.invalid("$.\(ShownText.plain(other.name))", "There is no such member.")
      }
      skips = try bool("skip") ?? false
      if let value = body["preference"], value != .null {
        guard let preference = value.string.flatMap(RefundReview.Preference.init(rawValue:)) else {
          throw Problem.invalid("$.preference", "It is decline, grant, grant-prorated or undecided.")
        }
        self.preference = preference
      }
      customerConsented = try bool("customerConsented")
      deliveryStatus = try body.text("deliveryStatus", at: "$")
      sampleContentProvided = try bool("sampleContentProvided")
      consumptionPercentage = try integer("consumptionPercentage")
      playTime = try integer("playTime")
      guard let events = body["usageEvents"], events != .null else { return }
      guard let events = events.array else { throw Problem.invalid("$.usageEvents", "It is an array.") }
      usageEvents = try events.enumerated().map { index, value in
        try RefundUsageEvent(value, at: "$.usageEvents[\(index)]")
      }
    }
  }

  extension RefundUsageEvent {
    /// Reads a use.
    ///
    /// - Throws: ``Problem``.
    fileprivate init(_ value: JSONValue, at place: String) throws {
      self.init()
      guard let members = value.object else { throw Problem.invalid(place, "It is an object.") }
      if let other = members.first(where: { !["date", "description", "ipAddress"].contains($0.name) }) {
        throw Problem.invalid("\(place).\(ShownText.plain(other.name))", "There is no such member.")
      }
      if let text = try value.text("date", at: place) {
        guard let date = Timestamp(iso8601: Array(text.utf8).span) else {
          throw Problem.invalid("\(place).date", "It is an instant, such as 2026-01-31T00:00:00Z.")
        }
        self.date = date
      }
      description = try value.text("description", at: place)
      ipAddress = try value.text("ipAddress", at: place)
    }
  }

  extension JSONValue {
    /// A member that is a text; `nil` if it is absent or null.
    ///
    /// - Throws: ``Problem`` for another type.
    fileprivate func text(_ name: String, at place: String) throws -> String? {
      guard let value = self[name], value != .null else { return nil }
      guard let text = value.string else { throw Problem.invalid("\(place).\(name)", "It is a text.") }
      return text
    }
  }

  extension Problem {
    init(_ failure: RefundAnswerFailure) {
      let status: HTTPResponse.Status =
        switch failure.code {
        case .unknownReview: .notFound
        case .invalid: .badRequest
        case .noConsent, .refused: .unprocessableContent
        case .alreadyAnswered, .closed, .noCredentials: .conflict
        case .unavailable: .serviceUnavailable
        }
      self.init(
        status, failure.code.rawValue, failure.message, at: failure.place,
        retryAfter: failure.code == .unavailable ? 60 : nil)
    }
  }
#endif
