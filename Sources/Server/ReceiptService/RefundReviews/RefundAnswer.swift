// SPDX-License-Identifier: Apache-2.0

#if Server
  package import AppStoreServer
  internal import Entitlements
  package import GooglePlay
  internal import ReceiptCodec

  /// The reason why a refund review is not answered.
  package struct RefundAnswerFailure: Error, Sendable, Hashable {
    /// The kind of the failure, which is the code of the problem in an answer.
    package enum Code: String, Sendable {
      case unknownReview = "not-found"
      case invalid = "invalid-request"
      case noConsent = "no-consent"
      case alreadyAnswered = "already-answered"
      case closed = "review-closed"
      case noCredentials = "no-credentials"
      case refused = "refused-by-store"
      case unavailable = "unavailable"
    }

    package let code: Code
    /// The member of the answer, as a JSON path.
    package let place: String?
    package let message: String

    init(_ code: Code, at place: String? = nil, _ message: String) {
      (self.code, self.place, self.message) = (code, place, message)
    }
  }

  extension RefundAnswer {
    /// The evidence that the answer states, and that which was known before.
    func evidence(after known: RefundEvidenceFact?, actor: String, at now: Timestamp) -> RefundEvidenceFact {
      var fact = known ?? RefundEvidenceFact(date: now)
      fact.date = now
      fact.actor = actor
      fact.customerConsented = customerConsented ?? fact.customerConsented
      fact.deliveryStatus = deliveryStatus ?? fact.deliveryStatus
      fact.sampleContentProvided = sampleContentProvided ?? fact.sampleContentProvided
      fact.consumptionPercentage = consumptionPercentage ?? fact.consumptionPercentage
      fact.playTime = playTime ?? fact.playTime
      fact.usageEvents = usageEvents ?? fact.usageEvents
      return fact
    }

    /// What the answer states, so that the same request is known again.
    var text: String {
      let evidence = evidence(after: nil, actor: "", at: Timestamp(millisecondsSince1970: 0))
      let stated = String(decoding: evidence.encodedJSON(), as: UTF8.self)
      return "\(skips) \(preference?.rawValue ?? "-") \(stated)"
    }

    /// - Throws: ``RefundAnswerFailure`` for a member that no store takes.
    func validate() throws(RefundAnswerFailure) {
      if let deliveryStatus, case .unknown = DeliveryStatus(rawValue: deliveryStatus) {
        throw RefundAnswerFailure(
          .invalid, at: "$.deliveryStatus",
          "It is DELIVERED, UNDELIVERED_QUALITY_ISSUE, UNDELIVERED_WRONG_ITEM, UNDELIVERED_SERVER_OUTAGE or UNDELIVERED_OTHER."
        )
      }
      if let share = consumptionPercentage, !(0...100_000 ~= share) {
        throw RefundAnswerFailure(
          .invalid, at: "$.consumptionPercentage", "It takes thousandths of a percent: 0 to 100000.")
      }
      if let playTime, playTime < 0 {
        throw RefundAnswerFailure(.invalid, at: "$.playTime", "It takes seconds.")
      }
      guard usageEvents?.count ?? 0 <= 1000 else {
        throw RefundAnswerFailure(.invalid, at: "$.usageEvents", "There are at most 1000.")
      }
    }
  }

  extension RefundReview {
    /// What is sent to the store, exactly.
    ///
    /// - Throws: ``RefundAnswerFailure`` if the evidence does not suffice, or its parts contradict each other.
    func body(_ preference: Preference) throws(RefundAnswerFailure) -> String {
      guard let sample = evidence?.sampleContentProvided else {
        throw RefundAnswerFailure(
          .invalid, at: "$.sampleContentProvided", "State whether the customer could try before buying.")
      }
      return String(
        decoding: id.store == .appStore
          ? try appStoreBody(preference, sample: sample).encodedJSON()
          : googlePlayBody(preference, sample: sample).encodedJSON(), as: UTF8.self)
    }

    private func appStoreBody(
      _ preference: Preference, sample: Bool
    ) throws(RefundAnswerFailure) -> ConsumptionRequest {
      guard evidence?.customerConsented == true else {
        throw RefundAnswerFailure(
          .noConsent, at: "$.customerConsented",
          "Apple takes an answer only with the customer's consent. State customerConsented, or skip the review."
        )
      }
      guard let delivery = evidence?.deliveryStatus ?? (request.isDelivered == true ? "DELIVERED" : nil)
      else {
        throw RefundAnswerFailure(.invalid, at: "$.deliveryStatus", "State the outcome of the delivery.")
      }
      var body = ConsumptionRequest(
        customerConsented: true, deliveryStatus: DeliveryStatus(rawValue: delivery),
        sampleContentProvided: sample)
      if let share = consumedShare {
        guard !isAutoRenewable else {
          throw RefundAnswerFailure(
            .invalid, at: "$.consumptionPercentage",
            "Apple computes the used share of a subscription itself. Leave it out.")
        }
        guard share == 0 || delivery == "DELIVERED" else {
          throw RefundAnswerFailure(
            .invalid, at: "$.consumptionPercentage", "What was not delivered was not used: it is 0.")
        }
        body.consumptionPercentage = share
      }
      switch preference {
      case .decline: body.refundPreference = .decline
      case .grant: body.refundPreference = .grantFull
      case .grantProrated:
        guard isAutoRenewable || 1..<100_000 ~= consumedShare ?? 0 else {
          throw RefundAnswerFailure(
            .invalid, at: "$.preference",
            "A part can be refunded only if a part was used: state consumptionPercentage.")
        }
        body.refundPreference = .grantProrated
      case .undecided: break
      }
      return body
    }

    private func googlePlayBody(_ preference: Preference, sample: Bool) -> ReviewRefundRequest {
      let wish: PlayRefundPreference =
        switch preference {
        case .decline: .decline
        case .grant, .grantProrated: .approve
        case .undecided: .neutral
        }
      var body = ReviewRefundRequest(
        pendingRefundToken: request.requestId, refundPreference: wish, sampleContentProvided: sample)
      body.consumptionPercentageMilliunits = consumedShare
      body.consumptionUsageEvents = evidence?.usageEvents?.map { event in
        PlayUsageEvent().with {
          $0.consumptionTime = event.date
          $0.consumptionItemDescription = event.description
          $0.ipAddress = event.ipAddress
          $0.obfuscatedAccountId = request.account
        }
      }
      return body
    }
  }

  /// Sends the answers of refund reviews to the stores.
  package struct RefundAnswerSender: Sendable {
    let appStore: [AppStoreServerClient]
    let googlePlay: GooglePlayClient?

    package init(appStore: [AppStoreServerClient], googlePlay: GooglePlayClient?) {
      (self.appStore, self.googlePlay) = (appStore, googlePlay)
    }

    /// Returns `true` if there are credentials for the store of a review.
    func canSend(_ id: RefundReview.ID) -> Bool {
      id.store == .googlePlay ? googlePlay != nil : client(of: id) != nil
    }

    private func client(of id: RefundReview.ID) -> AppStoreServerClient? {
      appStore.first { $0.raw.address.environment == id.environment }
    }

    /// Sends an answer.
    ///
    /// - Throws: ``RefundAnswerFailure``: `refused` if the store will not take it, `unavailable` if it is not known
    ///   whether it arrived.
    func send(_ body: String, to id: RefundReview.ID) async throws(RefundAnswerFailure) {
      if id.store == .googlePlay {
        guard let client = googlePlay?.calling(for: id.app) else { throw Self.noCredentials }
        try await client.sendRefundAnswer(Array(body.utf8), to: id.identifier)
      } else {
        guard let client = client(of: id) else { throw Self.noCredentials }
        try await client.sendRefundAnswer(Array(body.utf8), to: id.identifier)
      }
    }

    static let noCredentials = RefundAnswerFailure(
      .noCredentials, "The app has no credentials for the store of the review.")
  }

  extension AppStoreServerClient {
    fileprivate func sendRefundAnswer(
      _ json: [UInt8], to transactionId: String
    ) async throws(RefundAnswerFailure) {
      guard let request = try? ConsumptionRequest(json: json, part: "answer", limits: .standard) else {
        throw RefundAnswerFailure.unreadable
      }
      do throws(AppStoreServerError) {
        try await send(.sendConsumption(request, of: transactionId))
      } catch {
        throw RefundAnswerFailure(error.isNoAnswer ? .unavailable : .refused, error.description)
      }
    }
  }

  extension GooglePlayClient {
    fileprivate func sendRefundAnswer(_ json: [UInt8], to orderId: String) async throws(RefundAnswerFailure) {
      guard let request = try? ReviewRefundRequest(json: json, part: "answer", limits: .standard) else {
        throw RefundAnswerFailure.unreadable
      }
      do throws(GooglePlayError) {
        try await send(.reviewRefund(of: orderId, with: request))
      } catch {
        throw RefundAnswerFailure(error.isNoAnswer ? .unavailable : .refused, error.description)
      }
    }
  }

  extension AppStoreServerError {
    /// `true` unless it is known that the App Store did not take the request.
    fileprivate var isNoAnswer: Bool {
      switch cause {
      case .redirected, .malformedResponse, .cancelled: true
      case .unexpectedStatus(let status): status / 100 != 4 || isRetryable
      default: isRetryable
      }
    }
  }

  extension GooglePlayError {
    /// `true` unless it is known that Google did not take the request.
    fileprivate var isNoAnswer: Bool {
      switch cause {
      case .redirected, .malformedResponse, .cancelled: true
      case .refused(let refusal): refusal.httpStatus / 100 != 4 || isRetryable
      default: isRetryable
      }
    }
  }

  extension RefundAnswerFailure {
    /// The stored answer was not written by this version.
    fileprivate static var unreadable: Self { Self(.refused, "The stored answer cannot be read.") }
  }
#endif
