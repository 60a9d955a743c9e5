// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import ReceiptCodec
  internal import ReceiptVerification
  internal import RemoteChecks
  internal import Synchronization

  /// Imports lines of receipts and references into the ledger of an app, as requests of the API do one by one.
  ///
  /// A receipt is verified under the default policy, recorded if the app records verdicts, and presented for its
  /// customer. A notification is recorded. The store is asked about a reference, and about the purchases of a receipt
  /// that itself states too little for the ledger, such as an app receipt. Importing a line again changes nothing.
  package struct ReceiptImport: Sendable {
    /// The maximum number of lines that are imported at once.
    package static let linesAtOnce = 64
    /// The pauses, in seconds, before a store is asked again that could not answer.
    private static let pauses: [Double] = [1, 2, 4, 8, 16, 32, 60, 60]

    private let verification: Verification
    private let concurrency: Int
    /// The maximum length of a line, in bytes.
    private let maximumLineByteCount: Int
    private let pacer = StorePacer()

    /// Creates the import for an app of a service; `nil` if the service has no such app.
    package init?(_ api: ReceiptAPI, app name: String, concurrency: Int) throws {
      guard let app = api.apps[name] else { return nil }
      verification = try Verification(app, policy: nil, customer: nil, api.entitlements)
      self.concurrency = max(1, concurrency)
      maximumLineByteCount = api.configuration.limits.maximumLineByteCount
    }

    private var app: ServedApp { verification.app }
    private var entitlements: ServiceEntitlements { verification.entitlements }

    /// The result of some lines: the number of imported ones, and the failures by the numbers of their lines.
    package typealias Result = (imported: Int, failures: [(line: Int64, failure: ImportFailure)])

    /// Imports lines. They are numbered from the given number on.
    ///
    /// - Throws: The errors of the database and the trail. Some of the lines may be imported then.
    package func run(_ lines: [[UInt8]], first: Int64) async throws -> Result {
      var failures: [Int: ImportFailure] = [:]
      var items: [(index: Int, line: ImportLine)] = []
      for (index, line) in lines.enumerated() where !ReceiptText.trimming(line).isEmpty {
        do throws(ImportFailure) {
          guard line.count <= maximumLineByteCount else {
            throw ImportFailure(
              "too-large",
              "The line has more than \(maximumLineByteCount) bytes (limits.maximumLineByteCount).")
          }
          items.append((index, try ImportLine(line)))
        } catch {
          failures[index] = error
        }
      }
      // Lines about one purchase are imported one after another, so that the last one decides whose it is.
      var tasks: [String: [LineTask]] = [:]
      var receipts: [(index: Int, line: ImportLine, bytes: [UInt8])] = []
      for (index, line) in items {
        switch line.content {
        case .receipt(let bytes): receipts.append((index, line, ReceiptInputText.stripped(bytes)))
        case .reference(let reference, let isSubscription):
          tasks[reference.text, default: []].append(
            LineTask(index: index) {
              try await lookUp(reference, isSubscription: isSubscription, for: line.customer)
            })
        }
      }
      for (item, verdict) in zip(receipts, try await verdicts(on: receipts.map { ($0.line, $0.bytes) })) {
        guard case .valid(let receipt) = verdict else {
          failures[item.index] = ImportFailure(verdict, of: item.line)
          continue
        }
        let purchase = receipt.purchases.first?.transaction.originalTransactionId ?? "line \(item.index)"
        tasks[purchase, default: []].append(
          LineTask(index: item.index) {
            try await fold(receipt, for: item.line.customer)
          })
      }
      for (index, failure) in try await perform(Array(tasks.values)) { failures[index] = failure }
      return (
        items.count { failures[$0.index] == nil },
        failures.sorted { $0.key < $1.key }.map { (first + Int64($0.key), $0.value) }
      )
    }

    /// The import of a line.
    private struct LineTask: Sendable {
      let index: Int
      let run: @Sendable () async throws -> Void
    }

    /// Performs groups of tasks, the tasks of each group in order, and returns the failures.
    private func perform(_ groups: [[LineTask]]) async throws -> [(Int, ImportFailure)] {
      try await withThrowingTaskGroup(of: [(Int, ImportFailure)].self) { running in
        var failures: [(Int, ImportFailure)] = []
        for (count, group) in groups.enumerated() {
          if count >= concurrency { failures += try await running.next() ?? [] }
          running.addTask {
            var failures: [(Int, ImportFailure)] = []
            for task in group {
              do {
                try await task.run()
              } catch {
                guard let failure = ImportFailure(of: error) else { throw error }
                failures.append((task.index, failure))
              }
            }
            return failures
          }
        }
        for try await more in running { failures += more }
        return failures
      }
    }

    // MARK: Receipts

    /// Verifies receipts, each presented by the customer of its line, and records the verdicts.
    private func verdicts(on receipts: [(line: ImportLine, bytes: [UInt8])]) async throws -> [Verdict] {
      guard !receipts.isEmpty else { return [] }
      let bytes = receipts.map(\.bytes)
      let local = await Workers.run { [verification] in
        verification.policy.verifier.verifyTogether(bytes[...])
      }
      var verdicts = await verification.consulted(local)
      for pause in Self.pauses {
        let unanswered = verdicts.indices.filter { verdicts[$0].isRetryable }
        guard !unanswered.isEmpty else { break }
        try await Task.sleep(for: .seconds(pause))
        let answers = await verification.consulted(unanswered.map { local[$0] })
        for (index, answer) in zip(unanswered, answers) { verdicts[index] = answer }
      }
      _ = try await Verification.record(
        zip(receipts, verdicts).map { receipt, verdict in
          var verification = verification
          verification.presenter = receipt.line.customer
          return (verification, verdict, receipt.bytes)
        })
      return verdicts
    }

    private func fold(_ receipt: VerifiedReceipt, for customer: String?) async throws {
      if let notification = AppStoreNotification(receipt) {
        if let customer, let part = receipt.nested.first(where: { $0.kind == .signedTransaction }) {
          _ = try await entitlements.present(part, for: customer, app: app.name)
        }
        // It is not forwarded: the old system has it.
        try await entitlements.record(notification, app: app.name)
        return
      }
      guard try await entitlements.present(receipt, for: customer, app: app.name) == nil else { return }
      for reference in receipt.references {
        guard app.configuration.lookup?.canAsk(about: reference) == true else {
          throw ImportFailure(
            "no-credentials",
            "The receipt is valid, and only \(reference.store) can tell what became of its purchases. Set the app's credentials for it."
          )
        }
        try await lookUp(reference, isSubscription: false, for: customer)
      }
    }

    // MARK: References

    private func lookUp(
      _ reference: PurchaseReference, isSubscription: Bool, for customer: String?
    ) async throws {
      guard var lookup = app.configuration.lookup, lookup.canAsk(about: reference) else {
        throw ImportFailure("no-credentials", "The app has no credentials for \(reference.store).")
      }
      lookup.verifier = verification.policy.verifier
      try await pacer.wait(for: reference.store)
      var outcome = await lookup.outcome(of: reference, isSubscription: isSubscription)
      for pause in Self.pauses where outcome.answer.isUndetermined && outcome.answer.isRetryable {
        // The other lines wait, too: a store that limits the rate would count their requests.
        pacer.hold(reference.store, for: .seconds(pause), until: outcome.notBefore, at: entitlements.clock())
        try await pacer.wait(for: reference.store)
        outcome = await lookup.outcome(of: reference, isSubscription: isSubscription)
      }
      var verification = verification
      verification.recording.customer = customer
      _ = try await verification.take(outcome, about: reference)
      guard outcome.facts == nil else { return }
      guard let reason = outcome.answer.reason else {
        throw ImportFailure(
          "incomplete-answer", "The answer of \(reference.store) states too little for the ledger.")
      }
      throw ImportFailure(
        reason.code.rawValue, reason.message,
        isRetryable: outcome.answer.isUndetermined && outcome.answer.isRetryable)
    }

    // MARK: State

    /// The progress of an input, by its SHA-256; `nil` if it was never imported.
    package func state(of input: [UInt8]) async throws -> State? {
      try await entitlements.database.rows(
        "SELECT line, position, imported, failed, finished FROM imports WHERE app = $1 AND input = $2",
        .text(app.name), .bytes(input)
      ).first.map { row in
        State(
          line: row.integer(0), position: row.integer(1), imported: row.integer(2), failed: row.integer(3),
          finished: row.optionalInteger(4) != nil)
      }
    }

    /// Stores the progress of an input; the end of an input also as an act.
    package func save(_ state: State, of input: [UInt8]) async throws {
      let now = entitlements.clock().milliseconds
      let app = app.name
      try await entitlements.database.write { session in
        try session.run(
          """
          INSERT INTO imports(app, input, line, position, imported, failed, started, finished)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
          ON CONFLICT(app, input) DO UPDATE SET line = excluded.line, position = excluded.position,
            imported = excluded.imported, failed = excluded.failed, finished = excluded.finished
          """, .text(app), .bytes(input), .integer(state.line), .integer(state.position),
          .integer(state.imported), .integer(state.failed), .integer(now),
          .integer(state.finished ? now : nil))
        guard state.finished else { return }
        try AdministrativeAct.record(
          "import", "app=\(app) lines=\(state.line) imported=\(state.imported) failed=\(state.failed)",
          by: "command line", at: now, in: session)
      }
    }
  }

  extension ImportFailure {
    /// The failure of a line; `nil` for an error that ends the import, such as those of the database.
    fileprivate init?(of error: any Error) {
      switch error {
      case let failure as ImportFailure: self = failure
      case let problem as Problem: self.init(problem.code, problem.detail)
      case let error as EntitlementError: self.init("incomplete-receipt", "\(error)")
      case is PresentedByAnother:
        self.init(
          "other-customer",
          "The receipt is valid and belongs to another customer than the one in the line. Nobody was entitled by it."
        )
      default: return nil
      }
    }

    /// The failure of a receipt that is not valid.
    fileprivate init(_ verdict: Verdict, of line: ImportLine) {
      let reason = verdict.reason
      if reason?.code == .malformed, let member = line.unknownMember {
        self.init(
          "invalid-line",
          "$.\(member): An object that names a purchase has no such member, and it is no receipt in JSON either."
        )
      } else {
        self.init(
          reason?.code.rawValue ?? "invalid", reason.map(\.description) ?? "The receipt is not valid.",
          isRetryable: verdict.isRetryable)
      }
    }
  }

  extension Verdict {
    fileprivate var isRetryable: Bool {
      if case .undetermined(let receipt) = self { receipt.isRetryable } else { false }
    }
  }

  extension VerifiedReceipt {
    /// The purchases of a receipt that states too little for the ledger, as their stores name them.
    fileprivate var references: [PurchaseReference] {
      var references: [PurchaseReference] = []
      for purchase in purchases {
        let transaction = purchase.transaction
        let reference: PurchaseReference? =
          switch kind {
          case .googlePlayPurchase:
            transaction.purchaseToken.map {
              .googlePlay(purchaseToken: $0, productId: transaction.productId, packageName: bundleId)
            }
          case .huaweiPurchase:
            transaction.purchaseToken.map { .huawei(purchaseToken: $0, productId: transaction.productId) }
          default:
            (transaction.originalTransactionId ?? transaction.transactionId).map { .appStoreTransaction($0) }
          }
        if let reference, !references.contains(reference) { references.append(reference) }
      }
      return references
    }
  }

  /// Holds back the requests to stores that asked for a pause.
  private final class StorePacer: Sendable {
    private let resumption = Mutex<[String: ContinuousClock.Instant]>([:])

    func hold(_ store: String, for pause: Duration, until instant: Timestamp?, at now: Timestamp) {
      let requested = WebhookQueue.requestedDelay(until: instant, now: now, atMost: 3600)
      let end = ContinuousClock.now + max(pause, .seconds(requested))
      resumption.withLock { $0[store] = max($0[store] ?? end, end) }
    }

    func wait(for store: String) async throws {
      while let end = resumption.withLock({ $0[store] }), end > .now {
        try await Task.sleep(until: end, clock: .continuous)
      }
    }
  }
#endif
