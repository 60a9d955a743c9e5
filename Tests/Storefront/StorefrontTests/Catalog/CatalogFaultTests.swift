// SPDX-License-Identifier: Apache-2.0

import ReceiptCodec
import Storefront
import Testing

/// Every fault of a catalogue has its code and path.
@Suite struct CatalogFaultTests {
  private static let coins = "$.products[0]"
  private static let news = "$.products[1].subscription"

  static let faults: [JSONFault] = [
    JSONFault("$.format", .string("other"), .unsupportedVersion),
    JSONFault("$.version", .integer(2), .unsupportedVersion),
    JSONFault("$.isForsale", .bool(false), .unknownMember),
    JSONFault("\(coins).isForsale", .bool(false), .unknownMember),
    JSONFault("\(coins).localizations[0].name", .string(""), .unknownMember),
    JSONFault("\(coins).downloads[0].hash", .string(""), .unknownMember),
    JSONFault("\(news).price", .string("1"), .unknownMember),
    JSONFault("\(news).offers[0].code", .string("1"), .unknownMember),
    JSONFault("$.subscriptionGroups[0].name", .string("1"), .unknownMember),
    JSONFault("$.subscriptionGroups[0].id", .string(""), .invalidValue),
    JSONFault("$.subscriptionGroups[0].id", .string("other"), .unknownGroup, at: "\(news).groupIdentifier"),
    JSONFault("\(news).groupIdentifier", .string("other"), .unknownGroup),
    JSONFault("\(coins).productIdentifier", .string(""), .invalidValue),
    JSONFault("\(coins).productIdentifier", .string("a\nb"), .invalidValue),
    JSONFault("\(coins).productIdentifier", .string(String(repeating: "a", count: 256)), .invalidValue),
    JSONFault(
      "\(coins).productIdentifier", .string("com.example.news.monthly"), .duplicateIdentifier,
      at: "$.products[1].productIdentifier"),
    JSONFault("\(coins).type", .string("Coin"), .unknownType),
    JSONFault("\(coins).type", .string("consumable"), .unknownType),
    JSONFault(
      "\(coins).type", .string("Auto-Renewable Subscription"), .missingSubscription,
      at: "\(coins).subscription"),
    JSONFault("$.products[1].type", .string("Consumable"), .unexpectedSubscription, at: news),
    JSONFault("$.products[1].subscription", nil, .missingSubscription),
    JSONFault("\(coins).price", .string("-1"), .invalidPrice),
    JSONFault("\(coins).price", .string("0.0001"), .invalidPrice),
    JSONFault("\(coins).currency", .string("eur"), .invalidCurrency),
    JSONFault("\(coins).currency", .string("EURO"), .invalidCurrency),
    JSONFault("\(coins).currency", .string("€"), .invalidCurrency),
    JSONFault("\(coins).localizations[1].locale", .string(""), .invalidValue),
    JSONFault("\(coins).relatedProductIdentifiers[0]", .string(""), .invalidValue),
    JSONFault(
      "\(coins).relatedProductIdentifiers", .array([.string("a"), .string("b"), .string("a")]),
      .duplicateIdentifier, at: "\(coins).relatedProductIdentifiers[2]"),
    JSONFault("\(coins).downloads[0].contentIdentifier", .string(""), .invalidValue),
    JSONFault("\(coins).downloads[0].url", .string("sounds.zip"), .invalidDownload),
    JSONFault("\(coins).downloads[0].url", .string("ftp://example.com/a"), .invalidDownload),
    JSONFault("\(coins).downloads[0].contentLength", .integer(-1), .invalidDownload),
    JSONFault("\(coins).downloads[0].sha256", .string("00"), .invalidDownload),
    JSONFault("\(coins).downloads[0].sha256", .string("0"), .invalidDownload),
    JSONFault("\(coins).downloads[0].sha256", .string(String(repeating: "g", count: 64)), .invalidDownload),
    JSONFault("\(coins).downloads[0].sha256", nil, .missing),
    JSONFault("\(coins).downloads[0].url", nil, .missing),
    JSONFault("\(news).level", .integer(0), .invalidLevel),
    JSONFault("\(news).level", .integer(.min), .invalidLevel),
    JSONFault("\(news).period", .string("1M"), .invalidPeriod),
    JSONFault("\(news).period", .string("P0M"), .invalidPeriod),
    JSONFault("\(news).offers[0].type", .string("free"), .unknownType),
    JSONFault("\(news).offers[0].paymentMode", .string("ONE_TIME"), .unknownType),
    JSONFault("\(news).offers[0].identifier", .string("intro"), .offerIdentifier),
    JSONFault("\(news).offers[0].price", .string("1"), .invalidPrice),
    JSONFault("\(news).offers[0].period", .string(""), .invalidPeriod),
    JSONFault("\(news).offers[0].periodCount", .integer(0), .invalidQuantity),
    JSONFault("\(news).offers[1].periodCount", .integer(1000), .invalidQuantity),
    JSONFault("\(news).offers[1].identifier", nil, .offerIdentifier),
    JSONFault("\(news).offers[1].identifier", .string(""), .invalidValue),
    JSONFault("\(news).offers[1].price", nil, .missing),
    JSONFault("\(news).offers[1].price", .string("0"), .missing),
    JSONFault("\(news).offers[1].price", .string("x"), .invalidPrice),
    JSONFault(
      "\(news).offers[1].codes", .array([.string("A")]), .invalidValue, at: "\(news).offers[1].codes[0]"),
    JSONFault("\(news).offers[2].codes[1]", .string("SPRING26"), .duplicateIdentifier),
    JSONFault("\(news).offers[2].codes[1]", .string(""), .invalidValue),
  ]

