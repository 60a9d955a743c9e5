// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

/// Reads what a trail stores of its entries.
struct StoredEntries {
  let reader: any StorageReader

  /// The entry at `index`, without its erasable part; `nil` where there is none.
  func entry(at index: UInt64) throws -> [UInt8]? {
    let (bundle, position) = Self.place(of: index)
    if let lengths = try lengths(of: bundle) {
      return try part(BundleRow.entryRange(lengths, position), of: bundle)
    }
    return try tail(index)?.entry
  }

  /// The erasable part of the entry at `index`, erased or not; empty where it has none.
  func erasable(at index: UInt64) throws -> [UInt8] {
    let (bundle, position) = Self.place(of: index)
    let hasOwnRow: Bool
    if let layout = try layout(of: bundle) {
      hasOwnRow = layout.ownRows[position]
      if !hasOwnRow { return try part(layout.erasables[position], of: bundle) }
    } else {
      guard let stored = try tail(index) else { return [] }
      hasOwnRow = stored.hasOwnRow
      if !hasOwnRow { return stored.erasable }
    }
    guard let row = try reader.value(.payloads, Int64(index)) else {
      throw AuditError(
        .tampered, at: "entry \(index)", "Its erasable part is not there; restore it from a backup.")
    }
    return row
  }

  /// As much of an erasable part in a row of its own as its customer token may take.
  func beginningOfErasable(at index: UInt64) throws -> [UInt8] {
    let bytes = try reader.value(.payloads, Int64(index), bytes: 0..<ErasablePart.maximumTokenByteCount + 64)
    guard let bytes else {
      throw AuditError(
        .tampered, at: "entry \(index)", "Its erasable part is not there; restore it from a backup.")
    }
    return bytes
  }

  /// Lends the entries `range`, in order, each bundle read once.
  func forEach(
    in range: Range<UInt64>, _ body: (UInt64, StoredEntry) throws -> Void
  ) throws {
    var index = range.lowerBound
    while index < range.upperBound {
      let (bundle, position) = Self.place(of: index)
      if let row = try reader.value(.bundles, bundle) {
        let stored = try Self.entries(of: row, bundle: bundle)
        let end = min(range.upperBound, (index | 255) + 1)
        for (offset, current) in (index..<end).enumerated() { try body(current, stored[position + offset]) }
        index = end
      } else {
        guard let stored = try tail(index) else { throw Self.missing(index) }
        try body(index, stored)
        index += 1
      }
    }
  }

  /// The 256 entries of a bundle's row.
  static func entries(of row: [UInt8], bundle: Int64) throws -> [StoredEntry] {
    guard row.count >= BundleRow.headerByteCount,
      let layout = BundleRow.Layout(Array(row[BundleRow.lengthsRange])),
      layout.byteCount == row.count
    else { throw damaged(bundle) }
    return (0..<BundleRow.entryCount).map {
      StoredEntry(
        entry: Array(row[layout.entries[$0]]), erasable: Array(row[layout.erasables[$0]]),
        hasOwnRow: layout.ownRows[$0])
    }
  }

  /// Where the parts of a bundle lie; `nil` where there is no such bundle.
  func layout(of bundle: Int64) throws -> BundleRow.Layout? {
    guard let lengths = try lengths(of: bundle) else { return nil }
    guard let layout = BundleRow.Layout(lengths) else { throw Self.damaged(bundle) }
    return layout
  }

  private func lengths(of bundle: Int64) throws -> [UInt8]? {
    let lengths = try reader.value(.bundles, bundle, bytes: BundleRow.lengthsRange)
    guard lengths?.count ?? BundleRow.lengthsByteCount == BundleRow.lengthsByteCount else {
      throw Self.damaged(bundle)
    }
    return lengths
  }

  private func part(_ range: Range<Int>, of bundle: Int64) throws -> [UInt8] {
    let bytes = try reader.value(.bundles, bundle, bytes: range)
    guard let bytes, bytes.count == range.count else { throw Self.damaged(bundle) }
    return bytes
  }

  /// The row of an entry that is in no bundle yet.
  func tail(_ index: UInt64) throws -> StoredEntry? {
    guard let row = try reader.value(.tail, Int64(index)) else { return nil }
    guard let stored = TailRow.decode(row) else {
      throw AuditError(
        .tampered, at: "entry \(index)", "Its row in tail is damaged; restore the trail from a backup.")
    }
    return stored
  }

  static func place(of index: UInt64) -> (bundle: Int64, position: Int) {
    (Int64(index >> 8), Int(index & 255))
  }

  static func missing(_ index: UInt64) -> AuditError {
    AuditError(.tampered, at: "entry \(index)", "The entry is not there; restore the trail from a backup.")
  }

  private static func damaged(_ bundle: Int64) -> AuditError {
    let first = UInt64(bitPattern: bundle) << 8
    return AuditError(
      .tampered, at: "entries \(first) to \(first + 255)",
      "Their bundle, number \(bundle), is damaged; restore the trail from a backup.")
  }
}

/// The tiles of a stored tree. What is not a full tile yet comes from the right edge, which is held in memory.
struct StoredTiles: TileReader {
  let reader: any StorageReader
  let edge: TreeFrontier

  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
    // The hashes that the level has in all; a trail of 2^40 entries has six levels.
    let available = coordinates.level < 8 ? edge.size >> UInt64(8 * coordinates.level) : 0
    guard coordinates.number <= available >> 8,
      available - coordinates.number << 8 >= UInt64(coordinates.width)
    else { throw AuditError(.noSuchEntry, at: coordinates.path, "The tree has no such tile.") }
    if coordinates.number == available >> 8 { return edge.partialTile(level: coordinates.level) }
    return try Self.fullTile(coordinates, reader)
  }

  func groupedTile(_ coordinates: TileCoordinates) throws -> GroupedTile {
    guard coordinates.level == 0, coordinates.number < edge.size >> 8 else {
      return GroupedTile(hashes: try tile(coordinates))
    }
    let row = try reader.value(
      .bundles, Int64(coordinates.number), bytes: 0..<BundleRow.groupedTileByteCount)
    guard let row, row.count == BundleRow.groupedTileByteCount else { throw Self.missing(coordinates) }
    let hashes = TreeHash.hashes(in: row)
    return GroupedTile(
      hashes: Array(hashes.prefix(BundleRow.entryCount)),
      groupRoots: Array(hashes.dropFirst(BundleRow.entryCount)))
  }

  /// A tile that is stored.
  static func fullTile(_ coordinates: TileCoordinates, _ reader: any StorageReader) throws -> [TreeHash] {
    let row =
      if coordinates.level == 0 {
        try reader.value(.bundles, Int64(coordinates.number), bytes: 0..<BundleRow.tileByteCount)
      } else {
        try reader.value(.tiles, Self.key(coordinates))
      }
    guard let row, row.count == BundleRow.tileByteCount else { throw missing(coordinates) }
    return TreeHash.hashes(in: row)
  }

  private static func missing(_ coordinates: TileCoordinates) -> AuditError {
    AuditError(.tampered, at: coordinates.path, "The tile is not there; restore the trail from a backup.")
  }

  /// Where a full tile of a level above 0 is stored.
  static func key(_ coordinates: TileCoordinates) -> Int64 {
    Int64(coordinates.level) << 48 | Int64(coordinates.number)
  }
}
