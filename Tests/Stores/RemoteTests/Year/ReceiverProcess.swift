// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptHTTP
import Synchronization
import Testing

/// `receipt-server` as another process, which can be killed and started again on the same database.
final class ReceiverProcess: Sendable {
  struct Failure: Error { let reason: String }

  static let absence: Comment = "receipt-server is not beside the tests"

  /// `true` if the receiver was built. Standard error says so if it was not.
  static let isPresent: Bool = {
    if FileManager.default.isExecutableFile(atPath: executable.path) { return true }
    FileHandle.standardError.write(
      Data("SKIPPED: \(absence.rawValue); looked for \(executable.path).\n".utf8))
    return false
  }()

  private static let executable = EmulatorProcess.builtProgram("receipt-server")

  private struct Running: @unchecked Sendable {
    let process: Process
    let url: RemoteURL
  }

  private let arguments: [String]
  private let running: Mutex<Running>

  /// Starts a development server in a folder.
  ///
  /// - Parameters:
  ///   - folder: The folder, which it creates.
  ///   - settings: More settings of it.
  /// - Throws: `Failure`, or an error of starting a process.
  init(in folder: URL, _ settings: [String: String]) throws {
    arguments =
      ["serve", "--json", "--data", folder.path, "--set", "listen.port=0"]
      + settings.flatMap { ["--set", "\($0.key)=\($0.value)"] }
    running = Mutex(try Self.start(arguments))
  }

  /// The URL at which it takes notifications.
  var url: RemoteURL { running.withLock { $0.url } }

  /// Kills it, and starts it again at another port.
  func killAndRestart() throws {
    stop()
    let next = try Self.start(arguments)
    running.withLock { $0 = next }
  }

  /// Kills it, and waits for its end.
  func stop() {
    running.withLock {
      kill($0.process.processIdentifier, SIGKILL)
      $0.process.waitUntilExit()
    }
  }

  private static func start(_ arguments: [String]) throws -> Running {
    let output = Pipe()
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    guard let line = line(from: output), let url = try JSONValue(parsing: line)["url"]?.string else {
      throw Failure(reason: "It ended before it was ready.")
    }
    return Running(
      process: process, url: try RemoteURL("\(url)/v1/notifications/demo", allowsPlainHTTP: true))
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
