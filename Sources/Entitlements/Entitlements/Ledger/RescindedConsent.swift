// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// A guardian's withdrawal of consent to a child's use of the app (`RESCIND_CONSENT`).
///
/// It concerns the customer and not a purchase. Entitlements do not change; the app decides how to react.
public struct RescindedConsent: Sendable, Hashable {
  let customer: Customer
  /// The time at which it was signed.
  public let signedDate: Timestamp?

  /// The environment: production, sandbox or a test environment.
  package var environment: ReceiptEnvironment.Category { customer.environment }
  /// The app.
  package var bundleId: String { customer.bundleId }
  /// The identifier of the customer's app transaction.
  public var appTransactionId: String { customer.appTransactionId }

  /// A customer of an app; identifiers of app transactions are unique within an app and environment.
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
  /// Creates the customer whose guardian withdrew consent; `nil` for other notifications.
  init?(_ notification: AppStoreNotification) {
    guard notification.type == .rescindConsent else { return nil }
    self.init(
      environment: notification.environment?.category, bundleId: notification.bundleId,
      appTransactionId: notification.appTransaction?.appTransactionId)
  }

  /// Creates a customer; `nil` if a value is missing or is not a valid identifier, which has one spelling and a limited
  /// length.
  init?(environment: ReceiptEnvironment.Category?, bundleId: String?, appTransactionId: String?) {
    guard let environment, let bundleId, let appTransactionId,
      Entitlement.ID.isIdentifier(bundleId), Entitlement.ID.isIdentifier(appTransactionId)
    else { return nil }
    (self.environment, self.bundleId, self.appTransactionId) = (environment, bundleId, appTransactionId)
  }
}
