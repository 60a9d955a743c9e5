// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The exit codes of failures (sysexits.h).
enum ToolFailure {
  static let usage: Int32 = 64
  static let noInput: Int32 = 66
  static let unavailable: Int32 = 69
  static let cannotCreate: Int32 = 73

  /// Writes the reason to standard error, and returns the error to throw.
  static func exit(_ code: Int32, _ message: String) -> ExitCode {
    write("store-emulator: \(message)\n")
    return ExitCode(code)
  }

  /// Performs work, an error of which ends the process with a code. An `ExitCode` is passed on.
  static func exiting<Value>(
    _ code: Int32, _ prefix: String = "", _ body: () async throws -> Value
  ) async throws -> Value {
    do { return try await body() } catch { throw exit(code, prefix, error) }
  }

  static func exiting<Value>(_ code: Int32, _ prefix: String = "", _ body: () throws -> Value) throws -> Value
  {
    do { return try body() } catch { throw exit(code, prefix, error) }
  }

  private static func exit(_ code: Int32, _ prefix: String, _ error: any Error) -> ExitCode {
    error as? ExitCode ?? exit(code, "\(prefix)\(error)")
  }

  /// Writes a text. Errors, such as a closed reader, are ignored.
  static func write(_ text: String, to file: FileHandle = .standardError) {
    try? file.write(contentsOf: Data(text.utf8))
  }
}
