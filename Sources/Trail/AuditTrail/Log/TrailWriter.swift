// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import ReceiptBytes
internal import ReceiptCrypto
internal import TransparencyLog

/// The one writer of a process: commits batches and publishes checkpoints. It blocks, and is used under a lock.
struct TrailWriter {
  private let storage: any TrailStorage
  private let once: TrailConfiguration.OnceWindow
  private let context: TrailContext
  private let checkpoints: any CheckpointStore
  /// `nil` after a failed transaction: to be read again.
  private var state: TrailState?
  /// The state that one that is read again must continue.
  private var seen: SeenTrail
  /// Why nothing more is written.
  private(set) var stopped: AuditError?
  /// The checkpoint that was last seen in its place.
  private var checkpoint: VerifiedCheckpoint?
  /// Index records that were removed since they were last taken: what readers see may still have them.
  private var removed: [(kind: IndexKind, records: [IndexRecord])] = []
  /// Shared with the threads that sync appends.
  let durable = DurableSize()

  /// Reads the trail, and holds it against the last checkpoint that was published.
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
    // Another process may have written a moment ago.
    try makeDurable()
    guard published != nil else { throw Self.noCheckpoint }
  }

  static let noCheckpoint = AuditError(
    .rolledBack, at: "checkpoint",
    "The place of the last checkpoint is empty. It was removed, or the wrong place was given; a trail whose "
      + "checkpoint is lost is opened by restoring that checkpoint.")

  /// Indicates whether the private key is there.
  var canWrite: Bool { context.keys.canSign }

  /// The entries that the checkpoint covers that was last seen in its place.
  var checkpointSize: UInt64 { checkpoint?.checkpoint.size ?? 0 }

  /// The write under way.
  var written: PublishedTrail? {
    state.map { PublishedTrail($0, checkpoint: checkpoint) }
  }

  /// The records removed from the index since the last call.
  mutating func takeRemoved() -> [(kind: IndexKind, records: [IndexRecord])] {
    defer { removed = [] }
    return removed
  }

  // MARK: - Writing

  /// Changes the trail in one transaction: all of `body`, durable when this returns, or nothing.
  mutating func write<Result>(
    _ body: (inout TrailState, any StorageWriter) throws -> Result
  ) throws(AuditError) -> Result {
    let result = try writeUnsynchronized(body)
    do { try makeDurable() } catch { throw stop(after: error) }
    return result
  }

  /// Changes the trail in one transaction, to be synced before anybody is told of it.
  mutating func writeUnsynchronized<Result>(
    _ body: (inout TrailState, any StorageWriter) throws -> Result
  ) throws(AuditError) -> Result {
    if let stopped { throw stopped }
    _ = try context.keys.signer()
    let (context, seen) = (context, seen)
    // Moved out, so that its arrays are not copied when they change; and gone when anything fails.
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

  /// Writes nothing more where the error leaves no doubt that it must not.
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

  /// Has all of the known state synced, unless it is durable already.
  private func makeDurable() throws {
    if let state { try durable.reach(state.head.size, in: storage) }
  }

  /// Enters records, which survive the loss of power after the next sync.
  mutating func append(
    _ records: [PreparedRecord], flushInterval: UInt64
  ) throws(AuditError) -> [AuditAcknowledgement] {
    let once = once
    let storage = storage
    return try writeUnsynchronized { state, writer in
      // Nobody else can write now, so what other threads read is what this transaction sees.
      let found = try Self.lookUp(records, once: once, state, storage)
      try state.flushIndex(every: flushInterval, in: writer)
      return try state.append(records, found: found, once: once, in: writer)
    }
  }

  /// The relation of earlier entries to records. Those that are not known yet are looked up with all processors.
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

  /// Follows what other processes wrote, and has it synced: they may not have synced it yet.
  mutating func refresh() throws {
    if let stopped { throw stopped }
    let (context, seen) = (context, seen)
    let known = state
    // Gone when anything fails: the table of index records, which copies share, may then have some already.
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

  /// Signs and publishes a checkpoint of all entries, unless one is there.
  ///
  /// - Throws: ``AuditError/Code/forked`` where a published checkpoint contradicts the trail: it then stops.
  mutating func publishCheckpoint() throws(AuditError) -> VerifiedCheckpoint {
    do {
      if let stopped { throw stopped }
      while true {
        _ = try context.keys.signer()
        if state == nil { try refresh() }
        guard let state else { throw AuditError(.closed, "The trail is closed.") }
        let old = try follow()
        if let checkpoint, checkpoint.checkpoint.size >= state.head.size { return checkpoint }
        // Signed checkpoints are never lost.
        try makeDurable()
        // Only now: what was followed may have replaced the key.
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

  /// The checkpoint that is in its place now.
  func publishedCheckpoint() throws -> VerifiedCheckpoint? {
    try Self.published(in: checkpoints, context.keys, storage)
  }

  /// Replaces the published checkpoint by the same with cosignatures.
  ///
  /// - Returns: Whether it did; not where the one in its place is not `old` any more.
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

  /// Takes in a checkpoint that another process published, and returns what is in its place.
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

  /// Reads the checkpoint in its place.
  ///
  /// - Parameters:
  ///   - checkpoints: The place.
  ///   - keys: The keys of the trail.
  ///   - refresh: Has the keys follow the trail if they do not verify the checkpoint.
  /// - Returns: The checkpoint; `nil` without one in its place.
  /// - Returns: The checkpoint; `nil` if the place is empty.
  /// - Throws: ``AuditError/Code/tampered`` or ``AuditError/Code/forked`` if it is not one of the trail.
  static func published(
    in checkpoints: any CheckpointStore, _ keys: TrailKeys, refresh: () throws -> Void = {}
  ) throws -> VerifiedCheckpoint? {
    guard let bytes = try checkpoints.load() else { return nil }
    do {
      let signed = try SignedCheckpoint(parsing: bytes)
      // Another process may have replaced the key, which the head tells of.
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

  /// Holds the trail against a checkpoint of it.
  ///
  /// - Throws: ``AuditError/Code/rolledBack`` or ``AuditError/Code/forked`` if the trail is not the one that it is of.
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

/// The keys of the signed notes of a trail.
enum TrailNotes {
  static let configuration: Int64 = 0
  static let checkpoint: Int64 = 1
  /// The proofs of the entries by which keys were replaced, from here on.
  static let firstSuccession: Int64 = 2
  /// The texts of policies, by the first bits of their digests.
  static let policies: ClosedRange<Int64> = 1 << 62...Int64.max - 1
  /// The list of their digests, which the head vouches for.
  static let policyList: Int64 = 1 << 62 - 1

  static func policy(_ digest: SHA256Digest) -> Int64 {
    policies.lowerBound | Int64(truncatingIfNeeded: digest.words.0.bigEndian >> 2 & ~1)
  }
}
