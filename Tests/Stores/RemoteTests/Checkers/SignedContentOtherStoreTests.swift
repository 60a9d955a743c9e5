// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import RemoteChecks
import Testing

/// The check of other stores' purchases, by their own content, against requirements.
@Suite struct SignedContentOtherStoreTests {
  private func standing(
    _ receipt: [UInt8], _ requirements: PurchaseRequirements, at now: Timestamp = SampleReceipts.signedAt
  ) async throws -> CheckerResponse.Standing? {
    var policy = VerificationPolicy(bundleIds: .any, environments: [.production, .sandbox])
    policy.appKeys = try TestReceipts.appKeys()
    let verifier = ReceiptVerifier(trust: TrustAnchors(), policy: policy)
    let verified = try #require(verifier.verify(receipt).receipt)
    let checker = SignedContentChecker(requirements: requirements, clock: FixedClock(now).reading)
    guard case .response(let response) = await checker.check(verified) else { return nil }
    return response.standing
  }

  private func isRefused(_ standing: CheckerResponse.Standing?) -> Bool {
    if case .refused = standing { true } else { false }
  }

  @Test("the account of Google Play is any text, compared as it is")
  func account() async throws {
    let receipt = try TestReceipts().googlePlayPurchase()
    for (account, isRight) in [("account-1", true), ("Account-1", false), ("account-2", false)] {
      let requirements = PurchaseRequirements(appAccountToken: UUIDString(rawValue: account))
      #expect(isRefused(try await standing(receipt, requirements)) == !isRight)
    }
    let none = try TestReceipts().googlePlayPurchase { $0.obfuscatedAccountId = nil }
    let requirements = PurchaseRequirements(appAccountToken: UUIDString(rawValue: "account-1"))
    #expect(isRefused(try await standing(none, requirements)))
    #expect(isRefused(try await standing(TestReceipts().huaweiPurchase(), requirements)))
  }

  @Test("a purchase that was not paid for is refused")
  func unpaid() async throws {
    let any = PurchaseRequirements()
    #expect(try await standing(TestReceipts().googlePlayPurchase(), any) == .confirmed)
    #expect(try await standing(TestReceipts().googlePlayLicense(), any) == .confirmed)
    let pending = try TestReceipts().googlePlayPurchase { $0.purchaseState = .pending }
    #expect(isRefused(try await standing(pending, any)))
    let refunded = try TestReceipts().huaweiPurchase { $0.purchaseState = .refunded }
    #expect(try await standing(refunded, any) == .revoked(at: nil))
  }
}
