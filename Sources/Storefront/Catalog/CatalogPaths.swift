// SPDX-License-Identifier: Apache-2.0

/// The JSON paths of a catalogue's parts in the file that it came from, and the names of their members there, for
/// errors.
struct CatalogPaths {
  /// The names that a format gives to the members that are checked.
  struct Names {
    var productIdentifier = "productIdentifier"
    var price = "price"
    var level = "level"
    var groupIdentifier = "groupIdentifier"
    var groupID = "id"
    var offerIdentifier = "identifier"
    var offerPrice = "price"
    var paymentMode = "paymentMode"
    var periodCount = "periodCount"
  }

  /// The paths of one product.
  struct ProductPaths {
    var product: String
    var subscription: String
    var offers: [String] = []
  }

  var names = Names()
  var products: [ProductPaths] = []
  var groups: [String] = []
}

extension CatalogPaths {
  /// The paths in our own format.
  init(of catalog: ProductCatalog) {
    products = catalog.products.enumerated().map { index, product in
      let path = "$.products[\(index)]"
      let offers = product.subscription?.offers.indices.map { "\(path).subscription.offers[\($0)]" } ?? []
      return ProductPaths(product: path, subscription: "\(path).subscription", offers: offers)
    }
    groups = catalog.subscriptionGroups.indices.map { "$.subscriptionGroups[\($0)]" }
  }
}
