// SPDX-License-Identifier: Apache-2.0

/// The calls of the App Store Server API.
public enum AppStoreServerEndpoint: String, Sendable, Hashable, CaseIterable {
  /// Get Transaction History, version 2.
  case transactionHistory
  /// Get Transaction History, version 1, deprecated: finished consumables are left out.
  case transactionHistoryV1
  /// Get Transaction Info.
  case transaction
  /// Get App Transaction Info.
  case appTransaction
  /// Get All Subscription Statuses.
  case subscriptionStatuses
  /// Look Up Order ID; production only.
  case orderLookup
  /// Get Refund History, version 2.
  case refundHistory
  /// Get Refund History, version 1, deprecated: one page of at most 50.
  case refundHistoryV1
  /// Extend a Subscription Renewal Date.
  case extendRenewalDate
  /// Extend Subscription Renewal Dates for All Active Subscribers.
  case massExtendRenewalDate
  /// Get Status of Subscription Renewal Date Extensions.
  case massExtendRenewalDateStatus
  /// Send Consumption Information, version 2.
  case sendConsumption
  /// Send Consumption Information, version 1, deprecated.
  case sendConsumptionV1
  /// Set App Account Token.
  case setAppAccountToken
  /// Finish Transaction.
  case finish
  /// Request a Test Notification.
  case requestTestNotification
  /// Get Test Notification Status.
  case testNotificationStatus
  /// Get Notification History.
  case notificationHistory
  /// Upload Image.
  case uploadImage
  /// Delete Image.
  case deleteImage
  /// Get Image List.
  case imageList
  /// Upload Message.
  case uploadMessage
  /// Delete Message.
  case deleteMessage
  /// Get Message List.
  case messageList
  /// Configure Default Message.
  case setDefaultMessage
  /// Delete Default Message.
  case deleteDefaultMessage
  /// Get Default Message.
  case defaultMessage
  /// Configure Realtime URL.
  case setRealtimeURL
  /// Delete Realtime URL.
  case deleteRealtimeURL
  /// Get Realtime URL.
  case realtimeURL
  /// Initiate Performance Test; sandbox only.
  case startPerformanceTest
  /// Get Performance Test Results; sandbox only.
  case performanceTestResult
  /// The groups that a customer belongs to; sandbox only.
  case currentGroups
  /// The members of a group; sandbox only.
  case groupMembers
  /// Advanced Commerce: Cancel a Subscription.
  case cancelSubscription
  /// Advanced Commerce: Revoke Subscription.
  case revokeSubscription
  /// Advanced Commerce: Migrate a Subscription.
  case migrateSubscription
  /// Advanced Commerce: Change Subscription Metadata.
  case changeSubscriptionMetadata
  /// Advanced Commerce: Change Subscription Price.
  case changeSubscriptionPrice
  /// Advanced Commerce: Request Transaction Refund.
  case requestRefund
}
