// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// Which environments a receipt may be of.
@Suite struct EnvironmentPolicyTests {
  private typealias Category = ReceiptEnvironment.Category

  @Test(
    "each spelling counts as the environment that it means, and as no other",
    arguments: [
      ("Production", ReceiptEnvironment.Category.production), ("ProductionVPP", .production),
      ("Sandbox", .sandbox), ("ProductionSandbox", .sandbox), ("ProductionVPPSandbox", .sandbox),
      ("Xcode", .xcode), ("LocalTesting", .localTesting),
    ])
  func spellings(spelling: String, category: ReceiptEnvironment.Category) throws {
    let environment = ReceiptEnvironment(rawValue: spelling)
    let receipts = try Fixture.receipts
    let jws = Array(try receipts.signedTransaction { $0.environment = environment }.utf8)
    let app = try receipts.appReceipt { $0.environment = environment }
    for receipt in [jws, app] {
      for accepted in Category.allCases {
        let verdict = try Fixture.verifier { $0.environments = [accepted] }.verify(receipt)
        if accepted == category {
          #expect(expectValid(verdict)?.environment == environment)
        } else {
          expectInvalid(verdict, .wrongEnvironment)
        }
      }
    }
  }

  @Test(
    "an unknown spelling is of no environment that a policy could accept",
    arguments: ["production", "PRODUCTION", "Production ", "", "Staging", "Sandbox\u{0}"])
  func unknownSpelling(spelling: String) throws {
    let environment = ReceiptEnvironment(rawValue: spelling)
    let receipts = try Fixture.receipts
    let verifier = try Fixture.verifier { $0.environments = Set(Category.allCases) }
    expectInvalid(
      verifier.verify(try receipts.signedTransaction { $0.environment = environment }), .wrongEnvironment)
    expectInvalid(
      verifier.verify(try receipts.appReceipt { $0.environment = environment }), .wrongEnvironment)
    expectInvalid(
      verifier.verify(try receipts.transactionReceipt(environment: environment)), .wrongEnvironment)
  }

  @Test("an absent environment satisfies only a policy that accepts production and sandbox")
  func absent() throws {
    let receipts = try Fixture.receipts
    let without: [[UInt8]] = [
      Array(try receipts.signedTransaction { $0.environment = nil }.utf8),
      Array(try receipts.signedRenewalInfo { $0.environment = nil }.utf8),
      Array(try receipts.signedAppTransaction { $0.receiptType = nil }.utf8),
      try receipts.appReceipt { $0.environment = nil },
    ]
    let enough: [Set<Category>] = [[.production, .sandbox], [.production, .sandbox, .xcode]]
    let tooLittle: [Set<Category>] = [
      [], [.production], [.sandbox], [.xcode], [.production, .xcode], [.sandbox, .localTesting],
    ]
    for receipt in without {
      for environments in enough {
        let verified = expectValid(
          try Fixture.verifier { $0.environments = environments }.verify(receipt))
        #expect(verified?.environment == nil)
        #expect(verified?.isEnvironmentProven == false)
      }
      for environments in tooLittle {
        expectUndetermined(
          try Fixture.verifier {
            $0.environments = environments
            $0.acceptsClaimedEnvironment = true
          }.verify(receipt), .environmentUnproven)
      }
    }
  }

  @Test("a policy without environments accepts nothing", arguments: Fixture.appStoreKinds)
  func none(kind: ReceiptKind) throws {
    let verdict = try Fixture.verifier { $0.environments = [] }.verify(try Fixture.sample(kind))
    let place = kind == .signedNotification ? "$.data.signedTransactionInfo" : ""
    expectInvalid(verdict, .wrongEnvironment, at: place)
  }

  @Test("an app transaction without a bundle is still refused for its environment last")
  func order() throws {
    // The app counts before the environment, which alone a checker may settle.
    let receipts = try Fixture.receipts
    let verifier = try Fixture.verifier { $0.environments = [.production] }
    expectInvalid(
      verifier.verify(try receipts.transactionReceipt { $0.bundleId = "com.example.other" }), .wrongBundle)
    expectInvalid(
      verifier.verify(
        try receipts.signedTransaction {
          $0.environment = nil
          $0.bundleId = "com.example.other"
        }), .wrongBundle)
  }
}
