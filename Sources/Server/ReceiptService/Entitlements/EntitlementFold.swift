// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import ReceiptBytes
  internal import ReceiptCodec
  internal import ReceiptCrypto

  /// Merges new facts into the ledgers of an app, and stores the resulting changes, within one transaction.
  ///
  /// A change is the difference between the last reported snapshot of an entitlement, which is stored with its ledger,
  /// and the current one. Late, repeated or reordered input therefore reports nothing twice. Each entitlement is locked
  /// while it is compared, and the transactions that store changes of an app are serialized. A reader that has read up
  /// to a sequence has therefore missed no earlier change.
  struct EntitlementFold {
    let session: any DatabaseSession
    let app: String
    /// The names of the app's webhook endpoints.
    let endpoints: [String]
    let now: Timestamp
    /// The time after which the store is asked about a renewal that was due but not reported.
    let silence: Duration
    /// The trace that the changes belong to, as ``TraceHeaders`` stores it.
    var trace: String?

    /// Locks entitlements against other transactions.
    ///
    /// Lock those of all apps at once: the sorted order prevents deadlocks.
    static func lock(_ names: [(app: String, name: String)], in session: any DatabaseSession) throws {
      for (app, name) in names.sorted(by: <) { try session.lock("entitlement \(app) \(name)") }
    }

    /// Merges the parts of a ledger.
    ///
    /// - Parameters:
    ///   - ledger: The new facts.
    ///   - customer: The customer who presented them, in canonical spelling.
    ///   - heard: The time of the store's message.
    /// - Returns: The number of stored changes.
    /// - Throws: ``DatabaseError``; ``PresentedByAnother``.
    func merge(_ ledger: EntitlementLedger, customer: String?, heard: Timestamp) throws -> Int {
      let parts = ledger.parts
      try Self.lock(parts.map { (app, $0.name) }, in: session)
      var count = 0
      for part in parts where try merge(part, customer: customer, heard: heard) { count += 1 }
      return count
    }

    /// Stores the change of an entitlement that is due to the passage of time, if there is one.
    func reevaluate(_ name: String) throws -> Bool {
      guard let stored = try StoredLedger(app: app, name: name, in: session) else { return false }
      return try store(
        stored.ledger, name, stored.identifier, customer: stored.customer, heard: stored.heard, after: stored)
    }

    private func merge(_ part: EntitlementLedger.Part, customer: String?, heard: Timestamp) throws -> Bool {
      let stored = try StoredLedger(app: app, name: part.name, in: session)
      var ledger = part.ledger
      if let stored {
        ledger.merge(stored.ledger)
      } else if let facts = try Withdrawals(app: app, in: session).facts(of: part.name) {
        // The purchase was refunded or revoked before its customer was erased.
        ledger.merge(facts)
      }
      if let customer, let stated = EntitlementSnapshot.statedCustomer(ledger), stated != customer {
        throw PresentedByAnother()
      }
      return try store(
        ledger, part.name, part.identifier, customer: customer ?? stored?.customer,
        heard: max(heard, stored?.heard ?? heard), after: stored)
    }

    /// Stores a part of a ledger, and its change, if there is one.
    private func store(
      _ ledger: EntitlementLedger, _ name: String, _ identifier: String, customer: String?, heard: Timestamp,
      after stored: StoredLedger?
    ) throws -> Bool {
      // The clocks of two processes differ. An entitlement that has expired for one process must not become active
      // again for another. An evaluation that is further in the future comes from a wrong clock and is ignored.
      let latest = now.addingSeconds(ClockCheck.tolerance)
      let instant = stored.map { $0.evaluated <= latest ? max(now, $0.evaluated) : now } ?? now
      let heard = heard <= latest ? heard : now
      let old = stored?.snapshot
      let new = try EntitlementSnapshot(ledger, customer: customer, at: instant)
      try session.run(
        """
        INSERT INTO ledgers(
          app, name, identifier, customer, ledger, snapshot, evaluated, next_change, heard, reconcile,
          questions)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0)
        ON CONFLICT(app, name) DO UPDATE SET
          customer = excluded.customer, ledger = excluded.ledger, snapshot = excluded.snapshot,
          evaluated = excluded.evaluated, next_change = excluded.next_change, heard = excluded.heard,
          reconcile = excluded.reconcile, questions = excluded.questions
        """,
        .text(app), .text(name), .text(identifier), .text(new?.customer ?? customer),
        .bytes(ledger.encoded()), new.map { .bytes($0.json) } ?? .null, .integer(instant.milliseconds),
        .integer(nextChange(ledger, after: instant)), .integer(heard.milliseconds),
        .integer(reconciliation(ledger, heard: heard)))
      guard let new, let kind = EntitlementChange.Kind(from: old, to: new) else { return false }
      try enter(kind, of: ledger, named: name, from: old, to: new, at: instant)
      return true
    }

    private func enter(
      _ kind: EntitlementChange.Kind, of ledger: EntitlementLedger, named name: String,
      from old: EntitlementSnapshot?, to new: EntitlementSnapshot, at instant: Timestamp
    ) throws {
      try session.lock("changes \(app)")
      let previousCustomer = old?.customer == new.customer ? nil : old?.customer
      let entered = try session.run(
        """
        INSERT INTO changes(id, app, name, customer, previous_customer, time, type, body, trace)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING sequence
        """,
        .text("msg_" + Hexadecimal.encode(Random.bytes(16))), .text(app), .text(name), .text(new.customer),
        .text(previousCustomer), .integer(instant.milliseconds), .text(kind.rawValue),
        .bytes(try body(kind, ledger, from: old, to: new, at: instant)), .text(trace))
      guard let sequence = entered.first?.integer(0) else { return }
      let previousLane = old.map { WebhookQueue.lane(of: $0.customer, entitlement: name) }
      for endpoint in endpoints {
        try WebhookQueue.enter(
          sequence, app: app, endpoint: endpoint,
          lane: WebhookQueue.lane(of: new.customer, entitlement: name),
          after: previousLane, at: now, in: session)
      }
    }

    /// The payload that Standard Webhooks recommends.
    private func body(
      _ kind: EntitlementChange.Kind, _ ledger: EntitlementLedger, from old: EntitlementSnapshot?,
      to new: EntitlementSnapshot, at instant: Timestamp
    ) throws -> [UInt8] {
      var object = JSONWriter()
      object.beginObject()
      object.member("type", kind.rawValue)
      object.member("timestamp", instant)
      object.name("data")
      object.beginObject()
      object.member("app", app)
      object.member("customer", new.customer)
      object.name("entitlement")
      ledger.appendEntitlement(to: &object, at: instant)
      if let old {
        object.name("previous")
        object.value(try JSONValue(parsing: old.json))
      }
      object.endObject()
      object.endObject()
      return object.bytes
    }

    private func nextChange(_ ledger: EntitlementLedger, after instant: Timestamp) -> Int64? {
      (ledger.entitlements.first?.nextChange(after: instant)
        ?? ledger.playEntitlements.first?.nextChange(after: instant))?.millisecondsRoundedUp
    }

    /// The time at which to ask the store, in milliseconds.
    ///
    /// The store is asked once about a renewal that was due but not reported, and repeatedly while it retries the
    /// charge.
    private func reconciliation(_ ledger: EntitlementLedger, heard: Timestamp) -> Int64? {
      guard let renewal = ledger.renewal(at: now, heard: heard) else { return nil }
      let silence = silence / .seconds(1)
      if heard < renewal.due { return renewal.due.addingSeconds(silence).milliseconds }
      return renewal.isAwaited ? heard.addingSeconds(max(silence, 86_400)).milliseconds : nil
    }
  }

  /// The error for a purchase that names a different customer than the one who presented it.
  ///
  /// Nothing was granted.
  package struct PresentedByAnother: Error, Sendable, Hashable, CustomStringConvertible {
    package var description: String { "The purchase names another customer than the one who presents it." }
  }

  extension EntitlementLedger {
    /// Writes the entitlement of one part of a ledger, in the format of `receipt-tool notifications fold`;
    /// `null` if too little is known.
    func appendEntitlement(to object: inout JSONWriter, at instant: Timestamp) {
      func write(_ type: String, _ members: (inout JSONWriter) -> Void) {
        object.beginObject()
        object.member("type", type)
        object.member("version", JSONWriter.formatVersion)
        members(&object)
        object.endObject()
      }
      if let entitlement = entitlements.first {
        write("entitlement") { entitlement.append(to: &$0, at: instant) }
      } else if let purchase = playEntitlements.first {
        write("play-entitlement") { purchase.append(to: &$0, at: instant) }
      } else if let consent = rescindedConsents.first {
        write("rescinded-consent") { consent.append(to: &$0) }
      } else {
        object.null()
      }
    }

    /// The time at which the renewal after the store's last message is or was due; `nil` if nothing renews.
    ///
    /// `isAwaited` is `true` while the store retries the charge.
    fileprivate func renewal(at instant: Timestamp, heard: Timestamp) -> (due: Timestamp, isAwaited: Bool)? {
      if let entitlement = entitlements.first, let expiresDate = entitlement.expiresDate,
        entitlement.transaction.type == .autoRenewableSubscription
      {
        switch entitlement.state(at: max(instant, expiresDate)) {
        case .active, .expired: return (entitlement.laterPeriod?.expiresDate ?? expiresDate, false)
        case .inGracePeriod, .inBillingRetry: return (expiresDate, true)
        case .revoked, .refunded, .upgraded: return nil
        }
      }
      if let purchase = playEntitlements.first, purchase.isSubscription {
        // A base plan and its add-ons renew at different times.
        let renewals = purchase.items.filter { purchase.state(of: $0, at: instant) != .refunded }
          .compactMap(\.expiryTime)
        guard let expiryTime = renewals.filter({ heard < $0 }).min() ?? renewals.max() else { return nil }
        switch purchase.state(at: instant) {
        case .active, .expired: return (expiryTime, false)
        case .inGracePeriod, .onHold, .paused, .pending: return (expiryTime, true)
        case .cancelled, .refunded, .replaced, .unknown: return nil
        }
      }
      return nil
    }
  }

  extension Timestamp {
    /// The milliseconds since 1970, rounded up, so that no change is looked for too early.
    fileprivate var millisecondsRoundedUp: Int64 { Int64(millisecondsSince1970.rounded(.up)) }
  }

  /// A row of the table `ledgers`.
  struct StoredLedger {
    let identifier: String
    let customer: String?
    let ledger: EntitlementLedger
    let snapshot: EntitlementSnapshot?
    let evaluated: Timestamp
    let heard: Timestamp

    init?(app: String, name: String, in session: any DatabaseSession) throws {
      let rows = try session.run(
        """
        SELECT identifier, customer, ledger, snapshot, evaluated, heard FROM ledgers
        WHERE app = $1 AND name = $2
        """, .text(app), .text(name))
      guard let row = rows.first else { return nil }
      identifier = row.text(0)
      customer = row.optionalText(1)
      ledger = try EntitlementLedger(stored: row.bytes(2))
      let stored = row.bytes(3)
      snapshot = stored.isEmpty ? nil : try EntitlementSnapshot(stored: stored)
      evaluated = Timestamp(milliseconds: row.integer(4))
      heard = Timestamp(milliseconds: row.integer(5))
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
