// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import ReceiptBytes
import ReceiptCodec
import Synchronization

// The only way by which commands print. What cannot be written ends the command with exit code 74, so that output
// that was cut short never looks complete: pass the error on.

/// Writes bytes to standard output, as they are.
func writeAll(_ bytes: [UInt8]) throws(ExitCode) {
  guard writeAll(bytes, to: STDOUT_FILENO) else { throw StandardStreams.outputFailure() }
}

/// Writes text to standard output, as it is.
func writeAll(_ text: String) throws(ExitCode) { try writeAll(Array(text.utf8)) }

/// A line of JSON on standard output.
func writeLine(_ object: JSONWriter) throws(ExitCode) { try writeAll(object.bytes + [0x0A]) }

/// Lines for people on standard output: what could command a terminal is shown, not sent.
func writeLine(_ lines: String...) throws(ExitCode) {
  try writeAll(lines.map { ShownText.plain($0) + "\n" }.joined())
}

/// Writes a line to standard error, where notes and progress go. Where that fails, a command that would otherwise have
/// succeeded does not (``StandardStreams/finish(succeeded:)``); one that fails has its exit code to say so.
func note(_ line: String) {
  // Who closed standard error wants to hear nothing.
  if !writeAll(Array((line + "\n").utf8), to: STDERR_FILENO), errno != EBADF {
    StandardStreams.isNoteLost.store(true, ordering: .relaxed)
  }
}

/// Writes all bytes to a file descriptor.
///
/// - Returns: Whether it could; `errno` says why not.
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

/// The process's standard streams, from its first step to its last.
enum StandardStreams {
  static let isNoteLost = Atomic(false)

  /// Has a closed pipe and a limit on the size of files reported by the write that meets them, not by a signal; and
  /// puts something in the place of a stream that is closed, which the next file that is opened would take.
  static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    let uses = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    for (descriptor, mode) in uses where fcntl(descriptor, F_GETFD) < 0 { _ = unsafe open("/dev/null", mode) }
  }

  /// Closes standard output, since some file systems say only then that there was no space.
  static func finish(succeeded: Bool) throws(ExitCode) {
    guard close(STDOUT_FILENO) == 0 else { throw outputFailure() }
    if succeeded, isNoteLost.load(ordering: .relaxed) { throw ToolExit.inputOutput }
  }

  static func outputFailure() -> ExitCode {
    ToolExit.failure(ToolExit.inputOutput, "cannot write to standard output: \(systemMessage(errno))")
  }
}
