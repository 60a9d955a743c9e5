// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Testing

@Suite struct CompleteHistoryTests {
  private static func entry(_ index: UInt64, previous: UInt64?, original: String? = "1000") -> ProvenEntry {
    ProvenEntry(
      index: index,
      entry: AuditEntry(EntryFacts(time: 0, kind: .verdict, original: original), previous: previous))
  }

  private static func anchor(
    _ index: UInt64, newest: UInt64?, count: UInt64, size: UInt64? = nil, previous: UInt64?? = nil
  ) -> ProvenEntry {
    ProvenEntry(
      index: index,
      entry: AuditEntry(
        EntryFacts(
          time: 0, kind: .anchor, original: "1000", size: size ?? index, newest: newest, count: count),
        previous: previous ?? newest))
  }

  private let line = [entry(2, previous: nil), entry(5, previous: 2), entry(9, previous: 5)]

  @Test func aLineWithItsAnchorIsComplete() throws {
    let history = try CompleteHistory([Self.anchor(12, newest: 9, count: 3)] + line.shuffled())
    #expect(history.original == "1000")
    #expect(history.entries.map(\.index) == [2, 5, 9])
    #expect(history.size == 12)
  }

  @Test func nothingIsCompleteToo() throws {
    #expect(try CompleteHistory([Self.anchor(0, newest: nil, count: 0)]).entries.isEmpty)
  }

  @Test func theNewestAnchorCounts() throws {
    let older = Self.anchor(7, newest: 5, count: 2)
    let newer = Self.anchor(12, newest: 9, count: 4)
    let line = [line[0], line[1], older, Self.entry(9, previous: 7)]
    #expect(try CompleteHistory([newer] + line).entries.map(\.index) == [2, 5, 7, 9])
  }

  @Test func whatIsMissingIsNamed() throws {
    let anchor = Self.anchor(12, newest: 9, count: 3)
    #expect(throws: IncompleteHistory.noAnchor) { try CompleteHistory(line) }
    for (index, entry) in line.enumerated() {
      var others = line
      others.remove(at: index)
      #expect(throws: IncompleteHistory.missing(index: entry.index)) {
        try CompleteHistory([anchor] + others)
      }
    }
  }

  @Test func whatContradictsIsNamed() throws {
    func expect(_ proven: [ProvenEntry], _ index: UInt64, _ location: SourceLocation = #_sourceLocation) {
      #expect(throws: IncompleteHistory.contradiction(index: index), sourceLocation: location) {
        try CompleteHistory(proven)
      }
    }
    expect([Self.anchor(12, newest: 9, count: 2)] + line, 12)
    expect([Self.anchor(12, newest: 9, count: 4)] + line, 12)
    // It passes over entry 9, which its own line leads to.
    expect([Self.anchor(12, newest: 5, count: 2, previous: 9)] + line, 12)
    expect([Self.anchor(12, newest: 9, count: 3, size: 13)] + line, 12)
    expect([Self.anchor(12, newest: 9, count: 3), line[0], line[1], Self.entry(9, previous: 9)], 9)
    expect([Self.anchor(12, newest: 9, count: 3), line[0], line[1], Self.entry(9, previous: 11)], 11)
    expect(
      [Self.anchor(12, newest: 9, count: 3), line[0], Self.entry(5, previous: 2, original: "1001"), line[2]],
      5)
    expect(
      [Self.anchor(12, newest: 9, count: 3), line[0], Self.entry(5, previous: 2, original: nil), line[2]], 5)
  }
}
