// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import TransparencyLog

/// A stored bundle, or the entries after the last bundle, checked on its own.
struct CheckedBundle {
  var entries: CheckedEntries
  var outOfLine: [UInt64] = []
  var sums: IndexHashes
  let isFull: Bool
  private let hasKeys: Bool
  /// The root of a full bundle's entries.
  private(set) var root = TreeHash.empty

  /// Checks a full bundle.
  init(_ bundle: Int64, _ reader: any StorageReader, _ sums: IndexHashes, hasKeys: Bool) throws {
    let first = UInt64(bundle) << 8
    entries = CheckedEntries(first: first)
    self.sums = sums
    self.hasKeys = hasKeys
    isFull = true
    let row: [UInt8]
    do {
      guard let stored = try reader.value(.bundles, bundle) else {
        fail(
          .missingEntry, first,
          "The entries \(first) to \(first + 255) are missing: there is no bundle \(bundle).")
        return
      }
      row = stored
    } catch let error as StorageError where error.code == .corrupt {
      fail(
        .missingEntry, first,
        "The entries \(first) to \(first + 255) cannot be read. At \(error.place): \(error.message)")
      return
    }
    guard row.count >= BundleRow.headerByteCount,
      let layout = BundleRow.Layout(Array(row[BundleRow.lengthsRange])),
      layout.byteCount == row.count
    else {
      fail(.missingEntry, first, "The bundle \(bundle) of the entries \(first) to \(first + 255) is damaged.")
      return
    }
    var parts = ErasableParts(reader)
    for position in 0..<BundleRow.entryCount {
      let index = first + UInt64(position)
      try add(
        row.span.extracting(layout.entries[position]), sealed: Array(row[layout.erasables[position]]),
        isOutOfLine: layout.outOfLine[position], at: index, reader, &parts)
      let stored = row[position * TreeHash.byteCount..<(position + 1) * TreeHash.byteCount]
      if entries.hashes[position] != TreeHash(stored) {
        entries.faults.append(
          TrailFault(
            .alteredEntry, entry: index, "The entry does not have the hash that the tree has at its place."))
      }
    }
    let roots = TreeHash.hashes(in: Array(row[BundleRow.tileByteCount..<BundleRow.groupedTileByteCount]))
    let groupRoots = GroupedTile.groupRoots(of: entries.hashes)
    for group in groupRoots.indices where groupRoots[group] != roots[group] {
      fail(
        .alteredTile, first + UInt64(group * GroupedTile.groupWidth),
        "The root over this entry and the \(GroupedTile.groupWidth - 1) after it is not that of their hashes."
      )
    }
    root = TreeHash.root(ofComplete: groupRoots[...])
  }

  /// Checks the entries that are not in a bundle yet.
  init(tail range: Range<UInt64>, _ reader: any StorageReader, _ sums: IndexHashes, hasKeys: Bool) throws {
    entries = CheckedEntries(first: range.lowerBound)
    self.sums = sums
    self.hasKeys = hasKeys
    isFull = false
    var parts = ErasableParts(reader)
    for index in range {
      guard let row = try reader.value(.tail, Int64(index)) else {
        fail(.missingEntry, index, "The entry is missing.")
        return
      }
      guard let stored = TailRow.decode(row) else {
        fail(.missingEntry, index, "The row of the entry is damaged.")
        return
      }
      try add(
        stored.entry.span, sealed: stored.erasable, isOutOfLine: stored.isOutOfLine, at: index, reader, &parts
      )
      if entries.hashes.last != TailRow.hash(row) {
        fail(.alteredEntry, index, "The entry does not have the leaf hash that was stored with it.")
      }
    }
  }

  private mutating func fail(_ code: TrailFault.Code, _ index: UInt64, _ message: String) {
    entries.faults.append(TrailFault(code, entry: index, message))
  }

  private mutating func add(
    _ entry: Span<UInt8>, sealed: [UInt8], isOutOfLine: Bool, at index: UInt64, _ reader: any StorageReader,
    _ parts: inout ErasableParts
  ) throws {
    if isOutOfLine { outOfLine.append(index) }
    guard let keys = entries.add(entry) else { return }
    guard let commitment = keys.commitment else {
      if isOutOfLine || !sealed.isEmpty {
        fail(.alteredErasablePart, index, "There is an erasable part, and the entry commits to none.")
      }
      return sums.add(entry, erasable: [], keys, at: index)
    }
    var erasable: [UInt8]?
    do {
      let sealed = isOutOfLine ? try reader.value(.payloads, Int64(index)) ?? [] : sealed
      erasable = hasKeys ? try parts.bytes(of: sealed, at: index, commitment: commitment) : nil
      if hasKeys, erasable == nil { entries.noteErased() }
    } catch let error as AuditError {
      fail(.alteredErasablePart, index, error.message)
    }
    sums.add(entry, erasable: erasable ?? [], keys, at: index)
  }
}

/// The tiles of a tree whose entries were checked.
struct CheckedTiles: TileReader {
  let storage: any TrailStorage
  let upper: TreeFrontier
  let tail: [TreeHash]

  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
    let full = coordinates.level == 0 ? upper.size : upper.size >> UInt64(8 * coordinates.level)
    if coordinates.number < full {
      return try storage.read { try StoredTiles.fullTile(coordinates, $0) }
    }
    return coordinates.level == 0 ? tail : upper.partialTile(level: coordinates.level - 1)
  }
}
