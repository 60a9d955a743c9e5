// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// A line of a ledger, such as a purchase in a store with its renewals: its identity, and its state at an instant.
///
/// It has no state of its own, because its state changes at its due instants without news from the store. A store adds
/// a folder with a type that conforms and its facts, and a line to `EntitlementLedger`, to its `kinds`, and to
/// `LedgerDocument` in `WireTypes/Entitlements/Ledger.wire`.
package protocol StoreLine: Sendable, Hashable {
  associatedtype ID: StoreLineID
  /// The properties that change by themselves.
  associatedtype Standing: Hashable

  /// The type of its JSON object.
  static var reportType: String { get }
  /// The member of its JSON object with the identifier.
  static var identifierMember: String { get }
  /// The members of the store's receipts that name a customer.
  static var customerMembers: [String] { get }
  /// The states without access that a payment ends.
  static var lapsedStates: [String] { get }

  var id: ID { get }
  /// The customer that the store names, as it spells them.
  var statedCustomer: String? { get }
  /// The names of other lines about the same customer, which an erasure of the customer erases, too.
  var namesOfCustomer: [String] { get }
  /// The instants at which the standing may change by itself.
  var dueInstants: [Timestamp] { get }

  func standing(at instant: Timestamp) -> Standing
  /// Returns the renewal after the store's last message; `nil` if nothing renews.
  func renewal(at instant: Timestamp, heard: Timestamp) -> StoreRenewal?
  /// Writes the members of its JSON object after the identifier, with the state at an instant.
  func report(to object: inout JSONWriter, at instant: Timestamp)
  /// Writes the members whose changes are reported: `state`, `grantsAccess`, the products, `transactionId` or
  /// `orderId`, `expiresDate`.
  func snapshot(to object: inout JSONWriter, at instant: Timestamp)
}

/// A renewal that a store has to report.
package struct StoreRenewal: Sendable, Hashable {
  /// The time at which it is or was due.
  let due: Timestamp
  /// `true` while the store retries the charge.
  let isAwaited: Bool
}

extension StoreLine {
  package static var customerMembers: [String] { [] }
  package static var lapsedStates: [String] { [] }
  package var namesOfCustomer: [String] { [] }
  package func renewal(at instant: Timestamp, heard: Timestamp) -> StoreRenewal? { nil }

  /// Writes the members of its JSON object, with the state at an instant.
  package func append(to object: inout JSONWriter, at instant: Timestamp) {
    object.member(Self.identifierMember, id.identifier)
    report(to: &object, at: instant)
  }

  /// Returns the first instant after another at which the standing changes; `nil` if it never does.
  func nextDueInstant(after instant: Timestamp) -> Timestamp? {
    let present = standing(at: instant)
    return dueInstants.sorted().first { $0 > instant && standing(at: $0) != present }
  }
}

/// The identity of a line, unique among the lines of its kind.
package protocol StoreLineID: Sendable, Hashable {
  /// The name: the same for all facts about the same subject, and different for others, even of another store.
  var name: String { get }
  /// The store's identifier, such as the original transaction or the purchase token.
  var identifier: String { get }

  /// Compares in the order of encoded ledgers; `nil` if both are equal.
  static func isLower(_ left: Self, _ right: Self) -> Bool?
}

/// The facts that a ledger keeps of a line.
protocol LineFacts: Sendable, Hashable {
  associatedtype Line: StoreLine
  /// The facts with their identity in an encoded ledger.
  associatedtype Record: JSONObject

  /// The error for a record whose identity is invalid.
  static var invalidIdentity: String { get }

  init()
  /// Reads a record; `nil` if the identity is invalid.
  static func decode(_ record: Record) -> (Line.ID, Self)?
  func record(_ id: Line.ID) -> Record

  /// Keeps the higher fact of each type.
  mutating func join(_ other: Self)
  /// Returns the line that the facts give; `nil` if too little is known.
  func line(_ id: Line.ID) -> Line?
  /// The refunds, voids and revocations, and the transactions that they concern, without the customer; `nil` for none.
  var withdrawals: Self? { get }
}

