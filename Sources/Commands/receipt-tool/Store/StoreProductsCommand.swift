// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import ReceiptCodec
import Storefront

extension StoreProductsCommand {
  func run() async throws {
    let invalid = try await OpenStore.with(options.folder) { open in
      let wanted =
        identifiers.isEmpty ? open.store.catalog.products.map(\.productIdentifier) : identifiers
      let response = try await open.store.session(account: options.account).products(
        for: Set(wanted), preferredLocales: locale.map { Locale(identifier: $0) })
      for product in response.products { try write(product) }
      for identifier in response.invalidProductIdentifiers.sorted() {
        try output.write(Output.StoreInvalidProduct(productId: identifier), "\(identifier)  INVALID")
      }
      return response.invalidProductIdentifiers
    }
    if !invalid.isEmpty { throw ExitCode.invalid }
  }

  private func write(_ product: Product) throws {
    let (title, price) = (product.localizedTitle, product.localizedPrice)
    let period = product.subscription?.period.description
    try output.write(
      Output.StoreProduct(
        productId: product.productIdentifier, productType: product.type.rawValue, displayName: title,
        description: product.localizedDescription, price: Int64((product.price * 1000).description),
        currency: product.currency, displayPrice: price, period: period),
      "\(product.productIdentifier)  \(price)\(period.map { " / \($0)" } ?? "")  \(title)  "
        + "(\(product.type.rawValue))")
  }
}
