// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird

  /// Answers the state of webhooks, and has dead letters delivered again.
  struct WebhookController {
    let queue: WebhookQueue
    let entitlements: ServiceEntitlements

    var routes: [Route] {
      [.listWebhooks(endpoints), .listDeadLetters(deadLetters), .replayWebhooks(replay)]
    }

    private func endpoints(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws
      -> WebhookList
    {
      let app = try call.app()
      let counts = try await queue.counts(app: app.name)
      return WebhookList(
        endpoints: app.configuration.webhooks.map { endpoint in
          let (waiting, dead) = counts[endpoint.name] ?? (0, 0)
          return WebhookCounts(name: endpoint.name, waiting: Int64(waiting), dead: Int64(dead))
        })
    }

    private func deadLetters(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws
      -> DeadLetters
    {
      let app = try call.app()
      return DeadLetters(
        letters: try await queue.deadLetters(
          app: app.name, endpoint: try app.webhook(named: try context.pathParameter("endpoint")),
          after: try call.request.integerParameter("since", 0...Int64.max, default: 0),
          limit: try call.request.limit))
    }

    private func replay(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> WebhookReplay
    {
      let app = try call.app()
      let endpoint = try app.webhook(named: try context.pathParameter("endpoint"))
      let id = try call.request.queryParameter("id")
      let count = try await replay(app, endpoint: endpoint, id: id, by: call.principal)
      guard id == nil || count > 0 else { throw Problem.notFound }
      return WebhookReplay(count: Int64(count))
    }

    /// Has dead letters delivered again, wakes the sender, and returns the number of letters.
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
    /// Returns the name of a webhook of the app, or throws if the app has no such webhook.
    func webhook(named name: String) throws -> String {
      guard configuration.webhooks.contains(where: { $0.name == name }) else { throw Problem.notFound }
      return name
    }
  }
#endif
