// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

/// The layout of a file: its type, its version, and the statements that create its schema.
///
/// The schema must not contain anything else. A trigger or an index that was added copies stored data to places that
/// nobody expects and that erasing does not reach, and the writing process itself does the copying.
package struct DatabaseLayout: Sendable {
  /// The type of the file (`PRAGMA application_id`).
  package let applicationID: Int64
  /// The version of the layout (`PRAGMA user_version`).
  package let version: Int64
  /// The statements that create the schema in an empty file.
  package let statements: [String]

  package init(applicationID: Int64, version: Int64, statements: [String]) {
    self.applicationID = applicationID
    self.version = version
    self.statements = statements
  }

  /// The version of the layout of a file.
  ///
  /// - Throws: ``SQLiteError`` with `occupied` if the file has a different type.
  package func storedVersion(in database: Database) throws -> Int64 {
    guard try database.integer("PRAGMA application_id") == applicationID else {
      throw SQLiteError(.occupied, at: database.path, "It is an SQLite database of another application.")
    }
    return try database.integer("PRAGMA user_version") ?? 0
  }

  /// Creates the schema, in a transaction on an empty file.
  package func make(in database: Database) throws {
    try database.execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version)")
    for statement in statements { try database.execute(statement) }
  }

  /// Throws if a file does not have this layout, or has anything else in its schema.
  ///
  /// - Throws: ``SQLiteError`` with `occupied` if the file has a different type, `unsupported` if it has a different
  ///   version, `corrupt` with the name of the object that is missing, altered or unknown.
  package func require(in database: Database) throws {
    try requireVersion(in: database)
    try requireSchema(in: database)
  }

  /// Throws if a file has a different type or version.
  func requireVersion(in database: Database) throws {
    let stored = try storedVersion(in: database)
    guard stored == version else {
      throw SQLiteError(
        .unsupported, at: database.path,
        "Its layout is of version \(stored), and this build knows version \(version): use the version of ReceiptKit that "
          + "made it.")
    }
  }

  /// Compares the schema of a file with that of this layout, object by object, and throws if they differ.
  package func requireSchema(in database: Database) throws {
    // SQLite normalizes the statements that it stores, and adds indexes for keys. The model gets the same treatment.
    let model = try Database(inMemoryFor: database.path)
    for statement in statements { try model.execute(statement) }
    var missing = Set(try SchemaObject.all(in: model).map(\.object))
    let known = Dictionary(grouping: missing, by: \.name)
    var pages: Set<Int64> = []
    for (object, page) in try SchemaObject.all(in: database) {
      guard missing.remove(object) != nil else {
        let isAltered = known[object.name]?.contains { $0.type == object.type } ?? false
        throw SQLiteError(
          .corrupt, at: database.path,
          isAltered
            ? "Its \(object.shown) is not the one of its layout: somebody altered it. Restore a backup."
            : "It has the \(object.shown), which is not of its layout: somebody added it, and it may copy what is stored. "
              + "Find out who did, remove it (\(object.removal)) or restore a backup, then open it again.")
      }
      // If two objects shared a root page, writing to one would overwrite the other.
      guard page > 1, pages.insert(page).inserted else {
        throw SQLiteError(
          .corrupt, at: database.path, "Its \(object.shown) has no pages of its own. Restore a backup.")
      }
    }
    if let object = missing.min(by: { $0.name < $1.name }) {
      throw SQLiteError(.corrupt, at: database.path, "Its \(object.shown) is missing. Restore a backup.")
    }
  }
}

extension DatabaseLayout {
  /// The description of a table, from which it can be created elsewhere.
  package struct Table: Sendable {
    package struct Column: Sendable {
      package let name: String
      /// The declared type.
      package let type: String
      package let isNullable: Bool
      /// Indicates whether the column belongs to the primary key.
      package let isKey: Bool
    }

    package struct Index: Sendable {
      /// The name; `nil` for the index of a constraint.
      package let name: String?
      package let columns: [String]
      package let isUnique: Bool
    }

    package let name: String
    package let columns: [Column]
    package let primaryKey: [String]
    /// The indexes, without that of the primary key.
    package let indexes: [Index]
  }

  /// The tables that the statements create.
  package func tables() throws -> [Table] {
    let model = try Database(inMemoryFor: "layout")
    for statement in statements { try model.execute(statement) }
    return try model.texts(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
    ).map { name in try Self.table(name, in: model) }
  }

  private static func table(_ name: String, in model: Database) throws -> Table {
    let keys = try model.texts(
      "SELECT name FROM pragma_table_info(\(name.quotedText)) WHERE pk > 0 ORDER BY pk")
    let columns = try model.withStatement(
      "SELECT name, type, \"notnull\" FROM pragma_table_info(\(name.quotedText)) ORDER BY cid"
    ) { statement in
      var columns: [Table.Column] = []
      while try statement.step() {
        columns.append(
          Table.Column(
            name: statement.text(0), type: statement.text(1), isNullable: statement.integer(2) == 0,
            isKey: keys.contains(statement.text(0))))
      }
      return columns
    }
    let found = try model.withStatement(
      "SELECT name, \"unique\", origin FROM pragma_index_list(\(name.quotedText)) WHERE origin <> 'pk' ORDER BY name"
    ) { statement in
      var found: [(name: String, isUnique: Bool, isOfConstraint: Bool)] = []
      while try statement.step() {
        found.append((statement.text(0), statement.integer(1) == 1, statement.text(2) == "u"))
      }
      return found
    }
    let indexes = try found.map { index in
      Table.Index(
        name: index.isOfConstraint ? nil : index.name,
        columns: try model.texts(
          "SELECT name FROM pragma_index_info(\(index.name.quotedText)) ORDER BY seqno"),
        isUnique: index.isUnique)
    }
    return Table(name: name, columns: columns, primaryKey: keys, indexes: indexes)
  }
}

/// A row of SQLite's schema table.
private struct SchemaObject: Hashable {
  let type: String
  let name: String
  let table: String
  /// The SQL statement; empty for the indexes that SQLite creates for keys.
  let sql: String

  /// All objects, with the number of their root page.
  static func all(in database: Database) throws -> [(object: SchemaObject, page: Int64)] {
    try database.withStatement("SELECT type, name, tbl_name, coalesce(sql, ''), rootpage FROM sqlite_schema")
    {
      statement in
      var objects: [(SchemaObject, Int64)] = []
      while try statement.step() {
        let object = SchemaObject(
          type: statement.text(0), name: statement.text(1), table: statement.text(2), sql: statement.text(3))
        objects.append((object, statement.integer(4)))
      }
      return objects
    }
  }

  /// The object's description for an error message on one line.
  var shown: String {
    "\(ShownText.plain(type, limit: 20)) \(ShownText.plain(name, limit: 80))"
      + (type == "index" || type == "trigger" ? " of \(ShownText.plain(table, limit: 80))" : "")
  }

  /// The statement that removes the object.
  var removal: String {
    ShownText.plain("DROP \(type.uppercased()) \(name.quotedIdentifier)", limit: 120)
  }
}
