// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

/// The states of a trail that a process has seen.
///
/// They outlive a state that is dropped after a failure: an older copy that was refused once must not be accepted when
/// the trail is read again.
struct SeenTrail {
  private var newest: TrailHead
  /// The newest earlier head that survives a power loss.
  ///
  /// Entries that were not synced may be lost.
  private var newestDurable: TrailHead
  private let durable: DurableSize

  init(_ head: TrailHead, durable: DurableSize) {
    newest = head
    newestDurable = head
    self.durable = durable
  }

  /// Notes the current head.
  mutating func note(_ head: TrailHead) {
    newestDurable = mustBeThere
    newest = head
  }

  private var mustBeThere: TrailHead { newest.size <= durable.value ? newest : newestDurable }

  /// Reads the stored state.
  ///
  /// - Throws: ``AuditError/Code/rolledBack`` if it does not continue what was seen; ``AuditError/Code/tampered``,
  ///   ``StorageError``.
  func readAnew(_ reader: any StorageReader, _ context: TrailContext) throws -> TrailState {
    let state = try TrailState(reading: reader, context)
    let before = mustBeThere
    guard before.size <= state.head.size,
      try MerkleTree.root(size: before.size, reader: state.tiles(in: reader)) == before.root
    else { throw TrailState.rolledBack(from: before.size, to: state.head.size) }
    return state
  }
}
