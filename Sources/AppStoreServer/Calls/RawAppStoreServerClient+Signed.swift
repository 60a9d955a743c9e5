// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The calls whose answers carry signed parts, which are returned as they came. All throw
/// ``AppStoreServerError``.
extension RawAppStoreServerClient {
  /// A page of a customer's transactions.
  ///
  /// - Parameters:
  ///   - anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  ///   - filter: Which transactions; the same for each page.
  ///   - revision: That of the page before; `nil` for the first.
  /// - Returns: The page.
  /// - Throws: ``AppStoreServerError``.
  public func transactionHistory(
    of anyTransactionId: String, filter: TransactionHistoryFilter = TransactionHistoryFilter(),
    revision: String? = nil
  ) async throws(AppStoreServerError) -> TransactionHistoryResponse {
    try await send(
      .transactionHistory(.transactionHistory, of: anyTransactionId, filter: filter, revision: revision),
      as: TransactionHistoryResponse.self
    ).value
  }

  /// As ``transactionHistory(of:filter:revision:)``, without finished consumables: the call that came before
  /// it.
  public func transactionHistoryV1(
    of anyTransactionId: String, filter: TransactionHistoryFilter = TransactionHistoryFilter(),
    revision: String? = nil
  ) async throws(AppStoreServerError) -> TransactionHistoryResponse {
    try await send(
      .transactionHistory(.transactionHistoryV1, of: anyTransactionId, filter: filter, revision: revision),
      as: TransactionHistoryResponse.self
    ).value
  }

  /// One transaction.
  public func transaction(
    _ transactionId: String
  ) async throws(AppStoreServerError) -> TransactionInfoResponse {
    try await send(AppStoreServerCall(.transaction, transactionId), as: TransactionInfoResponse.self).value
  }

  /// The purchase or download of the app itself.
  ///
  /// - Parameter anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  /// - Returns: The signed app transaction.
  /// - Throws: ``AppStoreServerError``.
  public func appTransaction(
    of anyTransactionId: String
  ) async throws(AppStoreServerError) -> AppTransactionInfoResponse {
    try await send(
      AppStoreServerCall(.appTransaction, anyTransactionId), as: AppTransactionInfoResponse.self
    ).value
  }

  /// The state of a customer's subscriptions.
  ///
  /// - Parameters:
  ///   - anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  ///   - statuses: Only subscriptions in one of these states; all where empty.
  /// - Returns: The state of each subscription.
  /// - Throws: ``AppStoreServerError``.
  public func subscriptionStatuses(
    of anyTransactionId: String, statuses: [SubscriptionStatus] = []
  ) async throws(AppStoreServerError) -> SubscriptionStatusesResponse {
    try await send(
      .subscriptionStatuses(of: anyTransactionId, statuses: statuses), as: SubscriptionStatusesResponse.self
    ).value
  }

  /// The transactions of an order, by the identifier in the customer's invoice. Production only.
  public func orderLookup(_ orderId: String) async throws(AppStoreServerError) -> OrderLookupResponse {
    try await send(AppStoreServerCall(.orderLookup, orderId), as: OrderLookupResponse.self).value
  }

  /// A page of a customer's refunded transactions.
  ///
  /// - Parameters:
  ///   - anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  ///   - revision: That of the page before; `nil` for the first.
  /// - Returns: The page.
  /// - Throws: ``AppStoreServerError``.
  public func refundHistory(
    of anyTransactionId: String, revision: String? = nil
  ) async throws(AppStoreServerError) -> RefundHistoryResponse {
    try await send(
      .refundHistory(of: anyTransactionId, revision: revision), as: RefundHistoryResponse.self
    ).value
  }

  /// The last 50 refunded transactions of a customer: the call that came before ``refundHistory(of:revision:)``.
  public func refundHistoryV1(
    of originalTransactionId: String
  ) async throws(AppStoreServerError) -> RefundHistoryResponse {
    try await send(
      AppStoreServerCall(.refundHistoryV1, originalTransactionId), as: RefundHistoryResponse.self
    ).value
  }

  /// What became of a test notification.
  ///
  /// - Parameter testNotificationToken: From ``AppStoreServerCalls/requestTestNotification()``.
  /// - Returns: The signed notification, and the attempts to deliver it.
  /// - Throws: ``AppStoreServerError``.
  public func testNotificationStatus(
    _ testNotificationToken: String
  ) async throws(AppStoreServerError) -> CheckTestNotificationResponse {
    try await send(
      AppStoreServerCall(.testNotificationStatus, testNotificationToken),
      as: CheckTestNotificationResponse.self
    ).value
  }

  /// A page of the notifications that were sent.
  ///
  /// - Parameters:
  ///   - request: Which notifications; the same for each page.
  ///   - paginationToken: That of the page before; `nil` for the first.
  /// - Returns: The page.
  /// - Throws: ``AppStoreServerError``.
  public func notificationHistory(
    _ request: NotificationHistoryRequest, paginationToken: String? = nil
  ) async throws(AppStoreServerError) -> NotificationHistoryResponse {
    try await send(
      .notificationHistory(request, paginationToken: paginationToken), as: NotificationHistoryResponse.self
    ).value
  }
}
