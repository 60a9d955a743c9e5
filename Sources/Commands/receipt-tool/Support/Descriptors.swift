// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

/// The file descriptors that the process may still open.
enum Descriptors {
  /// The greatest need of a command: a trail with its readers, another trail or a table, and some for libdispatch, which
  /// traps when it cannot open a file of `/proc`.
  private static let neededByCommand = 32

  /// Refuses to begin with fewer than a command needs: it would fail half-way.
  ///
  /// - Parameter more: Those that this command needs besides.
  /// - Throws: Exit code 74.
  static func require(_ more: Int = 0) throws(ExitCode) {
    let count = neededByCommand + more
    var limit = rlimit()
    guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    // Opening some to see whether it works would leave none to other threads meanwhile.
    var free = 0
    var descriptor: Int32 = 0
    while free < count, rlim_t(descriptor) < limit.rlim_cur {
      if fcntl(descriptor, F_GETFD) < 0 { free += 1 }
      descriptor += 1
    }
    guard free < count else { return }
    throw ToolExit.failure(
      ToolExit.inputOutput,
      "only \(free) more files can be opened, and up to \(count) are needed; raise the limit: ulimit -n 256")
  }
}
