// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import Synchronization

/// A checkpoint store for tests, and for trails that end with their process.
///
/// Its checkpoint is lost with the process, so it cannot detect a rollback after a restart.
public final class MemoryCheckpointStore: CheckpointStore {
  private let stored: Mutex<[UInt8]?>

  /// Creates a store.
  ///
  /// - Parameter checkpoint: The initial checkpoint.
  public init(_ checkpoint: [UInt8]? = nil) { stored = Mutex(checkpoint) }

  /// The encoded checkpoint; `nil` if none was stored yet.
  public func load() -> [UInt8]? { stored.withLock { $0 } }

  /// Stores `new` if the stored checkpoint is exactly `old`.
  public func replace(_ old: [UInt8]?, with new: [UInt8]) -> Bool {
    stored.withLock {
      guard $0 == old else { return false }
      $0 = new
      return true
    }
  }
}
