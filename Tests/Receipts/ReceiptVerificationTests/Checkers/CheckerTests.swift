// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// The combination of remote checkers' answers with the local verdict.
@Suite struct CheckerTests {
  private static let confirmed = CheckerAnswer.response(CheckerResponse(.confirmed))
  private static let refused = CheckerAnswer.response(CheckerResponse(.refused(message: "unknown")))
  private static let revokedAt = Timestamp(secondsSince1970: 1_759_400_000)
  private static let revoked = CheckerAnswer.response(CheckerResponse(.revoked(at: revokedAt)))
  private static let terminal = CheckerAnswer.terminalFailure(message: "wrong credentials")
  private static let retryable = CheckerAnswer.retryableFailure(message: "busy")

  private func confirmed(in environment: ReceiptEnvironment.Category) -> CheckerAnswer {
    .response(CheckerResponse(.confirmed, environment: environment))
  }

  private func verdict(
    _ answers: CheckerAnswer..., of receipt: [UInt8]? = nil,
    under policy: (inout VerificationPolicy) -> Void = { _ in }
  ) async throws -> (verdict: Verdict, asked: [Int]) {
    let checkers = answers.enumerated().map { FakeChecker(name: "c\($0)", answers: [$1]) }
    let receipt = if let receipt { receipt } else { try Fixture.sample(.signedTransaction) }
    let verifier = try Fixture.verifier(policy)
    let verdict = await verifier.verify(receipt, checkers: checkers)
    return (verdict, checkers.map(\.checked.count))
  }

  @Test("without checkers the verdict is the local one")
  func none() async throws {
    expectValid(try await verdict().verdict)
  }

  @Test("each answer of one checker has its verdict")
  func one() async throws {
    expectValid(try await verdict(Self.confirmed).verdict)
    expectValid(try await verdict(confirmed(in: .sandbox)).verdict)
    expectInvalid(try await verdict(Self.refused).verdict, .checkerRefused, at: "checker c0")
    expectInvalid(try await verdict(Self.revoked).verdict, .revoked, at: "checker c0")
    expectUndetermined(try await verdict(Self.terminal).verdict, .checkerUnavailable, at: "checker c0")
    expectUndetermined(
      try await verdict(Self.retryable).verdict, .checkerUnavailable, at: "checker c0", isRetryable: true)
  }

  @Test("the checker's message is in the reason")
  func messages() async throws {
    #expect(try await verdict(Self.refused).verdict.reason?.message == "unknown")
    #expect(try await verdict(Self.retryable).verdict.reason?.message == "busy")
    let revoked = try await verdict(Self.revoked).verdict.reason?.message
    #expect(revoked?.contains(Self.revokedAt.iso8601) == true)
  }

  @Test("all must confirm; the first refusal ends it")
  func several() async throws {
    let both = try await verdict(Self.confirmed, Self.confirmed)
    expectValid(both.verdict)
    #expect(both.asked == [1, 1])
    let second = try await verdict(Self.confirmed, Self.refused)
    expectInvalid(second.verdict, .checkerRefused, at: "checker c1")
    let first = try await verdict(Self.revoked, Self.confirmed)
    expectInvalid(first.verdict, .revoked, at: "checker c0")
    #expect(first.asked == [1, 0])
  }

  @Test("a failure is never outvoted, and a refusal outweighs it in either order")
  func failures() async throws {
    for failure in [Self.terminal, Self.retryable] {
      let isRetryable = failure == Self.retryable
      expectUndetermined(
        try await verdict(failure, Self.confirmed).verdict, .checkerUnavailable, at: "checker c0",
        isRetryable: isRetryable)
      expectUndetermined(
        try await verdict(Self.confirmed, failure).verdict, .checkerUnavailable, at: "checker c1",
        isRetryable: isRetryable)
      expectInvalid(try await verdict(failure, Self.revoked).verdict, .revoked, at: "checker c1")
      expectInvalid(try await verdict(Self.refused, failure).verdict, .checkerRefused, at: "checker c0")
    }
  }

  @Test("a retryable failure is reported before a permanent one")
  func twoFailures() async throws {
    expectUndetermined(
      try await verdict(Self.retryable, Self.terminal).verdict, .checkerUnavailable, at: "checker c0",
      isRetryable: true)
    expectUndetermined(
      try await verdict(Self.terminal, Self.retryable).verdict, .checkerUnavailable, at: "checker c1",
      isRetryable: true)
    expectUndetermined(
      try await verdict(Self.terminal, Self.terminal).verdict, .checkerUnavailable, at: "checker c0")
  }

