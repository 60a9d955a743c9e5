// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
@testable import RemoteChecks
import ReceiptVerification
import Synchronization
import Testing

@Suite struct CompositionTests {
  private static let confirmed = CheckerAnswer.response(CheckerResponse(.confirmed))
  private static let revoked = CheckerAnswer.response(CheckerResponse(.revoked(at: nil)))
  private static let refused = CheckerAnswer.response(CheckerResponse(.refused(message: "unknown")))
  private static let silent = CheckerAnswer.response(CheckerResponse(.unknown))
  private static let down = CheckerAnswer.retryableFailure(message: "down")
  private static let denied = CheckerAnswer.terminalFailure(message: "denied")

  private func checkers(_ answers: [CheckerAnswer], asked: Asked = Asked()) -> [any RemoteChecker] {
    answers.enumerated().map { index, answer in
      ClosureChecker(name: "c\(index)") { _ in
        asked.names.withLock { $0.append("c\(index)") }
        return answer
      }
    }
  }

  private final class Asked: Sendable {
    let names = Mutex<[String]>([])
    var list: [String] { names.withLock { $0 } }
  }

  @Test(
    "the table of combinations, asked in turn",
    arguments: [
      (CombinedChecker.Rule.allOf, [confirmed, confirmed], confirmed, 2),
      (.allOf, [confirmed, revoked, down], revoked, 2),
      (.allOf, [down, refused], refused, 2), (.allOf, [confirmed, down], down, 2),
      (.allOf, [denied, down], down, 2),
      (.allOf, [denied, confirmed], denied, 2), (.anyOf, [down, confirmed, revoked], confirmed, 2),
      (.anyOf, [refused, revoked, confirmed], revoked, 2), (.anyOf, [refused, refused], refused, 2),
      (.anyOf, [refused, down], down, 2), (.firstToAnswer, [down, denied, refused, confirmed], refused, 3),
      (.firstToAnswer, [down, denied], down, 2), (.firstToAnswer, [revoked, confirmed], revoked, 1),
      (.allOf, [silent, confirmed], confirmed, 2), (.allOf, [silent, silent], silent, 2),
      (.allOf, [silent, refused], refused, 2), (.allOf, [silent, down], down, 2),
      (.anyOf, [silent, refused], refused, 2), (.anyOf, [silent, confirmed], confirmed, 2),
      (.anyOf, [refused, silent], refused, 2), (.firstToAnswer, [silent, confirmed, revoked], confirmed, 2),
      (.firstToAnswer, [silent, down], down, 2), (.firstToAnswer, [silent, silent], silent, 2),
    ])
  func inTurn(
    rule: CombinedChecker.Rule, answers: [CheckerAnswer], expected: CheckerAnswer, count: Int
  ) async throws {
    let asked = Asked()
    let combined = CombinedChecker(rule, checkers(answers, asked: asked), order: .inTurn)
    let report = await combined.report(on: try RemoteFixture.verified(.signedTransaction))
    #expect(report.answer == expected)
    #expect(asked.list.count == count)
    #expect(report.parts.map(\.name) == asked.list)
  }

