// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// A database, as the body of ``Connection/use(_:)`` accesses it.
@safe
package final class Database {
  /// The version of SQLite at run time, such as `3.40.1`.
  package static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

  /// The path of the file, which errors have as their place.
  package let path: String
  /// The SQLite handle; `nil` after the database was closed.
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

  /// Creates an empty database in memory, which is deleted together with this object.
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
    try require(unsafe sqlite3_close(handle))
    unsafe handle = nil
  }

  /// Indicates whether the last call failed because the file is not a database.
  var isOfAnotherFormat: Bool { unsafe handle.map { unsafe sqlite3_errcode($0) == SQLITE_NOTADB } ?? false }

  /// Returns the handle, and throws if the database was closed.
  func requireHandle() throws(SQLiteError) -> OpaquePointer {
    guard let handle = unsafe handle else { throw SQLiteError(.closed, at: path, "It was closed.") }
    return unsafe handle
  }

  /// Throws the error of a call that has just returned `result` unless it is the expected one.
  func require(_ result: Int32, _ expected: Int32 = SQLITE_OK) throws(SQLiteError) {
    guard result == expected else { throw error(result) }
  }

  /// The error of a call that has just returned `result`.
  func error(_ result: Int32) -> SQLiteError {
    SQLiteError(
      result: result, unsafe handle.map { unsafe String(cString: sqlite3_errmsg($0)) } ?? "", at: path)
  }

  /// Reads the file from beginning to end while `goesOn` returns `true`, so that the system has it in memory. A disk
  /// reads a whole file several times faster than its pages one by one, as readers with a different order would. It
  /// reads through the connection. Closing a separate descriptor would release the locks of the process.
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

  /// Runs statements and ignores their rows.
  package func execute(_ sql: String) throws(SQLiteError) {
    try require(unsafe sqlite3_exec(try requireHandle(), sql, nil, nil, nil))
  }

  /// Runs `body` with a prepared statement, which is cached for the next use.
  package func withStatement<Result>(_ sql: String, _ body: (Statement) throws -> Result) throws -> Result {
    let kept = statements[sql]
    // If the cached statement is busy, because a caller reads a table while reading it already, a new one is
    // prepared.
    let statement = if let kept, !kept.isBusy { kept } else { try Statement(sql, of: self) }
    if kept == nil { statements[sql] = statement }
    defer { statement.reset() }
    return try body(statement)
  }

  /// Runs a prepared statement that returns no rows.
  package func run(_ sql: String) throws { _ = try withStatement(sql) { try $0.step() } }

  /// The integer in the first column of the first row; `nil` if there is no row.
  package func integer(_ sql: String) throws -> Int64? {
    try withStatement(sql) { try $0.step() ? $0.integer(0) : nil }
  }

  /// The rows of a statement, each as `row` reads it.
  package func rows<Row>(_ sql: String, _ row: (Statement) throws -> Row) throws -> [Row] {
    try withStatement(sql) { statement in
      var rows: [Row] = []
      while try statement.step() { rows.append(try row(statement)) }
      return rows
    }
  }

  /// The texts in the first column of all rows.
  package func texts(_ sql: String) throws -> [String] { try rows(sql) { $0.text(0) } }

  // MARK: - Transactions

  package var isInTransaction: Bool { unsafe handle.map { unsafe sqlite3_get_autocommit($0) == 0 } ?? false }

  /// Runs `body` in a transaction, which is rolled back if `body` throws.
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

  /// Rolls the transaction back. After some errors SQLite has already done so.
  package func rollBack() { if isInTransaction { try? run("ROLLBACK") } }

  /// Copies the log into the file.
  package func checkpoint(_ checkpoint: Checkpoint) throws(SQLiteError) {
    let mode = checkpoint == .passive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE
    try require(unsafe sqlite3_wal_checkpoint_v2(try requireHandle(), "main", mode, nil, nil))
  }

  /// Makes SQLite report the length of the log in pages after each commit to `copying`, which must outlive the use of
  /// the connection. This replaces SQLite's automatic copying of the log, which would not report errors.
  func observeCommits(_ copying: LogCopying) throws(SQLiteError) {
    unsafe sqlite3_wal_hook(
      try requireHandle(),
      { context, _, _, pages in
        if let context = unsafe context {
          unsafe Unmanaged<LogCopying>.fromOpaque(context).takeUnretainedValue().setPageCount(Int(pages))
        }
        return SQLITE_OK
      },
      Unmanaged.passUnretained(copying).toOpaque())
  }
}

extension String {
  /// The text as an SQL string literal.
  var quotedText: String { "'\(replacing("'", with: "''"))'" }

  /// The text as an SQL identifier.
  package var quotedIdentifier: String { "\"\(replacing("\"", with: "\"\""))\"" }
}
