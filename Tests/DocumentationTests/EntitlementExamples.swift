// SPDX-License-Identifier: Apache-2.0

import Entitlements
import ReceiptCodec
import ReceiptCrypto
import ReceiptVerification
import Testing

/// Named entitlements.
@Suite(.timeLimit(.minutes(10))) struct EntitlementExamples {
  private let now = Timestamp(secondsSince1970: 1_800_000_000)
  private let customer = "ann"

  @Test func namedEntitlements() throws {
    let grant = GrantFact(date: now, entitlement: "premium", customer: customer, reason: "test")
    let ledger = EntitlementLedger(granting: grant, id: EntitlementGrant.ID(identifier: "gr_1"))
    var unlocked = 0
    let premium = NamedEntitlement(name: "premium", products: ["com.example.app.monthly", "premium:monthly"])
    let access = ledger.access(to: [premium], of: customer, at: now)
    if access[0].grantsAccess { unlocked += 1 }
    #expect(unlocked == 1)
  }

  @Test func signedEntitlements() throws {
    let signer = try EntitlementSigner(privateKey: PrivateKey.generateP256())
    let keySet = try EntitlementKeySet([signer.publicKey]).encoded()
    let premium = EntitlementAccess(name: "premium", standing: .active, since: now, until: nil, reasons: [])
    let token = try signer.sign(
      SignedEntitlements(
        app: "shop", customer: customer, issuer: nil, issuedAt: now, expiresAt: now.addingSeconds(3600),
        access: [premium]))
    var unlocked = 0
    let keys = try EntitlementKeySet(decoding: keySet)
    let entitlements = try SignedEntitlements(
      verifying: token, keys: keys, app: "shop", customer: customer, at: now)
    if entitlements.grantsAccess(to: "premium", at: now) { unlocked += 1 }
    #expect(unlocked == 1)
  }
}
