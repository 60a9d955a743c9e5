// SPDX-License-Identifier: Apache-2.0

/// The storage of an audit trail: a few ordered tables of byte strings, with transactions.
///
/// Everything that a trail means (entries, tree, indexes, exactly-once) is decided above this protocol, so that
/// every storage gives the same answers and the same root. What a storage owes:
///
/// - *Atomic*: all changes of a ``write(_:)`` become visible together, or none of them, a crash at any moment
///   included.
/// - *Durable*: when ``write(_:)`` returns, its changes survive the loss of power, and so does everything that was
///   written before it. What ``writeUnsynchronized(_:)`` wrote does after the next ``synchronize()``; a loss of power
///   before may take the last such writes away, whole and the newest first, and no other.
/// - *Exclusive*: at most one ``write(_:)`` runs at a time, among all processes that use the same trail; it sees
///   everything that was written before.
/// - *Isolated*: a ``read(_:)`` sees one state for as long as it runs, and is not kept waiting by a writer.
///
/// The functions block; call them from a thread that may.
public protocol TrailStorage: Sendable {
  /// Reads one state.
  ///
  /// - Throws: ``StorageError``, and the errors of `body`.
  func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result

  /// Changes the trail: all that `body` does, or nothing where it throws.
  ///
  /// - Throws: ``StorageError``, and the errors of `body`. After ``StorageError/Code/syncFailed`` it is not known
  ///   what is stored, and the storage refuses every further write until it is opened again.
  func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result

  /// Changes the trail as ``write(_:)`` does, but returns before the changes survive the loss of power. Others see them
  /// already: call ``synchronize()`` before acknowledging or signing them.
  ///
  /// - Throws: As ``write(_:)``.
  func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result

  /// Returns when everything that was written before the call, by whatever process, survives the loss of power. Writes
  /// may go on meanwhile.
  ///
  /// - Throws: ``StorageError/Code/syncFailed``: the storage then refuses every further write and sync until it is
  ///   opened again. ``StorageError/Code/closed``.
  func synchronize() throws

  /// Makes what was removed or overwritten before this call unrecoverable from the storage's own files, as far as
  /// the storage can: logs of earlier changes are truncated.
  func scrub() throws

  /// The bytes that the trail takes up, files of the storage's own included.
  func byteCount() throws -> UInt64

  /// What is wrong with the storage's own structure, one line each; empty if nothing is, or the storage has no way
  /// to tell. It may read everything that is stored.
  func structuralFaults() throws -> [String]

  /// Ends the use of the storage. Reads and writes after it throw ``StorageError/Code/closed``.
  func close() throws
}

extension TrailStorage {
  /// ``write(_:)``, for a storage whose every write is durable.
  public func writeUnsynchronized<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    try write(body)
  }

  /// Nothing, for a storage whose every write is durable.
  public func synchronize() throws {}

  /// Nothing: there is no structure that could be damaged by itself.
  public func structuralFaults() throws -> [String] { [] }
}

/// One state of a trail's tables.
public protocol StorageReader {
  /// The value at `key`; `nil` without one.
  func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]?

  /// Part of the value at `key`, without reading all of it: the bytes of `range` as far as the value has them;
  /// `nil` if there is no value.
  func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]?

  /// Calls `body` with each key in `keys` that has a value, and the value, in ascending order, until `body` returns `false`.
  func forEach(
    _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool) throws

  /// Says which values will be asked for next, so that a storage that is far away can fetch them all at once.
  ///
  /// - Parameters:
  ///   - table: Where they are.
  ///   - keys: Gives their keys; called only where it helps.
  /// - Throws: ``StorageError``.
  func prefetch(_ table: StorageTable, _ keys: () -> [Int64]) throws

  /// The greatest key in `keys` that has a value.
  func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64?
}

extension StorageReader {
  /// Nothing: a storage that is near is asked when a value is needed.
  public func prefetch(_ table: StorageTable, _ keys: () -> [Int64]) throws {}
}

/// A state of a trail's tables that is being changed.
public protocol StorageWriter: StorageReader {
  /// Sets the value at `key`, which is one of the keys that the table may have.
  func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws

  /// Overwrites part of the value at `key` where it lies, so that what stood there is gone.
  ///
  /// - Throws: ``StorageError/Code/corrupt`` where there is no such value or it ends before.
  func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws

  /// Removes the values at `keys`.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - keys: The keys.
  ///   - erasing: Whether the bytes themselves must be gone, not only the way to them.
  /// - Throws: ``StorageError``.
  func remove(_ table: StorageTable, in keys: ClosedRange<Int64>, erasing: Bool) throws
}

/// The tables of a trail.
public enum StorageTable: Int, Sendable, CaseIterable {
  /// The head of the trail, at key 0. Every append changes it.
  case head = 0
  /// Signed notes: the configuration at key 0, the newest checkpoint at key 1.
  case notes
  /// 256 entries each, with their leaf hashes and erasable parts, by bundle number.
  case bundles
  /// The entries after the last full bundle, by index.
  case tail
  /// Erasable parts too large for a bundle, by index.
  case payloads
  /// Full tiles of the levels above 0, by level << 48 | number.
  case tiles
  /// The index's catalogue at key 0; the filters and fences of its runs, by run number << 24 | row.
  case runs
  /// The pages of index runs, by run number << 24 | page number.
  case pages
  /// The pages and fences of index runs whose records are about persons, and can be removed. A row that is replaced or
  /// removed must leave no bytes behind once ``TrailStorage/scrub()`` returns.
  case personal
  /// What the keys of erasable parts are computed from, sealed: the whole at key 0, then by block of entries.
  case covers
  /// The keys that ``covers`` is sealed with: the only values that are overwritten so that what stood there is gone.
  /// Leave them out of backups.
  case keys

  /// The keys that values may have. Any key may be looked for.
  public var keys: ClosedRange<Int64> { self == .bundles ? 0...Int64(UInt32.max) : .min ... .max }
}
