// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptVerification

  /// The page of an original transaction, a purchase token or a grant: its standing, its customer and its history.
  struct EntitlementPage {
    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?

    var routes: [ConsoleRoute] {
      [ConsoleRoute(.get, "/console/entitlements/{id}", .scope(.read), respond: page)]
    }

    private func page(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.app()
      let id = try visit.context.pathParameter("id")
      let found = try await entitlements.entitlements(app: app.name, identifier: id)
      guard !found.isEmpty else { throw Problem.notFound }
      let now = entitlements.clock()
      let trail = try await auditLog?.read { view in
        try TrailHistory(of: nil, purchases: [id], app: app, in: view)
      }
      var lives: [[String: Any]] = []
      for (index, stored) in found.enumerated() {
        let reviews = try await self.reviews(of: stored, app: app)
        let changes = try await entitlements.history(app: app.name, name: stored.name)
        let history = PurchaseHistory(
          of: [stored] + reviews, changes: changes, entries: trail?.entries, customer: stored.customer,
          at: now)
        let told = try visit.page(of: Array(changes.reversed()), "changes-from", limit: 50)
        lives.append(
          ConsoleVisit.present([
            "head": head(stored, app: app, at: now),
            "history": try HistoryView(
              history, id: "\(index)", isTrailCut: trail?.isCut == true, app: app.name, visit, at: now),
            "changes": TableView(
              "Changes that were told, latest first",
              ["Time", "Event", "State after it", "Purchase", "Expires"],
              told.elements.map { change in
                let state = EntitlementState(change)
                return [
                  CellView(time: change.time), CellView(change.type),
                  CellView(chip: state.text, style: state.style), CellView(identifier: state.purchase),
                  CellView(time: state.expiry),
                ]
              }, empty: "Nothing was told of it yet.", footer: told.footer),
            "changeCount": "\(changes.count)",
            "isTelling": try visit.query("changes-from") != nil,
            "reviews": reviews.isEmpty
              ? nil : RefundReviewPages.table("Refund reviews", reviews, app: app.name, at: now),
            "fields": ["facts": Self.fields(of: stored, at: now)],
          ]))
      }
      return visit.page(
        "entitlement", title: "Entitlement \(ShownText.middle(id))",
        [
          "lives": lives,
          "entries": try trail.map {
            let page = try visit.page(of: $0.entries.map(\.recorded), limit: 50)
            return EntryTable.view(
              "Entries of the audit trail, latest first", page.elements, app: app.name, footer: page.footer)
          },
          "allEntries": ConsoleURL.make("/console/transactions", [("original", id), ("app", app.name)]),
          "entryCount": trail.map { "\($0.entries.count)" },
          "isListing": try visit.query("from") != nil,
        ])
    }

    /// The refund reviews about a purchase.
    private func reviews(of stored: StoredEntitlement, app: ServedApp) async throws -> [StoredEntitlement] {
      try await entitlements.refundReviews(app: app.name, purchase: stored.name)
    }

    private func head(_ stored: StoredEntitlement, app: ServedApp, at now: Timestamp) -> [String: Any] {
      let state = EntitlementState(stored, at: now)
      let standing = stored.ledger.line?.timeline?.standing(at: now)
      let grant = stored.ledger.entitlementGrants.first
      let product = ShownText.brief(state.product ?? stored.identifier)
      let sentence = standing.map {
        $0.status.sentence(
          about: product, since: $0.since.map { " on \(ShownTime.full($0))" } ?? "",
          until: $0.until.map { " until \(ShownTime.full($0))" } ?? "")
      }
      return ConsoleVisit.present([
        "lifeTitle": product,
        "lifeStyle": state.style,
        "lifeChips": [
          ChipView(state.text ?? "not known", style: state.style),
          state.renews.map { ChipView($0 ? "renews" : "does not renew", style: $0 ? "" : "doubtful") },
          state.environment.flatMap { $0 == "Production" ? nil : ChipView($0, style: "doubtful") },
        ].compactMap(\.self),
        "sentence": sentence,
        "facts": [
          FactView(
            "Customer", identifier: stored.customer,
            link: stored.customer.map { ConsoleURL.customer($0, app: app.name) }),
          stored.customer == nil ? FactView("Customer", "not known: no receipt was presented for one") : nil,
          FactView(grant == nil ? "Purchase" : "Grant", identifier: stored.identifier),
          FactView(
            "Latest transaction", identifier: state.purchase,
            link: state.purchase.flatMap { ConsoleURL.transaction($0) }),
          FactView("Reason", grant?.reason), FactView("Granted by the key", grant?.grant.actor),
          FactView("Since", time: standing?.since),
          FactView(
            standing?.grantsAccess == true ? "Until" : "Paid until", time: standing?.until ?? state.expiry),
        ].compactMap(\.self),
      ])
    }

    /// Every member of the entitlement's JSON.
    private static func fields(of stored: StoredEntitlement, at now: Timestamp) -> [FactView] {
      var object = JSONWriter()
      stored.append(to: &object, at: now)
      let members = (try? JSONValue(parsing: object.bytes))?.object ?? []
      return members.compactMap { member in
        FactView(member.name, member.value.string ?? String(decoding: text(member.value), as: UTF8.self))
      }
    }

    private static func text(_ value: JSONValue) -> [UInt8] {
      var writer = JSONWriter()
      writer.value(value)
      return writer.bytes
    }
  }

  /// The members of an entitlement's JSON that pages display.
  struct EntitlementState {
    let identifier: String?
    let product: String?
    let environment: String?
    let purchase: String?
    let state: String?
    let grantsAccess: Bool
    let expiry: Timestamp?
    /// `true` if the subscription renews; `nil` if that is not known, or for any other purchase.
    let renews: Bool?

    init(_ stored: StoredEntitlement, at now: Timestamp) {
      var object = JSONWriter()
      stored.append(to: &object, at: now)
      self.init((try? JSONValue(parsing: object.bytes)) ?? .null)
    }

    init(_ change: EntitlementChange) {
      let body = try? JSONValue(parsing: change.body)
      self.init(body?["data"]?["entitlement"] ?? .null)
    }

    private init(_ json: JSONValue) {
      func text(_ names: String...) -> String? { names.lazy.compactMap { json[$0]?.string }.first }
      identifier = EntitlementLedger.identifierMembers.lazy.compactMap { json[$0]?.string }.first
      product =
        text("productId", "entitlement")
        ?? json["productIds"]?.array?.compactMap(\.string).joined(separator: ", ")
      environment = text("environment")
      purchase = text("transactionId", "orderId")
      state = text("state")
      grantsAccess = json["grantsAccess"] == .bool(true)
      expiry = text("expiresDate").flatMap { try? Timestamp(iso8601: $0) }
      renews = json["renews"].flatMap { $0 == .null ? nil : $0 == .bool(true) }
    }

    var text: String? { state.map { "\(grantsAccess ? "✓" : "✗") \($0)" } }
    var style: String { grantsAccess ? "good" : "bad" }
  }
#endif
