// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// A verified notification of the App Store; every signed part inside it is verified too.
public struct AppStoreNotification: Sendable, Hashable {
  /// The verifier's result.
  public let receipt: VerifiedReceipt
  /// The notification as it was signed; its signed parts are decoded in the members below.
  public let notification: Notification
  /// The purchase concerned; `nil` for a notification without one, such as `TEST`.
  public let transaction: JWSTransaction?
  /// The renewal information of the subscription concerned.
  public let renewalInfo: JWSRenewalInfo?
  /// The app transaction concerned.
  package let appTransaction: AppTransaction?

  /// Creates a notification from a verified receipt; `nil` if the receipt is not a notification.
  public init?(_ receipt: VerifiedReceipt) {
    guard case .jws(.notification(let notification)) = receipt.content else { return nil }
    self.init(notification, receipt: receipt)
  }

  init(_ notification: Notification, receipt: VerifiedReceipt) {
    var transaction: JWSTransaction?
    var renewalInfo: JWSRenewalInfo?
    var appTransaction: AppTransaction?
    for part in receipt.nested {
      switch part.content {
      case .jws(.transaction(let payload)): transaction = payload
      case .jws(.renewalInfo(let payload)): renewalInfo = payload
      case .jws(.appTransaction(let payload)): appTransaction = payload
      default: break
      }
    }
    self.receipt = receipt
    self.notification = notification
    self.transaction = transaction
    self.renewalInfo = renewalInfo
    self.appTransaction = appTransaction
  }

  /// The event; an unknown one keeps its spelling.
  public var type: NotificationType? { notification.notificationType }
  /// The subtype of the event.
  package var subtype: NotificationSubtype? { notification.subtype }
  /// The identifier of the notification, the same for each attempt to deliver it.
  package var uuid: UUIDString? { notification.notificationUUID }
  /// The time at which the App Store signed it; for early notifications without a date, the latest date of the signed
  /// parts.
  package var signedDate: Timestamp? { receipt.signedAt }
  /// The store environment; if the notification states none, that of its signed parts.
  package var environment: ReceiptEnvironment? {
    receipt.environment ?? receipt.nested.lazy.compactMap(\.environment).first
  }
  /// The bundle identifier of the app; if the notification states none, that of its signed parts.
  package var bundleId: String? { receipt.bundleId ?? receipt.nested.lazy.compactMap(\.bundleId).first }
  /// The app's identifier in the App Store.
  package var appAppleId: Int64? { receipt.appAppleId }
  /// The status of the subscription at the time of signing.
  package var status: SubscriptionStatus? { notification.data?.status }
  /// The reason for which the customer requests a refund.
  package var consumptionRequestReason: ConsumptionRequestReason? {
    notification.data?.consumptionRequestReason
  }
  /// The outcome of a mass extension of renewal dates.
  package var summary: NotificationSummary? { notification.summary }
  /// A token of an external purchase.
  package var externalPurchaseToken: ExternalPurchaseToken? { notification.externalPurchaseToken }

  /// The key under which the processed notification is recorded.
  ///
  /// It is the `notificationUUID` in lower case, as Apple writes it. Without a usable UUID it is the digest of the
  /// signed content, because another signature over the same content does not make another notification.
  package var recordedKey: [UInt8] {
    guard let uuid = uuid?.rawValue, 1...64 ~= uuid.utf8.count else { return receipt.identity }
    return Array(uuid.lowercased().utf8)
  }

  /// Returns `true` if this notification was signed before another.
  ///
  /// Of two signed in the same millisecond, the one with the lower `notificationUUID` comes first. A notification
  /// without a date comes before all others.
  package func precedes(_ other: AppStoreNotification) -> Bool {
    if let isEarlier = FactOrder.isLower(signedDate, other.signedDate) { return isEarlier }
    return FactOrder.isLower(uuid?.rawValue, other.uuid?.rawValue) ?? false
  }
}

extension Sequence<AppStoreNotification> {
  /// Returns the notifications in the order of signing, regardless of the order of delivery.
  package func inSigningOrder() -> [AppStoreNotification] { sorted { $0.precedes($1) } }
}
