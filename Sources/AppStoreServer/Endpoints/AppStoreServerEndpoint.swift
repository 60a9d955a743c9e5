// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The endpoints of the App Store Server API, each with its method and path. The rest of a row, parameters, request,
/// response, limits and signed parts, is the function of the same name in ``AppStoreServerCall``.
public enum AppStoreServerEndpoint: String, Sendable, Hashable, CaseIterable {
  /// Get Transaction History, version 2.
  case transactionHistory = "GET /inApps/v2/history/{transactionId}"
  /// Get Transaction History, version 1, deprecated: finished consumables are left out.
  case transactionHistoryV1 = "GET /inApps/v1/history/{transactionId}"
  /// Get Transaction Info.
  case transaction = "GET /inApps/v1/transactions/{transactionId}"
  /// Get App Transaction Info.
  case appTransaction = "GET /inApps/v1/transactions/appTransactions/{transactionId}"
  /// Get All Subscription Statuses.
  case subscriptionStatuses = "GET /inApps/v1/subscriptions/{transactionId}"
  /// Look Up Order ID; production only.
  case orderLookup = "GET /inApps/v1/lookup/{orderId}"
  /// Get Refund History, version 2.
  case refundHistory = "GET /inApps/v2/refund/lookup/{transactionId}"
  /// Get Refund History, version 1, deprecated: one page of at most 50.
  case refundHistoryV1 = "GET /inApps/v1/refund/lookup/{originalTransactionId}"
  /// Extend a Subscription Renewal Date. Each extension counts, of two in a year.
  case extendRenewalDate = "PUT /inApps/v1/subscriptions/extend/{originalTransactionId}"
  /// Extend Subscription Renewal Dates for All Active Subscribers.
  case massExtendRenewalDate = "POST /inApps/v1/subscriptions/extend/mass"
  /// Get Status of Subscription Renewal Date Extensions.
  case massExtendRenewalDateStatus =
    "GET /inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}"
  /// Send Consumption Information, version 2.
  case sendConsumption = "PUT /inApps/v2/transactions/consumption/{transactionId}"
  /// Send Consumption Information, version 1, deprecated.
  case sendConsumptionV1 = "PUT /inApps/v1/transactions/consumption/{transactionId}"
  /// Set App Account Token.
  case setAppAccountToken = "PUT /inApps/v1/transactions/{originalTransactionId}/appAccountToken"
  /// Finish Transaction.
  case finish = "POST /inApps/v1/transactions/{transactionId}/finish"
  /// Request a Test Notification.
  case requestTestNotification = "POST /inApps/v1/notifications/test"
  /// Get Test Notification Status.
  case testNotificationStatus = "GET /inApps/v1/notifications/test/{testNotificationToken}"
  /// Get Notification History.
  case notificationHistory = "POST /inApps/v1/notifications/history"
  /// Upload Image.
  case uploadImage = "PUT /inApps/v1/messaging/image/{imageIdentifier}"
  /// Delete Image.
  case deleteImage = "DELETE /inApps/v1/messaging/image/{imageIdentifier}"
  /// Get Image List.
  case imageList = "GET /inApps/v1/messaging/image/list"
  /// Upload Message.
  case uploadMessage = "PUT /inApps/v1/messaging/message/{messageIdentifier}"
  /// Delete Message.
  case deleteMessage = "DELETE /inApps/v1/messaging/message/{messageIdentifier}"
  /// Get Message List.
  case messageList = "GET /inApps/v1/messaging/message/list"
  /// Configure Default Message.
  case setDefaultMessage = "PUT /inApps/v1/messaging/default/{productId}/{locale}"
  /// Delete Default Message.
  case deleteDefaultMessage = "DELETE /inApps/v1/messaging/default/{productId}/{locale}"
  /// Get Default Message.
  case defaultMessage = "GET /inApps/v1/messaging/default/{productId}/{locale}"
  /// Configure Realtime URL.
  case setRealtimeURL = "PUT /inApps/v1/messaging/realtime/url"
  /// Delete Realtime URL.
  case deleteRealtimeURL = "DELETE /inApps/v1/messaging/realtime/url"
  /// Get Realtime URL.
  case realtimeURL = "GET /inApps/v1/messaging/realtime/url"
  /// Initiate Performance Test; sandbox only.
  case startPerformanceTest = "POST /inApps/v1/messaging/performanceTest"
  /// Get Performance Test Results; sandbox only.
  case performanceTestResult = "GET /inApps/v1/messaging/performanceTest/result/{requestId}"
  /// The groups that a customer belongs to; sandbox only.
  case currentGroups = "GET /groups/v1/currentGroups/{transactionId}"
  /// The members of a group; sandbox only.
  case groupMembers = "GET /groups/v1/group/{groupId}"
  /// Advanced Commerce: Cancel a Subscription.
  case cancelSubscription = "POST /advancedCommerce/v1/subscription/cancel/{transactionId}"
  /// Advanced Commerce: Revoke Subscription.
  case revokeSubscription = "POST /advancedCommerce/v1/subscription/revoke/{transactionId}"
  /// Advanced Commerce: Migrate a Subscription.
  case migrateSubscription = "POST /advancedCommerce/v1/subscription/migrate/{transactionId}"
  /// Advanced Commerce: Change Subscription Metadata.
  case changeSubscriptionMetadata = "POST /advancedCommerce/v1/subscription/changeMetadata/{transactionId}"
  /// Advanced Commerce: Change Subscription Price.
  case changeSubscriptionPrice = "POST /advancedCommerce/v1/subscription/changePrice/{transactionId}"
  /// Advanced Commerce: Request Transaction Refund.
  case requestRefund = "POST /advancedCommerce/v1/transaction/requestRefund/{transactionId}"

  /// The method.
  package var method: RemoteRequest.Method {
    RemoteRequest.Method(rawValue: String(rawValue.prefix { $0 != " " })) ?? .get
  }

  /// The path; what stands in braces is filled in for each call.
  package var path: String { String(rawValue.drop { $0 != "/" }) }

  /// Whether sending the request twice has the effect of sending it once. One that is not idempotent is sent again
  /// only when it certainly did not arrive, or the App Store states that it had no effect.
  package var isIdempotent: Bool {
    switch self {
    case .extendRenewalDate, .requestTestNotification, .startPerformanceTest, .cancelSubscription,
      .revokeSubscription, .migrateSubscription, .changeSubscriptionMetadata, .changeSubscriptionPrice,
      .requestRefund:
      false
    default: true
    }
  }
}
