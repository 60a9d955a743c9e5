// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import Entitlements
  internal import ReceiptCodec

  extension ServiceEntitlements {
    /// Removes a customer: ledgers, changes, deliveries that wait or are dead, and what else names them.
    ///
    /// A notification that comes later brings back what it says.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - customer: The customer.
    ///   - note: Runs in the transaction that removes them, with what is returned.
    /// - Returns: The original transactions and purchase tokens concerned.
    /// - Throws: ``DatabaseError``.
    @discardableResult
    package func erase(
      app: String, customer: String,
      note: @escaping @Sendable (any DatabaseSession, _ purchases: [String]) throws -> Void = { _, _ in }
    ) async throws -> [String] {
      let customer = RecordingOptions.canonicalCustomer(customer)
      let identifiers = try await database.write { session in
        let owned = try session.run(
          "SELECT name FROM ledgers WHERE app = ?1 AND customer = ?2", .text(app), .text(customer)
        ).map { (app: app, name: $0.text(0)) }
        try EntitlementFold.lock(owned, in: session)
        let ledgers = try session.run(
          "SELECT identifier, name, ledger FROM ledgers WHERE app = ?1 AND customer = ?2", .text(app),
          .text(customer))
        let names = try ledgers.flatMap { row in
          [row.text(1)] + (try EntitlementLedger(stored: row.bytes(2))).consentNames
        }
        let changes = try Self.changes(of: customer, names, app: app, in: session)
        for lane in ["customer \(customer)"] + names {
          // Lanes before deliveries: the sender locks them in this order, too.
          try session.run("DELETE FROM lanes WHERE app = ?1 AND lane = ?2", .text(app), .text(lane))
        }
        for change in changes {
          try session.run("DELETE FROM deliveries WHERE change = ?1", .integer(change))
          try session.run("DELETE FROM changes WHERE sequence = ?1", .integer(change))
        }
        for name in names {
          try session.run("DELETE FROM ledgers WHERE app = ?1 AND name = ?2", .text(app), .text(name))
        }
        let purchases = Set(ledgers.map { $0.text(0) }).sorted()
        try note(session, purchases)
        return purchases
      }
      try await database.scrub()
      return identifiers
    }

    /// The changes that name a customer, or are about entitlements that are theirs.
    private static func changes(
      of customer: String, _ names: [String], app: String, in session: any DatabaseSession
    ) throws -> [Int64] {
      var changes = try session.run(
        "SELECT sequence FROM changes WHERE app = ?1 AND (customer = ?2 OR previous_customer = ?2)",
        .text(app),
        .text(customer)
      ).map { $0.integer(0) }
      for name in names {
        changes += try session.run(
          "SELECT sequence FROM changes WHERE app = ?1 AND name = ?2", .text(app), .text(name)
        ).map { $0.integer(0) }
      }
      return Array(Set(changes)).sorted()
    }
  }

  extension EntitlementLedger {
    /// The names under which withdrawn consent of the same customers is stored.
    fileprivate var consentNames: [String] {
      entitlements.compactMap { entitlement in
        entitlement.transaction.appTransactionId.map {
          RescindedConsent.name(entitlement.id.environment, entitlement.id.bundleId, appTransactionId: $0)
        }
      }
    }
  }
#endif
