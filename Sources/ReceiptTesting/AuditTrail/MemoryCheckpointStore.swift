// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import Synchronization

/// A checkpoint store for tests and for trails that end with their process.
///
/// It guards against nothing once the process is gone.
public final class MemoryCheckpointStore: CheckpointStore {
  private let stored: Mutex<[UInt8]?>

  /// Creates a store.
  ///
  /// - Parameter checkpoint: What it holds.
  public init(_ checkpoint: [UInt8]? = nil) { stored = Mutex(checkpoint) }

  /// The checkpoint, encoded; `nil` where none was stored yet.
  public func load() -> [UInt8]? { stored.withLock { $0 } }

  /// Stores `new` where what is stored is exactly `old`.
  public func replace(_ old: [UInt8]?, with new: [UInt8]) -> Bool {
    stored.withLock {
      guard $0 == old else { return false }
      $0 = new
      return true
    }
  }
}
