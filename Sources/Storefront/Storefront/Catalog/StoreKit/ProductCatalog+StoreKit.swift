// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptBytes
public import ReceiptCodec
public import ReceiptCrypto

extension ProductCatalog {
  /// Reads the catalogue of an Xcode `.storekit` file. The first fault is thrown, with its place in the file.
  ///
  /// All prices have one currency: that of the settings' storefront. A subscription has at most one introductory
  /// offer: that of `introductoryOffers` if there is one, else `introductoryOffer`. An offer for monthly billing
  /// within a commitment is left out, because a store here bills whole periods. An offer by code is redeemed by its
  /// identifier, or by its reference name if it has no identifier.
  public init(storeKitConfiguration: [UInt8], limits: ReceiptLimits = .standard) throws(CatalogError) {
    try self.init(
      storeKitConfiguration: try StoreKitConfiguration(parsing: storeKitConfiguration, limits: limits))
  }

  /// The public key of the promotional offers in an Xcode `.storekit` file, by its identifier, in the form of
  /// ``SubscriptionEngine/Options/offerKeys``. The result is empty if the file has no key.
  public static func offerKeys(
    storeKitConfiguration: [UInt8], limits: ReceiptLimits = .standard
  ) throws(CatalogError) -> [String: PublicKey] {
    let file = try StoreKitConfiguration(parsing: storeKitConfiguration, limits: limits)
    guard let pair = file.subscriptionOffersKeyPair else { return [:] }
    return [pair.id: try pair.signingKey().publicKey]
  }

  init(storeKitConfiguration configuration: StoreKitConfiguration) throws(CatalogError) {
    var reader = StoreKitReader(currency: try configuration.storefront().currency)
    for (index, product) in (configuration.products ?? []).enumerated() {
      try reader.add(product, group: nil, at: "$.products[\(index)]")
    }
    for (index, product) in (configuration.nonRenewingSubscriptions ?? []).enumerated() {
      try reader.add(product, group: nil, at: "$.nonRenewingSubscriptions[\(index)]")
    }
    for (index, group) in (configuration.subscriptionGroups ?? []).enumerated() {
      let path = "$.subscriptionGroups[\(index)]"
      reader.add(group, at: path)
      for (index, subscription) in (group.subscriptions ?? []).enumerated() {
        try reader.add(subscription, group: group.id, at: "\(path).subscriptions[\(index)]")
      }
    }
    do throws(CatalogError) { try reader.catalog.validate() } catch { throw reader.located(error) }
    self = reader.catalog
  }
}

/// Builds a catalogue from an Xcode `.storekit` file.
private struct StoreKitReader {
  let currency: String
  private(set) var catalog = ProductCatalog()
  /// The JSON paths in the file, by the corresponding paths in our own format.
  private var paths: [String: String] = [:]

  /// The names of members in the file, by their different names in our own format.
  private static let names = [
    "productIdentifier": "productID", "price": "displayPrice", "level": "groupNumber",
    "groupIdentifier": "subscriptionGroupID", "identifier": "offerID", "periodCount": "numberOfPeriods",
  ]
  private static let types: KeyValuePairs<String, ProductType> = [
    "Consumable": .consumable, "NonConsumable": .nonConsumable,
    "NonRenewingSubscription": .nonRenewingSubscription, "RecurringSubscription": .autoRenewableSubscription,
  ]
  private static let modes: KeyValuePairs<String, OfferDiscountType> = [
    "free": .freeTrial, "payAsYouGo": .payAsYouGo, "payUpFront": .payUpFront,
  ]

  init(currency: String) { self.currency = currency }

  /// A fault of the catalogue with its place in the file.
  func located(_ error: CatalogError) -> CatalogError {
    var part = error.place[...]
    var rest = ""
    while paths[String(part)] == nil, let point = part.lastIndex(of: ".") {
      let name = String(part[part.index(after: point)...])
      rest = ".\(Self.names[name] ?? name)\(rest)"
      part = part[..<point]
    }
    return CatalogError(error.code, at: (paths[String(part)] ?? String(part)) + rest, error.message)
  }

  mutating func add(_ group: StoreKitSubscriptionGroup, at path: String) {
    paths["$.subscriptionGroups[\(catalog.subscriptionGroups.count)]"] = path
    catalog.subscriptionGroups.append(
      SubscriptionGroup(
        id: group.id, referenceName: group.name ?? "",
        localizations: Self.localizations(group.localizations)))
  }

