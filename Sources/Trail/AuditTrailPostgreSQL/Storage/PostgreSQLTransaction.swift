// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import AuditTrail
  internal import PostgreSQL

  /// The tables within one transaction of a connection. Changes are sent without waiting for their answers, which are
  /// taken with those of the next read or of the commit.
  final class PostgreSQLTransaction: StorageWriter {
    /// The maximum number of changes to send before their answers are taken.
    private static let maximumAwaitedCount = 512
    /// The approximate number of bytes of a range to fetch at a time.
    private static let pageByteCount = 4 << 20

    private static let prefetchCount = 256

    private let connection: ServerConnection
    /// The prefetched values. They stay valid, because nobody else changes them, and changes of this transaction
    /// remove them.
    private var prefetched: [StorageTable: [Int64: [UInt8]]] = [:]
    /// The statements to send before the first operation.
    private var beginning: [String]
    private var marked: Set<StorageTable> = []
    private var isEnded = false
    /// The first error. The server has then aborted the transaction, whether or not the caller handles the error.
    private(set) var failure: StorageError?

    init(_ connection: ServerConnection, beginning: [String]) {
      self.connection = connection
      self.beginning = beginning
    }

    // MARK: Reading

    func value(_ table: StorageTable, _ key: Int64) throws -> [UInt8]? {
      if let value = prefetched[table]?[key] { return value }
      let result = try run(.value, table, [.bigint(key)])
      return result.rowCount == 0 ? nil : result.bytes(0, 0)
    }

    func value(_ table: StorageTable, _ key: Int64, bytes range: Range<Int>) throws -> [UInt8]? {
      if let value = prefetched[table]?[key] { return Array(value[range.clamped(to: value.indices)]) }
      // A value is shorter than 1 GiB, and positions start at 1.
      let lower = Int32(clamping: min(max(range.lowerBound, 0), 1 << 30) + 1)
      let count = Int32(clamping: min(max(range.upperBound, 0), 1 << 30) + 1 - Int(lower))
      let result = try run(.part, table, [.bigint(key), .integer(lower), .integer(max(count, 0))])
      return result.rowCount == 0 ? nil : result.bytes(0, 0)
    }

    func forEach(
      _ table: StorageTable, in keys: ClosedRange<Int64>, _ body: (Int64, [UInt8]) throws -> Bool
    ) throws {
      var next = keys.lowerBound
      var limit = 16
      while true {
        let parameters: [StatementParameter] = [
          .bigint(next), .bigint(keys.upperBound), .bigint(Int64(limit)),
        ]
        let page = try run(.page, table, parameters)
        var byteCount = 0
        for row in 0..<page.rowCount {
          let (key, value) = (page.integer(row, 0), page.bytes(row, 1))
          guard try body(key, value), key < keys.upperBound else { return }
          byteCount += value.count
          next = key + 1
        }
        if page.rowCount < limit { return }
        let perRow = max(1, byteCount / page.rowCount)
        limit = min(max(Self.pageByteCount / perRow, 1), limit * 8, 8192)
      }
    }

    func prefetch(_ table: StorageTable, _ keys: () -> [Int64]) throws {
      // Bundles are large, so those that were prefetched earlier are released.
      if table == .bundles { prefetched[table] = nil }
      var remaining = Array(Set(keys())).filter { prefetched[table]?[$0] == nil }.sorted()[...]
      while !remaining.isEmpty {
        let result = try run(.values, table, [.bigints(Array(remaining.prefix(Self.prefetchCount)))])
        for row in 0..<result.rowCount {
          prefetched[table, default: [:]][result.integer(row, 0)] = result.bytes(row, 1)
        }
        remaining = remaining.dropFirst(Self.prefetchCount)
      }
    }

    func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64? {
      let result = try run(.last, table, [.bigint(keys.lowerBound), .bigint(keys.upperBound)])
      return result.rowCount == 0 ? nil : result.integer(0, 0)
    }

    // MARK: Changing

    func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws {
      prefetched[table]?[key] = nil
      try send(.put, table, [.bigint(key), .bytes(value)])
      // A row that is replaced may contain erased data.
      if table == .personal { try markForScrubbing(table) }
    }

    func overwrite(_ table: StorageTable, _ key: Int64, at offset: Int, with bytes: [UInt8]) throws {
      prefetched[table]?[key] = nil
      guard offset >= 0, offset <= 1 << 30,
        try run(
          .overwrite, table, [.bigint(key), .integer(Int32(offset) + 1), .bytes(bytes)]
        ).changedRowCount == 1
      else {
        throw StorageError(
          .corrupt, at: "\(table.name) \(key)",
          "There is no value, or it has no \(bytes.count) bytes at \(offset).")
      }
      try markForScrubbing(table)
    }

    func remove(_ table: StorageTable, in keys: ClosedRange<Int64>, erasing: Bool) throws {
      prefetched[table] = nil
      try send(.remove, table, [.bigint(keys.lowerBound), .bigint(keys.upperBound)])
      if erasing { try markForScrubbing(table) }
    }

    /// Marks a table for scrubbing. Once per transaction is enough, because all its changes become visible together.
    private func markForScrubbing(_ table: StorageTable) throws {
      if marked.insert(table).inserted { try send(.erasure, table, []) }
    }

    // MARK: The transaction

    /// Begins the transaction immediately, and waits for the server's answer.
    func begin() throws(StorageError) {
      try attempt { () throws(StorageError) in
        try connection.synchronize()
        try connection.takeAnswers()
      }
    }

    /// Commits the changes. If it throws, nothing was stored, unless the error is `unavailable`: then the outcome is
    /// unknown.
    func commit() throws(StorageError) {
      isEnded = true
      if let failure { throw failure }
      do throws(StorageError) {
        // The server answers ROLLBACK to the commit of an aborted transaction.
        guard try connection.run(TrailSchema.commit).command == "COMMIT" else {
          throw StorageError(.inputOutput, at: connection.location.description, "The server did not commit.")
        }
      } catch {
        failure = error
        guard error.code == .unavailable else { throw error }
        throw StorageError(
          .unavailable, at: error.place,
          "The connection was lost during a commit; it is not known whether it took place. \(error.message)")
      }
    }

    /// Rolls the changes back. If the connection is broken, the server has already done so.
    func rollback() {
      end { () throws(StorageError) in
        try connection.synchronize()
        _ = try? connection.takeAnswers()
        _ = try connection.run(TrailSchema.rollback)
      }
    }

    /// Ends a transaction that has changed nothing, without waiting for the server's answer.
    func endReading() {
      end { () throws(StorageError) in
        guard beginning.isEmpty else { return }
        try connection.send(TrailSchema.rollback)
        try connection.synchronize()
      }
    }

    private func end(_ body: () throws(StorageError) -> Void) {
      isEnded = true
      do throws(StorageError) { try body() } catch { failure = failure ?? error }
    }

    private func run(
      _ operation: TrailSchema.Operation, _ table: StorageTable, _ parameters: [StatementParameter]
    ) throws(StorageError) -> QueryResult {
      try attempt { () throws(StorageError) in try connection.run(operation.on(table), parameters) }
    }

    private func send(
      _ operation: TrailSchema.Operation, _ table: StorageTable, _ parameters: [StatementParameter]
    ) throws(StorageError) {
      try attempt { () throws(StorageError) in
        try connection.send(operation.on(table), parameters)
        guard connection.awaitedCount >= Self.maximumAwaitedCount else { return }
        try connection.synchronize()
        try connection.takeAnswers()
      }
    }

    private func attempt<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
      if let failure { throw failure }
      guard !isEnded else {
        throw StorageError(.closed, at: connection.location.description, "The transaction has ended.")
      }
      do throws(StorageError) {
        for statement in beginning { try connection.send(statement) }
        beginning = []
        return try body()
      } catch {
        failure = error
        throw error
      }
    }
  }
#endif
