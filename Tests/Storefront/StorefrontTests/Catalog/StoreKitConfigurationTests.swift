// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import ReceiptCrypto
@testable import Storefront
import Testing

@Suite struct StoreKitConfigurationTests {
  private let coins = "com.example.coins"
  private let monthly = "com.example.news.monthly"
  private let yearly = "com.example.news.yearly"

  @Test(arguments: StoreKitFixtures.versions) func everyVersionLoads(_ version: String) throws {
    let configuration = try StoreKitFixtures.configuration(version)
    #expect("\(configuration.version.major).\(configuration.version.minor)" == version)
    let catalog = try ProductCatalog(storeKitConfiguration: configuration)
    let coins = try #require(catalog.product(coins))
    #expect(coins.type == .consumable)
    #expect(coins.price == Decimal(string: "0.99"))
    #expect(coins.referenceName == "Coins")
    #expect(
      coins.localizations == [
        ProductLocalization(locale: "en_US", title: "Coins", description: "A purse of coins")
      ])
    let brushes = try #require(catalog.product("com.example.brushes"))
    #expect(brushes.type == .nonConsumable && brushes.isFamilyShareable && brushes.isRestorable)
    #expect(catalog.subscriptionGroups == [SubscriptionGroup(id: "21D30B00", referenceName: "News")])
    let terms = try #require(catalog.product(monthly)?.subscription)
    #expect(terms.groupIdentifier == "21D30B00")
    #expect(terms.period == SubscriptionPeriod("P1M"))
    #expect(catalog.product(monthly)?.type == .autoRenewableSubscription)
    #expect((catalog.product("com.example.season") == nil) == (version == "1.1"))
    // The catalogue can be written in our own format.
    #expect(try ProductCatalog(json: catalog.encodedJSON()) == catalog)
    // Known and unknown members are kept.
    #expect(try StoreKitConfiguration(parsing: configuration.encodedJSON()) == configuration)
    let expected = Self.withoutNull(try StoreKitFixtures.document(version))
    #expect(Self.sorted(try JSONValue(parsing: configuration.encodedJSON())) == Self.sorted(expected))
  }

  @Test func filesOfVersionOneZeroHaveNoIdentifier() throws {
    let document = try StoreKitFixtures.document("1.1")
    let path = JSONEdit.steps("$.identifier")
    let unnamed = JSONEdit.replacing(document, at: path, with: nil)
    let oldest = JSONEdit.replacing(unnamed, at: JSONEdit.steps("$.version.minor"), with: .integer(0))
    #expect(
      try ProductCatalog(storeKitConfiguration: oldest.encoded())
        == ProductCatalog(storeKitConfiguration: document.encoded()))
    let configuration = try StoreKitConfiguration(parsing: oldest.encoded())
    #expect(configuration.description == "StoreKitConfiguration(-, 1.0)")
    // The error about a later file says which version it is.
    let error = catalogError { () throws(CatalogError) in
      _ = try ProductCatalog(storeKitConfiguration: unnamed.encoded())
    }
    #expect(error?.code == .missing && error?.path == "$.identifier")
    #expect(error?.message.contains("version 1.1") == true)
  }

  @Test func errorsQuoteNoPrivateText() throws {
    let secret = "SECRET0TEXT"
    let document = try StoreKitFixtures.document("4.0")
    let settings = [
      "$.settings._storefront", "$.settings._timeRate", "$.settings._askToBuyEnabled",
      "$.settings._lastSynchronizedDate", "$.settings._storeKitErrors", "$.settings",
      "$.subscriptionOffersKeyPair",
      "$.subscriptionOffersKeyPair.privateKey",
    ]
    for path in settings {
      let bytes = JSONEdit.replacing(document, at: JSONEdit.steps(path), with: .string(secret)).encoded()
      let error = catalogError { () throws(CatalogError) in
        _ = try ProductCatalog(storeKitConfiguration: bytes)
        _ = try ProductCatalog.offerKeys(storeKitConfiguration: bytes)
      }
      let text = try #require(error, "\(path)").description
      #expect(!text.contains(secret), "\(path): \(text)")
    }
  }

  @Test func oldFilesHaveNoNumberOfPeriods() throws {
    let offers = try #require(StoreKitFixtures.catalog("1.1").product(monthly)?.subscription?.offers)
    #expect(
      offers == [
        SubscriptionOffer(
          type: .introductory, paymentMode: .freeTrial, period: try #require(SubscriptionPeriod("P1W")))
      ])
  }

  @Test func offersAreOfAllTypes() throws {
    let subscription = try #require(StoreKitFixtures.catalog("4.0").product(monthly)?.subscription)
    let offers = subscription.offers
    #expect(subscription.level == 2)
    #expect(offers.map(\.type) == [.introductory, .promotional, .offerCode, .winBack])
    #expect(offers.map(\.identifier) == [nil, "back", "spring", "again"])
    #expect(offers.map(\.paymentMode) == [.freeTrial, .payAsYouGo, .payUpFront, .freeTrial])
    #expect(offers.map(\.period.description) == ["P1W", "P1M", "P6M", "P3D"])
    #expect(offers.map(\.periodCount) == [1, 3, 1, 1])
    #expect(offers.map(\.price.description) == ["0", "1.99", "9.99", "0"])
    #expect(offers.map(\.codes) == [[], [], ["spring"], []])
    #expect(offers[2].eligibility == [.new, .expired])
    let code = try StoreKitFixtures.configuration("4.0").subscriptionGroups?[0].subscriptions?[0].codeOffers?[
      0]
    #expect(code?.isStackable == true)
  }

  @Test func aNewIntroductoryOfferIsNotAppliedTwice() throws {
    let catalog = try StoreKitFixtures.catalog("5.0")
    // The new member counts; the old one differs.
    let monthly = try #require(catalog.product(monthly)?.subscription)
    #expect(monthly.offers.filter { $0.type == .introductory }.map(\.price.description) == ["0.99"])
    #expect(monthly.offers.first?.periodCount == 2)
    // Offers for monthly billing are ignored: a store here bills a whole period at once.
    let yearly = try #require(catalog.product(yearly)?.subscription)
    #expect(yearly.offers.map(\.price.description) == ["29.99"])
    // If the new member is empty, the old one counts.
    let newest = try #require(StoreKitFixtures.catalog("6.3").product(self.monthly)?.subscription)
    #expect(newest.offers.filter { $0.type == .introductory }.map(\.paymentMode) == [.freeTrial])
    let configuration = try StoreKitFixtures.configuration("5.0")
    let plans = try #require(configuration.subscriptionGroups?[0].subscriptions?[1].billingPlans)
    #expect(plans.map(\.billingPlanType) == ["BILLED_UPFRONT", "MONTHLY"])
    #expect(plans[1].commitmentDisplayPrice == "59.88")
  }

  @Test(arguments: [
    ("1.1", "USD"), ("1.2", "USD"), ("2.0", "EUR"), ("3.0", "CAD"), ("4.0", "JPY"), ("5.0", "USD"),
    ("6.3", "GBP"),
  ])
  func theCurrencyIsOfTheStorefrontOrTheLocale(_ version: String, _ currency: String) throws {
    let products = try StoreKitFixtures.catalog(version).products
    #expect(products.allSatisfy { $0.currency == currency })
  }

  @Test func settingsAreRead() throws {
    let first = try StoreKitFixtures.configuration("1.2").settings
    #expect(first?.failTransactionsEnabled == true)
    #expect(first?.storeKitError == 3)
    let second = try StoreKitFixtures.configuration("2.0").settings
    #expect(second?.askToBuyEnabled == true)
    #expect(second?.billingGracePeriodEnabled == true)
    #expect(second?.locale == "de_DE")
    #expect(second?.storefront == "DEU")
    #expect(second?.timeRate == 6)
    let third = try StoreKitFixtures.configuration("3.0").settings
    #expect(third?.failTransactionsEnabled == false)
    #expect(third?.billingIssuesEnabled == true)
    #expect(third?.renewalBillingIssuesEnabled == true)
    #expect(third?.disableDialogs == true)
    #expect(third?.compatibilityTimeRate?["3"]?.int64 == 6)
    #expect(third?.applicationInternalID == "1234567890")
    #expect(third?.developerTeamID == "A1B2C3D4E5")
    #expect(third?.lastSynchronizedDate == 745_869_123.456789)
    #expect(third?.storeKitErrors?.map(\.name) == ["Load Products", "Purchase"])
    #expect(third?.storeKitErrors?.map(\.enabled) == [false, true])
    #expect(try StoreKitFixtures.configuration("1.1").settings == nil)
    #expect(try StoreKitFixtures.configuration("5.0").settings == StoreKitSettings())
  }

  @Test func policiesAndNewMembersAreKept() throws {
    let configuration = try StoreKitFixtures.configuration("6.3")
    #expect(configuration.appPolicies?.eula == "Be nice.")
    #expect(configuration.appPolicies?.policies?.first?.policyURL == "https://example.com/privacy")
    #expect(
      configuration.unknownFields == [
        JSONMember(name: "subscriptionBundleGroups", value: .array([])),
        JSONMember(name: "subscriptionSuiteGroups", value: .array([])),
      ])
    let subscription = configuration.subscriptionGroups?[0].subscriptions?[0]
    #expect(subscription?.unknownFields.map(\.name) == ["somethingNew"])
  }

  @Test func theKeyOfPromotionalOffersSignsAndIsNotShown() throws {
    let configuration = try StoreKitFixtures.configuration("2.0")
    let pair = try #require(configuration.subscriptionOffersKeyPair)
    #expect(pair.id == "0A1B2C3D")
    #expect(try pair.signingKey().publicKey.kind == .p256)
    let keys = try ProductCatalog.offerKeys(storeKitConfiguration: StoreKitFixtures.bytes("2.0"))
    #expect(keys == [pair.id: try pair.signingKey().publicKey])
    #expect(try ProductCatalog.offerKeys(storeKitConfiguration: StoreKitFixtures.bytes("1.1")) == [:])
    for shown in ["\(configuration)", "\(pair)", String(reflecting: pair), String(reflecting: configuration)]
    {
      #expect(!shown.contains(pair.privateKey))
    }
    for (key, path) in [("", 1), ("AAAA", 2), ("!", 3)] {
      let error = catalogError { () throws(CatalogError) in
        _ = try StoreKitKeyPair(id: "a", privateKey: key).signingKey()
      }
      #expect(error?.code == .invalidValue, "\(path)")
      #expect(error?.path == "$.subscriptionOffersKeyPair.privateKey")
    }
  }

  /// Known members that are `null` are omitted; unknown ones are kept.
  private static func withoutNull(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(withoutNull))
    case .object(let members):
      .object(
        members.filter { $0.value != .null }.map { member in
          JSONMember(
            name: member.name,
            value: member.name == "somethingNew" ? member.value : withoutNull(member.value))
        })
    default: value
    }
  }

  /// Ignores the order of members.
  private static func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .array(let elements): .array(elements.map(sorted))
    case .object(let members):
      .object(
        members.map { JSONMember(name: $0.name, value: sorted($0.value)) }.sorted { $0.name < $1.name })
    default: value
    }
  }
}
