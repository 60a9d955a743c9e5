// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import TransparencyLog

struct WriterState {
  let storage: any TrailStorage
  let context: TrailContext
  let checkpoints: PublishedCheckpoints
  /// The state of the trail; `nil` after a failed transaction, and then read again.
  private(set) var trail: TrailState?
  /// The states that were seen, which a state that is read again must continue.
  private var seen: SeenTrail
  var stopped: AuditError?
  /// The checkpoint that was last seen in its store.
  var checkpoint: VerifiedCheckpoint?
  /// The index records that were removed since they were last taken; the state that readers see may still have them.
  var removed: [(kind: IndexKind, records: [IndexRecord])] = []
  /// This is shared with the threads that sync appends.
  let durable = DurableSize()

  /// Reads the trail, and compares it with the last published checkpoint.
  init(_ storage: any TrailStorage, _ context: TrailContext, _ checkpoints: any CheckpointStore) throws {
    self.storage = storage
    self.context = context
    self.checkpoints = PublishedCheckpoints(store: checkpoints, keys: context.keys)
    let published = try self.checkpoints.load(following: storage)
    let first = try storage.read { reader in
      let trail = try TrailState(reading: reader, context)
      if let published { try PublishedCheckpoints.compare(published, with: trail, reader) }
      return trail
    }
    trail = first
    seen = SeenTrail(first.head, durable: durable)
    checkpoint = published
    // Another process may have just written entries that it has not synced.
    try makeDurable()
    guard published != nil else { throw PublishedCheckpoints.missing }
  }

  var written: PublishedTrail? {
    trail.map { PublishedTrail($0, checkpoint: checkpoint) }
  }

  /// Changes the trail in one transaction, which must be synced before anyone is informed of it.
  mutating func write<Result>(
    _ body: (inout TrailState, any StorageWriter) throws -> Result
  ) throws(AuditError) -> Result {
    if let stopped { throw stopped }
    _ = try context.keys.signer()
    let (context, seen) = (context, seen)
    // Moved out, so that its arrays are not copied when they change. It stays `nil` if anything fails.
    var current = trail
    trail = nil
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
      var trail = written
      removed += trail.index.didCommit()
      self.seen.note(trail.head)
      self.trail = trail
      return result
    } catch {
      throw stop(after: error)
    }
  }

  /// Stops writing for good if the error shows that it must stop, and returns the error.
  mutating func stop(after error: any Error) -> AuditError {
    let error = AuditError(error)
    switch error.code {
    case .stopped, .tampered, .rolledBack, .forked, .closed: stopped = error
    default: break
    }
    return error
  }

  /// Syncs all of the known state, unless it is durable already.
  func makeDurable() throws {
    if let trail { try durable.reach(trail.head.size, in: storage) }
  }

  /// Syncs all of the known state, unless it is durable already, and stops writing if that fails.
  mutating func synchronize() throws(AuditError) {
    do { try makeDurable() } catch { throw stop(after: error) }
  }

  /// Catches up with the writes of other processes, and syncs them, since these processes may not have done so yet.
  mutating func refresh() throws {
    if let stopped { throw stopped }
    let (context, seen) = (context, seen)
    let known = trail
    // It stays `nil` if anything fails: the table of index records, which copies share, may then have some new ones
    // already.
    trail = nil
    let now = try storage.read { reader in
      guard var known else { return try seen.readAnew(reader, context) }
      try known.catchUp(reader)
      return known
    }
    self.seen.note(now.head)
    trail = now
    try synchronize()
  }
}

/// The states of a trail that a process has seen.
///
/// They outlive a state that is dropped after a failure: an older copy that was refused once must not be accepted when
/// the trail is read again.
struct SeenTrail {
  private var newest: TrailHead
  /// The newest earlier head that survives a power loss; entries that were not synced may be lost.
  private var newestDurable: TrailHead
  private let durable: DurableSize

  init(_ head: TrailHead, durable: DurableSize) {
    newest = head
    newestDurable = head
    self.durable = durable
  }

  mutating func note(_ head: TrailHead) {
    newestDurable = mustBeThere
    newest = head
  }

  private var mustBeThere: TrailHead { newest.size <= durable.value ? newest : newestDurable }

  /// Reads the stored state, which must continue what was seen.
  func readAnew(_ reader: any StorageReader, _ context: TrailContext) throws -> TrailState {
    let state = try TrailState(reading: reader, context)
    let before = mustBeThere
    guard before.size <= state.head.size,
      try MerkleTree.root(size: before.size, reader: state.tiles(in: reader)) == before.root
    else { throw TrailState.rolledBack(from: before.size, to: state.head.size) }
    return state
  }
}
