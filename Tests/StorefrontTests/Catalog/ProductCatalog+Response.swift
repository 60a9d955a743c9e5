// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import Storefront

extension ProductCatalog {
  /// The response to a products request: the requested products that are for sale, in the catalogue's order, and the
  /// other identifiers, sorted.
  func response(
    for identifiers: Set<String>, preferredLocales: [Locale], storefrontLocale: Locale
  ) -> ProductsResponse {
    let found = products.filter { $0.isForSale && identifiers.contains($0.productIdentifier) }
    return ProductsResponse(
      products: found.map {
        $0.localized(preferredLocales: preferredLocales, storefrontLocale: storefrontLocale)
      },
      invalidProductIdentifiers: identifiers.subtracting(found.map(\.productIdentifier)).sorted())
  }
}
