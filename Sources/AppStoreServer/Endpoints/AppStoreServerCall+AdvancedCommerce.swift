// SPDX-License-Identifier: Apache-2.0

/// The Advanced Commerce API. Each request is sent again only when it certainly had no effect.
extension AppStoreServerCall where Response == AdvancedCommerceResponse, Value == VerifiedPurchase {
  /// Stops a subscription from renewing.
  public static func cancelSubscription(
    _ transactionId: String, _ request: AdvancedCommerceSubscriptionCancelRequest
  ) -> Self { advancedCommerce(.cancelSubscription, transactionId, request) }

  /// Ends a subscription at once and refunds it.
  public static func revokeSubscription(
    _ transactionId: String, _ request: AdvancedCommerceSubscriptionRevokeRequest
  ) -> Self { advancedCommerce(.revokeSubscription, transactionId, request) }

  /// Moves an ordinary subscription to Advanced Commerce.
  public static func migrateSubscription(
    _ transactionId: String, _ request: AdvancedCommerceMigrationRequest
  ) -> Self { advancedCommerce(.migrateSubscription, transactionId, request) }

  /// Changes texts of a subscription and its items.
  public static func changeSubscriptionMetadata(
    _ transactionId: String, _ request: AdvancedCommerceMetadataChangeRequest
  ) -> Self { advancedCommerce(.changeSubscriptionMetadata, transactionId, request) }

  /// Changes prices of a subscription.
  public static func changeSubscriptionPrice(
    _ transactionId: String, _ request: AdvancedCommercePriceChangeRequest
  ) -> Self { advancedCommerce(.changeSubscriptionPrice, transactionId, request) }

  /// Requests the refund of a one-time charge or a subscription.
  public static func requestRefund(
    _ transactionId: String, _ request: AdvancedCommerceRefundRequest
  ) -> Self { advancedCommerce(.requestRefund, transactionId, request) }

  private static func advancedCommerce(
    _ endpoint: AppStoreServerEndpoint, _ transactionId: String, _ request: some WireRequest
  ) -> Self {
    Self(endpoint, AppStoreServerRequest(transactionId, json: request)) {
      (response, parts) throws(AppStoreServerError) in
      try parts.purchase(
        transaction: response.signedTransactionInfo, renewalInfo: response.signedRenewalInfo, at: "$")
    }
  }
}
