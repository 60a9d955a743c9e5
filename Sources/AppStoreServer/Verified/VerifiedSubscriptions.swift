// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// The state of a subscription, its last transaction and its renewal information.
public struct VerifiedSubscription: Sendable, Hashable {
  /// The group that the subscription is of.
  public let subscriptionGroupIdentifier: String?
  /// The state. The App Store does not sign it.
  public let status: SubscriptionStatus
  /// The subscription, by its first transaction.
  public let originalTransactionId: String
  /// The last transaction.
  public let transaction: VerifiedPayload<JWSTransaction>
  /// The renewal information, of the same subscription.
  public let renewalInfo: VerifiedPayload<JWSRenewalInfo>?
}

/// A purchase after an Advanced Commerce call.
public struct VerifiedAdvancedCommercePurchase: Sendable, Hashable {
  /// The transaction.
  public let transaction: VerifiedPayload<JWSTransaction>
  /// The renewal information of a subscription, of the same purchase; after a refund it may be absent.
  public let renewalInfo: VerifiedPayload<JWSRenewalInfo>?
}
