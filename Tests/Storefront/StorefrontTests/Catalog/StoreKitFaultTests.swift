// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import ReceiptCodec
import Storefront
import Testing

/// Errors about damaged `.storekit` files have the right path.
@Suite struct StoreKitFaultTests {
  private static let group = "$.subscriptionGroups[0]"
  private static let monthly = "\(group).subscriptions[0]"

  private func error(_ document: JSONValue) -> CatalogError? {
    catalogError { () throws(CatalogError) in
      _ = try ProductCatalog(storeKitConfiguration: document.encoded())
    }
  }

  @Test(arguments: StoreKitFixtures.versions)
  func valuesOfAnotherTypeAreRefusedWhereTheyAre(_ version: String) throws {
    let document = try StoreKitFixtures.document(version)
    for path in JSONEdit.paths(in: document) {
      let value = try #require(JSONEdit.value(document, at: path))
      let place = JSONEdit.text(path)
      // Unknown members may have any value; `null` counts as absent.
      if place.contains("somethingNew") || place.hasSuffix("Groups") && !place.contains("subscriptionGroups")
        || place.hasSuffix(".current") || place.contains("_compatibilityTimeRate") || value == .null
      {
        continue
      }
      // One type is enough for most files: there are many values.
      let isEvery = Sweeps.areFull || version == "5.0"
      for other in JSONEdit.otherTypes(than: value).prefix(isEvery ? 5 : 1) {
        let error = error(JSONEdit.replacing(document, at: path, with: other))
        #expect(error?.code == .wrongType, "\(place)")
        #expect(error?.path == place)
      }
    }
  }

  @Test(arguments: StoreKitFixtures.versions)
  func missingMembersAreReportedWithTheirPath(_ version: String) throws {
    let required: Set<String> = [
      "identifier", "version", "major", "minor", "productID", "type", "displayPrice", "id", "locale",
      "paymentMode", "subscriptionPeriod", "recurringSubscriptionPeriod", "offerID", "name", "privateKey",
    ]
    let document = try StoreKitFixtures.document(version)
    var missed = 0
    for path in JSONEdit.paths(in: document) {
      let place = JSONEdit.text(path)
      guard case .member(let name)? = path.last, required.contains(name) else { continue }
      // Groups and policies may be without these, billing plans and free offers without a price.
      let isOptional =
        name == "name" && !place.contains("_storeKitErrors") || place.contains("policies")
        || name == "displayPrice" && (place.contains("winbackOffers") || place.contains("billingPlans"))
      let error = error(JSONEdit.replacing(document, at: path, with: nil))
      let isNull = self.error(JSONEdit.replacing(document, at: path, with: .null))
      #expect(isNull == error)
      if isOptional {
        #expect(error == nil, "\(place)")
        continue
      }
      missed += 1
      #expect(error?.code == (name == "offerID" ? .offerIdentifier : .missing), "\(place)")
      #expect(error?.path == place)
    }
    #expect(missed > 15)
  }

  @Test(arguments: StoreKitFixtures.versions)
  func allOtherMembersAreOptional(_ version: String) throws {
    let required: Set<String> = [
      "identifier", "version", "major", "minor", "productID", "type", "displayPrice", "id", "locale",
      "paymentMode", "subscriptionPeriod", "recurringSubscriptionPeriod", "offerID", "name", "privateKey",
      "referenceName", "displayName",
    ]
    let document = try StoreKitFixtures.document(version)
    for path in JSONEdit.paths(in: document) {
      guard case .member(let name)? = path.last, !required.contains(name) else { continue }
      // Without its plan, the offer is a duplicate for the same plan.
      if JSONEdit.text(path).contains("introductoryOffers"), name == "billingPlanType" { continue }
      #expect(error(JSONEdit.replacing(document, at: path, with: nil)) == nil, "\(JSONEdit.text(path))")
    }
  }

  @Test(arguments: StoreKitFixtures.versions) func aTruncatedFileIsReportedWithItsPlace(_ version: String)
    throws
  {
    var bytes = try StoreKitFixtures.bytes(version)
    while bytes.last != UInt8(ascii: "}") { bytes.removeLast() }
    let isEvery = Sweeps.areFull || version == "5.0"
    for count in stride(from: 0, to: bytes.count, by: isEvery ? 1 : 13) {
      let error = catalogError { () throws(CatalogError) in
        _ = try ProductCatalog(storeKitConfiguration: Array(bytes[..<count]))
      }
      #expect(error?.code == .notJSON)
      #expect(error?.path.hasPrefix("$") == true)
      #expect(error.flatMap(\.byteOffset).map { $0 <= count } == true)
    }
  }

