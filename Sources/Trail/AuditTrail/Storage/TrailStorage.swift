// SPDX-License-Identifier: Apache-2.0

/// A storage of an audit trail: a few ordered tables of byte strings, with transactions.
///
/// Everything that a trail means (entries, tree, indexes, exactly-once) is decided above this protocol, so that every
/// storage gives the same answers and the same root. Requirements for a storage:
///
/// - *Atomic*: all changes of a ``write(_:)`` become visible together, or none of them does, even after a crash at any
///   moment.
/// - *Durable*: when ``write(_:)`` returns, its changes survive a power loss, and so does everything that was written
///   before it. The changes of ``writeUnsynchronized(_:)`` survive a power loss after the next ``synchronize()``. A
///   power loss before that may discard only the last such writes, each as a whole and the newest first.
/// - *Exclusive*: at most one ``write(_:)`` runs at a time, among all processes that use the same trail. It sees
///   everything that was written before.
/// - *Isolated*: a ``read(_:)`` sees one snapshot for as long as it runs, and does not wait for a writer.
///
/// The functions block; call them from a thread that may block.
public protocol TrailStorage: Sendable {
  /// Reads a snapshot.
  ///
  /// - Throws: ``StorageError``, and the errors of `body`.
  func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result

  /// Changes the trail: stores everything that `body` does, or nothing if it throws.
  ///
  /// - Throws: ``StorageError``, and the errors of `body`. After ``StorageError/Code/syncFailed`` it is unknown what is
  ///   stored, and the storage refuses every further write until it is opened again.
  func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result

  /// Changes the trail as ``write(_:)`` does, but returns before the changes survive a power loss.
  ///
  /// Others see them already: call ``synchronize()`` before acknowledging or signing them.
  ///
  /// - Throws: As ``write(_:)``.
  func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result

  /// Waits until everything that any process wrote before the call survives a power loss.
  ///
  /// Writes may continue meanwhile.
  ///
  /// - Throws: ``StorageError/Code/syncFailed``: the storage then refuses every further write and sync until it is
  ///   opened again. ``StorageError/Code/closed``.
  func synchronize() throws

  /// Makes everything that was removed or overwritten before this call unrecoverable from the storage's own files, as
  /// far as the storage can: logs of earlier changes are truncated.
  func scrub() throws

  /// Returns the number of bytes that the trail occupies, including the storage's own files.
  func byteCount() throws -> UInt64

  /// Returns the faults of the storage's own structure, one line each.
  ///
  /// The array is empty if there are no faults, or the storage cannot detect them. It may read everything that is
  /// stored.
  func structuralFaults() throws -> [String]

  /// Closes the storage.
  ///
  /// Later reads and writes throw ``StorageError/Code/closed``.
  func close() throws
}

extension TrailStorage {
  /// Calls ``write(_:)``, for a storage whose every write is durable.
  public func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    try write(body)
  }

  /// Does nothing, for a storage whose every write is durable.
  public func synchronize() throws {}

  /// Returns no faults: the storage has no structure of its own that could be damaged.
  public func structuralFaults() throws -> [String] { [] }
}

/// A snapshot of a trail's tables.
public protocol StorageReader {
  /// Returns the value at `key`; `nil` if there is no value.
  func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]?

  /// Returns part of the value at `key` without reading all of it: the bytes of `range` as far as the value has them;
  /// `nil` if there is no value.
  func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]?

  /// Calls `body` with each key in `keys` that has a value, and the value, in ascending order, until `body` returns
  /// `false`.
  func forEach(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool) throws

  /// Announces the values that are read next, so that a remote storage can fetch them all at once.
  ///
  /// - Parameters:
  ///   - table: The table of the values.
  ///   - keys: Returns the keys of the values; called only if prefetching helps.
  /// - Throws: ``StorageError``.
  func prefetch(_ table: StorageTable, _ keys: () -> [Int64]) throws

  /// Returns the greatest key in `keys` that has a value.
  func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64?
}

extension StorageReader {
  /// Does nothing: a local storage reads a value when it is needed.
  public func prefetch(_ table: StorageTable, _ keys: () -> [Int64]) throws {}
}

/// A state of a trail's tables that is being changed.
public protocol StorageWriter: StorageReader {
  /// Sets the value at `key`, which must be one of the keys that the table may have.
  func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws

  /// Overwrites part of the value at `key` in place, so that the old bytes are gone.
  ///
  /// - Throws: ``StorageError/Code/corrupt`` if there is no such value, or it ends before.
  func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws

  /// Removes the values at `keys`.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - keys: The keys.
  ///   - erasing: `true` if the bytes themselves must be gone, and not only become unreachable.
  /// - Throws: ``StorageError``.
  func remove(_ table: StorageTable, in keys: ClosedRange<Int64>, erasing: Bool) throws
}

extension StorageTable {
  /// The keys that values may have; any key may be read.
  package var keys: ClosedRange<Int64> { self == .bundles ? 0...Int64(UInt32.max) : .min ... .max }
}
