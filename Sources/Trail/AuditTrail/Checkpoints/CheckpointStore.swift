// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

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

/// A checkpoint store in a file, which several processes on one machine may use.
///
/// Two other files may be beside the file at `path`. `path.lock` is an empty file, which is locked by the process that
/// replaces the checkpoint. `path.new` exists during a replacement, and after one that was interrupted. The file itself
/// is only ever replaced as a whole. All files have the mode 0644. They must not be on a file system without `flock`,
/// such as some network drives.
public struct FileCheckpointStore: CheckpointStore {
  /// The step of a replacement that was just completed; tests interrupt it there.
  enum Step: CaseIterable {
    case locked, compared, created, written, synced, renamed
  }

  package let path: String
  /// The time that ``replace(_:with:)`` waits for others.
  package let lockTimeout: Duration

  private let afterStep: @Sendable (Step) throws(StorageError) -> Void

  /// Creates a store in a file.
  ///
  /// The file need not exist, but its directory must.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - lockTimeout: The time that ``replace(_:with:)`` waits for others before it throws ``StorageError/Code/busy``.
  public init(path: String, lockTimeout: Duration = .seconds(10)) {
    self.init(path: path, lockTimeout: lockTimeout) { _ throws(StorageError) in }
  }

  init(
    path: String, lockTimeout: Duration = .seconds(10),
    afterStep: @escaping @Sendable (Step) throws(StorageError) -> Void
  ) {
    self.path = path
    self.lockTimeout = lockTimeout
    self.afterStep = afterStep
  }

  /// The checkpoint, encoded; `nil` if there is no file.
  ///
  /// - Throws: ``StorageError/Code/inputOutput``, and ``StorageError/Code/corrupt`` if the file is too long for a
  ///   checkpoint.
  public func load() throws(StorageError) -> [UInt8]? {
    try StorageError.contents(of: path, limit: maximumStoredCheckpointByteCount)
  }

  /// Stores `new` if the stored checkpoint is exactly `old`.
  ///
  /// - Returns: `true` if it was stored.
  /// - Throws: ``StorageError/Code/notFound`` if the directory does not exist, ``StorageError/Code/busy``,
  ///   ``StorageError/Code/full``, ``StorageError/Code/unsupported`` if `new` has more than 1 MiB, and
  ///   ``StorageError/Code/inputOutput``: all of them mean that nothing was stored. After
  ///   ``StorageError/Code/syncFailed`` the file is replaced, but the replacement may not survive a power loss.
  public func replace(_ old: [UInt8]?, with new: [UInt8]) throws(StorageError) -> Bool {
    guard new.count <= maximumStoredCheckpointByteCount else {
      throw StorageError(
        .unsupported, at: path, "A checkpoint of \(new.count) bytes is longer than what can be stored.")
    }
    let lock = try StorageError.doing(
      "It cannot be created", at: "\(path).lock", try File("\(path).lock", .updating))
    defer { withExtendedLifetime(lock) {} }
    // Override the process's umask: others may use the file, but not change its mode.
    lock.setPermissions(0o644)
    let isLocked = try StorageError.doing(
      "It cannot be locked", at: "\(path).lock", try lock.lock(within: lockTimeout))
    guard isLocked else {
      throw StorageError(
        .busy, at: "\(path).lock", "Another process has held the lock for \(lockTimeout); try again.")
    }
    try afterStep(.locked)
    guard try load() == old else { return false }
    try afterStep(.compared)
    // The file is only touched under the lock, so a file that a crash left behind is overwritten.
    let unfinished = "\(path).new"
    let file = try StorageError.doing(
      "It cannot be created", at: unfinished, try File(unfinished, .replacing))
    file.setPermissions(0o644)
    try afterStep(.created)
    try StorageError.doing("It cannot be written", at: unfinished, try file.write(new))
    try afterStep(.written)
    try StorageError.doing("It cannot be synced", at: unfinished, try file.synchronize())
    try afterStep(.synced)
    try StorageError.doing("It cannot be replaced", at: path, try FileSystem.rename(unfinished, to: path))
    try afterStep(.renamed)
    try StorageError.synchronizeDirectory(FileSystem.directory(of: path))
    return true
  }
}
