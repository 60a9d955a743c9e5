// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The state of subscriptions.
extension AppStoreServerClient {
  /// The state of all subscriptions of a customer, in the order of the answer.
  ///
  /// - Parameters:
  ///   - anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  ///   - statuses: Only subscriptions in one of these states; all where empty.
  /// - Returns: The subscriptions; those of a group follow each other.
  /// - Throws: ``AppStoreServerError``.
  public func subscriptionStatuses(
    of anyTransactionId: String, statuses: [SubscriptionStatus] = []
  ) async throws(AppStoreServerError) -> [VerifiedSubscription] {
    let answer = try await raw.send(
      .subscriptionStatuses(of: anyTransactionId, statuses: statuses), as: SubscriptionStatusesResponse.self)
    let verification = verification(of: answer)
    try verification.demandBundle(answer.value.bundleId, at: "$.bundleId")
    try verification.demandEnvironment(answer.value.environment, at: "$.environment")
    var subscriptions: [VerifiedSubscription] = []
    for (groupIndex, group) in (answer.value.data ?? []).enumerated() {
      for (index, last) in (group.lastTransactions ?? []).enumerated() {
        let place = "$.data[\(groupIndex)].lastTransactions[\(index)]"
        subscriptions.append(
          try verification.subscription(last, in: group.subscriptionGroupIdentifier, at: place))
      }
    }
    return subscriptions
  }
}

extension PartVerification {
  fileprivate func subscription(
    _ last: SubscriptionLastTransaction, in group: String?, at place: String
  ) throws(AppStoreServerError) -> VerifiedSubscription {
    guard let status = last.status, let originalTransactionId = last.originalTransactionId else {
      throw AppStoreServerError(
        endpoint, attempts: attempts,
        .malformedResponse(
          MalformedReceipt(
            .missing, at: .jsonPath(place + (last.status == nil ? ".status" : ".originalTransactionId")),
            "The response has no such member.")))
    }
    let purchase = try purchase(
      transaction: last.signedTransactionInfo, renewalInfo: last.signedRenewalInfo, at: place,
      originalTransactionId: originalTransactionId)
    return VerifiedSubscription(
      subscriptionGroupIdentifier: group, status: status, originalTransactionId: originalTransactionId,
      transaction: purchase.transaction, renewalInfo: purchase.renewalInfo)
  }

  /// A transaction and its renewal information, which must be of the same subscription.
  func purchase(
    transaction: String?, renewalInfo: String?, at place: String, originalTransactionId: String? = nil
  ) throws(AppStoreServerError) -> VerifiedAdvancedCommercePurchase {
    let transactionPlace = place + ".signedTransactionInfo"
    let transaction: VerifiedPayload<JWSTransaction> = try verify(transaction, at: transactionPlace)
    if let originalTransactionId {
      try demand(
        transaction.payload.originalTransactionId, is: originalTransactionId,
        "original transaction identifier", at: transactionPlace)
    }
    let renewalPlace = place + ".signedRenewalInfo"
    let renewalInfo: VerifiedPayload<JWSRenewalInfo>? = try verifyIfPresent(renewalInfo, at: renewalPlace)
    if let renewalInfo, let line = transaction.payload.originalTransactionId {
      try demand(
        renewalInfo.payload.originalTransactionId, is: line, "original transaction identifier",
        at: renewalPlace)
    }
    return VerifiedAdvancedCommercePurchase(transaction: transaction, renewalInfo: renewalInfo)
  }
}
