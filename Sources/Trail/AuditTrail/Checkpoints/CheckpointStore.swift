// SPDX-License-Identifier: Apache-2.0

/// A store for the last signed checkpoint of a trail, kept apart from the trail and never part of its backups.
///
/// A trail that is restored from an old copy would sign a second history from there on, which contradicts every proof
/// given out since. The newest checkpoint guards against this if it is in a place that is never rolled back: a trail
/// that is older than this checkpoint refuses to open. So keep it on a different disk or server than the trail, and
/// leave it out of backups, or do not restore it.
///
/// Requirements for a store: ``replace(_:with:)`` is an atomic compare-and-swap among all processes that use the store,
/// and the stored checkpoint survives a power loss. Each trail has its own store.
///
/// The functions block; call them from a thread that may block.
public protocol CheckpointStore: Sendable {
  /// The checkpoint, encoded; `nil` if none was stored yet.
  ///
  /// - Throws: ``StorageError``.
  func load() throws -> [UInt8]?

  /// Stores `new` if the stored checkpoint is exactly `old`.
  ///
  /// - Parameters:
  ///   - old: The checkpoint that the caller loaded; `nil` if there was none.
  ///   - new: The checkpoint that replaces it.
  /// - Returns: `true` if it was stored. `false` means that another process was faster: load, and decide again.
  /// - Throws: ``StorageError``. After ``StorageError/Code/syncFailed`` and ``StorageError/Code/unavailable`` it is
  ///   unknown whether `new` was stored; every other code means that it was not.
  func replace(_ old: [UInt8]?, with new: [UInt8]) throws -> Bool
}

/// The maximum size of a stored checkpoint in bytes, which a hundred cosignatures do not nearly reach.
package let maximumStoredCheckpointByteCount = 1 << 20
