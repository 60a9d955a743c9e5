// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront
import Testing

@Suite struct CatalogJSONTests {
  @Test func readsAllThatAFileCanHave() throws {
    let catalog = try CatalogSamples.catalog
    #expect(
      catalog.subscriptionGroups == [
        SubscriptionGroup(
          id: "news", referenceName: "News",
          localizations: [ProductLocalization(locale: "de", title: "Nachrichten")])
      ])
    let coins = try #require(catalog.product("com.example.coins"))
    #expect(coins.type == .consumable)
    #expect(coins.price == Decimal(string: "0.99"))
    #expect(coins.currency == "EUR")
    #expect(coins.localizations.map(\.title) == ["Coins", "Münzen"])
    #expect(coins.localizations.map(\.description) == ["A purse of coins", ""])
    #expect(coins.relatedProductIdentifiers == ["com.example.coins.phone"])
    #expect(coins.downloads.first?.sha256 == Array(0...31))
    #expect(coins.downloads.first?.contentLength == 1_048_576)
    #expect(!coins.isRestorable)
    let news = try #require(catalog.product("com.example.news.monthly"))
    #expect(news.isForSale && !news.isFamilyShareable && !news.isRestorable)
    let terms = try #require(news.subscription)
    #expect(terms.groupIdentifier == "news")
    #expect(terms.level == 2)
    #expect(terms.period == SubscriptionPeriod("P1M"))
    #expect(terms.offers.map(\.type) == [.introductory, .promotional, .offerCode, .winBack])
    #expect(terms.offers.map(\.identifier) == [nil, "back", "spring", "again"])
    #expect(terms.offers.map(\.paymentMode) == [.freeTrial, .payAsYouGo, .payUpFront, .freeTrial])
    #expect(terms.offers.map(\.periodCount) == [1, 3, 1, 1])
    #expect(terms.offers.map { $0.price.description } == ["0", "1.99", "19.999", "0"])
    #expect(terms.offers[2].codes == ["SPRING26", "SPRING27"])
    #expect(
      terms.offers.map(\.eligibility) == [
        [.new], [.new, .existing, .expired], [.new, .expired], [.new, .existing, .expired],
      ])
  }

  @Test func anEncodedCatalogueReadsBackEqual() throws {
    let catalog = try CatalogSamples.catalog
    let written = try catalog.encodedJSON()
    #expect(try ProductCatalog(json: written) == catalog)
    #expect(try ProductCatalog(json: written).encodedJSON() == written)
    #expect(try ProductCatalog(json: ProductCatalog().encodedJSON()) == ProductCatalog())
  }

  @Test func aCustomerNeverSeesTheCodesOfAnOffer() throws {
    let catalog = try CatalogSamples.catalog
    let offers = try #require(catalog.product("com.example.news.monthly")?.subscription?.offers)
    #expect(offers.contains { !$0.codes.isEmpty })
    let locale = Locale(identifier: "en_US")
    let response = catalog.response(
      for: ["com.example.news.monthly"], preferredLocales: [locale], storefrontLocale: locale)
    let shown = try #require(response.products.first?.subscription?.offers)
    #expect(shown.map(\.identifier) == offers.map(\.identifier))
    #expect(!shown.contains { !$0.codes.isEmpty })
  }

  @Test func nonConsumablesAreRestorableByDefault() throws {
    for (type, expected) in [
      ("Non-Consumable", true), ("Consumable", false), ("Non-Renewing Subscription", false),
    ] {
      let product = #"{"productIdentifier": "a", "type": "\#(type)", "price": "1", "currency": "USD"}"#
      #expect(try catalog(of: product).products.first?.isRestorable == expected)
    }
  }

  @Test(arguments: [
    ("0", "0"), ("0.0", "0"), ("4.99", "4.99"), ("4.990", "4.99"), ("4.9900000", "4.99"), ("12", "12"),
    ("1000", "1000"), ("0.001", "0.001"), ("0.010", "0.01"), ("999999999999.999", "999999999999.999"),
    ("100.10", "100.1"), ("0.1", "0.1"), ("0.3", "0.3"),
  ])
  func pricesAreExactDecimals(_ text: String, _ expected: String) throws {
    let product = #"{"productIdentifier": "a", "type": "Consumable", "price": "\#(text)", "currency": "USD"}"#
    let catalog = try catalog(of: product)
    #expect(catalog.products.first?.price.description == expected)
    #expect(try ProductCatalog(json: catalog.encodedJSON()) == catalog)
  }

  @Test(arguments: [
    "", ".", "1.", ".5", "1,99", "1e2", "+1", " 1", "1 ", "01", "00", "0x1", "NaN", "١", "1.2.3", "-1", "-0",
    "-0.00", "0.0001", "4.9901", "1000000000000", "999999999999.9999", "99999999999999999999999999999999",
    "--1",
    "-",
  ])
  func otherPricesAreRefused(_ text: String) throws {
    let product = #"{"productIdentifier": "a", "type": "Consumable", "price": "\#(text)", "currency": "USD"}"#
    let error = catalogError { () throws(CatalogError) in _ = try catalog(of: product) }
    #expect(error?.code == .invalidPrice)
    #expect(error?.path == "$.products[0].price")
  }

  @Test func pricesThatNoFileCanHaveAreRefused() throws {
    // The first one is 4.99 after a conversion through binary floating point.
    let finer = ["4.990000000000001024", "0.0005", "-1", "NaN", "1000000000000"]
    for price in finer.map({ Decimal(string: $0) ?? .nan }) {
      let catalog = ProductCatalog(products: [
        CatalogProduct(productIdentifier: "a", type: .consumable, price: price)
      ])
      let error = catalogError { () throws(CatalogError) in _ = try catalog.encodedJSON() }
      #expect(error?.code == .invalidPrice)
      #expect(error?.path == "$.products[0].price")
    }
  }

  private func catalog(of products: String) throws(CatalogError) -> ProductCatalog {
    try ProductCatalog(
      json: Array(#"{"format": "receiptkit-catalog", "version": 1, "products": [\#(products)]}"#.utf8))
  }
}
