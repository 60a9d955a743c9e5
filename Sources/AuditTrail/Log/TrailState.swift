// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

/// What writing holds in memory of a trail. It follows what is stored, and is read anew after a failed write.
struct TrailState {
  var head: TrailHead
  /// The right edge of the tree.
  var frontier: TreeFrontier
  /// The entries after the last full bundle.
  var tail: BundleEntries
  var index: IndexEngine
  let key: IndexKey

  /// Reads what is stored.
  ///
  /// - Throws: ``AuditError/Code/tampered`` where the entries are not those of the stored root.
  init(reading reader: any StorageReader, key: IndexKey) throws {
    self.key = key
    head = TrailHead.empty
    frontier = TreeFrontier()
    tail = BundleEntries()
    let stored = try TrailHead.read(reader)
    index = try IndexEngine(root: stored.indexRoot, in: IndexRows(base: reader))
    guard index.indexedSize == stored.indexedSize else {
      throw AuditError(
        .tampered, at: "runs",
        "The index reaches to entry \(index.indexedSize), the head says \(stored.indexedSize).")
    }
    let full = stored.size & ~255
    frontier = try TreeFrontier(size: full, reader: FullTiles(reader: reader))
    let entries = StoredEntries(reader: reader)
    // The index records since the last flush live in memory alone.
    try entries.forEach(in: stored.indexedSize..<max(full, stored.indexedSize)) {
      try insertKeys(of: $1, at: $0, reader)
    }
    for index in full..<stored.size {
      guard let entry = try entries.tail(index) else { throw StoredEntries.missing(index) }
      try follow(entry, at: index, isIndexed: index < stored.indexedSize, reader)
    }
    head = stored
    try compareRoot()
  }

  /// Follows what other processes appended since.
  ///
  /// - Throws: ``AuditError/Code/rolledBack`` where there is less than before.
  mutating func catchUp(_ reader: any StorageReader) throws {
    let stored = try TrailHead.read(reader)
    guard stored.size >= head.size, stored.size > head.size || stored.root == head.root else {
      throw AuditError(
        .rolledBack, at: "entry \(stored.size)",
        "The trail had \(head.size) entries a moment ago and has others now; somebody put back another copy.")
    }
    try index.reloadIfChanged(to: stored.indexRoot, in: IndexRows(base: reader))
    guard stored != head else { return }
    try StoredEntries(reader: reader).forEach(in: head.size..<stored.size) { index, entry in
      try follow(entry, at: index, isIndexed: index < stored.indexedSize, reader)
    }
    head = stored
    try compareRoot()
  }

  private func compareRoot() throws {
    guard frontier.size == head.size, frontier.root == head.root else {
      throw AuditError(
        .tampered, at: "entries below \(head.size)",
        "The entries do not have the root that was stored with them; run the check of the whole trail to find which."
      )
    }
  }

  /// Takes in an entry that is stored already.
  private mutating func follow(
    _ stored: StoredEntry, at index: UInt64, isIndexed: Bool, _ reader: any StorageReader
  ) throws {
    frontier.append(tail.append(stored))
    if !isIndexed { try insertKeys(of: stored, at: index, reader) }
    if tail.count == BundleRow.entryCount { tail = BundleEntries() }
  }

  private mutating func insertKeys(of stored: StoredEntry, at position: UInt64, _ reader: any StorageReader)
    throws
  {
    var stored = stored
    if stored.hasOwnRow {
      stored.erasable = try StoredEntries(reader: reader).beginningOfErasable(at: position)
    }
    let fingerprints = try Self.fingerprints(of: stored, at: position, key)
    index.withMemory { fingerprints.insert(into: &$0, at: position) }
  }

  /// The fingerprints of a stored entry.
  static func fingerprints(of stored: StoredEntry, at position: UInt64, _ key: IndexKey) throws
    -> EntryFingerprints
  {
    do {
      return try EntryFingerprints(
        stored.entry.span, erasable: stored.erasable.span, EntryIndexKeys(stored.entry), key)
    } catch {
      throw AuditError(.tampered, at: "entry \(position)", "The entry cannot be read: \(error)")
    }
  }
}

/// The full tiles that are stored, for reading the right edge of a tree whose size is a multiple of 256.
private struct FullTiles: TileReader {
  let reader: any StorageReader

  func tile(_ coordinates: TileCoordinates) throws -> [TreeHash] {
    if coordinates.width == 256 || coordinates.level == 0 {
      return try StoredTiles.fullTile(coordinates, reader)
    }
    // A partial tile is not stored: its hashes are the roots of the full tiles below it.
    return try (0..<UInt64(coordinates.width)).map {
      let below = TileCoordinates(coordinates.level - 1, coordinates.number << 8 + $0, 256)
      return TreeHash.root(ofComplete: try tile(below)[...])
    }
  }
}
