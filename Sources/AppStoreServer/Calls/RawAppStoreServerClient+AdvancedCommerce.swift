// SPDX-License-Identifier: Apache-2.0

/// The calls of the Advanced Commerce API. Each is sent again only when the App Store certainly did nothing. All
/// throw ``AppStoreServerError``.
extension RawAppStoreServerClient {
  /// Stops a subscription from renewing.
  public func cancelSubscription(
    _ transactionId: String, _ request: AdvancedCommerceSubscriptionCancelRequest
  ) async throws(AppStoreServerError) -> AdvancedCommerceResponse {
    try await exchange(.advancedCommerce(.cancelSubscription, transactionId, request)).value
  }

  /// Ends a subscription at once and refunds it.
  public func revokeSubscription(
    _ transactionId: String, _ request: AdvancedCommerceSubscriptionRevokeRequest
  ) async throws(AppStoreServerError) -> AdvancedCommerceResponse {
    try await exchange(.advancedCommerce(.revokeSubscription, transactionId, request)).value
  }

  /// Moves an ordinary subscription to Advanced Commerce.
  public func migrateSubscription(
    _ transactionId: String, _ request: AdvancedCommerceMigrationRequest
  ) async throws(AppStoreServerError) -> AdvancedCommerceResponse {
    try await exchange(.advancedCommerce(.migrateSubscription, transactionId, request)).value
  }

  /// Changes texts of a subscription and its items.
  public func changeSubscriptionMetadata(
    _ transactionId: String, _ request: AdvancedCommerceMetadataChangeRequest
  ) async throws(AppStoreServerError) -> AdvancedCommerceResponse {
    try await exchange(.advancedCommerce(.changeSubscriptionMetadata, transactionId, request)).value
  }

  /// Changes prices of a subscription.
  public func changeSubscriptionPrice(
    _ transactionId: String, _ request: AdvancedCommercePriceChangeRequest
  ) async throws(AppStoreServerError) -> AdvancedCommerceResponse {
    try await exchange(.advancedCommerce(.changeSubscriptionPrice, transactionId, request)).value
  }

  /// Asks for the refund of a one-time charge or a subscription.
  public func requestRefund(
    _ transactionId: String, _ request: AdvancedCommerceRefundRequest
  ) async throws(AppStoreServerError) -> AdvancedCommerceResponse {
    try await exchange(.advancedCommerce(.requestRefund, transactionId, request)).value
  }

  private func exchange(
    _ call: AppStoreServerCall
  ) async throws(AppStoreServerError) -> Answer<AdvancedCommerceResponse> {
    try await send(call, as: AdvancedCommerceResponse.self)
  }
}
