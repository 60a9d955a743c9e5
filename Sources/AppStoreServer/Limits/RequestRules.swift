// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The rules over several fields of a request that Apple documents.
extension ConsumptionRequest {
  func checkRules(_ limits: inout RequestLimits) {
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
  func checkRules(_ limits: inout RequestLimits) {
    limits.require(
      customerConsented == true, at: "$.customerConsented",
      "Without the customer's consent nothing may be disclosed.")
  }
}

extension NotificationHistoryRequest {
  func checkRules(_ limits: inout RequestLimits) {
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
  func checkRules(_ limits: inout RequestLimits) {
    limits.require(
      headerPosition != .aboveImage || image != nil, at: "$.headerPosition",
      "There is no image above which the header could be placed.")
  }
}