  @Test("a purchase that a checker finds revoked has that date, and the others stay valid")
  func revokedAmongOthers() async throws {
    let revoked = CheckerResponse.RevokedTransaction(
      transactionId: "2000000002", revocationDate: Self.revokedAt)
    let unknown = CheckerResponse.RevokedTransaction(
      transactionId: "2000000003", revocationDate: Fixture.now)
    let answer = CheckerAnswer.response(
      CheckerResponse(.confirmed, revokedTransactions: [unknown, revoked]))
    let receipt = expectValid(try await verdict(answer, of: try Fixture.sample(.appReceipt)).verdict)
    let transactions = try #require(receipt).transactions
    let revokedOne = try #require(transactions.first { $0.transactionId == "2000000002" })
    #expect(revokedOne.revocationDate == Self.revokedAt)
    let other = try #require(transactions.first { $0.transactionId == "2000000001" })
    #expect(other.revocationDate == nil)
  }

  @Test(
    "one list of checkers serves several stores: those of another store are asked only if no other knows the kind"
  )
  func stores() async throws {
    let answers = [CheckerAnswer.response(CheckerResponse(.confirmed))]
    let google = FakeChecker(name: "google", kinds: [.googlePlayPurchase], answers: answers)
    let apple = FakeChecker(name: "apple", kinds: [.signedTransaction], answers: answers)
    let any = FakeChecker(name: "any", answers: answers)
    let receipt = try Fixture.sample(.signedTransaction)
    let verifier = try Fixture.verifier()
    let verdict = await verifier.verify(receipt, checkers: [google, apple, any])
    #expect(verdict.checks.map(\.name) == ["apple", "any"])
    #expect(google.checked.isEmpty)
    // Otherwise a purchase of a store that nobody asks would be valid by the signature alone.
    let foreign = FakeChecker(
      name: "google", kinds: [.googlePlayPurchase], answers: [.terminalFailure(message: "not mine")])
    #expect(await verifier.verify(receipt, checkers: [foreign, any]).reason?.code == .checkerUnavailable)
  }

  @Test("a checker without answers is a terminal failure")
  func silent() async throws {
    let verdict = await (try Fixture.verifier()).verify(
      try Fixture.sample(.signedTransaction), checkers: [FakeChecker(answers: [])])
    expectUndetermined(verdict, .checkerUnavailable, at: "checker fake")
  }

  @Test("a receipt that is invalid locally stays invalid, and no checker is asked")
  func invalidLocally() async throws {
    let forged = try ForgedJWS.replacingSignature(of: Fixture.sample(.signedTransaction)) {
      $0.map { $0 ^ 1 }
    }
    let (verdict, asked) = try await verdict(Self.confirmed, of: forged)
    expectInvalid(verdict, .signatureMismatch, at: "JWS signature")
    #expect(asked == [0])
    let malformed = try await self.verdict(Self.confirmed, of: [1, 2, 3])
    #expect(malformed.verdict.reason?.code == .malformed)
    #expect(malformed.asked == [0])
  }

  @Test(
    "a receipt that is undetermined for another reason than the environment stays so, and no checker is asked"
  )
  func undeterminedLocally() async throws {
    let undated = try Fixture.receipts.signedTransaction { $0.signedDate = nil }
    let (verdict, asked) = try await verdict(confirmed(in: .sandbox), of: Array(undated.utf8))
    expectUndetermined(verdict, .signingTimeMissing)
    #expect(asked == [0])
    let missing = ReceiptVerifier(trust: try Fixture.rsa.trustAnchors, policy: Fixture.policy())
    let checker = FakeChecker(answers: [confirmed(in: .sandbox)])
    let answer = await missing.verify(try Fixture.sample(.transactionReceipt), checkers: [checker])
    expectUndetermined(answer, .issuerMissing, at: "certificate 0")
    #expect(checker.checked.isEmpty)
  }

  // MARK: Environments

  private func production(_ policy: inout VerificationPolicy) { policy.environments = [.production] }
  private func both(_ policy: inout VerificationPolicy) { policy.environments = [.production, .sandbox] }

  @Test("a claimed environment is proven by a checker that names it")
  func claimSettled() async throws {
    let receipt = try Fixture.receipts.transactionReceipt(environment: .production)
    let (verdict, _) = try await verdict(confirmed(in: .production), of: receipt, under: production)
    let verified = expectValid(verdict)
    #expect(verified?.environment == .production)
    #expect(verified?.isEnvironmentProven == true)
  }

