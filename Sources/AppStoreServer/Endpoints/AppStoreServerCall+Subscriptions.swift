// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension AppStoreServerCall
where Response == SubscriptionStatusesResponse, Value == [VerifiedSubscription] {
  /// The state of all subscriptions of a customer, in the order of the answer; those of a group follow each other.
  ///
  /// - Parameters:
  ///   - anyTransactionId: Any transaction, original transaction or app transaction of the customer.
  ///   - statuses: Only subscriptions in one of these states; all where empty.
  /// - Returns: The call.
  public static func subscriptionStatuses(
    of anyTransactionId: String, statuses: [SubscriptionStatus] = []
  ) -> Self {
    let request = AppStoreServerRequest(
      anyTransactionId, query: statuses.map { ("status", String($0.rawValue)) })
    return Self(.subscriptionStatuses, request) { (response, parts) throws(AppStoreServerError) in
      try parts.requireBundle(response.bundleId, at: "$.bundleId")
      try parts.requireEnvironment(response.environment, at: "$.environment")
      var subscriptions: [VerifiedSubscription] = []
      for (groupIndex, group) in (response.data ?? []).enumerated() {
        for (index, last) in (group.lastTransactions ?? []).enumerated() {
          let place = "$.data[\(groupIndex)].lastTransactions[\(index)]"
          let status = try parts.require(last.status, at: place + ".status")
          let line = try parts.require(last.originalTransactionId, at: place + ".originalTransactionId")
          let purchase = try parts.purchase(
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
  }
}

extension AppStoreServerCall
where Response == ExtendRenewalDateResponse, Value == ExtendRenewalDateResponse {
  /// Extends the renewal date of one subscription. At most two extensions in 365 days are allowed, and each
  /// counts, so the request is sent again only when it certainly had no effect.
  ///
  /// - Parameters:
  ///   - originalTransactionId: The subscription, by its first transaction.
  ///   - request: By how much, why, and an identifier of at most 128 characters.
  /// - Returns: The call; its answer tells whether it was extended, and to when.
  public static func extendRenewalDate(
    of originalTransactionId: String, _ request: ExtendRenewalDateRequest
  ) -> Self { Self(.extendRenewalDate, AppStoreServerRequest(originalTransactionId, json: request)) }
}

extension AppStoreServerCall
where Response == MassExtendRenewalDateResponse, Value == MassExtendRenewalDateResponse {
  /// Extends the renewal dates of all eligible subscribers of a product. The App Store acts once for each request
  /// identifier.
  public static func massExtendRenewalDate(_ request: MassExtendRenewalDateRequest) -> Self {
    Self(.massExtendRenewalDate, AppStoreServerRequest(json: request))
  }
}

extension AppStoreServerCall
where Response == MassExtendRenewalDateStatusResponse, Value == MassExtendRenewalDateStatusResponse {
  /// The progress of a mass extension.
  public static func massExtendRenewalDateStatus(
    productId: String, requestIdentifier: UUIDString
  ) -> Self {
    Self(
      .massExtendRenewalDateStatus,
      AppStoreServerRequest(productId, requestIdentifier.rawValue)
        .checking { $0.requireUUID(requestIdentifier, at: "requestIdentifier") })
  }
}

extension SignedParts {
  /// A transaction and its renewal information, which must be of the same subscription.
  func purchase(
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
}
