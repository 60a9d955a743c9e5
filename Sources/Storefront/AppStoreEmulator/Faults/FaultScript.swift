// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import Storefront
internal import Synchronization

/// The faults of an emulated store's answers.
///
/// ```swift
/// faults.replace(with: [.init([.status(503), .cut(afterBytes: 10)], requests: 2)])
/// ```
public final class FaultScript: Sendable {
  private struct Running: Sendable {
    var rule: Rule
    var used = 0
    var random: SeededGenerator

    init(_ rule: Rule) {
      self.rule = rule
      random = SeededGenerator(seed: rule.seed)
    }
    /// The end of the period of a rate limit, and the requests in it.
    var period: (end: Timestamp, requests: Int)?

    /// Counts a request. Returns the seconds to the end of the period if the request exceeds the limit, otherwise
    /// `nil`.
    mutating func excess(over limit: Int, per seconds: Int, at now: Timestamp) -> Int? {
      if period.map({ $0.end <= now }) ?? true { period = (now.addingSeconds(Double(seconds)), 0) }
      period?.requests += 1
      guard let period, period.requests > limit else { return nil }
      return Int(((period.end.millisecondsSince1970 - now.millisecondsSince1970) / 1000).rounded(.up))
    }
  }

  private let rules = Mutex<[Running]>([])

  package init() {}

  /// Replaces all rules. The first rule applies that matches the request and is not used up.
  package func replace(with rules: [Rule]) {
    self.rules.withLock { $0 = rules.filter { !$0.faults.isEmpty }.map(Running.init) }
  }

  /// Adds a rule after the others.
  public func append(_ rule: Rule) {
    guard !rule.faults.isEmpty else { return }
    rules.withLock { $0.append(Running(rule)) }
  }

  func next(for request: EmulatorRequest, at now: Timestamp) -> EmulatorFault? {
    let path = "/" + request.path.joined(separator: "/")
    return rules.withLock { rules in
      for index in rules.indices {
        let rule = rules[index].rule
        if let prefix = rule.path, !path.hasPrefix(prefix) { continue }
        if let target = rule.target, request.target != target { continue }
        if let requests = rule.requests, rules[index].used >= requests { continue }
        var fault = rule.faults[rules[index].used % rule.faults.count]
        if let probability = rule.probability {
          guard Double.random(in: 0..<1, using: &rules[index].random) < probability else { return nil }
          fault = rule.faults.randomElement(using: &rules[index].random) ?? fault
        }
        if case .rateLimit(let requests, let seconds) = fault {
          // Requests within the limit continue with the next rule.
          guard let rest = rules[index].excess(over: requests, per: seconds, at: now) else { continue }
          fault = .rateLimit(requests: requests, seconds: rest)
        }
        rules[index].used += 1
        return fault
      }
      return nil
    }
  }
}

extension FaultScript.Rule {
  /// A rule that uses each fault once.
  public static func once(_ faults: EmulatorFault...) -> Self { Self(faults, requests: faults.count) }

  /// A rule that applies a fault to every request.
  public static func always(_ fault: EmulatorFault) -> Self { Self([fault], requests: nil) }
}

extension FaultScript {
  static func rules(_ json: JSONValue) throws -> [Rule] {
    guard let list = json.array else { throw EmulatorControl.Failure("Faults are a list of rules.") }
    return try list.enumerated().map { index, json in
      do { return try Rule(FaultRule(control: json.encoded())) } catch {
        throw EmulatorControl.Failure("Rule \(index): \(error)")
      }
    }
  }
}

extension FaultScript.Rule {
  fileprivate init(_ json: FaultRule) throws {
    let checks = [
      (!json.faults.isEmpty, "\"faults\" is empty."),
      (json.requests ?? 1 >= 1, "\"requests\" is less than 1."),
      (0...1 ~= json.probability ?? 1, "\"probability\" is not a number of 0 to 1."),
      (json.path?.hasPrefix("/") ?? true, "\"path\" is not a text that begins with /."),
      (json.target?.hasPrefix("/") ?? true, "\"target\" is not a text that begins with /."),
    ]
    if let failed = checks.first(where: { !$0.0 }) { throw EmulatorControl.Failure(failed.1) }
    self.init(
      try json.faults.map { try EmulatorFault($0) }, requests: json.requests, probability: json.probability,
      seed: UInt64(bitPattern: json.seed), path: json.path, target: json.target)
  }
}
