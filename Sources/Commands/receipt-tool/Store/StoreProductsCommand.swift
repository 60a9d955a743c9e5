// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import ReceiptCodec
import Storefront
import StorefrontSQLite

/// `receipt-tool store products`.
struct StoreProductsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "products",
    abstract: "Show products as a customer sees them, and which identifiers are invalid.",
    discussion: """
      EXAMPLES:
        receipt-tool store products --store shop
        receipt-tool store products --store shop com.example.pro no.such.product \\
          --locale de_DE

      EXIT CODES:
        0 all are valid; 1 some are not; 64 wrong command line; 66 no such store; 74
        the output cannot be written.
      """)

  @OptionGroup var options: StoreOptions
  @OptionGroup var output: JSONOption

  @Argument("The products to show. Default: all products of the store.", value: "id")
  var identifiers: [String] = []

  @Option("locale", "A language of the customer, best first. May be repeated.", value: "LOCALE")
  var locale: [String] = []

  func run() async throws {
    let invalid = try await OpenStore.with(options.folder) { open in
      let wanted =
        identifiers.isEmpty ? open.store.catalog.products.map(\.productIdentifier) : identifiers
      let response = try await open.store.session(account: options.account).products(
        for: Set(wanted), preferredLocales: locale.map { Locale(identifier: $0) })
      for product in response.products { try write(product) }
      for identifier in response.invalidProductIdentifiers.sorted() {
        if output.json {
          var object = JSONWriter(.storeInvalidProduct)
          object.member("productId", identifier)
          try writeLine(object)
        } else {
          try writeLine("\(identifier)  INVALID")
        }
      }
      return response.invalidProductIdentifiers
    }
    if !invalid.isEmpty { throw ToolExit.invalid }
  }

  private func write(_ product: Product) throws {
    if output.json {
      var object = JSONWriter(.storeProduct)
      object.member("productId", product.productIdentifier)
      object.member("productType", product.type.rawValue)
      object.member("displayName", product.localizedTitle)
      object.member("description", product.localizedDescription)
      object.member("price", Int64((product.price * 1000).description))
      object.member("currency", product.currency)
      object.member("displayPrice", product.localizedPrice)
      object.member("period", product.subscription?.period.description)
      try writeLine(object)
      return
    }
    var parts = [product.productIdentifier, product.localizedPrice]
    if let period = product.subscription?.period { parts[1] += " / \(period)" }
    parts += [product.localizedTitle, "(\(product.type.rawValue))"]
    try writeLine(parts.joined(separator: "  "))
  }
}
