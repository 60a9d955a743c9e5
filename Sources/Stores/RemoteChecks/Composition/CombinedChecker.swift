// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// Several checkers as one.
///
/// If a revocation or a refusal decides, the report names the checker that made it. If a checker whose answer is needed
/// is unreachable, so is the combination: a missing answer is never a confirmation.
public struct CombinedChecker: RemoteChecker {
  package let rule: Rule
  package let order: Order
  package let checkers: [any RemoteChecker]
  /// The rule and the names of the checkers, unless another name was given.
  public let name: String
  private let time: RemoteTime

  /// The kinds that any of the checkers knows.
  public var kinds: Set<ReceiptKind>? {
    checkers.reduce(Set<ReceiptKind>()) { known, checker in checker.kinds.flatMap { known?.union($0) } }
  }

  package init(
    _ rule: Rule, _ checkers: [any RemoteChecker], order: Order, name: String? = nil,
    time: RemoteTime = .system
  ) {
    self.rule = rule
    self.checkers = checkers
    self.order = order
    self.name = name ?? "\(rule.rawValue)(\(checkers.map(\.name).joined(separator: ", ")))"
    self.time = time
  }

  /// Returns a combination in which every checker must confirm; by default they are asked at the same time.
  public static func allOf(_ checkers: [any RemoteChecker], order: Order = .together) -> CombinedChecker {
    CombinedChecker(.allOf, checkers, order: order)
  }

  /// Returns a combination in which one confirmation is enough; by default the checkers are asked one after the other.
  public static func anyOf(_ checkers: [any RemoteChecker], order: Order = .inTurn) -> CombinedChecker {
    CombinedChecker(.anyOf, checkers, order: order)
  }

  /// Returns a combination in which the first response decides; the checkers are asked at the same time.
  public static func firstToAnswer(_ checkers: [any RemoteChecker]) -> CombinedChecker {
    CombinedChecker(.firstToAnswer, checkers, order: .together)
  }

  /// Returns a combination that asks the next checker only if the one before cannot answer.
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
    let checkers = checkers.asked(about: receipt.kind)
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

  /// Returns `true` if this report decides regardless of the others.
  private func isDecisive(_ report: CheckerReport) -> Bool {
    guard case .response(let response) = report.answer else { return false }
    switch (rule, response.standing) {
    case (_, .unknown): return false
    case (.firstToAnswer, _), (.allOf, .revoked), (.allOf, .refused), (.anyOf, .confirmed),
      (.anyOf, .revoked):
      return true
    case (.allOf, .confirmed), (.anyOf, .refused): return false
    }
  }

  private func conclusion(of reports: [CheckerReport]) -> (CheckerAnswer, decidedBy: String?) {
    // A retryable failure wins over a terminal one: if one checker may answer later, so may the combination.
    let decisive =
      reports.first(where: isDecisive)
      ?? reports.first { if case .retryableFailure = $0.answer { true } else { false } }
      ?? reports.first { if case .terminalFailure = $0.answer { true } else { false } }
    if let decisive { return (decisive.answer, decisive.decidedBy) }
    // One that knows nothing decides only if no other checker knows more.
    guard let first = reports.first(where: { !$0.knowsNothing }) ?? reports.first else {
      return (.terminalFailure(message: "There is no checker to ask."), nil)
    }
    if first.knowsNothing { return (first.answer, first.decidedBy) }
    guard rule == .allOf else { return (first.answer, first.decidedBy) }
    return agreement(of: reports)
  }

  /// Confirms if all checkers that state an environment state the same one; otherwise refuses.
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

extension CheckerReport {
  /// `true` if the source answered that it does not know the purchase and need not know it.
  fileprivate var knowsNothing: Bool {
    if case .response(let response) = answer { response.standing == .unknown } else { false }
  }
}
