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

    /// Creates a clock from the machine's clock and a monotonic one.
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

  /// Decides when to check stored instants against the clock.
  ///
  /// That is at the start, when the clock was set back, and once a minute, because the clock of another process may
  /// have been ahead.
  struct ClockCheck: Sendable {
    /// The maximum difference of the clocks of two processes, in seconds.
    ///
    /// An instant that is stored further in the future comes from a wrong clock.
    static let tolerance: Double = 300
    private static let interval = Duration.seconds(60)

    private var latest: Timestamp?
    private var checked: ContinuousClock.Instant?

    /// Makes a check, which returns `false` if it failed, if one is due.
    ///
    /// A check that fails stays due.
    mutating func ifDue(
      at now: Timestamp, _ instant: ContinuousClock.Instant = .now, _ check: () async -> Bool
    ) async {
      let isSetBack = latest.map { now < $0.addingSeconds(-Self.tolerance) } ?? true
      latest = now
      guard isSetBack || checked.map({ instant - $0 >= Self.interval }) ?? true else { return }
      checked = await check() ? instant : nil
    }
  }
#endif
