// SPDX-License-Identifier: Apache-2.0

package import Entitlements
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptVerification
internal import SQLite
internal import Synchronization

/// An entitlement ledger in an SQLite file, with the processed notifications of the App Store and of Google Play.
///
/// A notification and its effect on the ledger are one commit, so a crash at any instant leaves both or neither.
///
/// Each original transaction, each customer whose guardian withdrew consent, and each purchase in Google Play is a row
/// with its own ledger. Several processes may use a file at once. A file of layout 1, which has only the App Store's
/// tables, is upgraded when it is opened; a process of an earlier build that has the file open at that time is not
/// disturbed. The file must be on a local disk, because locks of network file systems are unreliable.
package final class EntitlementStore: Sendable {
  private let file: DatabaseFile
  private let identity: File.Identity?
  private let connection: Connection
  private let copying: LogCopying
  /// The error of a failed sync, after which the stored content is unknown.
  private let fault = Mutex<SQLiteError?>(nil)

  /// The current layout; "RKEN" is the type of the file.
  private static let layout = DatabaseLayout(
    applicationID: 0x524B_454E, version: 2, statements: appStoreLayout + playLayout)
  private static let firstLayout = DatabaseLayout(
    applicationID: layout.applicationID, version: 1, statements: appStoreLayout)
  /// The statements of layout 1.
  private static let appStoreLayout = [
    "CREATE TABLE notifications(key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID",
    "CREATE TABLE ledgers(key BLOB PRIMARY KEY, ledger BLOB NOT NULL) STRICT, WITHOUT ROWID",
  ]
  private static let playLayout = [
    "CREATE TABLE developer_notifications(key BLOB PRIMARY KEY) STRICT, WITHOUT ROWID",
    "CREATE TABLE play_ledgers(key BLOB PRIMARY KEY, ledger BLOB NOT NULL) STRICT, WITHOUT ROWID",
  ]
  private static let pageSize = 4096
  private static let pragmas = """
    PRAGMA page_size = \(pageSize);
    \(Connection.durability)
    PRAGMA journal_size_limit = 8388608;
    """

  /// Opens a file; if it does not exist, creates it, readable only by its owner.
  ///
  /// - Throws: `SQLiteError` with `occupied` for a file of another format, `unsupported` for a layout of a later
  ///   version, `corrupt` for a schema with anything else in it, `busy`, `full`, `inputOutput` or `syncFailed`.
  package init(at path: String) throws {
    file = try DatabaseFile(path)
    if file.status == nil {
      do {
        try file.create { file in
          let connection = try Connection(file, .writing, timeout: BusyTimeout(.zero), pragmas: Self.pragmas)
          try connection.use(Self.makeLayout)
          try connection.close()
        }
      } catch let error as SQLiteError where error.code == .occupied {
        // Another process created the file in the meantime.
      }
    }
    identity = file.status?.identity
    let timeout = BusyTimeout(.seconds(10))
    connection = try Connection(file, .writing, timeout: timeout, pragmas: Self.pragmas)
    try connection.use { database in
      try Self.upgrade(database)
      try Self.requireLayout(database)
    }
    // Another process may hold the file briefly when it opens or closes it. Copying itself never waits.
    let copier = try Connection(
      file, .writing, timeout: BusyTimeout(.seconds(10)), pragmas: Self.pragmas)
    copying = LogCopying(on: copier, limit: 8 << 20, pageSize: Self.pageSize)
    try connection.use { database in
      // After a failed sync in another process, its commits may be only in the page cache.
      do throws(SQLiteError) { try database.checkpoint(.truncate) } catch {
        if error.code != .busy, error.code != .full { throw error }
      }
      try copying.observe(database)
    }
  }

  private static func makeLayout(_ database: Database) throws {
    try database.execute("PRAGMA journal_mode = WAL")
    try database.transaction { try layout.make(in: database) }
  }

  /// Adds the tables for Google Play to a file of layout 1.
  private static func upgrade(_ database: Database) throws {
    guard try layout.storedVersion(in: database) == firstLayout.version else { return }
    try database.transaction {
      // Another process may have upgraded the file in the meantime.
      guard try layout.storedVersion(in: database) == firstLayout.version else { return }
      try firstLayout.requireSchema(in: database)
      for statement in playLayout { try database.execute(statement) }
      try database.execute("PRAGMA user_version = \(layout.version)")
    }
  }

  private static func requireLayout(_ database: Database) throws {
    try layout.require(in: database)
    guard try database.texts("PRAGMA journal_mode") == ["wal"] else {
      throw SQLiteError(.corrupt, at: database.path, "It is not in write-ahead mode. Restore a backup.")
    }
  }

  /// Returns `true` if a notification was recorded.
  package func isRecorded(_ notification: AppStoreNotification) throws -> Bool {
    try use { database in try Self.isRecorded(notification.recordedKey, in: .appStore, database) }
  }

  /// Returns `true` if a message of Google Play was recorded.
  package func isRecorded(messageId: String) throws -> Bool {
    try use { database in try Self.isRecorded(Array(messageId.utf8), in: .googlePlay, database) }
  }

  /// Records a processed notification, and merges it into the ledger.
  ///
  /// When the call returns, both are on disk.
  ///
  /// - Returns: `false` if it was recorded before; in that case nothing changes.
  /// - Throws: `SQLiteError` with `full` if the disk is full; in that case nothing was stored. After `syncFailed` every
  ///   later call throws the same error until the file is opened again.
  package func record(_ notification: AppStoreNotification) throws -> Bool {
    var change = EntitlementLedger()
    change.apply(notification)
    return try record(notification.recordedKey, change.parts, in: .appStore)
  }

  /// Records a processed message of Google Play, and merges its changes into the ledger: see ``record(_:)``.
  package func record(messageId: String, _ change: EntitlementLedger) throws -> Bool {
    try record(Array(messageId.utf8), change.parts, in: .googlePlay)
  }

  /// The names of a store's tables.
  private struct Tables {
    let notifications: String
    let ledgers: String

    static let appStore = Tables(notifications: "notifications", ledgers: "ledgers")
    static let googlePlay = Tables(notifications: "developer_notifications", ledgers: "play_ledgers")
  }

  private func record(
    _ key: [UInt8], _ changes: [EntitlementLedger.Part], in tables: Tables
  ) throws -> Bool {
    try use { database in
      // A commit to an unlinked file would be lost.
      guard file.status?.identity == identity else {
        throw SQLiteError(.notFound, at: file.path, "The file was moved, removed or replaced while in use.")
      }
      var isNew = false
      do {
        try database.transaction {
          isNew = try !Self.isRecorded(key, in: tables, database)
          guard isNew else { return }
          try Self.run("INSERT INTO \(tables.notifications)(key) VALUES (?1)", [key], in: database)
          for change in changes { try Self.merge(change.ledger, named: change.name, in: tables, database) }
        }
      } catch let error as SQLiteError where error.code == .inputOutput {
        // Part of the commit may be in the log, and may or may not survive a crash.
        throw SQLiteError(.syncFailed, at: error.place, error.message)
      }
      copying.didCommit(database) { [self] error in fault.withLock { $0 = $0 ?? error } }
      return isNew
    }
  }

  private static func merge(
    _ change: EntitlementLedger, named name: String, in tables: Tables, _ database: Database
  ) throws {
    var change = change
    let key = Array(name.utf8)
    let stored = try database.withStatement("SELECT ledger FROM \(tables.ledgers) WHERE key = ?1") {
      statement in
      try statement.bind(key, at: 1)
      return try statement.step() ? statement.blob(0) : nil
    }
    if let stored { change.merge(try ledger(stored, database)) }
    try run(
      "INSERT OR REPLACE INTO \(tables.ledgers)(key, ledger) VALUES (?1, ?2)", [key, change.encoded()],
      in: database)
  }

  /// Calls a closure with the ledger of each original transaction, customer and purchase in Google Play, in no
  /// particular order.
  package func forEachLedger(_ body: (EntitlementLedger) throws -> Void) throws {
    try use { database in
      try database.withStatement("SELECT ledger FROM ledgers UNION ALL SELECT ledger FROM play_ledgers") {
        statement in
        while try statement.step() { try body(Self.ledger(statement.blob(0) ?? [], database)) }
      }
    }
  }

  private static func ledger(_ bytes: [UInt8], _ database: Database) throws -> EntitlementLedger {
    do throws(MalformedReceipt) {
      return try EntitlementLedger(decoding: bytes)
    } catch {
      throw SQLiteError(.corrupt, at: database.path, "A ledger in it cannot be read: \(error)")
    }
  }

  private static func isRecorded(_ key: [UInt8], in tables: Tables, _ database: Database) throws -> Bool {
    try database.withStatement("SELECT 1 FROM \(tables.notifications) WHERE key = ?1") { statement in
      try statement.bind(key, at: 1)
      return try statement.step()
    }
  }

  private static func run(_ sql: String, _ values: [[UInt8]], in database: Database) throws {
    try database.withStatement(sql) { statement in
      for (position, value) in values.enumerated() { try statement.bind(value, at: Int32(position + 1)) }
      _ = try statement.step()
    }
  }

  private func use<Result>(_ body: (Database) throws -> Result) throws -> Result {
    try connection.use { database in
      if let fault = fault.withLock({ $0 }) { throw fault }
      do {
        return try body(database)
      } catch let error as SQLiteError where error.code == .syncFailed {
        fault.withLock { $0 = $0 ?? error }
        throw error
      }
    }
  }
}
