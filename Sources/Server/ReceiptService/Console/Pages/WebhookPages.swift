// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Foundation
  internal import Hummingbird
  internal import ReceiptHTTP

  struct WebhookPages {
    let webhooks: WebhookController
    let forwarding: ForwardingQueue

    var routes: [ConsoleRoute] {
      [
        ConsoleRoute(.get, "/console/webhooks", .scope(.admin), respond: webhooksPage),
        ConsoleRoute(.post, "/console/webhooks/replay", .scope(.admin)) { visit in
          let app = try visit.app()
          let endpoint = try app.webhook(named: visit.form["endpoint"] ?? "")
          _ = try await webhooks.replay(app, endpoint: endpoint, id: visit.form["id"], by: try visit.login)
          return ConsoleVisit.redirect(to: ConsoleURL.make("/console/webhooks", [("app", app.name)]))
        },
      ]
    }

    private func webhooksPage(_ visit: ConsoleVisit) async throws -> Response {
      let app = try visit.app()
      let counts = try await webhooks.queue.counts(app: app.name)
      func replay(_ endpoint: String, _ summary: String, _ button: String, _ id: String?) -> CellView {
        CellView(
          form: "/console/webhooks/replay", summary, button: button, subject: id ?? endpoint,
          [("app", app.name), ("endpoint", endpoint)] + (id.map { [("id", $0)] } ?? []))
      }
      var letters: [TableView] = []
      for endpoint in app.configuration.webhooks where counts[endpoint.name]?.dead ?? 0 > 0 {
        let page = try visit.page(
          of: try await webhooks.queue.deadLetters(app: app.name, endpoint: endpoint.name),
          "from-\(endpoint.name)")
        letters.append(
          TableView(
            "Given up for \(endpoint.name), oldest first",
            ["Message", "Time", "What", "Tries", "Last error", "Replay"],
            page.elements.map { letter in
              [
                CellView(identifier: letter.change.id), CellView(time: letter.change.time),
                CellView(letter.change.type),
                CellView("\(letter.attempts)"), CellView(letter.error),
                replay(endpoint.name, "Replay…", "Deliver again", letter.change.id),
              ]
            }, footer: page.footer))
      }
      let forwarded = app.configuration.forwarding == nil ? nil : try await forwardingTable(app)
      return visit.page(
        "webhooks", title: "Webhooks",
        [
          "appChoice": visit.appChoice(app),
          "table": TableView(
            "Endpoints", ["Endpoint", "Address", "Waiting", "Given up", "Replay"],
            app.configuration.webhooks.map { endpoint in
              let (waiting, dead) = counts[endpoint.name] ?? (0, 0)
              return [
                CellView(endpoint.name), CellView(RemoteURL.withoutSecrets(endpoint.url)),
                CellView("\(waiting)"),
                dead == 0 ? CellView("0") : CellView(chip: "✗ \(dead)", style: "bad"),
                dead == 0
                  ? CellView(nil as String?)
                  : replay(endpoint.name, "Replay all…", "Deliver all \(dead) again", nil),
              ]
            },
            empty: EmptyView(
              "No webhooks for \(app.name)",
              "A webhook tells your backend of each change of an entitlement. Add one to the configuration of the "
                + "app: app.\(app.name).webhooks.")), "letters": letters,
          "forwarding": forwarded,
        ])
    }

    private func forwardingTable(_ app: ServedApp) async throws -> TableView {
      let state = try await forwarding.states(app: app.name).first
      return TableView(
        "Notifications that are forwarded", ["Address", "Waiting", "Oldest", "Tries", "Last error"],
        [
          [
            CellView(app.configuration.forwarding.map { RemoteURL.withoutSecrets($0.url) }),
            CellView("\(state?.waiting ?? 0)"), CellView(time: state?.received),
            CellView("\(state?.attempts ?? 0)"),
            CellView(state?.error, style: state?.error == nil ? "" : "bad"),
          ]
        ])
    }
  }
#endif
