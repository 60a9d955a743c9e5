// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCrypto
internal import TransparencyLog

/// Reads the entries of a trail, each hashed and verified against the tree: it returns what was recorded, or throws.
struct StoredEntries {
  let rows: StoredRows
  let tiles: StoredTiles

  init(_ tiles: StoredTiles) {
    rows = StoredRows(reader: tiles.reader)
    self.tiles = tiles
  }

  func entry(at index: UInt64) throws -> [UInt8] { try verified(index).entry }

  /// Returns the entry at `index`, and the lengths in its bundle; the lengths are `nil` if it is not in a bundle yet.
  func entryWithLengths(at index: UInt64) throws -> (entry: [UInt8], lengths: [UInt8]?) {
    let (entry, header) = try verified(index)
    return (entry, header.map { Array($0.suffix(BundleRow.lengthsByteCount)) })
  }

  /// Returns the entry at `index`, and the end of the header of its bundle.
  private func verified(_ index: UInt64) throws -> (entry: [UInt8], header: [UInt8]?) {
    try requireEntry(index)
    let (bundle, position) = StoredRows.place(of: index)
    guard UInt64(bundle) < tiles.edge.size >> 8 else {
      guard let entry = try rows.entry(at: index) else { throw StoredRows.missing(index) }
      try requireHash(.leaf(entry), ofTail: position, at: index)
      return (entry, nil)
    }
    // One read covers everything from the hashes of the entry's group to the lengths of the entries.
    let group = position / GroupedTile.groupWidth
    let start = group * GroupedTile.groupWidth * TreeHash.byteCount
    let header = try rows.part(start..<BundleRow.headerByteCount, of: bundle)
    let groupRoots = TreeHash.hashes(
      in: header.span.extracting(BundleRow.tileByteCount - start..<BundleRow.groupedTileByteCount - start))
    try tiles.check(groupRoots: groupRoots, ofBundle: UInt64(bundle))
    let lengths = header.span.extracting(BundleRow.groupedTileByteCount - start..<header.count)
    let entry = try rows.part(BundleRow.entryRange(lengths, position), of: bundle)
    var hashes = TreeHash.hashes(in: header.span.extracting(0..<GroupedTile.groupWidth * TreeHash.byteCount))
    hashes[position % GroupedTile.groupWidth] = .leaf(entry)
    guard TreeHash.root(ofComplete: hashes[...]) == groupRoots[group] else { throw Self.altered(index) }
    return (entry, header)
  }

  /// Calls `body` with the entries in `range`, in order; each bundle is read once.
  func forEach(in range: Range<UInt64>, _ body: (UInt64, StoredEntry) throws -> Void) throws {
    var verified: UInt64?
    if let last = range.last { try requireEntry(last) }
    try rows.forEach(in: range) { index, entry, bundle in
      if index >> 8 >= tiles.edge.size >> 8 {
        try requireHash(.leaf(entry.entry), ofTail: Int(index & 255), at: index)
      } else if verified != index >> 8 {
        let tile = TileCoordinates(0, index >> 8, TileCoordinates.fullWidth)
        let root = TreeHash.root(ofComplete: bundle.map { TreeHash.leaf($0.entry) }[...])
        guard try root == tiles.root(ofTile: tile) else { throw Self.altered(index) }
        verified = index >> 8
      }
      try body(index, entry)
    }
  }

  private func requireEntry(_ index: UInt64) throws(AuditError) {
    guard index < tiles.edge.size else {
      throw AuditError(
        .noSuchEntry, at: "entry \(index)", "The trail has \(tiles.edge.size) entries; the first is entry 0.")
    }
  }

  private func requireHash(_ hash: TreeHash, ofTail position: Int, at index: UInt64) throws(AuditError) {
    let hashes = tiles.edge.partialTile(level: 0)
    guard hashes.indices.contains(position), hashes[position] == hash else { throw Self.altered(index) }
  }

  private static func altered(_ index: UInt64) -> AuditError {
    AuditError(
      .tampered, at: "entry \(index)",
      "The entry is not the one that was recorded, or another of its bundle is not. Check the whole trail to find "
        + "which, and restore it from a backup.")
  }
}

/// Reads the rows of a trail's entries, unverified, for callers that compare them with the tree themselves.
struct StoredRows {
  let reader: any StorageReader

