// SPDX-License-Identifier: Apache-2.0

/// A request to the store to process a purchase (`SKPayment`). It is immutable; to change one, make a
/// ``MutablePayment``.
///
/// The same payment may be added to a ``PaymentQueue`` repeatedly; each time makes a separate request.
public struct Payment: Sendable, Hashable {
  /// The identifier of the product to buy (`productIdentifier`).
  public let productIdentifier: String
  /// How many to buy (`quantity`); 1 by default. A queue refuses less than 1.
  public let quantity: Int
  /// Reserved (`requestData`); `nil`. Anything else is refused.
  public let requestData: [UInt8]?
  /// An opaque identifier of the user's account with the app (`applicationUsername`), such as a one-way hash of the
  /// name or a UUID; a UUID becomes the `appAccountToken` of the signed transaction. Never the name itself.
  public let applicationUsername: String?
  /// The offer to redeem with an auto-renewable subscription. Introductory offers are applied automatically.
  public let offer: PaymentOffer?

  /// A payment for one of a product, by its identifier (`paymentWithProductIdentifier:`).
  public init(productIdentifier: String) { self.init(MutablePayment(productIdentifier: productIdentifier)) }

  /// A payment for one of a product (`paymentWithProduct:`).
  public init(product: Product) { self.init(productIdentifier: product.productIdentifier) }

  /// An immutable copy of a mutable payment.
  public init(_ payment: MutablePayment) {
    productIdentifier = payment.productIdentifier
    quantity = payment.quantity
    requestData = payment.requestData
    applicationUsername = payment.applicationUsername
    offer = payment.offer
  }
}
