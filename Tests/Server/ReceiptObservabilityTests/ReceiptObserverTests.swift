// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  import AuditTrail
  import AuditTrailTesting
  import Entitlements
  import InMemoryLogging
  import Logging
  import MetricsTestKit
  import ReceiptCodec
  import ReceiptObservability
  import ReceiptTesting
  import ReceiptVerification
  import ServiceLifecycleTestKit
  import Storefront
  import Testing
  import TransparencyLog

  @Suite struct ReceiptObserverTests {
    let metrics = TestMetrics()
    let messages = InMemoryLogHandler()
    let observer: ReceiptObserver
    let verifier: ReceiptVerifier

    init() throws {
      let handler = messages
      var logger = Logger(label: "test") { _ in handler }
      logger.logLevel = .trace
      observer = ReceiptObserver(logger: logger, factory: metrics)
      verifier = ReceiptVerifier(
        trust: try TestAuthority.es256().trustAnchors,
        policy: VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox]))
    }

    func count(_ label: String, _ dimensions: [(String, String)] = []) throws -> Int64 {
      try metrics.expectCounter(label, dimensions).totalValue
    }

    @Test func `Verdicts are counted by verdict, kind and reason, and timed`() throws {
      let receipt = try TestReceipts().receipt(of: .signedTransaction)
      _ = verifier.verify(receipt, observer: observer)
      _ = verifier.verify(receipt, observer: observer)
      _ = verifier.verify(Array("no receipt".utf8), observer: observer)
      #expect(
        try count(
          "receipt_verdicts",
          [("verdict", "valid"), ("kind", "signed-transaction"), ("reason", "none")]) == 2)
      #expect(
        try count(
          "receipt_verdicts", [("verdict", "invalid"), ("kind", "unknown"), ("reason", "malformed")]) == 1)
      let timer = try metrics.expectTimer("receipt_verification_duration", [("verdict", "valid")])
      #expect(timer.values.count == 2 && timer.values.allSatisfy { $0 > 0 })
      #expect(messages.entries.map(\.level) == [.debug, .debug, .info])
    }

    @Test func `What checkers say is counted, and failures are logged`() async throws {
      let receipt = try TestReceipts().receipt(of: .signedTransaction)
      let down = FakeChecker(name: "down", answers: [.retryableFailure(message: "no answer")])
      let fine = FakeChecker(name: "fine", answers: [.response(CheckerResponse(.confirmed))])
      let verdict = await verifier.verify(receipt, checkers: [fine, down], observer: observer)
      #expect(verdict.reason?.code == .checkerUnavailable)
      #expect(try count("receipt_checks", [("checker", "fine"), ("answer", "confirmed")]) == 1)
      #expect(try count("receipt_checks", [("checker", "down"), ("answer", "retryable-failure")]) == 1)
      #expect(try metrics.expectTimer("receipt_check_duration", [("checker", "down")]).values.count == 1)
      #expect(messages.entries.map(\.level) == [.warning, .warning])
    }

    @Test func `Notifications are counted by store and result, with a type only where they are genuine`()
      throws
    {
      let receiver = NotificationReceiver(verifier: verifier)
      let notification = try TestReceipts().receipt(of: .signedNotification)
      let accepted = try receiver.receive(notification, observer: observer)
      let type = try #require(accepted.type).rawValue
      #expect(throws: NotificationRejection.self) {
        try receiver.receive(notification.dropLast(9) + Array("AAAAAAAAA".utf8), observer: observer)
      }
      let store = ("store", "app-store")
      #expect(try count("store_notifications", [store, ("result", "accepted"), ("type", type)]) == 1)
      #expect(try count("store_notifications", [store, ("result", "refused"), ("type", "unknown")]) == 1)
      #expect(messages.entries.map(\.level) == [.debug, .warning])
    }

    @Test func `Appends are counted, repeats apart, and failures by code`() async throws {
      let key = try NoteSignerKey.generate(name: "example.com/verdicts")
      let log = try AuditLog.create(
        in: MemoryStorage(), configuration: TrailConfiguration(origin: key.name), signer: key,
        checkpoints: MemoryCheckpointStore())
      let receipt = try TestReceipts().receipt(of: .signedTransaction)
      let records = [AuditRecord](
        verifier.verify(receipt), receipt: receipt, policy: verifier.policy, at: SystemClock.now())
      _ = try await observer.append(records, to: log)
      _ = try await observer.append(records, to: log)
      #expect(try count("audit_appends", [("result", "appended")]) == 1)
      #expect(try count("audit_appends", [("result", "repeated")]) == 1)
      observer.report(log.health)
      #expect(try metrics.expectGauge("audit_healthy").lastValue == 1)
      try log.close()
      await #expect(throws: AuditError.self) { try await observer.append(records, to: log) }
      #expect(metrics.counters.contains { $0.label == "audit_append_failures" && $0.totalValue == 1 })
      #expect(messages.entries.map(\.level) == [.error])
    }

    @Test func `A store runs until the group shuts down, and is closed`() async throws {
      let store = try LocalStore(
        catalog: ProductCatalog(products: []), identity: TestAuthority.es256().identity,
        storage: MemoryRecordStorage(), options: LocalStore.Options(bundleIdentifier: "com.example.app"),
        clock: { SystemClock.now() })
      try await testGracefulShutdown { trigger in
        async let service: Void = ClosingService(running: store.run) { try await store.close() }.run()
        trigger.triggerGracefulShutdown()
        try await service
      }
      await #expect(throws: LocalStoreError.self) { try await store.notifications() }
    }

    @Test func `What is open is closed when the group shuts down, and no earlier`() async throws {
      let closings = Closings()
      try await testGracefulShutdown { trigger in
        async let service: Void = ClosingService { await closings.note() }.run()
        try await Task.sleep(for: .milliseconds(20))
        #expect(await closings.count == 0)
        trigger.triggerGracefulShutdown()
        try await service
      }
      #expect(await closings.count == 1)
    }
  }

  private actor Closings {
    private(set) var count = 0
    func note() { count += 1 }
  }
#endif
