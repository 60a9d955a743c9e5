// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The values of responses with signed parts, under the names that the endpoint rows in `WireTypes/` use.
extension SignedParts {
  func transactions(_ compact: [String]?) throws(AppStoreServerError) -> [VerifiedPayload<JWSTransaction>] {
    try verify(compact ?? [], at: { "$.signedTransactions[\($0)]" })
  }

  func history(
    _ response: TransactionHistoryResponse
  ) throws(AppStoreServerError) -> [VerifiedPayload<JWSTransaction>] {
    try requireBundle(response.bundleId, at: "$.bundleId")
    try requireEnvironment(response.environment, at: "$.environment")
    return try transactions(response.signedTransactions)
  }

  func transaction(
    _ response: TransactionInfoResponse, _ transactionId: String
  ) throws(AppStoreServerError) -> VerifiedPayload<JWSTransaction> {
    let place = "$.signedTransactionInfo"
    let transaction = try verify(response.signedTransactionInfo, at: place, as: JWSTransaction.self)
    try require(transaction.payload.transactionId, is: transactionId, "transaction identifier", at: place)
    return transaction
  }

  func order(
    _ response: OrderLookupResponse
  ) throws(AppStoreServerError) -> [VerifiedPayload<JWSTransaction>]? {
    guard try require(response.status, at: "$.status") == .valid else { return nil }
    return try transactions(response.signedTransactions)
  }

  func subscriptions(
    _ response: SubscriptionStatusesResponse
  ) throws(AppStoreServerError) -> [VerifiedSubscription] {
    try requireBundle(response.bundleId, at: "$.bundleId")
    try requireEnvironment(response.environment, at: "$.environment")
    var subscriptions: [VerifiedSubscription] = []
    for (groupIndex, group) in (response.data ?? []).enumerated() {
      for (index, last) in (group.lastTransactions ?? []).enumerated() {
        let place = "$.data[\(groupIndex)].lastTransactions[\(index)]"
        let status = try require(last.status, at: place + ".status")
        let line = try require(last.originalTransactionId, at: place + ".originalTransactionId")
        let purchase = try self.purchase(
          transaction: last.signedTransactionInfo, renewalInfo: last.signedRenewalInfo, at: place,
          originalTransactionId: line)
        subscriptions.append(
          VerifiedSubscription(
            subscriptionGroupIdentifier: group.subscriptionGroupIdentifier, status: status,
            originalTransactionId: line, purchase: purchase))
      }
    }
    return subscriptions
  }

  func purchase(_ response: AdvancedCommerceResponse) throws(AppStoreServerError) -> VerifiedPurchase {
    try purchase(
      transaction: response.signedTransactionInfo, renewalInfo: response.signedRenewalInfo, at: "$")
  }

  /// Verifies a transaction and its renewal information, which must belong to the same subscription.
  private func purchase(
    transaction: String?, renewalInfo: String?, at place: String, originalTransactionId: String? = nil
  ) throws(AppStoreServerError) -> VerifiedPurchase {
    let transactionPlace = place + ".signedTransactionInfo"
    let transaction: VerifiedPayload<JWSTransaction> = try verify(transaction, at: transactionPlace)
    if let originalTransactionId {
      try require(
        transaction.payload.originalTransactionId, is: originalTransactionId,
        "original transaction identifier", at: transactionPlace)
    }
    let renewalPlace = place + ".signedRenewalInfo"
    let renewalInfo: VerifiedPayload<JWSRenewalInfo>? = try verifyIfPresent(renewalInfo, at: renewalPlace)
    if let renewalInfo, let line = transaction.payload.originalTransactionId {
      try require(
        renewalInfo.payload.originalTransactionId, is: line, "original transaction identifier",
        at: renewalPlace)
    }
    return VerifiedPurchase(transaction: transaction, renewalInfo: renewalInfo)
  }

  func sentNotification(
    _ response: CheckTestNotificationResponse
  ) throws(AppStoreServerError) -> SentNotification {
    SentNotification(
      notification: try verify(response.signedPayload, at: "$.signedPayload"),
      sendAttempts: response.sendAttempts ?? [])
  }

  func sentNotifications(
    _ response: NotificationHistoryResponse
  ) throws(AppStoreServerError) -> [SentNotification] {
    let place = { (index: Int) in "$.notificationHistory[\(index)].signedPayload" }
    let items = response.notificationHistory ?? []
    var compact: [String] = []
    for (index, item) in items.enumerated() {
      compact.append(try require(item.signedPayload, at: place(index)))
    }
    return zip(items, try verify(compact, at: place, as: Notification.self)).map {
      SentNotification(notification: $1, sendAttempts: $0.sendAttempts ?? [])
    }
  }
}
