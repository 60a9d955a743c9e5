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
  private static let offer = AdvancedCommerceOffer(
    period: .nineMonths, periodCount: 12, price: 990, reason: .winBack, unknownFields: extra)
  private static let descriptors = AdvancedCommerceDescriptors(
    description: "d", displayName: "n", unknownFields: extra)

  static let transactionSample = JWSTransaction(
    originalTransactionId: "o", transactionId: "t", previousOriginalTransactionId: "q",
    webOrderLineItemId: "w", bundleId: "b", productId: "p", subscriptionGroupIdentifier: "g",
    purchaseDate: date, originalPurchaseDate: Timestamp(millisecondsSince1970: -62_135_769_600_000),
    expiresDate: Timestamp(millisecondsSince1970: 1_700_358_336_049.7297), quantity: 2,
    type: .autoRenewableSubscription, appAccountToken: uuid, inAppOwnershipType: .familyShared,
    signedDate: date, revocationReason: .issue, revocationDate: date, isUpgraded: true, offerType: .winBack,
    offerIdentifier: "of", environment: .sandbox, storefront: "USA", storefrontId: "143441",
    transactionReason: .renewal, currency: "USD", price: 1990, offerDiscountType: .payUpFront,
    appTransactionId: "704897469903383919", offerPeriod: "P1M", revocationType: .refundProrated,
    revocationPercentage: 50_000,
    advancedCommerceInfo: AdvancedCommerceTransactionInfo(
      descriptors: descriptors, estimatedTax: 3,
      items: [
        AdvancedCommerceTransactionItem(
          SKU: "s", description: "d", displayName: "n", offer: offer, price: 5,
          refunds: [
            AdvancedCommerceRefund(
              refundAmount: 1, refundDate: date, refundReason: .modifyItemsRefund, refundType: .prorated,
              unknownFields: extra)
          ], revocationDate: date, unknownFields: extra),
        AdvancedCommerceTransactionItem(SKU: "s2"),
      ], period: .oneYear, requestReferenceId: "r", taxCode: "C", taxExclusivePrice: 9, taxRate: "0.25",
      unknownFields: extra), billingPlanType: .monthly,
    commitmentInfo: TransactionCommitmentInfo(
      billingPeriodNumber: 1, commitmentExpiresDate: date, commitmentPrice: 2, totalBillingPeriods: 12,
      unknownFields: extra), deviceVerification: "AA==", deviceVerificationNonce: uuid,
    unknownFields: extra)

  static let renewalSample = JWSRenewalInfo(
    expirationIntent: .priceIncreaseRefused, originalTransactionId: "o", autoRenewProductId: "n",
    productId: "p", autoRenewStatus: .on, isInBillingRetryPeriod: false, priceIncreaseStatus: .consented,
    gracePeriodExpiresDate: date, offerType: .promotional, offerIdentifier: "of", signedDate: date,
    environment: .sandbox, recentSubscriptionStartDate: date, renewalDate: date, currency: "EUR",
    renewalPrice: -1, offerDiscountType: .oneTime, eligibleWinBackOfferIds: ["w1", "w2"],
    appAccountToken: uuid, appTransactionId: "a", offerPeriod: "P1Y",
    advancedCommerceInfo: AdvancedCommerceRenewalInfo(
      consistencyToken: "c", descriptors: descriptors,
      items: [
        AdvancedCommerceRenewalItem(
          SKU: "s", description: "d", displayName: "n", offer: offer, price: 5,
          priceIncreaseInfo: AdvancedCommercePriceIncreaseInfo(
            dependentSKUs: ["x"], price: 6, status: .scheduled, unknownFields: extra), unknownFields: extra)
      ], period: .oneWeek, requestReferenceId: "r", taxCode: "C", unknownFields: extra),
    commitmentInfo: RenewalCommitmentInfo(
      commitmentAutoRenewProductId: "c", commitmentAutoRenewStatus: .off,
      commitmentRenewalBillingPlanType: .billedUpfront, commitmentRenewalDate: date,
      commitmentRenewalPrice: 8, unknownFields: extra), renewalBillingPlanType: .monthly,
    deviceVerification: "AA==", deviceVerificationNonce: uuid, unknownFields: extra)

  static let appTransactionSample = AppTransaction(
    receiptType: .production, appAppleId: 7, bundleId: "b", applicationVersion: "2",
    versionExternalIdentifier: 9, receiptCreationDate: date, originalPurchaseDate: date,
    originalApplicationVersion: "1", deviceVerification: "AA==", deviceVerificationNonce: uuid,
    preorderDate: date, appTransactionId: "a", originalPlatform: .visionOS, storeType: "s",
    requestDate: date, unknownFields: extra)

  static let notificationDataSample = NotificationData(
    environment: .sandbox, appAppleId: 7, bundleId: "b", bundleVersion: "637", signedTransactionInfo: "a.b.c",
    signedRenewalInfo: "d.e.f", status: .gracePeriod, consumptionRequestReason: .legal, unknownFields: extra)

  static let summarySample = NotificationSummary(
    environment: .production, appAppleId: 7, bundleId: "b", productId: "p", requestIdentifier: uuid,
    storefrontCountryCodes: ["USA", "SWE"], succeededCount: 5, failedCount: 0, unknownFields: extra)

  static let tokenSample = ExternalPurchaseToken(
    externalPurchaseId: "SANDBOX_8ad2", tokenCreationDate: date, appAppleId: 7, bundleId: "b",
    tokenType: .coreTechnology, tokenExpirationDate: date, unknownFields: extra)

  static let appDataSample = NotificationAppData(
    appAppleId: 7, bundleId: "b", environment: .xcode, signedAppTransactionInfo: "a.b.c",
    unknownFields: extra)

  static let realtimeSample = RealtimeRequest(
    originalTransactionId: "o", appAppleId: 7, productId: "p", userLocale: "en-US", requestIdentifier: uuid,
    environment: .sandbox, signedDate: date, unknownFields: extra)

  private static func notification(
    _ type: NotificationType, _ subtype: NotificationSubtype?, data: NotificationData? = nil,
    summary: NotificationSummary? = nil, token: ExternalPurchaseToken? = nil,
    appData: NotificationAppData? = nil
  ) -> JWSPayload {
    .notification(
      Notification(
        notificationType: type, subtype: subtype, notificationUUID: uuid, version: "2.0", signedDate: date,
        data: data, summary: summary, externalPurchaseToken: token, appData: appData, unknownFields: extra))
  }

  static let samples: [JWSPayload] = [
    .transaction(transactionSample), .renewalInfo(renewalSample), .appTransaction(appTransactionSample),
    notification(.didRenew, .billingRecovery, data: notificationDataSample),
    notification(.renewalExtension, .summary, summary: summarySample),
    notification(.externalPurchaseToken, .created, token: tokenSample),
    notification(.rescindConsent, nil, appData: appDataSample), .realtimeRequest(realtimeSample),
  ]
}
