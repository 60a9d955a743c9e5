// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
package import ReceiptSigning

/// A signed ``StoreEvent``.
package struct SignedStoreEvent: Sendable, Hashable {
  /// The signed transaction.
  package let transaction: String
  /// The signed renewal information; subscriptions only.
  package let renewalInfo: String?
  /// The signed notification that contains both: the `signedPayload` that is sent to a server.
  package let notification: String
}

/// Signs events: the transaction, the renewal information, and the notification that contains them.
///
/// The same event gives the same payloads, byte for byte. Signatures differ, because ECDSA uses a random number.
package struct StoreEventSigner: Sendable {
  /// The app's identifier in notifications. Verifiers of production notifications may require it.
  package let appAppleId: Int64?
  private let signer: JWSSigner

  /// Creates a signer.
  ///
  /// - Parameters:
  ///   - identity: A P-256 identity whose chain is leaf, intermediate, root.
  ///   - appAppleId: The app's identifier in notifications.
  /// - Throws: `SigningError` if the identity is unsuitable.
  package init(identity: SigningIdentity, appAppleId: Int64? = nil) throws(SigningError) {
    self.signer = try JWSSigner(identity: identity)
    self.appAppleId = appAppleId
  }

  /// Signs an event.
  ///
  /// - Returns: The signed parts and the notification.
  /// - Throws: `SigningError` with `crypto-failure`.
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

  /// Signs a transaction alone.
  ///
  /// - Returns: The compact JWS.
  /// - Throws: `SigningError` with `crypto-failure`.
  package func sign(_ transaction: JWSTransaction) throws(SigningError) -> String {
    try signer.sign(.transaction(transaction))
  }
}
