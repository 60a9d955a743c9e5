// SPDX-License-Identifier: Apache-2.0

import ReceiptCrypto
import TransparencyLog

@testable import AuditTrail

extension DirectedEdit {
  /// Of full bundles.
  static let entries = [
    DirectedEdit("an entry's text", .bundles) { try $0.forgeInPlace(hashes: 0) },
    DirectedEdit("an entry's text and leaf hash", .bundles) { try $0.forgeInPlace(hashes: 1) },
    DirectedEdit("an entry's text, leaf hash and group root", .bundles) { try $0.forgeInPlace(hashes: 2) },
    DirectedEdit("a bundle with another entry", .bundles) { attack in
      try attack.remake { $0[$1].entry = Attack.forged($0[$1].entry) }
    },
    DirectedEdit("a bundle with a shorter entry", .bundles) { attack in
      try attack.remake { $0[$1].entry.removeLast(2) }
    },
    DirectedEdit("two entries of a bundle swapped", .bundles) { attack in
      try attack.remake { $0.swapAt($1, ($1 + 1) % 256) }
    },
    DirectedEdit("an entry of a bundle twice", .bundles) { attack in
      try attack.remake { $0[$1].entry = $0[($1 + 255) % 256].entry }
    },
    DirectedEdit("two erasable parts of a bundle swapped", .bundles) { attack in
      try attack.remake { stored, position in
        let part = stored[position].erasable
        stored[position].erasable = stored[(position + 1) % 256].erasable
        stored[(position + 1) % 256].erasable = part
      }
    },
    DirectedEdit("an erasable part of a bundle removed", .bundles) { try $0.remake { $0[$1].erasable = [] } },
    DirectedEdit("an erasable part of a bundle said to have a row", .bundles) { attack in
      try attack.remake { ($0[$1].erasable, $0[$1].isOutOfLine) = ([], !$0[$1].isOutOfLine) }
    },
    DirectedEdit("a length moved to the next entry", .bundles) { attack in
      try attack.changeBundle { row, position in
        let low = BundleRow.lengthsRange.lowerBound + 2 * min(position, 254) + 1
        row[low] &+= 1
        row[low + 2] &-= 1
      }
    },
    DirectedEdit("leaf hashes swapped", .bundles) { attack in
      try attack.changeBundle { row, position in
        for offset in 0..<32 { row.swapAt(32 * position + offset, 32 * ((position + 1) % 256) + offset) }
      }
    },
    DirectedEdit("a leaf hash changed", .bundles) { try $0.changeBundle { $0[32 * $1] ^= 1 } },
    DirectedEdit("group roots swapped", .bundles) { attack in
      try attack.changeBundle { row, _ in
        for offset in BundleRow.tileByteCount..<BundleRow.tileByteCount + 32 {
          row.swapAt(offset, offset + 32)
        }
      }
    },
    DirectedEdit("a bundle cut", .bundles) {
      try $0.changeBundle { row, _ in row.removeLast(row.count / 3) }
    },
    DirectedEdit("a bundle extended", .bundles) { try $0.changeBundle { row, _ in row += row.prefix(64) } },
    DirectedEdit("a bundle of another trail", .bundles) { attack in
      let other = attack.pick([attack.trail.sibling, attack.trail.stranger])
      let key = try attack.key(.bundles) ?? 0
      try attack.rows.put(.bundles, key, try other.stored(.bundles, key % 3) ?? [])
    },
    DirectedEdit("a bundle's entries in the tail", .bundles, .tail) { attack in
      let bundle = Int64(attack.entry(to: 2_304) >> 8)
      for (position, stored) in try attack.bundle(bundle).enumerated() {
        try attack.rows.put(.tail, bundle << 8 | Int64(position), TailRow.encode(stored))
      }
      try attack.rows.remove(.bundles, in: bundle...bundle, erasing: false)
    },
    DirectedEdit("the tail's entries in a bundle", .bundles, .tail) { attack in
      var stored = try attack.bundle(0)
      for position in 0..<40 {
        guard let row = try attack.rows.value(.tail, 2_304 + Int64(position)) else { continue }
        stored[position] = TailRow.decode(row) ?? stored[position]
      }
      stored[attack.place % 40].entry = Attack.forged(stored[attack.place % 40].entry)
      try attack.put(stored, bundle: 2_304 >> 8)
    },
  ]

