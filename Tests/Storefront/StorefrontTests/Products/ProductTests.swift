// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import FoundationInternationalization
import ReceiptCodec
import Storefront
import Testing

@Suite struct ProductTests {
  private func products(
    _ locale: String, storefront: String = "de_DE"
  ) async throws -> [Product] {
    let store = CatalogStore(
      try CatalogSamples.catalog, storefrontLocale: Locale(identifier: storefront))
    return try await ProductsRequest(
      productIdentifiers: ["com.example.coins", "com.example.news.monthly"], store: store,
      preferredLocales: [Locale(identifier: locale)]
    ).response().products
  }

  @Test("SKProduct") func isReturnedInAResponseAndKeptForPayments() async throws {
    // The request and the store have been released.
    let coins = try #require(try await products("en_US").first)
    let payment = Payment(product: coins)
    #expect(payment.productIdentifier == "com.example.coins")
    #expect(payment.quantity == 1)
  }

  @Test("SKProduct: localizedTitle, localizedDescription")
  func titleAndDescriptionAreInTheLocaleOfTheRequest() async throws {
    #expect(try await products("en_US").first?.localizedTitle == "Coins")
    #expect(try await products("en_US").first?.localizedDescription == "A purse of coins")
    #expect(try await products("de_AT").first?.localizedTitle == "Münzen")
    // The default language is the user's.
    let request = ProductsRequest(
      productIdentifiers: ["com.example.coins"], store: CatalogStore(try CatalogSamples.catalog))
    #expect(request.preferredLocales == [Locale.current])
  }

  @Test("SKProduct: price (NSDecimalNumber)") func priceIsADecimalInTheCurrencyOfTheStore() async throws {
    let products = try await products("en_US")
    #expect(products.map(\.price) == [Decimal(string: "0.99"), Decimal(string: "4.99")])
    #expect(products.map(\.currency) == ["EUR", "USD"])
    #expect(products.map(\.price).reduce(0, +) == Decimal(string: "5.98"))
  }

  @Test("SKProduct: priceLocale") func priceIsWrittenByTheStoresLocaleAndNeverConverted() async throws {
    // The user's locale is American, the store's is German.
    let product = try #require(try await products("en_US").first)
    #expect(product.priceLocale == Locale(identifier: "de_DE"))
    #expect(product.localizedPrice == "0,99\u{A0}€")
    #expect(product.price.formatted(.currency(code: "EUR").locale(product.priceLocale)) == "0,99\u{A0}€")
    // A customer who reads Japanese in the same store pays the same price, in the same format.
    let japanese = try #require(try await products("ja_JP").first)
    #expect(japanese.price == product.price)
    #expect(japanese.localizedPrice == product.localizedPrice)
    // A store of another country with the same catalogue does not convert it either.
    let american = try #require(try await products("en_US", storefront: "en_US").first)
    #expect(american.price == product.price)
    #expect(american.localizedPrice == "€0.99")
    #expect(american.priceLocale.currency?.identifier.uppercased() == "EUR")
  }

  @Test("SKProduct: productIdentifier") func hasTheStoresIdentifier() async throws {
    #expect(
      try await products("en_US").map(\.productIdentifier) == [
        "com.example.coins", "com.example.news.monthly",
      ])
    #expect(try await products("en_US").first?.id == "com.example.coins")
  }
}