/// The lines of one kind in a ledger.
struct LineSet<Facts: LineFacts>: Sendable, Hashable {
  var facts: [Facts.Line.ID: Facts] = [:]

  subscript(id: Facts.Line.ID) -> Facts.Line? { facts[id]?.line(id) }

  fileprivate var sorted: [(id: Facts.Line.ID, facts: Facts)] {
    facts.keys.sorted { Facts.Line.ID.isLower($0, $1) ?? false }.compactMap { id in facts[id].map { (id, $0) }
    }
  }

  /// The lines of which enough is known, in order.
  var lines: [Facts.Line] { sorted.compactMap { $0.facts.line($0.id) } }

  mutating func join(_ other: Facts, to id: Facts.Line.ID) { facts[id, default: Facts()].join(other) }
}

/// A kind of line: its place in a ledger, and in an encoded one.
struct LineKind<Facts: LineFacts>: AnyLineKind {
  typealias Lines = any (WritableKeyPath<EntitlementLedger, LineSet<Facts>> & Sendable)
  typealias Records = any (WritableKeyPath<LedgerDocument, [Facts.Record]?> & Sendable)

  private let lines: Lines
  private let records: Records
  private let member: LedgerDocument.Field
  let version: Int64

  init(_ lines: Lines, _ records: Records, _ member: LedgerDocument.Field, version: Int64) {
    (self.lines, self.records, self.member, self.version) = (lines, records, member, version)
  }

  var lineType: any StoreLine.Type { Facts.Line.self }

  func lines(in ledger: EntitlementLedger) -> [any StoreLine] { ledger[keyPath: lines].lines }

  func parts(of ledger: EntitlementLedger) -> [EntitlementLedger.Part] {
    ledger[keyPath: lines].sorted.map { id, facts in
      var part = EntitlementLedger()
      part[keyPath: lines].facts[id] = facts
      return EntitlementLedger.Part(name: id.name, identifier: id.identifier, ledger: part)
    }
  }

  func merge(_ other: EntitlementLedger, into ledger: inout EntitlementLedger) {
    for (id, facts) in other[keyPath: lines].facts { ledger[keyPath: lines].join(facts, to: id) }
  }

  func keepWithdrawals(of ledger: EntitlementLedger, in kept: inout EntitlementLedger) {
    kept[keyPath: lines].facts = ledger[keyPath: lines].facts.compactMapValues(\.withdrawals)
  }

  func decode(_ document: LedgerDocument, into ledger: inout EntitlementLedger) throws(MalformedReceipt) {
    for (index, record) in (document[keyPath: records] ?? []).enumerated() {
      guard let (id, facts) = Facts.decode(record) else {
        throw MalformedReceipt(
          .invalidValue, at: .jsonPath("$.\(member.rawValue)[\(index)]"), Facts.invalidIdentity)
      }
      ledger[keyPath: lines].join(facts, to: id)
    }
  }

  func encode(_ ledger: EntitlementLedger, into document: inout LedgerDocument) {
    let sorted = ledger[keyPath: lines].sorted
    guard !sorted.isEmpty else { return }
    document.version = max(document.version, version)
    document[keyPath: records] = sorted.map { $0.facts.record($0.id) }
  }
}

/// A kind of line of any type.
protocol AnyLineKind: Sendable {
  /// The first version of encoded ledgers that has the kind as this code writes it.
  var version: Int64 { get }
  var lineType: any StoreLine.Type { get }

  func lines(in ledger: EntitlementLedger) -> [any StoreLine]
  func parts(of ledger: EntitlementLedger) -> [EntitlementLedger.Part]
  func merge(_ other: EntitlementLedger, into ledger: inout EntitlementLedger)
  func keepWithdrawals(of ledger: EntitlementLedger, in kept: inout EntitlementLedger)
  func decode(_ document: LedgerDocument, into ledger: inout EntitlementLedger) throws(MalformedReceipt)
  func encode(_ ledger: EntitlementLedger, into document: inout LedgerDocument)
}
