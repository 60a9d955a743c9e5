// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Synchronization

  /// A rate limit for log lines that unauthenticated clients can cause: a burst of 20 lines, then one a second.
  ///
  /// The next line that is written states the number of omitted lines. Such clients can therefore neither fill the log
  /// nor hide in it.
  final class NoiseLimit: Sendable {
    private struct State {
      var room: Double
      var refilled: ContinuousClock.Instant
      var leftOutCount = 0
    }

    private static let burst = 20.0
    private let state: Mutex<State>

    init(at now: ContinuousClock.Instant = .now) {
      state = Mutex(State(room: Self.burst, refilled: now))
    }

    /// The number of lines omitted before this one; `nil` if this one is to be omitted, too.
    func leftOutCount(at now: ContinuousClock.Instant = .now) -> Int? {
      state.withLock { state in
        state.room = min(Self.burst, state.room + (now - state.refilled) / .seconds(1))
        state.refilled = now
        guard state.room >= 1 else {
          state.leftOutCount += 1
          return nil
        }
        state.room -= 1
        defer { state.leftOutCount = 0 }
        return state.leftOutCount
      }
    }
  }
#endif
