// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCodec
internal import ReceiptVerification
package import TransparencyLog

/// Rebuilds the index of a trail from its entries, each verified against the signed tree.
///
/// It also works if the index is so damaged that the trail does not open.
///
/// The new index is built beside the one in use, and replaces it in one short transaction. Only then are the rows of
/// the old index removed. Others can read and write meanwhile. A reindexing that is interrupted changes nothing. Start
/// it again, which also removes the rows that the first attempt left. Erasing removes them too, since they may name
/// customers.
package struct TrailReindexing: Sendable {
  private let storage: any TrailStorage
  private let published: PublishedCheckpoints
  private let context: TrailContext
  private let sliceCount: UInt64

  /// Creates a reindexing of a trail, whose private key signs the root of the new index. The records of `sliceCount`
  /// entries, in whole bundles, are in memory at a time.
  package init(
    _ storage: any TrailStorage, checkpoints: any CheckpointStore, signer: NoteSignerKey,
    sliceCount: UInt64? = nil
  ) throws {
    self.storage = storage
    self.sliceCount = sliceCount ?? TrailLimits.flushInterval
    context = TrailContext(
      keys: try storage.read { try TrailKeys(reading: $0, trusting: signer.verifierKey, signer: signer) })
    published = PublishedCheckpoints(store: checkpoints, keys: context.keys)
  }

  /// Builds the index. It blocks. Returns the number of entries whose records are in the new index, which later entries
  /// extend. That number and the number of all entries are reported periodically.
  ///
  /// Throws ``AuditError/Code/tampered`` if an entry is not what was recorded, or keys of erasable parts and erasures
  /// contradict each other; ``AuditError/Code/rolledBack`` or ``AuditError/Code/forked`` if the trail does not match
  /// its last checkpoint; ``AuditError/Code/keysMissing`` if the trail holds no keys of erasable parts, which the
  /// customers are read with; ``AuditError/Code/storageUnavailable`` if another reindexing interfered, or entries were
  /// erased again and again; the errors of the storage.
  @discardableResult
  package func run(
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
    let index = StoredIndex(storage: storage, keys: context.keys)
    while try index.write({ rows, root in try IndexRebuild.removeUnusedRows(of: root, in: rows) }) {}
    // The rows of earlier attempts contain customers that were erased meanwhile.
    if attempts > 1 { try storage.scrub() }
    guard let indexed else {
      throw AuditError(
        .storageUnavailable, at: "index",
        "Entries were erased while the index was made; start it again later.")
    }
    var merger = IndexMerger(storage: index) { SystemClock.now().wholeSeconds }
    while try merger.step() {}
    return indexed
  }

  /// The findings about the entries that were read so far.
  private struct Scan {
    /// The next entry to read.
    var next: UInt64 = 0
    /// Maps each erased entry to the entry that records the erasure.
    var erasures: [UInt64: UInt64] = [:]
    var erased: Set<UInt64> { Set(erasures.keys) }
    /// The entries whose keys are forgotten.
    var forgotten: Set<UInt64> = []

    mutating func noteErasure(in entry: [UInt8], at position: UInt64) throws {
      let keys = try TrailState.keys(of: entry, at: position)
      if let erased = keys.erasure(in: entry.span) { erasures[erased] = position }
    }
  }

  /// Builds the index once. Returns `nil` if an entry was erased after its customer was entered into the index.
  private func attempt(_ progress: (UInt64, UInt64) -> Void) throws -> UInt64? {
    // The checkpoint is read before the trail: entries may be appended meanwhile, and then there are at least as many.
    let last = try published.require { try storage.read(context.keys.head) }
    var (state, rebuild) = try storage.read { reader in
      guard try ErasureKeys.arePresent(in: reader) else { throw ErasureKeys.missing }
      let state = try TrailState(reading: reader, context, readsIndex: false)
      try PublishedCheckpoints.compare(last, with: state, reader)
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
        // Checked before the head is signed anew: an old copy may have been put back meanwhile.
        let last = try published.require { try context.keys.head(in: writer) }
        try PublishedCheckpoints.compare(last, with: now, writer)
        // Another process flushed meanwhile. This index must cover everything that the other one covers.
        guard now.head.indexedSize <= rebuild.indexedSize else { return (now, nil as Bool?) }
        return (now, try replace(now, rebuild, scan, in: writer))
      }
      if let isIn { return isIn ? rebuild.indexedSize : nil }
      state = now
    }
  }

  /// Reads entries while others write, and writes their index records.
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

  /// Replaces the old index by the new one. Returns `false` if the new one has a customer that was erased since, or
  /// lost rows to an erasure.
  private func replace(
    _ state: TrailState, _ rebuild: IndexRebuild, _ seen: Scan, in writer: any StorageWriter
  ) throws -> Bool {
    var scan = seen
    try state.entries(in: writer).forEach(in: scan.next..<state.head.size) { position, entry in
      try scan.noteErasure(in: entry.entry, at: position)
    }
    let erased = scan.erased
    if let unconfirmed = scan.forgotten.subtracting(erased).min() {
      throw EntryLookup.unconfirmed(unconfirmed)
    }
    let unseen = erased.subtracting(scan.forgotten).sorted()
    var parts = ErasableParts(writer)
    for entry in unseen where try parts.hasKey(of: entry) {
      throw EntryLookup.keyIsBack(of: entry, erasure: scan.erasures[entry] ?? entry)
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
