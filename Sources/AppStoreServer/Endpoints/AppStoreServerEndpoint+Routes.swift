// SPDX-License-Identifier: Apache-2.0

extension AppStoreServerEndpoint {
  /// How a call travels.
  package struct Route: Sendable, Hashable {
    package let method: RemoteRequest.Method
    /// The path; what stands in braces is filled in for each call.
    package let path: String
    /// Whether doing it twice is doing it once. A call that is not is sent again only when it certainly did
    /// not arrive, or the App Store says that it did nothing.
    package let isRepeatable: Bool

    init(_ method: RemoteRequest.Method, _ path: String, isRepeatable: Bool = true) {
      self.method = method
      self.path = path
      self.isRepeatable = isRepeatable
    }
  }

  /// Method, path and whether the call may be repeated.
  package var route: Route {
    switch self {
    case .transactionHistory: Route(.get, "/inApps/v2/history/{transactionId}")
    case .transactionHistoryV1: Route(.get, "/inApps/v1/history/{transactionId}")
    case .transaction: Route(.get, "/inApps/v1/transactions/{transactionId}")
    case .appTransaction: Route(.get, "/inApps/v1/transactions/appTransactions/{transactionId}")
    case .subscriptionStatuses: Route(.get, "/inApps/v1/subscriptions/{transactionId}")
    case .orderLookup: Route(.get, "/inApps/v1/lookup/{orderId}")
    case .refundHistory: Route(.get, "/inApps/v2/refund/lookup/{transactionId}")
    case .refundHistoryV1: Route(.get, "/inApps/v1/refund/lookup/{originalTransactionId}")
    // Each extension counts, of two in a year.
    case .extendRenewalDate:
      Route(.put, "/inApps/v1/subscriptions/extend/{originalTransactionId}", isRepeatable: false)
    case .massExtendRenewalDate: Route(.post, "/inApps/v1/subscriptions/extend/mass")
    case .massExtendRenewalDateStatus:
      Route(.get, "/inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}")
    case .sendConsumption: Route(.put, "/inApps/v2/transactions/consumption/{transactionId}")
    case .sendConsumptionV1: Route(.put, "/inApps/v1/transactions/consumption/{transactionId}")
    case .setAppAccountToken:
      Route(.put, "/inApps/v1/transactions/{originalTransactionId}/appAccountToken")
    case .finish: Route(.post, "/inApps/v1/transactions/{transactionId}/finish")
    case .requestTestNotification: Route(.post, "/inApps/v1/notifications/test", isRepeatable: false)
    case .testNotificationStatus: Route(.get, "/inApps/v1/notifications/test/{testNotificationToken}")
    case .notificationHistory: Route(.post, "/inApps/v1/notifications/history")
    case .uploadImage: Route(.put, "/inApps/v1/messaging/image/{imageIdentifier}")
    case .deleteImage: Route(.delete, "/inApps/v1/messaging/image/{imageIdentifier}")
    case .imageList: Route(.get, "/inApps/v1/messaging/image/list")
    case .uploadMessage: Route(.put, "/inApps/v1/messaging/message/{messageIdentifier}")
    case .deleteMessage: Route(.delete, "/inApps/v1/messaging/message/{messageIdentifier}")
    case .messageList: Route(.get, "/inApps/v1/messaging/message/list")
    case .setDefaultMessage: Route(.put, "/inApps/v1/messaging/default/{productId}/{locale}")
    case .deleteDefaultMessage: Route(.delete, "/inApps/v1/messaging/default/{productId}/{locale}")
    case .defaultMessage: Route(.get, "/inApps/v1/messaging/default/{productId}/{locale}")
    case .setRealtimeURL: Route(.put, "/inApps/v1/messaging/realtime/url")
    case .deleteRealtimeURL: Route(.delete, "/inApps/v1/messaging/realtime/url")
    case .realtimeURL: Route(.get, "/inApps/v1/messaging/realtime/url")
    case .startPerformanceTest: Route(.post, "/inApps/v1/messaging/performanceTest", isRepeatable: false)
    case .performanceTestResult: Route(.get, "/inApps/v1/messaging/performanceTest/result/{requestId}")
    case .currentGroups: Route(.get, "/groups/v1/currentGroups/{transactionId}")
    case .groupMembers: Route(.get, "/groups/v1/group/{groupId}")
    case .cancelSubscription:
      Route(.post, "/advancedCommerce/v1/subscription/cancel/{transactionId}", isRepeatable: false)
    case .revokeSubscription:
      Route(.post, "/advancedCommerce/v1/subscription/revoke/{transactionId}", isRepeatable: false)
    case .migrateSubscription:
      Route(.post, "/advancedCommerce/v1/subscription/migrate/{transactionId}", isRepeatable: false)
    case .changeSubscriptionMetadata:
      Route(.post, "/advancedCommerce/v1/subscription/changeMetadata/{transactionId}", isRepeatable: false)
    case .changeSubscriptionPrice:
      Route(.post, "/advancedCommerce/v1/subscription/changePrice/{transactionId}", isRepeatable: false)
    case .requestRefund:
      Route(.post, "/advancedCommerce/v1/transaction/requestRefund/{transactionId}", isRepeatable: false)
    }
  }
}
