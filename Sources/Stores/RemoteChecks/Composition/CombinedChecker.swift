// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptVerification

/// Several checkers as one.
///
/// In every combination a revocation or refusal is reported by the checker that made it. A combination is itself
/// unreachable when a checker that it needs is: no answer is never a confirmation.
public struct CombinedChecker: RemoteChecker {
  /// Whose answer counts.
  public enum Rule: String, Sendable, Hashable {
    /// Everyone must confirm. The first that refuses or says revoked decides; else one that could not answer.
    case allOf = "all-of"
    /// One confirmation is enough. A revocation decides too: a source that knows of one knows more than the others.
    /// Refused only when everyone refuses.
    case anyOf = "any-of"
    /// The first that answers decides, whatever it says; those that cannot answer are passed over.
    case firstToAnswer = "first-to-answer"
  }

  /// When the checkers are asked.
  public enum Order: Sendable, Hashable {
    /// One after the other, in order, and no more than needed.
    case inTurn
    /// All at once; those still running when one has decided are cancelled.
    case together
  }

  /// Whose answer counts.
  package let rule: Rule
  /// When they are asked.
  package let order: Order
  /// The checkers.
  package let checkers: [any RemoteChecker]
  /// The rule and the names of the checkers, unless another name was given.
  public let name: String
  private let time: RemoteTime

  /// Creates a combination.
  ///
  /// - Parameters:
  ///   - rule: Whose answer counts.
  ///   - checkers: The checkers. Without any, the answer is a failure.
  ///   - order: When they are asked.
  ///   - name: Its name in verdicts; by default like `all-of(app-store, ocsp)`.
  ///   - time: The clock.
  public init(
    _ rule: Rule, _ checkers: [any RemoteChecker], order: Order, name: String? = nil,
    time: RemoteTime = .system
  ) {
    self.rule = rule
    self.checkers = checkers
    self.order = order
    self.name = name ?? "\(rule.rawValue)(\(checkers.map(\.name).joined(separator: ", ")))"
    self.time = time
  }

  /// Everyone must confirm; asked all at once.
  public static func allOf(_ checkers: [any RemoteChecker], order: Order = .together) -> CombinedChecker {
    CombinedChecker(.allOf, checkers, order: order)
  }

  /// One confirmation is enough; asked one after the other.
  public static func anyOf(_ checkers: [any RemoteChecker], order: Order = .inTurn) -> CombinedChecker {
    CombinedChecker(.anyOf, checkers, order: order)
  }

  /// The first that answers decides; asked all at once.
  public static func firstToAnswer(_ checkers: [any RemoteChecker]) -> CombinedChecker {
    CombinedChecker(.firstToAnswer, checkers, order: .together)
  }

  /// The first checker's answer counts; where it cannot answer, the next one's.
  public static func fallback(_ checkers: [any RemoteChecker]) -> CombinedChecker {
    CombinedChecker(
      .firstToAnswer, checkers, order: .inTurn,
      name: "fallback(\(checkers.map(\.name).joined(separator: ", ")))")
  }

  /// Asks the checkers.
  public func check(_ receipt: VerifiedReceipt) async -> CheckerAnswer { await report(on: receipt).answer }

  /// Asks the checkers.
  public func report(on receipt: VerifiedReceipt) async -> CheckerReport {
    let start = time.elapsed()
    var reports: [CheckerReport] = []
    switch order {
    case .inTurn:
      for checker in checkers {
        reports.append(await checker.report(on: receipt))
        if reports.last.map(isDecisive) == true { break }
      }
    case .together:
      await withTaskGroup(of: CheckerReport.self) { group in
        for checker in checkers { group.addTask { await checker.report(on: receipt) } }
        for await report in group {
          reports.append(report)
          guard isDecisive(report) else { continue }
          group.cancelAll()
          break
        }
      }
    }
    let (answer, decidedBy) = conclusion(of: reports)
    return CheckerReport(
      name: name, answer: answer, duration: time.elapsed() - start, parts: reports, decidedBy: decidedBy)
  }

  /// Whether this report decides, whatever the others are.
  private func isDecisive(_ report: CheckerReport) -> Bool {
    guard case .response(let response) = report.answer else { return false }
    switch (rule, response.standing) {
    case (.firstToAnswer, _), (.allOf, .revoked), (.allOf, .refused), (.anyOf, .confirmed),
      (.anyOf, .revoked):
      return true
    case (.allOf, .confirmed), (.anyOf, .refused): return false
    }
  }

  private func conclusion(of reports: [CheckerReport]) -> (CheckerAnswer, decidedBy: String?) {
    if let report = reports.first(where: isDecisive) { return (report.answer, report.decidedBy) }
    // Trying again may help where it may help with one of them.
    for report in reports {
      if case .retryableFailure = report.answer { return (report.answer, report.decidedBy) }
    }
    for report in reports {
      if case .terminalFailure = report.answer { return (report.answer, report.decidedBy) }
    }
    guard let first = reports.first else {
      return (.terminalFailure(message: "There is no checker to ask."), nil)
    }
    guard rule == .allOf else { return (first.answer, first.decidedBy) }
    return agreement(of: reports)
  }

  /// Everyone confirmed: in the same environment?
  private func agreement(of reports: [CheckerReport]) -> (CheckerAnswer, decidedBy: String?) {
    var found: (environment: ReceiptEnvironment.Category, by: String)?
    for report in reports {
      guard case .response(let response) = report.answer, let environment = response.environment else {
        continue
      }
      if let found, found.environment != environment {
        return (
          .response(
            CheckerResponse(
              .refused(
                message:
                  "\(found.by) found the purchase in \(found.environment.rawValue), \(report.decidedBy) in "
                  + "\(environment.rawValue)."))), report.decidedBy
        )
      }
      if found == nil { found = (environment, report.decidedBy) }
    }
    return (.response(CheckerResponse(.confirmed, environment: found?.environment)), nil)
  }
}
