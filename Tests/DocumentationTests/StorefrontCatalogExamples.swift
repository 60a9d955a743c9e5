// SPDX-License-Identifier: Apache-2.0

import Foundation
import ReceiptCodec
import ReceiptHTTP
import ReceiptTesting
import ReceiptVerification
import Storefront
import Testing

/// Storefront: catalogues, and lists of products.
@Suite struct StorefrontCatalogExamples {
  private static let root = URL(filePath: #filePath).appending(path: "../../..").standardized

  /// The first block of a language in an article.
  private func block(_ language: String, of article: String) throws -> [UInt8] {
    let file = Self.root.appending(path: "Sources/Storefront/Storefront/Storefront.docc/\(article).md")
    let parts = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "```")
    return Array(try #require(parts.first { $0.hasPrefix(language + "\n") }).dropFirst(language.count).utf8)
  }

  @Test func aCatalogueOfOurFormat() throws {
    let bytes = try block("json", of: "Catalog")

    let catalog = try ProductCatalog(json: bytes)
    let response = catalog.response(
      for: ["com.example.coins", "com.example.gems"], preferredLocales: [Locale(identifier: "de_AT")],
      storefrontLocale: Locale(identifier: "de_DE"))
    print(response.products[0].localizedTitle)  // Münzen
    print(response.products[0].localizedPrice)  // 0,99 €
    print(response.invalidProductIdentifiers)  // ["com.example.gems"]

    #expect(response.products.map(\.localizedTitle) == ["Münzen"])
    #expect(response.products.map(\.localizedPrice) == ["0,99\u{A0}€"])
    #expect(response.invalidProductIdentifiers == ["com.example.gems"])
    #expect(catalog.product("com.example.news.monthly")?.subscription?.offers.count == 2)
  }

  @Test func aFileOfXcode() throws {
    let file = Self.root.appending(path: "Tests/Storefront/StorefrontTests/Catalog/Fixtures/6.3.storekit")
    let bytes = [UInt8](try Data(contentsOf: file))

    let catalog = try ProductCatalog(storeKitConfiguration: bytes)
    let engine = SubscriptionEngine.Options(
      bundleIdentifier: "com.example.app",
      offerKeys: try ProductCatalog.offerKeys(storeKitConfiguration: bytes))

    #expect(!catalog.products.isEmpty)
    #expect(engine.bundleIdentifier == "com.example.app")
  }

  @Test func aListInAResource() throws {
    let folder = try ScratchFolder()
    try Data(block("xml", of: "ProductLists")).write(to: folder.url.appending(path: "product_ids.plist"))
    let resources = folder.url

    let list = try ProductIdentifierList(in: resources)

    #expect(list.identifiers == ["com.example.coins", "com.example.brushes"])
  }

  @Test func aListOnAServer() async throws {
    let transport = AnsweringTransport { request in
      RemoteResponse(
        status: request.url.description == "https://example.com/store/products_v2.json" ? 200 : 404,
        body: Array(#"["com.example.coins", "com.example.brushes"]"#.utf8))
    }
    let folder = try ScratchFolder()
    let cacheFile = folder.url.appending(path: "products.cache")

    let source = ProductIdentifierSource(
      transport: transport, base: try RemoteURL("https://example.com/store"), formatVersion: 2,
      cacheFile: cacheFile)
    let result = try await source.load()

    let shop = try StorefrontShop.open([
      CatalogProduct(productIdentifier: "com.example.coins", type: .consumable, price: 1)
    ])
    let store = shop.session(account: "alice")
    let queue = try PaymentQueue(store: store, storage: MemoryRecordStorage())
    var shown: [String] = []
    func show(_ title: String, _ price: String) { shown.append(price) }
    func hideTheShop() { shown.append("nothing") }

    let validator = ProductValidator(store: store, log: { print($0) })
    let products = try await validator.validate(result.list)
    switch products.storeUI(canMakePayments: queue.canMakePayments) {
    case .shown(let products):
      for product in products { show(product.localizedTitle, product.localizedPrice) }
    case .hidden:
      hideTheShop()
    }
    let payment = products.payment(for: "com.example.coins")

    #expect(shown == ["$1.00"])
    #expect(payment?.productIdentifier == "com.example.coins")
    #expect(products.payment(for: "com.example.brushes") == nil)
  }
}

/// A store that sells what an example needs.
enum StorefrontShop {
  static func open(_ products: [CatalogProduct]) throws -> LocalStore {
    try LocalStore(
      catalog: ProductCatalog(products: products), identity: TestAuthority.es256().identity,
      storage: MemoryRecordStorage(), options: LocalStore.Options(bundleIdentifier: SampleReceipts.bundleId),
      clock: { SystemClock.now() })
  }
}
