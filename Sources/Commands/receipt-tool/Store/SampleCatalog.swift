// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront

/// The default catalogue of a new store.
enum SampleCatalog {
  static func json() throws -> [UInt8] {
    let group = SubscriptionGroup(id: "plans", referenceName: "Plans")
    let catalog = ProductCatalog(
      products: [
        product("com.example.coins", .consumable, "0.99", "100 coins"),
        product("com.example.pro", .nonConsumable, "9.99", "Pro features"),
        subscription("com.example.plan.monthly", "4.99", "Monthly plan", level: 2, .month),
        subscription("com.example.plan.yearly", "39.99", "Yearly plan", level: 1, .year),
      ], subscriptionGroups: [group])
    return try catalog.encodedJSON()
  }

  private static func product(
    _ identifier: String, _ type: ProductType, _ price: String, _ title: String
  ) -> CatalogProduct {
    CatalogProduct(
      productIdentifier: identifier, type: type, price: Decimal(string: price) ?? 0,
      localizations: [ProductLocalization(locale: "en_US", title: title)])
  }

  private static func subscription(
    _ identifier: String, _ price: String, _ title: String, level: Int, _ unit: SubscriptionPeriod.Unit
  ) -> CatalogProduct {
    var product = product(identifier, .autoRenewableSubscription, price, title)
    guard let period = SubscriptionPeriod(1, unit), let week = SubscriptionPeriod(1, .week) else {
      return product
    }
    product.subscription = SubscriptionTerms(
      groupIdentifier: "plans", level: level, period: period,
      offers: [SubscriptionOffer(type: .introductory, paymentMode: .freeTrial, period: week)])
    return product
  }
}
