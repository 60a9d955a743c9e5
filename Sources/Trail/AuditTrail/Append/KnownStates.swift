// SPDX-License-Identifier: Apache-2.0

internal import FingerprintIndex
internal import Synchronization
internal import TransparencyLog

/// The number of entries of a trail are known to survive the loss of power. It only grows.
final class DurableSize: Sendable {
  private let size = Atomic<UInt64>(0)
  /// Locked during a sync, which one thread does for those that wait.
  private let synchronizing = Mutex(())

  var value: UInt64 { size.load(ordering: .sequentiallyConsistent) }

  /// Has everything synced that is written, unless so many entries are durable already.
  ///
  /// - Parameters:
  ///   - size: How many entries are to be durable.
  ///   - storage: Where they are written.
  ///   - written: How many entries are written when the sync begins; it makes them all durable.
  /// - Throws: ``StorageError``.
  func reach(
    _ size: UInt64, in storage: any TrailStorage, written: () -> UInt64 = { 0 }
  ) throws {
    guard size > value else { return }
    try synchronizing.withLock { _ in
      // The sync that was waited for may have been of these entries too.
      guard size > value else { return }
      let reached = max(size, written())
      try storage.synchronize()
      self.size.max(reached, ordering: .sequentiallyConsistent)
    }
  }
}

/// The states of a trail that a process knows: the one that its writer has, and the one that its readers see, for which
/// everything survives the loss of power.
final class KnownStates: Sendable {
  private let durable: DurableSize
  private let states: Mutex<States>

  private struct States {
    var written: PublishedTrail
    var published: PublishedTrail
  }

  /// Begins with a state that is durable as a whole.
  init(_ state: PublishedTrail, durable: DurableSize) {
    self.durable = durable
    states = Mutex(States(written: state, published: state))
  }

  /// The state that readers see.
  var published: PublishedTrail { states.withLock { $0.published } }

  /// The state of the writer.
  var written: PublishedTrail { states.withLock { $0.written } }

  /// Takes index records out of what readers see: the keys of what they lead to are gone, whether or not that survives the
  /// loss of power yet.
  func remove(_ removed: [(kind: IndexKind, records: [IndexRecord])]) {
    guard !removed.isEmpty else { return }
    let published = published
    for (kind, records) in removed { published.index.remove(kind, records) }
  }

  /// Takes in what the writer has now, and shows it to readers where all of it is durable.
  func take(_ now: PublishedTrail) {
    states.withLock {
      $0.written = now
      if now.head.size <= durable.value { $0.published = now }
    }
  }

  /// Has everything synced that was written before the call, unless it is durable already, and shows it to readers.
  ///
  /// - Throws: ``StorageError``.
  func synchronize(_ storage: any TrailStorage) throws {
    let written = written
    try durable.reach(written.head.size, in: storage) { self.written.head.size }
    states.withLock {
      // Each thread shows only what its own sync covers; later writes are shown after their sync.
      let shown = $0.written.head.size <= durable.value ? $0.written : written
      // A state that was taken in meanwhile may have the same entries and a newer checkpoint.
      if shown.head.size > $0.published.head.size { $0.published = shown }
    }
  }
}

/// The state of a trail that readers of a process see.
struct PublishedTrail {
  let signed: SignedHead
  var frontier: TreeFrontier
  var index: IndexSnapshot
  /// Indicates whether the index has the customers of the entries that it holds in memory: keys that are put in later
  /// do not bring them back.
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
