// SPDX-License-Identifier: Apache-2.0

/// The event that a notification reports (`notificationType`).
public struct NotificationType: RawRepresentable, Sendable, Hashable {
  /// The spelling in the payload.
  public let rawValue: String

  /// Creates one from any spelling, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `SUBSCRIBED`: a subscription began, or began again.
  public static let subscribed = NotificationType(rawValue: "SUBSCRIBED")
  /// `DID_CHANGE_RENEWAL_PREF`: the customer chose another product of the group.
  public static let didChangeRenewalPref = NotificationType(rawValue: "DID_CHANGE_RENEWAL_PREF")
  /// `DID_CHANGE_RENEWAL_STATUS`: renewal was switched on or off.
  public static let didChangeRenewalStatus = NotificationType(rawValue: "DID_CHANGE_RENEWAL_STATUS")
  /// `OFFER_REDEEMED`: an active subscriber redeemed an offer.
  public static let offerRedeemed = NotificationType(rawValue: "OFFER_REDEEMED")
  /// `DID_RENEW`: a subscription renewed.
  public static let didRenew = NotificationType(rawValue: "DID_RENEW")
  /// `EXPIRED`: a subscription expired.
  public static let expired = NotificationType(rawValue: "EXPIRED")
  /// `DID_FAIL_TO_RENEW`: the charge failed.
  public static let didFailToRenew = NotificationType(rawValue: "DID_FAIL_TO_RENEW")
  /// `GRACE_PERIOD_EXPIRED`: the grace period ended; the App Store still tries to charge.
  public static let gracePeriodExpired = NotificationType(rawValue: "GRACE_PERIOD_EXPIRED")
  /// `PRICE_INCREASE`: the customer was told of a higher price, or answered.
  public static let priceIncrease = NotificationType(rawValue: "PRICE_INCREASE")
  /// `REFUND`: a refund was granted.
  public static let refund = NotificationType(rawValue: "REFUND")
  /// `REFUND_DECLINED`: a refund was declined.
  public static let refundDeclined = NotificationType(rawValue: "REFUND_DECLINED")
  /// `REFUND_REVERSED`: a refund was undone.
  public static let refundReversed = NotificationType(rawValue: "REFUND_REVERSED")
  /// `CONSUMPTION_REQUEST`: the customer asked for a refund, and consumption data is wanted.
  public static let consumptionRequest = NotificationType(rawValue: "CONSUMPTION_REQUEST")
  /// `RENEWAL_EXTENDED`: the renewal date of one subscription was extended.
  public static let renewalExtended = NotificationType(rawValue: "RENEWAL_EXTENDED")
  /// `RENEWAL_EXTENSION`: a mass extension of renewal dates finished, or failed for one.
  public static let renewalExtension = NotificationType(rawValue: "RENEWAL_EXTENSION")
  /// `REVOKE`: a purchase is no longer shared with the family.
  public static let revoke = NotificationType(rawValue: "REVOKE")
  /// `ONE_TIME_CHARGE`: something other than an auto-renewable subscription was bought.
  public static let oneTimeCharge = NotificationType(rawValue: "ONE_TIME_CHARGE")
  /// `EXTERNAL_PURCHASE_TOKEN`: a token of an external purchase.
  public static let externalPurchaseToken = NotificationType(rawValue: "EXTERNAL_PURCHASE_TOKEN")
  /// `TEST`: the test that the app asked for.
  public static let test = NotificationType(rawValue: "TEST")
  /// `RESCIND_CONSENT`: a guardian withdrew consent to the app.
  public static let rescindConsent = NotificationType(rawValue: "RESCIND_CONSENT")
  /// `METADATA_UPDATE`: an Advanced Commerce subscription got new texts.
  public static let metadataUpdate = NotificationType(rawValue: "METADATA_UPDATE")
  /// `MIGRATION`: a subscription moved to the Advanced Commerce API.
  public static let migration = NotificationType(rawValue: "MIGRATION")
  /// `PRICE_CHANGE`: an Advanced Commerce subscription got a new price.
  public static let priceChange = NotificationType(rawValue: "PRICE_CHANGE")
}

extension NotificationType: JSONEnumeration {}
