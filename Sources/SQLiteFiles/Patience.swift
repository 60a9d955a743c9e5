// SPDX-License-Identifier: Apache-2.0

#if SQLite
  internal import Synchronization

  /// How long to wait for other processes. SQLite has no queue for its locks: whoever waits asks again.
  package final class Patience: Sendable {
    private let state: Mutex<State>

    private struct State {
      var limit: Duration
      var start = ContinuousClock.now
    }

    package init(_ limit: Duration) { state = Mutex(State(limit: limit)) }

    /// How long it lasts.
    package var duration: Duration { state.withLock { $0.limit } }

    /// Waits a little, or says that it was enough.
    package func waits(after tries: Int) -> Bool {
      let goesOn = state.withLock { state in
        if tries == 0 { state.start = .now }
        return ContinuousClock.now - state.start < state.limit
      }
      if goesOn { DatabaseFile.sleep(microseconds: UInt32(min(500 + tries * 250, 10_000))) }
      return goesOn
    }

    /// Runs `body` without waiting.
    package func without<Result>(_ body: () throws -> Result) rethrows -> Result {
      let limit = state.withLock { state in
        defer { state.limit = .zero }
        return state.limit
      }
      defer { state.withLock { $0.limit = limit } }
      return try body()
    }
  }
#endif
