// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptHTTP
import Synchronization
import Testing

/// `receipt-tool notifications serve` as another process, which can be killed and started again on the same file.
final class ReceiverProcess: Sendable {
  struct Failure: Error { let reason: String }

  static let absence: Comment = "receipt-tool is not beside the tests"

  /// Whether there is one to start; where there is none, standard error says so.
  static let isPresent: Bool = {
    if FileManager.default.isExecutableFile(atPath: executable.path) { return true }
    FileHandle.standardError.write(
      Data("SKIPPED: \(absence.rawValue); looked for \(executable.path).\n".utf8))
    return false
  }()

  private static let executable = EmulatorProcess.builtProgram("receipt-tool")

  private struct Running: @unchecked Sendable {
    let process: Process
    let url: RemoteURL
  }

  private let arguments: [String]
  private let running: Mutex<Running>
  private let results: Mutex<[String: Int]>

  init(_ arguments: [String]) throws {
    self.arguments = ["notifications", "serve", "--port", "0"] + arguments
    results = Mutex([:])
    let output = Pipe()
    running = Mutex(try Self.start(self.arguments, output))
    count(output)
  }

  /// Where it takes notifications.
  var url: RemoteURL { running.withLock { $0.url } }

  /// How many deliveries had each result, as far as it could print it.
  var counts: [String: Int] { results.withLock { $0 } }

  /// Kills it, and starts it again at another port.
  func killAndRestart() throws {
    stop()
    let output = Pipe()
    let next = try Self.start(arguments, output)
    running.withLock { $0 = next }
    count(output)
  }

  /// Kills it, and waits for its end.
  func stop() {
    running.withLock {
      kill($0.process.processIdentifier, SIGKILL)
      $0.process.waitUntilExit()
    }
  }

  private static func start(_ arguments: [String], _ output: Pipe) throws -> Running {
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
    guard let line = line(from: output), let port = try JSONValue(parsing: line)["port"]?.int64 else {
      throw Failure(reason: "It ended before it was ready.")
    }
    return Running(
      process: process, url: try RemoteURL("http://127.0.0.1:\(port)/", allowsPlainHTTP: true))
  }

  /// Reads on until its end, or the pipe would fill.
  private func count(_ output: Pipe) {
    Thread.detachNewThread {
      while let line = Self.line(from: output) {
        guard let result = try? JSONValue(parsing: line)["result"]?.string else { continue }
        self.results.withLock { $0[result, default: 0] += 1 }
      }
    }
  }

  private static func line(from output: Pipe) -> [UInt8]? {
    var line: [UInt8] = []
    while true {
      var byte: UInt8 = 0
      let count = unsafe read(output.fileHandleForReading.fileDescriptor, &byte, 1)
      if count == 1, byte == UInt8(ascii: "\n") { return line }
      if count == 1 { line.append(byte) }
      // A signal to this process interrupts the read.
      guard count == 1 || (count < 0 && errno == EINTR) else { return nil }
    }
  }
}
