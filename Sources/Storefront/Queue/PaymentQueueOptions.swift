// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import ReceiptHTTP

extension PaymentQueue {
  /// How a queue behaves, and what it asks of the system.
  public struct Options: Sendable {
    /// Whether the user may authorise payments (`canMakePayments`), such as where parents or an administrator have a
    /// say. Asked at every ``PaymentQueue/add(_:)-(Payment)``.
    public var canMakePayments: @Sendable () -> Bool
    /// The identifiers agreed upon with the store. Payments for others are refused; where it is `nil`, the store
    /// fails them with ``StoreError/Code/paymentInvalid``.
    public var registeredProductIdentifiers: Set<String>?
    /// How often the store is asked for sales that nobody here began: approvals, renewals.
    public var synchronizationInterval: Duration
    /// The longest wait after the first failed try to reach the store, and after many. In between it doubles; what is
    /// waited is random, up to that.
    public var retryDelays: ClosedRange<Duration>
    /// The clocks and the random source. Of these the queue uses `sleep` and `random`.
    public var time: RemoteTime
    /// Makes the identifiers of requests to the store: texts that nobody has made before.
    public var makeIdentifier: @Sendable () -> String
    /// Takes lines for people: what the queue tries again, and why it stopped.
    public var log: @Sendable (String) -> Void

    /// Creates options.
    ///
    /// - Parameters:
    ///   - canMakePayments: Whether the user may authorise payments; they may unless said otherwise.
    ///   - registeredProductIdentifiers: The identifiers agreed upon with the store; `nil` leaves it to the store.
    ///   - synchronizationInterval: How often the store is asked; a minute.
    ///   - retryDelays: The longest waits after failed tries; from a second to five minutes.
    ///   - time: The clocks and the random source.
    ///   - makeIdentifier: Makes identifiers of requests; random UUIDs.
    ///   - log: Takes lines for people; nobody reads them unless said otherwise.
    public init(
      canMakePayments: @escaping @Sendable () -> Bool = { true },
      registeredProductIdentifiers: Set<String>? = nil,
      synchronizationInterval: Duration = .seconds(60),
      retryDelays: ClosedRange<Duration> = .seconds(1) ... .seconds(300),
      time: RemoteTime = .system,
      makeIdentifier: (@Sendable () -> String)? = nil,
      log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
      self.canMakePayments = canMakePayments
      self.registeredProductIdentifiers = registeredProductIdentifiers
      self.synchronizationInterval = synchronizationInterval
      self.retryDelays = retryDelays
      self.time = time
      self.makeIdentifier = makeIdentifier ?? { UUID().uuidString }
      self.log = log
    }

    /// How long to leave the store alone after so many failed tries.
    package func delay(afterFailures failures: Int, asked: Duration?) -> Duration {
      let policy = RetryPolicy(firstDelay: retryDelays.lowerBound, maximumDelay: retryDelays.upperBound)
      // At least a tenth, so that small random values do not cause a retry storm.
      let share = 0.1 + 0.9 * min(max(time.random(), 0), 1)
      let own = policy.greatestDelay(afterAttempts: failures) * share
      // A store may ask for a longer delay than ours, up to a bound.
      return max(own, min(asked ?? .zero, .seconds(3600)))
    }
  }
}
