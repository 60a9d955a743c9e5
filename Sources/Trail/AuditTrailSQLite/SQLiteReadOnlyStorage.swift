// SPDX-License-Identifier: Apache-2.0

package import AuditTrail
internal import SQLite

/// An audit trail in an SQLite file that is opened only for reading.
///
/// Use it for a file on a read-only disk or in another user's directory, or if nothing must be modified.
///
/// While other processes use the trail, their changes are visible as soon as they are committed, if the `-wal` and
/// `-shm` files beside it are readable. If no process uses the trail, and there is no `-wal` file beside it, only the
/// file itself is read. The file must then not be changed while it is open.
package final class SQLiteReadOnlyStorage: TrailStorage {
  private let file: DatabaseFile
  private let readers: ReaderPool

  /// Opens a trail.
  ///
  /// - Parameters:
  ///   - path: The path of the trail's file.
  ///   - busyTimeout: The maximum time that a read waits for other processes.
  /// - Throws: `StorageError` with `notFound`, `notATrail`, `unsupported` if the layout has a different version,
  ///   `corrupt`, or `inputOutput` if there is a log beside the file that cannot be read without writing.
  package init(openingAt path: String, busyTimeout: Duration = SQLiteStorage.defaultBusyTimeout) throws {
    let file = try StorageError.mapping { try DatabaseFile(path) }
    self.file = file
    readers = try StorageError.mapping {
      try DatabaseFormat.trail().openReadOnly(file, busyTimeout: busyTimeout)
    }
  }

  /// The path of the trail's file.
  package var path: String { file.path }

  /// Reads one snapshot: the last state that was committed when `body` first reads.
  ///
  /// - Throws: `StorageError`, and any error from `body`.
  package func read<Result>(_ body: (any StorageReader) throws -> Result) throws -> Result {
    try StorageError.mapping { try readers.withReader { try SQLiteAccess.reading($0, body) } }
  }

  /// Always throws, because the trail was opened only for reading.
  ///
  /// - Throws: `AuditError` with `readOnly`.
  package func write<Result>(_ body: (any StorageWriter) throws -> Result) throws -> Result {
    throw AuditError(.readOnly, at: file.path, "The trail was opened only for reading.")
  }

  /// Always throws, because the trail was opened only for reading.
  ///
  /// - Throws: `AuditError` with `readOnly`.
  package func scrub() throws { try write { _ in } }

  /// The total size of the file, its log and the index of the log, in bytes.
  package func byteCount() throws -> UInt64 { file.totalByteCount }

  /// Reads all pages of the file, and returns the faults that SQLite finds in them, at most 100 lines.
  package func structuralFaults() throws -> [String] {
    try SQLiteStorage.structuralFaults(readers, file)
  }

  /// Closes the trail. Reads in progress still complete.
  package func close() throws { try StorageError.mapping { try readers.close() } }
}
