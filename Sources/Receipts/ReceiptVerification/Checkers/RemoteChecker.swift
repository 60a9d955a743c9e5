// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A source that is asked after the local checks about facts that a signature cannot state, such as a later refund.
public protocol RemoteChecker: Sendable {
  /// A short name for verdicts and logs, for example `app-store`.
  var name: String { get }

  /// The kinds of receipts that the source knows; `nil`, the default, for every kind.
  ///
  /// If another checker knows the kind of a receipt, those that do not are not asked about it, so that one list of
  /// checkers serves the receipts of several stores. If none does, they are asked, and their failure leaves the verdict
  /// undetermined.
  var kinds: Set<ReceiptKind>? { get }

  /// Asks about a receipt whose signature is valid.
  ///
  /// Its environment may still be a claim (``VerifiedReceipt/isEnvironmentProven``).
  func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer

  /// Asks about a receipt and returns the report that becomes part of the verdict.
  ///
  /// The default implementation times ``check(_:)``. A checker that asks other checkers overrides it to include their
  /// reports.
  func report(on receipt: VerifiedReceipt) async -> CheckerReport
}

extension RemoteChecker {
  /// Every kind.
  public var kinds: Set<ReceiptKind>? { nil }

  /// Times ``check(_:)``.
  public func report(on receipt: VerifiedReceipt) async -> CheckerReport {
    let start = ContinuousClock.now
    let answer = await check(receipt)
    return CheckerReport(name: name, answer: answer, duration: ContinuousClock.now - start)
  }
}

extension [any RemoteChecker] {
  /// Returns the checkers to ask about a receipt of a kind.
  package func asked(about kind: ReceiptKind) -> [any RemoteChecker] {
    guard contains(where: { $0.kinds?.contains(kind) == true }) else { return self }
    return filter { $0.kinds?.contains(kind) ?? true }
  }
}

/// The answer of one checker and its duration; part of the verdict.
public struct CheckerReport: Sendable, Hashable {
  /// ``RemoteChecker/name``.
  public let name: String
  /// The checker's answer.
  public let answer: CheckerAnswer
  /// The duration of the check, including waiting.
  public let duration: Duration
  /// The reports of the checkers that this one asked, in the order in which they answered.
  ///
  /// It is empty for a checker that asks a source itself.
  public let parts: [CheckerReport]
  /// The name of the checker that gave the answer: this one, or the one inside a composition that decided.
  public let decidedBy: String

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - name: The checker's name.
  ///   - answer: The checker's answer.
  ///   - duration: The duration of the check.
  ///   - parts: The reports of the checkers that it asked.
  ///   - decidedBy: The name of the checker that decided; the checker's own by default.
  public init(
    name: String, answer: CheckerAnswer, duration: Duration, parts: [CheckerReport] = [],
    decidedBy: String? = nil
  ) {
    self.name = name
    self.answer = answer
    self.duration = duration
    self.parts = parts
    self.decidedBy = decidedBy ?? name
  }

  /// The transactions that this checker and the checkers that it asked found revoked.
  var revokedTransactions: [CheckerResponse.RevokedTransaction] {
    var found = parts.flatMap(\.revokedTransactions)
    if case .response(let response) = answer { found += response.revokedTransactions }
    return found
  }

  /// The standings that this checker and the checkers that it asked state.
  var checkedStandings: [CheckedStanding] {
    var found = parts.flatMap(\.checkedStandings)
    if case .response(let response) = answer { found += response.purchases }
    return found
  }
}

/// The outcome of asking a checker.
public enum CheckerAnswer: Sendable, Hashable {
  /// The source answered.
  case response(CheckerResponse)
  /// The source could not be asked, and a retry will not help, for example because of wrong credentials.
  case terminalFailure(message: String)
  /// The source could not be asked now; a retry may help.
  case retryableFailure(message: String)
}

extension CheckerResponse {
  /// The standing of the purchase.
  public enum Standing: Sendable, Hashable {
    /// The purchase is known and in force.
    case confirmed
    /// The purchase was revoked or refunded, at the given time if it is known.
    case revoked(at: Timestamp?)
    /// The source does not know the purchase or contradicts the receipt.
    case refused(message: String)
    /// The source does not know the purchase and need not know it, as a ledger: that says nothing about the receipt.
    case unknown
  }
}
