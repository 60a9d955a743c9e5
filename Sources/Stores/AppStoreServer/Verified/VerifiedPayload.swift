// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// A verified signed part of a response; only a client can create one.
public struct VerifiedPayload<Payload: Sendable & Hashable>: Sendable, Hashable {
  /// The content, exactly as the signature covers it.
  public let payload: Payload
  /// The verifier's result, with the signer and the signing time.
  public let receipt: VerifiedReceipt
  /// The part as received, a compact JWS; store it as proof.
  package let compact: String
}

/// The transaction and the renewal information of one purchase.
public struct VerifiedPurchase: Sendable, Hashable {
  /// The transaction.
  public let transaction: VerifiedPayload<JWSTransaction>
  /// The renewal information of a subscription; it may be absent after a refund.
  public let renewalInfo: VerifiedPayload<JWSRenewalInfo>?
}

/// A notification and the attempts to deliver it.
public struct SentNotification: Sendable, Hashable {
  /// The notification; its signed parts are verified too, and are in `receipt.nested`.
  public let notification: VerifiedPayload<Notification>
  /// The attempts to deliver it; the App Store does not sign them.
  public let sendAttempts: [SendAttempt]
}
