// SPDX-License-Identifier: Apache-2.0

#if Server
  package import ReceiptCodec
  internal import ReceiptVerification
  internal import Synchronization

  /// The machine's clock, without the moments in which it is wrong.
  ///
  /// It advances with a monotonic clock. If the machine's clock differs by minutes, for example after a wrong answer of
  /// a time server, the time continues as before. The machine's clock is accepted only after the difference has
  /// persisted for a minute. The time of a clock that is a year ahead for some seconds is therefore not stored.
  package final class SteadyClock: Sendable {
    /// The time for which a difference must persist before it is accepted.
    static let probation = Duration.seconds(60)

    private struct State {
      var wall: Timestamp
      var steady: ContinuousClock.Instant
      /// A different time of the machine's clock: the difference in seconds, and its beginning.
      var other: (difference: Double, since: ContinuousClock.Instant)?
    }

    private let wall: @Sendable () -> Timestamp
    private let steady: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<State>

    /// The clock of this process.
    package static let shared = SteadyClock()

    /// Creates a clock.
    ///
    /// - Parameters:
    ///   - wall: The machine's clock.
    ///   - steady: The monotonic clock.
    package init(
      wall: @escaping @Sendable () -> Timestamp = { SystemClock.now() },
      steady: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
      self.wall = wall
      self.steady = steady
      state = Mutex(State(wall: wall(), steady: steady()))
    }

    /// The current time.
    package func now() -> Timestamp {
      let (wall, steady) = (wall(), steady())
      return state.withLock { state in
        let estimate = state.wall.addingSeconds((steady - state.steady) / .seconds(1))
        let difference = (wall.millisecondsSince1970 - estimate.millisecondsSince1970) / 1000
        if abs(difference) > ClockCheck.tolerance {
          let known = state.other.flatMap {
            abs($0.difference - difference) <= ClockCheck.tolerance ? $0.since : nil
          }
          guard let known, steady - known >= Self.probation else {
            state.other = (difference, known ?? steady)
            return estimate
          }
        }
        state = State(wall: wall, steady: steady)
        return wall
      }
    }
  }
#endif
