// SPDX-License-Identifier: Apache-2.0

#if Server
  import Entitlements
  import ReceiptCodec
  @testable import ReceiptService
  import ReceiptTesting
  import Testing

  /// The database fails at any one statement of a job: run again, the job has the same result as without the fault, and
  /// nothing is told twice or not at all.
  @Suite(.timeLimit(.minutes(2))) struct JobFaultTests {
    private typealias F = ServiceFixture

    enum Job: String, CaseIterable {
      case expiring, correcting, reconciling, removing, removingDeliveries, erasing

      /// When it runs, in days after the purchases.
      var day: Double { self == .correcting ? 1 : 31.5 }

      /// Runs it. `renewed` is what the store answers about a purchase, by its original transaction.
      func run(
        _ entitlements: ServiceEntitlements, renewed: @escaping @Sendable (String) throws -> EntitlementLedger
      ) async throws {
        switch self {
        case .expiring: try await entitlements.expireDue()
        case .correcting: try await entitlements.correct()
        case .reconciling:
          try await entitlements.reconcile(app: "shop") { _, purchase in try renewed(purchase.identifier) }
        case .removing: try await entitlements.remove(before: F.day(31))
        case .removingDeliveries:
          _ = try await entitlements.removeDeliveries(except: [], before: F.day(400))
        case .erasing: try await entitlements.erase(app: "shop", customer: "c1")
        }
      }
    }

    private struct Outcome {
      /// The rows that the job works on, before it ran and afterwards.
      var before: [String] = []
      var after: [String] = []
      var statementCount = 0
    }

    /// Runs the job and returns its outcome. If `number` is given, that statement fails, and the job runs again.
    private static func result(
      of job: Job, failing number: Int?, on kind: DatabaseKind
    ) async throws -> Outcome {
      let endpoint = WebhookEndpoint(name: "backend", url: "https://example.com", secrets: [])
      var outcome = Outcome()
      try await withService(on: kind, webhooks: [endpoint]) { service in
        let entitlements = service.entitlements()
        for line in 1...2 {
          try await entitlements.record(
            service.notification(.subscribed, day: 0, F.period(1, line: line, customer: "c\(line)")),
            app: "shop")
        }
        // A clock that is ahead expires both; the others find what is due.
        if [.correcting, .removing, .removingDeliveries].contains(job) {
          service.clock.now = F.day(365)
          try await entitlements.expireDue()
        }
        service.clock.now = F.day(job.day)
        let transactions = (1...2).map { F.period(2, line: $0, customer: "c\($0)") }
        let receipts = try transactions.map { ($0.originalTransactionId, try service.receipt($0, day: 30)) }
        let renewed = { @Sendable (identifier: String) in
          var answer = EntitlementLedger()
          for (original, receipt) in receipts where original == identifier {
            try answer.apply(transaction: receipt)
          }
          return answer
        }
        outcome.before = try await rows(service.database)
        let database = FaultyDatabase(service.database) { _, _, count in count == number }
        let faulty = ServiceEntitlements(
          database: database, apps: [service.app], clock: service.clock.reading)
        if let number {
          await #expect(throws: DatabaseError.self, "statement \(number) of \(job.rawValue)") {
            try await job.run(faulty, renewed: renewed)
          }
          service.clock.advance(seconds: 7_200)
        }
        try await job.run(faulty, renewed: renewed)
        outcome.after = try await rows(service.database)
        outcome.statementCount = database.statementCount
      }
      return outcome
    }

    private static func rows(_ database: any ServiceDatabase) async throws -> [String] {
      try await database.read { session in
        try [
          "SELECT type, customer FROM changes ORDER BY sequence",
          // Without the sequences: in PostgreSQL those of a transaction that failed are not used again.
          """
          SELECT type, customer, endpoint FROM deliveries LEFT JOIN changes ON sequence = change
          ORDER BY change
          """,
          "SELECT lane FROM lanes ORDER BY lane", "SELECT name, customer FROM ledgers ORDER BY name",
          "SELECT count(*) FROM notifications",
        ].flatMap { query in try session.run(query).map { "\(query): \($0.values)" } }
      }
    }

    /// All jobs in SQLite, one that writes most in PostgreSQL: the statements are the same.
    private static let cases = DatabaseKind.all.flatMap { kind in
      (kind == .sqlite ? Job.allCases : [.expiring]).map { (kind, $0) }
    }

    @Test("a job that is run again ends as without the fault", arguments: cases)
    func faults(on kind: DatabaseKind, job: Job) async throws {
      let whole = try await Self.result(of: job, failing: nil, on: kind)
      try #require(whole.after != whole.before, "the job has something to do")
      for number in 0..<whole.statementCount {
        let found = try await Self.result(of: job, failing: number, on: kind)
        #expect(found.after == whole.after, "statement \(number) of \(job.rawValue)")
      }
    }
  }
#endif
