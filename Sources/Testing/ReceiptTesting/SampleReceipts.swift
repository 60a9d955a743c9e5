// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// Contents of receipts for tests. A customer of the app `com.example.app` subscribes in the sandbox on 1 October
/// 2025, and the receipts are signed at 07:09:12 UTC. Change the fields that your test needs:
///
/// ```swift
/// var transaction = SampleReceipts.transaction
/// transaction.environment = .production
/// ```
package enum SampleReceipts {
  package static let bundleId = "com.example.app"
  package static let appAppleId: Int64 = 1_234_567_890
  package static let productId = "com.example.app.monthly"
  /// The signing date, 2025-10-01T07:09:12Z.
  package static let signedAt = Timestamp(secondsSince1970: 1_759_302_552)
  /// The purchase date, 2025-10-01T07:09:10Z.
  package static let purchasedAt = Timestamp(secondsSince1970: 1_759_302_550)
  /// The expiry date, 2025-11-01T07:09:10Z.
  package static let expiresAt = Timestamp(secondsSince1970: 1_761_980_950)
  package static let deviceIdentifier: [UInt8] = [
    0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF,
  ]

  /// The first transaction of a subscription.
  package static var transaction: JWSTransaction {
    JWSTransaction().with {
      $0.originalTransactionId = "2000000001"
      $0.transactionId = "2000000001"
      $0.webOrderLineItemId = "3000000001"
      $0.bundleId = bundleId
      $0.productId = productId
      $0.subscriptionGroupIdentifier = "20600001"
      $0.purchaseDate = purchasedAt
      $0.originalPurchaseDate = purchasedAt
      $0.expiresDate = expiresAt
      $0.quantity = 1
      $0.type = .autoRenewableSubscription
      $0.appAccountToken = UUIDString(rawValue: "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f")
      $0.inAppOwnershipType = .purchased
      $0.signedDate = signedAt
      $0.environment = .sandbox
      $0.storefront = "USA"
      $0.storefrontId = "143441"
      $0.transactionReason = .purchase
      $0.currency = "USD"
      $0.price = 9990
    }
  }

  /// The renewal information of the same subscription.
  package static var renewalInfo: JWSRenewalInfo {
    JWSRenewalInfo().with {
      $0.originalTransactionId = "2000000001"
      $0.autoRenewProductId = productId
      $0.productId = productId
      $0.autoRenewStatus = .on
      $0.signedDate = signedAt
      $0.environment = .sandbox
      $0.recentSubscriptionStartDate = purchasedAt
      $0.renewalDate = expiresAt
      $0.currency = "USD"
      $0.renewalPrice = 9990
    }
  }

  package static var appTransaction: AppTransaction {
    AppTransaction().with {
      $0.receiptType = .sandbox
      $0.appAppleId = appAppleId
      $0.bundleId = bundleId
      $0.applicationVersion = "2.1"
      $0.receiptCreationDate = signedAt
      $0.originalPurchaseDate = purchasedAt
      $0.originalApplicationVersion = "1.0"
      $0.appTransactionId = "704289572311513293"
      $0.originalPlatform = .iOS
    }
  }

  /// A notification of the purchase, without its signed parts.
  package static var notification: Notification {
    Notification().with {
      $0.notificationType = .subscribed
      $0.subtype = .initialBuy
      $0.notificationUUID = UUIDString(rawValue: "1f0c6b7a-9a3e-4f43-8d15-3b8e3a2f7c11")
      $0.version = "2.0"
      $0.signedDate = signedAt
      $0.data = NotificationData().with {
        $0.environment = .sandbox
        $0.appAppleId = appAppleId
        $0.bundleId = bundleId
        $0.bundleVersion = "2.1"
        $0.status = .active
      }
    }
  }

  package static var realtimeRequest: RealtimeRequest {
    RealtimeRequest(
      originalTransactionId: "2000000001", appAppleId: appAppleId, productId: productId, userLocale: "en-US",
      requestIdentifier: UUIDString(rawValue: "5f1f7b43-7d0e-4c2b-8f7e-0d9a6c3e1b22"), environment: .sandbox,
      signedDate: signedAt)
  }

  /// An app receipt with the subscription and a consumable.
  package static var appReceipt: AppReceiptPayload {
    AppReceiptPayload().with {
      $0.environment = .productionSandbox
      $0.appAppleId = 0
      $0.bundleId = bundleId
      $0.applicationVersion = "2.1"
      $0.receiptCreationDate = signedAt
      $0.inAppPurchases = [
        InAppPurchase(transaction: transaction.transaction).with {
          $0.productType = .autoRenewableSubscription
          $0.webOrderLineItemId = 3_000_000_001
          $0.isTrialPeriod = false
          $0.isInIntroOfferPeriod = false
        },
        InAppPurchase(
          transaction: Transaction(
            transactionId: "2000000002", originalTransactionId: "2000000002",
            productId: "com.example.app.coins", quantity: 3, purchaseDate: purchasedAt,
            originalPurchaseDate: purchasedAt)
        ).with {
          $0.productType = .consumable
          $0.webOrderLineItemId = 0
        },
      ]
      $0.originalPurchaseDate = purchasedAt
      $0.originalApplicationVersion = "1.0"
    }
  }

  /// A transaction receipt of a consumable.
  package static var purchaseInfo: TransactionReceiptPurchaseInfo {
    TransactionReceiptPurchaseInfo(
      transaction: Transaction(
        transactionId: "1000000001", originalTransactionId: "1000000001",
        productId: "com.example.app.coins", quantity: 1, purchaseDate: purchasedAt,
        originalPurchaseDate: purchasedAt)
    ).with {
      $0.bundleId = bundleId
      $0.applicationVersion = "2.1"
      $0.itemId = "555555555"
      $0.uniqueVendorIdentifier = "00112233-4455-6677-8899-AABBCCDDEEFF"
    }
  }

  /// A consumable at Google Play.
  package static var googlePlayPurchase: GooglePlayPurchase {
    GooglePlayPurchase().with {
      $0.orderId = "GPA.1234-5678-9012-34567"
      $0.packageName = bundleId
      $0.productId = "com.example.app.coins"
      $0.purchaseTime = purchasedAt
      $0.purchaseState = .purchased
      $0.purchaseToken = "abcdefghijklmnopqrstuvwx.AO-J1OzExampleTokenOfATestPurchase"
      $0.obfuscatedAccountId = "account-1"
      $0.quantity = 1
      $0.acknowledged = false
    }
  }

  /// A licence of Google Play.
  package static var googlePlayLicense: GooglePlayLicense {
    GooglePlayLicense(
      responseCode: .licensed, nonce: -1_234_567_890, packageName: bundleId, versionCode: "21",
      userId: "ANlOHQOexampleUser==", timestamp: signedAt, extras: "VT=1761980950000&GT=1761980950000&GR=10")
  }

  /// A subscription at Huawei AppGallery, in the sandbox.
  package static var huaweiPurchase: HuaweiPurchase {
    HuaweiPurchase().with {
      $0.autoRenewing = true
      $0.orderId = "20251001150910000example.100000001"
      $0.packageName = bundleId
      $0.applicationId = 100_000_001
      $0.applicationIdString = "100000001"
      $0.kind = .subscription
      $0.productId = productId
      $0.productName = "会员"
      $0.purchaseTime = purchasedAt
      $0.purchaseTimeMillis = purchasedAt
      $0.purchaseState = .purchased
      $0.purchaseToken = "0000019example.1.100000001"
      $0.purchaseType = .sandbox
      $0.currency = "EUR"
      $0.price = .integer(999)
      $0.country = "DE"
      $0.oriPurchaseTime = purchasedAt
      $0.subscriptionId = "sub-1"
      $0.quantity = 1
      $0.expirationDate = expiresAt
    }
  }
}
