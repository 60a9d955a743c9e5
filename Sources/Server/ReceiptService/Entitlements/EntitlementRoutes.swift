// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import Foundation
  internal import HTTPTypes
  internal import Hummingbird
  internal import Logging
  internal import NIOCore
  internal import ReceiptCodec
  internal import ReceiptVerification

  extension ReceiptAPI {
    static let sinceParameter = Route.Parameter.query(
      "since", .integer(0...Int64.max), "The sequence after which changes are told; 0 without.")
    static let limitParameter = Route.Parameter.query(
      "limit", .integer(1...1000), "How many at most: 1 to 1000; 100 without.")

    var entitlementRoutes: [Route] {
      let json = { (schema: String) in [Route.Content(mediaType: "application/json", schema: schema)] }
      return [
        Route(
          method: .get, path: "/v1/entitlements/{id}", operation: "getEntitlement", access: .key(.read),
          summary: "What an original transaction, or a purchase token of Google Play, entitles to.",
          parameters: [.path("id", .text, "The original transaction or purchase token."), Self.appParameter],
          answers: [(200, "The entitlements: one for each environment.", json("entitlements"))],
          respond: { [unowned self] request, context in
            let app = try app(of: request, context)
            let found = try await entitlements.entitlements(
              app: app.name, identifier: try pathParameter("id", context))
            guard !found.isEmpty else { throw Problem.notFound }
            return entitlementsAnswer(found)
          }),
        Route(
          method: .get, path: "/v1/entitlements/{id}/history", operation: "getEntitlementHistory",
          access: .key(.read),
          summary:
            "What became of an entitlement, oldest first, and the entries of the audit trail that are about it, newest first.",
          parameters: [.path("id", .text, "The original transaction or purchase token."), Self.appParameter],
          answers: [(200, "Changes and entries.", json("history"))],
          respond: { [unowned self] in try await history($0, $1) }),
        Route(
          method: .get, path: "/v1/customers/{id}/entitlements", operation: "getCustomerEntitlements",
          access: .key(.read), summary: "What a customer is entitled to.",
          parameters: [
            .path("id", .text, "The customer: their appAccountToken, or obfuscatedExternalAccountId."),
            Self.appParameter,
          ],
          answers: [(200, "The entitlements; none for a customer who is not known.", json("entitlements"))],
          respond: { [unowned self] request, context in
            let app = try app(of: request, context)
            return entitlementsAnswer(
              try await entitlements.entitlements(
                app: app.name, customer: try pathParameter("id", context)))
          }),
        Route(
          method: .post, path: "/v1/customers/{id}/receipts", operation: "presentReceipt",
          access: .key(.verify),
          summary:
            "Verifies a signed transaction that a customer presents, and entitles the customer to what it says, in one request. A receipt that names another customer entitles nobody.",
          parameters: [
            .path("id", .text, "The customer, where the transaction names none."), Self.policyParameter,
            Self.appParameter,
          ],
          body: [
            .init(mediaType: "application/octet-stream", schema: "Receipt"),
            .init(mediaType: "application/json", schema: "WrappedReceipt"),
          ],
          answers: [
            (200, "The verdict, whatever it is.", json("presented-receipt")),
            (409, "The receipt is valid and names another customer: nobody was entitled.", Self.problem),
            (
              422,
              "The transaction is valid, and does not state its app, environment or original transaction.",
              Self.problem
            ), Self.unsupported,
          ],
          respond: { [unowned self] in try await presentReceipt($0, $1) }),
        Route(
          method: .delete, path: "/v1/customers/{id}", operation: "eraseCustomer", access: .key(.admin),
          summary:
            "Erases a customer from entitlements, changes, webhooks that wait and the erasable parts of the audit trail, whose proofs stay valid.",
          parameters: [.path("id", .text, "The customer."), Self.appParameter],
          answers: [(200, "It is done: what was erased.", json("erasure"))],
          respond: { [unowned self] in try await eraseCustomer($0, $1) }),
        Route(
          method: .get, path: "/v1/changes", operation: "getChanges", access: .key(.read),
          summary:
            "What became of entitlements, in order; with Accept: text/event-stream as server-sent events that go on. A stream goes on after Last-Event-ID, and ends with an event named error when its key is revoked.",
          parameters: [Self.sinceParameter, Self.limitParameter, Self.appParameter],
          answers: [
            (
              200, "The changes.",
              json("changes") + [.init(mediaType: "text/event-stream", schema: "Text")]
            ),
            (
              409,
              "There never was a change with this sequence: the database is another one than the one that was read, such as an older copy. Begin at 0.",
              Self.problem
            ),
            (429, "The app has as many event streams as it may.", Self.problem),
          ],
          respond: { [unowned self] in try await changes($0, $1) }),
        Route(
          method: .post, path: "/v1/notifications/{app}", operation: "receiveNotification", access: .open,
          summary:
            "Takes notifications of the App Store (version 2) and pushes of Google Play. What is sent proves itself.",
          parameters: [.path("app", .text, "The app, by its name in the configuration.")],
          body: [.init(mediaType: "application/json", schema: "Notification")],
          answers: [
            (200, "It is recorded, now or before.", []),
            (400, "It is not genuine, or not of this app.", Self.problem),
            (401, "The token of the push is not accepted.", Self.problem), Self.unsupported,
            (503, "It could not be checked or recorded; to be delivered again.", Self.problem),
          ],
          respond: { [unowned self] in try await receiveNotification($0, $1) }),
      ]
    }

    static let problem = [Route.Content(mediaType: "application/problem+json", schema: "Problem")]

    /// A parameter of the path, percent-decoded.
    func pathParameter(_ name: String, _ context: ServiceContext) throws -> String {
      guard let value = context.parameters.get(name), let text = value.removingPercentEncoding, !text.isEmpty,
        text.utf8.count <= 4096
      else { throw Problem.invalid(name, "It is empty, too long, or not percent-encoded UTF-8.") }
      return text
    }

    /// A numeric query parameter within a range.
    func integerParameter(
      _ name: String, of request: Request, _ range: ClosedRange<Int64>, default fallback: Int64
    ) throws -> Int64 {
      guard let text = try queryParameter(name, of: request) else { return fallback }
      guard let number = Int64(text), range ~= number else {
        throw Problem.invalid(name, "It takes a number from \(range.lowerBound) to \(range.upperBound).")
      }
      return number
    }

    private func entitlementsAnswer(_ found: [StoredEntitlement]) -> Response {
      var object = JSONWriter(type: "entitlements")
      write(found, to: &object)
      object.endObject()
      return .json(object)
    }

    private func write(_ found: [StoredEntitlement], to object: inout JSONWriter) {
      let now = clock()
      object.name("entitlements")
      object.beginArray()
      for entitlement in found {
        object.beginObject()
        object.member("customer", entitlement.customer)
        object.name("entitlement")
        entitlement.append(to: &object, at: now)
        object.endObject()
      }
      object.endArray()
    }

    private func history(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let app = try app(of: request, context)
      let id = try pathParameter("id", context)
      let found = try await entitlements.entitlements(app: app.name, identifier: id)
      guard !found.isEmpty else { throw Problem.notFound }
      var object = JSONWriter(type: "history")
      write(found, to: &object)
      object.name("changes")
      object.beginArray()
      for entitlement in found {
        for change in try await entitlements.history(app: app.name, name: entitlement.name) {
          change.write(to: &object)
        }
      }
      object.endArray()
      object.name("entries")
      object.beginArray()
      let members = try await auditEntries(original: id, app: app)
      for entry in members { object.append(entry) }
      object.endArray()
      object.endObject()
      return .json(object)
    }

    private func presentReceipt(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let customer = try pathParameter("id", context)
      guard try queryParameter("customer", of: request) == nil else {
        throw Problem.invalid("customer", "The customer is named by the path.")
      }
      var verification = try verification(request, context.principal)
      verification.presenter = customer
      let bytes = try await contentBody(of: request)
      let (verdict, acknowledgement) = try await verification.verdict(on: bytes)
      let found = try await entitle(customer, verdict, acknowledgement?.index, app: verification.app.name)
      verification.count([verdict])
      var object = JSONWriter(type: "presented-receipt")
      object.name("verdict")
      object.append(verification.report(verdict, acknowledgement))
      write(found, to: &object)
      object.endObject()
      return .json(object)
    }

    /// Grants a customer the purchases of a receipt that they presented.
    ///
    /// - Returns: The customer's entitlements of its original transaction.
    /// - Throws: ``Problem`` if the receipt names another customer or is incomplete. Only the verdict is stored then,
    ///   in the entry.
    private func entitle(
      _ customer: String, _ verdict: Verdict, _ entry: UInt64?, app: String
    ) async throws -> [StoredEntitlement] {
      guard case .valid(let receipt) = verdict else { return [] }
      let customer = RecordingOptions.canonicalCustomer(customer)
      do {
        if let named = receipt.appAccountToken, RecordingOptions.canonicalCustomer(named) != customer {
          throw PresentedByAnother()
        }
        guard receipt.kind == .signedTransaction else { return [] }
        let id = try await entitlements.merge(receipt, customer: customer, app: app)
        return try await entitlements.entitlements(app: app, identifier: id.originalTransactionId)
          .filter { $0.customer == customer }
      } catch is PresentedByAnother {
        throw Problem(
          .conflict, "other-customer",
          "The receipt is valid and names another customer than the one in the path. Nobody was entitled by it. Present it for the customer whom it names.",
          at: "id", entry: entry)
      } catch let error as EntitlementError {
        throw Problem(.unprocessableContent, "incomplete-receipt", "\(error)", entry: entry)
      }
    }

    private func receiveNotification(_ request: Request, _ context: ServiceContext) async throws -> Response {
      guard let app = apps[try pathParameter("app", context)] else { throw Problem.notFound }
      let authorization = request.headers[values: .authorization]
      let answer = await notifications.receive(
        app: app.configuration, authorization: authorization.count == 1 ? authorization[0] : nil,
        body: try await contentBody(of: request))
      // Anybody can send notifications that are refused.
      let isRefused = 400..<500 ~= answer.status
      if let leftOut = isRefused ? noise.leftOutCount() : 0 {
        var metadata: Logger.Metadata = [
          "app": "\(app.name)", "outcome": "\(answer.outcome.rawValue)", "id": "\(answer.id ?? "")",
          "event": "\(answer.event ?? "")", "reason": "\(answer.message ?? "")",
        ]
        if leftOut > 0 { metadata["left-out"] = "\(leftOut)" }
        context.logger.log(
          level: answer.status < 300 ? .info : .warning, "A notification was delivered.", metadata: metadata)
      }
      switch answer.status {
      case 200..<300: return Response(status: .init(code: answer.status))
      case 401:
        throw Problem(.unauthorized, "unauthorized", "The token of the push is not accepted.")
      case 404: throw Problem.notFound
      case 503:
        throw Problem.unavailable("The notification could not be checked or recorded. Deliver it again.")
      default:
        throw Problem(
          .init(code: answer.status), "refused", "The notification is not genuine, or not of this app.")
      }
    }

    // MARK: Changes

    private func changes(_ request: Request, _ context: ServiceContext) async throws -> Response {
      let app = try app(of: request, context)
      let limit = Int(try integerParameter("limit", of: request, 1...1000, default: 100))
      let accepts = request.headers[.accept] ?? ""
      var since = try integerParameter("since", of: request, 0...Int64.max, default: 0)
      guard accepts.contains("text/event-stream") else {
        try await requireReadable(since, app: app, at: "since")
        let found = try await entitlements.changes(app: app.name, after: since, limit: limit)
        var object = JSONWriter(type: "changes")
        object.name("changes")
        object.beginArray()
        for change in found { change.write(to: &object) }
        object.endArray()
        object.endObject()
        return .json(object)
      }
      var place = "since"
      if let name = HTTPField.Name("Last-Event-ID"), let text = request.headers[name] {
        guard let last = Int64(text), last >= 0 else {
          throw Problem.invalid("Last-Event-ID", "It takes the id of an event of this stream.")
        }
        if last > since { (since, place) = (last, "Last-Event-ID") }
      }
      try await requireReadable(since, app: app, at: place)
      let limits = configuration.limits
      let stream = try eventStreams.open(app: app.name, limit: limits.maximumEventStreamsPerApp)
      let principal = context.principal
      return Response(
        status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
        body: ResponseBody { [since, self] writer in
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
      of app: String, after sequence: Int64, for principal: Principal?,
      _ write: ([UInt8]) async throws -> Void
    ) async throws {
      var since = sequence
      let commits = entitlements.commits(of: app)
      while !isShuttingDown {
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

  extension EntitlementChange {
    /// Writes an object with the sequence, the identifier and the reported JSON.
    func write(to object: inout JSONWriter) {
      object.beginObject()
      object.member("sequence", sequence)
      object.member("id", id)
      object.name("change")
      object.value((try? JSONValue(parsing: body)) ?? .null)
      object.endObject()
    }
  }
#endif
