// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptVerification

/// A signed part of a response after verification. Only a client can make one.
public struct VerifiedPayload<Payload: Sendable & Hashable>: Sendable, Hashable {
  /// The content, exactly what the signature covers.
  public let payload: Payload
  /// What the verifier found: who signed it, and when.
  public let receipt: VerifiedReceipt
  /// The part as it came, a compact JWS: to be kept as proof.
  public let compact: String
}

/// A transaction and its renewal information, of one purchase.
public struct VerifiedPurchase: Sendable, Hashable {
  /// The transaction.
  public let transaction: VerifiedPayload<JWSTransaction>
  /// The renewal information of a subscription; it may be absent after a refund.
  public let renewalInfo: VerifiedPayload<JWSRenewalInfo>?
}

/// A notification and the attempts to deliver it.
public struct SentNotification: Sendable, Hashable {
  /// The notification; its signed parts are verified, too, and in `receipt.nested`.
  public let notification: VerifiedPayload<Notification>
  /// The attempts to deliver it. The App Store does not sign them.
  public let sendAttempts: [SendAttempt]
}
