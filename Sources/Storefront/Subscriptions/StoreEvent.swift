// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// Something that happened to a purchase: the transaction and renewal information as they then were, and the
/// notification that tells of it. What Apple's store would sign; ``StoreEventSigner`` does.
public struct StoreEvent: Sendable, Hashable {
  /// 1, 2, 3 and so on, in the order in which things happened in the store.
  public var number: Int64
  /// Whose purchase it is.
  public var account: String
  /// The account's name with the app, as the payment for the subscription gave it.
  public var applicationUsername: String?
  /// When it happened, and was signed. No two events of one original transaction share a millisecond, so that their
  /// order can be told from what is signed.
  public var signedDate: Timestamp
  /// The event.
  public var type: NotificationType
  /// More about the event.
  public var subtype: NotificationSubtype?
  /// The same for each attempt to deliver the notification, and different for any other.
  public var uuid: UUIDString
  /// The transaction concerned.
  public var transaction: JWSTransaction
  /// What happens at the next renewal; subscriptions only.
  public var renewalInfo: JWSRenewalInfo?
  /// The state of the subscription; subscriptions only.
  public var status: SubscriptionStatus?
  /// Why the customer asked for a refund.
  public var consumptionRequestReason: ConsumptionRequestReason?
  /// Whether ``transaction`` was made by this event, and must be delivered to the customer.
  public var isNewTransaction: Bool
  /// The transaction before this one, where the event changed it, too: an upgrade marks it. No notification tells of it.
  public var replacedTransaction: JWSTransaction?

  /// The original transaction that it is about.
  public var originalTransactionIdentifier: String { transaction.originalTransactionId ?? "" }
}
