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
  public private(set) var transaction: JWSTransaction?
  /// The renewal information of the subscription concerned.
  public private(set) var renewalInfo: JWSRenewalInfo?
  package private(set) var appTransaction: AppTransaction?

  /// Creates a notification from a verified receipt; `nil` if the receipt is not a notification.
  public init?(_ receipt: VerifiedReceipt) {
    guard case .jws(.notification(let notification)) = receipt.content else { return nil }
    self.receipt = receipt
    self.notification = notification
    for part in receipt.nested {
      switch part.content {
      case .jws(.transaction(let payload)): transaction = payload
      case .jws(.renewalInfo(let payload)): renewalInfo = payload
      case .jws(.appTransaction(let payload)): appTransaction = payload
      default: break
      }
    }
  }

  /// The event; an unknown one keeps its spelling.
  public var type: NotificationType? { notification.notificationType }
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

  /// The key under which the processed notification is recorded.
  ///
  /// It is the `notificationUUID` in lower case, as Apple writes it. Without a usable UUID it is the digest of the
  /// signed content, because another signature over the same content does not make another notification.
  package var recordedKey: [UInt8] {
    guard let uuid = uuid?.rawValue, 1...64 ~= uuid.utf8.count else { return receipt.identity }
    return Array(uuid.lowercased().utf8)
  }
}
