// SPDX-License-Identifier: Apache-2.0

#if Server && PostgreSQL
  import Foundation
  import PostgreSQL
  @testable import ReceiptService

  /// A PostgreSQL server of the tests' own (scripts/temporary-postgresql). It ends with this process, whose end closes its
  /// standard input, and leaves nothing behind.
  final class TemporaryPostgreSQL: Sendable {
    struct Failure: Error {}

    static let shared = Result { try TemporaryPostgreSQL() }

    /// `true` if a PostgreSQL server is installed. Standard error says so if it is not.
    static let isPresent: Bool = {
      let installed = "/usr/lib/postgresql"
      let versions = (try? FileManager.default.contentsOfDirectory(atPath: installed)) ?? []
      let folders =
        versions.map { "\(installed)/\($0)/bin" }
        + (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
      if folders.contains(where: { FileManager.default.isExecutableFile(atPath: "\($0)/initdb") }) {
        return true
      }
      FileHandle.standardError.write(
        Data("SKIPPED: no PostgreSQL server to start (Debian: apt-get install postgresql)\n".utf8))
      return false
    }()

    private let process: Process
    /// Kept so that the pipe stays open.
    private let input = Pipe()
    private let baseURL: String

    init() throws {
      let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../..")
        .standardized
      process = Process()
      process.executableURL = root.appending(path: "scripts/temporary-postgresql")
      process.arguments = ["sh", "-c", #"echo "$POSTGRESQL_URL"; exec cat"#]
      let output = Pipe()
      process.standardInput = input
      process.standardOutput = output
      process.standardError = FileHandle.nullDevice
      try process.run()
      let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
      guard line.hasPrefix("postgresql://") else { throw Failure() }
      baseURL = line.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The URL of a schema; of a new one where none is named.
    func url(
      schema: String = "t\(UUID().uuidString.lowercased().filter { $0 != "-" })", user: String = "postgres"
    ) -> String {
      "\(baseURL.replacing("user=postgres", with: "user=\(user)"))&schema=\(schema)"
    }

    /// Ends it before the process does.
    func stop() {
      try? input.fileHandleForWriting.close()
      process.waitUntilExit()
    }

    /// A session with a schema, for what no database does.
    func connection(_ url: String) throws -> ServerConnection<PostgreSQLFault> {
      let location = try ServerLocation(url, schema: nil, defaultSchema: "x", orThrow: PostgreSQLFault.self)
      let connection = try ServerConnection<PostgreSQLFault>(location)
      try connection.execute("SET search_path = \(location.schema)")
      return connection
    }

    /// The files of a schema's tables and indexes, whole.
    func files(of url: String) throws -> [Data] {
      let connection = try connection(url)
      try connection.execute("CHECKPOINT")
      let folder = try connection.execute("SHOW data_directory").text(0, 0)
      let paths = try connection.execute(
        """
        WITH tables AS (
          SELECT oid, reltoastrelid FROM pg_class
          WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'i')
        )
        SELECT pg_relation_filepath(oid) FROM tables UNION
        SELECT pg_relation_filepath(reltoastrelid) FROM tables WHERE reltoastrelid <> 0
        """)
      return try (0..<paths.rowCount).map {
        try Data(contentsOf: URL(filePath: "\(folder)/\(paths.text($0, 0))"))
      }
    }
  }
#endif
