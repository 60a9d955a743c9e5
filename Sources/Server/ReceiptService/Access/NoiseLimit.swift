// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Synchronization

  /// The number of times that the log tells what anybody can cause: a few lines at once, then one in a second. The next
  /// line says how many were left out, so that strangers neither fill the log nor hide in it.
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

    /// Indicates whether a line is written: how many were left out before it; `nil` if it is left out, too.
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
