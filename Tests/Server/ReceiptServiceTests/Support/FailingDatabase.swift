// SPDX-License-Identifier: Apache-2.0

#if Server
  @testable import ReceiptService
  import Synchronization

  /// A database whose disk is full when some of its transactions are to be committed, or it is to be scrubbed.
  final class FailingDatabase: ServiceDatabase {
    private let database: any ServiceDatabase
    private let count = Mutex(0)
    /// Which of the transactions and scrubbings fail, counted from zero.
    let failing: Mutex<Range<Int>>

    init(_ database: any ServiceDatabase, failing: Range<Int> = 0..<Int.max) {
      self.database = database
      self.failing = Mutex(failing)
    }

    private func fail() throws {
      let number = count.withLock { count in
        count += 1
        return count - 1
      }
      if failing.withLock({ $0.contains(number) }) {
        throw DatabaseError(.full, at: "test", "The disk is full.")
      }
    }

    func write<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result {
      try await database.write { [self] session in
        let result = try body(session)
        try fail()
        return result
      }
    }

    func read<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result { try await database.read(body) }

    func scrub(_ tables: Set<String>) async throws {
      try fail()
      try await database.scrub(tables)
    }

    func close() async {}
  }
#endif
