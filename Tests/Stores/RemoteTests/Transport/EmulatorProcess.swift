// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import Synchronization
import Testing

/// `store-emulator` as another process. It ends with this one, whose end closes its standard input.
final class EmulatorProcess: Sendable {
  /// Which port of it.
  enum Port: String, CaseIterable {
    case sandbox = "port"
    case production = "productionPort"
    case tls = "tlsPort"
    case productionTLS = "productionTLSPort"
    case untrustedTLS = "untrustedTLSPort"
    case wrongHostTLS = "wrongHostTLSPort"
    case expiredTLS = "expiredTLSPort"

    var isTLS: Bool { self != .sandbox && self != .production }
  }

  struct Failure: Error { let reason: String }

  /// One for all tests that need no process of their own, started at first use.
  static let shared = Result { try EmulatorProcess() }

  static let absence: Comment = "store-emulator is not beside the tests, or was built without SwiftNIO"

  /// `true` if the emulator was built. Standard error says so if it was not.
  static let isPresent: Bool = {
    #if SwiftNIO
      if FileManager.default.isExecutableFile(atPath: executable.path) { return true }
    #endif
    FileHandle.standardError.write(
      Data("SKIPPED: \(absence.rawValue); looked for \(executable.path).\n".utf8))
    return false
  }()

  private static let executable = builtProgram("store-emulator")

  /// Returns the location of a program of this package, which is beside the tests.
  static func builtProgram(_ name: String) -> URL {
    URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appendingPathComponent(name)
  }

  private let ready: JSONValue
  private let running: Mutex<Running>

  /// Kept so that the pipe stays open.
  private struct Running: @unchecked Sendable {
    let process: Process
    let input: Pipe
  }

  /// Starts one. By default it knows the sample customer and asks for no tokens.
  init(_ arguments: [String] = ["--sample", "--no-token-checks"]) throws {
    let state = FileManager.default.temporaryDirectory.appendingPathComponent("emulator-\(UUID().uuidString)")
    let process = Process()
    process.executableURL = Self.executable
    process.arguments = ["--state", state.path, "--remove-state"] + arguments
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    var line: [UInt8] = []
    while line.last != UInt8(ascii: "\n") {
      var byte: UInt8 = 0
      let count = unsafe read(output.fileHandleForReading.fileDescriptor, &byte, 1)
      if count == 1 { line.append(byte) }
      // A signal to this process interrupts the read.
      guard count == 1 || (count < 0 && errno == EINTR) else {
        throw Failure(reason: "It ended before it was ready.")
      }
    }
    self.ready = try JSONValue(parsing: Array(line.dropLast()))
    self.running = Mutex(Running(process: process, input: input))
  }

  /// Ends it and waits for its end.
  func stop() {
    running.withLock {
      $0.process.terminate()
      $0.process.waitUntilExit()
    }
  }

  func url(_ port: Port, _ target: String, host: String = "localhost") -> String {
    "\(port.isTLS ? "https" : "http")://\(host):\(ready[port.rawValue]?.int64 ?? 0)\(target)"
  }

  /// A file that it wrote: `root`, `receiptRoot`, `tlsAuthority`, `developerKey`, `developer`.
  func file(_ name: String) -> String { ready[name]?.string ?? "" }

  func contents(of name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: file(name))))
  }
}
