// SPDX-License-Identifier: Apache-2.0

@testable import ReceiptCodec

/// Payloads with every field set.
extension JWSPayload {
  private static let date = Timestamp(millisecondsSince1970: 1_759_302_518_835)
  private static let uuid = UUIDString(rawValue: "207262DA-1ac8-4e0a-a399-5aa62a82800f")
  private static let extra = [
    JSONMember(
      name: "futureField",
      value: .object([JSONMember(name: "x", value: .array([.integer(1), .null, .string("é\n")]))])),
    JSONMember(name: "Second", value: .bool(false)),
  ]
  private static let offer = AdvancedCommerceOffer().with {
    $0.period = .nineMonths
    $0.periodCount = 12
    $0.price = 990
    $0.reason = .winBack
    $0.unknownFields = extra
  }
  private static let descriptors = AdvancedCommerceDescriptors().with {
    $0.description = "d"
    $0.displayName = "n"
    $0.unknownFields = extra
  }

  static let transactionSample = JWSTransaction().with {
    $0.originalTransactionId = "o"
    $0.transactionId = "t"
    $0.previousOriginalTransactionId = "q"
    $0.webOrderLineItemId = "w"
    $0.bundleId = "b"
    $0.productId = "p"
    $0.subscriptionGroupIdentifier = "g"
    $0.purchaseDate = date
    $0.originalPurchaseDate = Timestamp(millisecondsSince1970: -62_135_769_600_000)
    $0.expiresDate = Timestamp(millisecondsSince1970: 1_700_358_336_049.7297)
    $0.quantity = 2
    $0.type = .autoRenewableSubscription
    $0.appAccountToken = uuid
    $0.inAppOwnershipType = .familyShared
    $0.signedDate = date
    $0.revocationReason = .issue
    $0.revocationDate = date
    $0.isUpgraded = true
    $0.offerType = .winBack
    $0.offerIdentifier = "of"
    $0.environment = .sandbox
    $0.storefront = "USA"
    $0.storefrontId = "143441"
    $0.transactionReason = .renewal
    $0.currency = "USD"
    $0.price = 1990
    $0.offerDiscountType = .payUpFront
    $0.appTransactionId = "704897469903383919"
    $0.offerPeriod = "P1M"
    $0.revocationType = .refundProrated
    $0.revocationPercentage = 50_000
    $0.advancedCommerceInfo = AdvancedCommerceTransactionInfo().with {
      $0.descriptors = descriptors
      $0.estimatedTax = 3
      $0.items = [
        AdvancedCommerceTransactionItem().with {
          $0.sku = "s"
          $0.description = "d"
          $0.displayName = "n"
          $0.offer = offer
          $0.price = 5
          $0.refunds = [
            AdvancedCommerceRefund().with {
              $0.refundAmount = 1
              $0.refundDate = date
              $0.refundReason = .modifyItemsRefund
              $0.refundType = .prorated
              $0.unknownFields = extra
            }
          ]
          $0.revocationDate = date
          $0.unknownFields = extra
        },
        AdvancedCommerceTransactionItem().with {
          $0.sku = "s2"
        },
      ]
      $0.period = .oneYear
      $0.requestReferenceId = "r"
      $0.taxCode = "C"
      $0.taxExclusivePrice = 9
      $0.taxRate = "0.25"
      $0.unknownFields = extra
    }
    $0.billingPlanType = .monthly
    $0.commitmentInfo = TransactionCommitmentInfo().with {
      $0.billingPeriodNumber = 1
      $0.commitmentExpiresDate = date
      $0.commitmentPrice = 2
      $0.totalBillingPeriods = 12
      $0.unknownFields = extra
    }
    $0.deviceVerification = "AA=="
    $0.deviceVerificationNonce = uuid
    $0.unknownFields = extra
  }

