// SPDX-License-Identifier: Apache-2.0

import AuditTrail
import Foundation
import SQLite
import Testing

@testable import AuditTrailSQLite

/// The objects that somebody who can write the file may add to its schema, without the key.
@Suite("The schema of a trail's file")
struct SQLiteSchemaTests {
  let folder: StorageFolder
  let path: String

  init() throws {
    folder = try StorageFolder()
    path = folder.file("trail.sqlite")
  }

  /// Runs statements on the file, on a connection that trusts its schema no more than ours do.
  private func plant(_ sql: String) throws {
    let connection = try Connection(
      DatabaseFile(path), .writing, timeout: BusyTimeout(.seconds(10)), pragmas: "")
    try connection.use { try $0.execute(sql) }
    try connection.close()
  }

  /// One of each kind, and the object that an error must name.
  static let planted: [(sql: String, name: String)] = [
    (
      """
      CREATE TRIGGER copies AFTER INSERT ON head BEGIN
      INSERT OR REPLACE INTO notes SELECT (1 << 62) + key, value FROM keys; END
      """, "trigger copies of head"
    ),
    (
      "CREATE TRIGGER drops BEFORE INSERT ON covers BEGIN SELECT raise(IGNORE); END",
      "trigger drops of covers"
    ),
    ("CREATE VIEW seen AS SELECT * FROM keys", "view seen"),
    ("CREATE INDEX copied ON keys(value)", "index copied of keys"),
    ("CREATE UNIQUE INDEX copied ON personal(value)", "index copied of personal"),
    ("CREATE INDEX copied ON keys(substr(value, 1, 16))", "index copied of keys"),
    ("CREATE INDEX copied ON keys(value) WHERE key > 0", "index copied of keys"),
    ("ALTER TABLE keys ADD COLUMN copy BLOB", "table keys"),
    ("ALTER TABLE keys ADD COLUMN copy BLOB GENERATED ALWAYS AS (value) VIRTUAL", "table keys"),
    ("ALTER TABLE head RENAME COLUMN value TO other", "table head"),
    (
      "ALTER TABLE keys RENAME TO kept; CREATE TABLE keys(key INTEGER PRIMARY KEY, value BLOB) STRICT",
      "table kept"
    ),
    ("ALTER TABLE keys RENAME TO kept", "table kept"),
    ("DROP TABLE keys", "table keys"),
    ("DROP TABLE keys; CREATE TABLE keys(key INTEGER PRIMARY KEY, value BLOB)", "table keys"),
    (
      "DROP TABLE keys; CREATE TABLE keys(key INTEGER PRIMARY KEY, value BLOB UNIQUE) STRICT", "table keys"
    ),
    ("DROP TABLE keys; CREATE VIEW keys AS SELECT key, value FROM notes", "view keys"),
    ("CREATE TABLE more(key INTEGER PRIMARY KEY, value BLOB) STRICT", "table more"),
    ("INSERT INTO keys VALUES (1, x'01'); ANALYZE", "table sqlite_stat1"),
    ("CREATE VIRTUAL TABLE words USING fts5(word)", "table words"),
  ]

  @Test("of any other objects is refused by name", arguments: planted)
  func refusal(_ sql: String, _ name: String) throws {
    try SQLiteStorage(creatingAt: path).close()
    try plant(sql)
    for open: () throws -> any TrailStorage in [
      { try SQLiteStorage(openingAt: path) }, { try SQLiteStorage(readingAt: path) },
    ] {
      let error = #expect(throws: StorageError.self) { try open() }
      #expect(error?.code == .corrupt)
      #expect(error?.place == path)
      #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("estore a backup") == true)
    }
  }

  @Test("is not believed to be shown on a line of its own")
  func names() throws {
    try SQLiteStorage(creatingAt: path).close()
    try plant("CREATE VIEW \"a\n\u{1B}[2Jb\" AS SELECT 1")
    let error = #expect(throws: StorageError.self) { try SQLiteStorage(openingAt: path) }
    #expect(error?.message.contains("view a\u{FFFD}\u{FFFD}[2Jb") == true)
    #expect(error?.message.contains { $0.isNewline || $0 == "\u{1B}" } == false)
  }

  @Test(
    "to which somebody adds while the trail is open copies nothing, and is found when something is erased")
  func plantingWhileOpen() throws {
    let storage = try SQLiteStorage(creatingAt: path)
    try plant(
      """
      CREATE TRIGGER copies AFTER INSERT ON keys BEGIN INSERT OR REPLACE INTO notes VALUES (new.key, new.value); END;
      CREATE TRIGGER drops BEFORE INSERT ON covers BEGIN SELECT raise(IGNORE); END
      """)
    try storage.put(.keys, 7, [1, 2, 3])
    try storage.put(.covers, 7, [4])
    #expect(try storage.stored(.notes, 7) == nil)
    #expect(try storage.stored(.covers, 7) == [4])
    let error = #expect(throws: StorageError.self) { try storage.scrub() }
    #expect(error?.code == .corrupt)
    #expect(try storage.structuralFaults().contains { $0.contains("trigger copies of keys") })
    try plant("DROP TRIGGER copies; DROP TRIGGER drops")
    try storage.scrub()
    #expect(try storage.structuralFaults() == [])
  }

  @Test("cannot be written to as to a table, on any connection")
  func defensive() throws {
    try SQLiteStorage(creatingAt: path).close()
    let error = #expect(throws: SQLiteError.self) {
      try plant("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = sql")
    }
    #expect(error?.code == .corrupt)
  }
}
