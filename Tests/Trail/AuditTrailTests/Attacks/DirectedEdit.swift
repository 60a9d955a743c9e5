// SPDX-License-Identifier: Apache-2.0

@testable import AuditTrail
import AuditTrailTesting

/// A way to change what is stored, by somebody who knows the layout and holds everything but the signing key.
struct DirectedEdit: Sendable {
  let name: String
  let tables: [StorageTable]
  let apply: @Sendable (Attack) throws -> Void

  init(_ name: String, _ tables: StorageTable..., apply: @escaping @Sendable (Attack) throws -> Void) {
    self.name = name
    self.tables = tables
    self.apply = apply
  }

  static let all = directed + blind
  static let directed = entries + tails + notes + indexes + pages + keys + payloads + copies

  /// Whole tables of other times and other trails.
  static let copies: [DirectedEdit] =
    [
      ("everything", StorageTable.allCases),
      ("everything but the head", StorageTable.allCases.filter { $0 != .head }),
      ("the entries", [.bundles, .tail]), ("the head and the entries", [.head, .bundles, .tail]),
      ("the index", [.runs, .pages, .personal]),
      ("the head and the index", [.head, .runs, .pages, .personal]),
      ("the keys", [.covers, .keys]), ("keys and payloads", [.covers, .keys, .payloads]),
      ("the personal runs", [.personal]), ("the pages", [.pages]),
    ].flatMap { name, tables in
      [
        DirectedEdit("\(name) of an earlier time", tables: tables) { attack in
          try attack.replace(tables, byThoseOf: attack.pick(attack.trail.earlier))
        },
        DirectedEdit("\(name) of another trail", tables: tables) { attack in
          try attack.replace(tables, byThoseOf: attack.pick([attack.trail.sibling, attack.trail.stranger]))
        },
      ]
    }

  private init(
    _ name: String, tables: [StorageTable], apply: @escaping @Sendable (Attack) throws -> Void
  ) {
    self.name = name
    self.tables = tables
    self.apply = apply
  }

  /// Edits without a plan, in any table.
  static let blind: [DirectedEdit] = StorageTable.allCases.flatMap { table in
    [
      DirectedEdit("a bit of \(table)", table) { attack in
        try attack.change(table) { row in
          var numbers = SampleNumbers(seed: UInt64(attack.place))
          row[Int(numbers.next() % UInt64(row.count))] ^= 1 << UInt8(numbers.next() % 8)
        }
      },
      DirectedEdit("a row of \(table) removed", table) { attack in
        guard let key = try attack.key(table) else { return }
        try attack.rows.remove(table, in: key...key, erasing: false)
      },
      DirectedEdit("two rows of \(table) swapped", table) { try $0.swap(table) },
      DirectedEdit("a row of \(table) added", table) { attack in
        guard let key = try attack.key(table), let row = try attack.rows.value(table, key) else { return }
        let free = try attack.rows.lastKey(table, in: 0...Int64(UInt32.max)) ?? key
        try attack.rows.put(table, free + 1, row)
      },
      DirectedEdit("rows at the ends of \(table)", table) { attack in
        let row = try attack.key(table).flatMap { try attack.rows.value(table, $0) } ?? [0]
        for key in [table.keys.lowerBound, table.keys.upperBound] where key != 0 {
          try attack.rows.put(table, key, row)
        }
      },
    ]
  }
}

/// One edit at one place.
struct Attack {
  let rows: any StorageWriter
  let trail: AttackedTrail
  /// Which of the many places that the edit may have.
  let place: Int

  func pick<Element>(_ elements: some RandomAccessCollection<Element>) -> Element {
    elements[elements.index(elements.startIndex, offsetBy: place % elements.count)]
  }

  /// An entry that is asked about, of those from `first` on.
  func entry(from first: UInt64 = 0, to end: UInt64 = .max) -> UInt64 {
    let watched = AttackedTrail.watched + AttackedTrail.late
    return pick(watched.map { trail.places[$0] }.filter { $0 >= first && $0 < end })
  }

  func key(_ table: StorageTable) throws -> Int64? {
    let keys = try rows.keys(table)
    return keys.isEmpty ? nil : keys[place * 7 % keys.count]
  }

  func change(_ table: StorageTable, _ edit: (inout [UInt8]) throws -> Void) throws {
    guard let key = try key(table) else { return }
    try change(table, key, edit)
  }

  func change(_ table: StorageTable, _ key: Int64, _ edit: (inout [UInt8]) throws -> Void) throws {
    guard var row = try rows.value(table, key), !row.isEmpty else { return }
    try edit(&row)
    try rows.put(table, key, row)
  }

  func swap(_ table: StorageTable) throws {
    let keys = try rows.keys(table)
    guard keys.count > 1 else { return }
    let first = place * 7 % keys.count
    try swap(table, keys[first], keys[(first + 1) % keys.count])
  }

  func swap(_ table: StorageTable, _ first: Int64, _ second: Int64) throws {
    guard let row = try rows.value(table, first), let other = try rows.value(table, second) else { return }
    try rows.put(table, first, other)
    try rows.put(table, second, row)
  }

  func replace(_ tables: [StorageTable], byThoseOf storage: MemoryStorage) throws {
    try storage.read { try rows.replace(tables, byThoseOf: $0) }
  }
}
