// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Hummingbird
  internal import Logging
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto
  internal import ServiceLifecycle

  /// Erasures of customers.
  ///
  /// Each erasure is in the database until it is complete, so that another process can finish it. It is identified by a
  /// keyed digest (``ServiceSecret``): its remaining traces must neither name the customer nor allow guessing them.
  package struct ErasureQueue: Service {
    private static let interval = Duration.seconds(5)
    /// The time, in seconds, for which an erasure belongs to the process that began it; two that perform it do no harm.
    static let lease: Double = 60

    private struct Erasure: Sendable {
      let id: String
      let app: String
      /// The customer; `nil` after the rows were deleted. The files may still contain remnants of them.
      let customer: String?
      let actor: String
      var outcome = ErasureOutcome(purchases: 0, entries: 0)
    }

    let entitlements: ServiceEntitlements
    let auditLog: AuditLog?
    let apps: ServedApps
    let logger: Logger
    private var database: any ServiceDatabase { entitlements.database }

    /// Completes unfinished erasures until graceful shutdown or cancellation.
    ///
    /// Several processes may do so on one database.
    package func run() async throws {
      await repeatUntilShutdown(every: Self.interval) {
        await logger.attempt("Completing an erasure failed.") {
          let count = try await resume()
          if count > 0 { logger.info("Pending erasures were completed.", metadata: ["count": "\(count)"]) }
        }
      }
    }

    /// Erases a customer of an app: entitlements, changes, waiting webhooks, and the erasable parts of the trail's
    /// entries.
    ///
    /// - Throws: ``DatabaseError``, `AuditError`. The erasure is incomplete then, and ``resume()`` completes it later.
    func erase(customer: String, app: ServedApp, by actor: String) async throws -> ErasureOutcome {
      let customer = RecordingOptions.canonicalCustomer(customer)
      let digest = SHA256Digest(of: Array("\(app.name) \(customer)".utf8)).hexadecimal
      let (id, isUnderWay) = try await database.read { session in
        let id = try Self.id(digest, in: session)
        return (id, try session.hasRows("SELECT 1 FROM erasures WHERE id = $1", .text(id)))
      }
      if !isUnderWay, try await !entitlements.isKnown(customer, app: app.name),
        try await entries(of: customer, app: app.name).isEmpty
      {
        // For an unknown customer, no job is stored and no table is rewritten.
        let nothing = ErasureOutcome(purchases: 0, entries: 0)
        try await note(nothing, app: app.name, id: id, by: actor)
        return nothing
      }
      let leased = entitlements.clock().addingSeconds(Self.lease).milliseconds
      try await database.run(
        """
        INSERT INTO erasures(id, app, customer, actor, leased, purchases, entries) VALUES ($1, $2, $3, $4, $5, 0, 0)
        ON CONFLICT (id) DO UPDATE SET customer = $3, actor = $4, leased = $5
        """, .text(id), .text(app.name), .text(customer), .text(actor), .integer(leased))
      return try await perform(Erasure(id: id, app: app.name, customer: customer, actor: actor))
    }

    /// Completes unfinished erasures, such as that of a process that was killed, and returns their number.
    ///
    /// - Throws: ``DatabaseError``, `AuditError`. The remaining work is tried again a minute later.
    @discardableResult
    package func resume() async throws -> Int {
      var count = 0
      while let erasure = try await next() {
        _ = try await perform(erasure)
        count += 1
      }
      return count
    }

    private func next() async throws -> Erasure? {
      let now = entitlements.clock()
      // A lease that ends later than any valid one was made by a clock that was ahead.
      let latest = now.addingSeconds(Self.lease + ClockCheck.tolerance)
      let due = try await database.rows(
        "SELECT 1 FROM erasures WHERE leased <= $1 OR leased > $2 LIMIT 1", .integer(now.milliseconds),
        .integer(latest.milliseconds))
      guard !due.isEmpty else { return nil }
      return try await database.write { session in
        let row = try session.run(
          """
          SELECT id, app, customer, actor, purchases, entries FROM erasures WHERE leased <= $1 OR leased > $2
          ORDER BY leased LIMIT 1 \(session.dialect.lockingFreeRows)
          """, .integer(now.milliseconds), .integer(latest.milliseconds)
        ).first
        guard let row else { return nil }
        try session.run(
          "UPDATE erasures SET leased = $2 WHERE id = $1", .text(row.text(0)),
          .integer(now.addingSeconds(Self.lease).milliseconds))
        return Erasure(
          id: row.text(0), app: row.text(1), customer: row.optionalText(2), actor: row.text(3),
          outcome: ErasureOutcome(purchases: row.integer(4), entries: row.integer(5)))
      }
    }

    private func perform(_ erasure: Erasure) async throws -> ErasureOutcome {
      var outcome = erasure.outcome
      if let customer = erasure.customer {
        // Erase from the trail first: the entitlements identify the customer's entries, and a repeated erasure needs
        // them, too.
        let erased = try await entries(of: customer, app: erasure.app)
        if !erased.isEmpty { try await auditLog?.erase(entries: erased) }
        let purchases = try await entitlements.erase(
          app: erasure.app, customer: customer, scrubbing: ["erasures"]
        ) { session, purchases in
          try session.run(
            "UPDATE erasures SET customer = NULL, purchases = $2, entries = $3 WHERE id = $1",
            .text(erasure.id), .integer(Int64(purchases.count)), .integer(Int64(erased.count)))
        }
        outcome = ErasureOutcome(purchases: Int64(purchases.count), entries: Int64(erased.count))
      } else {
        try await database.scrub(ServiceSchema.personalTables)
      }
      try await note(outcome, app: erasure.app, id: erasure.id, by: erasure.actor) { session in
        // Record it only once: another process may have completed the same erasure, or a new one of the customer may
        // have begun.
        try session.hasRows(
          "DELETE FROM erasures WHERE id = $1 AND customer IS NULL RETURNING id", .text(erasure.id))
      }
      return outcome
    }

    /// Records an erasure as an administrative act.
    private func note(
      _ outcome: ErasureOutcome, app: String, id: String, by actor: String,
      if isEnded: @escaping @Sendable (any DatabaseSession) throws -> Bool = { _ in true }
    ) async throws {
      let act = "app=\(app) customer=\(id) purchases=\(outcome.purchases) entries=\(outcome.entries)"
      let now = entitlements.clock().milliseconds
      try await database.write { session in
        guard try isEnded(session) else { return }
        try AdministrativeAct.record("customer.erase", act, by: actor, at: now, in: session)
      }
    }

    // MARK: Digests

    /// The keyed digest that identifies a customer, computed from a digest of app and customer.
    private static func id(_ digest: String, in session: any DatabaseSession) throws -> String {
      Hexadecimal.encode(try ServiceSecret(in: session).digest("erased customer", digest))
    }

    /// Replaces unkeyed digests, which earlier versions stored and which could be guessed, by keyed ones.
    static func keyDigests(in session: any DatabaseSession) throws {
      for row in try session.run("SELECT id FROM erasures") {
        try session.run(
          "UPDATE erasures SET id = $2 WHERE id = $1", .text(row.text(0)),
          .text(try id(row.text(0), in: session)))
      }
      let acts = try session.run(
        "SELECT sequence, details FROM administrative_acts WHERE act = $1", .text("customer.erase"))
      for act in acts {
        let details = try act.text(1).split(separator: " ").map { member in
          guard member.hasPrefix("sha256=") else { return String(member) }
          return "customer=\(try id(String(member.dropFirst("sha256=".count)), in: session))"
        }
        try session.run(
          "UPDATE administrative_acts SET details = $2 WHERE sequence = $1", .integer(act.integer(0)),
          .text(details.joined(separator: " ")))
      }
    }

    // MARK: The trail

    /// The entries whose erasable parts belong to a customer.
    ///
    /// These are entries recorded under their name, entries of their purchases recorded without a name, and entries
    /// with a receipt that contains their name.
    private func entries(of customer: String, app name: String) async throws -> [UInt64] {
      guard let auditLog else { return [] }
      guard let app = apps[name] else {
        throw DatabaseError(
          .unusable, at: "app.\(name)",
          "A customer of this app is being erased; keep it in the configuration until that is done.")
      }
      let purchases = Set(
        try await entitlements.entitlements(app: name, customer: customer).map(\.identifier))
      let aliases = try await entitlements.aliases(of: customer, app: name)
      return try await auditLog.read { view in
        var found: Set<UInt64> = []
        var originals = purchases
        // These include entries that were erased before and whose key was restored.
        func recorded(under name: String) throws -> [RecordedEntry] {
          try view.entriesToErase(customer: name).map { try view.entry(at: $0) }
        }
        for recorded in try recorded(under: customer)
        where try app.isRecorder(of: recorded.entry, in: view) {
          found.insert(recorded.index)
          if let original = recorded.entry.original { originals.insert(original) }
        }
        var others = try aliases.flatMap { try recorded(under: $0) }
        for original in originals.sorted() { others += try view.history(original: original) }
        for recorded in others
        where recorded.entry.commitment != nil && !found.contains(recorded.index) {
          guard try app.isRecorder(of: recorded.entry, in: view),
            let part = try view.partToErase(at: recorded.index)
          else { continue }
          let isUnnamed = part.customerToken == nil && recorded.entry.original.map(purchases.contains) == true
          if isUnnamed || part.receipt.map({ ReceiptNames.contain(customer, in: $0) }) == true {
            found.insert(recorded.index)
          }
        }
        return found.sorted()
      }
    }
  }

  extension ErasureQueue {
    var routes: [Route] { [.eraseCustomer(erase)] }

    /// Erases a customer; if that fails, a job repeats it until it is complete.
    private func erase(_ call: AuthenticatedRequest, _ context: ServiceContext) async throws -> ErasureOutcome
    {
      try await erase(
        customer: try context.pathParameter("id"), app: try call.app(), by: call.principal.keyID)
    }
  }
#endif
