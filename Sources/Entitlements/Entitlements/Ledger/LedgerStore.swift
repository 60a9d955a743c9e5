// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
package import ReceiptCodec

/// The rows of an app's ledgers, within a transaction of a database.
package protocol LedgerTransaction {
  /// Waits until no other transaction holds these parts, and holds them until this one ends.
  func lock(_ names: [String]) throws
  /// Records the key of a store's message, and returns `false` if it was recorded before.
  ///
  /// It waits for another transaction that records the same message.
  func record(_ key: [UInt8], at now: Timestamp) throws -> Bool
  func row(_ name: String) throws -> LedgerRow?
  /// Returns the refunds and revocations of a purchase whose customer was erased.
  func withdrawals(of name: String) throws -> EntitlementLedger?
  /// Stores a part with the time of its next change without a message, and the time at which to ask the store.
  func store(_ row: LedgerRow, nextChange: Timestamp?, reconciliation: Timestamp?) throws
  /// Entitles a customer to a purchase that belongs to another one.
  func share(_ name: String, with customer: String) throws
  /// Ends the sharing of a purchase with all customers.
  func endSharing(_ name: String) throws
  func isShared(_ name: String, with customer: String) throws -> Bool
  /// Returns everything that a customer has, and holds it unchanged until the transaction ends.
  func everything(of customer: String) throws -> EntitlementLedger
  func enter(_ change: LedgerChange) throws
}

