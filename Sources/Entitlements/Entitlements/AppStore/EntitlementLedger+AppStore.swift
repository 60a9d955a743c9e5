// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

extension EntitlementLedger {
  /// Applies a notification.
  ///
  /// - Returns: The original transaction concerned. It is `nil` for a notification about no transaction, such as
  ///   `TEST`, which changes at most ``rescindedConsents``.
  @discardableResult
  public mutating func apply(_ notification: AppStoreNotification) -> Entitlement.ID? {
    if let customer = RescindedConsent.Customer(notification) {
      consents.join(
        ConsentLine(
          fact: ConsentFact(signedDate: notification.signedDate, notificationUUID: notification.uuid)),
        to: customer)
    }
    guard
      let id = Entitlement.ID(
        environment: notification.environment?.category, bundleId: notification.bundleId,
        identifier: notification.transaction?.originalTransactionId
          ?? notification.renewalInfo?.originalTransactionId)
    else { return nil }
    purchases.join(
      PurchaseLine(
        notification.notification, transaction: notification.transaction,
        renewalInfo: notification.renewalInfo, signedDate: notification.signedDate), to: id)
    return id
  }

  /// Applies a transaction from the App Store Server API or from a device.
  ///
  /// - Parameters:
  ///   - transaction: A verified signed transaction, from the transaction history for example.
  ///   - renewalInfo: The verified signed renewal info that came with it.
  ///   - status: The status that came with it (Get All Subscription Statuses).
  /// - Returns: The original transaction concerned.
  /// - Throws: ``EntitlementError`` for receipts of other kinds, for renewal information of another purchase, and for a
  ///   transaction that does not state its app, environment and identifiers.
  @discardableResult
  public mutating func apply(
    transaction: VerifiedReceipt, renewalInfo: VerifiedReceipt? = nil, status: SubscriptionStatus? = nil
  ) throws(EntitlementError) -> Entitlement.ID {
    guard case .jws(.transaction(let payload)) = transaction.content else {
      throw EntitlementError(.wrongKind, "This is a \(transaction.kind.rawValue), not a signed transaction.")
    }
    guard
      let id = Entitlement.ID(
        environment: transaction.environment?.category, bundleId: transaction.bundleId,
        identifier: payload.originalTransactionId)
    else {
      throw EntitlementError(
        .incomplete, "The transaction does not state its app, environment and original transaction.")
    }
    var renewalPayload: JWSRenewalInfo?
    if let renewalInfo {
      guard case .jws(.renewalInfo(let payload)) = renewalInfo.content else {
        throw EntitlementError(.wrongKind, "This is a \(renewalInfo.kind.rawValue), not signed renewal info.")
      }
      guard FactOrder.isLower(payload.originalTransactionId, id.originalTransactionId) == nil,
        renewalInfo.environment?.category == id.environment
      else {
        throw EntitlementError(
          .differentPurchases, "Transaction and renewal info are of different purchases or environments.")
      }
      renewalPayload = payload
    }
    let signedDate = [transaction.signedAt, renewalInfo?.signedAt].compactMap(\.self).max()
    purchases.join(
      PurchaseLine(
        transaction: payload, renewalInfo: renewalPayload, status: status, signedDate: signedDate), to: id)
    return id
  }

  /// The entitlement of an original transaction; `nil` until one of its transactions is known.
  public subscript(id: Entitlement.ID) -> Entitlement? { purchases[id] }

  /// The entitlements of all original transactions, sorted by environment, app and identifier.
  public var entitlements: [Entitlement] { purchases.lines }

  /// The customers whose guardian withdrew consent to the app, sorted by environment, app and identifier.
  public var rescindedConsents: [RescindedConsent] { consents.lines }
}
