// SPDX-License-Identifier: Apache-2.0

public import Entitlements
public import ReceiptCodec

/// A message of Google Play that came with a verified token.
public struct DeveloperMessage: Sendable, Hashable {
  /// Identifies the message, however often it is delivered.
  public let messageId: String
  /// When it was published.
  public let publishTime: Timestamp?
  /// The app, one of those that the receiver accepts.
  public let packageName: String
  /// What it says. It is authentic, and tells that something changed; what, Google Play is asked.
  public let notification: DeveloperNotification
  /// The notification as it was published, in JSON.
  public let json: [UInt8]

  /// Which purchase it is about; `nil` for a test, a refund to be reviewed, or what this version does not know.
  public var purchase: PlayEntitlement.ID? {
    purchaseToken.flatMap { PlayEntitlement.ID(packageName: packageName, purchaseToken: $0) }
  }

  private var purchaseToken: String? {
    notification.subscriptionNotification?.purchaseToken
      ?? notification.oneTimeProductNotification?.purchaseToken
      ?? notification.voidedPurchaseNotification?.purchaseToken
  }

  /// Whether the purchase is of a subscription.
  var isSubscription: Bool {
    notification.subscriptionNotification != nil
      || notification.voidedPurchaseNotification?.productType == .subscription
  }

  /// The member of the notification that is set: what sort of event it is; of one that this version does not know, its
  /// name on the wire.
  public var event: String {
    if notification.subscriptionNotification != nil { return "subscriptionNotification" }
    if notification.oneTimeProductNotification != nil { return "oneTimeProductNotification" }
    if notification.voidedPurchaseNotification != nil { return "voidedPurchaseNotification" }
    if notification.testNotification != nil { return "testNotification" }
    if notification.pendingRefundReviewNotification != nil { return "pendingRefundReviewNotification" }
    return notification.unknownFields.first { $0.value.object != nil }?.name ?? "none"
  }

  /// The type of the event, where it has one.
  public var eventType: Int64? {
    notification.subscriptionNotification?.notificationType?.rawValue
      ?? notification.oneTimeProductNotification?.notificationType?.rawValue
  }

  /// When it happened.
  public var eventTime: Timestamp? { notification.eventTime ?? publishTime }
}

/// What came of a message: to be merged into a ledger, in the commit that records the message.
public struct DeveloperUpdate: Sendable, Hashable {
  /// The message.
  public let message: DeveloperMessage
  /// What was learned; empty for a message that is about no purchase.
  public let change: EntitlementLedger

  /// The purchase concerned; `nil` for a message that is about none, or one that Google Play does not know.
  public var entitlement: PlayEntitlement? { message.purchase.flatMap { change[$0] } }
}
