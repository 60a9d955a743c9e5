// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird

  /// The pages of keys, and of what administrators did with them.
  struct KeyPages {
    let keys: KeyRing
    let database: any ServiceDatabase

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/keys", .scope(.admin)) {
          try await keysPage($0, created: nil)
        },
        ConsoleRoute(.post, "/console/keys", .scope(.admin)) { visit in
          let scopes = Set(visit.form.all("scope").compactMap { Scope(rawValue: $0) })
          let key = try await keys.create(
            name: visit.form["name"] ?? "", app: visit.form["app"], scopes: scopes, for: try visit.login)
          return try await keysPage(visit, created: key)
        },
        ConsoleRoute(.post, "/console/keys/revoke", .scope(.admin)) { visit in
          try await keys.revoke(id: visit.form["id"] ?? "", for: try visit.login)
          return ConsoleVisit.redirect(to: "/console/keys")
        },
        ConsoleRoute(.get, "/console/acts", .scope(.admin), respond: actsPage),
      ]
    }

    private func keysPage(_ visit: ConsoleVisit, created: APIKeyText?) async throws -> Response {
      let meanings: [Scope: String] = [
        .verify: "have receipts verified and inspected",
        .read: "read entitlements, changes and the audit trail",
        .review: "answer refund reviews",
        .grant: "grant named entitlements to customers by hand",
        .admin: "manage keys and webhooks, and erase",
        .client: "present receipts in a published app, alone and for one app",
      ]
      let login = try visit.login
      let page = try visit.page(of: try await keys.keys(for: login))
      return visit.page(
        "keys", title: "Keys",
        [
          "created": created?.description, "createdID": created?.id ?? "",
          "appChoice": visit.appChoice(nil, orAll: login.isForAllApps),
          "scopes": Scope.allCases.map { ["scope": $0.rawValue, "scopeMeaning": meanings[$0] ?? ""] },
          "table": TableView(
            "Keys in the order of their creation",
            ["Name", "Identifier", "App", "Scopes", "Created", "State"],
            page.elements.map { key in
              let principal = key.principal
              let isOwn = principal.keyID == login.keyID
              return [
                CellView(principal.name), CellView(identifier: principal.keyID),
                CellView(principal.app ?? "all"),
                CellView(principal.scopes.map(\.rawValue).sorted().joined(separator: ", ")),
                CellView(key.created),
                key.revoked.map { CellView(chip: "revoked", note: ShownTime.full(.init(milliseconds: $0))) }
                  ?? CellView(
                    form: "/console/keys/revoke", isOwn ? "Active (this key): revoke…" : "Active: revoke…",
                    button: "Revoke for good", subject: principal.name, [("id", principal.keyID)]),
              ]
            }, footer: page.footer),
        ])
    }

    private func actsPage(_ visit: ConsoleVisit) async throws -> Response {
      // The acts concern the whole server.
      try visit.login.require(app: nil)
      let page = try visit.page(
        of: try await database.read { session in try AdministrativeAct.newest(500, in: session) })
      let names = Dictionary(
        try await keys.keys().map { ($0.principal.keyID, $0.principal.name) }
      ) { first, _ in first }
      return visit.page(
        "table", title: "Activity log",
        [
          "table": TableView(
            "The latest 500 actions of administrators", ["Time", "Action", "By", "Details"],
            page.elements.map { act in
              [
                CellView(time: act.time), CellView(act.act),
                names[act.actor].map { CellView($0, note: act.actor) } ?? CellView(act.actor),
                CellView(act.details),
              ]
            },
            empty: EmptyView(
              "No administrative actions yet",
              "Logins, new and revoked keys, replayed webhooks, grants and erasures appear here."),
            footer: page.footer)
        ])
    }
  }
#endif