  @Test(
    "asked together, the same rules decide, whichever answers first",
    arguments: [
      (CombinedChecker.Rule.allOf, [confirmed, confirmed], confirmed),
      (.allOf, [confirmed, revoked], revoked),
      (.allOf, [confirmed, down], down), (.anyOf, [down, confirmed], confirmed),
      (.anyOf, [refused, down], down),
      (.firstToAnswer, [down, confirmed], confirmed),
    ])
  func together(rule: CombinedChecker.Rule, answers: [CheckerAnswer], expected: CheckerAnswer) async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    for _ in 0..<50 {
      let combined = CombinedChecker(rule, checkers(answers), order: .together)
      #expect(await combined.check(receipt) == expected)
    }
  }

  @Test("without checkers there is no confirmation")
  func empty() async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    for rule in [CombinedChecker.Rule.allOf, .anyOf, .firstToAnswer] {
      guard case .terminalFailure = await CombinedChecker(rule, [], order: .inTurn).check(receipt) else {
        Issue.record("\(rule)")
        continue
      }
    }
  }

  @Test("confirmations in different environments contradict each other")
  func environments() async throws {
    let production = ClosureChecker(name: "p") { _ in
      .response(CheckerResponse(.confirmed, environment: .production))
    }
    let sandbox = ClosureChecker(name: "s") { _ in
      .response(CheckerResponse(.confirmed, environment: .sandbox))
    }
    let answer = await CombinedChecker.allOf([production, sandbox]).check(
      try RemoteFixture.verified(.signedTransaction))
    guard case .response(let response) = answer, case .refused = response.standing else {
      Issue.record("\(answer)")
      return
    }
  }

  @Test("the verdict states each checker's answer, and which one inside a combination decided")
  func evidence() async throws {
    let combined = CombinedChecker.fallback(checkers([Self.down, Self.revoked, Self.confirmed]))
    let verdict = try await RemoteFixture.verifier().verify(
      RemoteFixture.encoded(.signedTransaction), checkers: [combined])
    #expect(verdict.reason?.code == .revoked)
    #expect(verdict.reason?.place == "checker c1")
    let check = try #require(verdict.checks.first)
    #expect(check.name == "fallback(c0, c1, c2)")
    #expect(check.decidedBy == "c1")
    #expect(check.parts.map(\.answer) == [Self.down, Self.revoked])
  }

  @Test("unreachable is undetermined and retryable; valid only where the policy names it")
  func offline() async throws {
    let receipt = try RemoteFixture.encoded(.signedTransaction)
    let down = checkers([Self.down])
    let verdict = try await RemoteFixture.verifier().verify(receipt, checkers: down)
    guard case .undetermined(let undetermined) = verdict else {
      Issue.record("\(verdict)")
      return
    }
    #expect(undetermined.isRetryable)
    let rules: [(VerificationPolicy.OfflineRule, isValid: Bool)] = [
      (.insufficient, false), (.sufficient, true), (.sufficientWithout(["c0"]), true),
      (.sufficientWithout(["c1"]), false),
    ]
    for (rule, isValid) in rules {
      let verdict = try await RemoteFixture.verifier { $0.offlineRule = rule }.verify(receipt, checkers: down)
      #expect((verdict.receipt != nil) == isValid, "\(rule)")
      #expect(verdict.checks.map(\.answer) == [Self.down])
    }
    // Wrong credentials are no outage, and a refusal is one whatever the policy says of outages.
    let lenient = try RemoteFixture.verifier { $0.offlineRule = .sufficient }
    #expect(await lenient.verify(receipt, checkers: checkers([Self.denied])).receipt == nil)
    #expect(
      await lenient.verify(receipt, checkers: checkers([Self.down, Self.revoked])).reason?.code == .revoked)
  }

  @Test("a checker that never answers is stopped at its deadline, even if it ignores cancellation")
  func timeout() async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    let release = FirstResult<Void>()
    let stubborn = ClosureChecker(name: "stubborn") { _ in
      await release.value
      return Self.confirmed
    }
    let report = await stubborn.limited(to: .milliseconds(20)).report(on: receipt)
    guard case .retryableFailure = report.answer else {
      Issue.record("\(report.answer)")
      return
    }
    release.deliver(())
    #expect(
      await ClosureChecker(name: "quick") { _ in Self.confirmed }.limited(to: .seconds(60)).check(receipt)
        == Self.confirmed)
  }

  @Test("an error of a closure counts as unreachable, and is not quoted")
  func thrown() async throws {
    struct Leak: Error { let password = "hunter2" }
    let answer = await ClosureChecker(name: "x") { _ in throw Leak() }.check(
      try RemoteFixture.verified(.signedTransaction))
    guard case .retryableFailure(let message) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(!message.contains("hunter2"))
  }

  @Test(
    "a circuit opens after failures in a row, lets one probe through when its time is up, and closes again")
  func circuitBreaker() async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    let time = ManualTime()
    let asked = Mutex(0)
    let isUp = Mutex(false)
    let checker = ClosureChecker(name: "source") { _ in
      asked.withLock { $0 += 1 }
      return isUp.withLock { $0 } ? Self.confirmed : Self.down
    }
    let breaker = CircuitBreaker(
      checker, failureThreshold: 3, openDuration: .seconds(30), time: time.remoteTime)
    for _ in 0..<10 { _ = await breaker.check(receipt) }
    #expect(asked.withLock { $0 } == 3)
    #expect(breaker.state == .open)
    time.advance(by: .seconds(30))
    #expect(breaker.state == .halfOpen)
    for _ in 0..<5 { _ = await breaker.check(receipt) }
    #expect(asked.withLock { $0 } == 4, "one probe, which failed")
    #expect(breaker.state == .open)
    time.advance(by: .seconds(30))
    isUp.withLock { $0 = true }
    #expect(await breaker.check(receipt) == Self.confirmed)
    #expect(breaker.state == .closed)
    for _ in 0..<5 { #expect(await breaker.check(receipt) == Self.confirmed) }
  }

  @Test("a check that is cancelled is no failure of the source")
  func cancelled() async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    let asked = Mutex(0)
    let release = FirstResult<Void>()
    let checker = ClosureChecker(name: "source") { _ in
      asked.withLock { $0 += 1 }
      await release.value
      return Self.down
    }
    for isCancelled in [true, false] {
      let breaker = CircuitBreaker(checker, failureThreshold: 1)
      let check = Task { await breaker.check(receipt) }
      while asked.withLock({ $0 }) == 0 { await Task.yield() }
      if isCancelled { check.cancel() }
      release.deliver(())
      _ = await check.value
      #expect(breaker.state == (isCancelled ? .closed : .open))
    }
  }

  @Test("while half open, the number of concurrent probes is limited")
  func probes() async throws {
    let receipt = try RemoteFixture.verified(.signedTransaction)
    let time = ManualTime()
    let started = Mutex(0)
    let release = FirstResult<Void>()
    let isUp = Mutex(false)
    let checker = ClosureChecker(name: "source") { _ in
      guard isUp.withLock({ $0 }) else { return Self.down }
      let isFirst = started.withLock { started in
        started += 1
        return started == 1
      }
      if isFirst { await release.value }
      return Self.confirmed
    }
    let breaker = CircuitBreaker(
      checker, failureThreshold: 1, openDuration: .seconds(1), time: time.remoteTime)
    _ = await breaker.check(receipt)
    time.advance(by: .seconds(1))
    isUp.withLock { $0 = true }
    let probe = Task { await breaker.check(receipt) }
    while started.withLock({ $0 }) == 0 { await Task.yield() }
    for _ in 0..<5 {
      guard case .retryableFailure = await breaker.check(receipt) else {
        Issue.record("a second probe got through")
        continue
      }
    }
    release.deliver(())
    #expect(await probe.value == Self.confirmed)
    #expect(started.withLock { $0 } == 1)
  }
}
