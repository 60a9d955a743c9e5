// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import Hummingbird
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptVerification

  struct EntitlementPages {
    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/entitlements", .scope(.read), respond: entitlementsPage),
        ConsoleRoute(.get, "/console/entitlements/{id}", .scope(.read), respond: entitlementPage),
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

    /// What a customer has by name, and the form that grants.
    private func named(
      _ found: [StoredEntitlement], of customer: String, app: ServedApp, _ visit: ConsoleVisit
    ) throws -> [String: Any]? {
      let now = entitlements.clock()
      guard let access = entitlements.access(of: customer, to: found, app: app.name, at: now) else {
        return nil
      }
      let mayGrant = try visit.login.may(.grant)
      let grants = found.compactMap { $0.ledger.entitlementGrants.first }
      return ConsoleVisit.present([
        "access": TableView(
          "What \(ShownText.shortened(customer)) has", ["Entitlement", "Standing", "Since", "Until", "By"],
          access.map { access in
            [
              CellView(access.name),
              CellView(
                "\(access.grantsAccess ? "✓" : "✗") \(access.standing?.rawValue ?? "none")",
                style: access.grantsAccess ? "good" : "bad"),
              CellView(access.since.map { ShownTime.full($0) }),
              CellView(access.until.map { ShownTime.full($0) }),
              CellView(
                access.decisive.map { reason in reason.productId ?? reason.source.rawValue },
                link: access.decisive.map { ConsoleURL.entitlement($0.id, app: app.name) }),
            ]
          }),
        "grants": TableView(
          "Grants by hand", ["Grant", "Entitlement", "State", "Reason", "Expires", "Withdraw"],
          grants.map { grant in
            let state = grant.state(at: now)
            return [
              CellView(
                grant.id.identifier, link: ConsoleURL.entitlement(grant.id.identifier, app: app.name)),
              CellView(grant.entitlement),
              CellView(state.rawValue, style: state == .active ? "good" : "bad"), CellView(grant.reason),
              CellView(grant.expiresDate.map { ShownTime.full($0) }),
              mayGrant && state == .active
                ? CellView(
                  form: "/console/grants/withdraw", "Withdraw…", button: "Withdraw for good",
                  subject: grant.id.identifier,
                  [("app", app.name), ("customer", customer), ("id", grant.id.identifier)])
                : CellView(nil as String?),
            ]
          }),
        "granting": mayGrant
          ? [
            "grantCustomer": customer, "grantApp": app.name,
            "entitlementChoice": ChoiceView(
              name: "entitlement", label: "Entitlement",
              options: access.map { ($0.name, $0.name) }, chosen: ""),
          ] as [String: Any] : nil,
      ])
    }

    private func entitlementsPage(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.app()
      let by = try visit.query("by") ?? "identifier"
      let value = try visit.query("value")
      var found: [StoredEntitlement]?
      if let value {
        found =
          by == "customer"
          ? try await entitlements.entitlements(app: app.name, customer: value)
          : try await entitlements.entitlements(app: app.name, identifier: value)
      }
      let ofCustomer = try value.flatMap { value in
        by == "customer" ? try named(found ?? [], of: value, app: app, visit) : nil
      }
      let now = entitlements.clock()
      let latest = try await entitlements.latestSequence(app: app.name)
      let changes = try await entitlements.changes(app: app.name, after: max(0, latest - 50), limit: 50)
      return visit.page(
        "entitlements", title: "Entitlements",
        [
          "searchChoice": ChoiceView(
            name: "by", label: "Search by",
            options: [
              ("identifier", "Original transaction or purchase token"), ("customer", "Customer"),
            ], chosen: by), "searched": value ?? "", "appChoice": visit.appChoice(app),
          "found": try found.map { found in
            let page = try visit.page(of: found)
            return TableView(
              "Found", ["Entitlement", "State", "Product", "Customer", "Expires"],
              page.elements.map { stored in
                let state = EntitlementState(stored, at: now)
                return [
                  CellView(
                    identifier: stored.identifier,
                    link: ConsoleURL.entitlement(stored.identifier, app: app.name)),
                  CellView(chip: state.text, style: state.style), CellView(state.product),
                  CellView(
                    identifier: stored.customer,
                    link: stored.customer.map { ConsoleURL.customer($0, app: app.name) }),
                  CellView(time: state.expiry),
                ]
              }, empty: "Nothing is known of it.", footer: page.footer)
          },
          "named": ofCustomer,
          "changes": TableView(
            "The latest changes, newest first", ["Time", "What", "Product", "Entitlement", "Customer"],
            changes.reversed().map { change in
              let state = EntitlementState(change)
              return [
                CellView(time: change.time), CellView(change.type), CellView(state.product),
                CellView(
                  identifier: state.identifier,
                  link: state.identifier.map { ConsoleURL.entitlement($0, app: app.name) }),
                CellView(
                  identifier: change.customer,
                  link: change.customer.map { ConsoleURL.customer($0, app: app.name) }),
              ]
            }, empty: "No changes yet."),
        ])
    }

    private func entitlementPage(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.app()
      let id = try visit.context.pathParameter("id")
      let found = try await entitlements.entitlements(app: app.name, identifier: id)
      guard !found.isEmpty else { throw Problem.notFound }
      let now = entitlements.clock()
      let entries = try await auditLog?.read { view in
        try view.history(original: id, limit: 1000).filter { app.isAbout($0.entry) }
      }
      var lives: [[String: Any]] = []
      for stored in found {
        let changes = try await entitlements.history(app: app.name, name: stored.name)
        let page = try visit.page(of: Array(changes.enumerated()), "changes-from")
        let state = EntitlementState(stored, at: now)
        lives.append(
          ConsoleVisit.present([
            "lifeTitle": state.product ?? stored.identifier,
            "facts": [
              FactView("State", state.text, style: state.style), FactView("Environment", state.environment),
              FactView(
                "Customer", stored.customer,
                link: stored.customer.map { ConsoleURL.customer($0, app: app.name) }),
              FactView("Expires", state.expires), FactView("Latest purchase", state.purchase),
            ].compactMap { $0 },
            "timeline": Timeline(
              changes.suffix(Timeline.maximumCount),
              number: max(0, changes.count - Timeline.maximumCount) + 1,
              entries: entries?.prefix(Timeline.maximumCount).map(\.entry.time) ?? [], expires: state.expiry,
              at: now),
            "lifeTable": TableView(
              "What became of it, oldest first",
              ["No.", "Time", "What", "State after it", "Purchase", "Expires"],
              page.elements.map { index, change in
                let state = EntitlementState(change)
                return [
                  CellView("\(index + 1)"), CellView(ShownTime.full(change.time)), CellView(change.type),
                  CellView(state.text, style: state.style), CellView(state.purchase), CellView(state.expires),
                ]
              }, empty: "Nothing was told of it yet.", footer: page.footer),
          ]))
      }
      return visit.page(
        "entitlement", title: "Entitlement \(id)",
        [
          "lives": lives,
          "entries": try entries.map {
            let page = try visit.page(of: $0)
            return EntryTable.view(
              "Entries of the audit trail, newest first", page.elements, app: app.name, footer: page.footer)
          },
        ])
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
    }

    var expires: String? { expiry.map { ShownTime.full($0) } }
    var text: String? { state.map { "\(grantsAccess ? "✓" : "✗") \($0)" } }
    var style: String { grantsAccess ? "good" : "bad" }
  }
#endif
