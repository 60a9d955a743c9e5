// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// A payment under construction (`SKMutablePayment`). A payment is a value, so a variable is mutable.
public typealias MutablePayment = Payment

extension Payment {
  /// Creates a payment for one unit of a product (`paymentWithProduct:`).
  public init(product: Product) { self.init(productIdentifier: product.productIdentifier) }

  /// Creates a copy of a payment (`mutableCopy`).
  public init(_ payment: Payment) { self = payment }
}

/// An offer that a payment for an auto-renewable subscription redeems.
public enum PaymentOffer: Sendable, Hashable {
  /// A promotional offer (`SKPaymentDiscount`), which the developer signs.
  case promotional(PromotionalOfferRedemption)
  /// An offer code.
  case code(String)
  /// A win-back offer for a lapsed subscriber, by its identifier.
  case winBack(String)
}

extension PaymentOffer: JSONFieldValue {
  package init(from json: inout JSONReader) throws(MalformedReceipt) {
    let members = try OfferMembers(from: &json)
    switch (members.promotional, members.code, members.winBack) {
    case (let offer?, nil, nil): self = .promotional(offer)
    case (nil, let code?, nil): self = .code(code)
    case (nil, nil, let identifier?): self = .winBack(identifier)
    default: throw json.fieldFailure(.invalidValue, "expected exactly one of promotional, code and winBack.")
    }
  }

  package func write(to json: inout JSONWriter) {
    switch self {
    case .promotional(let offer): OfferMembers(promotional: offer).write(to: &json)
    case .code(let code): OfferMembers(code: code).write(to: &json)
    case .winBack(let identifier): OfferMembers(winBack: identifier).write(to: &json)
    }
  }
}
