// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  package import AuditTrail
  package import PostgreSQL

  package typealias ServerConnection = PostgreSQL.ServerConnection<StorageError>

  extension StorageError: ServerFailure {
    package init(_ fault: ServerFault, at place: String, _ message: String) {
      let code: Code =
        switch fault {
        case .unusableURL, .noClientLibrary: .unsupported
        case .disconnected, .silent: .unavailable
        case .refused(let sqlState): Self.code(sqlState)
        }
      self.init(code, at: place, message)
    }

    /// Maps an SQLSTATE (PostgreSQL, appendix A) to a storage error code.
    private static func code(_ sqlState: String) -> Code {
      switch sqlState {
      case "53100": .full
      // Retryable: too many connections, lock not available, deadlock, serialization failure, query cancelled.
      case "53300", "55P03", "40P01", "40001", "57014": .busy
      // Administrator's shutdown, crash, server starting, database dropped, idle session or transaction timeout.
      case "57P01", "57P02", "57P03", "57P04", "57P05", "25P03": .unavailable
      case _ where sqlState.hasPrefix("08"): .unavailable
      // The tables are not those of a trail.
      case "42P01", "42703", "3F000": .notATrail
      // The database does not exist.
      case "3D000": .notFound
      case "XX001", "XX002": .corrupt
      default: .inputOutput
      }
    }
  }

  extension ServerConnection {
    /// Opens a session with the settings of this module, regardless of the defaults of the server and the user.
    static func open(
      _ location: ServerLocation, _ options: PostgreSQLOptions
    ) throws(StorageError) -> ServerConnection {
      let connection = try ServerConnection(location)
      // All settings take one round trip. The statements of this module use qualified names, so no other function or
      // operator can take precedence. All access is by key and in order: a plan made when a table was empty must not
      // scan the whole table later.
      let fsync = try connection.execute(
        """
        SET search_path = pg_catalog;
        SET lock_timeout = \(options.lockTimeout.milliseconds);
        SET idle_in_transaction_session_timeout = 0;
        SET plan_cache_mode = force_generic_plan;
        SET enable_seqscan = off;
        SET enable_bitmapscan = off;
        SET enable_sort = off;
        SET jit = off;
        \(SessionSettings.statements)
        SHOW fsync
        """
      ).text(0, 0)
      guard options.allowsServerWithoutFsync || fsync == "on" else {
        throw StorageError(.unsupported, at: location.description, SessionSettings.fsyncIsOff)
      }
      return connection
    }

    /// Throws `corrupt` if anything was attached to the tables.
    func require(_ layout: SchemaLayout) throws(StorageError) {
      guard let fault = try layout.fault(in: location.schema, on: self) else { return }
      throw StorageError(.corrupt, at: location.description, fault)
    }

    func hasTable(_ name: String) throws(StorageError) -> Bool {
      try !execute("SELECT to_regclass('\(name)')::text").text(0, 0).isEmpty
    }
  }

  extension PostgreSQLOptions {
    /// The maximum time to wait for an answer in pipeline mode, in which only waiting for a lock takes long.
    var answerLimit: Duration { lockTimeout + .seconds(5) }
  }

  extension Duration {
    /// The duration in milliseconds, at least 1, because 0 means "no limit" to the server, and limited to the
    /// server's range.
    var milliseconds: Int {
      let (seconds, attoseconds) = components
      let bounded = min(max(seconds, 0), 2_000_000)
      return max(1, Int(bounded) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
  }
#endif
