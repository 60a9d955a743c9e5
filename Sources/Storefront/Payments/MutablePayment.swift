// SPDX-License-Identifier: Apache-2.0

/// A payment under construction (`SKMutablePayment`): needed for a quantity above 1, a username or an offer.
///
/// Adding it to a queue adds a copy, a ``Payment``; later changes have no effect.
public struct MutablePayment: Sendable, Hashable {
  /// The identifier of the product to buy (`productIdentifier`).
  public var productIdentifier: String
  /// How many to buy (`quantity`), above 0.
  public var quantity: Int
  /// Reserved (`requestData`); leave it `nil`.
  public var requestData: [UInt8]?
  /// An opaque identifier of the user's account with the app (`applicationUsername`).
  public var applicationUsername: String?
  /// The offer to redeem with an auto-renewable subscription.
  public var offer: PaymentOffer?

  /// A payment for one of a product, by its identifier.
  public init(productIdentifier: String) {
    self.productIdentifier = productIdentifier
    self.quantity = 1
  }

  /// A payment for one of a product.
  public init(product: Product) { self.init(productIdentifier: product.productIdentifier) }

  /// A mutable copy of a payment (`mutableCopy`).
  public init(_ payment: Payment) {
    productIdentifier = payment.productIdentifier
    quantity = payment.quantity
    requestData = payment.requestData
    applicationUsername = payment.applicationUsername
    offer = payment.offer
  }
}
