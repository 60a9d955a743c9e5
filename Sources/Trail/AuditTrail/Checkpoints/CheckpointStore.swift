// SPDX-License-Identifier: Apache-2.0

/// The place of a trail's last signed checkpoint, apart from the trail and never part of its backups.
///
/// A trail that is restored from an old copy would sign a second history from there on, and every proof given out
/// since would be contradicted. What guards against this is the newest checkpoint in a place that is never rolled
/// back: a trail older than that checkpoint refuses to open. So keep it on another disk or server than the trail,
/// and leave it out of backups, or of restoring.
///
/// What a store owes: ``replace(_:with:)`` compares and swaps in one step among all processes that use the store,
/// and what was swapped in survives the loss of power. There is one store for each trail.
///
/// The functions block; call them from a thread that may.
public protocol CheckpointStore: Sendable {
  /// The checkpoint, encoded; `nil` if none was stored yet.
  ///
  /// - Throws: ``StorageError``.
  func load() throws -> [UInt8]?

  /// Stores `new` where what is stored is exactly `old`.
  ///
  /// - Parameters:
  ///   - old: What the caller loaded; `nil` if there was none.
  ///   - new: The checkpoint to take its place.
  /// - Returns: Whether it was stored. `false` means that another process was faster: load, and decide again.
  /// - Throws: ``StorageError``. After ``StorageError/Code/syncFailed`` and ``StorageError/Code/unavailable`` it is
  ///   not known whether `new` was stored; every other code says that it was not.
  func replace(_ old: [UInt8]?, with new: [UInt8]) throws -> Bool
}

/// The most bytes that a stored checkpoint may have: one with some hundred cosignatures is far below.
package let maximumStoredCheckpointByteCount = 1 << 20
