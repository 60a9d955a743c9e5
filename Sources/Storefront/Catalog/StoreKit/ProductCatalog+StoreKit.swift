// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension ProductCatalog {
  /// Reads the catalogue of an Xcode `.storekit` file.
  ///
  /// - Parameters:
  ///   - storeKitConfiguration: The whole file.
  ///   - limits: Bounds on its size.
  /// - Throws: ``CatalogError`` with the place of the first fault.
  public init(
    storeKitConfiguration: [UInt8], limits: ReceiptLimits = .standard
  ) throws(CatalogError) {
    try self.init(
      storeKitConfiguration: try StoreKitConfiguration(parsing: storeKitConfiguration, limits: limits))
  }

  /// The catalogue of an Xcode `.storekit` file.
  ///
  /// Prices are in the currency of its ``StoreKitConfiguration/storefront()``. A subscription has one introductory offer:
  /// that of `introductoryOffers` where there is one, else `introductoryOffer`; never both. An offer for monthly billing
  /// within a commitment is left out, since a store here bills a period at once. An offer by code is redeemed by its
  /// identifier, or by its reference name where it has none.
  ///
  /// - Parameter configuration: The file.
  /// - Throws: ``CatalogError`` with the place of the first fault.
  public init(storeKitConfiguration configuration: StoreKitConfiguration) throws(CatalogError) {
    var builder = StoreKitCatalogBuilder(currency: try configuration.storefront().currency)
    for (index, product) in (configuration.products ?? []).enumerated() {
      try builder.add(product, group: nil, at: "$.products[\(index)]")
    }
    for (index, product) in (configuration.nonRenewingSubscriptions ?? []).enumerated() {
      try builder.add(product, group: nil, at: "$.nonRenewingSubscriptions[\(index)]")
    }
    for (index, group) in (configuration.subscriptionGroups ?? []).enumerated() {
      let path = "$.subscriptionGroups[\(index)]"
      builder.add(group, at: path)
      for (index, subscription) in (group.subscriptions ?? []).enumerated() {
        try builder.add(subscription, group: group.id, at: "\(path).subscriptions[\(index)]")
      }
    }
    self = try builder.finish()
  }
}
