// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto

@testable import AuditTrail
@testable import FingerprintIndex

extension DirectedEdit {
  /// Of the catalogue, the fences and the filters.
  static let indexes = [
    DirectedEdit("no catalogue", .runs) { try $0.rows.remove(.runs, in: 0...0, erasing: false) },
    DirectedEdit("a run left out of the catalogue", .runs) { attack in
      try attack.changeCatalogue { $0.runs.remove(at: attack.place * 7 % $0.runs.count) }
    },
    DirectedEdit("a run twice in the catalogue", .runs) { attack in
      try attack.changeCatalogue { $0.runs.append($0.runs[attack.place * 7 % $0.runs.count]) }
    },
    DirectedEdit("two runs exchanged in the catalogue", .runs) { attack in
      try attack.changeCatalogue { $0.runs.swapAt(attack.place % 7, attack.place % 7 + 1) }
    },
    DirectedEdit("fewer entries in the catalogue", .runs) { attack in
      try attack.changeCatalogue { $0.indexedSize -= 256 }
    },
    DirectedEdit("more entries in the catalogue", .runs) { attack in
      try attack.changeCatalogue { $0.indexedSize += 256 }
    },
    DirectedEdit("a merge that is said to be complete", .runs) { attack in
      try attack.changeCatalogue { catalogue in
        let merge = catalogue.merges.remove(at: attack.place % catalogue.merges.count)
        catalogue.runs.removeAll { merge.inputs.contains($0.number) }
        catalogue.add(merge.output)
      }
    },
    DirectedEdit("the catalogue of an earlier time", .runs) { attack in
      let row = try attack.pick(attack.trail.earlier).stored(.runs, 0)
      try attack.rows.put(.runs, 0, row ?? [])
    },
    DirectedEdit("the catalogue of another trail", .runs) { attack in
      try attack.rows.put(.runs, 0, try attack.trail.sibling.stored(.runs, 0) ?? [])
    },
    DirectedEdit("a fence's fingerprint", .runs, .personal) { attack in
      let place = try attack.run().fenceRow(0)
      try attack.change(place) { $0[4] ^= 0x80 }
    },
    DirectedEdit("the fences of two runs swapped", .runs, .personal) { attack in
      try attack.swapRuns { $0.fenceRow(0) }
    },
    DirectedEdit("a filter cleared", .runs) {
      try $0.changeFilter { $0 = [UInt8](repeating: 0, count: $0.count) }
    },
    DirectedEdit("a filter filled", .runs) {
      try $0.changeFilter { $0 = [UInt8](repeating: 255, count: $0.count) }
    },
    DirectedEdit("a filter cut", .runs) { try $0.changeFilter { $0.removeLast(64) } },
    DirectedEdit("the filters of two runs swapped", .runs) { attack in
      try attack.swapRuns { $0.filterRow(0) }
    },
    DirectedEdit("all rows of a run removed", .runs, .pages, .personal) { attack in
      let keys = IndexRun.keys(try attack.run().number)
      for table in [StorageTable.runs, .pages, .personal] {
        try attack.rows.remove(table, in: keys, erasing: false)
      }
    },
  ]

