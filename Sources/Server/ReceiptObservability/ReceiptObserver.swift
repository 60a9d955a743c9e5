// SPDX-License-Identifier: Apache-2.0

#if SwiftNIO
  public import Logging
  public import Metrics

  /// Reports verdicts, notifications and the events of an audit trail to a logger and a metrics system.
  ///
  /// ```swift
  /// let observer = ReceiptObserver(logger: logger)
  /// let verdict = await verifier.verify(receiptBytes, checkers: checkers, observer: observer)
  /// ```
  ///
  /// The log contains reasons, places and identifiers of transactions, but neither receipts nor customers.
  /// <doc:Metrics> lists the metrics. Any number of tasks may use an observer at once.
  public struct ReceiptObserver: Sendable {
    /// The logger.
    public var logger: Logger
    let factory: any MetricsFactory

    /// Creates an observer.
    ///
    /// - Parameters:
    ///   - logger: The logger.
    ///   - factory: The factory of its metrics; by default the one that `MetricsSystem` was bootstrapped with.
    public init(logger: Logger, factory: any MetricsFactory = MetricsSystem.factory) {
      self.logger = logger
      self.factory = factory
    }

    func count(_ label: String, by amount: Int = 1, _ dimensions: [(String, String)]) {
      Counter(label: label, dimensions: dimensions, factory: factory).increment(by: amount)
    }

    func measure(_ label: String, _ duration: Duration, _ dimensions: [(String, String)]) {
      let (seconds, attoseconds) = duration.components
      let nanoseconds = seconds.multipliedReportingOverflow(by: 1_000_000_000)
      Timer(label: label, dimensions: dimensions, factory: factory)
        .recordNanoseconds(
          nanoseconds.overflow ? .max : nanoseconds.partialValue + attoseconds / 1_000_000_000)
    }

    func record(_ label: String, _ value: some BinaryInteger) {
      Gauge(label: label, factory: factory).record(value)
    }
  }
#endif
