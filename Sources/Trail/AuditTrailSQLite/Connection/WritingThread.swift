// SPDX-License-Identifier: Apache-2.0

internal import SQLite
internal import Synchronization

/// The thread that writes. Another write on the same thread would deadlock.
final class WritingThread: Sendable {
  private let thread = Mutex<ThreadIdentifier?>(nil)

  /// Indicates whether this thread is writing.
  var isCurrent: Bool {
    let current = ThreadIdentifier.current
    return thread.withLock { $0 } == current
  }

  /// Runs `body` with this thread as the one that writes.
  func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    let current = ThreadIdentifier.current
    thread.withLock { $0 = current }
    defer { thread.withLock { $0 = nil } }
    return try body()
  }
}
