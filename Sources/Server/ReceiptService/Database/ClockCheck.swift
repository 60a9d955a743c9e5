// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import ReceiptCodec

  /// Says when stored instants are to be checked against the clock: at the start, when the clock was set back, and once
  /// a minute, since the clock of another process may have been ahead.
  struct ClockCheck: Sendable {
    /// By how many seconds the clocks of two processes may differ. What was stored later than that was stored by a
    /// clock that was wrong.
    static let tolerance: Double = 300
    private static let interval = Duration.seconds(60)

    private var latest: Timestamp?
    private var checked: ContinuousClock.Instant?

    /// Creates one; the first check is due at once.
    init() {}

    /// Makes a check if one is due. One that could not be made stays due.
    ///
    /// - Parameters:
    ///   - now: The time of the clock.
    ///   - instant: The instant of a monotonic clock.
    ///   - check: Makes the check, and returns whether it could be made.
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
