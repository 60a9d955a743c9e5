// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import Glibc
import ReceiptBytes
import ReceiptCodec
import Synchronization

// Commands print only with these functions. A failed write ends the command with exit code 74, so that truncated output
// never looks complete. Always propagate the error.

/// Writes bytes to standard output, unchanged.
func writeAll(_ bytes: [UInt8]) throws(ExitCode) {
  guard writeAll(bytes, to: STDOUT_FILENO) else { throw StandardStreams.outputFailure() }
}

func writeAll(_ text: String) throws(ExitCode) { try writeAll(Array(text.utf8)) }

/// Writes a line to standard error, for notes and progress, with control characters escaped. If writing fails, an
/// otherwise successful command fails (``StandardStreams/finish(succeeded:)``); a failed command keeps its exit code.
func note(_ line: String) {
  // If standard error is closed, notes are not wanted.
  if !writeAll(Array((ShownText.plain(line) + "\n").utf8), to: STDERR_FILENO), errno != EBADF {
    StandardStreams.isNoteLost.store(true, ordering: .relaxed)
  }
}

/// The value of an environment variable; `nil` if it is not set, or empty.
func environmentVariable(_ name: String) -> String? {
  let text = unsafe getenv(name).map { unsafe String(cString: $0) }
  return text?.isEmpty == false ? text : nil
}

/// Writes all bytes to a file descriptor.
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

enum StandardStreams {
  static let isNoteLost = Atomic(false)

  /// Prepares the streams. A write to a closed pipe, or beyond the file size limit, becomes an error instead of a
  /// signal. A closed stream is opened at `/dev/null`; otherwise the next file would get its descriptor.
  static func prepare() {
    signal(SIGPIPE, SIG_IGN)
    signal(SIGXFSZ, SIG_IGN)
    let uses = [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    for (descriptor, mode) in uses where fcntl(descriptor, F_GETFD) < 0 { _ = unsafe open("/dev/null", mode) }
    CommandInputs.addStandardInput()
    for number in [SIGHUP, SIGINT, SIGTERM] { removeUnfinishedFiles(on: number) }
  }

  /// Removes unfinished files, and ends a harness, when a signal ends the process. A signal that is ignored, as under `nohup`, stays
  /// ignored.
  private static func removeUnfinishedFiles(on number: Int32) {
    let before = signal(number) { number in
      UnfinishedFile.removeAll()
      HarnessProcess.killRunning()
      signal(number, SIG_DFL)
      raise(number)
    }
    if unsafe unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
      signal(number, SIG_IGN)
    }
  }

  /// Closes standard output, because some file systems report a full disk only then.
  static func finish(succeeded: Bool) throws(ExitCode) {
    guard close(STDOUT_FILENO) == 0 else { throw outputFailure() }
    if succeeded, isNoteLost.load(ordering: .relaxed) { throw ExitCode.inputOutput }
  }

  static func outputFailure() -> ExitCode {
    note("receipt-tool: cannot write to standard output: \(SystemError(number: errno).reason)")
    // Standard output is lost, so the error cannot be printed as an object either.
    Output.Error.keep(nil)
    return ExitCode.inputOutput
  }
}

/// The number of file descriptors that the process may still open.
enum Descriptors {
  /// The maximum number of descriptors that a command needs: for a trail with its readers, another trail or a table,
  /// and some for libdispatch, which traps if it cannot open a file of `/proc`.
  private static let neededByCommand = 32

  /// Fails if fewer descriptors are left than a command needs. It would fail later otherwise, with part of the work
  /// done.
  ///
  /// - Throws: Exit code 74.
  static func require(_ more: Int = 0) throws(ExitCode) {
    let count = neededByCommand + more
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    // Opening files as a test would take descriptors away from other threads meanwhile.
    var free = 0
    var descriptor: Int32 = 0
    while free < count, rlim_t(descriptor) < limit.rlim_cur {
      if fcntl(descriptor, F_GETFD) < 0 { free += 1 }
      descriptor += 1
    }
    guard free < count else { return }
    throw ToolExit.failure(
      .inputOutput,
      "only \(free) more files can be opened, and up to \(count) are needed; raise the limit: ulimit -n 256")
  }
}
