// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// A ``Product`` as JSON.
struct WireProduct: WireForm {
  var productIdentifier = ""
  var localizedTitle = ""
  var localizedDescription = ""
  var price = WireDecimal.zero
  var priceLocale = WireLocale.unread
  var currency = ""
  var type = ProductType(rawValue: "")
  var isFamilyShareable: Bool?
  var relatedProductIdentifiers: [String]?
  var subscription: WireSubscriptionTerms?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case productIdentifier, localizedTitle, localizedDescription, price, priceLocale, currency, type,
      isFamilyShareable, relatedProductIdentifiers, subscription
  }
  static let fieldNames = JSONFieldNames<Field>(required: [
    .productIdentifier, .localizedTitle, .localizedDescription, .price, .priceLocale, .currency, .type,
  ])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .productIdentifier: try coder.code(&productIdentifier)
    case .localizedTitle: try coder.code(&localizedTitle)
    case .localizedDescription: try coder.code(&localizedDescription)
    case .price: try coder.code(&price)
    case .priceLocale: try coder.code(&priceLocale)
    case .currency: try coder.code(&currency)
    case .type: try coder.code(&type)
    case .isFamilyShareable: try coder.code(&isFamilyShareable)
    case .relatedProductIdentifiers: try coder.code(&relatedProductIdentifiers)
    case .subscription: try coder.code(&subscription)
    }
  }
}

extension WireProduct {
  init(_ value: Product) {
    productIdentifier = value.productIdentifier
    localizedTitle = value.localizedTitle
    localizedDescription = value.localizedDescription
    price = WireDecimal(value.price)
    priceLocale = WireLocale(value.priceLocale)
    currency = value.currency
    type = value.type
    isFamilyShareable = value.isFamilyShareable
    relatedProductIdentifiers =
      value.relatedProductIdentifiers.isEmpty ? nil : value.relatedProductIdentifiers.sorted()
    subscription = value.subscription.map { WireSubscriptionTerms($0) }
  }

  var value: Product {
    Product(
      productIdentifier: productIdentifier, localizedTitle: localizedTitle,
      localizedDescription: localizedDescription, price: price.decimal, priceLocale: priceLocale.locale,
      currency: currency, type: type, isFamilyShareable: isFamilyShareable ?? false,
      relatedProductIdentifiers: Set(relatedProductIdentifiers ?? []), subscription: subscription?.value)
  }
}
