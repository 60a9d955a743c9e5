// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import AuditTrailTesting
  import HTTPTypes
  import NIOCore
  import NIOEmbedded
  import NIOHTTPTypes
  import ReceiptBytes
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import ReceiptVerification
  import Testing
  import TransparencyLog

  /// Which requests are answered before the router, with what, and in which order.
  @Suite(.timeLimit(.minutes(2))) struct VerificationHandlerTests {
    private typealias F = ServiceFixture

    /// Connections on one event loop, a key, and a receipt.
    private struct Service {
      let api: ReceiptAPI
      let key: String
      let receipt: String
      let loop = NIOAsyncTestingEventLoop()

      func connection() async throws -> NIOAsyncTestingChannel {
        let channel = try await NIOAsyncTestingChannel(loop: loop) { [api] channel in
          try channel.pipeline.syncOperations.addHandlers([
            ReadCounter(), FlushGate(), VerificationHandler(api),
          ])
        }
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        return channel
      }

      func head(
        _ method: HTTPRequest.Method = .post, _ path: String = "/v1/verify", key: String? = nil,
        _ change: (inout HTTPFields) -> Void = { _ in }
      ) -> HTTPRequestPart {
        var fields: HTTPFields = [.authorization: "Bearer \(key ?? self.key)"]
        change(&fields)
        return .head(
          HTTPRequest(method: method, scheme: nil, authority: nil, path: path, headerFields: fields))
      }

      var body: HTTPRequestPart { .body(ByteBuffer(string: receipt)) }

      /// Returns the answer that was written since the last call; `nil` if nothing was written.
      func answer(_ channel: NIOAsyncTestingChannel) async throws -> (HTTPResponse, String)? {
        guard let first = try await channel.readOutbound(as: HTTPResponsePart.self) else { return nil }
        guard case .head(let head) = first,
          case .body(let body) = try await channel.waitForOutboundWrite(as: HTTPResponsePart.self),
          case .end = try await channel.waitForOutboundWrite(as: HTTPResponsePart.self)
        else { throw Unexpected() }
        return (head, String(buffer: body))
      }

      /// Waits for an answer that another thread prepares.
      func laterAnswer(_ channel: NIOAsyncTestingChannel) async throws -> (HTTPResponse, String)? {
        for _ in 0..<10_000 {
          if let answer = try await answer(channel) { return answer }
          await loop.run()
          try await Task.sleep(for: .milliseconds(1))
        }
        return nil
      }

      func send(_ parts: some Sequence<HTTPRequestPart>, on channel: NIOAsyncTestingChannel) async throws {
        for part in parts { try await channel.writeInbound(part) }
      }

      /// Returns `true` if an answer with status 200 was written since the last call.
      func isAnswered(_ channel: NIOAsyncTestingChannel) async throws -> Bool {
        try await answer(channel)?.0.status == .ok
      }

      /// The parts that the router got since.
      func routed(_ channel: NIOAsyncTestingChannel) async throws -> [HTTPRequestPart] {
        var parts: [HTTPRequestPart] = []
        while let part = try await channel.readInbound(as: HTTPRequestPart.self) { parts.append(part) }
        return parts
      }
    }

    private struct Unexpected: Error {}

    /// Counts how often more is asked for.
    private final class ReadCounter: ChannelOutboundHandler {
      typealias OutboundIn = HTTPResponsePart
      var count = 0
      func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
      }
    }

    /// Keeps answers from being sent while it is closed.
    private final class FlushGate: ChannelOutboundHandler {
      typealias OutboundIn = HTTPResponsePart
      var isClosed = false
      func flush(context: ChannelHandlerContext) {
        if !isClosed { context.flush() }
      }
    }

    private static func withAPI(
      records: Bool = false, maximumKeyAge: Duration = .seconds(1000),
      _ change: (inout ServiceConfiguration) -> Void = { _ in },
      _ body: (Service, AuditLog) async throws -> Void
    ) async throws {
      try await withService(on: .sqlite) { fixture in
        let log = try AuditLog.create(
          in: MemoryStorage(), configuration: TrailConfiguration(origin: "example.com/test"),
          signer: try NoteSignerKey.generate(name: "example.com/test"), checkpoints: MemoryCheckpointStore())
        fixture.app.recordsVerdicts = records
        var configuration = ServiceConfiguration(apps: [fixture.app])
        configuration.auditLog = log
        change(&configuration)
        let api = try ReceiptAPI(
          configuration, database: fixture.database, maximumKeyAge: maximumKeyAge,
          clock: fixture.clock.reading)
        let key = try await api.createKey(name: "test", scopes: [.verify])
        let receipt = try TestReceipts().signedTransaction {
          $0 = F.period(1)
          $0.signedDate = F.day(1)
        }
        try await body(Service(api: api, key: key, receipt: receipt), log)
        try log.close()
      }
    }

    @Test("receipts that arrive together are answered together, each with its verdict")
    func together() async throws {
      try await Self.withAPI { service, _ in
        let (first, second) = (try await service.connection(), try await service.connection())
        for (channel, text) in [(first, service.receipt), (second, "nothing")] {
          try await channel.writeInbound(service.head())
          for half in [text.prefix(3), text.dropFirst(3)] {
            try await channel.writeInbound(HTTPRequestPart.body(ByteBuffer(string: String(half))))
          }
          try await channel.writeInbound(HTTPRequestPart.end(nil))
          #expect(try await !service.isAnswered(channel))
        }
        await service.loop.run()
        let (head, body) = try #require(try await service.answer(first))
        #expect(head.status == .ok)
        #expect(head.headerFields[.contentType] == "application/json")
        #expect(head.headerFields[.contentLength] == String(body.utf8.count))
        #expect(head.headerFields[.cacheControl] == "no-store")
        #expect(head.headerFields[.xContentTypeOptions] == "nosniff")
        #expect(head.headerFields[.date] != nil)
        #expect(body.hasPrefix(#"{"type":"verdict","version":1,"verdict":"valid""#), "\(body)")
        let (_, other) = try #require(try await service.answer(second))
        #expect(other.hasPrefix(#"{"type":"verdict","version":1,"verdict":"invalid""#), "\(other)")
        for channel in [first, second] { #expect(try await service.routed(channel).isEmpty) }
      }
    }

    @Test(
      "receipts that arrive together under different policies, or for different apps, are each judged by their own"
    )
    func policies() async throws {
      let other = ReceiptVerifier(
        trust: try TestAuthority.es256().trustAnchors,
        policy: VerificationPolicy(bundleIds: .oneOf(["com.example.other"]), environments: [.sandbox]),
        clock: FixedClock(F.day(2000)).reading)
      let change: (inout ServiceConfiguration) -> Void = { configuration in
        configuration.apps[0].policies["other"] = other
        if let second = try? AppConfiguration(name: "second", policies: ["default": other]) {
          configuration.apps.append(second)
        }
      }
      try await Self.withAPI(change) { service, _ in
        let queries = ["app=shop", "app=shop&policy=other", "app=second", "app=shop&policy=default"]
        // All connections first: opening one runs what waits on the event loop.
        var channels: [NIOAsyncTestingChannel] = []
        for _ in 0..<(2 * queries.count) { channels.append(try await service.connection()) }
        for (channel, query) in zip(channels, queries + queries.reversed()) {
          try await service.send(
            [service.head(.post, "/v1/verify?\(query)"), service.body, .end(nil)], on: channel)
          #expect(try await !service.isAnswered(channel))
        }
        await service.loop.run()
        var verdicts: [Bool] = []
        for channel in channels {
          let (_, body) = try #require(try await service.answer(channel))
          verdicts.append(body.contains(#""verdict":"valid""#))
        }
        #expect(verdicts == [true, false, false, true, true, false, false, true])
      }
    }

    // MARK: OpenIAP

    private static let limited = HTTPField.Name("X-RateLimit-Remaining") ?? .authorization

    private static func openIAP(_ service: Service, _ jws: String) -> HTTPRequestPart {
      .body(ByteBuffer(string: #"{"store":"apple","jws":"\#(jws)"}"#))
    }

    @Test("a signed transaction of OpenIAP is answered before the router, under every one of its paths")
    func openIAP() async throws {
      let change: (inout ServiceConfiguration) -> Void = {
        $0.apps[0].clientProtocols = [.openIAP]
        $0.limits.clientBurst = 10
      }
      try await Self.withAPI(change) { service, _ in
        let published = try await service.api.createKey(name: "app", app: "shop", scopes: [.client])
        for (index, path) in OpenIAPController.paths.enumerated() {
          let channel = try await service.connection()
          let head = service.head(.post, path, key: published) { $0[.contentType] = "application/json" }
          try await service.send([head, Self.openIAP(service, service.receipt), .end(nil)], on: channel)
          await service.loop.run()
          // The ledger is asked, which does not happen on the event loop.
          let (answer, body) = try #require(try await service.laterAnswer(channel))
          #expect(
            answer.status == .ok
              && answer.headerFields[Self.limited] == "\(9 - index)")
          #expect(body.hasPrefix(#"{"store":"apple","isValid":"#), "\(body)")
          #expect(try await service.routed(channel).isEmpty)
        }
      }
    }

    @Test("a refused transaction of OpenIAP is answered before the router, too, with the protocol's error")
    func openIAPRefused() async throws {
      let change: (inout ServiceConfiguration) -> Void = { $0.apps[0].clientProtocols = [.openIAP] }
      try await Self.withAPI(change) { service, _ in
        let channel = try await service.connection()
        let head = service.head(.post, "/v1/purchase/verify") { $0[.contentType] = "application/json" }
        let forged = String(service.receipt.dropLast(8)) + "AAAAAAAA"
        try await service.send([head, Self.openIAP(service, forged), .end(nil)], on: channel)
        await service.loop.run()
        let (answer, body) = try #require(try await service.laterAnswer(channel))
        #expect(answer.status == .badRequest)
        #expect(body.contains("APP_STORE_TRANSACTION_VERIFICATION_FAILED"), "\(body)")
        #expect(try await service.routed(channel).isEmpty)
      }
    }

    @Test("what is no request of OpenIAP goes to the router, counted once, and gives its place back")
    func openIAPRouted() async throws {
      let change: (inout ServiceConfiguration) -> Void = {
        $0.apps[0].clientProtocols = [.openIAP]
        $0.limits.maximumConcurrentRequests = 1
        $0.limits.clientBurst = 10
      }
      try await Self.withAPI(change) { service, _ in
        let published = try await service.api.createKey(name: "app", app: "shop", scopes: [.client])
        let reader = try await service.api.createKey(name: "reader", app: "shop", scopes: [.read])
        func head(
          key: String, _ path: String = "/v1/purchase/verify", type: String = "application/json"
        ) -> HTTPRequestPart {
          service.head(.post, path, key: key) { $0[.contentType] = type }
        }
        let good = Self.openIAP(service, service.receipt)
        let requests: [(HTTPRequestPart, HTTPRequestPart)] = [
          (head(key: published), .body(ByteBuffer(string: "{"))),
          (head(key: published, type: "text/plain"), good),
          (head(key: published), .body(ByteBuffer(string: #"{"store":"google","purchaseToken":"t"}"#))),
          (head(key: published), Self.openIAP(service, "a.b.c")), (head(key: reader), good),
          (head(key: published + "x"), good), (head(key: published, "/v1/purchase/verifyx"), good),
          (head(key: published, "/v1/validate"), good),
        ]
        for (head, body) in requests {
          let channel = try await service.connection()
          let parts = [head, body, .end(nil)]
          try await service.send(parts, on: channel)
          await service.loop.run()
          #expect(try await service.routed(channel) == parts)
          #expect(try await !service.isAnswered(channel))
        }
        let channel = try await service.connection()
        try await service.send([head(key: published), good, .end(nil)], on: channel)
        await service.loop.run()
        let (answer, _) = try #require(try await service.laterAnswer(channel))
        #expect(answer.headerFields[Self.limited] == "9")
      }
    }

    @Test("an address that has exhausted its limit is left to the router, which refuses it")
    func openIAPLimit() async throws {
      let change: (inout ServiceConfiguration) -> Void = {
        $0.apps[0].clientProtocols = [.openIAP]
        $0.limits.clientBurst = 1
      }
      try await Self.withAPI(change) { service, _ in
        let published = try await service.api.createKey(name: "app", app: "shop", scopes: [.client])
        let head = service.head(.post, "/v1/purchase/verify", key: published) {
          $0[.contentType] = "application/json"
        }
        let parts = [head, Self.openIAP(service, service.receipt), .end(nil)]
        let first = try await service.connection()
        try await service.send(parts, on: first)
        await service.loop.run()
        #expect(try await service.laterAnswer(first) != nil)
        let second = try await service.connection()
        try await service.send(parts, on: second)
        await service.loop.run()
        #expect(try await service.routed(second) == parts)
      }
    }

    @Test("requests that may be answered with anything but a verdict go to the router untouched")
    func routed() async throws {
      try await Self.withAPI { service, _ in
        let reader = try await service.api.createKey(name: "reader", scopes: [.read])
        let revoked = try await service.api.createKey(name: "revoked", scopes: [.verify])
        _ = try await service.api.keys.revoke(id: String(revoked.split(separator: "_")[1]), by: "test")
        let digits = String(repeating: "1", count: 32)
        let heads = [
          service.head(.get), service.head(.put), service.head(.post, "/v1/inspect"),
          service.head(.post, "/v1/verify/batch"), service.head(.post, "/v1/verifyx"),
          service.head(.post, "/v1/verify?policy=none"), service.head(.post, "/v1/verify?app=none"),
          service.head(.post, "/v1/verify?policy=default&policy=default"), service.head(key: reader),
          service.head(key: revoked), service.head(key: service.key + "A"), service.head(key: ""),
          service.head { $0[.authorization] = nil },
          service.head { $0.append(HTTPField(name: .authorization, value: "Bearer x")) },
          service.head { $0[.connection] = "close" }, service.head { $0[.connection] = "Upgrade" },
          service.head { $0[HTTPField.Name("traceparent")!] = "00-\(digits)-1-01" },
        ]
        for head in heads {
          let channel = try await service.connection()
          let parts = [head, service.body, .end(nil)]
          try await service.send(parts, on: channel)
          await service.loop.run()
          #expect(try await service.routed(channel) == parts)
          #expect(try await !service.isAnswered(channel))
        }
        for name in ["policy=default", "app=shop", "customer=c", "policy="] {
          let channel = try await service.connection()
          try await service.send(
            [service.head(.post, "/v1/verify?\(name)"), service.body, .end(nil)], on: channel)
          await service.loop.run()
          #expect(try await service.isAnswered(channel), "\(name)")
        }
      }
    }

    @Test("a client that takes no answers gets no more of them")
    func unwritable() async throws {
      try await Self.withAPI { service, _ in
        let channel = try await service.connection()
        channel.isWritable = false
        let parts = [service.head(), service.body, .end(nil)]
        try await service.send(parts, on: channel)
        await service.loop.run()
        #expect(try await service.routed(channel) == parts)
      }
    }

    @Test("keys in memory that are old are for the router, which reads them again")
    func oldKeys() async throws {
      try await Self.withAPI(maximumKeyAge: .zero) { service, _ in
        let channel = try await service.connection()
        let parts = [service.head(), service.body, .end(nil)]
        try await service.send(parts, on: channel)
        await service.loop.run()
        #expect(try await service.routed(channel) == parts)
      }
    }

    @Test("a body that is long, or has trailers, goes to the router whole")
    func unusualBodies() async throws {
      try await Self.withAPI { service, _ in
        let chunk = [UInt8](repeating: 0x41, count: 60 << 10)
        let long: [HTTPRequestPart] = [
          service.head(), .body(ByteBuffer(bytes: chunk)), .body(ByteBuffer(bytes: chunk)),
          .body(ByteBuffer(bytes: chunk)), .end(nil),
        ]
        let trailers: [HTTPRequestPart] = [service.head(), service.body, .end([.date: "x"])]
        var announced = long
        announced[0] = service.head { $0[.contentLength] = "184320" }
        for parts in [long, trailers, announced] {
          let channel = try await service.connection()
          try await service.send(parts, on: channel)
          await service.loop.run()
          #expect(try await service.routed(channel) == parts)
        }
      }
    }

    @Test("what arrives behind a request waits for its answer, and is not asked for meanwhile")
    func pipelining() async throws {
      try await Self.withAPI { service, _ in
        let channel = try await service.connection()
        let get = service.head(.get, "/healthz")
        try await service.send(
          [
            service.head(), service.body, .end(nil), service.head(), service.body, .end(nil), get, .end(nil),
            service.head(), service.body, .end(nil),
          ], on: channel)
        let reads = {
          try await service.loop.executeInContext {
            try channel.pipeline.syncOperations.handler(type: ReadCounter.self).count
          }
        }
        let before = try await reads()
        try await service.loop.executeInContext { channel.read() }
        #expect(try await reads() == before)
        #expect(try await service.routed(channel).isEmpty)
        await service.loop.run()
        #expect(try await reads() == before + 1)
        for _ in 1...2 { #expect(try await service.isAnswered(channel)) }
        // The last one stands behind one that the router has not answered.
        #expect(
          try await service.routed(channel) == [get, .end(nil), service.head(), service.body, .end(nil)])
        for _ in 1...2 {
          try await channel.writeOutbound(HTTPResponsePart.head(HTTPResponse(status: .ok)))
          try await channel.writeOutbound(HTTPResponsePart.body(ByteBuffer(string: "{}")))
          try await channel.writeOutbound(HTTPResponsePart.end(nil))
        }
        for _ in 1...2 { #expect(try await service.isAnswered(channel)) }
        try await service.send([service.head(), service.body, .end(nil)], on: channel)
        await service.loop.run()
        #expect(try await service.isAnswered(channel))
      }
    }

    @Test("what happens on a connection waits for the answer to the request before it")
    func events() async throws {
      try await Self.withAPI { service, _ in
        let channel = try await service.connection()
        try await service.send([service.head(), service.body, .end(nil)], on: channel)
        try await service.loop.executeInContext {
          channel.pipeline.fireErrorCaught(Unexpected())
        }
        try await channel.throwIfErrorCaught()
        await service.loop.run()
        #expect(try await service.isAnswered(channel))
        await #expect(throws: Unexpected.self) { try await channel.throwIfErrorCaught() }
      }
    }

    @Test("a request that breaks off goes to the router as far as it arrived, with what broke it off")
    func brokenOff() async throws {
      try await Self.withAPI { service, _ in
        let channel = try await service.connection()
        try await channel.writeInbound(service.head())
        try await channel.writeInbound(service.body)
        channel.pipeline.fireErrorCaught(Unexpected())
        await service.loop.run()
        #expect(try await service.routed(channel) == [service.head(), service.body])
        await #expect(throws: Unexpected.self) { try await channel.throwIfErrorCaught() }
      }
    }

    @Test("a verdict that is recorded is answered with its entry, and goes to the router where it cannot be")
    func recorded() async throws {
      try await Self.withAPI(records: true) { service, log in
        let parts = [service.head(), service.body, .end(nil)]
        let other = [service.head(), .body(ByteBuffer(string: "nothing")), .end(nil)]
        var channels: [NIOAsyncTestingChannel] = []
        for _ in 1...3 { channels.append(try await service.connection()) }
        for (channel, request) in zip(channels, [parts, other, parts]) {
          try await service.send(request, on: channel)
        }
        let expected = [
          #""entry":0,"repeated":false}"#, #""entry":1,"repeated":false}"#, #""entry":0,"repeated":true}"#,
        ]
        for (channel, end) in zip(channels, expected) {
          var answer: (HTTPResponse, String)?
          while answer == nil {
            await service.loop.run()
            answer = try await service.answer(channel)
          }
          let body = answer?.1 ?? ""
          #expect(body.hasSuffix(end), "\(body)")
        }
        let size = try await log.read { $0.size }
        #expect(size == 2)

        try log.close()
        try await service.send(parts, on: channels[0])
        var routed: [HTTPRequestPart] = []
        while routed.count < parts.count {
          await service.loop.run()
          routed += try await service.routed(channels[0])
        }
        #expect(routed == parts)
        #expect(try await !service.isAnswered(channels[0]))
      }
    }

    @Test("a place among the requests that are served at once is given back in every case")
    func places() async throws {
      try await Self.withAPI({ $0.limits.maximumConcurrentRequests = 1 }) { service, _ in
        let parts = [service.head(), service.body, .end(nil)]
        for _ in 1...3 {
          let (first, second) = (try await service.connection(), try await service.connection())
          try await service.send(parts, on: first)
          try await service.send(parts, on: second)
          #expect(try await service.routed(second) == parts)
          await service.loop.run()
          #expect(try await service.isAnswered(first))
          // Closed when it has arrived, or half of it; or broken off.
          try await service.send(parts, on: first)
          try await first.close().get()
          let third = try await service.connection()
          try await service.send(parts.prefix(2), on: third)
          try await third.close().get()
          let fourth = try await service.connection()
          try await service.send(parts.prefix(2), on: fourth)
          try await service.loop.executeInContext { fourth.pipeline.fireErrorCaught(Unexpected()) }
          #expect(try await service.routed(fourth) == Array(parts.prefix(2)))
        }
      }
    }

    @Test("a place is given back when the answer has been sent, and not before")
    func placesUntilSent() async throws {
      try await Self.withAPI({ $0.limits.maximumConcurrentRequests = 1 }) { service, _ in
        let parts = [service.head(), service.body, .end(nil)]
        let (slow, second, third) = (
          try await service.connection(), try await service.connection(), try await service.connection()
        )
        let close = { (isClosed: Bool) in
          try await service.loop.executeInContext {
            try slow.pipeline.syncOperations.handler(type: FlushGate.self).isClosed = isClosed
          }
        }
        try await close(true)
        try await service.send(parts, on: slow)
        await service.loop.run()
        #expect(try await !service.isAnswered(slow))
        try await service.send(parts, on: second)
        await service.loop.run()
        #expect(try await service.routed(second) == parts)
        try await close(false)
        slow.flush()
        await service.loop.run()
        #expect(try await service.isAnswered(slow))
        try await service.send(parts, on: third)
        await service.loop.run()
        #expect(try await service.isAnswered(third))
      }
    }
  }
#endif
