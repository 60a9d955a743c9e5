// SPDX-License-Identifier: Apache-2.0

#if SQLite
  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #elseif canImport(Android)
    internal import Android
  #else
    internal import Darwin
  #endif
  package import GRDB
  internal import GRDBSQLite

  /// The write-ahead log of a database that is open, for having it synced while SQLite is at work on the next commits.
  ///
  /// SQLite locks the database's file and never its log, so that no lock is lost when this descriptor is closed; and the
  /// log stays the same file for as long as a connection is open.
  package final class DatabaseLog: Sendable {
    /// Where it is: not next to a path that is a symbolic link, but next to the file that it leads to.
    package let path: String
    private let descriptor: Int32

    /// Opens the log of a database that `database` has read from.
    ///
    /// - Throws: ``DatabaseFault`` with `inputOutput`.
    package init(of database: Database) throws(DatabaseFault) {
      let connection = unsafe database.sqliteConnection
      guard let name = unsafe sqlite3_db_filename(connection, "main"),
        let log = unsafe sqlite3_filename_wal(name)
      else { throw DatabaseFault(.inputOutput, at: "log", "The database is in no file.") }
      path = unsafe String(cString: log)
      descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        throw DatabaseFault(.inputOutput, at: path, "It cannot be opened: \(DatabaseFile.reason()).")
      }
    }

    deinit { _ = close(descriptor) }

    /// How long it is, in bytes.
    package var byteCount: UInt64 {
      var status = stat()
      return unsafe fstat(descriptor, &status) == 0 ? UInt64(max(0, status.st_size)) : .max
    }

    /// Returns when every commit that was in the log before the call is on disk (`fdatasync`, and `F_FULLFSYNC` on Apple
    /// systems).
    ///
    /// - Throws: ``DatabaseFault`` with `syncFailed`. A sync that failed must not be tried again: the system may have
    ///   dropped what it could not write, and would report success.
    package func synchronize() throws(DatabaseFault) {
      #if canImport(Darwin)
        // Where the file system has no such call, SQLite as well is content with the other.
        let isSynchronized = fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0
      #else
        let isSynchronized = fdatasync(descriptor) == 0
      #endif
      guard isSynchronized else {
        throw DatabaseFault(.syncFailed, at: path, "It cannot be synced: \(DatabaseFile.reason()).")
      }
    }
  }
#endif
