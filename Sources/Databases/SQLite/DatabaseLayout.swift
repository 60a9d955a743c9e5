// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes

extension DatabaseLayout {
  /// The version of the layout of a file. Throws ``SQLiteError`` with `occupied` if the file has a different type.
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
    func corrupt(_ message: String) -> SQLiteError { SQLiteError(.corrupt, at: database.path, message) }
    // SQLite normalizes the statements that it stores, and adds indexes for keys. The model gets the same treatment.
    let model = try model(database.path)
    var missing = Set(try SchemaObject.all(in: model).map(\.object))
    let known = Dictionary(grouping: missing, by: \.name)
    var pages: Set<Int64> = []
    for (object, page) in try SchemaObject.all(in: database) {
      guard missing.remove(object) != nil else {
        let isAltered = known[object.name]?.contains { $0.type == object.type } ?? false
        throw corrupt(
          isAltered
            ? "Its \(object.shown) is not the one of its layout: somebody altered it. Restore a backup."
            : "It has the \(object.shown), which is not of its layout: somebody added it, and it may copy what is stored. "
              + "Find out who did, remove it (\(object.removal)) or restore a backup, then open it again.")
      }
      // If two objects shared a root page, writing to one would overwrite the other.
      guard page > 1, pages.insert(page).inserted else {
        throw corrupt("Its \(object.shown) has no pages of its own. Restore a backup.")
      }
    }
    if let object = missing.min(by: { $0.name < $1.name }) {
      throw corrupt("Its \(object.shown) is missing. Restore a backup.")
    }
  }

  package func tables() throws -> [Table] {
    let model = try model("layout")
    return try model.texts(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name"
    ).map { name in try Self.table(name, in: model) }
  }

  /// A database in memory with this layout.
  private func model(_ path: String) throws -> Database {
    let model = try Database(inMemoryFor: path)
    for statement in statements { try model.execute(statement) }
    return model
  }

  private static func table(_ name: String, in model: Database) throws -> Table {
    let keys = try model.texts(
      "SELECT name FROM pragma_table_info(\(name.quotedText)) WHERE pk > 0 ORDER BY pk")
    let columns = try model.rows(
      "SELECT name, type, \"notnull\" FROM pragma_table_info(\(name.quotedText)) ORDER BY cid"
    ) { row in
      Table.Column(
        name: row.text(0), type: row.text(1), isNullable: row.integer(2) == 0,
        isKey: keys.contains(row.text(0)))
    }
    let found = try model.rows(
      "SELECT name, \"unique\", origin FROM pragma_index_list(\(name.quotedText)) WHERE origin <> 'pk' ORDER BY name"
    ) { (name: $0.text(0), isUnique: $0.integer(1) == 1, isOfConstraint: $0.text(2) == "u") }
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

extension SchemaObject {
  /// All objects, with the number of their root page.
  static func all(in database: Database) throws -> [(object: SchemaObject, page: Int64)] {
    try database.rows("SELECT type, name, tbl_name, coalesce(sql, ''), rootpage FROM sqlite_schema") { row in
      (
        SchemaObject(type: row.text(0), name: row.text(1), table: row.text(2), sql: row.text(3)),
        row.integer(4)
      )
    }
  }

  /// The object's description for an error message on one line.
  var shown: String {
    "\(ShownText.plain(type, limit: 20)) \(ShownText.plain(name, limit: 80))"
      + (type == "index" || type == "trigger" ? " of \(ShownText.plain(table, limit: 80))" : "")
  }

  var removal: String { ShownText.plain("DROP \(type.uppercased()) \(name.quotedIdentifier)", limit: 120) }
}
