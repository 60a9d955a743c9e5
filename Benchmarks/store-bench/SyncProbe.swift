// SPDX-License-Identifier: Apache-2.0

import Glibc
import Measuring

/// Measures the most that a disk can do: writes a page behind the one before, and syncs it.
final class SyncProbe {
  private let descriptor: Int32
  private var page = [UInt8](repeating: 0x5a, count: 4096)
  private var written = 0

  init(path: String) throws {
    descriptor = unsafe open(path, O_CREAT | O_TRUNC | O_RDWR, 0o600)
    guard descriptor >= 0 else { throw Failure("\(path) cannot be written.") }
    // The blocks are there, as in a log that goes round.
    for _ in 0..<1024 { _ = unsafe write(descriptor, page, page.count) }
    fsync(descriptor)
  }

  deinit { close(descriptor) }

  /// Writes and syncs a page, and returns the seconds that it took.
  func writeAndSync() throws -> Double {
    page[0] &+= 1
    let start = Clock.seconds()
    let count = unsafe pwrite(descriptor, page, page.count, (written % 1024) * page.count)
    guard count == page.count, fdatasync(descriptor) == 0 else {
      throw Failure("The probe's file cannot be written.")
    }
    written += 1
    return Clock.seconds() - start
  }
}
