// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// The page of a customer: what they have, what happened, what they presented, and what the backend was told.
  struct CustomerPages {
    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, ConsoleURL.customers, .scope(.read), respond: page),
        ConsoleRoute(.post, "/console/grants", .scope(.grant)) { visit in
          let (app, customer) = (try visit.app(), visit.form["customer"] ?? "")
          let grant = try GrantFact(
            form: visit.form, customer: customer, actor: try visit.login.keyID, at: entitlements.clock())
          return try await change(customer, app) {
            _ = try await entitlements.grant(.random(), grant, app: app.name)
          }
        },
        ConsoleRoute(.post, "/console/grants/withdraw", .scope(.grant)) { visit in
          let (app, customer) = (try visit.app(), visit.form["customer"] ?? "")
          guard let id = EntitlementGrant.ID(visit.form["id"] ?? "") else { throw Problem.notFound }
          var withdrawal = GrantWithdrawalFact(date: entitlements.clock())
          withdrawal.actor = try visit.login.keyID
          return try await change(customer, app) { [withdrawal] in
            try await entitlements.withdraw(id, withdrawal, of: customer, app: app.name)
          }
        },
      ]
    }

    /// Changes the grants of a customer, and shows the customer's page.
    private func change(
      _ customer: String, _ app: ServedApp, _ work: () async throws -> Void
    ) async throws -> Response {
      do { try await work() } catch let failure as GrantFailure { throw Problem(failure) }
      return ConsoleVisit.redirect(to: ConsoleURL.customer(customer, app: app.name))
    }

    /// The maximum number of purchases on a page, each of whose entries in the trail are looked up.
    private static let purchasesOnPage = 25
    /// The maximum number of changes of a customer that are looked at.
    private static let maximumChangeCount = 1000

    private func page(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.app()
      guard let customer = try visit.query("id"), !customer.isEmpty else {
        throw Problem.invalid("id", "Name the customer.")
      }
      let now = entitlements.clock()
      let found = try await entitlements.entitlements(app: app.name, customer: customer)
      let reviews = try await entitlements.refundReviews(app: app.name, customer: customer)
      let queue = WebhookQueue(entitlements.database)
      let changes = try await queue.changes(
        app: app.name, customer: customer, limit: Self.maximumChangeCount)
      let purchases = try visit.page(
        of: found.filter { $0.ledger.entitlementGrants.isEmpty && $0.ledger.line != nil }
          .map { PurchaseView($0, app: app.name, at: now) }.sorted(), "purchases-from",
        limit: Self.purchasesOnPage)
      let identifiers = purchases.elements.map(\.stored.identifier)
      let trail = try await auditLog?.read { view in
        try TrailHistory(
          of: customer, purchases: identifiers, app: app, in: view)
      }
      let history = PurchaseHistory(
        of: found + reviews, changes: changes, entries: trail?.entries,
        customer: RecordingOptions.canonicalCustomer(customer),
        at: now)
      let access = entitlements.access(of: customer, to: found, app: app.name, at: now)
      let told = try await told(changes, app: app, queue, visit)
      return visit.page(
        "customer", title: "Customer \(ShownText.middle(customer))",
        [
          "summary": summary(
            customer, access, purchases: found, history, reviews: reviews,
            isEmpty: found.isEmpty && changes.isEmpty, app: app,
            at: now),
          "access": access.map { accessTable($0, app: app) },
          "purchases": TableView(
            "Purchases",
            ["Product", "Standing", "Since", "Until", "Renews", "Store", "Purchase"],
            purchases.elements.map(\.row),
            empty: EmptyView(
              "No purchases",
              "A purchase appears here when the store's notification names this customer, or when the backend presents a "
                + "receipt for them."), footer: purchases.footer),
          "history": try HistoryView(
            history, isTrailCut: trail?.isCut == true, app: app.name, visit, at: now),
          "presented": try trail.map { try presented($0, customer, app: app, visit) },
          "told": told,
          "reviews": reviews.isEmpty
            ? nil : RefundReviewPages.table("Refund reviews", reviews, app: app.name, at: now),
          "granting": try granting(found, access, customer, app: app, visit, at: now),
        ])
    }

    // MARK: Summary

    private func summary(
      _ customer: String, _ access: [EntitlementAccess]?, purchases: [StoredEntitlement],
      _ history: PurchaseHistory,
      reviews: [StoredEntitlement], isEmpty: Bool, app: ServedApp, at now: Timestamp
    ) -> [String: Any] {
      let standings = purchases.compactMap { $0.ledger.line?.timeline?.standing(at: now) }
      let granting = standings.filter(\.grantsAccess)
      let names = access?.filter(\.grantsAccess).map(\.name)
      let sentence: String
      if isEmpty {
        sentence =
          "This server knows nothing of this customer. Check the spelling: it is the identifier that your backend uses, or "
          + "the account token in the purchase."
      } else if let names, !names.isEmpty {
        sentence = "Has \(Self.list(names))."
      } else if names != nil {
        sentence = "Has none of the entitlements of \(app.name)."
      } else {
        sentence =
          granting.isEmpty
          ? "No purchase gives access now."
          : "\(granting.count) of \(standings.count) purchases and grants give access."
      }
      let waiting = reviews.compactMap(\.refundReview).filter {
        [.open, .due].contains($0.state(at: now))
      }
      let isGood = names.map { !$0.isEmpty } ?? !granting.isEmpty
      return ConsoleVisit.present([
        "sentence": sentence, "sentenceStyle": isEmpty ? "doubtful" : isGood ? "good" : "",
        "customerChips": (access ?? []).prefix(12).map {
          ChipView(
            $0.standing?.rawValue ?? "none",
            style: $0.grantsAccess ? "good" : $0.standing == nil ? "" : "bad", of: $0.name)
        },
        "notice": waiting.first.map { review in
          [
            "noticeText": "The store asks about a refund. Answer before \(ShownTime.full(review.deadline)).",
            "noticeTarget": ConsoleURL.refundReview(review.id.identifier, app: app.name),
            "noticeAction": "Answer it",
          ]
        },
        "facts": [
          FactView("Customer", identifier: customer), FactView("App", app.name),
          FactView("First event", time: history.events.first?.time),
          FactView("Latest event", time: history.events.last?.time),
        ].compactMap(\.self),
      ])
    }

    private func visitName(_ app: ServedApp) -> String { app.name }

    /// The names as in `a, b and c`.
    private static func list(_ names: [String]) -> String {
      let names = names.map { ShownText.brief($0) }
      guard let last = names.last, names.count > 1 else { return names.joined() }
      return "\(names.dropLast().joined(separator: ", ")) and \(last)"
    }

    private func accessTable(_ access: [EntitlementAccess], app: ServedApp) -> TableView {
      TableView(
        "Entitlements", ["Entitlement", "Standing", "Since", "Until", "Given by"],
        access.map { access in
          [
            CellView(access.name),
            CellView(
              chip: "\(access.grantsAccess ? "✓" : "✗") \(access.standing?.rawValue ?? "none")",
              style: access.grantsAccess ? "good" : access.standing == nil ? "" : "bad"),
            CellView(time: access.since), CellView(time: access.until),
            CellView(
              access.decisive.map { $0.productId ?? $0.source.rawValue },
              link: access.decisive.map { ConsoleURL.entitlement($0.id, app: app.name) },
              note: access.decisive.map { PurchaseView.store($0.source) }),
          ]
        })
    }

    // MARK: Receipts and webhooks

    private func presented(
      _ trail: TrailHistory, _ customer: String, app: ServedApp, _ visit: ConsoleVisit
    ) throws -> [String: Any] {
      let receipts = trail.entries.map(\.recorded).filter {
        $0.entry.kind == .verdict && $0.entry.notification == nil
      }
      let page = try visit.page(of: receipts, "presented-from", limit: 5)
      return [
        "presentedTable": TableView(
          "Receipts presented", ["Entry", "Time", "Verdict", "Kind", "Product", "Transaction"],
          page.elements.map { recorded in
            let entry = recorded.entry
            return [
              CellView("\(recorded.index)", link: ConsoleURL.entry(recorded.index)), CellView(entry.time),
              Self.cell(entry),
              CellView(entry.format ?? "not known"), CellView(entry.product.map { ShownText.brief($0) }),
              CellView(identifier: entry.transaction),
            ]
          },
          empty: EmptyView(
            "No receipts", "The backend has presented no receipt of this customer, or none that is recorded."),
          footer: page.footer),
        "presentedTarget": ConsoleURL.make(
          "/console/transactions", [("by", "customer"), ("value", customer), ("app", app.name)]),
      ]
    }

    private static func cell(_ entry: AuditEntry) -> CellView {
      var cell = entry.verdict.map { CellView(VerdictView($0.rawValue)) } ?? CellView(nil as String?)
      cell.note = entry.reason
      return cell
    }

    private func told(
      _ changes: [EntitlementChange], app: ServedApp, _ queue: WebhookQueue, _ visit: ConsoleVisit
    ) async throws -> TableView {
      let endpoints = Array(app.configuration.webhooks.prefix(3))
      let page = try visit.page(of: changes, "told-from", limit: 5)
      let deliveries = try await queue.deliveries(of: page.elements, app: app.name)
      return TableView(
        "Told to your backend", ["Time", "Event", "Product"] + endpoints.map(\.name) + ["Message"],
        page.elements.map { change in
          let state = EntitlementState(change)
          return [
            CellView(time: change.time), CellView(change.type),
            CellView(state.product.map { ShownText.brief($0) }),
          ]
            + endpoints.map { Self.cell(deliveries[change.sequence]?[$0.name], of: change, to: $0) }
            + [CellView(identifier: change.id)]
        },
        empty: EmptyView(
          "Nothing to tell yet",
          endpoints.isEmpty
            ? "Each change of an entitlement appears here. Set app.\(app.name).webhooks to have your backend told of it."
            : "Each change of an entitlement appears here, with its delivery to \(endpoints.map(\.name).joined(separator: ", "))."
        ),
        footer: page.footer)
    }

    private static func cell(
      _ delivery: WebhookQueue.Delivery?, of change: EntitlementChange, to endpoint: WebhookEndpoint
    ) -> CellView {
      func tries(_ count: Int) -> String { count == 1 ? "1 try" : "\(count) tries" }
      switch delivery {
      case .delivered(let time):
        let hasEvent = endpoint.format == .standard || !RevenueCatEvent.events(of: change).isEmpty
        return hasEvent
          ? CellView(chip: "✓ delivered", style: "good", note: ShownTime.full(time))
          : CellView(chip: "not sent", note: "RevenueCat's form has no such event")
      case .waiting(let attempts, let error, let next):
        let when = next.map { "next try \(ShownTime.full($0))" } ?? "after an earlier change"
        return CellView(
          chip: attempts == 0 ? "waiting" : "waiting, \(tries(attempts))", style: "doubtful",
          note: [when, error].compactMap(\.self).joined(separator: "; "))
      case .dead(let attempts, let error):
        return CellView(
          chip: "✗ given up", style: "bad",
          note: [tries(attempts), error].compactMap(\.self).joined(separator: "; "))
      case nil: return CellView(chip: "not noted", note: "before the endpoint was added")
      }
    }

    // MARK: Refund reviews and grants

    /// The grants by hand, and the form that grants.
    private func granting(
      _ found: [StoredEntitlement], _ access: [EntitlementAccess]?, _ customer: String, app: ServedApp,
      _ visit: ConsoleVisit, at now: Timestamp
    ) throws -> [String: Any]? {
      guard let access else { return nil }
      let mayGrant = try visit.login.may(.grant)
      let page = try visit.page(
        of: found.compactMap { $0.ledger.entitlementGrants.first }.sorted { $0.grantedDate > $1.grantedDate },
        "grants-from", limit: 20)
      return ConsoleVisit.present([
        "grants": TableView(
          "Grants by hand", ["Grant", "Entitlement", "State", "Reason", "Granted", "Expires", "Withdraw"],
          page.elements.map { grant in
            let state = grant.state(at: now)
            return [
              CellView(
                identifier: grant.id.identifier,
                link: ConsoleURL.entitlement(grant.id.identifier, app: app.name)),
              CellView(grant.entitlement),
              CellView(chip: state.rawValue, style: state == .active ? "good" : "bad"),
              CellView(grant.reason),
              CellView(time: grant.grantedDate), CellView(time: grant.expiresDate),
              mayGrant && state == .active
                ? CellView(
                  form: "/console/grants/withdraw", "Withdraw…", button: "Withdraw for good",
                  subject: grant.id.identifier,
                  [("app", app.name), ("customer", customer), ("id", grant.id.identifier)])
                : CellView(nil as String?),
            ]
          },
          empty: EmptyView(
            "No grants by hand",
            "A grant gives an entitlement without a purchase, as to make good for a failure."),
          footer: page.footer),
        "grantForm": mayGrant
          ? [
            "grantCustomer": customer, "grantApp": app.name,
            "entitlementChoice": ChoiceView(
              name: "entitlement", label: "Entitlement",
              options: access.map { ($0.name, $0.name) }, chosen: ""),
          ] as [String: Any] : nil,
      ])
    }
  }

  /// A purchase in the ledger, with its standing.
  struct PurchaseView: Comparable {
    let stored: StoredEntitlement
    private let standing: PurchaseStanding?
    private let state: EntitlementState
    private let app: String

    init(_ stored: StoredEntitlement, app: String, at now: Timestamp) {
      self.stored = stored
      self.app = app
      standing = stored.ledger.line?.timeline?.standing(at: now)
      state = EntitlementState(stored, at: now)
    }

    /// What gives access comes first, and then what changed last.
    static func < (left: Self, right: Self) -> Bool {
      func rank(_ view: Self) -> (Double, Double) {
        (
          view.standing?.grantsAccess == true ? 0 : 1,
          -(view.standing?.since?.millisecondsSince1970 ?? -.infinity)
        )
      }
      let (own, others) = (rank(left), rank(right))
      return own == others ? left.stored.name < right.stored.name : own < others
    }

    static func == (left: Self, right: Self) -> Bool { left.stored.name == right.stored.name }

    static func store(_ source: EntitlementSource) -> String {
      switch source {
      case .appStore: "App Store"
      case .googlePlay: "Google Play"
      case .grant: "by hand"
      }
    }

    private var store: String? {
      if !stored.ledger.playEntitlements.isEmpty { return Self.store(.googlePlay) }
      return stored.ledger.entitlements.isEmpty ? nil : Self.store(.appStore)
    }

    var row: [CellView] {
      [
        CellView(state.product.map { ShownText.brief($0) }),
        CellView(chip: state.text ?? standing?.status.rawValue, style: state.style),
        CellView(time: standing?.since), CellView(time: standing?.until ?? state.expiry),
        CellView(state.renews.map { $0 ? "yes" : "no" }),
        CellView(store, note: state.environment.flatMap { $0 == "Production" ? nil : $0 }),
        CellView(
          identifier: stored.identifier, link: ConsoleURL.entitlement(stored.identifier, app: app)),
      ]
    }
  }
#endif
