// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import ReceiptCodec
  internal import Logging
  internal import ServiceLifecycle

  /// Sends answers again of which it is not known whether they arrived, while a `ServiceGroup` runs.
  ///
  /// Several processes may do so: a store takes the first of equal answers.
  struct RefundAnswerJob: Service {
    /// The time, in seconds, after which an answer is sent again.
    private static let pause: Double = 30

    let entitlements: ServiceEntitlements
    let apps: [AppConfiguration]
    var interval: Duration = .seconds(10)
    let logger: Logger

    /// Runs until graceful shutdown or cancellation.
    func run() async throws {
      await repeatUntilShutdown(every: interval) {
        for app in apps where app.refundAnswers != nil { await send(of: app) }
      }
    }

    private func send(of app: AppConfiguration) async {
      await logger.attempt("Sending the answers of refund reviews failed.", ["app": "\(app.name)"]) {
        let now = entitlements.clock()
        // A review is answered within a day.
        for stored in try await entitlements.refundReviews(
          app: app.name, since: now.addingSeconds(-2 * 86_400), limit: 10_000)
        {
          guard let review = stored.refundReview, review.state(at: now) == .answering, now < review.deadline,
            let answer = review.currentAnswer, answer.date.addingSeconds(Self.pause) <= now
          else { continue }
          do {
            try await entitlements.send(stored.name, app: app.name, app.refundAnswers)
          } catch let failure as RefundAnswerFailure {
            logger.warning(
              "An answer to a refund review was not taken.",
              metadata: [
                "app": "\(app.name)", "review": "\(stored.identifier)", "error": "\(failure.message)",
              ])
          }
        }
      }
    }
  }
#endif
