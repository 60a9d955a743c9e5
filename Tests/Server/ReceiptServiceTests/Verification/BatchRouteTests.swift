// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import AuditTrailTesting
  import HTTPTypes
  import Hummingbird
  import HummingbirdCore
  import Logging
  import NIOCore
  import NIOEmbedded
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Synchronization
  import Testing
  import TransparencyLog

  /// Requests through the router: bodies of any length, and batches that end in any way.
  @Suite(.timeLimit(.minutes(2))) struct BatchRouteTests {
    private struct Service {
      let api: ReceiptAPI
      let key: String
      let receipt: String
      let log: AuditLog
      private let responder: RouterResponder<ServiceContext>

      init(_ api: ReceiptAPI, _ key: String, _ receipt: String, _ log: AuditLog) {
        self.api = api
        self.key = key
        self.receipt = receipt
        self.log = log
        let router = Router(context: ServiceContext.self)
        api.addRoutes(to: router)
        responder = router.buildResponder()
      }

      func respond(
        _ path: String, _ body: RequestBody, key: String? = nil, length: Int? = nil
      ) async throws -> Response {
        var fields: HTTPFields = [.authorization: "Bearer \(key ?? self.key)"]
        if key == "" { fields[.authorization] = nil }
        if let length { fields[.contentLength] = String(length) }
        let head = HTTPRequest(
          method: .post, scheme: nil, authority: nil, path: path, headerFields: fields)
        return try await responder.respond(
          to: Request(head: head, body: body),
          context: ServiceContext(
            source: ApplicationRequestContextSource(
              channel: EmbeddedChannel(), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })))
      }
    }

    private static func withService(
      records: Bool = false, maximumKeyAge: Duration = .zero,
      _ change: (inout ServiceConfiguration) -> Void = { _ in }, _ body: (Service) async throws -> Void
    ) async throws {
      try await ReceiptServiceTests.withService(on: .sqlite) { fixture in
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
        let receipt = try TestReceipts().signedTransaction {
          $0 = ServiceFixture.period(1)
          $0.signedDate = ServiceFixture.day(1)
        }
        try await body(
          Service(api, try await api.createKey(name: "test", scopes: [.verify]), receipt, log))
        try log.close()
      }
    }

    // MARK: Bodies

    private static func status(of service: Service, _ count: Int, announced: Bool) async throws -> Int {
      let bytes = ByteBuffer(repeating: 0x41, count: count)
      let body: RequestBody
      if announced {
        body = RequestBody(buffer: bytes)
      } else {
        let (stream, source) = RequestBody.makeStream()
        let halves = [
          bytes.getSlice(at: 0, length: count / 2), bytes.getSlice(at: count / 2, length: count - count / 2),
        ]
        Task {
          for half in halves.compactMap(\.self) { await source.yield(half) }
          source.finish()
        }
        body = stream
      }
      return try await service.respond("/v1/verify", body, length: announced ? count : nil).status.code
    }

    @Test("a body may have as many bytes as the limit says and not one more", arguments: [true, false])
    func limit(announced: Bool) async throws {
      try await Self.withService({ $0.limits.maximumBodyByteCount = 5000 }) { service in
        let within = try await Self.status(of: service, 5000, announced: announced)
        let beyond = try await Self.status(of: service, 5001, announced: announced)
        #expect(within == 200)
        #expect(beyond == 413)
      }
    }

    // MARK: Batches

    /// The answer to a batch, line by line.
    private final class Lines: Sendable {
      private let bytes = Mutex<[UInt8]>([])
      private let finished = Mutex(false)

      var all: [String] {
        bytes.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
      }
      var isFinished: Bool { finished.withLock { $0 } }

      func wait(for count: Int) async throws {
        for _ in 0..<3000 where all.count < count { try await Task.sleep(for: .milliseconds(10)) }
        #expect(all.count >= count)
      }

      struct Writer: ResponseBodyWriter {
        let lines: Lines
        mutating func write(_ buffer: ByteBuffer) async throws {
          lines.bytes.withLock { $0 += Array(buffer.readableBytesView) }
        }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
          lines.finished.withLock { $0 = true }
        }
      }
    }

    /// A batch whose lines the test sends one by one.
    private final class Batch: Sendable {
      let lines = Lines()
      let source: RequestBody.Source
      let status: Int
      private let answering: Task<Void, any Error>

      init(_ service: Service, key: String? = nil) async throws {
        let (body, source) = RequestBody.makeStream()
        self.source = source
        let response = try await service.respond("/v1/verify/batch", body, key: key)
        status = response.status.code
        answering = Task { [lines] in try await response.body.write(Lines.Writer(lines: lines)) }
      }

      func send(_ text: String) async { await source.yield(ByteBuffer(string: text + "\n")) }

      /// Returns `true` if the answer broke off.
      func breaksOff() async -> Bool {
        do {
          try await answering.value
          return false
        } catch {
          return true
        }
      }
    }

    @Test("a batch that is refused takes no place, and one that ended gives its own back")
    func places() async throws {
      try await Self.withService({ $0.limits.maximumConcurrentBatches = 1 }) { service in
        for _ in 0..<2 {
          let first = try await Batch(service)
          #expect(first.status == 200)
          for _ in 0..<3 { #expect(try await Batch(service).status == 503) }
          await first.send(service.receipt)
          try await first.lines.wait(for: 1)
          first.source.finish()
          #expect(await !first.breaksOff())
          #expect(first.lines.isFinished)
        }
      }
    }

    @Test("a batch whose trail fails says so, and ends without the end of a body")
    func failing() async throws {
      try await Self.withService(records: true) { service in
        let batch = try await Batch(service)
        await batch.send(service.receipt)
        try await batch.lines.wait(for: 1)
        try service.log.close()
        await batch.send("nothing")
        #expect(await batch.breaksOff())
        #expect(!batch.lines.isFinished)
        let lines = batch.lines.all
        #expect(lines.count == 2)
        #expect(lines.first?.contains(#""verdict":"valid""#) == true)
        #expect(
          lines.last?.hasPrefix(#"{"type":"error","version":1,"code":"unavailable""#) == true, "\(lines)")
      }
    }

    @Test("the batch of a key that is revoked ends")
    func revoked() async throws {
      try await Self.withService { service in
        let text = try await service.api.createKey(name: "batch", scopes: [.verify])
        let batch = try await Batch(service, key: text)
        await batch.send(service.receipt)
        try await batch.lines.wait(for: 1)
        #expect(try await service.api.keys.revoke(id: String(text.split(separator: "_")[1]), by: "test"))
        await batch.send(service.receipt)
        #expect(await batch.breaksOff())
        #expect(!batch.lines.isFinished)
        let lines = batch.lines.all
        #expect(
          lines.last?.hasPrefix(#"{"type":"error","version":1,"code":"unauthorized""#) == true, "\(lines)")
        #expect(lines.count == 2)
      }
    }

    // MARK: Requests without a key

    @Test("requests without a key that do not arrive keep nobody out")
    func slow() async throws {
      try await Self.withService({ $0.limits.maximumConcurrentRequests = 4 }) { service in
        var sources: [RequestBody.Source] = []
        var slow: [Task<Response, any Error>] = []
        for _ in 0..<16 {
          let (body, source) = RequestBody.makeStream()
          sources.append(source)
          slow.append(Task { try await service.respond("/v1/notifications/shop", body, key: "") })
        }
        try await Task.sleep(for: .milliseconds(50))
        for _ in 0..<10 {
          let verdict = try await service.respond(
            "/v1/verify", RequestBody(buffer: ByteBuffer(string: service.receipt)))
          #expect(verdict.status == .ok)
          let junk = try await service.respond(
            "/v1/notifications/shop", RequestBody(buffer: ByteBuffer(string: "x")), key: "")
          #expect(junk.status == .badRequest)
        }
        for source in sources { source.finish() }
        for request in slow { #expect([400, 503].contains(try await request.value.status.code)) }
      }
    }
  }
#endif
