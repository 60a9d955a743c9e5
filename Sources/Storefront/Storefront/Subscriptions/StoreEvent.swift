// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptSigning

extension StoreEvent {
  package var originalTransactionIdentifier: String { transaction.originalTransactionId ?? "" }
}

/// Signs events: the transaction, the renewal information, and the notification that contains them.
///
/// The same event gives the same payloads, byte for byte. Signatures differ, because ECDSA uses a random number.
package struct StoreEventSigner: Sendable {
  /// The app's identifier in notifications. Verifiers of production notifications may require it.
  package let appAppleId: Int64?
  private let signer: JWSSigner

  /// Creates a signer with a P-256 identity whose chain is leaf, intermediate, root.
  package init(identity: SigningIdentity, appAppleId: Int64? = nil) throws(SigningError) {
    self.signer = try JWSSigner(identity: identity)
    self.appAppleId = appAppleId
  }

  package func sign(_ event: StoreEvent) throws(SigningError) -> SignedStoreEvent {
    let transaction = try signer.sign(.transaction(event.transaction))
    let renewalInfo: String? =
      if let renewalInfo = event.renewalInfo { try signer.sign(.renewalInfo(renewalInfo)) } else { nil }
    let data = NotificationData().with {
      $0.environment = event.transaction.environment
      $0.appAppleId = appAppleId
      $0.bundleId = event.transaction.bundleId
      $0.signedTransactionInfo = transaction
      $0.signedRenewalInfo = renewalInfo
      $0.status = event.status
      $0.consumptionRequestReason = event.consumptionRequestReason
    }
    let notification = Notification().with {
      $0.notificationType = event.type
      $0.subtype = event.subtype
      $0.notificationUUID = event.uuid
      $0.version = "2.0"
      $0.signedDate = event.signedDate
      $0.data = data
    }
    return SignedStoreEvent(
      transaction: transaction, renewalInfo: renewalInfo,
      notification: try signer.sign(.notification(notification)))
  }

  /// Signs a notification that is not about one purchase.
  package func sign(_ notification: Notification) throws(SigningError) -> String {
    try signer.sign(.notification(notification))
  }

  /// Signs a transaction alone, as a compact JWS.
  package func sign(_ transaction: JWSTransaction) throws(SigningError) -> String {
    try signer.sign(.transaction(transaction))
  }
}
