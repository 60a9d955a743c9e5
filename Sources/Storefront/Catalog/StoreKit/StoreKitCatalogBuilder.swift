// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec

/// Builds a catalogue from an Xcode `.storekit` file, and records the JSON path of each part.
struct StoreKitCatalogBuilder {
  private let currency: String
  private var catalog = ProductCatalog()
  private var paths = CatalogPaths(
    names: CatalogPaths.Names(
      productIdentifier: "productID", price: "displayPrice", level: "groupNumber",
      groupIdentifier: "subscriptionGroupID", offerIdentifier: "offerID", offerPrice: "displayPrice",
      periodCount: "numberOfPeriods"),
    products: [], groups: [])

  init(currency: String) { self.currency = currency }

  private static let types: [(name: String, type: ProductType)] = [
    ("Consumable", .consumable), ("NonConsumable", .nonConsumable),
    ("NonRenewingSubscription", .nonRenewingSubscription),
    ("RecurringSubscription", .autoRenewableSubscription),
  ]

  mutating func add(_ group: StoreKitSubscriptionGroup, at path: String) {
    catalog.subscriptionGroups.append(
      SubscriptionGroup(
        id: group.id, referenceName: group.name ?? "",
        localizations: Self.localizations(group.localizations)))
    paths.groups.append(path)
  }

  mutating func add(
    _ product: StoreKitProduct, group: String?, at path: String
  ) throws(CatalogError) {
    guard let type = Self.types.first(where: { $0.name == product.type })?.type else {
      throw CatalogError(
        .unknownType, at: "\(path).type",
        "There is no product type \"\(product.type)\"; the types are "
          + Self.types.map { "\"\($0.name)\"" }.joined(separator: ", ") + ".")
    }
    var result = CatalogProduct(
      productIdentifier: product.productID, type: type, referenceName: product.referenceName ?? "",
      price: try catalogPrice(product.displayPrice, at: "\(path).displayPrice"), currency: currency,
      localizations: Self.localizations(product.localizations),
      isFamilyShareable: product.familyShareable ?? false)
    var productPaths = CatalogPaths.ProductPaths(product: path, subscription: path, offers: [])
    if type == .autoRenewableSubscription {
      let offers = try StoreKitOfferReader(subscription: product, path: path).offers()
      productPaths.offers = offers.map(\.path)
      result.subscription = SubscriptionTerms(
        groupIdentifier: try groupIdentifier(of: product, in: group, at: path),
        level: catalogCount(product.groupNumber ?? 1), period: try period(of: product, at: path),
        offers: offers.map(\.offer))
    } else if group != nil {
      throw CatalogError(
        .unexpectedSubscription, at: "\(path).type", "Only a RecurringSubscription can be in a group.")
    }
    catalog.products.append(result)
    paths.products.append(productPaths)
  }

  func finish() throws(CatalogError) -> ProductCatalog {
    try CatalogChecker(catalog: catalog, paths: paths).check()
    return catalog
  }

  private func groupIdentifier(
    of product: StoreKitProduct, in group: String?, at path: String
  ) throws(CatalogError) -> String {
    let path = "\(path).subscriptionGroupID"
    guard let identifier = product.subscriptionGroupID ?? group else {
      throw CatalogError(.missing, at: path, "The subscription is in no group.")
    }
    guard group == nil || group == identifier else {
      throw CatalogError(
        .unknownGroup, at: path,
        "The subscription stands in another group than the \"\(identifier)\" it names.")
    }
    return identifier
  }

  private func period(
    of product: StoreKitProduct, at path: String
  ) throws(CatalogError) -> SubscriptionPeriod {
    let path = "\(path).recurringSubscriptionPeriod"
    guard let period = product.recurringSubscriptionPeriod else {
      throw CatalogError(.missing, at: path, "The subscription has no period.")
    }
    return try catalogPeriod(period, at: path)
  }

  private static func localizations(_ localizations: [StoreKitLocalization]?) -> [ProductLocalization] {
    (localizations ?? []).map {
      ProductLocalization(locale: $0.locale, title: $0.displayName ?? "", description: $0.description ?? "")
    }
  }
}