  @Test(arguments: faults) func isReportedWithItsPlace(_ fault: JSONFault) throws {
    let document = JSONEdit.replacing(try CatalogSamples.document, at: fault.path, with: fault.value)
    let error = catalogError { () throws(CatalogError) in _ = try ProductCatalog(json: document.encoded()) }
    #expect(error?.code == fault.code)
    #expect(error?.path == fault.place)
    #expect(error?.byteOffset == nil)
    #expect(error?.message.isEmpty == false)
  }

  @Test func anOfferMayNotOccurTwice() throws {
    for (index, place) in [(0, "introductory"), (1, "promotional"), (2, "code")] {
      var catalog = try CatalogSamples.catalog
      let offer = try #require(catalog.products[1].subscription?.offers[index])
      catalog.products[1].subscription?.offers.append(offer)
      let error = catalogError { () throws(CatalogError) in try catalog.validate() }
      #expect(error?.code == .duplicateOffer, "\(place)")
      #expect(error?.path == "\(Self.news).offers[4]")
    }
    // An offer of another type may have the same identifier.
    var catalog = try CatalogSamples.catalog
    catalog.products[1].subscription?.offers[3].identifier = "back"
    try catalog.validate()
  }

  @Test func groupsAndContentHaveIdentifiersOfTheirOwn() throws {
    var catalog = try CatalogSamples.catalog
    catalog.subscriptionGroups.append(SubscriptionGroup(id: "news"))
    var error = catalogError { () throws(CatalogError) in try catalog.validate() }
    #expect(error?.code == .duplicateIdentifier)
    #expect(error?.path == "$.subscriptionGroups[1].id")
    catalog.subscriptionGroups.removeLast()
    catalog.products[0].downloads += catalog.products[0].downloads
    error = catalogError { () throws(CatalogError) in try catalog.validate() }
    #expect(error?.code == .duplicateIdentifier)
    #expect(error?.path == "\(Self.coins).downloads[1].contentIdentifier")
  }

