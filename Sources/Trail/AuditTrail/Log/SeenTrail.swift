// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

/// What a process has seen of a trail, which outlives a state that is gone after a failure: an older copy that was refused
/// once must not be believed when it is read again.
struct SeenTrail {
  private var newest: TrailHead
  /// The newest before it that survives the loss of power: what was not synced may be lost.
  private var newestDurable: TrailHead
  private let durable: DurableSize

  init(_ head: TrailHead, durable: DurableSize) {
    newest = head
    newestDurable = head
    self.durable = durable
  }

  /// Notes what is known now.
  mutating func note(_ head: TrailHead) {
    newestDurable = mustBeThere
    newest = head
  }

  private var mustBeThere: TrailHead { newest.size <= durable.value ? newest : newestDurable }

  /// Reads what is stored.
  ///
  /// - Throws: ``AuditError/Code/rolledBack`` where it does not go on from what was seen; ``AuditError/Code/tampered``,
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
