// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import AuditTrail
  internal import PostgreSQL

  /// The settings of every session, regardless of the defaults of the server and the user.
  enum ServerSession {
    static func prepare(
      _ connection: ServerConnection, _ options: PostgreSQLOptions
    ) throws(StorageError) {
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
        throw StorageError(.unsupported, at: connection.location.description, SessionSettings.fsyncIsOff)
      }
    }
  }
#endif
