// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

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
      return EntitlementLedger.Part(
        name: id.name, identifier: id.identifier, purchase: facts.purchaseName(id),
        // What is only the outcome of something unknown is not listed with it.
        kind: Facts.Line.listedKind.map { facts.line(id) == nil ? "unknown-\($0)" : $0 }, ledger: part)
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
