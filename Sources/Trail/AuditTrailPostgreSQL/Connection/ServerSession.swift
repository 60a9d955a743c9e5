// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import AuditTrail
  internal import PostgreSQL

  /// The settings of every session, regardless of the defaults of the server and the user.
  enum ServerSession {
    static func prepare(
      _ connection: ServerConnection, _ options: PostgreSQLOptions
    ) throws(StorageError) {
      // All settings take one round trip.
      let fsync = try connection.execute(
        // The statements of this module use qualified names, so no other function or operator can take precedence.
        """
        SET search_path = pg_catalog;
        SET lock_timeout = \(options.lockTimeout.milliseconds);
        SET statement_timeout = 0;
        SET idle_in_transaction_session_timeout = 0;
        SET tcp_keepalives_idle = 30;
        SET tcp_keepalives_interval = 10;
        SET tcp_keepalives_count = 3;

        """
          // All access is by key and in order. A plan made when a table was empty must not scan the whole table
          // later.
          + """
          SET plan_cache_mode = force_generic_plan;
          SET enable_seqscan = off;
          SET enable_bitmapscan = off;
          SET enable_sort = off;
          SET jit = off;

          """
            // A commit returns when it is on this server's disk. The stricter setting that also waits for standbys to
            // apply it is kept.
            + """
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');
            SHOW fsync
            """
      ).text(0, 0)
      guard options.allowsServerWithoutFsync || fsync == "on" else {
        throw StorageError(
          .unsupported, at: connection.location.description,
          "The server runs with fsync = off, so a loss of power can destroy what it acknowledged. Set fsync = on."
        )
      }
    }
  }
#endif
