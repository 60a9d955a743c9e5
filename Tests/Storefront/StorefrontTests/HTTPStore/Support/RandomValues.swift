// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront

/// Random values of the store protocol, reproducible by a seed (SplitMix64).
struct RandomValues: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  mutating func text() -> String {
    let alphabet: [Character] = [
      "a", "Z", "0", "-", ".", " ", "\"", "\\", "/", "\n", "\u{1}", "ä", "日", "👩‍👩‍👧", "\u{301}", "\u{7F}", "{",
      ",",
    ]
    return String(
      (0..<Int.random(in: 0...12, using: &self)).map { _ in alphabet.randomElement(using: &self) ?? "a" })
  }

  mutating func bytes(_ range: ClosedRange<Int> = 0...40) -> [UInt8] {
    (0..<Int.random(in: range, using: &self)).map { _ in UInt8.random(in: 0...255, using: &self) }
  }

  mutating func maybe<Value>(_ value: (inout RandomValues) -> Value) -> Value? {
    Bool.random(using: &self) ? value(&self) : nil
  }

  mutating func array<Value>(_ value: (inout RandomValues) -> Value) -> [Value] {
    (0..<Int.random(in: 0...3, using: &self)).map { _ in value(&self) }
  }

  mutating func integer() -> Int {
    let interesting = [0, 1, -1, .max, .min, 1 << 53, (1 << 53) + 1]
    return maybe { interesting.randomElement(using: &$0) ?? 0 } ?? Int.random(in: -1000...1000, using: &self)
  }

  mutating func decimal() -> Decimal {
    let significand = Decimal(UInt64.random(in: 0...(.max), using: &self))
    let exponent = Int.random(in: -18...10, using: &self)
    return Decimal(
      sign: Bool.random(using: &self) ? .plus : .minus, exponent: exponent, significand: significand)
  }

  mutating func timestamp() -> Timestamp {
    Timestamp(millisecondsSince1970: Double(Int64.random(in: -(1 << 53)...(1 << 53), using: &self)))
  }

  mutating func locale() -> Locale {
    let identifiers = ["en_US", "de", "zh-Hans-CN", "de_DE@currency=CHF", "fr-CA", "sr_Latn_RS", "x"]
    return Locale(identifier: identifiers.randomElement(using: &self) ?? "en")
  }

  mutating func payment() -> Payment {
    var payment = MutablePayment(productIdentifier: text())
    payment.quantity = integer()
    payment.requestData = maybe { $0.bytes() }
    payment.applicationUsername = maybe { $0.text() }
    payment.offer = maybe { $0.offer() }
    return Payment(payment)
  }

  mutating func offer() -> PaymentOffer {
    switch Int.random(in: 0...2, using: &self) {
    case 0: .code(text())
    case 1: .winBack(text())
    default:
      .promotional(
        PromotionalOfferRedemption(
          identifier: text(), keyIdentifier: text(), nonce: text(), signature: bytes(),
          timestamp: Int64(integer())))
    }
  }

  mutating func content() -> DownloadableContent {
    DownloadableContent(
      contentIdentifier: text(), contentVersion: text(), url: text(), contentLength: Int64(integer()),
      sha256: bytes())
  }

  mutating func transaction() -> StoreTransaction {
    StoreTransaction(
      transactionIdentifier: text(), originalTransactionIdentifier: text(), transactionDate: timestamp(),
      payment: payment(), requestIdentifier: maybe { $0.text() }, receipt: bytes(0...300),
      downloads: array { $0.content() })
  }

  mutating func error() -> StoreError { StoreError(StoreError.Code(rawValue: integer()), text()) }

  mutating func outcome() -> PurchaseOutcome {
    switch Int.random(in: 0...2, using: &self) {
    case 0: .pending
    case 1: .failed(error())
    default: .purchased(transaction())
    }
  }

  mutating func period() -> SubscriptionPeriod {
    while true {
      let unit = SubscriptionPeriod.Unit.allCases.randomElement(using: &self) ?? .day
      if let period = SubscriptionPeriod(Int.random(in: 1...999, using: &self), unit) { return period }
    }
  }

  mutating func terms() -> SubscriptionTerms {
    SubscriptionTerms(
      groupIdentifier: text(), level: integer(), period: period(),
      offers: array { values in
        SubscriptionOffer(
          type: OfferType(rawValue: Int64(values.integer())), identifier: values.maybe { $0.text() },
          paymentMode: OfferDiscountType(rawValue: values.text()), period: values.period(),
          periodCount: values.integer(), price: values.decimal(),
          eligibility: Set(values.array { OfferEligibility(rawValue: $0.text()) }))
      })
  }

  mutating func product(_ identifier: String) -> Product {
    Product(
      productIdentifier: identifier, localizedTitle: text(), localizedDescription: text(), price: decimal(),
      priceLocale: locale(), currency: text(), type: ProductType(rawValue: text()),
      isFamilyShareable: Bool.random(using: &self), relatedProductIdentifiers: Set(array { $0.text() }),
      subscription: maybe { $0.terms() })
  }
}
