// SPDX-License-Identifier: Apache-2.0

public import ReceiptVerification

/// A checker that has so much time and no more. Late is unreachable: the verdict is undetermined, and trying
/// again may help.
public struct TimeLimitedChecker: RemoteChecker {
  /// The checker.
  package let checker: any RemoteChecker
  /// From the question to the answer.
  package let limit: Duration
  private let time: RemoteTime

  /// The checker's own name.
  public var name: String { checker.name }

  /// Creates a checker.
  package init(_ checker: any RemoteChecker, limit: Duration, time: RemoteTime = .system) {
    self.checker = checker
    self.limit = limit
    self.time = time
  }

  /// Asks, and gives up when the time is over.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer { await report(on: receipt).answer }

  /// Asks, and gives up when the time is over.
  public func report(on receipt: VerifiedReceipt) async -> CheckerReport {
    let start = time.elapsed()
    let checker = self.checker
    if let report = await value(within: limit, time: time, { await checker.report(on: receipt) }) {
      return report
    }
    return CheckerReport(
      name: name, answer: .retryableFailure(message: "No answer within \(limit)."),
      duration: time.elapsed() - start)
  }
}

extension RemoteChecker {
  /// The same checker with so much time and no more.
  public func limited(to limit: Duration, time: RemoteTime = .system) -> TimeLimitedChecker {
    TimeLimitedChecker(self, limit: limit, time: time)
  }
}
