// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptVerification

/// Receipts of every kind, signed here, in the sizes that stores have.
struct Samples {
  static let bundleId = "com.example.bench"

  let elliptic: SigningIdentity
  let rsa: SigningIdentity
  /// The JWS kinds by name, all under ``elliptic``.
  let jws: [(name: String, payload: JWSPayload, compact: [UInt8])]
  /// App receipts by name, under ``rsa``.
  let appReceipts: [(name: String, der: [UInt8])]
  /// Version 4, under ``rsa``.
  let transactionReceipt: [UInt8]

  init() throws {
    let now = SystemClock.now()
    elliptic = try SigningIdentity.create(
      CertificateAuthority.Options(organization: "Bench", algorithm: .es256, start: now, days: 30))
    rsa = try SigningIdentity.create(
      CertificateAuthority.Options(organization: "Bench", algorithm: .rsa2048, start: now, days: 30))
    let transaction = Self.transaction(1, at: now)
    let renewalInfo = JWSRenewalInfo(
      originalTransactionId: "2000000000000001", autoRenewProductId: "com.example.bench.monthly",
      productId: "com.example.bench.monthly", autoRenewStatus: .on, signedDate: now, environment: .sandbox)
    let jwsSigner = try JWSSigner(identity: elliptic)
    let notification = Notification(
      notificationType: .didRenew,
      notificationUUID: UUIDString(rawValue: "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7"),
      version: "2.0", signedDate: now,
      data: NotificationData(
        environment: .sandbox, appAppleId: 1_234_567_890, bundleId: Self.bundleId, bundleVersion: "1",
        signedTransactionInfo: try jwsSigner.sign(.transaction(transaction)),
        signedRenewalInfo: try jwsSigner.sign(.renewalInfo(renewalInfo))))
    let appTransaction = AppTransaction(
      receiptType: .sandbox, appAppleId: 1_234_567_890, bundleId: Self.bundleId, applicationVersion: "1",
      receiptCreationDate: now, originalPurchaseDate: now, originalApplicationVersion: "1.0")
    let realtimeRequest = RealtimeRequest(
      originalTransactionId: "2000000000000001", appAppleId: 1_234_567_890,
      productId: "com.example.bench.monthly", userLocale: "en-AU",
      requestIdentifier: UUIDString(rawValue: "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7"), environment: .sandbox,
      signedDate: now)
    let payloads: [(String, JWSPayload)] = [
      ("signed transaction", .transaction(transaction)), ("signed renewal info", .renewalInfo(renewalInfo)),
      ("signed app transaction", .appTransaction(appTransaction)),
      ("signed realtime request", .realtimeRequest(realtimeRequest)),
      ("signed notification (3 JWS)", .notification(notification)),
    ]
    jws = try payloads.map { name, payload in
      (name, payload, Array(try jwsSigner.sign(payload).utf8))
    }
    let appReceiptSigner = try AppReceiptSigner(identity: rsa)
    appReceipts = try [0, 4, 187].map { count in
      let payload = AppReceiptPayload(
        environment: .productionSandbox, appAppleId: 0, bundleId: Self.bundleId, applicationVersion: "1",
        receiptCreationDate: now,
        inAppPurchases: (0..<count).map {
          InAppPurchase(transaction: Self.transaction($0, at: now).transaction)
        },
        originalPurchaseDate: now, originalApplicationVersion: "1.0")
      return (
        "app receipt, \(count) purchases",
        try appReceiptSigner.sign(payload, deviceIdentifier: Array(repeating: 7, count: 16))
      )
    }
    transactionReceipt = try TransactionReceiptSigner(identity: rsa).sign(
      TransactionReceiptPurchaseInfo(
        bundleId: Self.bundleId, applicationVersion: "1", transaction: transaction.transaction),
      version: .four, environment: .sandbox)
  }

  static func transaction(_ number: Int, at now: Timestamp) -> JWSTransaction {
    JWSTransaction(
      originalTransactionId: "2000000000000001", transactionId: String(2_000_000_000_000_001 + number),
      webOrderLineItemId: "2000000113755461", bundleId: bundleId, productId: "com.example.bench.monthly",
      subscriptionGroupIdentifier: "21752814", purchaseDate: now, originalPurchaseDate: now,
      expiresDate: now.addingSeconds(2_592_000), quantity: 1, type: .autoRenewableSubscription,
      inAppOwnershipType: .purchased, signedDate: now, environment: .sandbox, storefront: "AUS",
      storefrontId: "143460", transactionReason: .renewal, currency: "AUD", price: 1990)
  }

  /// A verifier that has seen nothing yet.
  func freshVerifier() -> ReceiptVerifier {
    let roots = [elliptic.chain.last, rsa.chain.last].compactMap { $0 }
    return ReceiptVerifier(
      trust: TrustAnchors(certificates: roots),
      policy: VerificationPolicy(
        bundleIds: .oneOf([Self.bundleId]), environments: [.production, .sandbox]),
      intermediates: Array(rsa.chain.dropFirst().prefix(1)))
  }
}
