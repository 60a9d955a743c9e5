// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptHTTP

  /// The pages of refund reviews, where a person answers them.
  struct RefundReviewPages {
    let entitlements: ServiceEntitlements

    private static let path = "/console/refund-reviews"

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, Self.path, .scope(.read), respond: list),
        ConsoleRoute(.get, Self.path + "/{id}", .scope(.read)) { visit in
          try await page(visit, try visit.context.pathParameter("id"), app: try visit.app())
        },
        ConsoleRoute(.post, Self.path, .scope(.review), respond: answer),
      ]
    }

    private func list(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.app()
      let page = try visit.page(of: try await entitlements.refundReviews(app: app.name))
      let now = entitlements.clock()
      return visit.page(
        "refund-reviews", title: "Refund reviews",
        [
          "appChoice": visit.appChoice(app),
          "table": TableView(
            "Latest question first",
            ["Purchase", "Store", "Product", "Reason", "State", "Deadline", "Suggestion"],
            page.elements.compactMap { stored in
              guard let review = stored.refundReview else { return nil }
              let state = review.state(at: now)
              return [
                CellView(
                  identifier: stored.identifier,
                  link: ConsoleURL.refundReview(stored.identifier, app: app.name)),
                CellView(review.id.store.rawValue), CellView(review.productId), CellView(review.reason),
                CellView(chip: state.rawValue, style: Self.style(of: state)),
                CellView(time: review.deadline), CellView(review.suggestedPreference.rawValue),
              ]
            },
            empty: EmptyView(
              "No store has asked about a refund",
              "Apple asks when a customer requests a refund of a purchase and App Store Server Notifications reach this "
                + "server; Google asks through real-time developer notifications."), footer: page.footer),
        ])
    }

    static func style(of state: RefundReview.State) -> String {
      switch state {
      case .open, .answering: "doubtful"
      case .due, .missed: "bad"
      case .answered, .skipped, .granted, .partlyGranted, .declined, .reversed: ""
      }
    }

    private func answer(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.app()
      let name = visit.form["review"] ?? ""
      var answer = RefundAnswer()
      answer.skips = visit.form["skip"] != nil
      answer.preference = visit.form["preference"].flatMap(RefundReview.Preference.init(rawValue:))
      answer.customerConsented = visit.form["consent"] == nil ? nil : true
      answer.deliveryStatus = visit.form["delivery"].flatMap { $0.isEmpty ? nil : $0 }
      answer.sampleContentProvided = visit.form["sample"] == "true"
      if let text = visit.form["share"], !text.isEmpty {
        guard let share = Double(text), 0...100 ~= share else {
          throw Problem.invalid("share", "It takes a percentage from 0 to 100.")
        }
        answer.consumptionPercentage = Int64((share * 1000).rounded())
      }
      do {
        try await entitlements.answer(
          answer, to: name, app: app.name, by: try visit.login.keyID, app.configuration.refundAnswers)
      } catch let failure as RefundAnswerFailure {
        throw Problem(failure)
      }
      return ConsoleVisit.redirect(to: ConsoleURL.make(Self.path, [("app", app.name)]))
    }
  }
#endif
