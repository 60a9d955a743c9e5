// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptInspection

  extension RefundReviewPages {
    /// A table of refund reviews, for the pages of what they are about.
    static func table(
      _ caption: String, _ reviews: [StoredEntitlement], app: String, at now: Timestamp
    ) -> TableView {
      TableView(
        caption, ["Purchase", "State", "Product", "Reason", "Asked", "Deadline"],
        reviews.prefix(20).compactMap { stored in
          guard let review = stored.refundReview else { return nil }
          let state = review.state(at: now)
          return [
            CellView(
              identifier: stored.identifier, link: ConsoleURL.refundReview(stored.identifier, app: app)),
            CellView(chip: state.rawValue, style: style(of: state)), CellView(review.productId),
            CellView(review.reason), CellView(time: review.requestedDate), CellView(time: review.deadline),
          ]
        })
    }

    func page(_ visit: ConsoleVisit, _ id: String, app: ServedApp) async throws -> Response {
      let found = try await entitlements.refundReviews(app: app.name, identifier: id)
      guard !found.isEmpty else { throw Problem.notFound }
      let now = entitlements.clock()
      let mayAnswer = try visit.login.may(.review)
      var views: [[String: Any]] = []
      for stored in found {
        guard let review = stored.refundReview else { continue }
        let state = review.state(at: now)
        let isAwaited = state == .open || state == .due
        let purchase = review.request.purchase
        // A store may ask about a purchase of which it told nothing else.
        let isKnown =
          if let purchase {
            try await !entitlements.entitlements(app: app.name, identifier: purchase).isEmpty
          } else { false }
        views.append(
          ConsoleVisit.present([
            "reviewTitle": ShownText.brief(review.productId ?? stored.identifier),
            "reviewStyle": Self.style(of: state),
            "reviewChips": [ChipView(state.rawValue, style: Self.style(of: state))],
            "sentence": Self.sentence(review, state, at: now),
            "step": isAwaited
              ? mayAnswer
                ? "Suggested: \(review.suggestedPreference.rawValue)\(Self.why(review)). Answer below."
                : "This key may not answer: its scopes do not contain review." : nil,
            "facts": [
              FactView(
                "Customer", identifier: stored.customer,
                link: stored.customer.map { ConsoleURL.customer($0, app: app.name) }),
              FactView(
                "Purchase", identifier: purchase,
                link: isKnown ? purchase.map { ConsoleURL.entitlement($0, app: app.name) } : nil),
              FactView(
                "Transaction", identifier: stored.identifier,
                link: ConsoleURL.transaction(stored.identifier)),
              FactView("Price", Money.text(review.request.price, review.request.currency)),
              FactView("Bought", time: review.request.purchaseDate),
              FactView("The customer's reason", review.reason),
              FactView("Asked", time: review.requestedDate), FactView("Deadline", time: review.deadline),
            ].compactMap(\.self),
            "evidence": [
              "facts": [
                FactView("Store", PurchaseView.store(review.id.store)),
                FactView("Delivered", review.isDelivered.map { $0 ? "yes" : "no" }),
                FactView("Delivery, in the store's words", review.evidence?.deliveryStatus),
                FactView("Used", review.consumedShare.map { "\(Double($0) / 1000) %" }),
                FactView("Customer agreed", review.evidence?.customerConsented.map { $0 ? "yes" : "no" }),
                FactView(
                  "Sample before buying", review.evidence?.sampleContentProvided.map { $0 ? "yes" : "no" }),
                FactView("Stated by the key", review.evidence?.actor),
                FactView("Answered by the key", review.currentAnswer?.actor),
                FactView("Sent to the store", review.currentAnswer?.body),
                FactView("Taken by the store", time: review.currentAnswer?.sentDate),
                FactView("Decided", time: review.outcome?.date),
              ].compactMap(\.self)
            ] as [String: Any],
            "answering": mayAnswer && isAwaited ? Self.form(review, name: stored.name, app: app.name) : nil,
          ]))
      }
      return visit.page(
        "refund-review", title: "Refund review \(ShownText.middle(id))", ["reviews": views])
    }

    private static func sentence(
      _ review: RefundReview, _ state: RefundReview.State, at now: Timestamp
    ) -> String {
      let product = ShownText.brief(review.productId ?? "the purchase")
      let left = (review.deadline.millisecondsSince1970 - now.millisecondsSince1970) / 1000
      switch state {
      case .open, .due:
        return
          "The store asks whether to refund \(product). It takes an answer for another \(ShownTime.duration(max(0, left)))."
      case .answering: return "An answer was sent, and it is not known whether it arrived. It is sent again."
      case .answered:
        let wish = review.currentAnswer?.preference.map { " with the wish “\($0)”" } ?? ""
        return "The store has the answer\(wish), and decides."
      case .skipped: return "It was decided not to answer. The store decides alone."
      case .missed: return "The deadline passed without an answer. The store decides alone."
      case .granted: return "The store refunded \(product)."
      case .partlyGranted: return "The store refunded a part of \(product)."
      case .declined: return "The store declined the refund of \(product)."
      case .reversed: return "The store refunded \(product), and then took the refund back."
      }
    }

    /// What the suggestion follows from.
    private static func why(_ review: RefundReview) -> String {
      if review.isDelivered == false { return ", because it was not delivered" }
      guard let share = review.consumedShare else { return ", because nothing is known of its use" }
      return ", because \(Double(share) / 1000) % of it was used"
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
  }
#endif
