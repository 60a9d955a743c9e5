// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
#if Server
  import ReceiptService
#endif

/// The exit codes of a process that fails (sysexits.h).
enum ServerExit {
  static let wrongConfiguration = ExitCode(65)
  static let unavailable = ExitCode(69)
  static let cannotCreate = ExitCode(73)

  /// Writes the reason to standard error, and returns the exit code to throw.
  static func failure(_ code: ExitCode, _ message: String) -> ExitCode {
    note(message)
    return code
  }

  static func note(_ message: String) {
    // If the line cannot be written, `write(_:)` would end the process.
    try? FileHandle.standardError.write(contentsOf: Data("receipt-server: \(message)\n".utf8))
  }

  #if Server
    /// Does work, and says why it failed: for a wrong configuration, or for what cannot be used.
    ///
    /// - Throws: `ExitCode`, after the reason was written to standard error.
    static func reporting<Value>(_ work: () async throws -> Value) async throws -> Value {
      do {
        return try await work()
      } catch let error as ExitCode {
        throw error
      } catch let error as ServiceConfigurationError {
        throw failure(wrongConfiguration, "\(error)")
      } catch {
        throw failure(unavailable, "\(error)")
      }
    }
  #endif
}
