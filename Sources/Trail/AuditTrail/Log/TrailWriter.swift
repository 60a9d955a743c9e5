// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

/// The only writer of a process, which commits batches and publishes checkpoints.
///
/// It blocks, and is used under a lock.
struct TrailWriter {
  private let storage: any TrailStorage
  private let once: TrailConfiguration.OnceWindow
  private let context: TrailContext
  private let checkpoints: any CheckpointStore
  /// The state; `nil` after a failed transaction, and then read again.
  private var state: TrailState?
  /// The states that were seen, which a state that is read again must continue.
  private var seen: SeenTrail
  /// The error that stopped writing.
  private(set) var stopped: AuditError?
  /// The checkpoint that was last seen in its store.
  private var checkpoint: VerifiedCheckpoint?
  /// The index records that were removed since they were last taken.
  ///
  /// The state that readers see may still have them.
  private var removed: [(kind: IndexKind, records: [IndexRecord])] = []
  /// This is shared with the threads that sync appends.
  let durable = DurableSize()

  /// Reads the trail, and compares it with the last published checkpoint.
  init(
    storage: any TrailStorage, once: TrailConfiguration.OnceWindow, _ context: TrailContext,
    checkpoints: any CheckpointStore
  ) throws {
    self.storage = storage
    self.once = once
    self.context = context
    self.checkpoints = checkpoints
    let published = try Self.published(in: checkpoints, context.keys, storage)
    let first = try storage.read { reader in
      let state = try TrailState(reading: reader, context)
      if let published { try Self.compare(published, with: state, reader) }
      return state
    }
    state = first
    seen = SeenTrail(first.head, durable: durable)
    checkpoint = published
    // Another process may have just written entries that it has not synced.
    try makeDurable()
    guard published != nil else { throw Self.noCheckpoint }
  }

  static let noCheckpoint = AuditError(
    .rolledBack, at: "checkpoint",
    "The place of the last checkpoint is empty. It was removed, or the wrong place was given; a trail whose "
      + "checkpoint is lost is opened by restoring that checkpoint.")

  /// `true` if there is a private key.
  var canWrite: Bool { context.keys.canSign }

  /// The number of entries that the checkpoint covers that was last seen in its store.
  var checkpointSize: UInt64 { checkpoint?.checkpoint.size ?? 0 }

  /// The current state of the writer.
  var written: PublishedTrail? {
    state.map { PublishedTrail($0, checkpoint: checkpoint) }
  }

  /// Returns the index records that were removed since the last call.
  mutating func takeRemoved() -> [(kind: IndexKind, records: [IndexRecord])] {
    defer { removed = [] }
    return removed
  }

  // MARK: - Writing

  /// Changes the trail in one transaction.
  ///
  /// Everything that `body` does is durable on return, or nothing is stored.
  mutating func write<Result>(
    _ body: (inout TrailState, any StorageWriter) throws -> Result
  ) throws(AuditError) -> Result {
    let result = try writeUnsynchronized(body)
    do { try makeDurable() } catch { throw stop(after: error) }
    return result
  }

  /// Changes the trail in one transaction, which must be synced before anyone is informed of it.
  mutating func writeUnsynchronized<Result>(
    _ body: (inout TrailState, any StorageWriter) throws -> Result
  ) throws(AuditError) -> Result {
    if let stopped { throw stopped }
    _ = try context.keys.signer()
    let (context, seen) = (context, seen)
    // Moved out, so that its arrays are not copied when they change. It stays `nil` if anything fails.
    var current = state
    state = nil
    do {
      let (result, written) = try storage.writeUnsynchronized { writer in
        var next: TrailState
        if let known = current {
          current = nil
          next = known
          try next.catchUp(writer)
        } else {
          next = try seen.readAnew(writer, context)
        }
        let result = try body(&next, writer)
        return (result, next)
      }
      var state = written
      removed += state.index.didCommit()
      self.seen.note(state.head)
      self.state = state
      return result
    } catch {
      throw stop(after: error)
    }
  }

  /// Stops writing for good if the error shows that it must stop.
  ///
  /// - Returns: The error, as ``AuditError``.
  mutating func stop(after error: any Error) -> AuditError {
    let error = AuditError(error)
    switch error.code {
    case .stopped, .tampered, .rolledBack, .forked, .closed: stopped = error
    default: break
    }
    return error
  }

