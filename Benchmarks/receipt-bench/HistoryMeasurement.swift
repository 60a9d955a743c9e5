// SPDX-License-Identifier: Apache-2.0

import AppStoreEmulator
import Measuring
import ReceiptCodec
import ReceiptCrypto
import AppStoreServer
import Entitlements
import ReceiptSigning
import ReceiptTesting
import ReceiptVerification
import Storefront

/// A customer's whole history, read page by page from an emulated App Store in this process, verified and folded
/// into an entitlement: how long it takes, and what memory it takes beyond the emulator's.
enum HistoryMeasurement {
  static func report(count: Int) async throws {
    for count in [count / 10, count] { try await measure(count) }
  }

  private static func measure(_ count: Int) async throws {
    let store = try EmulatedAppStore(signing: try EmulatorSigning())
    try await store.purchases.addHistory(of: SampleReceipts.transaction, count: count, customer: "a")
    let authority = try TestAuthority.es256()
    let client = AppStoreServerClient(
      transport: EmulatorTransport(sandbox: store),
      signer: try DeveloperSigner(
        privateKey: authority.identity.privateKey, keyId: "KEY", issuerId: "ISSUER",
        bundleId: SampleReceipts.bundleId),
      address: .sandbox,
      verifier: ReceiptVerifier(
        trust: authority.trustAnchors,
        policy: VerificationPolicy(bundleIds: .oneOf([SampleReceipts.bundleId]), environments: [.sandbox])))
    let before = residentByteCount()
    var most = before
    let start = Clock.seconds()
    var ledger = EntitlementLedger()
    var read = 0
    for try await transaction in client.pages(
      .transactionHistory(of: SampleReceipts.transaction.transactionId ?? ""))
    {
      try ledger.apply(transaction: transaction.receipt)
      read += 1
      if read.isMultiple(of: 100) { most = max(most, residentByteCount()) }
    }
    let seconds = Clock.seconds() - start
    print(
      "history of \(read) transactions, read, verified and folded: \(Int(Double(read) / seconds)) a second, emulator "
        + "included, \((most - before) / 1024) KiB more memory")
  }
}
