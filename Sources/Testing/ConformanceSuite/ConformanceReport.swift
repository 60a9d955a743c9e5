// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// What a run found, and what may be said of the implementation.
package struct ConformanceReport: Sendable {
  let suite: ConformanceSuite
  let declaration: HarnessDeclaration
  let grade: ConformanceGrade
  /// Indicates that the caller left out no case.
  package let isComplete: Bool
  /// Indicates that the run succeeded: nothing failed that is not an expected failure.
  package let isAsExpected: Bool
  /// Indicates that a complete run had no failure, expected or not.
  package let isConformant: Bool
  /// What may be said of the implementation.
  package let statement: String
  let counts: Counts
  /// The counts by feature, sorted by name.
  let features: [(name: String, counts: Counts)]
  let problems: [String]
  let results: [CaseResult]
  /// The chosen cases, in the order of ``results``.
  let cases: [SuiteCase]

  /// The number of cases by outcome.
  struct Counts: Sendable {
    private var numbers: [CaseOutcome: Int] = [:]

    subscript(outcome: CaseOutcome) -> Int { numbers[outcome, default: 0] }

    mutating func add(_ outcome: CaseOutcome) { numbers[outcome, default: 0] += 1 }

    /// The outcomes that occur.
    var outcomes: [CaseOutcome] { CaseOutcome.allCases.filter { self[$0] > 0 } }

    /// The counts in words, such as `12 pass, 1 fail`.
    var text: String { outcomes.map { "\(self[$0]) \($0.rawValue)" }.joined(separator: ", ") }
  }

  /// Creates the report of a run of the cases that the caller chose. `found` has the results of those that concern the
  /// harness, in the same order; the others were skipped.
  package init(
    of suite: ConformanceSuite, chosen: [SuiteCase], found: [CaseResult], judge: CaseJudge
  ) {
    let declared = Set(judge.declaration.features)
    var found = found[...]
    let results = chosen.map { each in found.first?.id == each.id ? found.removeFirst() : .skipped(each) }
    var counts = Counts()
    var features: [String: Counts] = [:]
    // The valid cases of each format: an implementation that refuses everything passes all others.
    var controls: [String: Counts] = [:]
    for (each, result) in zip(chosen, results) {
      counts.add(result.outcome)
      for feature in each.features { features[feature, default: Counts()].add(result.outcome) }
      if each.expected.verdict == .valid, declared.contains(each.features[0]) {
        controls[each.features[0], default: Counts()].add(result.outcome)
      }
    }
    isComplete = chosen.count == suite.cases.count
    var problems = controls.filter { $0.value[.pass] == 0 }.keys.sorted().map {
      "no valid case of \($0) passes, so that its other cases prove nothing"
    }
    if isComplete {
      let failing = results.filter { $0.outcome == .expectedFailure }
      let stale = judge.expectedFailures.patterns.map(\.pattern).filter { pattern in
        !failing.contains { pattern.matches($0.id) }
      }
      problems += stale.map {
        "the expected failure \(HarnessText.shown($0.text)) matches no case that fails"
      }
    }
    isAsExpected = problems.isEmpty && !counts.outcomes.contains(where: \.isBad)
    isConformant =
      isComplete && isAsExpected && counts[.pass] > 0 && counts[.expectedFailure] == 0
      && (judge.grade == .verdicts || judge.declaration.reasons)
    // Of a feature that no case needs, nothing was measured.
    let concerned = features.filter { declared.contains($0.key) && $0.value[.pass] > 0 }.keys.sorted()
    let said = "conformant to receipt-conformance \(suite.version), grade \(judge.grade.rawValue), for "
    statement =
      if isConformant {
        said + concerned.joined(separator: ", ")
      } else if isComplete {
        "not " + said + concerned.joined(separator: ", ")
      } else {
        "partial: no statement on conformance"
      }
    self.suite = suite
    declaration = judge.declaration
    grade = judge.grade
    self.counts = counts
    self.features = features.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    self.problems = problems
    self.results = results
    cases = chosen
  }

  /// The name and the version of what was measured.
  var name: String { shown(declaration.harness) + " " + shown(declaration.version) }

  var bad: [CaseResult] { results.filter(\.outcome.isBad) }

  private func shown(_ text: String) -> String { HarnessText.shown(text, limit: 100) }

  /// The number of differences of the second grade, by member.
  private var differences: [(member: String, count: Int)] {
    let compared = [("verdict", true), ("reason", declaration.reasons), ("place", declaration.places)]
    let found = results.flatMap { $0.differences.map(\.member) }
    return compared.compactMap { member, isCompared in
      isCompared ? (member, found.count { $0 == member }) : nil
    }
  }
}

