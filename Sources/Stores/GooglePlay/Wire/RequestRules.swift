// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The rules over several fields of a request that Google documents.
extension RevokeSubscriptionRequest {
  package func checkRules(_ limits: inout RequestLimits) {
    let context = revocationContext
    limits.require(
      [context.fullRefund != nil, context.proratedRefund != nil, context.itemBasedRefund != nil]
        .count(where: \.self) == 1, at: "$.revocationContext", "Exactly one kind of refund must be set.")
  }
}

extension DeferSubscriptionV1Request {
  package func checkRules(_ limits: inout RequestLimits) {
    limits.require(
      deferralInfo.desiredExpiryTime > deferralInfo.expectedExpiryTime,
      at: "$.deferralInfo.desiredExpiryTimeMillis", "It must be later than the expected time.")
  }
}

extension CreateExternalTransactionRequest {
  package func checkRules(_ limits: inout RequestLimits) {
    originalPreTaxAmount.requireNotNegative(&limits, at: "$.originalPreTaxAmount")
    originalTaxAmount.requireNotNegative(&limits, at: "$.originalTaxAmount")
    limits.require(
      (oneTimeTransaction == nil) != (recurringTransaction == nil), at: "$.recurringTransaction",
      "Either oneTimeTransaction or recurringTransaction must be set.")
    if let recurringTransaction {
      let place = "$.recurringTransaction"
      limits.require(
        recurringTransaction.externalTransactionToken != nil
          || recurringTransaction.initialExternalTransactionId != nil
          || recurringTransaction.migratedTransactionProgram != nil,
        at: place, "The first of a series needs its token, another one the identifier of the first.")
      limits.require(
        recurringTransaction.externalSubscription == nil || recurringTransaction.otherRecurringProduct == nil,
        at: place, "externalSubscription and otherRecurringProduct must not both be set.")
    }
    limits.require(
      externalOfferDetails?.linkType != .appDownload || externalOfferDetails?.installedAppPackage != nil,
      at: "$.externalOfferDetails.installedAppPackage", "A download needs the app that was downloaded.")
    limits.require(
      externalContentLinkDetails?.linkType != .appDownload
        || externalContentLinkDetails?.installedAppPackage != nil,
      at: "$.externalContentLinkDetails.installedAppPackage", "A download needs the app that was downloaded.")
    limits.require(
      transactionProgramCode == nil || externalOfferDetails == nil, at: "$.transactionProgramCode",
      "An external offer has no programme code.")
  }
}

extension RefundExternalTransactionRequest {
  package func checkRules(_ limits: inout RequestLimits) {
    limits.require(
      (fullRefund == nil) != (partialRefund == nil), at: "$.partialRefund",
      "Either fullRefund or partialRefund must be set.")
    partialRefund?.refundPreTaxAmount.requireNotNegative(&limits, at: "$.partialRefund.refundPreTaxAmount")
  }
}

extension PlayPrice {
  fileprivate func requireNotNegative(_ limits: inout RequestLimits, at place: String) {
    limits.require(priceMicros >= 0, at: place + ".priceMicros", "It must not be negative.")
  }
}
