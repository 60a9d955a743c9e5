// SPDX-License-Identifier: Apache-2.0

#if Server
  import Foundation
  import Logging
  import NIOHTTP1
  import NIOSSL
  import ReceiptBytes
  import ReceiptCodec
  import ReceiptCrypto
  @testable import ReceiptService
  import ReceiptTesting
  import ServiceLifecycle
  import Synchronization
  import Testing

  /// Webhooks over HTTP to a real receiver on loopback, which fails as receivers do.
  @Suite(.timeLimit(.minutes(2))) struct WebhookSenderTests {
    private typealias F = ServiceFixture

    private static let secrets = [
      Array(repeating: UInt8(1), count: 24), Array(repeating: UInt8(2), count: 32),
    ]

    private static func endpoint(_ receiver: WebhookReceiver, name: String = "backend") -> WebhookEndpoint {
      WebhookEndpoint(
        name: name, url: "http://127.0.0.1:\(receiver.port)/hooks", secrets: secrets,
        allowsPrivateNetworks: true)
    }

    private static func sender(
      _ service: ServiceFixture, _ entitlements: ServiceEntitlements, client: WebhookClient = WebhookClient(),
      _ change: (inout WebhookSender.Limits) -> Void = { _ in }
    ) -> WebhookSender {
      var limits = WebhookSender.Limits()
      limits.pollInterval = .milliseconds(10)
      change(&limits)
      return WebhookSender(
        apps: [service.app], entitlements, client: client, limits: limits, random: { 0.5 },
        logger: Logger(label: "webhooks") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Runs senders while `body` does.
    private static func running(_ senders: [WebhookSender], _ body: () async throws -> Void) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for sender in senders { group.addTask { await sender.run() } }
        try await body()
        group.cancelAll()
      }
    }

    private static func eventually(
      _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
    ) async throws {
      for _ in 0..<3_000 {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
      }
      Issue.record("never: \(what)", sourceLocation: sourceLocation)
    }

    private static func isEmpty(_ service: ServiceFixture) async throws -> Bool {
      try await service.database.read { session in
        try session.run("SELECT 1 FROM deliveries UNION ALL SELECT 1 FROM lanes").isEmpty
      }
    }

    private static func subscribe(
      _ service: ServiceFixture, _ entitlements: ServiceEntitlements, line: Int = 1
    ) async throws {
      try await entitlements.record(
        service.notification(.subscribed, day: 0, F.period(1, line: line)), app: "shop")
    }

    @Test("a change is posted at once, signed with each secret, and once", arguments: DatabaseKind.all)
    func delivered(on kind: DatabaseKind) async throws {
      let receiver = try await WebhookReceiver()
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        let senders = [Self.sender(service, entitlements) { $0.pollInterval = .seconds(600) }]
        try await Self.running(senders) {
          try await Task.sleep(for: .milliseconds(100))
          try await Self.subscribe(service, entitlements)
          try await Self.eventually("delivered") { try await Self.isEmpty(service) }
        }
        let change = try #require(try await entitlements.changes(app: "shop", after: 0).first)
        let request = try #require(receiver.requests.first)
        #expect(receiver.requests.count == 1)
        #expect(request.uri == "/hooks")
        #expect(request.body == String(decoding: change.body, as: UTF8.self))
        #expect(request.headers["content-type"] == ["application/json"])
        let signed = try StandardWebhookSigner(secrets: Self.secrets).headers(
          id: change.id, at: service.clock.now, body: change.body)
        for (name, value) in signed { #expect(request.headers[name] == [value]) }
      }
      await receiver.close()
    }

    @Test(
      "under faults each customer's changes arrive in order, and all of them", arguments: DatabaseKind.all)
    func order(on kind: DatabaseKind) async throws {
      // Each webhook fails the first time, in one of four ways.
      let failed = Mutex<Set<String>>([])
      let receiver = try await WebhookReceiver { request, index in
        guard failed.withLock({ $0.insert(request.id).inserted }) else { return .status(200) }
        return [.status(500), .cut, .status(429, [("retry-after", "2")]), .silence][index % 4]
      }
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let clock = service.clock
        let entitlements = service.entitlements()
        let customers = (1...6).map { "00000000-0000-4000-8000-00000000000\($0)" }
        for period in 1...5 {
          clock.now = F.day(30 * Double(period - 1))
          for (index, customer) in customers.enumerated() {
            let transaction = F.period(period, line: index + 1, customer: customer)
            try await entitlements.record(
              service.notification(
                period == 1 ? .subscribed : .didRenew, day: 30 * Double(period - 1), transaction), app: "shop"
            )
          }
        }
        let client = WebhookClient(timeout: .milliseconds(300))
        // Two processes; their leases outlast the clock, which is advanced.
        let senders = (0..<2).map { _ in
          Self.sender(service, entitlements, client: client) { $0.lease = .seconds(1_000_000) }
        }
        try await Self.running(senders) {
          try await Self.eventually("delivered") {
            clock.advance(seconds: 1)
            return try await Self.isEmpty(service)
          }
        }
        let changes = try await entitlements.changes(app: "shop", after: 0)
        #expect(changes.count == 30)
        let requests = receiver.requests
        // One failure and one success of each; on a machine under load an answer may come too late, and count as none.
        #expect(requests.count >= 60)
        for customer in customers {
          let expected = changes.filter { $0.customer == customer }.map(\.id)
          let arrived = requests.map(\.id).filter(expected.contains)
          // Each is delivered before the next is tried.
          let order = arrived.reduce(into: [String]()) { if $0.last != $1 { $0.append($1) } }
          #expect(order == expected)
          #expect(expected.allSatisfy { id in arrived.count { $0 == id } >= 2 })
        }
        for change in changes {
          #expect(
            requests.filter { $0.id == change.id }.allSatisfy {
              $0.body == String(decoding: change.body, as: UTF8.self)
            })
        }
      }
      await receiver.close()
    }

    @Test("a slow endpoint and a slow customer leave room for others", arguments: DatabaseKind.all)
    func concurrency(on kind: DatabaseKind) async throws {
      let slow = try await WebhookReceiver { _, _ in .silence }
      let fast = try await WebhookReceiver()
      try await withService(on: kind, webhooks: [Self.endpoint(slow, name: "slow"), Self.endpoint(fast)]) {
        service in
        let entitlements = service.entitlements()
        let queue = WebhookQueue(service.database)
        for line in 1...20 {
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: line, customer: nil)), app: "shop")
        }
        let sender = Self.sender(service, entitlements) {
          $0.concurrentDeliveries = 8
          $0.concurrentDeliveriesPerEndpoint = 6
        }
        try await Self.running([sender]) {
          try await Self.eventually("the fast one has all") { fast.requests.count == 20 }
          try await Self.eventually("the slow one has some") { slow.requests.count == 4 }
          // The outcome of the last request is stored after its answer.
          try await Self.eventually("what the fast one took is stored") {
            try await queue.counts(app: "shop")["backend"] == nil
          }
        }
        #expect(slow.requests.count == 4)
        #expect(try await queue.counts(app: "shop")["slow"]?.waiting == 20)
      }
      await slow.close()
      await fast.close()
    }

    @Test(
      "retries follow Standard Webhooks; then a letter is dead, those after it go on, and it can be replayed",
      arguments: DatabaseKind.all)
    func retries(on kind: DatabaseKind) async throws {
      let isBroken = Mutex(true)
      let receiver = try await WebhookReceiver { request, _ in
        .status(request.body.contains("entitlement.granted") && isBroken.withLock { $0 } ? 500 : 204)
      }
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let clock = service.clock
        let entitlements = service.entitlements()
        let queue = WebhookQueue(service.database)
        try await Self.subscribe(service, entitlements)
        clock.now = F.day(30)
        try await entitlements.record(service.notification(.didRenew, day: 30, F.period(2)), app: "shop")
        let sender = Self.sender(service, entitlements)
        try await Self.running([sender]) {
          for (index, delay) in WebhookQueue.delays.enumerated() {
            try await Self.eventually("attempt \(index + 1)") {
              try await service.database.read { session in
                try session.run("SELECT 1 FROM deliveries WHERE attempts = $1", .integer(Int64(index + 1)))
                  .count == 1
              }
            }
            #expect(receiver.requests.count == index + 1)
            clock.advance(seconds: delay - 1)
            try await Task.sleep(for: .milliseconds(50))
            #expect(receiver.requests.count == index + 1, "too early")
            clock.advance(seconds: 1)
          }
          try await Self.eventually("the next one") { receiver.requests.count == 11 }
          // The outcome is stored after the answer. Until then, a jump of the clock makes the delivery due again.
          try await Self.eventually("what came of it is stored") {
            (try await queue.counts(app: "shop")["backend"]?.waiting ?? 0) == 0
          }
          #expect(receiver.requests[10].body.contains("entitlement.renewed"))
          let letter = try #require(try await queue.deadLetters(app: "shop", endpoint: "backend").first)
          #expect(letter.attempts == 10)
          #expect(letter.error == "HTTP 500")
          #expect(letter.change.id == receiver.ids[0])
          #expect(Set(receiver.ids[..<10]) == [letter.change.id])
          clock.advance(seconds: 1_000_000)
          try await Task.sleep(for: .milliseconds(50))
          #expect(receiver.requests.count == 11)
          isBroken.withLock { $0 = false }
          #expect(
            try await queue.replay(app: "shop", endpoint: "backend", id: "msg_none", at: clock.now) == 0)
          #expect(try await queue.replay(app: "other", endpoint: "backend", at: clock.now) == 0)
          #expect(
            try await queue.replay(app: "shop", endpoint: "backend", id: letter.change.id, at: clock.now) == 1
          )
          entitlements.commits.signal()
          try await Self.eventually("replayed") { try await Self.isEmpty(service) }
          #expect(receiver.ids.last == letter.change.id)
        }
      }
      await receiver.close()
    }

    @Test("410 is the last word, and a redirect is no delivery", arguments: DatabaseKind.all)
    func refusals(on kind: DatabaseKind) async throws {
      let elsewhere = try await WebhookReceiver()
      let port = elsewhere.port
      let gone = try await WebhookReceiver { _, _ in .status(410) }
      let moved = try await WebhookReceiver { _, _ in
        .status(307, [("location", "http://127.0.0.1:\(port)/")])
      }
      try await withService(
        on: kind,
        webhooks: [
          Self.endpoint(gone, name: "gone"), Self.endpoint(moved, name: "moved"),
        ]
      ) {
        service in
        let entitlements = service.entitlements()
        let queue = WebhookQueue(service.database)
        try await Self.subscribe(service, entitlements)
        try await Self.running([Self.sender(service, entitlements)]) {
          try await Self.eventually("dead") {
            try await queue.deadLetters(app: "shop", endpoint: "gone").map(\.error) == ["HTTP 410"]
          }
          try await Self.eventually("refused") {
            try await service.database.read { session in
              try session.run("SELECT error FROM deliveries WHERE endpoint = 'moved'").first?.text(0)
                == "HTTP 307"
            }
          }
        }
        #expect(gone.requests.count == 1)
        #expect(elsewhere.requests.isEmpty)
        #expect(try await queue.counts(app: "shop")["moved"]?.waiting == 1)
      }
      for receiver in [elsewhere, gone, moved] { await receiver.close() }
    }

    @Test("what an endpoint asks for is honoured within bounds")
    func retryAfter() {
      let now = SampleReceipts.signedAt
      func delay(_ seconds: Double?, afterAttempt attempts: Int = 0, random: Double = 0.5) -> Double? {
        WebhookQueue.delay(
          afterAttempt: attempts, until: seconds.map { now.addingSeconds($0) }, now: now, random: random)
      }
      #expect(delay(nil) == 5)
      #expect(delay(nil, random: 0) == 4.5)
      #expect(delay(3600) == 3600)
      #expect(delay(1e9) == 86_400)
      #expect(delay(-1e9) == 5)
      #expect(delay(60, afterAttempt: 1) == 300)
      #expect(delay(nil, afterAttempt: 8) == 86_400)
      #expect(delay(60, afterAttempt: 9) == nil)
    }

    @Test("an answer without end is a delivery all the same", arguments: DatabaseKind.all)
    func endless(on kind: DatabaseKind) async throws {
      let receiver = try await WebhookReceiver { _, _ in .endless }
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        try await Self.subscribe(service, entitlements)
        try await Self.running([Self.sender(service, entitlements)]) {
          try await Self.eventually("delivered") { try await Self.isEmpty(service) }
        }
      }
      #expect(receiver.requests.count == 1)
      await receiver.close()
    }

    @Test(
      "what a process leased when it was killed another one delivers, and the dead lease counts for nothing",
      arguments: DatabaseKind.all)
    func takeover(on kind: DatabaseKind) async throws {
      let receiver = try await WebhookReceiver()
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let clock = service.clock
        let entitlements = service.entitlements()
        let queue = WebhookQueue(service.database)
        try await Self.subscribe(service, entitlements)
        let leases = try await queue.lease(
          app: "shop", endpoint: "backend", at: clock.now, for: .seconds(120), limit: 8)
        let lost = try #require(leases.first)
        #expect(leases.count == 1)
        try await Self.running([Self.sender(service, entitlements)]) {
          clock.advance(seconds: 119)
          try await Task.sleep(for: .milliseconds(100))
          #expect(receiver.requests.isEmpty)
          clock.advance(seconds: 1)
          try await Self.eventually("delivered") { try await Self.isEmpty(service) }
        }
        #expect(receiver.ids == [lost.change.id])
        // It was only slow.
        try await queue.end(lost, .failed("too late"), at: clock.now, random: 0.5)
        #expect(try await Self.isEmpty(service))
      }
      await receiver.close()
    }

    @Test("an overtaken lease does not disturb the one that took over", arguments: DatabaseKind.all)
    func overtaken(on kind: DatabaseKind) async throws {
      let receiver = try await WebhookReceiver()
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        let queue = WebhookQueue(service.database)
        try await Self.subscribe(service, entitlements)
        let leases = try await [0.0, 120].mapAsync { seconds in
          try await queue.lease(
            app: "shop", endpoint: "backend", at: service.clock.now.addingSeconds(seconds),
            for: .seconds(120),
            limit: 8)
        }.flatMap { $0 }
        #expect(leases.map(\.change.id).count == 2)
        try await queue.end(leases[0], .dead("late"), at: service.clock.now, random: 0.5)
        #expect(try await queue.deadLetters(app: "shop", endpoint: "backend").isEmpty)
        try await queue.end(leases[1], .delivered, at: service.clock.now, random: 0.5)
        #expect(try await Self.isEmpty(service))
      }
      await receiver.close()
    }

    @Test(
      "graceful shutdown ends what is under way; cancellation gives it up, and it does not count",
      arguments: DatabaseKind.all)
    func shutdown(on kind: DatabaseKind) async throws {
      let isSlow = Mutex(false)
      let receiver = try await WebhookReceiver { _, _ in
        if isSlow.withLock({ $0 }) { return .silence }
        Thread.sleep(forTimeInterval: 0.3)
        return .status(204)
      }
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        try await Self.subscribe(service, entitlements)
        let group = ServiceGroup(
          services: [Self.sender(service, entitlements)],
          logger: Logger(label: "group") { _ in SwiftLogNoOpLogHandler() })
        async let isOver: Void = group.run()
        try await Self.eventually("begun") { !receiver.requests.isEmpty }
        await group.triggerGracefulShutdown()
        try await isOver
        #expect(try await Self.isEmpty(service))
        isSlow.withLock { $0 = true }
        try await Self.subscribe(service, entitlements, line: 2)
        try await Self.running([Self.sender(service, entitlements)]) {
          try await Self.eventually("begun") { receiver.requests.count == 2 }
        }
        let rows = try await service.database.read { session in
          try session.run(
            "SELECT attempts, leased FROM deliveries JOIN lanes ON lanes.lane = deliveries.lane"
          )
          .map(\.values)
        }
        #expect(rows == [[0, 0]])
      }
      await receiver.close()
    }

    @Test("of an erased customer nothing is delivered any more", arguments: DatabaseKind.all)
    func erased(on kind: DatabaseKind) async throws {
      let receiver = try await WebhookReceiver()
      try await withService(on: kind, webhooks: [Self.endpoint(receiver)]) { service in
        let entitlements = service.entitlements()
        try await Self.subscribe(service, entitlements)
        _ = try await entitlements.erase(app: "shop", customer: F.customer)
        #expect(try await Self.isEmpty(service))
        try await Self.running([Self.sender(service, entitlements)]) {
          try await Task.sleep(for: .milliseconds(100))
        }
      }
      #expect(receiver.requests.isEmpty)
      await receiver.close()
    }

    @Test(
      "over TLS the connection goes to the address that was checked, and the certificate is that of the host")
    func pinned() async throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let (key, certificate) = (
        folder.appending(path: "key.pem").path, folder.appending(path: "cert.pem").path
      )
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments =
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        + ["-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=hooks.invalid"]
        + ["-addext", "subjectAltName=DNS:hooks.invalid"]
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      let roots = try NIOSSLCertificate.fromPEMFile(certificate)
      let receiver = try await WebhookReceiver(
        tls: .makeServerConfiguration(
          certificateChain: roots.map { .certificate($0) },
          privateKey: .privateKey(.init(file: key, format: .pem))))
      // `.invalid` is never resolved, and after the check nobody is asked again.
      let questions = Mutex<[String]>([])
      let client = WebhookClient(additionalTrustRoots: roots) { host in
        questions.withLock { $0.append(host) }
        return IPAddress.resolve("127.0.0.1", isNumeric: true)
      } isAllowed: { _ in
        true
      }
      let change = EntitlementChange(
        DatabaseRow([1, "msg_1", "shop", "name", .null, 0, "entitlement.granted", .bytes([0x7B, 0x7D])]))
      func post(_ host: String) async -> WebhookQueue.Outcome {
        await client.post(
          change,
          to: WebhookEndpoint(
            name: "backend", url: "https://\(host):\(receiver.port)/", secrets: Self.secrets),
          at: SampleReceipts.signedAt)
      }
      #expect(await post("hooks.invalid") == .delivered)
      #expect(await post("HOOKS.invalid") == .delivered)
      #expect(questions.withLock { $0 } == ["hooks.invalid", "hooks.invalid"])
      #expect(
        receiver.requests.map { $0.headers["host"] }
          == Array(repeating: ["hooks.invalid:\(receiver.port)"], count: 2))
      guard case .failed = await post("other.invalid") else {
        Issue.record("a certificate of another host was accepted")
        return
      }
      #expect(receiver.requests.count == 2)
      await receiver.close()
    }
  }

  extension Array {
    fileprivate func mapAsync<Result>(_ transform: (Element) async throws -> Result) async rethrows
      -> [Result]
    {
      var results: [Result] = []
      for element in self { results.append(try await transform(element)) }
      return results
    }
  }
#endif
