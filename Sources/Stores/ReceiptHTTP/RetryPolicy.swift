// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
internal import FoundationEssentials

/// How often and how long a call is tried.
///
/// Between tries it waits a random time between zero and a limit that doubles from try to try (full jitter), or
/// as long as the server asked for.
public struct RetryPolicy: Sendable, Hashable {
  /// How many times a request is sent at most; 1 never repeats.
  public var maximumAttempts: Int
  /// The longest wait before the second try.
  public var firstDelay: Duration
  /// The longest wait before any later try.
  public var maximumDelay: Duration
  /// From the first try to the last byte of the answer, waiting included.
  public var deadline: Duration
  /// For each try.
  public var attemptTimeout: Duration

  /// Creates a policy: four tries, 200 ms to 5 s between them, 30 s in all, 10 s each.
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

  /// One try, and its timeout.
  public static func once(within deadline: Duration) -> RetryPolicy {
    RetryPolicy(maximumAttempts: 1, deadline: deadline, attemptTimeout: deadline)
  }

  /// The longest wait after so many failed tries.
  package func greatestDelay(afterAttempts attempts: Int) -> Duration {
    var delay = min(firstDelay, maximumDelay)
    var doublings = max(attempts, 1) - 1
    // However many attempts: doubling ends where it changes nothing any more.
    while doublings > 0, delay > .zero, delay < maximumDelay {
      delay = delay > maximumDelay / 2 ? maximumDelay : delay * 2
      doublings -= 1
    }
    return delay
  }
}

/// The clocks and random numbers of remote calls, which tests replace.
public struct RemoteTime: Sendable {
  /// The time of day.
  public var now: @Sendable () -> Timestamp
  /// Time that passed since some fixed moment, whatever happens to the time of day.
  public var elapsed: @Sendable () -> Duration
  /// Waits; throws when the task is cancelled.
  public var sleep: @Sendable (Duration) async throws -> Void
  /// A number from 0 up to but not including 1.
  public var random: @Sendable () -> Double

  /// Creates one from its parts.
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
