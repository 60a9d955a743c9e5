// SPDX-License-Identifier: Apache-2.0

#if Server
  import HTTPTypes
  import Hummingbird
  import NIOCore
  import NIOEmbedded
  import NIOHTTPTypes
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Testing

  /// The way of a request, the same for each row of the table of routes.
  @Suite struct RouteTests {
    private static func withClient(
      _ change: (inout ServiceConfiguration) -> Void = { _ in },
      _ body: (_ client: RouteClient, _ key: @Sendable (Scope) async throws -> String) async throws -> Void
    ) async throws {
      try await withService(on: .sqlite) { service in
        var configuration = ServiceConfiguration(apps: [service.app])
        change(&configuration)
        let api = try ReceiptAPI(
          configuration, database: service.database, clock: service.clock.reading)
        try await body(RouteClient(api)) { try await api.createKey(name: "test", scopes: [$0]) }
      }
    }

    /// A path of a route, with something in the place of each parameter.
    private static func path(of route: Route) -> String {
      route.path.split(separator: "/").map { $0.hasPrefix("{") ? "/1" : "/\($0)" }.joined()
    }

    @Test("each operation has an identifier of its own, and needs its scope unless it is open")
    func access() async throws {
      try await Self.withClient { client, key in
        let routes = client.api.routes
        #expect(Set(routes.map(\.operation)).count == routes.count)
        let (reading, administering) = (try await key(.read), try await key(.admin))
        var open: Set<String> = []
        for route in routes {
          let path = Self.path(of: route)
          let otherScope = if case .key(.read, _) = route.respond { administering } else { reading }
          let statuses = [
            try await client.send(route.method, path, key: "").status.code,
            try await client.send(route.method, path, key: otherScope).status.code,
          ]
          if case .key = route.respond {
            #expect(statuses == [401, 403], "\(route.operation)")
          } else {
            #expect(statuses.allSatisfy { $0 != 401 && $0 != 403 }, "\(route.operation)")
            open.insert(route.operation)
          }
        }
        #expect(open == ["getDescription", "getHealth", "getKeySet", "getReadiness", "receiveNotification"])
      }
    }

    @Test("the description has each route, and no other operation")
    func description() async throws {
      let change: (inout ServiceConfiguration) -> Void = {
        $0.publicURL = "https://example.com"
        $0.apps[0].clientProtocols = Set(ClientProtocol.allCases)
      }
      try await Self.withClient(change) { client, _ in
        let (status, document) = try await client.json(.get, "/openapi.json", key: "")
        #expect(status == 200)
        #expect(document["servers"]?.array?.map { $0["url"]?.string } == ["https://example.com"])
        let described = (document["paths"]?.object ?? []).flatMap { path in
          (path.value.object ?? []).map { "\($0.name) \(path.name) \($0.value["operationId"]?.string ?? "")" }
        }
        let served = client.api.routes.map {
          "\($0.method.rawValue.lowercased()) \($0.path.filter { $0 != "+" }) \($0.operation)"
        }
        #expect(described.sorted() == served.sorted())
      }
    }

    @Test("a place is given back when the answer has been sent or its connection has ended, and not before")
    func placesUntilSent() async throws {
      try await Self.withClient({ $0.limits.maximumConcurrentRequests = 1 }) { client, key in
        let reader = try await key(.read)
        func status(on channel: any Channel = EmbeddedChannel()) async throws -> Int {
          try await client.send(.get, "/v1/changes", key: reader, on: channel).status.code
        }
        for isSent in [true, false] {
          let loop = NIOAsyncTestingEventLoop()
          let channel = try await NIOAsyncTestingChannel(loop: loop) { channel in
            try channel.pipeline.syncOperations.addHandler(GracefulCloseHandler())
          }
          try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
          #expect(try await status(on: channel) == 200)
          await loop.run()
          #expect(try await status() == 503)
          channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok)), promise: nil)
          if isSent { channel.write(HTTPResponsePart.end(nil), promise: nil) }
          await loop.run()
          #expect(try await status() == 503)
          if isSent { channel.flush() } else { try await channel.close().get() }
          await loop.run()
          #expect(try await status() == 200)
          if isSent { try await channel.close().get() }
        }
      }
    }

    @Test("a key is asked for before a place, and a probe needs no place")
    func places() async throws {
      try await Self.withClient({ $0.limits.maximumConcurrentRequests = 0 }) { client, key in
        let reader = try await key(.read)
        let expected: [(HTTPRequest.Method, String, String, Int)] = [
          (.get, "/v1/changes", "", 401), (.post, "/v1/verify", reader, 403),
          (.get, "/v1/changes", reader, 503), (.get, "/v1/changes?limit=none", reader, 503),
          (.get, "/openapi.json", "", 503), (.post, "/v1/notifications/shop", "", 503),
          (.get, "/console/login", "", 503), (.get, "/healthz", "", 200), (.get, "/readyz", "", 200),
        ]
        for (method, path, key, status) in expected {
          let answer = try await client.send(method, path, key: key)
          #expect(answer.status.code == status, "\(method) \(path)")
          #expect(answer.headers[.xContentTypeOptions] == "nosniff", "\(method) \(path)")
        }
      }
    }

    @Test("a path says which methods it takes, and HEAD is a GET")
    func methods() async throws {
      try await Self.withClient { client, _ in
        let allowed: [(HTTPRequest.Method, String, String)] = [
          (.put, "/v1/keys", "GET, HEAD, POST"), (.get, "/v1/keys/1", "DELETE"),
          (.post, "/v1/audit/log/tile/0/000", "GET, HEAD"), (.get, "/v1/verify", "POST"),
          (.put, "/console/login", "GET, HEAD, POST"), (.post, "/console/nowhere", "GET, HEAD"),
        ]
        for (method, path, allow) in allowed {
          let answer = try await client.send(method, path, key: "")
          #expect(answer.status == .methodNotAllowed, "\(method) \(path)")
          #expect(answer.headers[.allow] == allow, "\(method) \(path)")
        }
        #expect(try await client.send(.get, "/v1/nowhere", key: "").status == .notFound)
        let (get, head) = (
          try await client.send(.get, "/healthz", key: ""), try await client.send(.head, "/healthz", key: "")
        )
        #expect(get.status == .ok && head.status == .ok)
        #expect(head.headers[.contentType] == get.headers[.contentType])
        let asset = try await client.send(.head, "/console/assets/console.css", key: "")
        #expect(asset.status == .ok && asset.headers[.contentType] == "text/css; charset=utf-8")
      }
    }

    @Test("without the console, its paths are not there")
    func noConsole() async throws {
      try await Self.withClient({ $0.servesConsole = false }) { client, _ in
        for path in ["/console", "/console/login", "/console/assets/console.css"] {
          let answer = try await client.send(.get, path, key: "")
          #expect(answer.status == .notFound, "\(path)")
        }
      }
    }

    @Test("a server that shuts down is not ready, and ends its connections")
    func shutdown() async throws {
      try await Self.withClient { client, _ in
        let before = try await client.send(.get, "/readyz", key: "")
        #expect(before.status == .ok && before.headers[.connection] == nil)
        client.api.beginShutdown()
        let after = try await client.send(.get, "/readyz", key: "")
        #expect(after.status == .serviceUnavailable && after.headers[.connection] == "close")
        let health = try await client.send(.get, "/healthz", key: "")
        #expect(health.status == .ok && health.headers[.connection] == "close")
      }
    }
  }
#endif
