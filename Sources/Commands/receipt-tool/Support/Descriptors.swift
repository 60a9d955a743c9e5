// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc

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
