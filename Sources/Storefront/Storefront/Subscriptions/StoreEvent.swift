// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// An event of a purchase: the transaction and renewal information at that time, and the fields of its notification.
/// ``StoreEventSigner`` signs the payloads that Apple's store would sign.
package struct StoreEvent: Sendable, Hashable {
  /// 1, 2, 3 and so on, in the order of the store's events.
  package var number: Int64
  /// The account of the purchase.
  package var account: String
  /// The application username of the payment for the subscription.
  package var applicationUsername: String?
  /// The date on which it happened and was signed. No two events of one original transaction share a millisecond, so
  /// the signed dates determine their order.
  package var signedDate: Timestamp
  /// The event.
  package var type: NotificationType
  /// The subtype of the event.
  package var subtype: NotificationSubtype?
  /// The identifier of the notification, the same for every attempt to deliver it.
  package var uuid: UUIDString
  /// The transaction concerned.
  package var transaction: JWSTransaction
  /// The renewal information; subscriptions only.
  package var renewalInfo: JWSRenewalInfo?
  /// The state of the subscription; subscriptions only.
  package var status: SubscriptionStatus?
  /// The reason that the customer gave for requesting a refund.
  package var consumptionRequestReason: ConsumptionRequestReason?
  /// `true` if this event created ``transaction``, which must then be delivered to the customer.
  package var isNewTransaction = false
  /// The family member's one-time purchase that ``transaction`` shares.
  var sharedFrom: String?
  /// The previous transaction, if the event changed it: an upgrade sets `isUpgraded`. There is no notification about
  /// it.
  package var replacedTransaction: JWSTransaction?

  /// The original transaction of the purchase.
  package var originalTransactionIdentifier: String { transaction.originalTransactionId ?? "" }
}
