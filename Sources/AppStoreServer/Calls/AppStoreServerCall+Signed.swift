// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The calls that both clients make, each to read the answer in its own way.
extension AppStoreServerCall {
  /// `endpoint` is one of the two versions.
  static func transactionHistory(
    _ endpoint: AppStoreServerEndpoint, of anyTransactionId: String, filter: TransactionHistoryFilter,
    revision: String?
  ) throws(AppStoreServerError) -> AppStoreServerCall {
    try AppStoreServerCall(
      endpoint, anyTransactionId, query: Self.revision(revision) + filter.queryItems)
  }

  static func refundHistory(
    of anyTransactionId: String, revision: String?
  ) throws(AppStoreServerError) -> AppStoreServerCall {
    try AppStoreServerCall(.refundHistory, anyTransactionId, query: Self.revision(revision))
  }

  private static func revision(_ revision: String?) -> [(name: String, value: String)] {
    revision.map { [("revision", $0)] } ?? []
  }

  static func subscriptionStatuses(
    of anyTransactionId: String, statuses: [SubscriptionStatus]
  ) throws(AppStoreServerError) -> AppStoreServerCall {
    try AppStoreServerCall(
      .subscriptionStatuses, anyTransactionId, query: statuses.map { ("status", String($0.rawValue)) })
  }

  static func notificationHistory(
    _ request: NotificationHistoryRequest, paginationToken: String?
  ) throws(AppStoreServerError) -> AppStoreServerCall {
    let limits = RequestLimits(.notificationHistory)
    try limits.demand(request.startDate < request.endDate, at: "$.endDate", "It must be after the start.")
    try limits.demand(
      request.notificationType == nil || request.transactionId == nil, at: "$.transactionId",
      "Either a type of notification or a customer may be chosen, not both.")
    try limits.demand(
      request.notificationSubtype == nil || request.notificationType != nil, at: "$.notificationSubtype",
      "A subtype is one of a notification type, which must be there, too.")
    return try AppStoreServerCall(
      .notificationHistory, query: paginationToken.map { [("paginationToken", $0)] } ?? [],
      body: .json(request.encodedJSON()))
  }
}
