// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
  import Foundation
  import ReceiptCodec
  import Testing

  /// `receipt-tool audit append` as another process, which may be killed at any moment.
  struct AppendingProcess {
    static let absence: Comment = "receipt-tool is not beside the tests"

    /// `true` if `receipt-tool` was built. Standard error says so if it was not.
    static let isPresent: Bool = {
      if FileManager.default.isExecutableFile(atPath: executable.path) { return true }
      FileHandle.standardError.write(
        Data("SKIPPED: \(absence.rawValue); looked for \(executable.path).\n".utf8))
      return false
    }()

    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent("receipt-tool")

    /// The outcome of a process.
    struct Outcome {
      /// The index of each line that was acknowledged, in order.
      var indexes: [UInt64] = []
      var isKilled = false
      /// Its exit status and standard error, if it failed without being killed.
      var failure: String?
    }

    let trail: String
    let folder: String

    /// Has lines appended.
    ///
    /// - Parameters:
    ///   - lines: Records in JSON.
    ///   - name: The name of a file of its own.
    ///   - milliseconds: When to kill it; `nil` for never.
    /// - Returns: What it acknowledged until its end.
    /// - Throws: What prevents it from starting.
    func run(_ lines: ArraySlice<String>, name: String, killAfter milliseconds: Int?) throws -> Outcome {
      let input = URL(fileURLWithPath: "\(folder)/\(name)")
      try Data(lines.joined(separator: "\n").utf8).write(to: input)
      let process = Process()
      let (output, errors) = (Pipe(), Pipe())
      process.executableURL = Self.executable
      process.arguments = [
        "audit", "append", trail, input.path, "--json", "--private-key", "\(folder)/trail.key", "--key",
        "\(folder)/trail.pub", "--checkpoint", "\(folder)/checkpoint",
      ]
      process.standardOutput = output
      process.standardError = errors
      try process.run()
      var outcome = Outcome()
      if let milliseconds {
        usleep(UInt32(milliseconds) * 1000)
        outcome.isKilled = kill(process.processIdentifier, SIGKILL) == 0
      }
      let printed = output.fileHandleForReading.readDataToEndOfFile()
      let said = errors.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      outcome.isKilled = outcome.isKilled && process.terminationReason == .uncaughtSignal
      if !outcome.isKilled, process.terminationStatus != 0 {
        outcome.failure = "exit \(process.terminationStatus): \(String(decoding: said, as: UTF8.self))"
      }
      // The last line may be cut off.
      for line in printed.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
        let object = try JSONValue(parsing: Array(line))
        // A failed process prints its error last; `failure` has it.
        if object["type"]?.string == "error", outcome.failure != nil { break }
        outcome.indexes.append(try #require(UInt64(exactly: object["index"]?.int64 ?? -1)))
      }
      return outcome
    }
  }
#endif
