// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec
public import ReceiptCrypto

extension ProductCatalog {
  /// Reads the catalogue of an Xcode `.storekit` file.
  ///
  /// All prices have one currency: that of the settings' storefront. A subscription has one introductory offer: that of
  /// `introductoryOffers` where there is one, else `introductoryOffer`; never both. An offer for monthly billing within
  /// a commitment is left out, since a store here bills a period at once. An offer by code is redeemed by its
  /// identifier, or by its reference name where it has none.
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

  /// The public key of the promotional offers of an Xcode `.storekit` file, by its identifier, as
  /// ``SubscriptionEngine/Options/offerKeys`` takes it; none where the file has no key.
  ///
  /// - Parameters:
  ///   - storeKitConfiguration: The whole file.
  ///   - limits: Bounds on its size.
  /// - Returns: The keys.
  /// - Throws: ``CatalogError`` with the place of the first fault.
  public static func offerKeys(
    storeKitConfiguration: [UInt8], limits: ReceiptLimits = .standard
  ) throws(CatalogError) -> [String: PublicKey] {
    let file = try StoreKitConfiguration(parsing: storeKitConfiguration, limits: limits)
    guard let pair = file.subscriptionOffersKeyPair else { return [:] }
    return [pair.id: try pair.signingKey().publicKey]
  }

  init(storeKitConfiguration configuration: StoreKitConfiguration) throws(CatalogError) {
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
