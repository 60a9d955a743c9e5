// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite
internal import Synchronization

/// Tracks the thread that writes, and whether writing is still allowed.
final class WritingState: Sendable {
  private let state = Mutex(State())

  private struct State {
    var fault: StorageError?
    var writer: ThreadIdentifier?
  }

  /// The failed sync after which nothing may be written any more.
  ///
  /// The kernel may have dropped the data that it could not write, and would report success for the next attempt.
  var fault: StorageError? { state.withLock { $0.fault } }

  func stop(_ fault: StorageError) { state.withLock { $0.fault = $0.fault ?? fault } }

  /// Indicates whether this thread is writing. Another write on the same thread would deadlock.
  var isWritingHere: Bool {
    let thread = ThreadIdentifier.current
    return state.withLock { $0.writer } == thread
  }

  func setWriter(_ isWriting: Bool) {
    let thread = isWriting ? ThreadIdentifier.current : nil
    state.withLock { $0.writer = thread }
  }
}