  /// Of entries in no bundle, and of tiles above bundles.
  static let tails = [
    DirectedEdit("an entry of the tail", .tail) { attack in
      try attack.changeTail { $0.entry = Attack.forged($0.entry) }
    },
    DirectedEdit("an erasable part of the tail removed", .tail) { attack in
      try attack.changeTail { $0.erasable = [] }
    },
    DirectedEdit("an erasable part of the tail said to have a row", .tail) { attack in
      try attack.changeTail { ($0.erasable, $0.isOutOfLine) = ([], true) }
    },
    DirectedEdit("the last entry removed", .tail) { attack in
      let last = Int64(attack.trail.size) - 1
      try attack.rows.remove(.tail, in: last...last, erasing: false)
    },
    DirectedEdit("an entry entered again", .tail) { attack in
      try attack.rows.put(
        .tail, Int64(attack.trail.size), try attack.rows.value(.tail, Int64(attack.entry(from: 2_304))) ?? [])
    },
    DirectedEdit("a tile that is not full yet", .tiles) { attack in
      try attack.rows.put(.tiles, 1 << 48, sampleBytes(BundleRow.tileByteCount))
    },
  ]
}

extension Attack {
  /// Another entry of the same length: one that is a millisecond older or younger.
  static func forged(_ entry: [UInt8]) -> [UInt8] {
    var forged = entry
    guard let first = entry.firstIndex(of: 0x0A),
      let end = entry[(first + 1)...].firstIndex(of: 0x0A)
    else { return forged }
    forged[end - 1] ^= 1
    return forged
  }

  func bundle(_ number: Int64) throws -> [StoredEntry] {
    guard let row = try rows.value(.bundles, number),
      let layout = BundleRow.Layout(Array(row[BundleRow.lengthsRange]))
    else { throw Refusal() }
    return (0..<BundleRow.entryCount).map { position in
      StoredEntry(
        entry: Array(row[layout.entries[position]]), erasable: Array(row[layout.erasables[position]]),
        isOutOfLine: layout.outOfLine[position])
    }
  }

  /// Writes a bundle whose hashes are right among themselves.
  func put(_ stored: [StoredEntry], bundle: Int64) throws {
    var entries = BundleEntries()
    let hashes = stored.map { entries.append($0) }
    let tile = GroupedTile(hashes: hashes, groupRoots: GroupedTile.groupRoots(of: hashes))
    try rows.put(.bundles, bundle, BundleRow.encode(tile, entries))
  }

  func remake(_ edit: (inout [StoredEntry], Int) -> Void) throws {
    let entry = entry(to: 2_304)
    var stored = try bundle(Int64(entry >> 8))
    edit(&stored, Int(entry & 255))
    try put(stored, bundle: Int64(entry >> 8))
  }

  func changeBundle(_ edit: (inout [UInt8], Int) -> Void) throws {
    let entry = entry(to: 2_304)
    try change(.bundles, Int64(entry >> 8)) { edit(&$0, Int(entry & 255)) }
  }

  func changeTail(_ edit: (inout StoredEntry) -> Void) throws {
    try change(.tail, Int64(entry(from: 2_304))) { row in
      guard var stored = TailRow.decode(row) else { return }
      edit(&stored)
      row = TailRow.encode(stored)
    }
  }

  /// Forges an entry where it lies, and makes so many levels of the hashes above it right.
  func forgeInPlace(hashes levels: Int) throws {
    try changeBundle { row, position in
      guard let layout = BundleRow.Layout(Array(row[BundleRow.lengthsRange])) else { return }
      let forged = Self.forged(Array(row[layout.entries[position]]))
      row.replaceSubrange(layout.entries[position], with: forged)
      guard levels > 0 else { return }
      var hash: [UInt8] = []
      TreeHash.leaf(forged).append(to: &hash)
      row.replaceSubrange(32 * position..<32 * position + 32, with: hash)
      guard levels > 1 else { return }
      let leaves = TreeHash.hashes(in: Array(row[..<BundleRow.tileByteCount]))
      let roots = TileCoordinates.encode(GroupedTile.groupRoots(of: leaves))
      row.replaceSubrange(BundleRow.tileByteCount..<BundleRow.groupedTileByteCount, with: roots)
    }
  }
}
