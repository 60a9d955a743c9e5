// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The exit codes of the process if it cannot do what it was asked (sysexits.h).
enum ServerExit {
  static let wrongConfiguration = ExitCode(65)
  static let unavailable = ExitCode(69)
  static let cannotCreate = ExitCode(73)

  /// Says why on standard error.
  static func failure(_ code: ExitCode, _ message: String) -> ExitCode {
    note(message)
    return code
  }

  /// A line on standard error.
  static func note(_ message: String) {
    // `write(_:)` would end the process where the line cannot be written.
    try? FileHandle.standardError.write(contentsOf: Data("receipt-server: \(message)\n".utf8))
  }
}
