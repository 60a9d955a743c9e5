// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  /// The options for using a trail in PostgreSQL.
  public struct PostgreSQLOptions: Sendable, Hashable {
    /// The schema that holds the trail and nothing else: `a` to `z`, digits and `_`.
    ///
    /// If it is `nil`, the URL's parameter `schema` applies, and without that parameter, `receiptkit`.
    package var schema: String?

    /// The maximum number of connections that one storage opens: one for writing, the others for reading. At least 2.
    package var maximumConnections: Int

    /// The time a writer waits for others, and a reader for a free connection, before `StorageError.Code.busy` is
    /// thrown.
    package var lockTimeout: Duration

    /// The time a writer may be silent within a write before the server ends its connection.
    ///
    /// This prevents a stopped process or an unreachable machine from blocking all other writers.
    package var writerTimeout: Duration

    /// Indicates whether to use a server that runs with `fsync = off`, for tests.
    ///
    /// Such a server may lose or damage acknowledged data in a power failure.
    package var allowsServerWithoutFsync: Bool

    /// Creates options.
    public init(
      schema: String? = nil, maximumConnections: Int = 8, lockTimeout: Duration = .seconds(30),
      writerTimeout: Duration = .seconds(60), allowsServerWithoutFsync: Bool = false
    ) {
      self.schema = schema
      self.maximumConnections = maximumConnections
      self.lockTimeout = lockTimeout
      self.writerTimeout = writerTimeout
      self.allowsServerWithoutFsync = allowsServerWithoutFsync
    }
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