  @Test func aCodeRedeemsOneOffer() throws {
    var catalog = try CatalogSamples.catalog
    catalog.products[1].subscription?.offers.append(
      SubscriptionOffer(
        type: .offerCode, identifier: "other", paymentMode: .freeTrial,
        period: try #require(SubscriptionPeriod("P1W")), codes: ["SPRING27"]))
    let error = catalogError { () throws(CatalogError) in try catalog.validate() }
    #expect(error?.code == .duplicateIdentifier)
    #expect(error?.path == "\(Self.news).offers[4].codes[0]")
  }

  @Test func valuesOfAnotherTypeAreRefusedWhereTheyAre() throws {
    let document = try CatalogSamples.document
    for path in JSONEdit.paths(in: document) {
      let value = try #require(JSONEdit.value(document, at: path))
      for other in JSONEdit.otherTypes(than: value) {
        let damaged = JSONEdit.replacing(document, at: path, with: other).encoded()
        let error = catalogError { () throws(CatalogError) in _ = try ProductCatalog(json: damaged) }
        #expect(error?.code == .wrongType, "\(JSONEdit.text(path))")
        #expect(error?.path == JSONEdit.text(path))
      }
    }
  }

  @Test func missingMembersAreReportedWithTheirPath() throws {
    let required: Set<String> = [
      "format", "version", "products", "id", "locale", "title", "productIdentifier", "type", "price",
      "currency", "contentIdentifier", "url", "contentLength", "sha256", "groupIdentifier", "period",
      "paymentMode",
    ]
    let document = try CatalogSamples.document
    var missed = 0
    for path in JSONEdit.paths(in: document) {
      guard case .member(let name)? = path.last, required.contains(name) else { continue }
      // The price of a free trial is optional.
      if JSONEdit.text(path).hasSuffix("offers[3].price") { continue }
      let damaged = JSONEdit.replacing(document, at: path, with: nil).encoded()
      let error = catalogError { () throws(CatalogError) in _ = try ProductCatalog(json: damaged) }
      #expect(error?.code == .missing, "\(JSONEdit.text(path))")
      #expect(error?.path == JSONEdit.text(path))
      missed += 1
    }
    #expect(missed > 30)
  }

  @Test func aTruncatedFileIsReportedWithItsPlace() throws {
    let bytes = Array(CatalogSamples.json.utf8)
    for count in 0..<bytes.count {
      let error = catalogError { () throws(CatalogError) in
        _ = try ProductCatalog(json: Array(bytes[..<count]))
      }
      #expect(error?.code == .notJSON)
      #expect(error?.path.hasPrefix("$") == true)
      #expect(error.flatMap(\.byteOffset).map { $0 <= count } == true)
    }
    let start = Array(try #require(CatalogSamples.json.split(separator: "\"P1Y\"").first).utf8)
    let error = catalogError { () throws(CatalogError) in _ = try ProductCatalog(json: start) }
    #expect(error?.path == "\(Self.news).offers[2].period")
    #expect(error?.byteOffset == start.count)
  }

  @Test func invalidJSONIsReportedWithItsPlace() {
    for (text, path) in [
      ("", "$"), ("   ", "$"), ("{]", "$"), (#"{"format": nul}"#, "$.format"),
      (#"{"products": [{}, {"price": 1 2}]}"#, "$.products[0].productIdentifier"),
      (#"{"products": [{"productIdentifier": "a" "b"}]}"#, "$.products[0].productIdentifier"),
      (#"{"subscriptionGroups": [], "a b": tru}"#, #"$["a b"]"#),
      ("{\"format\": \"\u{1}\"}", "$.format"), ("[]", "$"), ("1", "$"),
    ] {
      let error = catalogError { () throws(CatalogError) in _ = try ProductCatalog(json: Array(text.utf8)) }
      #expect(error?.path == path, "\(text)")
    }
    let duplicate = #"{"format": "receiptkit-catalog", "version": 1, "version": 1, "products": []}"#
    let error = catalogError { () throws(CatalogError) in _ = try ProductCatalog(json: Array(duplicate.utf8))
    }
    #expect(error?.code == .duplicateMember)
    #expect(error?.path == "$.version")
  }

  @Test func errorsAreOneLineWhateverIsInTheFile() throws {
    let type = "a\u{1B}[31m\n\u{2028}\u{202E}" + String(repeating: "b", count: 10_000)
    let document = JSONEdit.replacing(
      try CatalogSamples.document, at: JSONEdit.steps("$.products[0].type"), with: .string(type))
    let error = catalogError { () throws(CatalogError) in _ = try ProductCatalog(json: document.encoded()) }
    #expect(error?.code == .unknownType)
    #expect(error?.message.contains("a\u{FFFD}[31m\u{FFFD}\u{FFFD}\u{FFFD}bbb") == true)
    #expect(error.map { $0.description.count < 1100 } == true)
  }

  @Test func limitsHold() throws {
    let bytes = Array(CatalogSamples.json.utf8)
    for limits in [
      ReceiptLimits(maximumByteCount: 100), ReceiptLimits(maximumDepth: 3),
      ReceiptLimits(maximumElementCount: 9),
    ] {
      let error = catalogError { () throws(CatalogError) in
        _ = try ProductCatalog(json: bytes, limits: limits)
      }
      #expect(error?.code == .tooLarge)
    }
  }

  @Test func aNewerVersionIsReportedBeforeUnknownMembers() {
    let newer = #"{"format": "receiptkit-catalog", "version": 7, "products": {"a": 1}}"#
    let error = catalogError { () throws(CatalogError) in _ = try ProductCatalog(json: Array(newer.utf8)) }
    #expect(error?.code == .unsupportedVersion)
    #expect(error?.path == "$.version")
  }
}
