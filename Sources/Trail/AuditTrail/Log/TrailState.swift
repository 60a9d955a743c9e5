// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

/// The state of a trail that a writer holds in memory, which follows the stored state.
struct TrailState {
  var signed: SignedHead
  var head: TrailHead
  var frontier: TreeFrontier
  var tail: BundleEntries
  var index: IndexEngine
  /// The path to the keys of the erasable parts of future entries; `nil` if the trail holds no keys, and is only read.
  private let erasureKeys: ErasureKeyPath?
  let context: TrailContext

  /// Reads the stored state.
  ///
  /// Without the index, nothing is found, and nothing may be written. An unfinished copy may lack the entries that
  /// record that parts were erased.
  init(
    reading reader: any StorageReader, _ context: TrailContext, readsIndex: Bool = true,
    isUnfinished: Bool = false
  ) throws {
    self.context = context
    signed = try context.keys.stored(in: reader)
    head = signed.head
    tail = BundleEntries()
    index = try IndexEngine(root: readsIndex ? head.indexRoot : .zero, in: IndexRows(base: reader))
    var keys = ErasureKeys(reader)
    erasureKeys = try ErasureKeys.arePresent(in: reader) ? keys.pathForAppending(after: head.size) : nil
    guard !readsIndex || index.indexedSize == head.indexedSize else {
      throw AuditError(
        .tampered, at: "runs",
        "The index reaches to entry \(index.indexedSize), the head says \(head.indexedSize).")
    }
    let full = head.size & ~255
    frontier = try TreeFrontier(size: full, reader: UnverifiedTiles(reader: reader))
    let rows = StoredRows(reader: reader)
    try reader.prefetch(.tail) { (full..<head.size).map(Int64.init) }
    for position in full..<head.size {
      guard let entry = try rows.tail(position) else { throw StoredRows.missing(position) }
      frontier.append(tail.append(entry))
    }
    try compareRoot()
    guard readsIndex else { return }
    // The index records since the last flush exist only in memory.
    var parts = IndexedParts(reader, hasKeys: erasureKeys != nil)
    try entries(in: reader).forEach(in: head.indexedSize..<head.size) { position, entry in
      let fingerprints = try parts.fingerprints(of: entry, at: position, context.keys.fingerprints)
      index.withMemory { fingerprints.insert(into: &$0, at: position) }
    }
    guard !isUnfinished else { return }
    try requireErasures(parts, in: reader)
  }

  /// Catches up with everything that other processes wrote since.
  mutating func catchUp(_ reader: any StorageReader) throws {
    let stored = try context.keys.stored(in: reader, known: signed)
    guard stored != signed else { return }
    guard stored.head.size > head.size || stored.head.isSameTree(as: head) else {
      throw Self.rolledBack(from: head.size, to: stored.head.size)
    }
    try index.reloadIfChanged(to: stored.head.indexRoot, in: IndexRows(base: reader))
    var parts = IndexedParts(reader, hasKeys: erasureKeys != nil)
    var followed: [(position: UInt64, EntryFingerprints)] = []
    var erasedByOthers: [UInt64] = []
    try StoredRows(reader: reader).forEach(in: head.size..<stored.head.size) { position, entry, _ in
      frontier.append(tail.append(entry))
      if tail.count == BundleRow.entryCount { tail = BundleEntries() }
      if let erased = try Self.keys(of: entry.entry, at: position).erased { erasedByOthers.append(erased) }
      guard position >= stored.head.indexedSize else { return }
      let fingerprints = try parts.fingerprints(of: entry, at: position, context.keys.fingerprints)
      followed.append((position, fingerprints))
    }
    head = stored.head
    signed = stored
    try compareRoot()
    index.withMemory { memory in
      memory.remove(.customer, of: erasedByOthers)
      for (position, fingerprints) in followed { fingerprints.insert(into: &memory, at: position) }
    }
    try requireErasures(parts, in: reader)
  }

  /// Checks that entries record the erasure of all parts whose keys are gone, or that are not what was committed to.
  private func requireErasures(_ parts: borrowing IndexedParts, in reader: any StorageReader) throws {
    guard !parts.forgotten.isEmpty || !parts.damaged.isEmpty else { return }
    let lookup = lookup(in: reader)
    for position in parts.forgotten { try lookup.requireErasure(of: position) }
    // The key of such a part came back, and it can be erased again.
    for (position, fault) in parts.damaged where try lookup.erasure(of: position) == nil { throw fault }
  }

  static func rolledBack(from size: UInt64, to found: UInt64) -> AuditError {
    AuditError(
      .rolledBack, at: "entry \(found)",
      "The trail had \(size) entries a moment ago and has others now; somebody put back another copy.")
  }

  private func compareRoot() throws {
    guard frontier.size == head.size, frontier.root == head.root else {
      throw AuditError(
        .tampered, at: "entries below \(head.size)",
        "The entries do not have the root that was signed with them; run the check of the whole trail to find which."
      )
    }
  }

  var hasKeys: Bool { erasureKeys != nil }

  func keysForWriting() throws(AuditError) -> ErasureKeyPath {
    guard let erasureKeys else { throw ErasureKeys.missing }
    return erasureKeys
  }

  mutating func writeHead(in writer: any StorageWriter) throws {
    signed = try context.keys.write(head, in: writer)
  }

  static func keys(of entry: [UInt8], at index: UInt64) throws -> EntryIndexKeys {
    do { return try EntryIndexKeys(entry) } catch {
      throw AuditError(.tampered, at: "entry \(index)", "The entry cannot be read: \(error)")
    }
  }

  func tiles(in reader: any StorageReader) -> StoredTiles {
    StoredTiles(reader: reader, edge: frontier, cache: context.nodes)
  }

  func entries(in reader: any StorageReader) -> StoredEntries { StoredEntries(tiles(in: reader)) }

  func lookup(in reader: any StorageReader) -> EntryLookup {
    EntryLookup(
      index: index.snapshot(size: head.size), key: context.keys.fingerprints, entries: entries(in: reader))
  }
}

/// Reads the values by which entries are found, including their erasable parts, and notes the entries whose key is
/// forgotten.
struct IndexedParts: ~Copyable {
  private var parts: ErasableParts
  /// Without keys, entries are not found by their customers; ``TrailView`` then refuses such lookups.
  private let hasKeys: Bool
  private(set) var forgotten: [UInt64] = []
  /// The entries whose erasable parts are not the ones that they commit to.
  private(set) var damaged: [(position: UInt64, fault: AuditError)] = []

  init(_ reader: any StorageReader, hasKeys: Bool) {
    parts = ErasableParts(reader)
    self.hasKeys = hasKeys
  }

  mutating func fingerprints(
    of stored: StoredEntry, at position: UInt64, _ key: IndexKey
  ) throws -> EntryFingerprints {
    let keys = try TrailState.keys(of: stored.entry, at: position)
    var erasable: [UInt8] = []
    if hasKeys, let commitment = keys.commitment {
      do {
        if let bytes = try parts.bytes(at: position, stored, commitment: commitment) {
          erasable = bytes
        } else {
          forgotten.append(position)
        }
      } catch let fault as AuditError where fault.code == .tampered {
        damaged.append((position, fault))
      }
    }
    do {
      return try EntryFingerprints(stored.entry.span, erasable: erasable.span, keys, key)
    } catch {
      throw AuditError(.tampered, at: "entry \(position)", "The entry cannot be read: \(error)")
    }
  }
}
