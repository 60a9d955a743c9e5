// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension RetryPolicy {
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

extension RemoteTime {
  /// The system's clocks and random numbers.
  public static let system: RemoteTime = {
    let start = ContinuousClock.now
    return RemoteTime(
      now: { Timestamp.now() }, elapsed: { ContinuousClock.now - start },
      sleep: { try await Task.sleep(for: $0, clock: .continuous) }, random: { Double.random(in: 0..<1) })
  }()
}
