// SPDX-License-Identifier: Apache-2.0

internal import TransparencyLog

/// The store of a trail's last checkpoint, with the keys that verify what is in it.
struct PublishedCheckpoints {
  let store: any CheckpointStore
  let keys: TrailKeys

  /// Reads the checkpoint, with the keys that the trail in `storage` has now.
  func load(following storage: any TrailStorage) throws -> VerifiedCheckpoint? {
    try load { try storage.read(keys.head) }
  }

  /// Reads the checkpoint; `refresh` makes the keys follow the trail if they do not verify it.
  func load(refresh: () throws -> TrailHead) throws -> VerifiedCheckpoint? {
    guard let bytes = try store.load() else { return nil }
    do {
      let signed = try SignedCheckpoint(parsing: bytes)
      // Another process may have replaced the key; reading the head shows that.
      if (try? keys.chain.verify(signed)) == nil { _ = try refresh() }
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

  /// Requires that the trail is not older than a checkpoint of it, and does not contradict it.
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

  static let missing = AuditError(
    .rolledBack, at: "checkpoint",
    "The place of the last checkpoint is empty. It was removed, or the wrong place was given; a trail whose "
      + "checkpoint is lost is opened by restoring that checkpoint.")
}
