// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import AuditTrail
  import AuditTrailPostgreSQL
  import Foundation
  import Synchronization
  import Testing

  /// A PostgreSQL server of the tests' own, on a socket in a temporary folder. It ends with this process, whose end
  /// closes its standard input, and leaves nothing behind.
  final class PostgreSQLServer: Sendable {
    struct Failure: Error { let reason: String }

    /// One for all tests that do not stop it, started at first use.
    static let shared = Result { try PostgreSQLServer() }

    static let absence: Comment = "no PostgreSQL server to start (Debian: apt-get install postgresql)"

    /// `true` if a PostgreSQL server can be started. Standard error says so if it cannot.
    static let isPresent: Bool = {
      if programs != nil, unsafe getuid() != 0 || getpwnam("postgres") != nil { return true }
      FileHandle.standardError.write(
        Data(
          "SKIPPED: \(absence.rawValue); looked in /usr/lib/postgresql/*/bin and on the PATH, and as root for a user postgres.\n"
            .utf8))
      return false
    }()

    /// The folder with `initdb` and `postgres`, the newest.
    private static let programs: String? = {
      let installed = "/usr/lib/postgresql"
      let versions = ((try? FileManager.default.contentsOfDirectory(atPath: installed)) ?? [])
        .sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(installed)/\($0)/bin" }
      let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
      return (versions + path).first { folder in
        ["initdb", "postgres"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
      }
    }()

    /// The server refuses to be root, and must own its folder.
    private static let script = """
      set -eu
      folder=$1 programs=$2 fsync=$3
      umask 077
      mkdir "$folder"
      trap 'rm -rf "$folder"' EXIT
      if ! "$programs/initdb" -D "$folder/data" -U postgres -A trust --no-sync -E UTF8 --locale=C \\
        >"$folder/log" 2>&1; then
        cat "$folder/log" >&2
        exit 1
      fi
      chmod 755 "$folder"
      while true; do
        "$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync="$fsync" -c shared_buffers=64MB \\
          -c max_connections=60 -c unix_socket_permissions=0777 >>"$folder/log" 2>&1 </dev/null &
        server=$!
        again=no
        read -r again || true
        kill -QUIT "$server"
        wait "$server" || true
        [ "$again" = again ] || exit 0
        echo ended
      done
      """

    let folder: String
    private let running: Mutex<Running>

    /// Kept so that the pipe stays open.
    private struct Running: @unchecked Sendable {
      let process: Process
      let input: Pipe
      let output: Pipe
    }

    /// - Parameter fsync: Whether it has on disk what it says it has.
    /// - Throws: `Failure`, and what prevents a process from starting.
    init(fsync: Bool = true) throws {
      guard let programs = Self.programs else { throw Failure(reason: "There is none.") }
      // Short, since a socket's path has at most 107 bytes, and open to the server's user.
      folder = "/tmp/receiptkit-pg-\(UUID().uuidString.prefix(8))"
      let process = Process()
      let arguments = ["sh", "-c", Self.script, "sh", folder, programs, fsync ? "on" : "off"]
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = getuid() == 0 ? ["runuser", "-u", "postgres", "--"] + arguments : arguments
      process.currentDirectoryURL = URL(fileURLWithPath: "/")
      let (input, output) = (Pipe(), Pipe())
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      running = Mutex(Running(process: process, input: input, output: output))
      try waitUntilReady()
    }

    deinit { stop() }

    /// Ends it, as a crash would, and waits for its end.
    func stop() {
      running.withLock {
        try? $0.input.fileHandleForWriting.close()
        $0.process.waitUntilExit()
      }
    }

    /// Ends it, as a crash would, and starts it again on the same data.
    func restart() throws {
      try running.withLock {
        try $0.input.fileHandleForWriting.write(contentsOf: Data("again\n".utf8))
        guard $0.output.fileHandleForReading.availableData == Data("ended\n".utf8) else {
          throw Failure(reason: "It did not end.")
        }
      }
      try waitUntilReady()
    }

    /// The URL of a schema; of a new one where none is named.
    func url(schema: String = "t\(UUID().uuidString.lowercased().filter { $0 != "-" })") -> String {
      "postgresql:///postgres?host=\(folder)&user=postgres&schema=\(schema)"
    }

    private func waitUntilReady() throws {
      let end = ContinuousClock.now + .seconds(60)
      while true {
        do {
          _ = try PostgreSQLStorage(
            openingAt: url(), options: PostgreSQLOptions(allowsServerWithoutFsync: true))
        } catch {
          if error.code == .notFound { return }
          guard ContinuousClock.now < end, running.withLock({ $0.process.isRunning }) else {
            throw Failure(reason: "It did not start: \(error)")
          }
        }
        usleep(20_000)
      }
    }
  }
#endif
