// SPDX-License-Identifier: Apache-2.0
// Show what a catalogue sells, as a customer sees it: our own JSON, or an Xcode .storekit file.
// Usage: ShowProducts FILE [LANGUAGE [COUNTRY]], such as: ShowProducts Store.storekit de DEU

import Foundation
import Storefront

let arguments = Array(CommandLine.arguments.dropFirst())
guard let path = arguments.first else { fatalError("usage: ShowProducts FILE [LANGUAGE [COUNTRY]]") }
let language = Locale(identifier: arguments.count > 1 ? arguments[1] : "en_US")

// snippet.read
let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
let catalog =
  path.hasSuffix(".storekit")
  ? try ProductCatalog(storeKitConfiguration: bytes) : try ProductCatalog(json: bytes)
// snippet.end

// snippet.show
let country = arguments.count > 2 ? StorefrontRegion(countryCode: arguments[2]) : StorefrontRegion(language)
let response = catalog.response(
  for: Set(catalog.products.map(\.productIdentifier)), preferredLocales: [language],
  storefrontLocale: (country ?? .unitedStates).locale)
for product in response.products {
  print("\(product.productIdentifier)\t\(product.localizedTitle)\t\(product.localizedPrice)")
}
// snippet.end
