// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import AuditTrail
  internal import PostgreSQL

  /// Rewrites the tables in which data was erased.
  struct Scrubbing {
    private let pool: ConnectionPool
    private let connection: ServerConnection

    init(_ pool: ConnectionPool) throws(StorageError) {
      self.pool = pool
      self.connection = try .open(pool.location, pool.options)
    }

    func run() throws(StorageError) {
      let schema = pool.schema.name
      // An object that was attached since the trail was opened may contain copies of erased data.
      try connection.require(TrailSchema.layout)
      try waitForOlderTransactions()
      let marks = try connection.execute("SELECT name, number FROM \(schema).erasures")
      var numbers: [String: String] = [:]
      for row in 0..<marks.rowCount { numbers[marks.text(row, 0)] = marks.text(row, 1) }
      for (table, number) in numbers {
        try rewrite("\(schema).\(table)")
        // Data may have been erased since the marks were read.
        try connection.execute(
          "DELETE FROM \(schema).erasures WHERE name = '\(table)' AND number = \(number)")
      }
      try askForCheckpoint()
    }

    /// Waits for transactions that may still see erased data, because rewriting a table keeps the rows that they can
    /// see. The server ignores lazy vacuums in this respect, which take minutes after large inserts, but not an
    /// ANALYZE.
    private func waitForOlderTransactions() throws(StorageError) {
      let own = try connection.execute("SELECT pg_current_xact_id()::text").text(0, 0)
      let older = """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND age(coalesce(backend_xmin, backend_xid)) > age('\(own)'::xid8::xid)
        AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
        """
      let end = ContinuousClock.now + pool.options.lockTimeout
      while try connection.execute(older).text(0, 0) != "0" {
        guard ContinuousClock.now < end else {
          throw StorageError(
            .busy, at: pool.location.description,
            "A transaction that may still see what was erased did not end in time; try again.")
        }
        try connection.execute("SELECT pg_sleep(0.02)")
      }
    }

    private func rewrite(_ table: String) throws(StorageError) {
      let file = "SELECT pg_relation_filepath('\(table)')"
      let before = try connection.execute(file).text(0, 0)
      // Tables made by earlier builds have statistics that contain samples of values. ANALYZE replaces them.
      try connection.execute("VACUUM (FULL, ANALYZE) \(table)")
      // If the user does not own a table, the server skips it with only a warning.
      guard try connection.execute(file).text(0, 0) != before else {
        throw StorageError(
          .inputOutput, at: pool.location.description, "\(table) cannot be rewritten: scrub as its owner.")
      }
    }

    private func askForCheckpoint() throws(StorageError) {
      let mayCheckpoint = """
        SELECT (rolsuper OR (to_regrole('pg_checkpoint') IS NOT NULL AND
        pg_has_role(oid, to_regrole('pg_checkpoint'), 'USAGE')))::int FROM pg_roles WHERE rolname = current_user
        """
      guard try connection.execute(mayCheckpoint).text(0, 0) == "1" else { return }
      try connection.execute("CHECKPOINT")
    }
  }
#endif
