// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto

  /// The ledgers, recorded messages and changes of an app, within one transaction of the service's database.
  ///
  /// The transactions that store changes of an app are serialized. A reader that has read up to a sequence has therefore
  /// missed no earlier change.
  struct LedgerRows: LedgerTransaction {
    let session: any DatabaseSession
    let app: String
    /// The names of the app's webhook endpoints.
    let endpoints: [String]
    /// `true` if customers share purchases.
    let sharing: Bool
    let now: Timestamp
    /// The trace that the changes belong to, as ``TraceHeaders`` stores it.
    let trace: String?

    /// Locks entitlements against other transactions.
    ///
    /// Lock those of all apps at once: the sorted order prevents deadlocks.
    static func lock(_ names: [(app: String, name: String)], in session: any DatabaseSession) throws {
      for (app, name) in names.sorted(by: <) { try session.lock("entitlement \(app) \(name)") }
    }

    func lock(_ names: [String]) throws { try Self.lock(names.map { (app, $0) }, in: session) }

    func record(_ key: [UInt8], at now: Timestamp) throws -> Bool {
      try session.hasRows(
        """
        INSERT INTO notifications(app, key, received) VALUES ($1, $2, $3)
        ON CONFLICT(app, key) DO NOTHING RETURNING received
        """, .text(app), .bytes(key), .integer(now.milliseconds))
    }

    func row(_ name: String) throws -> LedgerRow? {
      try session.run(
        """
        SELECT identifier, customer, ledger, snapshot, evaluated, heard, purchase, kind FROM ledgers
        WHERE app = $1 AND name = $2
        """, .text(app), .text(name)
      ).first.map { row in
        let snapshot = row.bytes(3)
        return LedgerRow(
          EntitlementLedger.Part(
            name: name, identifier: row.text(0), purchase: row.optionalText(6), kind: row.optionalText(7),
            ledger: try EntitlementLedger(stored: row.bytes(2))),
          customer: row.optionalText(1),
          snapshot: snapshot.isEmpty ? nil : try EntitlementSnapshot(stored: snapshot),
          evaluated: Timestamp(milliseconds: row.integer(4)), heard: Timestamp(milliseconds: row.integer(5)))
      }
    }

    /// Reads the ledger of a part; `nil` if there is none.
    static func ledger(
      _ name: String, app: String, in session: any DatabaseSession
    ) throws -> EntitlementLedger? {
      try session.run("SELECT ledger FROM ledgers WHERE app = $1 AND name = $2", .text(app), .text(name))
        .first.map { try EntitlementLedger(stored: $0.bytes(0)) }
    }

    func withdrawals(of name: String) throws -> EntitlementLedger? {
      try Withdrawals(app: app, in: session).facts(of: name)
    }

    func share(_ name: String, with customer: String) throws {
      try session.run(
        """
        INSERT INTO shares(app, name, customer) VALUES ($1, $2, $3) ON CONFLICT(app, name, customer) DO NOTHING
        """, .text(app), .text(name), .text(customer))
    }

    func endSharing(_ name: String) throws {
      try session.run("DELETE FROM shares WHERE app = $1 AND name = $2", .text(app), .text(name))
    }

    func isShared(_ name: String, with customer: String) throws -> Bool {
      try session.hasRows(
        "SELECT 1 FROM shares WHERE app = $1 AND name = $2 AND customer = $3", .text(app), .text(name),
        .text(customer))
    }

    func everything(of customer: String) throws -> EntitlementLedger {
      // Without the lock, two transactions that change two purchases of a customer would miss each other's.
      try session.lock("changes \(app)")
      return try Self.everything(of: customer, app: app, sharing: sharing, in: session).reduce(
        into: EntitlementLedger()
      ) {
        $0.merge($1.ledger)
      }
    }

    /// Reads the entitlements of a customer, with those that another customer shares, sorted by name.
    static func everything(
      of customer: String, app: String, sharing: Bool, in session: any DatabaseSession
    ) throws -> [StoredEntitlement] {
      let shared =
        sharing
        ? """
         UNION SELECT \(StoredEntitlement.columns) FROM ledgers WHERE app = $1
        AND name IN (SELECT name FROM shares WHERE app = $1 AND customer = $2)
        """ : ""
      return try session.run(
        """
        SELECT \(StoredEntitlement.columns) FROM ledgers WHERE app = $1 AND customer = $2 AND kind IS NULL\(shared)
        ORDER BY name
        """, .text(app), .text(customer)
      ).map { try StoredEntitlement($0) }
    }

    func store(_ row: LedgerRow, nextChange: Timestamp?, reconciliation: Timestamp?) throws {
      try session.run(
        """
        INSERT INTO ledgers(
          app, name, identifier, customer, ledger, snapshot, evaluated, next_change, heard, reconcile,
          questions, holder, kind, purchase)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11, $12, $13)
        ON CONFLICT(app, name) DO UPDATE SET
          customer = excluded.customer, holder = excluded.holder, ledger = excluded.ledger, snapshot = excluded.snapshot,
          evaluated = excluded.evaluated, next_change = excluded.next_change, heard = excluded.heard,
          reconcile = excluded.reconcile, questions = excluded.questions, kind = excluded.kind,
          purchase = excluded.purchase
        """,
        .text(app), .text(row.part.name), .text(row.part.identifier), .text(row.customer),
        .bytes(row.part.ledger.encoded()),
        row.snapshot.map { .bytes($0.json) } ?? .null, .integer(row.evaluated.milliseconds),
        // Rounded up, so that no change is looked for too early.
        .integer(nextChange.map { Int64($0.millisecondsSince1970.rounded(.up)) }),
        .integer((row.part.ledger.line?.listedDate ?? row.heard).milliseconds),
        .integer(reconciliation?.milliseconds),
        .text(row.part.ledger.holder), .text(row.part.kind), .text(row.part.purchase))
    }

    /// Notes the holders of the ledgers that an earlier build stored.
    static func noteHolders(in session: any DatabaseSession) throws {
      var last = ("", "")
      while true {
        let rows = try session.run(
          """
          SELECT app, name, ledger FROM ledgers WHERE app > $1 OR (app = $1 AND name > $2)
          ORDER BY app, name LIMIT 1000
          """, .text(last.0), .text(last.1))
        for row in rows {
          last = (row.text(0), row.text(1))
          guard let holder = try EntitlementLedger(stored: row.bytes(2)).holder else { continue }
          try session.run(
            "UPDATE ledgers SET holder = $3 WHERE app = $1 AND name = $2", .text(last.0), .text(last.1),
            .text(holder))
        }
        if rows.isEmpty { return }
      }
    }

    func enter(_ change: LedgerChange) throws {
      let (old, customer) = (change.old, change.new.customer)
      try session.lock("changes \(app)")
      let entered = try session.run(
        """
        INSERT INTO changes(id, app, name, customer, previous_customer, time, type, body, trace)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING sequence
        """,
        .text("msg_" + Hexadecimal.encode(Random.bytes(16))), .text(app), .text(change.name), .text(customer),
        .text(UTF8Text.isIdentical(old?.customer, customer) ? nil : old?.customer),
        .integer(change.time.milliseconds),
        .text(change.kind.rawValue), .bytes(change.body), .text(trace))
      guard let sequence = entered.first?.integer(0) else { return }
      for endpoint in endpoints {
        try EndpointLanes(app: app, endpoint: endpoint, session: session).enter(
          sequence, lane: WebhookQueue.lane(of: customer, entitlement: change.name),
          after: old.map { WebhookQueue.lane(of: $0.customer, entitlement: change.name) }, at: now)
      }
    }
  }

  extension EntitlementLedger {
    /// Reads a ledger of the database.
    init(stored bytes: [UInt8]) throws(DatabaseError) {
      do throws(MalformedReceipt) { self = try EntitlementLedger(decoding: bytes) } catch {
        throw DatabaseError(.unusable, at: "ledgers", "A ledger cannot be read: \(error)")
      }
    }
  }
#endif
