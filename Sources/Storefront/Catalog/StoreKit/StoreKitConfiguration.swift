// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// An Xcode `.storekit` file, unchanged. Versions 1.1 to 6.3 are known. Other versions are read too, and unknown
/// members are kept.
public struct StoreKitConfiguration: Sendable, Hashable {
  /// The file's identifier.
  public var identifier: String
  /// The version of its format.
  public var version: StoreKitVersion
  /// Consumables and non-consumables.
  public var products: [StoreKitProduct]?
  /// Subscriptions that do not renew themselves.
  public var nonRenewingSubscriptions: [StoreKitProduct]?
  /// Groups of auto-renewable subscriptions.
  public var subscriptionGroups: [StoreKitSubscriptionGroup]?
  /// How StoreKit testing behaves.
  public var settings: StoreKitSettings?
  /// The key that signs promotional offers.
  public var subscriptionOffersKeyPair: StoreKitKeyPair?
  /// Licence and privacy policies; since version 4.
  public var appPolicies: StoreKitAppPolicies?
  /// Members that are no field of this type, in the order found; written back after the fields.
  public var unknownFields: [JSONMember]

  /// Creates one from its fields.
  public init(
    identifier: String, version: StoreKitVersion, products: [StoreKitProduct]? = nil,
    nonRenewingSubscriptions: [StoreKitProduct]? = nil,
    subscriptionGroups: [StoreKitSubscriptionGroup]? = nil, settings: StoreKitSettings? = nil,
    subscriptionOffersKeyPair: StoreKitKeyPair? = nil, appPolicies: StoreKitAppPolicies? = nil,
    unknownFields: [JSONMember] = []
  ) {
    self.identifier = identifier
    self.version = version
    self.products = products
    self.nonRenewingSubscriptions = nonRenewingSubscriptions
    self.subscriptionGroups = subscriptionGroups
    self.settings = settings
    self.subscriptionOffersKeyPair = subscriptionOffersKeyPair
    self.appPolicies = appPolicies
    self.unknownFields = unknownFields
  }
}

extension StoreKitConfiguration: JSONObject {
  package enum Field: String, CaseIterable {
    case identifier
    case version
    case products
    case nonRenewingSubscriptions
    case subscriptionGroups
    case settings
    case subscriptionOffersKeyPair
    case appPolicies
  }

  package static let fieldNames = JSONFieldNames<Field>(required: [.identifier, .version])

  package init() { self.init(identifier: "", version: StoreKitVersion()) }

  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
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
