// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  /// The options of a trail in PostgreSQL.
  public struct PostgreSQLOptions: Sendable, Hashable {
    /// The schema that holds the trail and nothing else: `a` to `z`, digits and `_`. `nil` takes the one that the URL
    /// names with the parameter `schema`, and without that, `receiptkit`.
    public var schema: String?

    /// The most connections that one storage opens: one for writing, the others for reading. At least 2.
    public var maximumConnections: Int

    /// The time for which a writer waits for others, and a reader for a free connection, before
    /// `StorageError.Code.busy`.
    public var lockTimeout: Duration

    /// The time for which a writer may be silent within a write before the server ends its connection, so that a
    /// process that was stopped, or a machine that vanished, does not keep all others from writing.
    public var writerTimeout: Duration

    /// Indicates whether to use a server that runs with `fsync = off`, and so may lose or break what it acknowledged
    /// when power is lost. For tests.
    public var allowsServerWithoutFsync: Bool

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
    /// At least 1, since 0 means "forever" to the server, and no more than it takes.
    var milliseconds: Int {
      let (seconds, attoseconds) = components
      let bounded = min(max(seconds, 0), 2_000_000)
      return max(1, Int(bounded) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
  }
#endif
