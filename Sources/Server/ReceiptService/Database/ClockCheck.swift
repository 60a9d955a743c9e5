// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

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

    /// Creates a check that is due at once.
    init() {}

    /// Makes a check if one is due.
    ///
    /// A check that fails stays due.
    ///
    /// - Parameters:
    ///   - now: The time of the clock.
    ///   - instant: The instant of a monotonic clock.
    ///   - check: Makes the check, and returns `false` if it failed.
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