  /// Returns the entry at `index`, without its erasable part; `nil` if it does not exist.
  func entry(at index: UInt64) throws -> [UInt8]? {
    let (bundle, position) = Self.place(of: index)
    if let lengths = try lengths(of: bundle) {
      return try part(BundleRow.entryRange(lengths.span, position), of: bundle)
    }
    return try tail(index)?.entry
  }

  /// Returns the sealed erasable part of the entry at `index`; empty if it has no part.
  func erasable(at index: UInt64, lengths known: [UInt8]? = nil) throws -> [UInt8] {
    let (bundle, position) = Self.place(of: index)
    guard let lengths = try known ?? lengths(of: bundle) else {
      return try tail(index).map { try erasable(of: $0, at: index) } ?? []
    }
    guard let layout = BundleRow.Layout(lengths) else { throw Self.damaged(bundle) }
    return try layout.outOfLine[position]
      ? outOfLinePayload(index) : part(layout.erasables[position], of: bundle)
  }

  private func outOfLinePayload(_ index: UInt64) throws -> [UInt8] {
    guard let row = try reader.value(.payloads, Int64(index)) else {
      throw AuditError(
        .tampered, at: "entry \(index)", "Its erasable part is not there; restore it from a backup.")
    }
    return row
  }

  /// Returns the sealed erasable part of an entry that was read; empty if it has no part.
  func erasable(of stored: StoredEntry, at index: UInt64) throws -> [UInt8] {
    stored.isOutOfLine ? try outOfLinePayload(index) : stored.erasable
  }

  /// Calls `body` with the entries in `range`, in order, and with all entries of the bundle, which is read once.
  func forEach(
    in range: Range<UInt64>, _ body: (UInt64, StoredEntry, _ bundle: [StoredEntry]) throws -> Void
  ) throws {
    var index = range.lowerBound
    var tail: Int64?
    while index < range.upperBound {
      let (bundle, position) = Self.place(of: index)
      if bundle != tail, let row = try reader.value(.bundles, bundle) {
        let stored = try Self.entries(of: row, bundle: bundle)
        let end = min(range.upperBound, (index | 255) + 1)
        for (offset, current) in (index..<end).enumerated() {
          try body(current, stored[position + offset], stored)
        }
        index = end
      } else {
        tail = bundle
        guard let stored = try self.tail(index) else { throw Self.missing(index) }
        try body(index, stored, [])
        index += 1
      }
    }
  }

  static func entries(of row: [UInt8], bundle: Int64) throws -> [StoredEntry] {
    guard let layout = BundleRow.Layout(row: row) else { throw damaged(bundle) }
    return (0..<BundleRow.entryCount).map {
      StoredEntry(
        entry: Array(row[layout.entries[$0]]), erasable: Array(row[layout.erasables[$0]]),
        isOutOfLine: layout.outOfLine[$0])
    }
  }

  /// Calls the closure with all stored entries, in order, regardless of the head; `false` if some rows could not be
  /// read.
  func forEachReadable(_ body: (UInt64, StoredEntry) throws -> Void) throws -> Bool {
    var isWhole = true
    try reader.forEach(.bundles, in: 0...Int64(UInt32.max)) { bundle, row in
      guard let stored = try? Self.entries(of: row, bundle: bundle) else {
        isWhole = false
        return true
      }
      for (position, entry) in stored.enumerated() { try body(UInt64(bundle) << 8 | UInt64(position), entry) }
      return true
    }
    try reader.forEach(.tail, in: 0...Int64(TrailLimits.entries)) { index, row in
      guard let stored = TailRow.decode(row) else {
        isWhole = false
        return true
      }
      try body(UInt64(index), stored)
      return true
    }
    return isWhole
  }

  private func lengths(of bundle: Int64) throws -> [UInt8]? {
    let lengths = try reader.value(.bundles, bundle, bytes: BundleRow.lengthsRange)
    guard lengths?.count ?? BundleRow.lengthsByteCount == BundleRow.lengthsByteCount else {
      throw Self.damaged(bundle)
    }
    return lengths
  }

  func part(_ range: Range<Int>, of bundle: Int64) throws -> [UInt8] {
    let bytes = try reader.value(.bundles, bundle, bytes: range)
    guard let bytes, bytes.count == range.count else { throw Self.damaged(bundle) }
    return bytes
  }

  /// Returns the row of an entry that is not in a bundle yet.
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
