// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
public import ReceiptCodec

/// A clock for tests that only changes when it is set or advanced.
///
/// ```swift
/// let clock = FixedClock(SampleReceipts.signedAt)
/// let verifier = ReceiptVerifier(trust: trust, policy: policy, clock: clock.reading)
/// clock.advance(seconds: 3600)
/// ```
public final class FixedClock: Sendable {
  private let time: Mutex<Timestamp>

  /// Creates a clock with this time.
  public init(_ now: Timestamp) { self.time = Mutex(now) }

  /// The current time.
  public var now: Timestamp {
    get { time.withLock { $0 } }
    set { time.withLock { $0 = newValue } }
  }

  /// The clock as a closure, for verifiers.
  public var reading: @Sendable () -> Timestamp { { self.now } }

  /// Advances the clock by seconds, which may be negative.
  public func advance(seconds: Double) { time.withLock { $0 = $0.addingSeconds(seconds) } }
}
