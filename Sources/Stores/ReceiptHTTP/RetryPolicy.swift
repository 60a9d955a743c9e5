// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import FoundationEssentials

/// The attempts, delays and time limits of a call.
///
/// The delay between attempts is random, from zero to a limit that doubles with each attempt (full jitter). If the
/// server asks for a longer delay, that one is used.
public struct RetryPolicy: Sendable, Hashable {
  package var maximumAttempts: Int
  /// The longest delay before the second attempt.
  package var firstDelay: Duration
  /// The longest delay before any later attempt.
  package var maximumDelay: Duration
  /// The time limit from the first attempt to the last byte of the response, delays included.
  package var deadline: Duration
  package var attemptTimeout: Duration

  /// Creates a policy.
  ///
  /// The defaults are four attempts of 10 s each, delays of at most 200 ms to 5 s, and 30 s in all.
  public init(
    maximumAttempts: Int = 4, firstDelay: Duration = .milliseconds(200), maximumDelay: Duration = .seconds(5),
    deadline: Duration = .seconds(30), attemptTimeout: Duration = .seconds(10)
  ) {
    self.maximumAttempts = max(1, maximumAttempts)
    self.firstDelay = firstDelay
    self.maximumDelay = maximumDelay
    self.deadline = deadline
    self.attemptTimeout = attemptTimeout
  }

  /// Returns a policy of one attempt with a time limit.
  public static func once(within deadline: Duration) -> RetryPolicy {
    RetryPolicy(maximumAttempts: 1, deadline: deadline, attemptTimeout: deadline)
  }

  /// Returns the longest delay after a number of failed attempts.
  package func greatestDelay(afterAttempts attempts: Int) -> Duration {
    var delay = min(firstDelay, maximumDelay)
    var doublings = max(attempts, 1) - 1
    // The loop ends once doubling changes nothing, for any number of attempts.
    while doublings > 0, delay > .zero, delay < maximumDelay {
      delay = delay > maximumDelay / 2 ? maximumDelay : delay * 2
      doublings -= 1
    }
    return delay
  }
}

/// The clocks and random numbers of remote calls, which tests replace.
public struct RemoteTime: Sendable {
  /// Returns the wall clock's time.
  package var now: @Sendable () -> Timestamp
  /// Returns the time elapsed since a fixed moment; changes of the wall clock do not affect it.
  package var elapsed: @Sendable () -> Duration
  /// Sleeps for a duration; throws if the task is cancelled.
  package var sleep: @Sendable (Duration) async throws -> Void
  /// Returns a random number from 0 up to but not including 1.
  package var random: @Sendable () -> Double

  /// Creates the clocks from their parts.
  public init(
    now: @escaping @Sendable () -> Timestamp, elapsed: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void, random: @escaping @Sendable () -> Double
  ) {
    self.now = now
    self.elapsed = elapsed
    self.sleep = sleep
    self.random = random
  }

  /// The system's clocks and random numbers.
  public static let system: RemoteTime = {
    let start = ContinuousClock.now
    return RemoteTime(
      now: { Timestamp(Date()) }, elapsed: { ContinuousClock.now - start },
      sleep: { try await Task.sleep(for: $0, clock: .continuous) }, random: { Double.random(in: 0..<1) })
  }()
}
