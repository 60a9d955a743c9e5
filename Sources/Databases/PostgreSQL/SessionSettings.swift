// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  /// The settings of every session that stores data, regardless of the defaults of the server and the user.
  package enum SessionSettings {
    /// The statements that make the settings.
    ///
    /// The server notices within a minute that the client is gone. A commit returns when it is on this server's disk.
    /// The stricter setting that also waits for standbys to apply it is kept.
    package static let statements = """
      SET statement_timeout = 0;
      SET tcp_keepalives_idle = 30;
      SET tcp_keepalives_interval = 10;
      SET tcp_keepalives_count = 3;
      SELECT set_config('synchronous_commit', 'on', false)
      WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply');

      """

    /// The message for a server on which `SHOW fsync` does not answer `on`.
    package static let fsyncIsOff =
      "The server runs with fsync = off, so a loss of power can destroy what it acknowledged. Set fsync = on."
  }
#endif
