// SPDX-License-Identifier: Apache-2.0

public import Entitlements
package import ReceiptCodec

extension DeveloperMessage {
  /// The purchase that the message is about.
  ///
  /// `nil` for a test, for a refund to be reviewed, and for an event that this version does not know.
  public var purchase: PlayEntitlement.ID? {
    purchaseToken.flatMap { PlayEntitlement.ID(packageName: packageName, purchaseToken: $0) }
  }

  private var purchaseToken: String? {
    notification.subscriptionNotification?.purchaseToken
      ?? notification.oneTimeProductNotification?.purchaseToken
      ?? notification.voidedPurchaseNotification?.purchaseToken
  }

  var isSubscription: Bool {
    notification.subscriptionNotification != nil
      || notification.voidedPurchaseNotification?.productType == .subscription
  }

  /// The kind of event: the name of the notification's member that is set. If this version does not know the event, it
  /// is the member's name on the wire.
  package var event: String {
    notification.events.first ?? notification.unknownFields.first { $0.value.object != nil }?.name ?? "none"
  }

  package var eventType: Int64? {
    notification.subscriptionNotification?.notificationType?.rawValue
      ?? notification.oneTimeProductNotification?.notificationType?.rawValue
  }

  package var eventTime: Timestamp? { notification.eventTime ?? publishTime }
}

extension DeveloperNotification {
  /// The names of the members that are set; a notification has one.
  var events: [String] {
    [
      ("subscriptionNotification", subscriptionNotification != nil),
      ("oneTimeProductNotification", oneTimeProductNotification != nil),
      ("voidedPurchaseNotification", voidedPurchaseNotification != nil),
      ("testNotification", testNotification != nil),
      ("pendingRefundReviewNotification", pendingRefundReviewNotification != nil),
    ].filter(\.1).map(\.0)
  }
}

extension DeveloperUpdate {
  /// The purchase concerned; `nil` if the message is about no purchase, or if Google Play does not know it.
  public var entitlement: PlayEntitlement? { message.purchase.flatMap { change[$0] } }
}
