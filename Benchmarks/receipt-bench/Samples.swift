// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import ReceiptCrypto
import ReceiptSigning
import ReceiptVerification

/// Receipts of every kind, signed here, in the sizes that stores have.
struct Samples {
  static let bundleId = "com.example.bench"
  /// The number of receipts that are verified in turn, or together.
  static let count = 64

  let elliptic: SigningIdentity
  let rsa: SigningIdentity
  /// The JWS kinds by name, all under ``elliptic``: each signed many times, with another signature each. A processor learns
  /// the branches that one signature takes, and nobody verifies the same one all day.
  let jws: [(name: String, payload: JWSPayload, compact: [[UInt8]])]
  /// App receipts by name, under ``rsa``.
  let appReceipts: [(name: String, der: [UInt8])]
  /// Version 4, under ``rsa``.
  let transactionReceipt: [UInt8]
  /// A purchase at Google Play, by a key of its own.
  let googlePlayPurchase: [UInt8]
  private let appKey: PrivateKey

  init() throws {
    let now = SystemClock.now()
    elliptic = try SigningIdentity.create(
      CertificateAuthority.Options(organization: "Bench", algorithm: .es256, start: now, days: 30))
    rsa = try SigningIdentity.create(
      CertificateAuthority.Options(organization: "Bench", algorithm: .rsa2048, start: now, days: 30))
    let transaction = Self.transaction(1, at: now)
    let renewalInfo = JWSRenewalInfo().with {
      $0.originalTransactionId = "2000000000000001"
      $0.autoRenewProductId = "com.example.bench.monthly"
      $0.productId = "com.example.bench.monthly"
      $0.autoRenewStatus = .on
      $0.signedDate = now
      $0.environment = .sandbox
    }
    let jwsSigner = try JWSSigner(identity: elliptic)
    let notification = try Notification().with {
      $0.notificationType = .didRenew
      $0.notificationUUID = UUIDString(rawValue: "1a7cdc3d-9360-49c3-ae37-0423e4c6e7c7")
      $0.version = "2.0"
      $0.signedDate = now
      $0.data = try NotificationData().with {
        $0.environment = .sandbox
        $0.appAppleId = 1_234_567_890
        $0.bundleId = Self.bundleId
        $0.bundleVersion = "1"
        $0.signedTransactionInfo = try jwsSigner.sign(.transaction(transaction))
        $0.signedRenewalInfo = try jwsSigner.sign(.renewalInfo(renewalInfo))
      }
    }
    let appTransaction = AppTransaction().with {
      $0.receiptType = .sandbox
      $0.appAppleId = 1_234_567_890
      $0.bundleId = Self.bundleId
      $0.applicationVersion = "1"
      $0.receiptCreationDate = now
      $0.originalPurchaseDate = now
      $0.originalApplicationVersion = "1.0"
    }
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
      (name, payload, try (0..<Self.count).map { _ in Array(try jwsSigner.sign(payload).utf8) })
    }
    let appReceiptSigner = try AppReceiptSigner(identity: rsa)
    appReceipts = try [0, 4, 187].map { count in
      let payload = AppReceiptPayload().with {
        $0.environment = .productionSandbox
        $0.appAppleId = 0
        $0.bundleId = Self.bundleId
        $0.applicationVersion = "1"
        $0.receiptCreationDate = now
        $0.inAppPurchases = (0..<count).map {
          InAppPurchase(transaction: Self.transaction($0, at: now).transaction)
        }
        $0.originalPurchaseDate = now
        $0.originalApplicationVersion = "1.0"
      }
      return (
        "app receipt, \(count) purchases",
        try appReceiptSigner.sign(payload, deviceIdentifier: Array(repeating: 7, count: 16))
      )
    }
    transactionReceipt = try TransactionReceiptSigner(identity: rsa).sign(
      TransactionReceiptPurchaseInfo(transaction: transaction.transaction).with {
        $0.bundleId = Self.bundleId
        $0.applicationVersion = "1"
      },
      version: .four, environment: .sandbox)
    appKey = try PrivateKey.generateRSA(bits: 2048)
    let purchase = GooglePlayPurchase().with {
      $0.orderId = "GPA.3374-0096-5261-09291"
      $0.packageName = Self.bundleId
      $0.productId = "com.example.bench.monthly"
      $0.purchaseTime = now
      $0.purchaseState = .purchased
      $0.purchaseToken = String(repeating: "abcdefgh", count: 17)
      $0.quantity = 1
      $0.acknowledged = false
    }
    googlePlayPurchase = try AppKeySigner(identity: SigningIdentity(appKey: appKey))
      .sign(.googlePlayPurchase(purchase))
  }

  static func transaction(_ number: Int, at now: Timestamp) -> JWSTransaction {
    JWSTransaction().with {
      $0.originalTransactionId = "2000000000000001"
      $0.transactionId = String(2_000_000_000_000_001 + number)
      $0.webOrderLineItemId = "2000000113755461"
      $0.bundleId = bundleId
      $0.productId = "com.example.bench.monthly"
      $0.subscriptionGroupIdentifier = "21752814"
      $0.purchaseDate = now
      $0.originalPurchaseDate = now
      $0.expiresDate = now.addingSeconds(2_592_000)
      $0.quantity = 1
      $0.type = .autoRenewableSubscription
      $0.inAppOwnershipType = .purchased
      $0.signedDate = now
      $0.environment = .sandbox
      $0.storefront = "AUS"
      $0.storefrontId = "143460"
      $0.transactionReason = .renewal
      $0.currency = "AUD"
      $0.price = 1990
    }
  }

  /// A verifier that has seen nothing yet.
  func freshVerifier() -> ReceiptVerifier {
    let roots = [elliptic.chain.last, rsa.chain.last].compactMap { $0 }
    var policy = VerificationPolicy(
      bundleIds: .oneOf([Self.bundleId]), environments: [.production, .sandbox])
    policy.appKeys = [AppKey(.googlePlay, package: Self.bundleId, publicKey: appKey.publicKey)]
    return ReceiptVerifier(
      trust: TrustAnchors(certificates: roots), policy: policy,
      intermediates: Array(rsa.chain.dropFirst().prefix(1)))
  }
}
