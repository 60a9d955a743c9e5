// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import AuditTrail
  internal import SQLiteFiles
  internal import Synchronization

  /// Who writes, and whether anybody still may.
  final class WritingState: Sendable {
    private let state = Mutex(State())

    private struct State {
      var fault: StorageError?
      var writer: UInt?
    }

    /// The failed sync after which nothing is written any more: the kernel may have dropped what it could not
    /// write, and would report success to whoever tried again.
    var fault: StorageError? { state.withLock { $0.fault } }

    func stop(_ fault: StorageError) { state.withLock { $0.fault = $0.fault ?? fault } }

    /// Whether this thread is writing: another write of it would wait for itself.
    var isWritingHere: Bool {
      let thread = DatabaseFile.currentThread()
      return state.withLock { $0.writer } == thread
    }

    func setWriter(_ isWriting: Bool) {
      let thread = isWriting ? DatabaseFile.currentThread() : nil
      state.withLock { $0.writer = thread }
    }
  }
#endif
