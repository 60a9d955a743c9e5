// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  package import Entitlements
  internal import ReceiptBytes
  package import ReceiptCodec

  extension StoredEntitlement {
    /// Writes it in the format of `receipt-tool notifications fold`.
    package func append(to object: inout JSONWriter, at instant: Timestamp) {
      ledger.appendEntitlement(to: &object, at: instant)
    }

    /// The entitlement at an instant as a customer sees it, who is not told which other one shares it.
    func owned(at instant: Timestamp, shownTo viewer: String) -> OwnedEntitlement {
      let isOwn = UTF8Text.isIdentical(customer, RecordingOptions.canonicalCustomer(viewer))
      return OwnedEntitlement(customer: isOwn ? customer : nil, entitlement: owned(at: instant).entitlement)
    }

    /// The entitlement at an instant, and whose it is.
    func owned(at instant: Timestamp) -> OwnedEntitlement {
      var object = JSONWriter()
      append(to: &object, at: instant)
      return OwnedEntitlement(customer: customer, entitlement: object)
    }

    /// The columns of the table `ledgers` that an entitlement is read from.
    static let columns = "name, identifier, customer, ledger"

    init(_ row: DatabaseRow) throws(DatabaseError) {
      self.init(
        name: row.text(0), identifier: row.text(1), customer: row.optionalText(2),
        ledger: try EntitlementLedger(stored: row.bytes(3)))
    }
  }

  extension EntitlementAccess: JSONWritable {}

  extension EntitlementChange: JSONWritable {
    /// The columns of the table `changes` that a change is read from.
    static let columns = ["sequence", "id", "app", "name", "customer", "time", "type", "body"]
      .map { "changes.\($0)" }.joined(separator: ", ")

    init(_ row: DatabaseRow) {
      self.init(
        sequence: row.integer(0), id: row.text(1), app: row.text(2), name: row.text(3),
        customer: row.optionalText(4), time: Timestamp(milliseconds: row.integer(5)), type: row.text(6),
        body: row.bytes(7))
    }

    /// Writes an object with the sequence, the identifier and the reported JSON.
    package func write(to object: inout JSONWriter) {
      object.beginObject()
      object.member("sequence", sequence)
      object.member("id", id)
      object.name("change")
      object.value((try? JSONValue(parsing: body)) ?? .null)
      object.endObject()
    }
  }

  extension Timestamp {
    init(milliseconds: Int64) { self.init(millisecondsSince1970: Double(milliseconds)) }

    /// The milliseconds since 1970, rounded down; 0 if they cannot be represented.
    var milliseconds: Int64 { Int64(exactly: millisecondsSince1970.rounded(.down)) ?? 0 }
  }

  extension ServiceEntitlements {
    /// The entitlements of a customer, with those that another customer shares, sorted by name.
    package func entitlements(app: String, customer: String) async throws -> [StoredEntitlement] {
      let customer = RecordingOptions.canonicalCustomer(customer)
      let sharing = terms(of: app).transfers == .share
      return try await database.read { session in
        try LedgerRows.everything(of: customer, app: app, sharing: sharing, in: session)
      }
    }

    /// The entitlements of an original transaction, which may occur in several environments, or of a purchase token.
    package func entitlements(app: String, identifier: String) async throws -> [StoredEntitlement] {
      try await database.rows(
        """
        SELECT \(StoredEntitlement.columns) FROM ledgers WHERE app = $1 AND identifier = $2 AND kind IS NULL
        ORDER BY name
        """, .text(app), .text(identifier)
      ).map { try StoredEntitlement($0) }
    }

    /// The named entitlements of a customer at an instant, from everything that the customer has; `nil` if the app
    /// names none.
    func access(
      of customer: String, to found: [StoredEntitlement], app: String, at instant: Timestamp
    ) -> [EntitlementAccess]? {
      let terms = terms(of: app)
      guard !terms.entitlements.isEmpty else { return nil }
      let everything = found.reduce(into: EntitlementLedger()) { $0.merge($1.ledger) }
      return everything.access(
        to: terms.entitlements, of: RecordingOptions.canonicalCustomer(customer), under: terms.rules,
        at: instant)
    }

    /// The changes of an app after a sequence, in order.
    ///
    /// No change with a lower sequence than the returned ones is stored later.
    package func changes(app: String, after sequence: Int64, limit: Int = 100) async throws
      -> [EntitlementChange]
    {
      try await database.rows(
        """
        SELECT \(EntitlementChange.columns) FROM changes WHERE app = $1 AND sequence > $2
        ORDER BY sequence LIMIT $3
        """, .text(app), .integer(sequence), .integer(Int64(limit))
      ).map(EntitlementChange.init)
    }

    /// The sequence of an app's latest change; 0 if it has no change.
    package func latestSequence(app: String) async throws -> Int64 {
      try await database.rows("SELECT max(sequence) FROM changes WHERE app = $1", .text(app)).first?.integer(
        0)
        ?? 0
    }

    /// The sequence of the latest change that an app ever had, even if it was removed; 0 if it had none.
    package func endOfChanges(app: String) async throws -> Int64 {
      try await database.read { session in
        max(
          try session.integer("SELECT max(sequence) FROM changes WHERE app = $1", .text(app)),
          try RemovedChanges.latest(app: app, in: session))
      }
    }

    /// The changes of an entitlement with a name, in order.
    package func history(app: String, name: String) async throws -> [EntitlementChange] {
      try await database.rows(
        "SELECT \(EntitlementChange.columns) FROM changes WHERE app = $1 AND name = $2 ORDER BY sequence",
        .text(app), .text(name)
      ).map(EntitlementChange.init)
    }
  }
#endif
