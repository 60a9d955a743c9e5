// SPDX-License-Identifier: Apache-2.0

package import ReceiptBytes

/// The path of a database file, and the operations that do not open the file. POSIX locks are lost as soon as the
/// process closes any descriptor of the file, so only SQLite may ever open it.
package struct DatabaseFile: Sendable {
  /// The path as the user specified it.
  package let path: String

  package init(_ path: String) throws(SQLiteError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(.notFound, at: path, "A path is not empty and has no zero byte.")
    }
    self.path = path
  }

  /// The path passed to SQLite. It never has a form with a special meaning (`:memory:`, `file:…`).
  package var databasePath: String { path.hasPrefix("/") ? path : "./" + path }

  /// The URI passed to SQLite for a file that does not change (sqlite.org/uri.html).
  var immutableURI: String {
    let escaped = databasePath.utf8.map { byte in
      let isPlain =
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
        || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
        || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
      return isPlain ? String(UnicodeScalar(byte)) : "%" + Hexadecimal.encode([byte])
    }
    return "file:\(escaped.joined())?immutable=1"
  }

  /// The status of the file; `nil` if it does not exist or its status cannot be read.
  package var status: File.Status? { try? FileSystem.status(databasePath) }

  /// Returns the identity of the file, which must exist and have contents.
  ///
  /// - Throws: ``SQLiteError`` with `notFound` or `occupied`.
  @discardableResult
  func requireContents() throws(SQLiteError) -> File.Identity {
    guard let status else { throw SQLiteError(.notFound, at: path, "There is no such file.") }
    guard status.isRegularFile, status.byteCount > 0 else {
      throw SQLiteError(.occupied, at: path, "It is not a file with anything in it.")
    }
    return status.identity
  }

  /// Indicates whether there is a non-empty SQLite log beside the file.
  var hasLog: Bool { Self.byteCount(databasePath + "-wal") > 0 }

  /// The total size of the file, its log and the index of the log in bytes, if the path is not a symbolic link.
  package var totalByteCount: UInt64 { allPaths.reduce(0) { $0 + Self.byteCount($1) } }

  private static func byteCount(_ path: String) -> UInt64 {
    (try? FileSystem.status(path)).flatMap { $0 }?.byteCount ?? 0
  }

  private var allPaths: [String] { [databasePath, databasePath + "-wal", databasePath + "-shm"] }

  /// Creates a database that appears under the path when it is complete and on disk, with its directory synced. `fill`
  /// fills an empty file beside the path, which only its owner can read, and closes it. Throws ``SQLiteError`` with
  /// `occupied` if the path is taken, `full`, `inputOutput` or `syncFailed`; and any error from `fill`. After an error,
  /// no files remain.
  package func create(_ fill: (DatabaseFile) throws -> Void) throws {
    guard status == nil else { throw taken }
    let sibling = try makeSibling()
    let unfinished = sibling.allPaths.map { UnfinishedFile($0) }
    defer {
      for path in sibling.allPaths { try? FileSystem.remove(path) }
      for file in unfinished { file.finish() }
    }
    try fill(sibling)
    try take(sibling)
  }

  /// Creates an empty file beside this one under an unused name, which only its owner can read.
  private func makeSibling() throws(SQLiteError) -> DatabaseFile {
    for _ in 0..<16 {
      let sibling = try DatabaseFile(path + ".new-" + String(UInt64.random(in: .min ... .max), radix: 36))
      do throws(SystemError) {
        try File(sibling.databasePath, .creating, permissions: 0o600).close()
        return sibling
      } catch {
        guard error.isExisting else { throw self.error("cannot be created", error) }
      }
    }
    throw SQLiteError(.inputOutput, at: path, "No free name for a new file was found next to it.")
  }

  /// Gives the finished `sibling` this name, which must be free. The name is on disk when it returns.
  private func take(_ sibling: DatabaseFile) throws(SQLiteError) {
    // If disk space runs out, SQLite closes a database without an error although it could not copy the log into it.
    // The data that is only in the log would then be lost with it.
    guard !sibling.hasLog else {
      throw SQLiteError(
        .full, at: path, "What was written could not be copied into the file: is there space for it?")
    }
    do throws(SystemError) {
      try FileSystem.link(sibling.databasePath, as: databasePath)
    } catch {
      throw error.isExisting ? taken : self.error("cannot be created", error)
    }
    try? FileSystem.remove(sibling.databasePath)
    do throws(SystemError) {
      try FileSystem.synchronizeDirectory(FileSystem.directory(of: databasePath))
    } catch {
      throw SQLiteError(.syncFailed, at: path, "Its directory cannot be synced: \(error.reason).")
    }
  }

  private var taken: SQLiteError {
    SQLiteError(.occupied, at: path, "Nothing new is put over what is there. Choose another path.")
  }

  private func error(_ what: String, _ error: SystemError) -> SQLiteError {
    SQLiteError(error.isFull ? .full : .inputOutput, at: path, "The file \(what): \(error.reason).")
  }
}