  @Test("a claimed environment is corrected by a checker that finds the purchase elsewhere")
  func claimCorrected() async throws {
    let relabelled = try Fixture.receipts.transactionReceipt(environment: .production)
    let (verdict, _) = try await verdict(confirmed(in: .sandbox), of: relabelled, under: both)
    let verified = expectValid(verdict)
    #expect(verified?.environment == .sandbox)
    #expect(verified?.isEnvironmentProven == true)
    let refused = try await self.verdict(confirmed(in: .sandbox), of: relabelled, under: production)
    expectInvalid(refused.verdict, .wrongEnvironment, at: "checker c0")
    // The claim may be too modest as well.
    let modest = try Fixture.receipts.transactionReceipt(environment: .sandbox)
    let found = try await self.verdict(confirmed(in: .production), of: modest, under: production)
    #expect(expectValid(found.verdict)?.environment == .production)
  }

  @Test("a checker that names no environment proves none")
  func claimOpen() async throws {
    let receipt = try Fixture.receipts.transactionReceipt(environment: .production)
    let (verdict, asked) = try await verdict(Self.confirmed, of: receipt, under: production)
    expectUndetermined(verdict, .environmentUnproven, at: "key \"environment\"")
    #expect(asked == [1])
    let accepted = try await self.verdict(Self.confirmed, of: receipt, under: both)
    #expect(expectValid(accepted.verdict)?.isEnvironmentProven == false)
  }

  @Test("a failed or refusing checker proves no environment")
  func claimUnanswered() async throws {
    let receipt = try Fixture.receipts.transactionReceipt(environment: .production)
    expectUndetermined(
      try await verdict(Self.retryable, of: receipt, under: production).verdict, .checkerUnavailable,
      at: "checker c0", isRetryable: true)
    expectUndetermined(
      try await verdict(confirmed(in: .production), Self.terminal, of: receipt, under: production).verdict,
      .checkerUnavailable, at: "checker c1")
    let refused = CheckerAnswer.response(CheckerResponse(.refused(message: ""), environment: .production))
    expectInvalid(
      try await verdict(refused, of: receipt, under: production).verdict, .checkerRefused,
      at: "checker c0")
  }

  @Test("two checkers that find the purchase in different environments contradict each other")
  func contradiction() async throws {
    let receipt = try Fixture.receipts.transactionReceipt(environment: .production)
    expectInvalid(
      try await verdict(confirmed(in: .production), confirmed(in: .sandbox), of: receipt, under: both)
        .verdict, .checkerRefused, at: "checker c1")
  }

  @Test("a checker that finds the purchase in another environment than is proven contradicts the receipt")
  func provenContradicted() async throws {
    expectInvalid(
      try await verdict(confirmed(in: .production), under: both).verdict, .checkerRefused,
      at: "checker c0")
    expectInvalid(
      try await verdict(confirmed(in: .production)).verdict, .wrongEnvironment, at: "checker c0")
  }

  @Test("an absent environment is proven like a claimed one")
  func absentSettled() async throws {
    let receipt = Array(try Fixture.receipts.signedTransaction { $0.environment = nil }.utf8)
    let (verdict, asked) = try await verdict(confirmed(in: .production), of: receipt, under: production)
    let verified = expectValid(verdict)
    #expect(verified?.environment == .production)
    #expect(verified?.isEnvironmentProven == true)
    #expect(asked == [1])
    expectUndetermined(
      try await self.verdict(Self.confirmed, of: receipt, under: production).verdict,
      .environmentUnproven)
  }

  @Test("an alternative spelling of the found environment is kept")
  func spellingKept() async throws {
    let receipt = try Fixture.receipts.transactionReceipt(environment: .productionSandbox)
    let (verdict, _) = try await verdict(confirmed(in: .sandbox), of: receipt)
    #expect(expectValid(verdict)?.environment == .productionSandbox)
  }

  @Test("a checker sees the receipt with the environment that an earlier checker proved")
  func settledForTheNext() async throws {
    let first = FakeChecker(name: "first", answers: [confirmed(in: .production)])
    let second = FakeChecker(name: "second", answers: [Self.confirmed])
    let verifier = try Fixture.verifier(production)
    let receipt = try Fixture.receipts.transactionReceipt(environment: .sandbox)
    expectValid(await verifier.verify(receipt, checkers: [first, second]))
    #expect(first.checked.map(\.environment) == [.sandbox])
    #expect(first.checked.map(\.isEnvironmentProven) == [false])
    #expect(second.checked.map(\.environment) == [.production])
    #expect(second.checked.map(\.isEnvironmentProven) == [true])
  }
}
