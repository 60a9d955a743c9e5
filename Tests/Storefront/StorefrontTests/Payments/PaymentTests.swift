// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront
import Testing

@Suite struct PaymentTests {
  private let product = Product(
    productIdentifier: "coins", localizedTitle: "Coins", localizedDescription: "", price: 1,
    priceLocale: Locale(identifier: "en_US"), currency: "USD", type: .consumable)

  @Test("SKPayment : NSObject, NSCopying, NSMutableCopying")
  func copiesAreEqualAndMutableCopiesDoNotChangeThePayment() {
    let payment = Payment(productIdentifier: "coins")
    let copy = payment
    var mutable = MutablePayment(payment)
    mutable.quantity = 4
    #expect(copy == payment)
    #expect(payment.quantity == 1)
    #expect(Payment(mutable).quantity == 4)
  }

  @Test("SKPayment: productIdentifier (copy, readonly)")
  func keepsItsProductIdentifier() {
    var identifier = "coins"
    let payment = Payment(productIdentifier: identifier)
    identifier += "!"
    #expect(payment.productIdentifier == "coins")
  }

  @Test("SKPayment: quantity (readonly NSInteger)")
  func hasQuantityOneByDefault() { #expect(Payment(productIdentifier: "coins").quantity == 1) }

  @Test("SKPayment: +paymentWithProduct:")
  func takesTheProductsIdentifier() {
    #expect(Payment(product: product) == Payment(productIdentifier: "coins"))
    var mutable = MutablePayment(product: product)
    mutable.quantity = 2
    #expect(Payment(mutable).productIdentifier == "coins")
    #expect(Payment(mutable).quantity == 2)
  }

  @Test("SKPayment: +paymentWithProductIdentifier:")
  func hasNothingButTheIdentifier() {
    let payment = Payment(productIdentifier: "coins")
    #expect(payment.productIdentifier == "coins")
    #expect(payment.quantity == 1)
    #expect(payment.requestData == nil)
    #expect(payment.applicationUsername == nil)
    #expect(payment.offer == nil)
  }

  @Test("SKMutablePayment: productIdentifier, quantity, requestData (readwrite)")
  func mutablePaymentsAreWritable() {
    var mutable = MutablePayment(productIdentifier: "coins")
    mutable.productIdentifier = "gems"
    mutable.quantity = 3
    mutable.requestData = [1]
    let payment = Payment(mutable)
    #expect(payment.productIdentifier == "gems")
    #expect(payment.quantity == 3)
    #expect(payment.requestData == [1])
  }
}
