// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// An Xcode `.storekit` file, unchanged. Versions 1.1 to 6.3 are known. Other versions are read too, and unknown
/// members are kept.
struct StoreKitConfiguration: JSONObject, Sendable, Hashable {
  /// The file's identifier.
  var identifier = ""
  /// The version of its format.
  var version = StoreKitVersion()
  /// Consumables and non-consumables.
  var products: [StoreKitProduct]?
  /// Subscriptions that do not renew themselves.
  var nonRenewingSubscriptions: [StoreKitProduct]?
  /// Groups of auto-renewable subscriptions.
  var subscriptionGroups: [StoreKitSubscriptionGroup]?
  /// How StoreKit testing behaves.
  var settings: StoreKitSettings?
  /// The key that signs promotional offers.
  var subscriptionOffersKeyPair: StoreKitKeyPair?
  /// Licence and privacy policies; since version 4.
  var appPolicies: StoreKitAppPolicies?
  /// Members that are no field of this type, in the order found; written back after the fields.
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case identifier, version, products, nonRenewingSubscriptions, subscriptionGroups, settings,
      subscriptionOffersKeyPair, appPolicies
  }

  static let fieldNames = JSONFieldNames<Field>(required: [.identifier, .version])

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .identifier: try coder.code(&identifier)
    case .version: try coder.code(&version)
    case .products: try coder.code(&products)
    case .nonRenewingSubscriptions: try coder.code(&nonRenewingSubscriptions)
    case .subscriptionGroups: try coder.code(&subscriptionGroups)
    case .settings: try coder.code(&settings)
    case .subscriptionOffersKeyPair: try coder.code(&subscriptionOffersKeyPair)
    case .appPolicies: try coder.code(&appPolicies)
    }
  }
}

extension StoreKitConfiguration {
  /// Reads a file. Unknown members are kept; known ones must have the right type.
  ///
  /// - Parameters:
  ///   - json: The whole file.
  ///   - limits: Bounds on its size.
  /// - Throws: ``CatalogError`` with the place of the first fault.
  init(parsing json: [UInt8], limits: ReceiptLimits = .standard) throws(CatalogError) {
    do throws(MalformedReceipt) {
      try self.init(json: json, part: ".storekit file", limits: limits)
    } catch {
      throw CatalogError(error, in: json)
    }
    guard version.major >= 1, version.minor >= 0 else {
      throw CatalogError(
        .unsupportedVersion, at: "$.version",
        "There is no version \(version.major).\(version.minor) of .storekit files; they begin with 1.1.")
    }
  }

  /// The file, compact. Read back, it is equal to this one. Members that are `null` in a file are left out.
  func encoded() -> [UInt8] { encodedJSON() }

  /// The country of the store: the settings' storefront, else their locale's region, else the United States.
  ///
  /// - Throws: ``CatalogError`` where the settings name a storefront that does not exist.
  func storefront() throws(CatalogError) -> StorefrontRegion {
    if let code = settings?.storefront, !code.isEmpty {
      guard let region = StorefrontRegion(countryCode: code) else {
        throw CatalogError(
          .invalidValue, at: "$.settings._storefront",
          "There is no storefront \"\(code)\"; it is three capital letters of ISO 3166-1, such as \"USA\".")
      }
      return region
    }
    return settings?.locale.flatMap(StorefrontRegion.init(localeIdentifier:)) ?? .unitedStates
  }
}

extension StoreKitConfiguration: CustomStringConvertible, CustomReflectable {
  /// Identifier and version; no key.
  var description: String {
    "StoreKitConfiguration(\(identifier), \(version.major).\(version.minor))"
  }

  /// Identifier and version alone.
  var customMirror: Mirror {
    Mirror(self, children: ["identifier": identifier, "version": "\(version.major).\(version.minor)"])
  }
}
