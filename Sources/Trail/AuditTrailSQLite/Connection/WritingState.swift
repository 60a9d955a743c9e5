// SPDX-License-Identifier: Apache-2.0

internal import AuditTrail
internal import SQLite
internal import Synchronization

/// Which thread writes, and whether any still may.
final class WritingState: Sendable {
  private let state = Mutex(State())

  private struct State {
    var fault: StorageError?
    var writer: ThreadIdentifier?
  }

  /// The failed sync after which nothing is written any more: the kernel may have dropped what it could not
  /// write, and would report success to the next attempt.
  var fault: StorageError? { state.withLock { $0.fault } }

  func stop(_ fault: StorageError) { state.withLock { $0.fault = $0.fault ?? fault } }

  /// Indicates whether this thread is writing: another write of it would wait for itself.
  var isWritingHere: Bool {
    let thread = ThreadIdentifier.current
    return state.withLock { $0.writer } == thread
  }

  func setWriter(_ isWriting: Bool) {
    let thread = isWriting ? ThreadIdentifier.current : nil
    state.withLock { $0.writer = thread }
  }
}
