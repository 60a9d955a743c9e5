// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptCodec
internal import ReceiptVerification
package import TransparencyLog

extension TrailMigration {
  /// Moves the trail into an empty storage, or one that an earlier attempt left unfinished. It blocks. Returns the last
  /// checkpoint of both trails.
  ///
  /// The store of the last checkpoint from now on is an empty one, or the source's. The number of copied entries and
  /// that of all entries are reported periodically.
  ///
  /// Throws ``AuditError/Code/alreadyExists`` if the target or the new store contains something else;
  /// ``AuditError/Code/tampered``, ``AuditError/Code/rolledBack`` or ``AuditError/Code/forked`` if the source does not
  /// match its checkpoint, or the copy is not the same; ``AuditError/Code/storageUnavailable`` if another process
  /// published a checkpoint meanwhile; ``AuditError/Code/wrongKey``; ``StorageError``.
  @discardableResult
  package func run(
    to target: any TrailStorage, checkpoints newCheckpoints: any CheckpointStore,
    progress: (_ copied: UInt64, _ of: UInt64) -> Void = { _, _ in }
  ) throws -> VerifiedCheckpoint {
    let keys = try source.read { try TrailKeys(reading: $0, trusting: signer.verifierKey, signer: signer) }
    guard try !isSource(target) else {
      throw AuditError(
        .alreadyExists, "The target is the source itself, or a copy of its file; name an empty storage.")
    }
    // Parts that an earlier attempt erased in the target may still be in the target's own logs.
    var mustScrub = try target.read { try $0.value(.head, 0) } != nil
    while true {
      if let moved = try move(to: target, newCheckpoints, keys, isFinal: !mustScrub, progress) {
        return moved
      }
      // Not within the source's lock: scrubbing waits for older transactions, including those in the same database.
      try target.scrub()
      mustScrub = false
    }
  }

  /// Returns `true` if the target is the source, under whatever name. Each trail has its own random keys of erasable
  /// parts.
  private func isSource(_ target: any TrailStorage) throws -> Bool {
    let own = try source.read(WrappingKeys.some)
    return try !own.isDisjoint(with: target.read(WrappingKeys.some))
  }

  /// Copies the entries that the target lacks, and hands the checkpoint over. Returns the checkpoint; `nil` if the
  /// target must be scrubbed first.
  private func move(
    to target: any TrailStorage, _ newCheckpoints: any CheckpointStore, _ keys: TrailKeys, isFinal: Bool,
    _ progress: (UInt64, UInt64) -> Void
  ) throws -> VerifiedCheckpoint? {
    let published = try PublishedCheckpoints(store: checkpoints, keys: keys).require {
      try source.read(keys.head)
    }
    let encoded = published.signed.encoded
    let there = try newCheckpoints.load()
    let note = try source.read { try $0.value(.notes, TrailNotes.configuration) } ?? []
    if let there = try target.read({ try $0.value(.notes, TrailNotes.configuration) }), there != note {
      throw AuditError(.alreadyExists, "There is another trail in the target; choose an empty one.")
    }
    // A write transaction, so that nothing is added or erased during the copy.
    return try source.write { writer in
      let head = try keys.head(in: writer)
      guard try there == nil || there == encoded || isEarlier(there, than: published, writer, head, keys)
      else {
        throw AuditError(
          .alreadyExists, at: "checkpoint",
          "The new place of the last checkpoint holds another one; choose another place.")
      }
      var state = try copy(writer, head, to: target, keys, progress)
      try target.read { reader in
        let copied = try TrailState(reading: reader, TrailContext(keys: keys))
        guard copied.head.isSameTree(as: head) else {
          throw AuditError(
            .tampered, at: "head", "The copy does not have the root of the source; start again.")
        }
        try PublishedCheckpoints.compare(published, with: copied, reader)
      }
      guard let agreement = try carryOutErasures(in: target, &state), isFinal else { return nil }
      let policies = try StoredPolicies.verified(in: writer, head)
      let proofs = try TrailKeys.storedProofs(writer)
      try keys.require(proofs, of: agreement.successions) {
        $0 <= head.size ? try root(of: writer, $0, keys) : .empty
      }
      try target.write {
        try $0.put(.notes, TrailNotes.configuration, note)
        try $0.put(.notes, TrailNotes.checkpoint, encoded)
        try TrailKeys.store(proofs, in: $0)
        state.head.policies = nil
        try StoredPolicies.keep(policies, &state.head, in: $0)
        try state.writeHead(in: $0)
      }
      guard try checkpoints.load() == encoded, try newCheckpoints.replace(there, with: encoded) else {
        throw AuditError(
          .storageUnavailable, at: "checkpoint",
          "The last checkpoint was replaced during the migration; start it again.")
      }
      return published
    }
  }

