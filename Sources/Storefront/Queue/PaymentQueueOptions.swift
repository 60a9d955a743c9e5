// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import ReceiptHTTP

extension PaymentQueue {
  /// Options of a payment queue.
  public struct Options: Sendable {
    /// Whether the user may authorise payments (`canMakePayments`); parental controls or an administrator may forbid
    /// it. Called at every ``PaymentQueue/add(_:)``.
    public var canMakePayments: @Sendable () -> Bool
    /// The valid product identifiers. Payments for others are refused, as are those that ``Store/isRegistered(_:)``
    /// excludes. What remains unknown the store fails with ``StoreError/Code/paymentInvalid``.
    public var registeredProductIdentifiers: Set<String>?
    /// Whether the store is asked with ``Store/isRegistered(_:)`` before a payment is added. The command line wants the
    /// store's own answer to a payment.
    package var checksRegistration = true
    /// The interval at which unfinished sales are fetched from the store, such as approvals and renewals.
    public var synchronizationInterval: Duration
    /// The greatest delay after the first failed attempt to reach the store, and after many. It doubles in between; the
    /// actual delay is a random part of it.
    public var retryDelays: ClosedRange<Duration>
    /// The clocks and the random source. Of these the queue uses `sleep` and `random`.
    public var time: RemoteTime
    /// Makes unique identifiers of requests to the store.
    public var makeIdentifier: @Sendable () -> String
    /// Receives log lines: retries, and why the queue stopped.
    public var log: @Sendable (String) -> Void

    /// Creates options.
    ///
    /// - Parameters:
    ///   - canMakePayments: Whether the user may authorise payments; `true`.
    ///   - registeredProductIdentifiers: The valid product identifiers; `nil` leaves the check to the store.
    ///   - synchronizationInterval: The interval at which unfinished sales are fetched; a minute.
    ///   - retryDelays: The greatest delays after failed attempts; from a second to five minutes.
    ///   - time: The clocks and the random source.
    ///   - makeIdentifier: Makes identifiers of requests; random UUIDs.
    ///   - log: Receives log lines; ignored by default.
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
}
