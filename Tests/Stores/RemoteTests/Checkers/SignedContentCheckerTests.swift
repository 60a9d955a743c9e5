// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import RemoteChecks
import ReceiptTesting
import ReceiptVerification
import Testing

/// The check of a receipt's own content against requirements, without asking anybody.
@Suite struct SignedContentCheckerTests {
  private let owner = UUIDString(rawValue: "7E3FB204-2B3A-4C8F-9D5E-6A1B2C3D4E5F")
  private let stranger = UUIDString(rawValue: "00000000-0000-4000-8000-000000000000")

  private func check(
    _ receipt: VerifiedReceipt, _ requirements: PurchaseRequirements, at now: Timestamp = RemoteFixture.now
  ) async -> CheckerResponse.Standing? {
    let checker = SignedContentChecker(requirements: requirements, clock: { now })
    guard case .response(let response) = await checker.check(receipt) else { return nil }
    return response.standing
  }

  private func expectRefused(
    _ standing: CheckerResponse.Standing?, _ word: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard case .refused(let message)? = standing else {
      Issue.record("\(String(describing: standing))", sourceLocation: sourceLocation)
      return
    }
    #expect(message.contains(word), "\(message)", sourceLocation: sourceLocation)
  }

  private func verified(_ compact: String) throws -> VerifiedReceipt {
    try #require(try RemoteFixture.verifier().verify(compact).receipt)
  }

  private func transaction(_ change: (inout JWSTransaction) -> Void) throws -> VerifiedReceipt {
    try verified(TestReceipts().signedTransaction(change))
  }

  private func renewalInfo(_ change: (inout JWSRenewalInfo) -> Void) throws -> VerifiedReceipt {
    try verified(TestReceipts().signedRenewalInfo(change))
  }

  private func notification(
    _ change: (TestReceipts, inout NotificationData) throws -> Void
  ) throws -> VerifiedReceipt {
    let receipts = try TestReceipts()
    var data = try #require(SampleReceipts.notification.data)
    try change(receipts, &data)
    return try verified(receipts.signedNotification { $0.data = data })
  }

  // MARK: Account

  @Test("the account in a transaction, renewal info or notification must be the required one")
  func account() async throws {
    let owned = try [
      transaction { _ in },
      renewalInfo { $0.appAccountToken = UUIDString(rawValue: owner.rawValue.lowercased()) },
      notification { receipts, data in data.signedTransactionInfo = try receipts.signedTransaction() },
    ]
    for receipt in owned {
      #expect(await check(receipt, PurchaseRequirements(appAccountToken: owner)) == .confirmed)
      expectRefused(await check(receipt, PurchaseRequirements(appAccountToken: stranger)), "another account")
    }
    let withoutToken = try [
      transaction { $0.appAccountToken = nil }, renewalInfo { _ in },
      notification { receipts, data in data.signedRenewalInfo = try receipts.signedRenewalInfo() },
    ]
    for receipt in withoutToken {
      expectRefused(await check(receipt, PurchaseRequirements(appAccountToken: owner)), "or to none")
    }
  }

  @Test(
    "a kind without an account is refused where one is required",
    arguments: [
      ReceiptKind.signedAppTransaction, .signedRealtimeRequest, .appReceipt, .transactionReceipt,
    ])
  func noAccount(kind: ReceiptKind) async throws {
    let receipt = try RemoteFixture.verified(kind)
    expectRefused(await check(receipt, PurchaseRequirements(appAccountToken: owner)), "no account")
    #expect(await check(receipt, PurchaseRequirements()) == .confirmed)
  }

  @Test("a notification without a purchase belongs to no account")
  func emptyNotification() async throws {
    let receipt = try notification { _, _ in }
    expectRefused(await check(receipt, PurchaseRequirements(appAccountToken: owner)), "no account")
  }

  @Test("a receipt of another account is invalid, with the same reason as a refusal of the App Store")
  func verdict() async throws {
    let checker = SignedContentChecker(requirements: PurchaseRequirements(appAccountToken: stranger))
    let verifier = try RemoteFixture.verifier()
    let verdict = try await verifier.verify(RemoteFixture.encoded(.signedTransaction), checkers: [checker])
    #expect(verdict.reason?.code == .checkerRefused)
    #expect(verdict.reason?.place == "checker signed-content")
  }

  @Test("a revoked or upgraded purchase is never confirmed, whatever is required")
  func revoked() async throws {
    let instant = SampleReceipts.signedAt
    let refunded = try transaction { $0.revocationDate = instant }
    #expect(await check(refunded, PurchaseRequirements()) == .revoked(at: instant))
    let upgraded = try transaction { $0.isUpgraded = true }
    expectRefused(await check(upgraded, PurchaseRequirements()), "upgraded")
    #expect(await check(upgraded, PurchaseRequirements(refusesUpgraded: false)) == .confirmed)
    let notified = try notification { receipts, data in
      data.signedTransactionInfo = try receipts.signedTransaction { $0.revocationDate = instant }
    }
    #expect(await check(notified, PurchaseRequirements()) == .revoked(at: instant))
  }
}
