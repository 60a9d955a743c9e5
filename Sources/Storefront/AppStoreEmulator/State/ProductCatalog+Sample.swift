// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec
internal import ReceiptTesting
public import Storefront

extension ProductCatalog {
  /// The products of the sample receipts: a consumable, a non-consumable, and a group with a monthly and a yearly
  /// subscription that families may share, each with a win-back offer, `come-back`, and a code, `GIFT`.
  public static let sample: ProductCatalog = {
    let name = SampleReceipts.bundleId
    return ProductCatalog(
      products: [
        CatalogProduct(productIdentifier: name + ".coins", type: .consumable, price: Decimal(0.99)),
        CatalogProduct(
          productIdentifier: name + ".pro", type: .nonConsumable, price: Decimal(19.99),
          isFamilyShareable: true),
        CatalogProduct(
          productIdentifier: name + ".pass", type: .nonRenewingSubscription, price: Decimal(4.99)),
        subscription(SampleReceipts.productId, Decimal(string: "9.99") ?? 0, .month, level: 2),
        subscription(name + ".yearly", Decimal(string: "99.99") ?? 0, .year, level: 1),
      ],
      subscriptionGroups: [SubscriptionGroup(id: "20600001", referenceName: "Plans")])
  }()

  private static func subscription(
    _ identifier: String, _ price: Decimal, _ unit: SubscriptionPeriod.Unit, level: Int
  ) -> CatalogProduct {
    var product = CatalogProduct(
      productIdentifier: identifier, type: .autoRenewableSubscription, price: price, isFamilyShareable: true)
    guard let period = SubscriptionPeriod(1, unit), let month = SubscriptionPeriod(1, .month) else {
      return product
    }
    product.subscription = SubscriptionTerms(
      groupIdentifier: "20600001", level: level, period: period,
      offers: [
        SubscriptionOffer(
          type: .winBack, identifier: "come-back", paymentMode: .payAsYouGo, period: month, price: price / 2),
        SubscriptionOffer(
          type: .offerCode, identifier: "gift", paymentMode: .freeTrial, period: month, codes: ["GIFT"]),
      ])
    return product
  }
}
