// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// How a case ended.
package enum CaseOutcome: String, CaseIterable, Sendable {
  case pass, fail
  /// The harness ended in the midst of the case.
  case crash
  /// The harness did not answer within the time limit.
  case hang
  /// A case passed that was expected to fail.
  case unexpectedPass = "unexpected-pass"
  case expectedFailure = "expected-failure"
  /// The harness does not declare a feature of the case.
  case skip

  /// Indicates whether a run with such a case fails.
  package var isBad: Bool { [.fail, .crash, .hang, .unexpectedPass].contains(self) }
}

/// The result of a case.
package struct CaseResult: Sendable {
  package let id: String
  let importance: String
  package let outcome: CaseOutcome
  var seconds: Double?
  /// For an expected failure, the reason that was given.
  var expectedBecause: String?
  var verdict: String?
  /// What is wrong with the answer, or differs at the second grade.
  package var detail: String?
  var context: String?
  var differences: [Difference] = []

  /// A difference of the second grade.
  struct Difference: Sendable {
    let member: String
    let expected: String
    let found: String
  }

  static func skipped(_ each: SuiteCase) -> CaseResult {
    CaseResult(id: each.id, importance: each.importance, outcome: .skip)
  }
}

/// The grade by which answers are judged.
package enum ConformanceGrade: Int, Sendable {
  /// What is valid is accepted with its values, and nothing else is accepted.
  case verdicts = 1
  /// In addition, `undetermined` is told from `invalid`, and the reasons and places are those of the suite.
  case reasons = 2
}

/// Judges the answers of a harness.
package struct CaseJudge: Sendable {
  let declaration: HarnessDeclaration
  let grade: ConformanceGrade
  let expectedFailures: ExpectedFailures

  package init(
    declaration: HarnessDeclaration, grade: ConformanceGrade, expectedFailures: ExpectedFailures
  ) {
    self.declaration = declaration
    self.grade = grade
    self.expectedFailures = expectedFailures
  }

  /// The result of a case that was answered after `seconds`.
  package func result(of asked: SuiteCase, _ answer: HarnessAnswer, seconds: Double) -> CaseResult {
    let wrong = wrong(asked.expected, answer)
    let differences = differences(asked.expected, answer)
    let failed = !wrong.isEmpty || grade == .reasons && !differences.isEmpty
    let detail =
      wrong + differences.map { "\($0.member) is \($0.found) instead of \($0.expected)" }
    var result = result(of: asked, failed ? .fail : .pass, seconds: seconds)
    result.verdict = answer.verdict.rawValue
    result.detail = detail.isEmpty ? nil : detail.joined(separator: ", ")
    result.context = context(answer.context)
    result.differences = differences
    return result
  }

  /// The result of a case at which the harness ended or hung. What is `known` of that is its context.
  package func result(
    of asked: SuiteCase, failedBy outcome: CaseOutcome, known: String, seconds: Double
  ) -> CaseResult {
    var result = result(of: asked, outcome, seconds: seconds)
    result.detail = outcome.rawValue
    result.context = context(known)
    return result
  }

  private func result(of asked: SuiteCase, _ outcome: CaseOutcome, seconds: Double) -> CaseResult {
    let because = expectedFailures.reason(for: asked.id)
    let strict: CaseOutcome = outcome == .pass ? .unexpectedPass : .expectedFailure
    return CaseResult(
      id: asked.id, importance: asked.importance, outcome: because == nil ? outcome : strict,
      seconds: (seconds * 1000).rounded() / 1000, expectedBecause: because)
  }

  private func context(_ text: String?) -> String? {
    text.map { HarnessText.shown($0) }.flatMap { $0.isEmpty ? nil : $0 }
  }

  /// What is wrong with an answer by the first grade.
  private func wrong(_ expected: SuiteCase.Expected, _ answer: HarnessAnswer) -> [String] {
    guard expected.verdict != .either else { return [] }
    guard (answer.verdict == .valid) == (expected.verdict == .valid) else {
      return ["\(answer.verdict) instead of \(expected.verdict)"]
    }
    guard expected.verdict == .valid else { return [] }
    let shown = { (value: JSONValue) in
      HarnessText.shown(String(decoding: value.encoded(), as: UTF8.self), limit: 300)
    }
    return expected.values.compactMap { member in
      let found = answer.values[member.name] ?? .null
      guard declaration.reports.contains(member.name), !ValueComparison.isSame(member.value, found) else {
        return nil
      }
      return "\(member.name) is \(shown(found)) instead of \(shown(member.value))"
    }
  }

  /// What differs by the second grade.
  private func differences(
    _ expected: SuiteCase.Expected, _ answer: HarnessAnswer
  ) -> [CaseResult.Difference] {
    guard expected.verdict == .invalid || expected.verdict == .undetermined, answer.verdict != .valid else {
      return []
    }
    let compared: [(name: String, expected: String?, found: String?)] = [
      ("verdict", expected.verdict.rawValue, answer.verdict.rawValue),
      ("reason", declaration.reasons ? expected.reason : nil, answer.reason),
      ("place", declaration.places ? expected.place : nil, answer.place),
    ]
    return compared.compactMap { member in
      guard let right = member.expected, member.found.map({ Array($0.utf8) }) != Array(right.utf8) else {
        return nil
      }
      return CaseResult.Difference(
        member: member.name, expected: right, found: HarnessText.shown(member.found ?? "", limit: 300))
    }
  }
}
