// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCodec
internal import ReceiptVerification
public import TransparencyLog

/// Rebuilds the index of a trail from its entries, each verified against the signed tree: also where the index is damaged
/// so that the trail does not open.
///
/// The new index is made beside the one in use, and takes its place in one short transaction; only then are the rows of
/// the old one removed. Meanwhile others read and write as before. What is cut off changes nothing; start it again, which
/// also removes what the first try left. Erasing does too, since that may name customers.
public struct TrailReindexing: Sendable {
  private let storage: any TrailStorage
  private let checkpoints: any CheckpointStore
  private let context: TrailContext
  private let sliceCount: UInt64

  /// Names the trail.
  ///
  /// - Parameters:
  ///   - storage: Where it is kept.
  ///   - checkpoints: The place of its last checkpoint.
  ///   - signer: Its private key, which signs the root of the new index.
  /// - Throws: ``AuditError/Code/notATrail``, ``AuditError/Code/wrongKey``, ``StorageError``.
  public init(
    _ storage: any TrailStorage, checkpoints: any CheckpointStore, signer: NoteSignerKey
  ) throws {
    try self.init(storage, checkpoints: checkpoints, signer: signer, sliceCount: TrailLimits.flushInterval)
  }

  /// The same with another number of entries, whole bundles, whose records are in memory at a time.
  package init(
    _ storage: any TrailStorage, checkpoints: any CheckpointStore, signer: NoteSignerKey, sliceCount: UInt64
  ) throws {
    self.storage = storage
    self.checkpoints = checkpoints
    self.sliceCount = sliceCount
    context = TrailContext(
      keys: try storage.read { try TrailKeys(reading: $0, trusting: signer.verifierKey, signer: signer) },
      nodes: TileNodeCache(), writer: 0)
  }

