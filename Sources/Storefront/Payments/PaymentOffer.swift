// SPDX-License-Identifier: Apache-2.0

/// An offer that a payment for an auto-renewable subscription redeems.
public enum PaymentOffer: Sendable, Hashable {
  /// A promotional offer (`SKPaymentDiscount`), which the developer signs.
  case promotional(PromotionalOfferRedemption)
  /// An offer code.
  case code(String)
  /// A win-back offer for a lapsed subscriber, by its identifier.
  case winBack(String)
}

/// A promotional offer and the developer's signature that allows it.
public struct PromotionalOfferRedemption: Sendable, Hashable {
  /// The identifier of the offer (`identifier`).
  public let identifier: String
  /// The identifier of the signing key (`keyIdentifier`).
  public let keyIdentifier: String
  /// A UUID for one use (`nonce`).
  public let nonce: String
  /// The signature: ECDSA on P-256 with SHA-256, in DER (`signature`).
  public let signature: [UInt8]
  /// The signing time, in milliseconds since 1970 (`timestamp`). The signature is valid for 24 hours.
  public let timestamp: Int64

  /// Creates one from its parts.
  public init(
    identifier: String, keyIdentifier: String, nonce: String, signature: [UInt8], timestamp: Int64
  ) {
    self.identifier = identifier
    self.keyIdentifier = keyIdentifier
    self.nonce = nonce
    self.signature = signature
    self.timestamp = timestamp
  }
}
