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

  init(payload: Payload, receipt: VerifiedReceipt, compact: String) {
    self.payload = payload
    self.receipt = receipt
    self.compact = compact
  }
}

/// A kind of payload that responses carry.
protocol SignedPayload: Sendable, Hashable {
  static var kind: ReceiptKind { get }
  init?(_ payload: JWSPayload)
}

extension JWSTransaction: SignedPayload {
  static var kind: ReceiptKind { .signedTransaction }

  init?(_ payload: JWSPayload) {
    guard case .transaction(let transaction) = payload else { return nil }
    self = transaction
  }
}

extension JWSRenewalInfo: SignedPayload {
  static var kind: ReceiptKind { .signedRenewalInfo }

  init?(_ payload: JWSPayload) {
    guard case .renewalInfo(let renewalInfo) = payload else { return nil }
    self = renewalInfo
  }
}

extension AppTransaction: SignedPayload {
  static var kind: ReceiptKind { .signedAppTransaction }

  init?(_ payload: JWSPayload) {
    guard case .appTransaction(let appTransaction) = payload else { return nil }
    self = appTransaction
  }
}

extension Notification: SignedPayload {
  static var kind: ReceiptKind { .signedNotification }

  init?(_ payload: JWSPayload) {
    guard case .notification(let notification) = payload else { return nil }
    self = notification
  }
}