/// Records the messages of stores once, merges new facts into the ledgers of an app, and detects the resulting changes,
/// within one transaction.
///
/// A change is the difference between the last reported snapshot of an entitlement, which is stored with its ledger,
/// and the current one. Late, repeated or reordered input therefore reports nothing twice. Each entitlement is locked
/// while it is compared.
package struct LedgerStore<Transaction: LedgerTransaction> {
  private let transaction: Transaction
  private let app: String
  private let terms: EntitlementTerms
  private let now: Timestamp
  /// The time after which the store is asked about a renewal that was due but not reported.
  private let silence: Duration
  /// The maximum difference, in seconds, of the clocks of two processes.
  private let clockTolerance: Double

  package init(
    in transaction: Transaction, app: String, under terms: EntitlementTerms = EntitlementTerms(),
    at now: Timestamp, silence: Duration, clockTolerance: Double
  ) {
    self.transaction = transaction
    self.app = app
    self.terms = terms
    self.now = now
    self.silence = silence
    self.clockTolerance = clockTolerance
  }

  /// Records a message as processed, merges its facts, and returns the number of stored changes.
  ///
  /// `nil` if the message was recorded before. Nothing changes then.
  package func record(_ key: [UInt8], _ ledger: EntitlementLedger) throws -> Int? {
    guard try transaction.record(key, at: now) else { return nil }
    return try merge(ledger, customer: nil, heard: now)
  }

  /// Merges new facts that a customer, in canonical spelling, may have presented, and returns the number of stored
  /// changes.
  ///
  /// - Throws: The errors of the transaction; ``PresentedByAnother``.
  package func merge(_ ledger: EntitlementLedger, customer: String?, heard: Timestamp) throws -> Int {
    let parts = ledger.parts
    try transaction.lock(parts.map(\.name))
    return try parts.count { try merge($0, customer: customer, heard: heard) }
  }

  /// Returns `true` if merging would change nothing.
  ///
  /// That is so for most receipts, which are presented repeatedly.
  package func isKnown(_ ledger: EntitlementLedger, customer: String?) throws -> Bool {
    try ledger.parts.allSatisfy { part in
      guard let stored = try transaction.row(part.name) else { return false }
      var merged = stored.part.ledger
      merged.merge(part.ledger)
      guard merged == stored.part.ledger else { return false }
      try merged.requirePresented(by: customer)
      if terms.transfers == .share, let customer, try transaction.isShared(part.name, with: customer) {
        return true
      }
      let snapshot = try EntitlementSnapshot(
        merged, customer: customer ?? stored.customer, at: stored.evaluated)
      return UTF8Text.isIdentical(snapshot?.customer, stored.customer)
    }
  }

  /// Stores the change of an entitlement that is due to the passage of time, and returns `true` if there is one.
  package func reevaluate(_ name: String) throws -> Bool {
    guard let stored = try transaction.row(name) else { return false }
    return try store(stored.part, customer: stored.customer, heard: stored.heard, after: stored)
  }

  private func merge(_ part: EntitlementLedger.Part, customer: String?, heard: Timestamp) throws -> Bool {
    let stored = try transaction.row(part.name)
    var part = part
    // Without a row, the purchase may have been refunded or revoked before its customer was erased.
    if let known = try stored?.part.ledger ?? transaction.withdrawals(of: part.name) {
      part.ledger.merge(known)
      part = part.ledger.parts.first ?? part
    }
    try part.ledger.requirePresented(by: customer)
    return try store(
      part, customer: try owner(of: part, presentedBy: customer, after: stored),
      heard: max(heard, stored?.heard ?? heard), after: stored)
  }

  /// Returns the customer to whom a purchase belongs after one presented it, if any.
  ///
  /// - Throws: ``PresentedByAnother`` if it stays with another one.
  private func owner(
    of part: EntitlementLedger.Part, presentedBy customer: String?, after stored: LedgerRow?
  ) throws -> String? {
    // Whose a part about a purchase is, follows from the purchase whenever it is asked.
    if part.purchase != nil { return nil }
    if part.ledger.statedCustomer != nil {
      // If the store names the customer, nobody else has the purchase, even if they presented it before.
      if terms.transfers == .share { try transaction.endSharing(part.name) }
      return customer ?? stored?.customer
    }
    guard let stored, let owner = stored.customer, let customer, !UTF8Text.isIdentical(owner, customer) else {
      return customer ?? stored?.customer
    }
    switch terms.transfers {
    case .move: return customer
    case .keep: throw PresentedByAnother()
    case .moveExpired:
      let present = try EntitlementSnapshot(part.ledger, customer: owner, at: now)
      guard present?.grantsAccess != true else { throw PresentedByAnother() }
      return customer
    case .share:
      try transaction.share(part.name, with: customer)
      return owner
    }
  }

  private func store(
    _ part: EntitlementLedger.Part, customer: String?, heard: Timestamp, after stored: LedgerRow?
  ) throws -> Bool {
    // The clocks of two processes differ. An entitlement that has expired for one process must not become active
    // again for another. An evaluation that is further in the future comes from a wrong clock and is ignored.
    let latest = now.addingSeconds(clockTolerance)
    let instant = stored.map { $0.evaluated <= latest ? max(now, $0.evaluated) : now } ?? now
    let heard = heard <= latest ? heard : now
    let old = stored?.snapshot
    let new = try EntitlementSnapshot(part.ledger, customer: customer, at: instant)
    let line = part.ledger.line
    try transaction.store(
      LedgerRow(
        part, customer: new?.customer ?? customer, snapshot: new, evaluated: instant, heard: heard),
      nextChange: line?.nextDueInstant(after: instant),
      reconciliation: line?.renewal(at: now, heard: heard).flatMap { reconciliation($0, heard: heard) })
    guard let new, let kind = ChangeKind(from: old, to: new) else { return false }
    var told = new
    if let purchase = part.purchase {
      told =
        try EntitlementSnapshot(
          part.ledger, customer: try transaction.row(purchase)?.customer, at: instant) ?? new
    }
    let body = try body(kind, part.ledger, from: old, to: told, at: instant)
    try transaction.enter(
      LedgerChange(kind: kind, name: part.name, old: old, new: told, time: instant, body: body))
    return true
  }

  /// Returns the time at which to ask the store.
  ///
  /// The store is asked once about a renewal that was due but not reported, and repeatedly while it retries the charge.
  private func reconciliation(_ renewal: StoreRenewal, heard: Timestamp) -> Timestamp? {
    let silence = silence / .seconds(1)
    if heard < renewal.due { return renewal.due.addingSeconds(silence) }
    return renewal.isAwaited ? heard.addingSeconds(max(silence, 86_400)) : nil
  }

  private func body(
    _ kind: ChangeKind, _ ledger: EntitlementLedger, from old: EntitlementSnapshot?,
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
    let concerned = ledger.concerned(terms.entitlements, at: instant)
    if !concerned.isEmpty {
      object.member("names", concerned.map(\.name))
      if let customer = new.customer {
        let access = try transaction.everything(of: customer)
          .access(to: concerned, of: customer, under: terms.rules, at: instant)
        // Without the reasons: a change is kept for another customer when this one is erased.
        object.array("access", access) { access, object in
          object.object { access.writeMembers(to: &$0) }
        }
      }
    }
    if let old {
      object.name("previous")
      object.value(try JSONValue(parsing: old.json))
    }
    object.endObject()
    object.endObject()
    return object.bytes
  }
}

/// The error for a purchase that names a different customer than the one who presented it.
///
/// Nothing was granted.
package struct PresentedByAnother: Error, Sendable, Hashable, CustomStringConvertible {
  package init() {}
  package var description: String { "The purchase names another customer than the one who presents it." }
}

extension EntitlementLedger {
  /// Writes the entitlement of one part of a ledger, in the format of `receipt-tool notifications fold`; `null` if too
  /// little is known.
  package func appendEntitlement(to object: inout JSONWriter, at instant: Timestamp) {
    guard let line else { return object.null() }
    object.beginObject(type: type(of: line).reportType)
    line.append(to: &object, at: instant)
    object.endObject()
  }

  /// Fails if the purchase of one part names another customer.
  fileprivate func requirePresented(by customer: String?) throws {
    guard let customer, let stated = statedCustomer, !UTF8Text.isIdentical(stated, customer) else { return }
    throw PresentedByAnother()
  }

  /// The customer that the purchase of one part itself names, in canonical spelling.
  var statedCustomer: String? {
    guard let stated = line?.statedCustomer, !stated.isEmpty else { return nil }
    return UUIDString.canonical(stated)
  }
}