  static let renewalSample = JWSRenewalInfo().with {
    $0.expirationIntent = .priceIncreaseRefused
    $0.originalTransactionId = "o"
    $0.autoRenewProductId = "n"
    $0.productId = "p"
    $0.autoRenewStatus = .on
    $0.isInBillingRetryPeriod = false
    $0.priceIncreaseStatus = .consented
    $0.gracePeriodExpiresDate = date
    $0.offerType = .promotional
    $0.offerIdentifier = "of"
    $0.signedDate = date
    $0.environment = .sandbox
    $0.recentSubscriptionStartDate = date
    $0.renewalDate = date
    $0.currency = "EUR"
    $0.renewalPrice = -1
    $0.offerDiscountType = .oneTime
    $0.eligibleWinBackOfferIds = ["w1", "w2"]
    $0.appAccountToken = uuid
    $0.appTransactionId = "a"
    $0.offerPeriod = "P1Y"
    $0.advancedCommerceInfo = AdvancedCommerceRenewalInfo().with {
      $0.consistencyToken = "c"
      $0.descriptors = descriptors
      $0.items = [
        AdvancedCommerceRenewalItem().with {
          $0.sku = "s"
          $0.description = "d"
          $0.displayName = "n"
          $0.offer = offer
          $0.price = 5
          $0.priceIncreaseInfo = AdvancedCommercePriceIncreaseInfo().with {
            $0.dependentSKUs = ["x"]
            $0.price = 6
            $0.status = .scheduled
            $0.unknownFields = extra
          }
          $0.unknownFields = extra
        }
      ]
      $0.period = .oneWeek
      $0.requestReferenceId = "r"
      $0.taxCode = "C"
      $0.unknownFields = extra
    }
    $0.commitmentInfo = RenewalCommitmentInfo().with {
      $0.commitmentAutoRenewProductId = "c"
      $0.commitmentAutoRenewStatus = .off
      $0.commitmentRenewalBillingPlanType = .billedUpfront
      $0.commitmentRenewalDate = date
      $0.commitmentRenewalPrice = 8
      $0.unknownFields = extra
    }
    $0.renewalBillingPlanType = .monthly
    $0.deviceVerification = "AA=="
    $0.deviceVerificationNonce = uuid
    $0.unknownFields = extra
  }

  static let appTransactionSample = AppTransaction().with {
    $0.receiptType = .production
    $0.appAppleId = 7
    $0.bundleId = "b"
    $0.applicationVersion = "2"
    $0.versionExternalIdentifier = 9
    $0.receiptCreationDate = date
    $0.originalPurchaseDate = date
    $0.originalApplicationVersion = "1"
    $0.deviceVerification = "AA=="
    $0.deviceVerificationNonce = uuid
    $0.preorderDate = date
    $0.appTransactionId = "a"
    $0.originalPlatform = .visionOS
    $0.storeType = "s"
    $0.requestDate = date
    $0.unknownFields = extra
  }

  static let notificationDataSample = NotificationData().with {
    $0.environment = .sandbox
    $0.appAppleId = 7
    $0.bundleId = "b"
    $0.bundleVersion = "637"
    $0.signedTransactionInfo = "a.b.c"
    $0.signedRenewalInfo = "d.e.f"
    $0.status = .gracePeriod
    $0.consumptionRequestReason = .legal
    $0.unknownFields = extra
  }

  static let summarySample = NotificationSummary().with {
    $0.environment = .production
    $0.appAppleId = 7
    $0.bundleId = "b"
    $0.productId = "p"
    $0.requestIdentifier = uuid
    $0.storefrontCountryCodes = ["USA", "SWE"]
    $0.succeededCount = 5
    $0.failedCount = 0
    $0.unknownFields = extra
  }

  static let tokenSample = ExternalPurchaseToken().with {
    $0.externalPurchaseId = "SANDBOX_8ad2"
    $0.tokenCreationDate = date
    $0.appAppleId = 7
    $0.bundleId = "b"
    $0.tokenType = .coreTechnology
    $0.tokenExpirationDate = date
    $0.unknownFields = extra
  }

  static let appDataSample = NotificationAppData().with {
    $0.appAppleId = 7
    $0.bundleId = "b"
    $0.environment = .xcode
    $0.signedAppTransactionInfo = "a.b.c"
    $0.unknownFields = extra
  }

  static let realtimeSample = RealtimeRequest(
    originalTransactionId: "o", appAppleId: 7, productId: "p", userLocale: "en-US", requestIdentifier: uuid,
    environment: .sandbox, signedDate: date
  ).with {
    $0.unknownFields = extra
  }

  private static func notification(
    _ type: NotificationType, _ subtype: NotificationSubtype?, data: NotificationData? = nil,
    summary: NotificationSummary? = nil, token: ExternalPurchaseToken? = nil,
    appData: NotificationAppData? = nil
  ) -> JWSPayload {
    .notification(
      Notification().with {
        $0.notificationType = type
        $0.subtype = subtype
        $0.notificationUUID = uuid
        $0.version = "2.0"
        $0.signedDate = date
        $0.data = data
        $0.summary = summary
        $0.externalPurchaseToken = token
        $0.appData = appData
        $0.unknownFields = extra
      })
  }

  static let samples: [JWSPayload] = [
    .transaction(transactionSample), .renewalInfo(renewalSample), .appTransaction(appTransactionSample),
    notification(.didRenew, .billingRecovery, data: notificationDataSample),
    notification(.renewalExtension, .summary, summary: summarySample),
    notification(.externalPurchaseToken, .created, token: tokenSample),
    notification(.rescindConsent, nil, appData: appDataSample), .realtimeRequest(realtimeSample),
  ]
}
