// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The rules over several fields of a request that Apple documents.
extension ConsumptionRequest {
  package func checkRules(_ limits: inout RequestLimits) {
    limits.require(
      customerConsented, at: "$.customerConsented",
      "Without the customer's consent nothing may be disclosed.")
    guard let percentage = consumptionPercentage else { return }
    let place = "$.consumptionPercentage"
    limits.require(
      percentage == 0 || deliveryStatus == .delivered, at: place,
      "It must be 0 unless the purchase was delivered.")
    limits.require(
      refundPreference != .grantProrated || (1...99_999).contains(percentage), at: place,
      "For a prorated refund it must be 1 to 99999, not \(percentage).")
  }
}

extension ConsumptionRequestV1 {
  package func checkRules(_ limits: inout RequestLimits) {
    limits.require(
      customerConsented == true, at: "$.customerConsented",
      "Without the customer's consent nothing may be disclosed.")
  }
}

extension AppStoreServerCall where Response == NoContent, Value == NoContent {
  /// Sends consumption information like `sendConsumption(_:of:)`, for a purchase whose transaction is available.
  ///
  /// The transaction may be that of the `CONSUMPTION_REQUEST` notification. A request that the App Store would refuse
  /// for this purchase is not sent.
  ///
  /// - Parameters:
  ///   - request: The consumption information.
  ///   - purchase: The purchase. One of Advanced Commerce is refused; use ``sendConsumptionV1(_:of:)`` for it.
  /// - Returns: The call.
  public static func sendConsumption(_ request: ConsumptionRequest, of purchase: JWSTransaction) -> Self {
    var parameters = EndpointRequest(purchase.transactionId ?? "", json: request)
    parameters.limits.require(
      purchase.advancedCommerceInfo == nil, at: "transactionId",
      "Version 2 does not take purchases of Advanced Commerce: send version 1, sendConsumptionV1(_:of:).")
    parameters.limits.require(
      request.consumptionPercentage == nil || purchase.type != .autoRenewableSubscription,
      at: "$.consumptionPercentage", "Auto-renewable subscriptions have no consumption percentage.")
    return Self(.sendConsumption, parameters)
  }
}

extension ExternalPurchaseReport {
  package func checkRules(_ limits: inout RequestLimits) {
    let hasItems = lineItems?.isEmpty == false
    limits.require(
      hasItems == (status == .lineItem) && (hasItems || lineItems == nil), at: "$.lineItems",
      "The status LINE_ITEM, and no other, comes with line items.")
    for (index, item) in (lineItems ?? []).enumerated() {
      item.checkRules(&limits, at: "$.lineItems[\(index)]")
    }
  }
}

extension ExternalPurchaseLineItem {
  fileprivate func checkRules(_ limits: inout RequestLimits, at place: String) {
    limits.require(
      erroneouslySubmitted != true || restatement == true, at: place + ".restatement",
      "What was submitted erroneously is a restatement.")
    limits.require(
      (exchangeRate != nil) == (pricingCurrency != reportingCurrency), at: place + ".exchangeRate",
      "It is stated where the two currencies differ, and only there.")
    limits.require(
      eventType != .refund || referenceLineItemId != nil, at: place + ".referenceLineItemId",
      "A refund refers to the purchase.")
    guard eventType == .buy else { return }
    limits.require(
      productType != nil && productIdentifier != nil && quantity != nil, at: place + ".productType",
      "A purchase states productType, productIdentifier and quantity.")
    limits.require(
      productType != .subscription
        || subscriptionEvent != nil && subscriptionStartDate != nil && subscriptionEndDate != nil
          && subscriptionDaysOfPaidService != nil,
      at: place + ".subscriptionEvent",
      "A subscription states its event, the dates of its period and the days of paid service.")
  }
}

extension NotificationHistoryRequest {
  package func checkRules(_ limits: inout RequestLimits) {
    limits.require(startDate < endDate, at: "$.endDate", "It must be after the start.")
    limits.require(
      notificationType == nil || transactionId == nil, at: "$.transactionId",
      "Filter by a type of notification or by a customer, not by both.")
    limits.require(
      notificationSubtype == nil || notificationType != nil, at: "$.notificationSubtype",
      "A subtype needs the notification type that it belongs to.")
  }
}

extension RetentionMessage {
  package func checkRules(_ limits: inout RequestLimits) {
    limits.require(
      headerPosition != .aboveImage || image != nil, at: "$.headerPosition",
      "There is no image above which the header could be placed.")
  }
}
