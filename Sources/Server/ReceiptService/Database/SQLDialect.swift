// SPDX-License-Identifier: Apache-2.0

#if Server
  /// The fragments of SQL in which the databases differ.
  package struct SQLDialect: Sendable {
    /// The type of a column with bytes.
    let bytes: String
    /// The declaration of an auto-incremented column `sequence`, the primary key.
    let sequence: String
    /// The clause that locks the selected rows until the transaction ends.
    let lockingRows: String
    /// The clause that locks the selected rows until the transaction ends, and leaves out rows that others have locked.
    let lockingFreeRows: String

    /// SQLite has one writer, and a reader has a snapshot, so rows need no locks.
    static let sqlite = SQLDialect(
      bytes: "BLOB", sequence: "sequence INTEGER PRIMARY KEY AUTOINCREMENT", lockingRows: "",
      lockingFreeRows: "")

    static let postgreSQL = SQLDialect(
      bytes: "BYTEA", sequence: "sequence BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
      lockingRows: "FOR UPDATE", lockingFreeRows: "FOR UPDATE SKIP LOCKED")
  }
#endif