  /// Syncs all of the known state, unless it is durable already.
  private func makeDurable() throws {
    if let state { try durable.reach(state.head.size, in: storage) }
  }

  /// Enters records, which survive a power loss after the next sync.
  mutating func append(
    _ records: [PreparedRecord], flushInterval: UInt64
  ) throws(AuditError) -> [AuditAcknowledgement] {
    let once = once
    let storage = storage
    return try writeUnsynchronized { state, writer in
      // No other process can write now, so other threads read the state that this transaction sees.
      let found = try Self.lookUp(records, once: once, state, storage)
      try state.flushIndex(every: flushInterval, in: writer)
      return try state.append(records, found: found, once: once, in: writer)
    }
  }

  /// Finds the earlier entries that are related to records.
  ///
  /// Records that are not known yet are looked up on all processors.
  private static func lookUp(
    _ records: [PreparedRecord], once: TrailConfiguration.OnceWindow, _ state: TrailState,
    _ storage: any TrailStorage
  ) throws -> [EarlierEntries] {
    let known = state.known(records)
    let unknown = zip(records, known).compactMap { $1 == nil ? $0 : nil }
    var found = try AllProcessors.map(unknown.count) { range in
      try storage.read { reader in try state.lookUp(Array(unknown[range]), once: once, in: reader) }
    }[...]
    return known.compactMap { $0 ?? found.popFirst() }
  }

  /// Catches up with the writes of other processes, and syncs them, since these processes may not have done so yet.
  mutating func refresh() throws {
    if let stopped { throw stopped }
    let (context, seen) = (context, seen)
    let known = state
    // It stays `nil` if anything fails: the table of index records, which copies share, may then have some new ones
    // already.
    state = nil
    let now = try storage.read { reader in
      guard var known else { return try seen.readAnew(reader, context) }
      try known.catchUp(reader)
      return known
    }
    self.seen.note(now.head)
    state = now
    do { try makeDurable() } catch { throw stop(after: error) }
  }

  // MARK: - Checkpoints

  /// Signs and publishes a checkpoint of all entries, unless it exists already.
  ///
  /// - Throws: ``AuditError/Code/forked`` if a published checkpoint contradicts the trail, which then stops.
  mutating func publishCheckpoint() throws(AuditError) -> VerifiedCheckpoint {
    do {
      if let stopped { throw stopped }
      while true {
        _ = try context.keys.signer()
        if state == nil { try refresh() }
        guard let state else { throw AuditError(.closed, "The trail is closed.") }
        let old = try follow()
        if let checkpoint, checkpoint.checkpoint.size >= state.head.size { return checkpoint }
        // Everything that is signed must be durable.
        try makeDurable()
        // The key is read only now, since following the trail may have replaced it.
        let new = try Checkpoint(origin: context.keys.origin, size: state.head.size, root: state.head.root)
          .signed(by: context.keys.signer())
        guard try checkpoints.replace(old, with: new.encoded) else { continue }
        let verified = try context.keys.chain.verify(new)
        try keep(verified)
        return verified
      }
    } catch {
      let error = AuditError(error)
      if error.code == .forked || error.code == .stopped { stopped = error }
      throw error
    }
  }

  /// Returns the checkpoint that is now in the store.
  func publishedCheckpoint() throws -> VerifiedCheckpoint? {
    try Self.published(in: checkpoints, context.keys, storage)
  }

  /// Replaces the published checkpoint by the same checkpoint with cosignatures.
  ///
  /// - Returns: `true` if it was replaced; `false` if the stored checkpoint is not `old` any more.
  mutating func keep(
    _ cosigned: VerifiedCheckpoint, insteadOf old: VerifiedCheckpoint
  ) throws(AuditError) -> Bool {
    if let stopped { throw stopped }
    do {
      guard try checkpoints.replace(old.signed.encoded, with: cosigned.signed.encoded) else { return false }
      try keep(cosigned)
      return true
    } catch {
      let error = AuditError(error)
      if error.code == .stopped { stopped = error }
      throw error
    }
  }

