// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptVerification

/// A line of a ledger, such as a purchase in a store with its renewals: its identity, and its state at an instant.
///
/// It has no state of its own, because its state changes at its due instants without news from the store. A store adds
/// a folder with a type that conforms and its facts, and a line to `EntitlementLedger`, to its `kinds`, and to
/// `LedgerDocument` in `WireTypes/Entitlements/Ledger.wire`.
package protocol StoreLine: Sendable, Hashable {
  associatedtype ID: StoreLineID
  /// The properties that change by themselves.
  associatedtype Condition: Hashable

  /// Where what it gives comes from; `nil` for a line that gives nothing.
  static var source: EntitlementSource? { get }
  /// The type of its JSON object.
  static var reportType: String { get }
  /// The member of its JSON object with the identifier.
  static var identifierMember: String { get }
  /// The kind by which lines are listed; `nil` for what a customer has, which is found by customer.
  static var listedKind: String? { get }
  /// The time by which lines of a kind are listed.
  var listedDate: Timestamp? { get }
  /// The members of the store's receipts that name a customer.
  static var customerMembers: [String] { get }
  /// The states without access that a payment ends.
  static var lapsedStates: [String] { get }

  var id: ID { get }
  /// The customer that the store names, as it spells them.
  var statedCustomer: String? { get }
  /// The names of other lines about the same customer, which an erasure of the customer erases, too.
  var namesOfCustomer: [String] { get }
  /// The instants at which the condition may change by itself.
  var dueInstants: [Timestamp] { get }

  func condition(at instant: Timestamp) -> Condition
  /// The standing of the purchase, in terms that all stores share; `nil` for a line that is no purchase.
  var timeline: StandingTimeline? { get }
  /// What it gives at an instant, or gave.
  func holdings(at instant: Timestamp) -> [LineHolding]
  /// Returns the renewal after the store's last message; `nil` if nothing renews.
  func renewal(at instant: Timestamp, heard: Timestamp) -> StoreRenewal?
  /// Writes the members of its JSON object after the identifier, with the state at an instant.
  func report(to object: inout JSONWriter, at instant: Timestamp)
  /// Writes the members whose changes are reported: `state`, `grantsAccess`, the products, `transactionId` or
  /// `orderId`, `expiresDate`.
  func snapshot(to object: inout JSONWriter, at instant: Timestamp)
}

extension StoreLine {
  package static var listedKind: String? { nil }
  package var listedDate: Timestamp? { nil }
  package static var customerMembers: [String] { [] }
  package static var lapsedStates: [String] { [] }
  package var namesOfCustomer: [String] { [] }
  package func renewal(at instant: Timestamp, heard: Timestamp) -> StoreRenewal? { nil }

  /// Writes the members of its JSON object, with the state at an instant.
  package func append(to object: inout JSONWriter, at instant: Timestamp) {
    object.member(Self.identifierMember, id.identifier)
    report(to: &object, at: instant)
    timeline?.standing(at: instant).write(to: &object)
  }

  /// Returns the first instant after another at which the condition changes; `nil` if it never does.
  func nextDueInstant(after instant: Timestamp) -> Timestamp? {
    let present = condition(at: instant)
    return dueInstants.sorted().first { $0 > instant && condition(at: $0) != present }
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
  /// The name of the part that has the purchase which this line is about; `nil` for a line that stands for itself.
  func purchaseName(_ id: Line.ID) -> String?
  /// Returns the line that the facts give; `nil` if too little is known.
  func line(_ id: Line.ID) -> Line?
  /// The refunds, voids and revocations, and the transactions that they concern, without the customer; `nil` for none.
  var withdrawals: Self? { get }
}

extension LineFacts {
  func purchaseName(_ id: Line.ID) -> String? { nil }
}
