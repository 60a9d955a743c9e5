// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import Synchronization
internal import TransparencyLog

/// The number of entries of a trail that are known to survive a power loss, which only grows.
final class DurableSize: Sendable {
  private let size = Atomic<UInt64>(0)
  /// Locked during a sync, which one thread does for all that wait.
  private let synchronizing = Mutex(())

  var value: UInt64 { size.load(ordering: .sequentiallyConsistent) }

  /// Syncs as many entries as are `written` when the sync begins, unless `size` are durable already.
  func reach(_ size: UInt64, in storage: any TrailStorage, written: () -> UInt64 = { 0 }) throws {
    guard size > value else { return }
    try synchronizing.withLock { _ in
      // The sync that this thread waited for may have covered these entries too.
      guard size > value else { return }
      let reached = max(size, written())
      try storage.synchronize()
      self.size.max(reached, ordering: .sequentiallyConsistent)
    }
  }
}

/// The state of a trail's writer, and the state that its readers see, which survives a power loss.
final class KnownStates: Sendable {
  private let durable: DurableSize
  private let states: Mutex<(written: PublishedTrail, published: PublishedTrail)>

  init(_ state: PublishedTrail, durable: DurableSize) {
    self.durable = durable
    states = Mutex((written: state, published: state))
  }

  var published: PublishedTrail { states.withLock { $0.published } }

  var written: PublishedTrail { states.withLock { $0.written } }

  /// Removes index records of forgotten parts from the state that readers see, even before that survives a power loss.
  func remove(_ removed: [(kind: IndexKind, records: [IndexRecord])]) {
    guard !removed.isEmpty else { return }
    let published = published
    for (kind, records) in removed { published.index.remove(kind, records) }
  }

  /// Takes the writer's current state, and shows it to readers if all of it is durable.
  func take(_ now: PublishedTrail) {
    states.withLock {
      $0.written = now
      if now.head.size <= durable.value { $0.published = now }
    }
  }

  /// Syncs everything that was written before the call, unless it is durable already, and shows it to readers.
  func synchronize(_ storage: any TrailStorage) throws {
    let written = written
    try durable.reach(written.head.size, in: storage) { self.written.head.size }
    states.withLock {
      // Each thread shows only what its own sync covers; later writes are shown after their sync.
      let shown = $0.written.head.size <= durable.value ? $0.written : written
      // A state that was taken meanwhile may have the same entries and a newer checkpoint.
      if shown.head.size > $0.published.head.size { $0.published = shown }
    }
  }
}

/// The state of a trail as the readers of a process see it.
struct PublishedTrail {
  let signed: SignedHead
  var frontier: TreeFrontier
  var index: IndexSnapshot
  /// `true` if the index has the customers of the entries in memory, which keys that are restored later do not bring
  /// back.
  let hasCustomers: Bool
  var checkpoint: VerifiedCheckpoint?

  init(_ state: TrailState, checkpoint: VerifiedCheckpoint?) {
    signed = state.signed
    frontier = state.frontier
    index = state.index.snapshot(size: state.head.size)
    hasCustomers = state.hasKeys
    self.checkpoint = checkpoint
  }

  var head: TrailHead { signed.head }
}
