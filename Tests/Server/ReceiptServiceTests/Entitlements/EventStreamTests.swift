// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import AuditTrailTesting
  import Entitlements
  import HTTPTypes
  import Hummingbird
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import ReceiptVerification
  import Testing
  import TransparencyLog

  /// Changes as server-sent events, and receipts that are presented, through the routes.
  @Suite(.timeLimit(.minutes(2))) struct EventStreamTests {
    private typealias F = ServiceFixture

    private static let stream = ["Accept": "text/event-stream"]

    private static func eventually(
      _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
    ) async throws {
      for _ in 0..<3_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
      }
      Issue.record("never: \(what)", sourceLocation: sourceLocation)
    }

    private static func withClient(
      on kind: DatabaseKind, _ change: (inout ServiceConfiguration) throws -> Void = { _ in },
      _ body: (_ service: ServiceFixture, _ client: RouteClient, _ key: String) async throws -> Void
    ) async throws {
      try await withService(on: kind) { service in
        var other = service.app
        other.name = "other"
        var configuration = ServiceConfiguration(apps: [service.app, other])
        configuration.servesConsole = false
        try change(&configuration)
        let api = try ReceiptAPI(
          configuration, database: service.database, maximumKeyAge: .milliseconds(20),
          clock: service.clock.reading)
        let key = try await api.createKey(name: "test", app: "shop", scopes: [.read, .verify, .admin])
        try await body(service, RouteClient(api), key)
      }
    }

    private static func buy(_ service: ServiceFixture, _ client: RouteClient, _ lines: ClosedRange<Int>)
      async throws
    {
      for line in lines {
        try await client.api.entitlements.record(
          service.notification(.subscribed, day: 0, F.period(1, line: line)), app: "shop")
      }
    }

    /// The identifiers of the events so far.
    private static func ids(_ output: RouteClient.Output) -> [String] {
      output.text.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }

    @Test(
      "a stream has all changes in order, goes on, and is taken up where it was left",
      arguments: DatabaseKind.all)
    func order(on kind: DatabaseKind) async throws {
      try await Self.withClient(on: kind) { service, client, key in
        try await Self.buy(service, client, 1...4)
        let changes = try await client.api.entitlements.changes(app: "shop", after: 0)
        let ids = changes.map { String($0.sequence) }
        let first = try await client.send(.get, "/v1/changes", key: key, headers: Self.stream)
        #expect(first.status == .ok)
        try await client.reading(first) { output in
          try await Self.eventually("four") { Self.ids(output) == ids }
          #expect(
            output.text.hasPrefix(
              "id: \(ids[0])\nevent: entitlement.granted\ndata: \(String(decoding: changes[0].body, as: UTF8.self))\n\n"
            ))
          try await Self.buy(service, client, 5...5)
          try await Self.eventually("the fifth") { Self.ids(output).count == 5 }
        }
        for (path, headers) in [
          ("/v1/changes", Self.stream.merging(["Last-Event-ID": ids[1]]) { $1 }),
          ("/v1/changes?since=\(ids[1])", Self.stream),
          ("/v1/changes?since=\(ids[0])", Self.stream.merging(["Last-Event-ID": ids[1]]) { $1 }),
        ] {
          let later = try await client.send(.get, path, key: key, headers: headers)
          try await client.reading(later) { output in
            try await Self.eventually("the rest") { Self.ids(output).count == 3 }
            #expect(Self.ids(output).prefix(2) == ids[2...])
          }
        }
      }
    }

    @Test("what was never told is no place to go on", arguments: DatabaseKind.all)
    func beyondEnd(on kind: DatabaseKind) async throws {
      try await Self.withClient(on: kind) { service, client, key in
        try await Self.buy(service, client, 1...2)
        let end = try await client.api.entitlements.latestSequence(app: "shop")
        for (path, headers) in [
          ("/v1/changes", Self.stream.merging(["Last-Event-ID": "\(end + 1)"]) { $1 }),
          ("/v1/changes?since=\(end + 1)", Self.stream), ("/v1/changes?since=\(end + 1)", [:]),
        ] {
          let answer = try await client.json(.get, path, key: key, headers: headers)
          #expect(answer.status == 409)
          #expect(answer.value["code"]?.string == "beyond-end")
        }
        #expect(try await client.json(.get, "/v1/changes?since=\(end)", key: key).status == 200)
        let nonsense = try await client.send(
          .get, "/v1/changes", key: key, headers: Self.stream.merging(["Last-Event-ID": "x"]) { $1 })
        #expect(nonsense.status == .badRequest)
      }
    }

    @Test("the stream of a key that was revoked ends, and says why", arguments: DatabaseKind.all)
    func revoked(on kind: DatabaseKind) async throws {
      try await Self.withClient(on: kind) { service, client, key in
        let response = try await client.send(.get, "/v1/changes", key: key, headers: Self.stream)
        try await client.reading(response) { output in
          try await Self.buy(service, client, 1...1)
          try await Self.eventually("one") { Self.ids(output).count == 1 }
          let id = String(key.split(separator: "_")[1])
          #expect(try await client.api.keys.revoke(id: id, by: "tester"))
          try await Self.eventually("it ends") { output.isFinished }
          #expect(output.text.contains("event: error\ndata: {"))
          #expect(output.text.contains(#""code":"unauthorized""#))
        }
      }
    }

    @Test("streams of one app are limited, and a place is given back", arguments: DatabaseKind.all)
    func limit(on kind: DatabaseKind) async throws {
      try await Self.withClient(on: kind) {
        $0.limits.maximumEventStreamsPerApp = 2
      } _: { service, client, key in
        func open(_ key: String) async throws -> Response {
          try await client.send(.get, "/v1/changes", key: key, headers: Self.stream)
        }
        let held = try await open(key)
        try await client.reading(try await open(key)) { _ in
          let refused = try await client.json(.get, "/v1/changes", key: key, headers: Self.stream)
          #expect(refused.status == 429)
          #expect(refused.value["code"]?.string == "too-many-streams")
          let other = try await client.api.createKey(name: "other", app: "other", scopes: [.read])
          #expect(try await open(other).status == .ok)
        }
        try await Self.eventually("a place is free") { try await open(key).status == .ok }
        _ = held
      }
    }

    @Test("what one app commits wakes its own streams alone")
    func wake() async throws {
      try await Self.withClient(on: .sqlite) { service, client, _ in
        let entitlements = client.api.entitlements
        let (own, other, all) = (
          entitlements.commits(of: "shop"), entitlements.commits(of: "other"), entitlements.commits
        )
        try await Self.buy(service, client, 1...3)
        #expect((own.count, other.count, all.count) == (3, 0, 3))
        service.clock.now = F.day(31)
        #expect(try await entitlements.expireDue() == 3)
        #expect((own.count, other.count, all.count) == (4, 0, 4))
        #expect(entitlements.commits(of: "unknown") === all)
      }
    }

    // MARK: Receipts that are presented

    @Test(
      "a receipt that names another customer, and one that is incomplete, entitle nobody, and their entry is named",
      arguments: DatabaseKind.all)
    func presented(on kind: DatabaseKind) async throws {
      let log = try AuditLog.create(
        in: MemoryStorage(), configuration: TrailConfiguration(origin: "example.com/test"),
        signer: try NoteSignerKey.generate(name: "example.com/test"), checkpoints: MemoryCheckpointStore())
      try await Self.withClient(on: kind) {
        $0.auditLog = log
        $0.apps[0].recordsVerdicts = true
      } _: { service, client, key in
        func present(_ receipt: [UInt8], for customer: String, _ query: String = "") async throws -> (
          Int, JSONValue
        ) {
          try await client.json(.post, "/v1/customers/\(customer)/receipts\(query)", key: key, body: receipt)
        }
        func isNothingTold() async throws -> Bool {
          try await client.api.entitlements.told().isEmpty
        }
        let named = try service.receipt(F.period(1), day: 0).encoded
        var (status, answer) = try await present(named, for: "mallory")
        #expect(status == 409)
        #expect(answer["code"]?.string == "other-customer")
        #expect(answer["entry"] != nil)
        #expect(try await isNothingTold())
        #expect(try await log.read { try $0.entry(at: 0).entry.verdict } == .valid)
        (status, answer) = try await present(
          service.receipt(F.period(1, customer: nil) { $0.originalTransactionId = nil }, day: 0).encoded,
          for: "alice")
        #expect(status == 422)
        #expect(answer["code"]?.string == "incomplete-receipt")
        #expect(answer["entry"] != nil)
        #expect(try await isNothingTold())
        (status, answer) = try await present(named, for: F.customer, "?customer=other")
        #expect(status == 400)
        (status, answer) = try await present(named, for: F.customer.uppercased())
        #expect(status == 200)
        #expect(answer["entitlements"]?.array?.count == 1)
        // The purchase is known to be another's, though this receipt does not say so.
        (status, answer) = try await present(
          service.receipt(F.period(1, customer: nil), day: -1).encoded, for: "mallory")
        #expect(status == 409)
        #expect(try await client.api.entitlements.told() == ["entitlement.granted"])
        // One that names nobody is its presenter's.
        (status, answer) = try await present(
          service.receipt(F.period(1, line: 2, customer: nil), day: 0).encoded, for: "alice")
        #expect(status == 200)
        #expect(answer["entitlements"]?.array?.first?["customer"]?.string == "alice")
      }
      try log.close()
    }
  }
#endif
