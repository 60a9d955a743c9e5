// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  package import ReceiptCodec

  extension ReceiptAPI {
    var webhookRoutes: [Route] {
      let endpoint = Route.Parameter.path(
        "endpoint", .text, "The endpoint, by its name in the configuration.")
      let json = { (schema: String) in [Route.Content(mediaType: "application/json", schema: schema)] }
      return [
        Route(
          method: .get, path: "/v1/webhooks", operation: "listWebhooks", access: .key(.admin),
          summary: "The endpoints of an app's webhooks, and how many deliveries wait or are dead.",
          parameters: [Self.appParameter],
          answers: [(200, "The endpoints.", json("webhooks"))],
          respond: { [unowned self] request, context in
            let app = try app(of: request, context)
            let counts = try await webhooks.counts(app: app.name)
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
          }),
        Route(
          method: .get, path: "/v1/webhooks/{endpoint}/dead", operation: "listDeadLetters",
          access: .key(.admin), summary: "The deliveries that were given up, in the order of the changes.",
          parameters: [endpoint, Self.sinceParameter, Self.limitParameter, Self.appParameter],
          answers: [(200, "The dead letters.", json("dead-letters"))],
          respond: { [unowned self] request, context in
            let app = try app(of: request, context)
            let letters = try await webhooks.deadLetters(
              app: app.name, endpoint: try endpointName(app, context),
              after: try integerParameter("since", of: request, 0...Int64.max, default: 0),
              limit: Int(try integerParameter("limit", of: request, 1...1000, default: 100)))
            var object = JSONWriter(type: "dead-letters")
            object.name("letters")
            object.beginArray()
            for letter in letters { letter.write(to: &object) }
            object.endArray()
            object.endObject()
            return .json(object)
          }),
        Route(
          method: .post, path: "/v1/webhooks/{endpoint}/replay", operation: "replayWebhooks",
          access: .key(.admin), summary: "Has dead letters delivered again, with all attempts: one, or all.",
          parameters: [
            endpoint, .query("id", .text, "The `webhook-id` of one; all without."), Self.appParameter,
          ],
          answers: [(200, "How many will be delivered.", json("replay"))],
          respond: { [unowned self] request, context in
            let app = try app(of: request, context)
            let name = try endpointName(app, context)
            let id = try queryParameter("id", of: request)
            let count = try await replay(
              app: app.name, endpoint: name, id: id, by: context.principal?.keyID ?? "")
            guard id == nil || count > 0 else { throw Problem.notFound }
            var object = JSONWriter(type: "replay")
            object.member("count", Int64(count))
            object.endObject()
            return .json(object)
          }),
      ]
    }

    /// Queues dead letters for delivery again, and records the actor.
    ///
    /// - Returns: The number of queued dead letters.
    package func replay(app: String, endpoint: String, id: String?, by actor: String) async throws -> Int {
      let now = clock()
      let count = try await webhooks.replay(app: app, endpoint: endpoint, id: id, at: now)
      try await database.write { session in
        try AdministrativeAct.record(
          "webhooks.replay", "app=\(app) endpoint=\(endpoint) id=\(id ?? "*") count=\(count)", by: actor,
          at: now.milliseconds, in: session)
      }
      entitlements.commits.signal()
      return count
    }

    private func endpointName(_ app: ServedApp, _ context: ServiceContext) throws -> String {
      let name = try pathParameter("endpoint", context)
      guard app.configuration.webhooks.contains(where: { $0.name == name }) else { throw Problem.notFound }
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
