// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials
public import ReceiptCodec

/// A change by a customer or the vendor, for ``LocalStore/perform(_:)``.
///
/// A subscription is named by its original transaction. The change is refused if the subscription is unknown, has no
/// service, or is paid for by another member of the family.
public enum SubscriptionChange: Sendable, Hashable {
  /// Switches renewal at the end of the period on or off. A subscription in billing retry expires if it is switched
  /// off. `DID_CHANGE_RENEWAL_STATUS`, if the state changes.
  case setAutoRenew(Bool, of: String)
  /// Changes the product of the next and later renewals. An upgrade takes effect immediately, and a change to the
  /// current product cancels a downgrade. The rules are those of a payment. `DID_CHANGE_RENEWAL_PREF`.
  case changeRenewal(of: String, to: String)
  /// Charges for the renewal, before it is due or after it failed. The billing policy does not apply. `DID_RENEW`.
  case renewNow(String)
  /// Extends the paid period by 1 to 90 days, as the vendor's compensation. This is possible at most twice within 365
  /// days, and never in a free offer. `RENEWAL_EXTENDED`.
  case extend(String, byDays: Int)
  /// Extends the periods of all subscriptions to a product, in these storefronts or, with `nil`, in all.
  /// `RENEWAL_EXTENDED` for each, or `RENEWAL_EXTENSION` `FAILURE` for each that cannot be extended.
  case extendAll(of: String, byDays: Int, in: Set<String>?)
  /// Moves the end of the paid period to another date, or to now if that date has passed. The limits of an extension
  /// do not apply. `RENEWAL_EXTENDED`.
  case postpone(String, to: Timestamp)
  /// Changes the price of a product: for new customers immediately, for others at their next renewal. For a higher
  /// price they must consent, or they are only informed: `PRICE_INCREASE` `PENDING` or `ACCEPTED` for each.
  case changePrice(of: String, to: Decimal, needsConsent: Bool)
  /// Records the customer's answer to a higher price. Consent causes `PRICE_INCREASE` `ACCEPTED`. Otherwise the
  /// subscription ends with the period: `DID_CHANGE_RENEWAL_STATUS`.
  case answerPriceIncrease(of: String, consents: Bool)
  /// Removes a product from sale, or offers it again. Subscriptions to a removed product expire at their next renewal.
  case setForSale(Bool, String)
  /// Makes charges for renewals of an account fail, or succeed again.
  case setBillingIssue(Bool, of: String)
}
