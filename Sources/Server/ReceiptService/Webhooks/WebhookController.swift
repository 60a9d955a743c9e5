// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  package import ReceiptCodec

  /// Answers the state of webhooks, and has dead letters delivered again.
  struct WebhookController: Controller {
    let queue: WebhookQueue
    let entitlements: ServiceEntitlements

    var routes: [Route] {
      let endpoint = Route.Parameter.path(
        "endpoint", .text, "The endpoint, by its name in the configuration.")
      return [
        Route(
          method: .get, path: "/v1/webhooks", operation: "listWebhooks",
          summary: "The endpoints of an app's webhooks, and how many deliveries wait or are dead.",
          parameters: [.app], answers: [(200, "The endpoints.", Route.Content.json("webhooks"))],
          respond: .key(.admin, endpoints)),
        Route(
          method: .get, path: "/v1/webhooks/{endpoint}/dead", operation: "listDeadLetters",
          summary: "The deliveries that were given up, in the order of the changes.",
          parameters: [endpoint, .since, .limit, .app],
          answers: [(200, "The dead letters.", Route.Content.json("dead-letters"))],
          respond: .key(.admin, deadLetters)),
        Route(
          method: .post, path: "/v1/webhooks/{endpoint}/replay", operation: "replayWebhooks",
          summary: "Has dead letters delivered again, with all attempts: one, or all.",
          parameters: [endpoint, .query("id", .text, "The `webhook-id` of one; all without."), .app],
          answers: [(200, "How many will be delivered.", Route.Content.json("replay"))],
          respond: .key(.admin, replay)),
      ]
    }

    private func endpoints(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let app = try call.app()
      let counts = try await queue.counts(app: app.name)
      var object = JSONWriter(type: "webhooks")
      object.name("endpoints")
      object.beginArray()
      for endpoint in app.configuration.webhooks {
        let (waiting, dead) = counts[endpoint.name] ?? (0, 0)
        object.beginObject()
        object.member("name", endpoint.name)
        object.member("waiting", Int64(waiting))
        object.member("dead", Int64(dead))
        object.endObject()
      }
      object.endArray()
      object.endObject()
      return .json(object)
    }

    private func deadLetters(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response
    {
      let app = try call.app()
      let letters = try await queue.deadLetters(
        app: app.name, endpoint: try app.webhook(named: try context.pathParameter("endpoint")),
        after: try call.request.integerParameter("since", 0...Int64.max, default: 0),
        limit: Int(try call.request.integerParameter("limit", 1...1000, default: 100)))
      var object = JSONWriter(type: "dead-letters")
      object.name("letters")
      object.beginArray()
      for letter in letters { letter.write(to: &object) }
      object.endArray()
      object.endObject()
      return .json(object)
    }

    private func replay(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> Response {
      let app = try call.app()
      let endpoint = try app.webhook(named: try context.pathParameter("endpoint"))
      let id = try call.request.queryParameter("id")
      let count = try await replay(app, endpoint: endpoint, id: id, by: call.principal)
      guard id == nil || count > 0 else { throw Problem.notFound }
      var object = JSONWriter(type: "replay")
      object.member("count", Int64(count))
      object.endObject()
      return .json(object)
    }

    /// Has dead letters delivered again, and wakes the sender.
    ///
    /// - Returns: The number of queued dead letters.
    func replay(
      _ app: ServedApp, endpoint: String, id: String?, by principal: Principal
    ) async throws -> Int {
      let count = try await queue.replay(
        app: app.name, endpoint: endpoint, id: id, by: principal.keyID, at: entitlements.clock())
      entitlements.commits.signal()
      return count
    }
  }

  extension ServedApp {
    /// Returns the name of a webhook of the app.
    ///
    /// - Throws: ``Problem`` if the app has no such webhook.
    func webhook(named name: String) throws -> String {
      guard configuration.webhooks.contains(where: { $0.name == name }) else { throw Problem.notFound }
      return name
    }
  }

  extension WebhookQueue.DeadLetter {
    /// Writes an object with the undelivered change and the error.
    package func write(to object: inout JSONWriter) {
      object.beginObject()
      object.member("attempts", Int64(attempts))
      object.member("error", error)
      object.name("change")
      change.write(to: &object)
      object.endObject()
    }
  }
#endif
