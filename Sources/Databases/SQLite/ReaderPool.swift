// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A pool of reading connections, which are opened on demand and kept for the next read.
package final class ReaderPool: Sendable {
  private let path: String
  private static let maximumIdle = 4
  private let open: @Sendable () throws(SQLiteError) -> Connection
  private let state: Mutex<State>

  private struct State {
    var idle: [Connection]
    var inUse = 0
    /// The closure to run after the last connection is closed; set when the pool is closed.
    var completion: (@Sendable () throws -> Void)?
    var isClosed = false
  }

  init(
    path: String, idle: [Connection], open: @escaping @Sendable () throws(SQLiteError) -> Connection
  ) {
    self.path = path
    self.open = open
    state = Mutex(State(idle: idle))
  }

  /// Runs `body` on a connection that no other read uses. Throws ``SQLiteError`` with `closed` after the pool was
  /// closed, and any error from `body`.
  package func withReader<Result>(_ body: (Database) throws -> Result) throws -> Result {
    let kept = try state.withLock { state in
      guard !state.isClosed else { throw closed }
      state.inUse += 1
      return state.idle.popLast()
    }
    var reader = kept
    defer { release(reader) }
    let borrowed = try kept ?? open()
    reader = borrowed
    return try borrowed.use(body)
  }

  private func release(_ reader: Connection?) {
    let completion = state.withLock { state -> (@Sendable () throws -> Void)? in
      state.inUse -= 1
      if let reader, !state.isClosed, state.idle.count < Self.maximumIdle { state.idle.append(reader) }
      return state.isClosed && state.inUse == 0 ? state.completion : nil
    }
    if let completion {
      try? reader?.close()
      try? completion()
    }
  }

  /// Closes the connections, now or when the reads in progress have ended, and then runs `completion`. Further calls
  /// have no effect.
  package func close(_ completion: @escaping @Sendable () throws -> Void = {}) throws {
    let (idle, isLast) = state.withLock { state in
      defer { state.idle = [] }
      guard !state.isClosed else { return ([Connection](), false) }
      state.isClosed = true
      state.completion = completion
      return (state.idle, state.inUse == 0)
    }
    for reader in idle { try reader.close() }
    if isLast { try completion() }
  }

  package func requireOpen() throws(SQLiteError) { if state.withLock({ $0.isClosed }) { throw closed } }

  private var closed: SQLiteError { SQLiteError(.closed, at: path, "It was closed.") }
}
