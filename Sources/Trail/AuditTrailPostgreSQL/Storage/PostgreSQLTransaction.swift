// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  internal import AuditTrail
  internal import PostgreSQL

  /// The tables within one transaction of a connection. Changes are sent without waiting for their answers, which are
  /// taken with those of the next read or of the commit.
  final class PostgreSQLTransaction: StorageWriter {
    /// So many changes are under way at most before their answers are taken.
    private static let maximumAwaitedCount = 512
    /// The approximate number of bytes of a range that are fetched at a time.
    private static let pageByteCount = 4 << 20

    /// So many values are fetched together.
    private static let prefetchCount = 256

    private let connection: ServerConnection
    /// As they are: nobody else changes them meanwhile, and what this transaction changes is let go.
    private var prefetched: [StorageTable: [Int64: [UInt8]]] = [:]
    /// The statements to send before the first one.
    private var beginning: [String]
    /// The tables that scrubbing is to rewrite.
    private var marked: Set<StorageTable> = []
    private var isEnded = false
    /// The first fault. The server has given up the transaction then, whether or not the caller handles the error.
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
      // A value has less than 1 GiB; positions count from 1.
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
          let (key, value) = (page.bigint(row, 0), page.bytes(row, 1))
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
      // Bundles are large: what was asked for before is let go.
      if table == .bundles { prefetched[table] = nil }
      var remaining = Array(Set(keys())).filter { prefetched[table]?[$0] == nil }.sorted()[...]
      while !remaining.isEmpty {
        let result = try run(.values, table, [.bigints(Array(remaining.prefix(Self.prefetchCount)))])
        for row in 0..<result.rowCount {
          prefetched[table, default: [:]][result.bigint(row, 0)] = result.bytes(row, 1)
        }
        remaining = remaining.dropFirst(Self.prefetchCount)
      }
    }

    func lastKey(_ table: StorageTable, in keys: ClosedRange<Int64>) throws -> Int64? {
      let result = try run(.last, table, [.bigint(keys.lowerBound), .bigint(keys.upperBound)])
      return result.rowCount == 0 ? nil : result.bigint(0, 0)
    }

    // MARK: Changing

    func put(_ table: StorageTable, _ key: Int64, _ value: [UInt8]) throws {
      prefetched[table]?[key] = nil
      try send(.put, table, [.bigint(key), .bytes(value)])
      // The row that is replaced, if there is one, may hold what was erased.
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

    /// Once is enough: all that this transaction changes becomes visible together.
    private func markForScrubbing(_ table: StorageTable) throws {
      if marked.insert(table).inserted { try send(.erasure, table, []) }
    }

    // MARK: The transaction

    /// Begins at once, and waits for it.
    func begin() throws(StorageError) {
      try attempt { () throws(StorageError) in
        try sendBeginning()
        try connection.synchronize()
        try connection.takeAnswers()
      }
    }

    /// Commits what was done. Nothing was stored where it throws, but for `unavailable`: then it is not known.
    func commit() throws(StorageError) {
      isEnded = true
      if let failure { throw failure }
      do throws(StorageError) {
        // The server answers ROLLBACK to the commit of a transaction that it has given up.
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

    /// Gives up what was done; a broken connection has done so already.
    func rollback() {
      isEnded = true
      do throws(StorageError) {
        try connection.synchronize()
        _ = try? connection.takeAnswers()
        _ = try connection.run(TrailSchema.rollback)
      } catch {
        failure = failure ?? error
      }
    }

    /// Ends a transaction that has changed nothing, without waiting for the server to say so.
    func endReading() {
      isEnded = true
      guard beginning.isEmpty else { return }
      do throws(StorageError) {
        try connection.send(TrailSchema.rollback)
        try connection.synchronize()
      } catch {
        failure = failure ?? error
      }
    }

    private func run(
      _ operation: TrailSchema.Operation, _ table: StorageTable, _ parameters: [StatementParameter]
    ) throws(StorageError) -> QueryResult {
      try attempt { () throws(StorageError) in
        try sendBeginning()
        return try connection.run(operation.on(table), parameters)
      }
    }

    private func send(
      _ operation: TrailSchema.Operation, _ table: StorageTable, _ parameters: [StatementParameter]
    ) throws(StorageError) {
      try attempt { () throws(StorageError) in
        try sendBeginning()
        try connection.send(operation.on(table), parameters)
        guard connection.awaitedCount >= Self.maximumAwaitedCount else { return }
        try connection.synchronize()
        try connection.takeAnswers()
      }
    }

    private func sendBeginning() throws(StorageError) {
      for statement in beginning { try connection.send(statement) }
      beginning = []
    }

    private func attempt<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
      if let failure { throw failure }
      guard !isEnded else {
        throw StorageError(.closed, at: connection.location.description, "The transaction has ended.")
      }
      do throws(StorageError) {
        return try body()
      } catch {
        failure = error
        throw error
      }
    }
  }
#endif
