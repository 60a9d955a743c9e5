// SPDX-License-Identifier: Apache-2.0

#if Server
  /// The latest removed change of each app.
  ///
  /// It preserves the end of an app's changes after the latest ones were removed. A reader who claims to have read
  /// beyond that end has read a different database, such as the one from before a restore.
  enum RemovedChanges {
    /// Notes the removal of changes, within the transaction that removes them.
    static func note(_ sequence: Int64, app: String, in session: any DatabaseSession) throws {
      try session.run(
        """
        INSERT INTO removed_changes(app, sequence) VALUES ($1, $2)
        ON CONFLICT(app) DO UPDATE SET sequence = excluded.sequence WHERE excluded.sequence > removed_changes.sequence
        """, .text(app), .integer(sequence))
    }

    /// The sequence of an app's latest removed change; 0 if no change was removed.
    static func latest(app: String, in session: any DatabaseSession) throws -> Int64 {
      try session.run("SELECT sequence FROM removed_changes WHERE app = $1", .text(app)).first?.integer(0)
        ?? 0
    }
  }
#endif