  private mutating func keep(_ published: VerifiedCheckpoint) throws {
    checkpoint = published
    try storage.write { try $0.put(.notes, TrailNotes.checkpoint, published.signed.encoded) }
  }

  /// Takes over a checkpoint that another process published, and returns the stored bytes.
  private mutating func follow() throws -> [UInt8]? {
    let bytes = try checkpoints.load()
    guard bytes != checkpoint?.signed.encoded else { return bytes }
    guard let published = try Self.published(in: checkpoints, context.keys, storage) else {
      throw AuditError(
        .forked, at: "checkpoint", "The last checkpoint was removed from its place while the trail was open.")
    }
    if published.checkpoint.size > state?.head.size ?? 0 { try refresh() }
    if let state { try storage.read { try Self.compare(published, with: state, $0) } }
    checkpoint = published
    return published.signed.encoded
  }

  private static func published(
    in checkpoints: any CheckpointStore, _ keys: TrailKeys, _ storage: any TrailStorage
  ) throws -> VerifiedCheckpoint? {
    try published(in: checkpoints, keys) { _ = try storage.read { try keys.head(in: $0) } }
  }

  /// Reads the checkpoint in its store.
  ///
  /// - Parameters:
  ///   - checkpoints: The store.
  ///   - keys: The keys of the trail.
  ///   - refresh: Makes the keys follow the trail if they do not verify the checkpoint.
  /// - Returns: The checkpoint; `nil` if the store is empty.
  /// - Throws: ``AuditError/Code/tampered`` or ``AuditError/Code/forked`` if it is not one of the trail.
  static func published(
    in checkpoints: any CheckpointStore, _ keys: TrailKeys, refresh: () throws -> Void = {}
  ) throws -> VerifiedCheckpoint? {
    guard let bytes = try checkpoints.load() else { return nil }
    do {
      let signed = try SignedCheckpoint(parsing: bytes)
      // Another process may have replaced the key; reading the head shows that.
      if (try? keys.chain.verify(signed)) == nil { try refresh() }
      let verified = try keys.chain.verify(signed)
      guard verified.checkpoint.origin == keys.origin else {
        throw AuditError(
          .forked, at: "checkpoint",
          "It is one of the log \(verified.checkpoint.origin), not of \(keys.origin).")
      }
      return verified
    } catch let error where error is AuditError || error is StorageError {
      throw error
    } catch {
      throw AuditError(
        .tampered, at: "checkpoint",
        "The last checkpoint cannot be trusted: \(error). Restore it, or give its right place.")
    }
  }

  /// Compares the trail with a checkpoint of it.
  ///
  /// - Throws: ``AuditError/Code/rolledBack`` or ``AuditError/Code/forked`` if the trail does not match the checkpoint.
  static func compare(
    _ published: VerifiedCheckpoint, with state: TrailState, _ reader: any StorageReader
  ) throws {
    let size = published.checkpoint.size
    guard size <= state.head.size else {
      throw AuditError(
        .rolledBack, at: "entry \(state.head.size)",
        "The trail has \(state.head.size) entries, but a checkpoint of \(size) was published: this is an old copy. "
          + "Restore one that is at least as new.")
    }
    let root = try MerkleTree.root(size: size, reader: state.tiles(in: reader))
    guard root == published.checkpoint.root else {
      throw AuditError(
        .forked, at: "entries below \(size)",
        "The trail contradicts its published checkpoint of \(size) entries: it was altered, or went on from an old "
          + "copy. Check the whole trail to find where.")
    }
  }
}

/// The keys under which the signed notes of a trail are stored.
enum TrailNotes {
  static let configuration: Int64 = 0
  static let checkpoint: Int64 = 1
  /// The first of the proofs of the entries that replaced keys.
  static let firstSuccession: Int64 = 2
  /// The texts of policies, by the first bits of their digests.
  static let policies: ClosedRange<Int64> = 1 << 62...Int64.max - 1
  /// The list of their digests, which the head vouches for.
  static let policyList: Int64 = 1 << 62 - 1

  static func policy(_ digest: SHA256Digest) -> Int64 {
    policies.lowerBound | Int64(truncatingIfNeeded: digest.words.0.bigEndian >> 2 & ~1)
  }
}