  /// Makes the index. Blocks.
  ///
  /// - Parameter progress: Called now and then with the entries that are in the new index and those there are.
  /// - Returns: The entries whose records are in the new index; it goes on from there by itself.
  /// - Throws: ``AuditError/Code/tampered`` where an entry is not what was recorded, or keys of erasable parts and
  ///   erasures contradict each other; ``AuditError/Code/rolledBack`` or ``AuditError/Code/forked`` where the trail is
  ///   not the one that its last checkpoint is of; ``AuditError/Code/keysMissing`` where
  ///   the trail holds no keys of erasable parts, which say who the customers are;
  ///   ``AuditError/Code/storageUnavailable`` where another reindexing got in the way, or entries were erased all the
  ///   time; those of the storage.
  @discardableResult
  public func run(
    progress: (_ indexed: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws(AuditError) -> UInt64 {
    do { return try makeIndex(progress) } catch { throw AuditError(error) }
  }

  private func makeIndex(_ progress: (UInt64, UInt64) -> Void) throws -> UInt64 {
    var indexed: UInt64?
    var attempts = 0
    while indexed == nil, attempts < 3 {
      attempts += 1
      indexed = try attempt(progress)
    }
    while try removeUnusedRows() {}
    // Customers that were erased meanwhile are in the rows of the tries before.
    if attempts > 1 { try storage.scrub() }
    guard let indexed else {
      throw AuditError(
        .storageUnavailable, at: "index",
        "Entries were erased while the index was made; start it again later.")
    }
    var merger = IndexMerger(storage: context.keys.index(in: storage)) {
      UInt64(max(0, SystemClock.now().millisecondsSince1970 / 1000))
    }
    while try merger.step() {}
    return indexed
  }

  private func removeUnusedRows() throws -> Bool {
    try storage.writeUnsynchronized { writer in
      try IndexRebuild.removeUnusedRows(
        of: context.keys.head(in: writer).indexRoot, in: WritableIndexRows(base: writer))
    }
  }

  /// The entries seen so far.
  private struct Scan {
    /// The next entry to look at.
    var next: UInt64 = 0
    /// The erasures, by the entries that they name.
    var erasures: [UInt64: UInt64] = [:]
    /// The entries that they name.
    var erased: Set<UInt64> { Set(erasures.keys) }
    /// The entries whose keys are forgotten.
    var forgotten: Set<UInt64> = []

    mutating func noteErasure(in entry: [UInt8], at position: UInt64) throws {
      let keys = try TrailState.keys(of: entry, at: position)
      if let erased = keys.erasure(in: entry.span) { erasures[erased] = position }
    }
  }

  /// Makes the index once; `nil` if an entry was erased after its customer was entered into the index.
  private func attempt(_ progress: (UInt64, UInt64) -> Void) throws -> UInt64? {
    // Before the trail, which may go on meanwhile: then it has at least as many entries.
    let published = try publishedCheckpoint { _ = try storage.read { try context.keys.head(in: $0) } }
    var (state, rebuild) = try storage.read { reader in
      guard try ErasureKeys.arePresent(in: reader) else { throw ErasureKeys.missing }
      let state = try TrailState(reading: reader, context, readsIndex: false)
      try TrailWriter.compare(published, with: state, reader)
      return (state, try IndexRebuild(beside: state.head.indexRoot, in: IndexRows(base: reader)))
    }
    var scan = Scan()
    while true {
      let end = state.head.size & ~255
      while rebuild.indexedSize < end {
        try addSlice(upTo: min(rebuild.indexedSize + sliceCount, end), state, &rebuild, &scan)
        progress(rebuild.indexedSize, state.head.size)
      }
      let (now, isIn) = try storage.write { writer in
        let now = try TrailState(reading: writer, context, readsIndex: false)
        // Before its head is signed anew: an old copy may have been put back meanwhile.
        let published = try publishedCheckpoint { _ = try context.keys.head(in: writer) }
        try TrailWriter.compare(published, with: now, writer)
        // Others flushed meanwhile: what their index covers, this one must.
        guard now.head.indexedSize <= rebuild.indexedSize else { return (now, nil as Bool?) }
        return (now, try replace(now, rebuild, scan, in: writer))
      }
      if let isIn { return isIn ? rebuild.indexedSize : nil }
      state = now
    }
  }

  private func publishedCheckpoint(refresh: () throws -> Void) throws -> VerifiedCheckpoint {
    guard let published = try TrailWriter.published(in: checkpoints, context.keys, refresh: refresh) else {
      throw TrailWriter.noCheckpoint
    }
    return published
  }

  /// Reads entries beside the writers, and writes their records.
  private func addSlice(
    upTo end: UInt64, _ state: TrailState, _ rebuild: inout IndexRebuild, _ scan: inout Scan
  ) throws {
    let range = rebuild.indexedSize..<end
    let records = try storage.read { reader in
      var parts = IndexedParts(reader, hasKeys: true)
      var records: [(UInt64, EntryFingerprints)] = []
      records.reserveCapacity(range.count)
      try state.entries(in: reader).forEach(in: range) { position, entry in
        try scan.noteErasure(in: entry.entry, at: position)
        records.append((position, try parts.fingerprints(of: entry, at: position, context.keys.fingerprints)))
      }
      scan.forgotten.formUnion(parts.forgotten)
      return records
    }
    scan.next = end
    try storage.writeUnsynchronized { writer in
      try rebuild.addEntries(upTo: end, in: WritableIndexRows(base: writer)) { memory in
        for (position, fingerprints) in records { fingerprints.insert(into: &memory, at: position) }
      }
    }
    FreedMemory.release()
  }

  /// Puts the new index in the place of the old one; `false` where it has a customer that was erased since, or lost rows
  /// to an erasure.
  private func replace(
    _ state: TrailState, _ rebuild: IndexRebuild, _ seen: Scan, in writer: any StorageWriter
  ) throws -> Bool {
    var scan = seen
    try state.entries(in: writer).forEach(in: scan.next..<state.head.size) { position, entry in
      try scan.noteErasure(in: entry.entry, at: position)
    }
    let erased = scan.erased
    if let unconfirmed = scan.forgotten.subtracting(erased).min() {
      throw ErasureLookup.unconfirmed(unconfirmed)
    }
    let unseen = erased.subtracting(scan.forgotten).sorted()
    var parts = ErasableParts(writer)
    for entry in unseen where try parts.hasKey(of: entry) {
      throw ErasureLookup.keyIsBack(of: entry, erasure: scan.erasures[entry] ?? entry)
    }
    guard unseen.allSatisfy({ $0 >= rebuild.indexedSize }),
      try rebuild.isWhole(in: WritableIndexRows(base: writer))
    else { return false }
    guard let root = try rebuild.replace(state.head.indexRoot, in: WritableIndexRows(base: writer)) else {
      throw AuditError(
        .storageUnavailable, at: "index",
        "The index was made anew by somebody else meanwhile; nothing was changed.")
    }
    var head = state.head
    head.indexedSize = rebuild.indexedSize
    head.indexRoot = root
    try context.keys.write(head, in: writer)
    return true
  }
}
