// SPDX-License-Identifier: Apache-2.0

public import AuditTrail
internal import FoundationEssentials
internal import SQLite
internal import TransparencyLog

extension SQLiteStorage {
  /// The default time that a write waits for writes of other processes.
  public static let defaultBusyTimeout: Duration = .seconds(30)

  /// Creates an empty trail that only its owner can read and write.
  ///
  /// The file appears under its name when it is complete, with its directory synced.
  ///
  /// - Parameters:
  ///   - path: The path of a file that does not exist, in a directory that does.
  ///   - busyTimeout: The maximum time that a write waits for writes of other processes.
  /// - Throws: `StorageError` with `notATrail` if the path is taken, `full`, `inputOutput` or `syncFailed`.
  public convenience init(
    creatingAt path: String, busyTimeout: Duration = SQLiteStorage.defaultBusyTimeout
  ) throws {
    try StorageError.mapping { try DatabaseFormat.trail().create(DatabaseFile(path)) }
    try self.init(openingAt: path, busyTimeout: busyTimeout)
  }

  /// Opens a trail.
  ///
  /// Everything that a process committed before it crashed is present, and is on disk when this returns.
  ///
  /// - Parameters:
  ///   - path: The path of the trail's file.
  ///   - busyTimeout: The maximum time that a write waits for writes of other processes.
  /// - Throws: `StorageError` with `notFound`, `notATrail`, `unsupported` if the layout has a different version,
  ///   `corrupt`, `busy`, `inputOutput` or `syncFailed`.
  public convenience init(
    openingAt path: String, busyTimeout: Duration = SQLiteStorage.defaultBusyTimeout
  ) throws {
    try self.init(openingAt: path, busyTimeout: busyTimeout, tuning: SQLiteTuning())
  }

  /// Opens the trail in a file, with the files beside it that `receipt-tool audit init` creates.
  ///
  /// These are `PATH.pub`, the public key; `PATH.checkpoint`, the last checkpoint; and `PATH.key`, the private key.
  /// Without the private key, the trail is opened only for reading.
  ///
  /// - Parameters:
  ///   - path: The path of the trail's file.
  ///   - readOnly: A Boolean value that indicates whether to open the trail only for reading even if there is a
  ///     private key. This process then needs no permission to write to the file.
  ///   - options: The options for this process.
  /// - Returns: The open trail.
  /// - Throws: `AuditError`: `notFound`, `wrongKey` if a key cannot be read, and those of `AuditLog.open`.
  public static func openTrail(
    at path: String, readOnly: Bool = false, options: AuditLog.Options = AuditLog.Options()
  ) throws(AuditError) -> AuditLog {
    do {
      let verifier = try NoteVerifierKey(
        text(of: path + ".pub").split(separator: "\n").first.map(String.init) ?? "")
      let hasKey = FileManager.default.fileExists(atPath: path + ".key")
      let isWritten = hasKey && !readOnly
      let signer = try isWritten ? NoteSignerKey(name: verifier.name, pem: text(of: path + ".key")) : nil
      let storage = try isWritten ? SQLiteStorage(openingAt: path) : SQLiteStorage(readingAt: path)
      return try AuditLog.open(
        storage, verifier: verifier, signer: signer,
        checkpoints: FileCheckpointStore(path: path + ".checkpoint"), options: options)
    } catch let error as AuditError {
      throw error
    } catch let error as StorageError {
      throw AuditError(error)
    } catch {
      throw AuditError(.wrongKey, at: path, "A key beside the trail cannot be read: \(error)")
    }
  }

  private static func text(of path: String) throws(AuditError) -> String {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      throw AuditError(.notFound, at: path, "There is no such file, or it cannot be read.")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension DatabaseLayout {
  /// The layout of a trail: the application ID "RKAT" and a table for each `StorageTable`.
  static let trail = DatabaseLayout(
    applicationID: 0x524B_4154, version: 3,
    statements: StorageTable.allCases.map { TableStatements[$0].create })
}

extension DatabaseFormat {
  /// The format of a trail's file. `secure_delete = FAST` zeroes the space that becomes free in pages that are written
  /// anyway. Without it, a page that SQLite splits keeps its old rows, and later erasing cannot reach them.
  static func trail(_ tuning: SQLiteTuning = SQLiteTuning()) -> DatabaseFormat {
    DatabaseFormat(
      layout: .trail, sharing: .shared, synchronization: .deferred, pageSize: tuning.pageSize,
      logLimit: tuning.logLimit,
      pragmas: """
        PRAGMA secure_delete = FAST;
        PRAGMA cache_size = -\(tuning.writerCache / 1024);
        PRAGMA journal_size_limit = \(tuning.logLimit);
        """,
      readerPragmas: "PRAGMA cache_size = -\(tuning.readerCache / 1024)",
      reopening: "Open the trail anew.")
  }
}

extension StorageError {
  /// Converts an SQLite error to an error of the storage protocol.
  init(_ error: SQLiteError) {
    let (code, message) = error.translated(occupied: Code.notATrail, closed: "The trail was closed.")
    self.init(code, at: error.place, message)
  }

  /// Runs `body` and converts its SQLite errors to storage errors. Other errors, such as those of a caller's closure,
  /// are rethrown as they are.
  static func mapping<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      throw StorageError(error)
    }
  }
}
