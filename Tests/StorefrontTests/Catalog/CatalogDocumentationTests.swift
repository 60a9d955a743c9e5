// SPDX-License-Identifier: Apache-2.0

import Foundation
import Storefront
import Testing

/// The readers accept the worked examples of the documentation.
@Suite struct CatalogDocumentationTests {
  private func example(_ language: String, in article: String) throws -> [UInt8] {
    let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
    let text = try String(
      contentsOf: root.appending(path: "Sources/Storefront/Storefront.docc/\(article).md"), encoding: .utf8)
    let example = try #require(text.components(separatedBy: "```\(language)\n").dropFirst().first)
    return Array(try #require(example.components(separatedBy: "```").first).utf8)
  }

  @Test func theCatalogueReads() throws {
    let catalog = try ProductCatalog(json: example("json", in: "Catalog"))
    let response = catalog.response(
      for: ["com.example.coins", "com.example.gems"], preferredLocales: [Locale(identifier: "de_AT")],
      storefrontLocale: Locale(identifier: "de_DE"))
    #expect(response.products.first?.localizedTitle == "Münzen")
    #expect(response.products.first?.localizedPrice == "0,99\u{A0}€")
    #expect(response.invalidProductIdentifiers == ["com.example.gems"])
    #expect(catalog.product("com.example.news.monthly")?.subscription?.offers.count == 2)
  }

  @Test func theListReads() throws {
    let list = try ProductIdentifierList(propertyList: example("xml", in: "ProductLists"))
    #expect(list.identifiers == ["com.example.coins", "com.example.brushes"])
  }
}
