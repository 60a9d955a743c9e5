// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import Hummingbird
  internal import ReceiptCodec

  struct EntitlementPages {
    let entitlements: ServiceEntitlements

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/entitlements", .scope(.read), respond: entitlementsPage)
      ]
    }

    private func entitlementsPage(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.app()
      let by = try visit.query("by") ?? "identifier"
      let value = try visit.query("value")
      if by == "customer", let value, !value.isEmpty {
        return ConsoleVisit.redirect(to: ConsoleURL.customer(value, app: app.name))
      }
      var found: [StoredEntitlement]?
      if let value { found = try await entitlements.entitlements(app: app.name, identifier: value) }
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
              },
              empty: EmptyView(
                "Nothing is known of it",
                "An entitlement is known by its original transaction, its purchase token or its grant. If you have another "
                  + "identifier, use the search field at the top."), footer: page.footer)
          },
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
            },
            empty: EmptyView(
              "No changes yet",
              "Entitlements change when a receipt is presented for a customer, or when a store sends a notification."
            )),
        ])
    }
  }
#endif
