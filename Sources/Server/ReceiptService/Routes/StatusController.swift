// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Hummingbird
  internal import Synchronization

  /// Answers probes, and the description of the API.
  struct StatusController: Controller {
    let writeProbe: WriteProbe
    let shutdown: ShutdownState
    /// The server's own address; `nil` for the address that the description was requested from.
    let url: String?
    /// The operations of the other controllers, which the description has before these.
    let others: [Route]

    var routes: [Route] {
      let text = [Route.Content(mediaType: "text/plain", schema: "Text")]
      return [
        Route(
          method: .get, path: "/healthz", operation: "getHealth", summary: "Whether the process answers.",
          answers: [(200, "It does.", text)], respond: .probe { _, _ in .text("ok\n") }),
        Route(
          method: .get, path: "/openapi.json", operation: "getDescription",
          summary: "The description of this API, in OpenAPI 3.1.",
          answers: [(200, "The description.", Route.Content.json("Description"))],
          respond: .open { _, _ in .json(OpenAPIDocument(routes: others + self.routes, url: url).object) }),
        Route(
          method: .get, path: "/readyz", operation: "getReadiness",
          summary:
            "Whether requests should be sent here: database and audit trail take writes, and no shutdown has begun.",
          answers: [(200, "They should.", text), (503, "They should not.", Route.Content.problem)],
          respond: .probe { _, _ in
            guard !shutdown.hasBegun else { throw Problem.unavailable("The service is shutting down.") }
            if let failure = await writeProbe.failure() { throw Problem.unavailable(failure) }
            return .text("ready\n")
          }),
      ]
    }
  }

  /// The shutdown of a server, before which load balancers should send their requests elsewhere.
  final class ShutdownState: Sendable {
    private let flag = Atomic<Bool>(false)

    var hasBegun: Bool { flag.load(ordering: .relaxed) }

    func begin() { flag.store(true, ordering: .relaxed) }
  }
#endif
