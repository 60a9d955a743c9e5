// SPDX-License-Identifier: Apache-2.0

/// A request to the store to process a purchase (`SKPayment`). It is immutable; to change one, make a
/// ``MutablePayment``.
///
/// The same payment may be added to a ``PaymentQueue`` repeatedly: each time is a request of its own.
public struct Payment: Sendable, Hashable {
  /// The product to buy, by the string agreed upon with the store (`productIdentifier`).
  public let productIdentifier: String
  /// How many to buy (`quantity`); 1 unless said otherwise. A queue refuses less than 1.
  public let quantity: Int
  /// Reserved (`requestData`); `nil`. Anything else is refused.
  public let requestData: [UInt8]?
  /// An opaque identifier of the user's account with the app (`applicationUsername`), such as a one-way hash of the
  /// name or a UUID; a UUID becomes the `appAccountToken` of the signed transaction. Never the name itself.
  public let applicationUsername: String?
  /// The offer to redeem with an auto-renewable subscription. Introductory offers need not be asked for.
  public let offer: PaymentOffer?

  /// A payment for one of a product, by its identifier (`paymentWithProductIdentifier:`).
  public init(productIdentifier: String) { self.init(MutablePayment(productIdentifier: productIdentifier)) }

  /// A payment for one of a product (`paymentWithProduct:`).
  public init(product: Product) { self.init(productIdentifier: product.productIdentifier) }

  /// The payment that a mutable one describes now. Later changes of that one do not reach it.
  public init(_ payment: MutablePayment) {
    productIdentifier = payment.productIdentifier
    quantity = payment.quantity
    requestData = payment.requestData
    applicationUsername = payment.applicationUsername
    offer = payment.offer
  }
}