  mutating func add(_ product: StoreKitProduct, group: String?, at path: String) throws(CatalogError) {
    let type = try Self.known(product.type, "product type", among: Self.types, at: "\(path).type")
    var result = CatalogProduct(
      productIdentifier: product.productID, type: type, referenceName: product.referenceName ?? "",
      price: try PriceText.price(product.displayPrice, at: "\(path).displayPrice"), currency: currency,
      localizations: Self.localizations(product.localizations),
      isFamilyShareable: product.familyShareable ?? false)
    let own = "$.products[\(catalog.products.count)]"
    paths[own] = path
    paths["\(own).subscription"] = path
    if type == .autoRenewableSubscription {
      let offers = try Self.offers(of: product, at: path)
      for (index, offer) in offers.enumerated() {
        paths["\(own).subscription.offers[\(index)]"] = offer.path
      }
      let period = product.recurringSubscriptionPeriod
      result.subscription = SubscriptionTerms(
        groupIdentifier: try Self.groupIdentifier(of: product, in: group, at: path),
        level: Int(clamping: product.groupNumber ?? 1),
        period: try Self.period(period, at: "\(path).recurringSubscriptionPeriod"),
        offers: offers.map(\.offer))
    } else if group != nil {
      throw CatalogError(
        .unexpectedSubscription, at: "\(path).type", "Only a RecurringSubscription can be in a group.")
    }
    catalog.products.append(result)
  }

  private static func known<Value>(
    _ name: String, _ what: String, among known: KeyValuePairs<String, Value>, at path: String
  ) throws(CatalogError) -> Value {
    if let value = known.first(where: { $0.key == name })?.value { return value }
    throw CatalogError(
      .unknownType, at: path,
      "There is no \(what) \"\(name)\"; it is one of these: \(quoted(known.map(\.key)))")
  }

  private static func groupIdentifier(
    of product: StoreKitProduct, in group: String?, at path: String
  ) throws(CatalogError) -> String {
    let path = "\(path).subscriptionGroupID"
    guard let identifier = product.subscriptionGroupID ?? group else {
      throw CatalogError(.missing, at: path, "The subscription is in no group.")
    }
    try CatalogError.require(
      group == nil || group == identifier, .unknownGroup, at: path,
      "The subscription stands in another group than the \"\(identifier)\" it names.")
    return identifier
  }

  private static func period(_ text: String?, at path: String) throws(CatalogError) -> SubscriptionPeriod {
    guard let text else { throw CatalogError(.missing, at: path, "The subscription has no period.") }
    guard let period = SubscriptionPeriod(text) else {
      throw CatalogError(.invalidPeriod, at: path, SubscriptionPeriod.fault(text))
    }
    return period
  }

  private static func localizations(_ localizations: [StoreKitLocalization]?) -> [ProductLocalization] {
    (localizations ?? []).map {
      ProductLocalization(locale: $0.locale, title: $0.displayName ?? "", description: $0.description ?? "")
    }
  }

  // MARK: Offers

  private static func offers(
    of subscription: StoreKitProduct, at path: String
  ) throws(CatalogError) -> [(offer: SubscriptionOffer, path: String)] {
    let lists: [(name: String, type: OfferType, offers: [StoreKitOffer]?)] = [
      ("introductoryOffers", .introductory, subscription.introductoryOffers),
      ("adHocOffers", .promotional, subscription.adHocOffers),
      ("codeOffers", .offerCode, subscription.codeOffers),
      ("winbackOffers", .winBack, subscription.winbackOffers),
    ]
    var offers: [(SubscriptionOffer, String)] = []
    // Files since version 5 may have the same offer in both members.
    if (subscription.introductoryOffers ?? []).isEmpty, let offer = subscription.introductoryOffer {
      let path = "\(path).introductoryOffer"
      if let read = try self.offer(offer, .introductory, at: path) { offers.append((read, path)) }
    }
    for (name, type, list) in lists {
      for (index, offer) in (list ?? []).enumerated() {
        let path = "\(path).\(name)[\(index)]"
        if let read = try self.offer(offer, type, at: path) { offers.append((read, path)) }
      }
    }
    return offers
  }

