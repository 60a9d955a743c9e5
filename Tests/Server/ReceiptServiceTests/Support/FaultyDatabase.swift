// SPDX-License-Identifier: Apache-2.0

#if Server
  @testable import ReceiptService
  import Synchronization

  /// A database in which statements of transactions that write fail as the test wants, and that notes what is scrubbed.
  final class FaultyDatabase: ServiceDatabase {
    typealias Rule = @Sendable (_ statement: String, _ values: [DatabaseValue], _ number: Int) -> Bool

    private let database: any ServiceDatabase
    private let count = Mutex(0)
    /// Decides if a statement fails, by its text, its values, and the number of statements before it.
    let rule: Mutex<Rule>
    /// The tables that were scrubbed, each time.
    let scrubbed = Mutex<[Set<String>]>([])
    /// Runs before what was erased is scrubbed.
    let onScrub = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ database: any ServiceDatabase, failing rule: @escaping Rule = { _, _, _ in false }) {
      self.database = database
      self.rule = Mutex(rule)
    }

    var statementCount: Int { count.withLock { $0 } }

    private final class Session: DatabaseSession {
      private let session: any DatabaseSession
      private let database: FaultyDatabase

      init(_ session: any DatabaseSession, _ database: FaultyDatabase) {
        self.session = session
        self.database = database
      }

      var dialect: SQLDialect { session.dialect }

      func run(_ statement: String, _ values: [DatabaseValue]) throws -> [DatabaseRow] {
        let number = database.count.withLock { count in
          count += 1
          return count - 1
        }
        if database.rule.withLock({ $0 })(statement, values, number) {
          throw DatabaseError(.unavailable, at: "test", "The database does not answer.")
        }
        return try session.run(statement, values)
      }

      func lock(_ key: String) throws { try session.lock(key) }
    }

    func write<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result {
      try await database.write { session in try body(Session(session, self)) }
    }

    func read<Result: Sendable>(
      _ body: @escaping @Sendable (any DatabaseSession) throws -> Result
    ) async throws -> Result { try await database.read(body) }

    func scrub(_ tables: Set<String>) async throws {
      scrubbed.withLock { $0.append(tables) }
      let hook = onScrub.withLock { hook in
        defer { hook = nil }
        return hook
      }
      try await hook?()
      try await database.scrub(tables)
    }

    func close() async {}
  }
#endif
