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

    private static func style(of state: RefundReview.State) -> String {
      switch state {
      case .open, .answering: "doubtful"
      case .due, .missed: "bad"
      case .answered, .skipped, .granted, .partlyGranted, .declined, .reversed: ""
      }
    }

    private func page(_ visit: ConsoleVisit, _ id: String, app: ServedApp) async throws -> Response {
      let found = try await entitlements.refundReviews(app: app.name, identifier: id)
      guard !found.isEmpty else { throw Problem.notFound }
      let now = entitlements.clock()
      let mayAnswer = try visit.login.may(.review)
      return visit.page(
        "refund-review", title: "Refund review \(ShownText.shortened(id))",
        [
          "reviews": found.compactMap { stored -> [String: Any]? in
            guard let review = stored.refundReview else { return nil }
            let state = review.state(at: now)
            let purchase = review.request.purchase
            return ConsoleVisit.present([
              "facts": [
                FactView("State", state.rawValue, style: Self.style(of: state)),
                FactView("Deadline", time: review.deadline),
                FactView("Store", review.id.store.rawValue), FactView("Reason", review.reason),
                FactView("Product", review.productId),
                FactView(
                  "Purchase", identifier: purchase,
                  link: purchase.map { ConsoleURL.entitlement($0, app: app.name) }),
                FactView(
                  "Customer", identifier: stored.customer,
                  link: stored.customer.map { ConsoleURL.customer($0, app: app.name) }),
                FactView("Delivered", review.isDelivered.map { $0 ? "yes" : "no" }),
                FactView("Used", review.consumedShare.map { "\(Double($0) / 1000) %" }),
                FactView("Suggestion", review.suggestedPreference.rawValue),
                FactView("Sent to the store", review.currentAnswer?.body),
                FactView("Taken by the store", time: review.currentAnswer?.sentDate),
              ].compactMap(\.self),
              "answering": mayAnswer && (state == .open || state == .due)
                ? Self.form(review, name: stored.name, app: app.name) : nil,
            ])
          }
        ])
    }

    private static func form(_ review: RefundReview, name: String, app: String) -> [String: Any] {
      func choice(
        _ name: String, _ label: String, _ options: [(value: String, label: String)], _ chosen: String
      ) -> ChoiceView {
        ChoiceView(name: name, label: label, options: options, chosen: chosen)
      }
      let deliveries = [
        "", "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
        "UNDELIVERED_OTHER",
      ]
      let wishes =
        [("", "as suggested: \(review.suggestedPreference.rawValue)")]
        + RefundReview.Preference.allCases.map { ($0.rawValue, $0.rawValue) }
      return [
        "reviewName": name, "reviewApp": app, "isAppStore": review.id.store == .appStore,
        "takesShare": !review.isAutoRenewable,
        "choices": [
          choice("preference", "Wish", wishes, ""),
          choice(
            "delivery", "Delivery", deliveries.map { ($0, $0.isEmpty ? "not stated" : $0) },
            review.evidence?.deliveryStatus ?? (review.isDelivered == true ? "DELIVERED" : "")),
          choice(
            "sample", "The customer could try before buying", [("false", "no"), ("true", "yes")], "false"),
        ],
      ]
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