  /// Reads an offer; `nil` for an offer with monthly billing, which is only checked, because a store here bills whole
  /// periods.
  private static func offer(
    _ offer: StoreKitOffer, _ type: OfferType, at path: String
  ) throws(CatalogError) -> SubscriptionOffer? {
    let mode = try known(offer.paymentMode, "payment mode", among: modes, at: "\(path).paymentMode")
    let period = try period(offer.subscriptionPeriod, at: "\(path).subscriptionPeriod")
    guard mode == .freeTrial || offer.displayPrice != nil else {
      throw CatalogError(.missing, at: "\(path).displayPrice", "An offer that is not free needs a price.")
    }
    let price = try PriceText.price(offer.displayPrice ?? "0", at: "\(path).displayPrice")
    if offer.billingPlanType?.lowercased() == BillingPlanType.monthly.rawValue.lowercased() { return nil }
    // Only offer codes may use their reference name as identifier.
    let identifier =
      type == .introductory ? nil : offer.offerID ?? (type == .offerCode ? offer.referenceName : nil)
    // A free offer costs nothing, but Xcode leaves old prices in the file.
    var result = SubscriptionOffer(
      type: type, identifier: identifier, paymentMode: mode, period: period,
      periodCount: Int(clamping: offer.numberOfPeriods ?? 1), price: mode == .freeTrial ? 0 : price)
    if type == .offerCode, let identifier { result.codes = [identifier] }
    if let eligibility = offer.eligibility {
      result.eligibility = Set(eligibility.map { OfferEligibility(rawValue: $0) })
    }
    return result
  }
}

extension StoreKitConfiguration {
  /// Reads a `.storekit` file. Unknown members are kept; known ones must have the right type.
  init(parsing json: [UInt8], limits: ReceiptLimits = .standard) throws(CatalogError) {
    do throws(MalformedReceipt) { try self.init(json: json, part: ".storekit file", limits: limits) } catch {
      throw CatalogError(error, in: json)
    }
    try CatalogError.require(
      version.major >= 1 && version.minor >= 0, .unsupportedVersion, at: "$.version",
      "There is no version \(version.major).\(version.minor) of .storekit files; they begin with 1.0.")
    try CatalogError.require(
      identifier != nil || version.major == 1 && version.minor == 0, .missing, at: "$.identifier",
      "A file of version \(version.major).\(version.minor) has an identifier; only those of version 1.0 have none."
    )
  }

  /// The country of the store: the settings' storefront, else their locale's region, else the United States.
  func storefront() throws(CatalogError) -> StorefrontRegion {
    guard let code = settings?.storefront, !code.isEmpty else {
      return settings?.locale.flatMap(StorefrontRegion.init(localeIdentifier:)) ?? .unitedStates
    }
    guard let region = StorefrontRegion(countryCode: code) else {
      throw CatalogError(
        .invalidValue, at: "$.settings._storefront",
        "There is no such storefront; it is three capital letters of ISO 3166-1, such as \"USA\".")
    }
    return region
  }
}

extension StoreKitConfiguration: CustomStringConvertible, CustomReflectable {
  /// The identifier and the version, without the key.
  var description: String { "StoreKitConfiguration(\(identifier ?? "-"), \(version.major).\(version.minor))" }

  var customMirror: Mirror {
    Mirror(self, children: ["identifier": identifier ?? "-", "version": "\(version.major).\(version.minor)"])
  }
}

extension StoreKitKeyPair: CustomStringConvertible, CustomReflectable {
  /// The private key that signs promotional offers: P-256, in PKCS#8 and base64.
  func signingKey() throws(CatalogError) -> PrivateKey {
    let path = "$.subscriptionOffersKeyPair.privateKey"
    let key: PrivateKey
    do {
      key = try PrivateKey(der: try Base64.decode(Array(privateKey.utf8), allowingWhitespace: true))
    } catch {
      throw CatalogError(.invalidValue, at: path, "The key is not PKCS#8 in base64: \(error)")
    }
    guard key.publicKey.kind == .p256 else {
      throw CatalogError(.invalidValue, at: path, "Promotional offers are signed by a key on P-256.")
    }
    return key
  }

  /// The key's identifier, without the key.
  var description: String { "StoreKitKeyPair(\(id))" }

  var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