  @Test func aByteMayBeAnything() throws {
    let bytes = try StoreKitFixtures.bytes("5.0")
    let isFull = Sweeps.areFull
    for index in stride(from: 0, to: bytes.count, by: isFull ? 1 : 11) {
      for change in isFull ? Array(UInt8(1)...255) : [0x01, 0x20, 0x80, 0xFF] {
        var damaged = bytes
        damaged[index] ^= change
        // It is either read or refused.
        let error = catalogError { () throws(CatalogError) in
          let catalog = try ProductCatalog(storeKitConfiguration: damaged)
          try catalog.validate()
        }
        if let error { #expect(error.path.hasPrefix("$")) }
      }
    }
  }

  static let faults: [JSONFault] = [
    JSONFault("$.version.major", .integer(0), .unsupportedVersion, at: "$.version"),
    JSONFault("$.settings._storefront", .string("ZZZ"), .invalidValue),
    JSONFault("$.products[0].type", .string("Coin"), .unknownType),
    JSONFault(
      "$.products[0].type", .string("RecurringSubscription"), .missing,
      at: "$.products[0].subscriptionGroupID"),
    JSONFault("$.products[0].productID", .string(""), .invalidValue),
    JSONFault(
      "$.products[0].productID", .string("com.example.brushes"), .duplicateIdentifier,
      at: "$.products[1].productID"),
    JSONFault(
      "$.products[0].productID", .string("com.example.news.monthly"), .duplicateIdentifier,
      at: "\(monthly).productID"),
    JSONFault("$.products[0].displayPrice", .string("0,99"), .invalidPrice),
    JSONFault("$.products[1].displayPrice", .string("-1"), .invalidPrice),
    JSONFault("$.nonRenewingSubscriptions[0].displayPrice", .string("1.9999"), .invalidPrice),
    JSONFault("$.products[0].localizations[0].locale", .string(""), .invalidValue),
    JSONFault("\(group).id", .string("other"), .unknownGroup, at: "\(monthly).subscriptionGroupID"),
    JSONFault("\(monthly).subscriptionGroupID", .string("other"), .unknownGroup),
    JSONFault("\(monthly).type", .string("Consumable"), .unexpectedSubscription),
    JSONFault("\(monthly).groupNumber", .integer(0), .invalidLevel),
    JSONFault("\(monthly).recurringSubscriptionPeriod", .string("monthly"), .invalidPeriod),
    JSONFault("\(monthly).introductoryOffer.paymentMode", .string("gratis"), .unknownType),
    JSONFault("\(monthly).introductoryOffer.subscriptionPeriod", .string("P0D"), .invalidPeriod),
    JSONFault("\(monthly).introductoryOffer.numberOfPeriods", .integer(0), .invalidQuantity),
    JSONFault("\(monthly).introductoryOffer.displayPrice", .string("free"), .invalidPrice),
    JSONFault("\(monthly).adHocOffers[0].displayPrice", .string("1.23456"), .invalidPrice),
    JSONFault("\(monthly).adHocOffers[0].offerID", .string(""), .invalidValue),
    JSONFault(
      "\(monthly).codeOffers[0].referenceName", .null, .offerIdentifier,
      at: "\(monthly).codeOffers[0].offerID"),
    JSONFault("\(monthly).winbackOffers[0].numberOfPeriods", .integer(-1), .invalidQuantity),
  ]

  @Test(arguments: faults) func errorsHaveTheirPathInTheFile(_ fault: JSONFault) throws {
    let document = try StoreKitFixtures.document("4.0")
    let error = error(JSONEdit.replacing(document, at: fault.path, with: fault.value))
    #expect(error?.code == fault.code)
    #expect(error?.path == fault.place)
    #expect(error?.byteOffset == nil)
  }

  @Test func anOfferMayNotOccurTwice() throws {
    let document = try StoreKitFixtures.document("4.0")
    for list in ["adHocOffers", "codeOffers", "winbackOffers"] {
      let path = JSONEdit.steps("\(Self.monthly).\(list)")
      let offers = try #require(JSONEdit.value(document, at: path)?.array)
      let error = error(JSONEdit.replacing(document, at: path, with: .array(offers + offers)))
      #expect(error?.code == .duplicateOffer)
      #expect(error?.path == "\(Self.monthly).\(list)[1]")
    }
  }

  @Test func aDateThatIsNotFiniteIsRefused() throws {
    let document = try StoreKitFixtures.document("3.0")
    let path = "$.settings._lastSynchronizedDate"
    let huge = JSONValue.number(try #require(JSONNumber(text: "1e999")))
    let error = error(JSONEdit.replacing(document, at: JSONEdit.steps(path), with: huge))
    #expect(error?.code == .invalidValue)
    #expect(error?.path == path)
  }

  @Test func freeOffersCostNothingWhateverPriceTheFileStates() throws {
    let document = try StoreKitFixtures.document("4.0")
    let path = JSONEdit.steps("\(Self.monthly).introductoryOffer.displayPrice")
    let catalog = try ProductCatalog(
      storeKitConfiguration: JSONEdit.replacing(document, at: path, with: .string("0.99")).encoded())
    let subscription = try #require(catalog.product("com.example.news.monthly")?.subscription)
    #expect(subscription.offers.first?.price == 0)
  }
}
