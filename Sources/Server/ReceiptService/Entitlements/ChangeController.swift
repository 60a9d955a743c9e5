// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import HTTPTypes
  internal import Hummingbird
  internal import NIOCore
  internal import ReceiptCodec

  /// Answers the changes of entitlements, as lists and as streams.
  struct ChangeController {
    let entitlements: ServiceEntitlements
    let identity: Identity
    let admission: Admission
    let shutdown: ShutdownState

    var routes: [Route] { [.getChanges(changes)] }

    private func changes(
      _ call: AuthenticatedRequest, _ context: ServiceContext
    ) async throws -> any ResponseGenerator {
      let request = call.request
      let app = try call.app()
      let limit = try request.limit
      var since = try request.integerParameter("since", 0...Int64.max, default: 0)
      guard request.prefers("text/event-stream", to: "application/json") else {
        try await requireReadable(since, app: app, at: "since")
        return ChangeList(
          changes: try await entitlements.changes(app: app.name, after: since, limit: limit))
      }
      var place = "since"
      if let name = HTTPField.Name("Last-Event-ID"), let text = request.headers[name] {
        guard let last = Int64(text), last >= 0 else {
          throw Problem.invalid("Last-Event-ID", "It takes the id of an event of this stream.")
        }
        if last > since { (since, place) = (last, "Last-Event-ID") }
      }
      try await requireReadable(since, app: app, at: place)
      let stream = try admission.eventStreams.take(for: app.name)
      return Response(
        status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
        body: ResponseBody { [since, self, principal = call.principal] writer in
          defer { withExtendedLifetime(stream) {} }
          try await writeChanges(of: app.name, after: since, for: principal) {
            try await writer.write(ByteBuffer(bytes: $0))
          }
          try await writer.finish(nil)
        })
    }

    /// - Throws: ``Problem`` for a sequence beyond the end. The reader would not see new changes until they exceed that
    ///   sequence.
    private func requireReadable(_ since: Int64, app: ServedApp, at place: String) async throws {
      guard since > 0 else { return }
      let end = try await entitlements.endOfChanges(app: app.name)
      guard since > end else { return }
      throw Problem(
        .conflict, "beyond-end",
        "The latest change of the app is \(end). What was read up to \(since) was read from another database, such as one that was replaced by an older copy. Begin at 0.",
        at: place)
    }

    /// Writes changes as server-sent events when they are committed, until the server shuts down or the key is revoked.
    private func writeChanges(
      of app: String, after sequence: Int64, for principal: Principal,
      _ write: ([UInt8]) async throws -> Void
    ) async throws {
      var since = sequence
      let commits = entitlements.commits(of: app)
      while !shutdown.hasBegun {
        try Task.checkCancellation()
        guard try await identity.isStillAllowed(principal, .read) else {
          try await write(
            Array("event: error\ndata: ".utf8) + Problem.unauthorized.json.bytes + Array("\n\n".utf8))
          return
        }
        let seen = commits.count
        let found = try await entitlements.changes(app: app, after: since, limit: 100)
        for change in found {
          try await write(
            Array("id: \(change.sequence)\nevent: \(change.type)\ndata: ".utf8) + change.body
              + Array("\n\n".utf8))
          since = change.sequence
        }
        guard found.isEmpty else { continue }
        // A comment shows both ends that the connection is alive.
        try await write(Array(":\n\n".utf8))
        await commits.wait(beyond: seen, atMost: .seconds(2))
      }
    }
  }
#endif