  /// Of the pages, those about persons included.
  static let pages =
    Resealing.allCases.flatMap { resealing in
      [
        DirectedEdit("a record dropped, \(resealing)", .pages, .personal) { attack in
          let entry = attack.entry(to: 2_048)
          try attack.remakePage(resealing) { records in
            let position = records.firstIndex { $0.index == entry } ?? attack.place % records.count
            records.remove(at: position)
          }
        },
        DirectedEdit("a record of another entry, \(resealing)", .pages, .personal) { attack in
          let entry = attack.entry(to: 2_048)
          try attack.remakePage(resealing) { records in
            let position = records.firstIndex { $0.index == entry } ?? attack.place % records.count
            records[position].index ^= 1
          }
        },
        DirectedEdit("a record of another fingerprint, \(resealing)", .pages, .personal) { attack in
          try attack.remakePage(resealing) { records in
            records[records.count - 1].fingerprint = min(
              records[records.count - 1].fingerprint + 1, 1 << 48 - 1)
          }
        },
        DirectedEdit("two records exchanged, \(resealing)", .pages, .personal) { attack in
          try attack.remakePage(resealing) { records in
            let position = attack.place % (records.count - 1)
            records.swapAt(position, position + 1)
          }
        },
      ]
    } + [
      DirectedEdit("a page without its hashes", .pages, .personal) { attack in
        try attack.change(attack.run().page(0)) { row in
          for offset in 8..<IndexPage.headerByteCount { row[offset] = 0 }
        }
      },
      DirectedEdit("the pages of two runs swapped", .pages, .personal) { attack in
        try attack.swapRuns { $0.page(0) }
      },
      DirectedEdit("a page of a run removed", .pages, .personal) { attack in
        let place = try attack.run().page(0)
        let writer = WritableIndexRows(base: attack.rows)
        try writer.remove(place.table, in: place.key...place.key)
      },
    ]

  /// The seals that the attacker makes right again after changing a page.
  enum Resealing: String, CaseIterable, CustomStringConvertible {
    case page = "its page sealed"
    case fences = "its page and fences sealed"
    case catalogue = "page, fences and catalogue sealed"

    var description: String { rawValue }
  }
}

extension Attack {
  func catalogue() throws -> IndexCatalogue {
    let row = try rows.value(.runs, 0) ?? []
    return try IndexCatalogue(SHA256Digest(of: row.span), in: IndexRows(base: rows))
  }

  func changeCatalogue(_ edit: (inout IndexCatalogue) throws -> Void) throws {
    var catalogue = try catalogue()
    try edit(&catalogue)
    _ = try catalogue.write(in: WritableIndexRows(base: rows))
  }

  func run() throws -> IndexRun {
    let runs = try catalogue().runs
    return runs[place * 7 % runs.count]
  }

  func change(_ place: IndexPlace, _ edit: (inout [UInt8]) -> Void) throws {
    let writer = WritableIndexRows(base: rows)
    guard var row = try writer.value(place.table, place.key), !row.isEmpty else { return }
    edit(&row)
    try writer.put(place.table, place.key, row)
  }

  func changeFilter(_ edit: (inout [UInt8]) -> Void) throws {
    let runs = try catalogue().runs.filter { $0.filterBlocks > 0 }
    try change(pick(runs).filterRow(0), edit)
  }

  func swapRuns(_ row: (IndexRun) -> IndexPlace) throws {
    let runs = try catalogue().runs.filter { $0.kind != .product }
    let first = place * 3 % (runs.count - 1)
    let (one, other) = (row(runs[first]), row(runs[first + 1]))
    let writer = WritableIndexRows(base: rows)
    guard let content = try writer.value(one.table, one.key),
      let otherContent = try writer.value(other.table, other.key)
    else { return }
    try writer.put(one.table, one.key, otherContent)
    try writer.put(other.table, other.key, content)
  }

  /// Writes a page of a run anew with other records.
  func remakePage(
    _ resealing: DirectedEdit.Resealing, _ edit: (inout [IndexRecord]) -> Void
  ) throws {
    let writer = WritableIndexRows(base: rows)
    var catalogue = try catalogue()
    let number = place * 7 % catalogue.runs.count
    let resident = try ResidentRun(catalogue.runs[number], in: writer, withFilter: false)
    var page = try resident.page(0, in: writer)
    var records = try page.records()
    guard records.count > 2 else { return }
    edit(&records)
    let (row, digest) = IndexPage.encode(records[...], of: resident.run)
    try writer.put(resident.run.page(0).table, resident.run.page(0).key, row)
    guard resealing != .page else { return }
    var fences = resident.fences
    fences.replace(0, by: (records[0].fingerprint, digest))
    try fences.rewrite([0], of: &catalogue.runs[number], in: writer)
    catalogue.runs[number].records = UInt64(records.count)
    if resealing == .catalogue { _ = try catalogue.write(in: writer) }
  }
}
