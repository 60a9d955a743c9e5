// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptCodec

/// The exit codes of `sysexits.h` that the tool uses, besides those of a verification.
enum ToolExit {
  static let invalid = ExitCode(1)
  static let undetermined = ExitCode(2)
  static let usage = ExitCode(64)
  static let unreadableInput = ExitCode(66)
  static let internalFault = ExitCode(70)
  static let cannotCreate = ExitCode(73)

  /// Says on standard error what is wrong, and gives the exit code to throw.
  static func failure(_ code: ExitCode, _ message: String) -> ExitCode {
    note("receipt-tool: \(message)")
    return code
  }
}

/// Writes a line to standard error, where notes and progress go.
func note(_ line: String) {
  writeAll(Array((line + "\n").utf8), to: STDERR_FILENO)
}

/// A line of JSON on standard output.
func writeLine(_ object: JSONWriter) {
  writeAll(object.bytes + [0x0A], to: STDOUT_FILENO)
}

/// A line for people on standard output: what could command a terminal is shown, not sent.
func writeLine(_ text: String) {
  writeAll(Array(PrintableText.sanitized(text).utf8) + [0x0A], to: STDOUT_FILENO)
}

/// Writes all bytes to a file descriptor; a reader that has gone away ends the tool quietly.
@discardableResult
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
  var offset = 0
  while offset < bytes.count {
    let written = unsafe bytes.withUnsafeBytes { buffer in
      unsafe write(descriptor, buffer.baseAddress?.advanced(by: offset), buffer.count - offset)
    }
    if written < 0 {
      if errno == EINTR { continue }
      return false
    }
    offset += written
  }
  return true
}
