// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec

/// A change by a customer or the vendor, as ``LocalStore/perform(_:)`` and ``SubscriptionEngine/perform(_:at:)`` take it.
///
/// A subscription is named by its original transaction. It is refused where it is unknown, where another member of the
/// family pays for it, and where it has no service.
public enum SubscriptionChange: Sendable, Hashable {
  /// Switches renewal at the end of the period on or off. A subscription in billing retry expires when it is switched
  /// off. The notification is `DID_CHANGE_RENEWAL_STATUS`; nothing is sent if the state does not change.
  case setAutoRenew(Bool, of: String)
  /// Changes the product from the next renewal on; an upgrade takes effect at once, and the subscription's own product
  /// cancels a downgrade. The rules are those of a payment. `DID_CHANGE_RENEWAL_PREF`.
  case changeRenewal(of: String, to: String)
  /// Charges for the renewal: before it is due, or after it failed. The billing policy does not apply. `DID_RENEW`.
  case renewNow(String)
  /// Extends the paid period by 1 to 90 days, as the vendor's compensation: at most twice within 365 days, and never in
  /// a free offer. `RENEWAL_EXTENDED`.
  case extend(String, byDays: Int)
  /// Extends the periods of all subscriptions to a product, in these storefronts or, with `nil`, in all.
  /// `RENEWAL_EXTENDED` for each, `RENEWAL_EXTENSION` `FAILURE` for each that cannot be extended.
  case extendAll(of: String, byDays: Int, in: Set<String>?)
  /// Moves the end of the paid period to another date, without the limits of an extension; to now where that date has
  /// passed. `RENEWAL_EXTENDED`.
  case postpone(String, to: Timestamp)
  /// Changes the price of a product: for new customers at once, for others from their next renewal on. A higher price
  /// needs their consent, or they are only informed: `PRICE_INCREASE` `PENDING` or `ACCEPTED` for each.
  case changePrice(of: String, to: Decimal, needsConsent: Bool)
  /// The customer's answer to a higher price. `PRICE_INCREASE` `ACCEPTED`; or `DID_CHANGE_RENEWAL_STATUS`, and the
  /// subscription ends with the period.
  case answerPriceIncrease(of: String, consents: Bool)
  /// Removes a product from sale, or offers it again. Subscriptions to a removed product expire at their next renewal.
  case setForSale(Bool, String)
  /// Makes charges for renewals of an account fail, or succeed again.
  case setBillingIssue(Bool, of: String)
}
