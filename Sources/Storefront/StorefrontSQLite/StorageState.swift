// SPDX-License-Identifier: Apache-2.0

internal import SQLite
internal import Storefront
internal import Synchronization

/// The state of a storage: open, stopped by an error, or closed.
final class StorageState: Sendable {
  private let state = Mutex(State())

  private struct State {
    var fault: RecordStorageError?
    var isClosed = false
  }

  /// Records a failed sync. The kernel may have dropped the unwritten pages, and would report success to the next
  /// sync.
  ///
  /// - Returns: The error that every use throws from now on, with the message of the first fault.
  @discardableResult func stop(_ fault: RecordStorageError) -> RecordStorageError {
    state.withLock { state in
      let fault =
        state.fault
        ?? RecordStorageError(.syncFailed, at: fault.place, "\(fault.message) Open the storage anew.")
      state.fault = fault
      return fault
    }
  }

  /// Closes the storage; returns `false` if it was closed before.
  func close() -> Bool {
    state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
  }

  func requireUse(at path: String) throws(RecordStorageError) {
    let (fault, isClosed) = state.withLock { ($0.fault, $0.isClosed) }
    if isClosed { throw RecordStorageError(.closed, at: path, "The storage was closed.") }
    if let fault { throw fault }
  }
}

extension RecordStorageError {
  /// Converts an error of the file.
  init(_ error: any Error, at path: String) {
    if let error = error as? RecordStorageError {
      self = error
      return
    }
    guard let fault = error as? SQLiteError else {
      self.init(.inputOutput, at: path, "\(error)")
      return
    }
    let code: Code =
      switch fault.code {
      case .notFound: .notFound
      case .occupied: .notAStorage
      case .full: .full
      case .busy: .busy
      case .inputOutput: .inputOutput
      case .syncFailed: .syncFailed
      case .corrupt: .corrupt
      case .unsupported: .unsupported
      case .closed: .closed
      }
    self.init(code, at: fault.place, fault.message)
  }
}
