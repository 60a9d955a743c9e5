// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// A database, as the user of its ``Connection`` sees it.
@safe
package final class Database {
  /// The part of the log that is copied into the file.
  package enum Checkpoint: Sendable {
    /// As much as can be without waiting for anybody.
    case passive
    /// All of it; the log is empty then.
    case truncate
  }

  /// The version of SQLite that the process runs with, such as `3.40.1`.
  package static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

  /// The path of the file, at which errors are placed.
  package let path: String
  /// `nil` once it is closed.
  private var handle: OpaquePointer?
  private var statements: [String: Statement] = [:]
  private let timeout: BusyTimeout

  convenience init(
    _ file: DatabaseFile, _ access: Connection.Access, timeout: BusyTimeout
  ) throws(SQLiteError) {
    let flags =
      switch access {
      case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .reading: SQLITE_OPEN_READONLY
      case .readingImmutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      }
    let name = access == .readingImmutable ? file.immutableURI : file.databasePath
    try self.init(name, flags, path: file.path, timeout: timeout)
  }

  /// Makes an empty database in memory, which is gone with this object.
  convenience init(inMemoryFor path: String) throws(SQLiteError) {
    try self.init(
      ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, path: path, timeout: BusyTimeout(.zero))
  }

  private init(
    _ name: String, _ flags: Int32, path: String, timeout: BusyTimeout
  ) throws(SQLiteError) {
    self.path = path
    self.timeout = timeout
    var opened: OpaquePointer?
    let result = unsafe sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
    guard result == SQLITE_OK else {
      unsafe sqlite3_close(opened)
      throw SQLiteError(result: result, "", at: path)
    }
    unsafe handle = opened
    unsafe sqlite3_extended_result_codes(opened, 1)
    let distrusted = unsafe CSQLite_distrust_schema(opened)
    unsafe sqlite3_busy_handler(
      opened,
      { context, tries in
        guard let context = unsafe context else { return 0 }
        let timeout = unsafe Unmanaged<BusyTimeout>.fromOpaque(context).takeUnretainedValue()
        return timeout.wait(afterTries: Int(tries)) ? 1 : 0
      },
      Unmanaged.passUnretained(timeout).toOpaque())
    guard distrusted == SQLITE_OK else {
      throw SQLiteError(
        .unsupported, at: path, "This SQLite cannot switch off triggers and views: use 3.37 or later.")
    }
  }

  deinit {
    statements = [:]
    unsafe sqlite3_close_v2(handle)
  }

  func close() throws(SQLiteError) {
    statements = [:]
    let result = unsafe sqlite3_close(handle)
    guard result == SQLITE_OK else { throw error(result) }
    unsafe handle = nil
  }

  /// Indicates whether the last call failed because the file is no database.
  var isOfAnotherFormat: Bool { unsafe handle.map { unsafe sqlite3_errcode($0) == SQLITE_NOTADB } ?? false }

  /// The handle of the database.
  func requireHandle() throws(SQLiteError) -> OpaquePointer {
    guard let handle = unsafe handle else { throw SQLiteError(.closed, at: path, "It was closed.") }
    return unsafe handle
  }

  /// The error of a call that just returned `result`.
  func error(_ result: Int32) -> SQLiteError {
    SQLiteError(
      result: result, unsafe handle.map { unsafe String(cString: sqlite3_errmsg($0)) } ?? "", at: path)
  }

  /// Reads the file from its beginning to its end while `goesOn` says so, so that the system has it in memory when others
  /// read its pages in another order: a disk gives a whole file several times as fast as its pages one by one.
  ///
  /// It reads through the connection: to close a descriptor of its own would be to give up the locks of the process.
  package func readAhead(while goesOn: () -> Bool) throws(SQLiteError) {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    var byteCount: Int64 = 0
    let result = unsafe sqlite3_file_control(
      try requireHandle(), "main", SQLITE_FCNTL_FILE_POINTER, &pointer)
    guard result == SQLITE_OK, let file = unsafe pointer, let methods = unsafe file.pointee.pMethods?.pointee,
      unsafe methods.xFileSize?(file, &byteCount) == SQLITE_OK
    else { return }
    let partByteCount: Int64 = 1 << 20
    let part = UnsafeMutableRawPointer.allocate(byteCount: Int(partByteCount), alignment: 4096)
    defer { unsafe part.deallocate() }
    var offset: Int64 = 0
    while offset < byteCount, goesOn() {
      let count = min(partByteCount, byteCount - offset)
      guard unsafe methods.xRead?(file, part, Int32(count), offset) == SQLITE_OK else { return }
      offset += count
    }
  }

  // MARK: - Statements

  /// Runs statements, whose rows are dropped.
  package func execute(_ sql: String) throws(SQLiteError) {
    let result = unsafe sqlite3_exec(try requireHandle(), sql, nil, nil, nil)
    guard result == SQLITE_OK else { throw error(result) }
  }

  /// Uses a prepared statement, which is kept for the next use.
  package func withStatement<Result>(_ sql: String, _ body: (Statement) throws -> Result) throws -> Result {
    let kept = statements[sql]
    // Another one where a caller reads a table in the midst of reading it.
    let statement = if let kept, !kept.isBusy { kept } else { try Statement(sql, of: self) }
    if kept == nil { statements[sql] = statement }
    defer { statement.reset() }
    return try body(statement)
  }

  /// Runs a prepared statement that gives no rows.
  package func run(_ sql: String) throws { _ = try withStatement(sql) { try $0.step() } }

  /// The integer in the first column of the first row; `nil` without one.
  package func integer(_ sql: String) throws -> Int64? {
    try withStatement(sql) { try $0.step() ? $0.integer(0) : nil }
  }

  /// The texts in the first column.
  package func texts(_ sql: String) throws -> [String] {
    try withStatement(sql) { statement in
      var texts: [String] = []
      while try statement.step() { texts.append(statement.text(0)) }
      return texts
    }
  }

  // MARK: - Transactions

  /// Indicates whether a transaction was begun and has not ended.
  package var isInTransaction: Bool { unsafe handle.map { unsafe sqlite3_get_autocommit($0) == 0 } ?? false }

  /// Commits what `body` does, or nothing where it throws.
  package func transaction(_ body: () throws -> Void) throws {
    try run("BEGIN IMMEDIATE")
    do {
      try body()
      try run("COMMIT")
    } catch {
      rollBack()
      throw error
    }
  }

  /// Ends a transaction without effect. SQLite ends it by itself after some errors.
  package func rollBack() {
    if isInTransaction { try? run("ROLLBACK") }
  }

  /// Copies the log into the file.
  package func checkpoint(_ checkpoint: Checkpoint) throws(SQLiteError) {
    let mode = checkpoint == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
    let result = unsafe sqlite3_wal_checkpoint_v2(try requireHandle(), "main", mode, nil, nil)
    guard result == SQLITE_OK else { throw error(result) }
  }

  /// Has SQLite tell the length of the log in pages after each commit, instead of copying the log by itself and keeping
  /// errors to itself. The observer must outlive the connection's use.
  func observeCommits(_ observer: LogLength) throws(SQLiteError) {
    unsafe sqlite3_wal_hook(
      try requireHandle(),
      { context, _, _, pages in
        if let context = unsafe context {
          unsafe Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue().set(Int(pages))
        }
        return SQLITE_OK
      },
      Unmanaged.passUnretained(observer).toOpaque())
  }
}

extension String {
  /// The text as a literal of SQL.
  var quotedText: String { "'\(replacing("'", with: "''"))'" }

  /// The text as an identifier of SQL.
  package var quotedIdentifier: String { "\"\(replacing("\"", with: "\"\""))\"" }
}
