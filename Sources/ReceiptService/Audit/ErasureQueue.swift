// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import ReceiptCodec
  internal import ReceiptCrypto

  /// Erasures of customers. Each is in the database until it is done, so that what one process began another one ends. It is
  /// named by a digest: what is left of it must not name the customer.
  package struct ErasureQueue: Sendable {
    /// For how long an erasure is left to the process that began it, in seconds. Two that do the same do no harm.
    static let lease: Double = 60

    /// What was erased.
    package struct Outcome: Sendable, Hashable {
      /// Original transactions and purchase tokens.
      package var purchases = 0
      /// Entries of the audit trail.
      package var entries = 0
    }

    private struct Erasure: Sendable {
      let id: String
      let app: String
      /// `nil` once the rows are deleted: what they left in the files may still be there.
      let customer: String?
      let actor: String
      var outcome = Outcome()
    }

    private let entitlements: ServiceEntitlements
    private let auditLog: AuditLog?
    private let apps: [String: ServedApp]
    private var database: any ServiceDatabase { entitlements.database }

    init(_ entitlements: ServiceEntitlements, auditLog: AuditLog?, apps: [String: ServedApp]) {
      self.entitlements = entitlements
      self.auditLog = auditLog
      self.apps = apps
    }

    /// Erases a customer of an app: entitlements, changes, webhooks that wait, and the erasable parts of the trail's entries.
    ///
    /// - Parameters:
    ///   - customer: An app account token, or the name under which receipts were presented.
    ///   - app: The app.
    ///   - actor: Who wants it.
    /// - Returns: What was erased.
    /// - Throws: ``DatabaseError``, `AuditError`: it is not done yet, and ``resume()`` goes on with it later.
    func erase(customer: String, app: ServedApp, by actor: String) async throws -> Outcome {
      let customer = RecordingOptions.canonicalCustomer(customer)
      let id = SHA256Digest(of: Array("\(app.name) \(customer)".utf8)).hexadecimal
      let leased = entitlements.clock().addingSeconds(Self.lease).milliseconds
      try await database.write { session -> Void in
        try session.run(
          """
          INSERT INTO erasures(id, app, customer, actor, leased, purchases, entries) VALUES (?1, ?2, ?3, ?4, ?5, 0, 0)
          ON CONFLICT (id) DO UPDATE SET customer = ?3, actor = ?4, leased = ?5
          """, .text(id), .text(app.name), .text(customer), .text(actor), .integer(leased))
      }
      return try await perform(Erasure(id: id, app: app.name, customer: customer, actor: actor))
    }

    /// Goes on with erasures that were begun and not ended, as by a process that was killed.
    ///
    /// - Returns: How many are done.
    /// - Throws: ``DatabaseError``, `AuditError`: what is left is tried again a minute later.
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
      let isDue = try await database.read { session in
        try !session.run("SELECT 1 FROM erasures WHERE leased <= ?1 LIMIT 1", .integer(now.milliseconds))
          .isEmpty
      }
      guard isDue else { return nil }
      return try await database.write { session in
        let row = try session.run(
          """
          SELECT id, app, customer, actor, purchases, entries FROM erasures WHERE leased <= ?1
          ORDER BY leased LIMIT 1 FOR UPDATE SKIP LOCKED
          """, .integer(now.milliseconds)
        ).first
        guard let row else { return nil }
        try session.run(
          "UPDATE erasures SET leased = ?2 WHERE id = ?1", .text(row.text(0)),
          .integer(now.addingSeconds(Self.lease).milliseconds))
        return Erasure(
          id: row.text(0), app: row.text(1), customer: row.optionalText(2), actor: row.text(3),
          outcome: Outcome(purchases: Int(row.integer(4)), entries: Int(row.integer(5))))
      }
    }

    private func perform(_ erasure: Erasure) async throws -> Outcome {
      var outcome = erasure.outcome
      if let customer = erasure.customer {
        // The trail first: which of its entries are the customer's is told by the entitlements, also to a repetition.
        outcome.entries = try await eraseEntries(of: customer, app: erasure.app)
        let entries = Int64(outcome.entries)
        outcome.purchases = try await entitlements.erase(app: erasure.app, customer: customer) {
          session, purchases in
          try session.run(
            "UPDATE erasures SET customer = NULL, purchases = ?2, entries = ?3 WHERE id = ?1",
            .text(erasure.id), .integer(Int64(purchases.count)), .integer(entries))
        }.count
      } else {
        try await database.scrub()
      }
      let act =
        "app=\(erasure.app) sha256=\(erasure.id) purchases=\(outcome.purchases) entries=\(outcome.entries)"
      let now = entitlements.clock().milliseconds
      try await database.write { session in
        // Another process may have done the same, or the customer is to be erased once more.
        let ended = try session.run(
          "DELETE FROM erasures WHERE id = ?1 AND customer IS NULL RETURNING id", .text(erasure.id))
        guard !ended.isEmpty else { return }
        try AdministrativeAct.record("customer.erase", act, by: erasure.actor, at: now, in: session)
      }
      return outcome
    }

    private func eraseEntries(of customer: String, app name: String) async throws -> Int {
      guard let auditLog else { return 0 }
      guard let app = apps[name] else {
        throw DatabaseError(
          .unusable, at: "app.\(name)",
          "A customer of this app is being erased; keep it in the configuration until that is done.")
      }
      let purchases = Set(
        try await entitlements.entitlements(app: name, customer: customer).map(\.identifier)
      ).sorted()
      let entries = try await auditLog.read { view in
        var found = Set(
          try view.entries(customer: customer).filter { app.isAbout($0.entry) || $0.entry.bundle == nil }
            .map(\.index))
        // Their purchases that were recorded without a customer's name.
        for purchase in purchases {
          for recorded in try view.history(original: purchase)
          where app.isAbout(recorded.entry) && recorded.entry.commitment != nil {
            if let part = try view.erasablePart(at: recorded.index),
              part.customerToken == nil || part.customerToken == customer
            {
              found.insert(recorded.index)
            }
          }
        }
        return found.sorted()
      }
      if !entries.isEmpty { try await auditLog.erase(entries: entries) }
      return entries.count
    }
  }
#endif
