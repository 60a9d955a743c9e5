// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// A notification of the App Store that was verified, and so was every signed part inside it.
public struct AppStoreNotification: Sendable, Hashable {
  /// What the verifier found.
  public let receipt: VerifiedReceipt
  /// The notification as it was signed; its signed parts are decoded in the members below.
  public let notification: Notification
  /// The purchase concerned; `nil` for a notification without one, such as `TEST`.
  public let transaction: JWSTransaction?
  /// What happens at the next renewal of the subscription concerned.
  public let renewalInfo: JWSRenewalInfo?
  /// The app's download concerned.
  public let appTransaction: AppTransaction?

  /// Takes a verified receipt; `nil` unless it is a notification.
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

  /// The event; unknown ones are kept as they are spelled.
  public var type: NotificationType? { notification.notificationType }
  /// More about the event.
  public var subtype: NotificationSubtype? { notification.subtype }
  /// The same for each attempt to deliver this notification, and different for any other.
  public var uuid: UUIDString? { notification.notificationUUID }
  /// When the App Store signed it; for early ones without a date, the latest date of its signed parts.
  public var signedDate: Timestamp? { receipt.signedAt }
  /// The store environment. Where the notification states none, that of its signed parts.
  public var environment: ReceiptEnvironment? {
    receipt.environment ?? receipt.nested.lazy.compactMap(\.environment).first
  }
  /// The app, by its bundle identifier. Where the notification states none, that of its signed parts.
  public var bundleId: String? { receipt.bundleId ?? receipt.nested.lazy.compactMap(\.bundleId).first }
  /// The app's identifier in the App Store.
  package var appAppleId: Int64? { receipt.appAppleId }
  /// State of the subscription when signed.
  package var status: SubscriptionStatus? { notification.data?.status }
  /// Why the customer asked for a refund.
  package var consumptionRequestReason: ConsumptionRequestReason? {
    notification.data?.consumptionRequestReason
  }
  /// The outcome of a mass extension of renewal dates.
  package var summary: NotificationSummary? { notification.summary }
  /// A token of an external purchase.
  package var externalPurchaseToken: ExternalPurchaseToken? { notification.externalPurchaseToken }

  /// What tells it from other notifications where those that were dealt with are recorded: the `notificationUUID`, which
  /// Apple writes in lower case; for a notification without one the digest of what is signed, since another signature of
  /// the same is no other notification.
  package var recordedKey: [UInt8] {
    guard let uuid = uuid?.rawValue, 1...64 ~= uuid.utf8.count else { return receipt.identity }
    return Array(uuid.lowercased().utf8)
  }

  /// Whether this one was signed before another. Of two signed in the same millisecond, the lower
  /// `notificationUUID` comes first; one without a date comes before all others.
  package func precedes(_ other: AppStoreNotification) -> Bool {
    if let isEarlier = FactOrder.isLower(signedDate, other.signedDate) { return isEarlier }
    return FactOrder.isLower(uuid?.rawValue, other.uuid?.rawValue) ?? false
  }
}

extension Sequence<AppStoreNotification> {
  /// In the order of signing, whatever the order of delivery was.
  package func inSigningOrder() -> [AppStoreNotification] { sorted { $0.precedes($1) } }
}
