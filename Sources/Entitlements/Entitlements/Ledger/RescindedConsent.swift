// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// That a guardian withdrew consent to a child's use of the app (`RESCIND_CONSENT`). It is about the customer and no
/// purchase: entitlements stay as they are, and what to do the app decides.
public struct RescindedConsent: Sendable, Hashable {
  let customer: Customer
  /// When it was signed.
  public let signedDate: Timestamp?

  /// Production, sandbox or a test environment.
  public var environment: ReceiptEnvironment.Category { customer.environment }
  /// The app.
  public var bundleId: String { customer.bundleId }
  /// The customer, by the app transaction.
  public var appTransactionId: String { customer.appTransactionId }

  /// A customer of an app: identifiers of app transactions are unique in one app and environment.
  struct Customer: Sendable, Hashable, Comparable {
    let environment: ReceiptEnvironment.Category
    let bundleId: String
    let appTransactionId: String

    static func < (left: Customer, right: Customer) -> Bool {
      FactOrder.isLower(left.environment.rawValue, right.environment.rawValue)
        ?? FactOrder.isLower(left.bundleId, right.bundleId)
        ?? FactOrder.isLower(identifier: left.appTransactionId, right.appTransactionId)
        ?? false
    }
  }
}

extension RescindedConsent.Customer {
  /// The customer whose guardian withdrew consent; `nil` for other notifications.
  init?(_ notification: AppStoreNotification) {
    guard notification.type == .rescindConsent else { return nil }
    self.init(
      environment: notification.environment?.category, bundleId: notification.bundleId,
      appTransactionId: notification.appTransaction?.appTransactionId)
  }

  /// `nil` unless all is stated, in identifiers of sensible length that have one spelling each.
  init?(environment: ReceiptEnvironment.Category?, bundleId: String?, appTransactionId: String?) {
    guard let environment, let bundleId, let appTransactionId,
      Entitlement.ID.isIdentifier(bundleId), Entitlement.ID.isIdentifier(appTransactionId)
    else { return nil }
    (self.environment, self.bundleId, self.appTransactionId) = (environment, bundleId, appTransactionId)
  }
}
