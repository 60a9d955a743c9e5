// SPDX-License-Identifier: Apache-2.0

internal import ReceiptHTTP
internal import Synchronization

extension PaymentQueue.Options {
  /// The delay after a number of failed attempts.
  package func delay(afterFailures failures: Int, asked: Duration?) -> Duration {
    let policy = RetryPolicy(firstDelay: retryDelays.lowerBound, maximumDelay: retryDelays.upperBound)
    // At least a tenth, so that small random values do not cause a retry storm.
    let share = 0.1 + 0.9 * min(max(time.random(), 0), 1)
    let own = policy.greatestDelay(afterAttempts: failures) * share
    // The store may ask for a longer delay, up to a bound.
    return max(own, min(asked ?? .zero, .seconds(3600)))
  }
}

extension PaymentQueue {
  private static let shared = Mutex<PaymentQueue?>(nil)

  /// The shared queue of the app (`defaultQueue`); `nil` until ``configureDefault(_:)`` sets it at launch.
  public static var `default`: PaymentQueue? { shared.withLock { $0 } }

  /// Sets the shared queue of the app. Libraries should create their own or take one as a parameter.
  ///
  /// - Parameter queue: The queue; `nil` to remove it.
  public static func configureDefault(_ queue: PaymentQueue?) { shared.withLock { $0 = queue } }
}