  /// Returns `true` if a checkpoint was once the source's last one. An attempt that was interrupted after handing it
  /// over left it there.
  private func isEarlier(
    _ checkpoint: [UInt8]?, than published: VerifiedCheckpoint, _ source: any StorageReader,
    _ head: TrailHead, _ keys: TrailKeys
  ) throws -> Bool {
    guard let checkpoint else { return false }
    let earlier: Checkpoint
    do { earlier = try keys.chain.verify(SignedCheckpoint(parsing: checkpoint)).checkpoint } catch
      where !error.isFailureToCheckNote
    { return false }
    guard earlier.origin == keys.origin, earlier.size <= min(published.checkpoint.size, head.size)
    else { return false }
    return try root(of: source, earlier.size, keys) == earlier.root
  }

  /// Erases in the target the parts that were erased in the source after they were copied, or whose key came back in
  /// the source. Returns the comparison, if keys and erasures agree and nothing had to be erased; otherwise `nil`.
  /// Throws ``AuditError/Code/tampered`` if a part is gone and no entry records its erasure.
  private func carryOutErasures(
    in target: any TrailStorage, _ state: inout TrailState
  ) throws -> ErasureAgreement? {
    let (agreement, undone) = try target.read { reader in
      var agreement = try state.erasureAgreement(in: reader)
      let undone = try agreement.undone()
      if undone.isEmpty { try agreement.require() }
      return (agreement, undone)
    }
    guard !undone.isEmpty else { return agreement }
    try target.write { try state.carryOutErasures(of: undone, in: $0) }
    return nil
  }

  private func copy(
    _ reader: any StorageReader, _ head: TrailHead, to target: any TrailStorage, _ keys: TrailKeys,
    _ progress: (UInt64, UInt64) -> Void
  ) throws -> TrailState {
    var state = try begin(target, reader, head, keys)
    var merger = IndexMerger(storage: StoredIndex(storage: target, keys: keys)) {
      SystemClock.now().wholeSeconds
    }
    let entries = try TrailState(reading: reader, TrailContext(keys: keys)).entries(in: reader)
    var parts = ErasableParts(reader)
    var batch: [CopiedEntry] = []
    var byteCount = 0
    func flush() throws {
      try target.write { writer in
        // The merger has changed the index since.
        try state.catchUp(writer)
        try state.flushIndex(in: writer)
        try state.adopt(batch, in: writer)
      }
      (batch, byteCount) = ([], 0)
      while try merger.step() {}
      progress(state.head.size, head.size)
    }
    try entries.forEach(in: state.head.size..<head.size) { index, stored in
      let commitment = try TrailState.keys(of: stored.entry, at: index).commitment
      let erasable = try commitment.flatMap { try parts.bytes(at: index, stored, commitment: $0) }
      batch.append(CopiedEntry(entry: stored.entry, erasable: erasable))
      byteCount += stored.entry.count + (erasable?.count ?? 0)
      if byteCount >= batchByteCount { try flush() }
    }
    if !batch.isEmpty { try flush() }
    // The merger has changed the index since.
    try target.read { try state.catchUp($0) }
    return state
  }

  private func begin(
    _ target: any TrailStorage, _ source: any StorageReader, _ head: TrailHead, _ keys: TrailKeys
  ) throws -> TrailState {
    let state = try target.write { writer in
      if try writer.value(.head, 0) == nil {
        try ErasureKeys.create(in: writer)
        try keys.write(.empty, in: writer)
      }
      return try TrailState(reading: writer, TrailContext(keys: keys), isUnfinished: true)
    }
    guard state.head.size <= head.size,
      try root(of: source, state.head.size, keys) == state.head.root
    else {
      throw AuditError(.alreadyExists, "The target has entries that the source has not; choose an empty one.")
    }
    return state
  }

  private func root(of reader: any StorageReader, _ size: UInt64, _ keys: TrailKeys) throws -> TreeHash {
    let state = try TrailState(reading: reader, TrailContext(keys: keys))
    return try MerkleTree.root(size: size, reader: state.tiles(in: reader))
  }
}
