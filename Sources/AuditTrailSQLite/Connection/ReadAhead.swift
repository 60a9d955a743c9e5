// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import Dispatch
  internal import FoundationEssentials
  internal import GRDB
  internal import GRDBSQLite
  internal import Synchronization

  /// Reads a file from its beginning to its end, so that the system has it in memory when others read it in another
  /// order: a disk gives a whole file several times as fast as its pages one by one.
  final class ReadAhead: Sendable {
    private static let partByteCount: Int64 = 1 << 20

    private let group = DispatchGroup()
    private let isOver = Atomic(false)

    /// Begins to read, on a connection that nobody else uses before ``end()``.
    init(_ reader: DatabaseQueue) {
      DispatchQueue.global().async(group: group) { [self] in reader.inDatabase(read) }
    }

    /// Returns when nothing is read any more.
    func end() {
      isOver.store(true, ordering: .relaxed)
      group.wait()
    }

    /// Reads through the connection: of a descriptor of its own, the end would be that of the process's locks.
    private func read(_ database: Database) {
      var pointer: UnsafeMutablePointer<sqlite3_file>?
      var byteCount: Int64 = 0
      guard
        unsafe sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, &pointer)
          == SQLITE_OK,
        let file = unsafe pointer, let methods = unsafe file.pointee.pMethods?.pointee,
        unsafe methods.xFileSize?(file, &byteCount) == SQLITE_OK,
        // Of a larger file the beginning would be gone from memory before it is asked for.
        UInt64(clamping: byteCount) < ProcessInfo.processInfo.physicalMemory / 4 * 3
      else { return }
      let part = UnsafeMutableRawPointer.allocate(byteCount: Int(Self.partByteCount), alignment: 4096)
      defer { unsafe part.deallocate() }
      var offset: Int64 = 0
      while offset < byteCount, !isOver.load(ordering: .relaxed) {
        let count = min(Self.partByteCount, byteCount - offset)
        guard unsafe methods.xRead?(file, part, Int32(count), offset) == SQLITE_OK else { return }
        offset += count
      }
    }
  }
#endif
