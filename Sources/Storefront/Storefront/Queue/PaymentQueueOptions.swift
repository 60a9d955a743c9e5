// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
public import ReceiptHTTP
internal import Synchronization

extension PaymentQueue {
  /// Options of a payment queue.
  public struct Options: Sendable {
    package var canMakePayments: @Sendable () -> Bool
    package var registeredProductIdentifiers: Set<String>?
    /// `true` to ask the store with ``Store/isRegistered(_:)`` before a payment is added. The command line disables
    /// this, to get the store's own answer to a payment.
    package var checksRegistration = true
    package var synchronizationInterval: Duration
    package var retryDelays: ClosedRange<Duration>
    package var time: RemoteTime
    package var makeIdentifier: @Sendable () -> String
    package var log: @Sendable (String) -> Void

    /// Creates options.
    ///
    /// - Parameters:
    ///   - canMakePayments: Returns `true` if the user may authorise payments (`canMakePayments`); parental controls
    ///     or an administrator may forbid it. Called at every ``PaymentQueue/add(_:)``.
    ///   - registeredProductIdentifiers: The valid product identifiers. Payments for other products are refused, and
    ///     so are those that ``Store/isRegistered(_:)`` excludes. For any other unknown product, the store fails the
    ///     payment with ``StoreError/Code/paymentInvalid``.
    ///   - synchronizationInterval: The interval at which unfinished sales are fetched, such as approvals and
    ///     renewals.
    ///   - retryDelays: The greatest delay after the first failed attempt to reach the store, and after many. It
    ///     doubles in between. The actual delay is a random part of it.
    ///   - time: The clocks and the random source. The queue uses only `sleep` and `random`.
    ///   - makeIdentifier: Makes unique identifiers of requests to the store; random UUIDs by default.
    ///   - log: Receives log lines: retries, and the error that stopped the queue.
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

extension PaymentQueue {
  private static let shared = Mutex<PaymentQueue?>(nil)

  /// The shared queue of the app (`defaultQueue`); `nil` until ``configureDefault(_:)`` sets it at launch.
  public static var `default`: PaymentQueue? { shared.withLock { $0 } }

  /// Sets the shared queue of the app. Libraries should create their own or take one as a parameter.
  ///
  /// - Parameter queue: The queue; `nil` to remove it.
  public static func configureDefault(_ queue: PaymentQueue?) { shared.withLock { $0 = queue } }
}
