// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptTesting
import ReceiptVerification
import Testing

/// Which app a receipt is of: bundle and App Store identifiers.
@Suite struct AppPolicyTests {
  /// A receipt that does not name its bundle, of a kind that should; `nil` for a kind that names none.
  private func withoutBundle(_ kind: ReceiptKind) throws -> [UInt8]? {
    let receipts = try Fixture.receipts
    return switch kind {
    case .signedTransaction: Array(try receipts.signedTransaction { $0.bundleId = nil }.utf8)
    case .signedAppTransaction: Array(try receipts.signedAppTransaction { $0.bundleId = nil }.utf8)
    case .signedNotification:
      Array(
        try receipts.signedNotification {
          $0.data = NotificationData().with { $0.environment = .sandbox }
        }.utf8)
    case .signedRenewalInfo, .signedRealtimeRequest: nil
    // Without the app's name there is no key: see DetachedPolicyTests.
    case .googlePlayPurchase, .googlePlayLicense, .huaweiPurchase: nil
    case .appReceipt: try receipts.appReceipt { $0.bundleId = nil }
    case .transactionReceipt: try receipts.transactionReceipt { $0.bundleId = nil }
    }
  }

  @Test("a receipt of another app is refused, save those that name none", arguments: Fixture.appStoreKinds)
  func otherBundle(kind: ReceiptKind) throws {
    let verdict = try Fixture.verifier { $0.bundleIds = .oneOf(["com.example.other"]) }
      .verify(try Fixture.sample(kind))
    if try withoutBundle(kind) == nil {
      expectValid(verdict)
    } else if kind == .signedNotification {
      expectInvalid(verdict, .wrongBundle, at: "$.data.signedTransactionInfo")
    } else {
      expectInvalid(verdict, .wrongBundle)
    }
  }

  @Test("a receipt of any of several apps is accepted, and of any app where the policy says so")
  func severalBundles() throws {
    let several = try Fixture.verifier {
      $0.bundleIds = .oneOf(["com.example.other", SampleReceipts.bundleId])
    }
    let any = try Fixture.verifier { $0.bundleIds = .any }
    let none = try Fixture.verifier { $0.bundleIds = .oneOf([]) }
    let receipt = try Fixture.sample(.signedTransaction)
    expectValid(several.verify(receipt))
    expectValid(any.verify(receipt))
    expectInvalid(none.verify(receipt), .wrongBundle)
  }

  @Test(
    "bundle identifiers are compared byte for byte",
    arguments: [
      ("com.example.caf\u{E9}", "com.example.cafe\u{301}"), ("com.example.app", "com.example.App"),
      ("com.example.app", "com.example.app "), ("com.example.app", "com.example.app\u{0}"),
    ])
  func byteComparison(stated: String, demanded: String) throws {
    let receipts = try Fixture.receipts
    let verifier = try Fixture.verifier { $0.bundleIds = .oneOf([demanded]) }
    let same = try Fixture.verifier { $0.bundleIds = .oneOf([stated]) }
    let jws = Array(try receipts.signedTransaction { $0.bundleId = stated }.utf8)
    let appReceipt = try receipts.appReceipt { $0.bundleId = stated }
    for receipt in [jws, appReceipt] {
      expectInvalid(verifier.verify(receipt), .wrongBundle)
      expectValid(same.verify(receipt))
    }
  }

  @Test("a receipt that should name its bundle and does not is refused", arguments: Fixture.appStoreKinds)
  func missingBundle(kind: ReceiptKind) throws {
    guard let receipt = try withoutBundle(kind) else { return }
    expectInvalid(try Fixture.verifier().verify(receipt), .wrongBundle)
    expectValid(try Fixture.verifier { $0.bundleIds = .any }.verify(receipt))
  }

  // MARK: App Store identifier

  private func verifier(
    _ environments: Set<ReceiptEnvironment.Category>, app: Int64? = SampleReceipts.appAppleId
  ) throws -> ReceiptVerifier {
    try Fixture.verifier {
      $0.environments = environments
      $0.appAppleId = app
      $0.acceptsClaimedEnvironment = true
    }
  }

  @Test("a receipt that states another App Store identifier is refused")
  func otherApp() throws {
    let verifier = try verifier([.sandbox], app: 999)
    for kind in [
      ReceiptKind.signedAppTransaction, .signedNotification, .signedRealtimeRequest,
    ] {
      expectInvalid(verifier.verify(try Fixture.sample(kind)), .wrongApp, "\(kind)")
    }
    let receipts = try Fixture.receipts
    expectInvalid(verifier.verify(try receipts.appReceipt { $0.appAppleId = 1 }), .wrongApp)
    expectInvalid(verifier.verify(try receipts.transactionReceipt { $0.appItemId = "1" }), .wrongApp)
    expectValid(verifier.verify(try receipts.transactionReceipt { $0.appItemId = "999" }))
  }

  @Test(
    "the right App Store identifier is accepted, and kinds that state none are",
    arguments: Fixture.appStoreKinds)
  func rightApp(kind: ReceiptKind) throws {
    expectValid(try verifier([.sandbox]).verify(try Fixture.sample(kind)))
  }

  @Test("a production receipt that must state its app and does not is refused")
  func missingApp() throws {
    let receipts = try Fixture.receipts
    let production = try verifier([.production])
    let statesNone: [[UInt8]] = [
      Array(
        try receipts.signedAppTransaction {
          $0.receiptType = .production
          $0.appAppleId = nil
        }.utf8),
      Array(
        try receipts.signedNotification {
          $0.data = NotificationData().with {
            $0.environment = .production
            $0.bundleId = SampleReceipts.bundleId
          }
        }.utf8),
      try receipts.appReceipt { $0.environment = .production },
      try receipts.appReceipt {
        $0.environment = .productionVPP
        $0.appAppleId = nil
      },
    ]
    for receipt in statesNone { expectInvalid(production.verify(receipt), .wrongApp) }
    expectValid(production.verify(try receipts.signedTransaction { $0.environment = .production }))
    expectValid(production.verify(try receipts.signedRenewalInfo { $0.environment = .production }))
    expectValid(
      production.verify(
        try receipts.appReceipt {
          $0.environment = .production
          $0.appAppleId = SampleReceipts.appAppleId
        }))
  }

  @Test("the sandbox may leave its app out, or state 0")
  func sandboxApp() throws {
    let receipts = try Fixture.receipts
    let sandbox = try verifier([.sandbox])
    expectValid(sandbox.verify(try receipts.appReceipt { $0.appAppleId = 0 }))
    expectValid(sandbox.verify(try receipts.appReceipt { $0.appAppleId = nil }))
    expectValid(sandbox.verify(try receipts.signedAppTransaction { $0.appAppleId = nil }))
    expectValid(sandbox.verify(try receipts.signedNotification { $0.data?.appAppleId = nil }))
  }

  // MARK: Kinds

  @Test("only the kinds that the policy names are accepted", arguments: Fixture.appStoreKinds)
  func kinds(kind: ReceiptKind) throws {
    let receipt = try Fixture.sample(kind)
    expectValid(try Fixture.verifier { $0.kinds = [kind] }.verify(receipt))
    expectInvalid(try Fixture.verifier { $0.kinds.remove(kind) }.verify(receipt), .wrongKind)
  }
}
