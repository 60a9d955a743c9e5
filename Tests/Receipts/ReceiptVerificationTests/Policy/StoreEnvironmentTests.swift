// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// The environments that a policy accepts by store, and what it does about purchases that do not state theirs.
@Suite struct StoreEnvironmentTests {
  private func verifier(
    _ rule: UnstatedEnvironmentRule = .ask, _ others: [PurchaseStore: Set<ReceiptEnvironment.Category>] = [:],
    environments: Set<ReceiptEnvironment.Category> = [.production]
  ) throws -> ReceiptVerifier {
    try Fixture.verifierOfAllStores {
      $0.environments = environments
      $0.otherStores = others
      $0.unstatedEnvironment = rule
    }
  }

  private func confirming(_ environment: ReceiptEnvironment.Category?) -> [any RemoteChecker] {
    [FakeChecker(answers: [.response(CheckerResponse(.confirmed, environment: environment))])]
  }

  @Test("a purchase of Google Play, which states no environment, is treated as the rule says")
  func unstated() async throws {
    let receipt = try Fixture.sample(.googlePlayPurchase)
    #expect(try verifier(.ask).verify(receipt).reason?.code == .environmentUnproven)
    #expect(try verifier(.refuse).verify(receipt).reason?.code == .wrongEnvironment)
    let accepted = try #require(try verifier(.accept).verify(receipt).receipt)
    #expect(accepted.environment == nil && !accepted.isEnvironmentProven)
    for rule in [UnstatedEnvironmentRule.ask, .accept] {
      let real = try await verifier(rule).verify(receipt, checkers: confirming(.production))
      #expect(real.receipt?.environment == .production)
      // Of a licence tester, who pays nothing.
      let test = try await verifier(rule).verify(receipt, checkers: confirming(.sandbox))
      #expect(test.reason?.code == .wrongEnvironment)
    }
    let silent = try await verifier(.ask).verify(receipt, checkers: confirming(nil))
    #expect(silent.reason?.code == .environmentUnproven)
  }

  @Test("with both environments accepted, an unstated one is accepted unless the rule refuses it")
  func bothAccepted() throws {
    let receipt = try Fixture.sample(.googlePlayPurchase)
    let both: Set<ReceiptEnvironment.Category> = [.production, .sandbox]
    #expect(try verifier(.ask, environments: both).verify(receipt).receipt != nil)
    #expect(try verifier(.refuse, environments: both).verify(receipt).reason?.code == .wrongEnvironment)
    #expect(try verifier(.ask, [.googlePlay: both]).verify(receipt).receipt != nil)
    #expect(
      try verifier(.ask, [.googlePlay: [.production]], environments: both).verify(receipt).reason?.code
        == .environmentUnproven)
  }

  @Test("the rule is not about the App Store, whose receipts without an environment may be of the sandbox")
  func appStore() throws {
    let receipt = try Fixture.receipts.signedTransaction { $0.environment = nil }
    #expect(try verifier(.accept).verify(receipt).reason?.code == .environmentUnproven)
    #expect(
      try verifier(.accept).verify(Fixture.sample(.transactionReceipt)).reason?.code == .environmentUnproven)
  }

  @Test("each store has its own accepted environments")
  func byStore() throws {
    let huawei = try Fixture.sample(.huaweiPurchase)
    let apple = try Fixture.sample(.signedTransaction)
    #expect(try verifier().verify(huawei).reason?.code == .wrongEnvironment)
    let verifier = try verifier(.ask, [.huawei: [.sandbox]])
    #expect(verifier.verify(huawei).receipt?.environment == .sandbox)
    #expect(verifier.verify(apple).reason?.code == .wrongEnvironment)
    #expect(try self.verifier(.ask, [.huawei: []], environments: [.sandbox]).verify(huawei).receipt == nil)
  }

  @Test("a refusal names the setting that would change it")
  func settings() throws {
    func message(_ kind: ReceiptKind, _ verifier: ReceiptVerifier) throws -> String {
      try #require(verifier.verify(Fixture.sample(kind)).reason?.message)
    }
    #expect(try message(.signedTransaction, verifier()).contains("setting: environments"))
    #expect(try message(.huaweiPurchase, verifier()).contains("huaweiEnvironments"))
    #expect(try message(.googlePlayPurchase, verifier()).contains("setting: unstatedEnvironment"))
    for kind in [ReceiptKind.signedTransaction, .appReceipt] {
      let other = ReceiptVerifier(trust: .apple, policy: Fixture.policy())
      #expect(try message(kind, other).contains("trust that store's root (setting: trust)"))
    }
  }
}
