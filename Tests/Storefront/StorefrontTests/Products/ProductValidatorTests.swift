// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront
import Testing

@Suite struct ProductValidatorTests {
  private let english = [Locale(identifier: "en_US")]

  private func list(_ identifiers: String...) throws -> ProductIdentifierList {
    try ProductIdentifierList(identifiers)
  }

  @Test("Product-list guide: Validate (validateProductIdentifiers:, displayStoreUI)")
  func theStoreIsAskedBeforeAnythingIsShown() async throws {
    let store = CatalogStore(try CatalogSamples.catalog)
    let list = try list("com.example.news.monthly", "com.example.gems", "com.example.coins")
    let log = Lines()
    let reports = Lines()
    // Production ignores invalid identifiers. They are logged and can be reported to the vendor's server.
    let production = ProductValidator(
      store: store, preferredLocales: english, report: { reports.log($0.identifiers.joined()) }, log: log.log)
    let products = try await production.validate(list)
    #expect(await store.questions == [Set(list.identifiers)])
    #expect(
      products.products.map(\.productIdentifier) == ["com.example.news.monthly", "com.example.coins"])
    #expect(products.invalidProductIdentifiers == ["com.example.gems"])
    let error = try #require(InvalidProductIdentifiers(products.invalidProductIdentifiers))
    #expect(error.identifiers == ["com.example.gems"])
    #expect(log.all == [error.description])
    #expect(reports.all == ["com.example.gems"])
    // Payments can only be made from the returned products.
    #expect(products.payment(for: "com.example.coins") == Payment(productIdentifier: "com.example.coins"))
    #expect(products.payment(for: "com.example.gems") == nil)
    #expect(products.product("com.example.coins")?.localizedTitle == "Coins")
    // In development the report shows the error.
    let shown = Lines()
    let development = ProductValidator(
      store: store, preferredLocales: english, report: { shown.log("\($0)") }, log: log.log)
    #expect(try await development.validate(list) == products)
    #expect(shown.all == [error.description])
    #expect(log.all.count == 2)
    // A valid list logs nothing.
    let good = try await development.validate(try self.list("com.example.coins"))
    #expect(good.invalidProductIdentifiers == [])
    #expect(shown.all.count == 1 && log.all.count == 2 && reports.all.count == 1)
  }

  @Test func withoutAnAnswerThereIsNothingToShow() async throws {
    let refusal = StoreError(.unknown, "down")
    let validator = ProductValidator(store: CatalogStore(try CatalogSamples.catalog, error: refusal))
    let list = try list("com.example.coins")
    await #expect(throws: refusal) { try await validator.validate(list) }
  }

  @Test("Product-list guide: Store UI") func productsAreShownOnlyToUsersWhoMayPay() async throws {
    let store = CatalogStore(try CatalogSamples.catalog, storefrontLocale: Locale(identifier: "de_DE"))
    let validator = ProductValidator(store: store, preferredLocales: english)
    let products = try await validator.validate(try list("com.example.news.monthly", "com.example.coins"))
    #expect(products.storeUI(canMakePayments: false) == .hidden(.paymentsNotAllowed))
    let nothing = try await validator.validate(try list("com.example.gems"))
    #expect(nothing.storeUI(canMakePayments: true) == .hidden(.noProducts))
    guard case .shown(let shown) = products.storeUI(canMakePayments: true) else {
      Issue.record("nothing is shown")
      return
    }
    // In the order of the list, with distinct titles and prices.
    #expect(shown == products.products)
    #expect(Set(shown.map(\.localizedTitle)).count == shown.count)
    #expect(shown.map(\.localizedPrice) == ["4,99\u{A0}$", "0,99\u{A0}€"])
  }

  @Test("Product-list guide: Testing") func thePromptNamesTheEnvironment() async throws {
    // A deliberately invalid identifier is reported as invalid, the others as valid.
    let store = CatalogStore(try CatalogSamples.catalog)
    let response = try await ProductsRequest(
      productIdentifiers: ["com.example.coins", "com.example.invalid.on.purpose"], store: store,
      preferredLocales: english
    ).response()
    #expect(response.products.map(\.productIdentifier) == ["com.example.coins"])
    #expect(response.invalidProductIdentifiers == ["com.example.invalid.on.purpose"])
    // The prompt names the environment, except in production.
    let coins = try #require(response.products.first)
    let prompt = PurchasePrompt(product: coins, environment: .sandbox)
    #expect(prompt.environmentNotice == "[Environment: Sandbox]")
    #expect(prompt.description.hasSuffix("\n[Environment: Sandbox]"))
    #expect(prompt.description.contains("Coins") && prompt.description.contains("€0.99"))
    #expect(
      PurchasePrompt(product: coins, environment: .productionSandbox).environmentNotice
        == prompt.environmentNotice)
    #expect(PurchasePrompt(product: coins, environment: .xcode).environmentNotice == "[Environment: Xcode]")
    let production = PurchasePrompt(product: coins, quantity: 3, environment: .production)
    #expect(production.environmentNotice == nil)
    #expect(!production.description.contains("Environment"))
    #expect(production.description.contains("3 × Coins"))
  }

  @Test("Product-list guide: No discovery") func noCallListsWhatIsSold() async throws {
    // Without identifiers there is no product, and with one identifier only that product, even if the store returns
    // more.
    let catalog = try CatalogSamples.catalog
    let all = catalog.response(
      for: Set(catalog.products.map(\.productIdentifier)), preferredLocales: english,
      storefrontLocale: english[0])
    let talkative = CatalogStore(catalog) { _ in all }
    let none = try await ProductsRequest(productIdentifiers: [], store: talkative).response()
    #expect(none == ProductsResponse(products: []))
    let one = try await ProductsRequest(productIdentifiers: ["com.example.coins"], store: talkative)
      .response()
    #expect(one.products.map(\.productIdentifier) == ["com.example.coins"])
    // A pattern is just an unknown identifier.
    for guess in ["*", "com.example.*", "com.example", "COM.EXAMPLE.COINS", "com.example.coins "] {
      let response = catalog.response(for: [guess], preferredLocales: english, storefrontLocale: english[0])
      #expect(response == ProductsResponse(products: [], invalidProductIdentifiers: [guess]))
    }
  }
}