/// The report for people and for programs. What a harness wrote may contain anything.
extension ConformanceReport {
  /// The number of failed cases that a text names.
  static let maximumShownCount = 50

  /// The report in lines, the statement last.
  package var text: [String] {
    var lines = bad.prefix(Self.maximumShownCount).map {
      "\($0.outcome.rawValue): \($0.id): \($0.detail ?? $0.expectedBecause ?? "")"
    }
    if bad.count > lines.count { lines.append("and \(bad.count - lines.count) more") }
    let differences = differences.map { "\($0.count) \($0.member)" }.joined(separator: ", ")
    return lines + problems + [
      "\(name): \(counts.outcomes.isEmpty ? "no case" : counts.text)",
      "differences of the second grade: \(differences)", statement,
    ]
  }

  /// The report in the form of the suite's report.schema.json.
  package var json: JSONValue {
    let count = { (value: Int) in JSONValue.integer(Int64(value)) }
    let texts = { (values: [String]) in JSONValue.array(values.map { .string(shown($0)) }) }
    return .members(
      ("format", .string("receipt-conformance-report-1")),
      (
        "suite",
        .members(
          ("version", .string(suite.version)), ("sha256", .string(suite.sha256)),
          ("cases", count(suite.cases.count)))
      ),
      (
        "harness",
        .members(
          ("harness", .string(shown(declaration.harness))), ("version", .string(shown(declaration.version))),
          ("features", texts(declaration.features)), ("reports", texts(declaration.reports)),
          ("reasons", .bool(declaration.reasons)), ("places", .bool(declaration.places)))
      ),
      ("grade", count(grade.rawValue)), ("complete", .bool(isComplete)),
      ("asExpected", .bool(isAsExpected)),
      ("conformant", .bool(isConformant)), ("statement", .string(statement)), ("counts", json(counts)),
      ("features", .members(features.map { ($0.name, json($0.counts)) })),
      ("secondGradeDifferences", .members(differences.map { ($0.member, count($0.count)) })),
      ("problems", .array(problems.map { .string($0) })), ("results", .array(results.map(json))))
  }

  private func json(_ counts: Counts) -> JSONValue {
    .members(CaseOutcome.allCases.map { ($0.rawValue, .integer(Int64(counts[$0]))) })
  }

  private func json(_ result: CaseResult) -> JSONValue {
    let differences = result.differences.map { difference in
      JSONValue.members(
        ("member", .string(difference.member)), ("expected", .string(difference.expected)),
        ("found", .string(difference.found)))
    }
    return .members(
      ("id", .string(result.id)), ("importance", .string(result.importance)),
      ("outcome", .string(result.outcome.rawValue)),
      ("seconds", result.seconds.flatMap { JSONNumber(text: "\($0)") }.map { .number($0) }),
      ("expectedBecause", result.expectedBecause.map { .string($0) }),
      ("verdict", result.verdict.map { .string($0) }), ("detail", result.detail.map { .string($0) }),
      ("context", result.context.map { .string($0) }),
      ("differences", differences.isEmpty ? nil : .array(differences)))
  }
}
