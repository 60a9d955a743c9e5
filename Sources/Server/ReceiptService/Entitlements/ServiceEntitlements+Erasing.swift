// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import ReceiptCodec

  extension ServiceEntitlements {
    /// Returns `true` if the database contains the name of a customer.
    func isKnown(_ customer: String, app: String) async throws -> Bool {
      try await database.read { session in
        let isForwarded = try session.hasRows(
          "SELECT 1 FROM forward_subjects WHERE app = $1 AND subject = $2 LIMIT 1", .text(app),
          .text(ForwardedNotification.subject(ofCustomer: customer)))
        return try isForwarded
          || [
            ("ledgers", "customer"), ("changes", "customer"), ("changes", "previous_customer"),
            ("customer_aliases", "account"), ("customer_aliases", "customer"), ("shares", "customer"),
          ].contains { table, column in
            try session.hasRows(
              "SELECT 1 FROM \(table) WHERE app = $1 AND \(column) = $2 LIMIT 1", .text(app), .text(customer))
          }
      }
    }

    /// Erases a customer: ledgers, changes, waiting and dead deliveries, notifications that wait to be forwarded, and all
    /// other rows with their name.
    ///
    /// A change that also concerns another customer, such as a transfer to them, is kept and delivered without the
    /// erased name. Refunds and revocations of purchases are kept without the person: see ``Withdrawals``. A
    /// notification that arrives later restores the facts that it contains.
    ///
    /// The erasing transaction also runs `note`, which may change other tables, with the result: the original
    /// transactions and purchase tokens concerned.
    @discardableResult
    package func erase(
      app: String, customer: String, scrubbing tables: Set<String> = [],
      note: @escaping @Sendable (any DatabaseSession, _ purchases: [String]) throws -> Void = { _, _ in }
    ) async throws -> [String] {
      let customer = RecordingOptions.canonicalCustomer(customer)
      let now = clock()
      let (purchases, changed) = try await database.write { session in
        var erasure = CustomerRows(app: app, customer: customer, now: now, session: session)
        let purchases = try erasure.erase()
        try note(session, purchases)
        return (purchases, erasure.tables)
      }
      // Rewriting tables blocks other users, so it is skipped for customers without data. If the customer had data,
      // rows that were overwritten earlier may also have been theirs.
      let changedTables = changed.isEmpty ? tables : ServiceSchema.personalTables
      if !changedTables.isEmpty { try await database.scrub(changedTables) }
      return purchases
    }

    // MARK: Aliases

    /// Stores aliases that are not stored yet, before the receipts are recorded.
    ///
    /// If it throws, the receipts must not be recorded under the other name.
    func note(_ aliases: Set<CustomerAlias>) async throws {
      guard !aliases.isEmpty else { return }
      let new = try await database.read { session in
        try aliases.filter { alias in
          try !session.hasRows(
            "SELECT 1 FROM customer_aliases WHERE app = $1 AND account = $2 AND customer = $3",
            .text(alias.app), .text(alias.account), .text(alias.customer))
        }
      }
      guard !new.isEmpty else { return }
      try await database.write { session in
        for alias in new {
          try session.run(
            """
            INSERT INTO customer_aliases(app, account, customer) VALUES ($1, $2, $3)
            ON CONFLICT(app, account, customer) DO NOTHING
            """, .text(alias.app), .text(alias.account), .text(alias.customer))
        }
      }
    }

    /// The names under which the receipts of an account are recorded.
    func aliases(of account: String, app: String) async throws -> [String] {
      try await database.rows(
        "SELECT customer FROM customer_aliases WHERE app = $1 AND account = $2 ORDER BY customer",
        .text(app), .text(account)
      ).map { $0.text(0) }
    }
  }

  /// The rows with a customer's name, within the transaction that erases them.
  private struct CustomerRows {
    let app: String
    let customer: String
    let now: Timestamp
    let session: any DatabaseSession
    /// The tables with removed or changed rows.
    var tables: Set<String> = []

    /// Erases the rows, and returns the original transactions and purchase tokens concerned.
    mutating func erase() throws -> [String] {
      let owned = try session.run(
        "SELECT name FROM ledgers WHERE app = $1 AND customer = $2", .text(app), .text(customer)
      ).map { (app: app, name: $0.text(0)) }
      try LedgerRows.lock(owned, in: session)
      let ledgers = try session.run(
        "SELECT identifier, name, ledger FROM ledgers WHERE app = $1 AND customer = $2", .text(app),
        .text(customer))
      var names: [String] = []
      var purchases: Set<String> = []
      for row in ledgers {
        let ledger = try EntitlementLedger(stored: row.bytes(2))
        if ledger.isOfPurchase { purchases.insert(row.text(0)) }
        try Withdrawals(app: app, in: session).keep(row.text(1), ledger)
        names += [row.text(1)] + (ledger.line?.namesOfCustomer ?? [])
        names += try session.run(
          "SELECT name FROM ledgers WHERE app = $1 AND purchase = $2", .text(app), .text(row.text(1))
        ).map { $0.text(0) }
      }
      // Lock lanes before deliveries, in the same order as the sender does.
      for lane in [WebhookQueue.lane(of: customer, entitlement: "")] + names {
        try remove("lanes", "app = $1 AND lane = $2", .text(app), .text(lane))
      }
      try eraseChanges(names)
      for name in names {
        for table in ["ledgers", "shares"] {
          try remove(table, "app = $1 AND name = $2", .text(app), .text(name))
        }
      }
      try remove("shares", "app = $1 AND customer = $2", .text(app), .text(customer))
      try removeForwards(about: names + [ForwardedNotification.subject(ofCustomer: customer)])
      try remove(
        "customer_aliases", "app = $1 AND (account = $2 OR customer = $2)", .text(app), .text(customer))
      return purchases.sorted()
    }

    private mutating func remove(_ table: String, _ condition: String, _ values: DatabaseValue...) throws {
      let removed = try session.run("DELETE FROM \(table) WHERE \(condition) RETURNING app", values)
      if !removed.isEmpty { tables.insert(table) }
    }

    /// Removes the notifications that wait to be forwarded.
    ///
    /// The old system is not told of them. It holds the customer's data itself, and must erase it itself.
    private mutating func removeForwards(about subjects: [String]) throws {
      for subject in subjects {
        let forwards = try session.run(
          "SELECT forward FROM forward_subjects WHERE app = $1 AND subject = $2", .text(app), .text(subject))
        for forward in forwards {
          try remove("forwards", "sequence = $1", .integer(forward.integer(0)))
          try remove("forward_subjects", "forward = $1", .integer(forward.integer(0)))
        }
      }
    }

    /// Removes the changes that concern only this customer, and removes the customer's name from other changes.
    private mutating func eraseChanges(_ names: [String]) throws {
      let columns = "sequence, customer, previous_customer, body"
      var rows = try session.run(
        "SELECT \(columns) FROM changes WHERE app = $1 AND (customer = $2 OR previous_customer = $2)",
        .text(app), .text(customer))
      for name in names {
        rows += try session.run(
          "SELECT \(columns) FROM changes WHERE app = $1 AND name = $2", .text(app), .text(name))
      }
      let changes = Dictionary(rows.map { ($0.integer(0), $0) }) { first, _ in first }.sorted {
        $0.key < $1.key
      }
      var removed: Int64?
      for (sequence, row) in changes {
        let told = [row.optionalText(1), row.optionalText(2)]
        if told.contains(where: { $0 != nil && $0 != customer }) {
          try anonymize(sequence, told, row.bytes(3))
        } else {
          for table in ["deliveries", "delivered"] { try remove(table, "change = $1", .integer(sequence)) }
          try remove("changes", "sequence = $1", .integer(sequence))
          removed = sequence
        }
      }
      if let removed { try RemovedChanges.note(removed, app: app, in: session) }
    }

    private mutating func anonymize(_ sequence: Int64, _ told: [String?], _ body: [UInt8]) throws {
      var value = try JSONValue(parsing: body).removing(customer: customer)
      if told[0] == customer { value = value.removingAccess }
      var object = JSONWriter()
      object.value(value)
      guard told.contains(customer) || object.bytes != body else { return }
      let kept = told.map { $0 == customer ? nil : $0 }
      try session.run(
        "UPDATE changes SET customer = $2, previous_customer = $3, body = $4 WHERE sequence = $1",
        .integer(sequence), .text(kept[0]), .text(kept[1]), .bytes(object.bytes))
      tables.insert("changes")
      // The change no longer waits for deliveries of the erased customer, and stays only in the other customer's lane.
      guard told.contains(customer), let other = kept.compactMap(\.self).first else { return }
      let lane = WebhookQueue.lane(of: other, entitlement: "")
      let deliveries = try session.run(
        """
        UPDATE deliveries SET lane = $2, previous_lane = NULL WHERE change = $1 RETURNING endpoint, state
        """, .integer(sequence), .text(lane))
      if !deliveries.isEmpty { tables.insert("deliveries") }
      for delivery in deliveries where delivery.integer(1) == 0 {
        try EndpointLanes(app: app, endpoint: delivery.text(0), session: session).wake(
          lane, for: WaitingDelivery(change: sequence, lanes: [lane]), at: now)
      }
    }
  }

  extension JSONValue {
    /// The value of a change without what its customer has.
    fileprivate var removingAccess: JSONValue {
      guard case .object(let members) = self else { return self }
      return .object(
        members.filter { $0.name != "access" }.map { member in
          member.name == "data"
            ? JSONMember(name: member.name, value: member.value.removingAccess) : member
        })
    }

    /// The value without the members that name a customer.
    fileprivate func removing(customer: String) -> JSONValue {
      switch self {
      case .object(let members):
        .object(
          members.compactMap { member in
            if let text = member.value.string, RecordingOptions.canonicalCustomer(text) == customer {
              return nil
            }
            return JSONMember(name: member.name, value: member.value.removing(customer: customer))
          })
      case .array(let values): .array(values.map { $0.removing(customer: customer) })
      default: self
      }
    }
  }
#endif
