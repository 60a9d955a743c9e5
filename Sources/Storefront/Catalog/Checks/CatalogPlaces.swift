// SPDX-License-Identifier: Apache-2.0

/// Where the parts of a catalogue stand in the file that it came from, and what their members are called there: for
/// errors.
struct CatalogPlaces {
  /// What a format calls the members that are checked.
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

  /// Where one product is.
  struct Place {
    var product: String
    var subscription: String
    var offers: [String]
  }

  var names = Names()
  var products: [Place]
  var groups: [String]

  /// As our own format has them.
  init(of catalog: ProductCatalog) {
    products = catalog.products.enumerated().map { index, product in
      let path = "$.products[\(index)]"
      let offers = product.subscription?.offers.indices.map { "\(path).subscription.offers[\($0)]" } ?? []
      return Place(product: path, subscription: "\(path).subscription", offers: offers)
    }
    groups = catalog.subscriptionGroups.indices.map { "$.subscriptionGroups[\($0)]" }
  }

  init(names: Names, products: [Place], groups: [String]) {
    self.names = names
    self.products = products
    self.groups = groups
  }
}
