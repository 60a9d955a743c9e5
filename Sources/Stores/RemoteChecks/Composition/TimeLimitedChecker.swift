// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// A checker with a time limit.
///
/// A check that exceeds the limit counts as unreachable: the verdict is undetermined, and trying again may help.
public struct TimeLimitedChecker: RemoteChecker {
  package let checker: any RemoteChecker
  /// The longest time that one check may take.
  package let limit: Duration
  private let time: RemoteTime

  /// The name of the wrapped checker.
  public var name: String { checker.name }
  /// The kinds that the wrapped checker knows.
  public var kinds: Set<ReceiptKind>? { checker.kinds }

  package init(_ checker: any RemoteChecker, limit: Duration, time: RemoteTime = .system) {
    self.checker = checker
    self.limit = limit
    self.time = time
  }

  /// Asks the checker, and fails if there is no answer within the limit.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer { await report(on: receipt).answer }

  /// Asks the checker, and fails if there is no answer within the limit.
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
  /// Returns this checker with a time limit.
  public func limited(to limit: Duration, time: RemoteTime = .system) -> TimeLimitedChecker {
    TimeLimitedChecker(self, limit: limit, time: time)
  }
}
