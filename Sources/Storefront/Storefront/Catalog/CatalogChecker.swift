// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec
internal import ReceiptHTTP

/// Validates a catalogue. The first fault is thrown, with its JSON path in our own format.
struct CatalogChecker {
  let catalog: ProductCatalog

  private struct OfferIdentity: Hashable {
    let type: OfferType
    let identifier: String?
  }

  func check() throws(CatalogError) {
    var groups: Set<String> = []
    for (index, group) in catalog.subscriptionGroups.enumerated() {
      try check(group.id, "group", isNotIn: &groups, at: "$.subscriptionGroups[\(index)].id")
    }
    var identifiers: Set<String> = []
    for (index, product) in catalog.products.enumerated() {
      let path = "$.products[\(index)]"
      try check(product.productIdentifier, "product", isNotIn: &identifiers, at: "\(path).productIdentifier")
      try check(product, at: path)
      try checkTerms(of: product, at: "\(path).subscription", groups: groups)
    }
  }

  private func check(
    _ identifier: String, _ what: String, isNotIn known: inout Set<String>, at path: String
  ) throws(CatalogError) {
    try checkIdentifier(identifier, what, at: path)
    try CatalogError.require(
      known.insert(identifier).inserted, .duplicateIdentifier, at: path,
      "There is another \(what) \"\(identifier)\"; identifiers are unique.")
  }

  private func check(_ product: CatalogProduct, at path: String) throws(CatalogError) {
    try CatalogError.require(
      ProductType.known.contains(product.type), .unknownType, at: "\(path).type",
      "There is no product type \"\(product.type.rawValue)\"; the types are "
        + quoted(ProductType.known.map(\.rawValue)))
    try checkPrice(product.price, at: "\(path).price")
    let currency = product.currency
    try CatalogError.require(
      currency.utf8.count == 3 && currency.utf8.allSatisfy({ UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }),
      .invalidCurrency, at: "\(path).currency",
      "\"\(currency)\" is not a currency; write the three capital letters of ISO 4217, such as \"EUR\".")
    for (index, localization) in product.localizations.enumerated() where localization.locale.isEmpty {
      throw CatalogError(
        .invalidValue, at: "\(path).localizations[\(index)].locale",
        "The language is empty; write one such as \"en_US\".")
    }
    for (index, related) in product.relatedProductIdentifiers.sorted().enumerated() {
      try checkIdentifier(related, "product", at: "\(path).relatedProductIdentifiers[\(index)]")
    }
    var contents: Set<String> = []
    for (index, content) in product.downloads.enumerated() {
      let path = "\(path).downloads[\(index)]"
      try check(content.contentIdentifier, "content", isNotIn: &contents, at: "\(path).contentIdentifier")
      // Fetching the content decides whether an unencrypted address may be used.
      do throws(RemoteURL.Failure) { _ = try RemoteURL(content.url, allowsPlainHTTP: true) } catch {
        throw CatalogError(.invalidDownload, at: "\(path).url", error.description)
      }
      guard content.contentLength >= 0 else {
        throw CatalogError(.invalidDownload, at: "\(path).contentLength", "A length is not negative.")
      }
      try CatalogError.require(
        content.sha256.count == 32, .invalidDownload, at: "\(path).sha256",
        "A SHA-256 has 32 bytes, not \(content.sha256.count); write 64 hexadecimal digits.")
    }
  }

  private func checkTerms(
    of product: CatalogProduct, at path: String, groups: Set<String>
  ) throws(CatalogError) {
    guard let subscription = product.subscription else {
      try CatalogError.require(
        product.type != .autoRenewableSubscription, .missingSubscription, at: path,
        "\"\(product.productIdentifier)\" renews itself, so it needs a group and a period.")
      return
    }
    try CatalogError.require(
      product.type == .autoRenewableSubscription, .unexpectedSubscription, at: path,
      "A product of the type \"\(product.type.rawValue)\" does not renew itself and has no such terms.")
    try CatalogError.require(
      groups.contains(subscription.groupIdentifier), .unknownGroup, at: "\(path).groupIdentifier",
      "There is no subscription group \"\(subscription.groupIdentifier)\"; add it to the groups.")
    try CatalogError.require(
      subscription.level >= 1, .invalidLevel, at: "\(path).level",
      "The level \(subscription.level) is below 1, the highest service.")
    var identities: Set<OfferIdentity> = []
    var codes: Set<String> = []
    for (index, offer) in subscription.offers.enumerated() {
      let path = "\(path).offers[\(index)]"
      try checkOfferIdentifier(of: offer, at: path)
      try CatalogError.require(
        identities.insert(OfferIdentity(type: offer.type, identifier: offer.identifier)).inserted,
        .duplicateOffer, at: path,
        offer.identifier.map { "There is another offer \"\($0)\" of this type." }
          ?? "There is another introductory offer; a subscription has one.")
      try checkTerms(of: offer, at: path)
      for (number, code) in offer.codes.sorted().enumerated() {
        guard offer.type == .offerCode else {
          throw CatalogError(.invalidValue, at: "\(path).codes[\(number)]", "Only offers by code have codes.")
        }
        try check(code, "code", isNotIn: &codes, at: "\(path).codes[\(number)]")
      }
    }
  }

  private func checkOfferIdentifier(of offer: SubscriptionOffer, at path: String) throws(CatalogError) {
    try CatalogError.require(
      OfferTypeName.known.contains(where: { $0.type == offer.type }), .unknownType, at: "\(path).type",
      "There is no type of offer \(offer.type.rawValue).")
    let path = "\(path).identifier"
    switch (offer.type, offer.identifier) {
    case (.introductory, nil): break
    case (.introductory, _):
      throw CatalogError(.offerIdentifier, at: path, "An introductory offer has no identifier; remove it.")
    case (_, nil):
      throw CatalogError(
        .offerIdentifier, at: path,
        "Every offer but an introductory one needs an identifier to ask for it by.")
    case (_, let identifier?): try checkIdentifier(identifier, "offer", at: path)
    }
  }

  private func checkTerms(of offer: SubscriptionOffer, at path: String) throws(CatalogError) {
    let modes: [OfferDiscountType] = [.freeTrial, .payAsYouGo, .payUpFront]
    try CatalogError.require(
      modes.contains(offer.paymentMode), .unknownType, at: "\(path).paymentMode",
      "There is no payment mode \"\(offer.paymentMode.rawValue)\"; the modes are "
        + quoted(modes.map(\.rawValue)))
    try CatalogError.require(
      1...999 ~= offer.periodCount, .invalidQuantity, at: "\(path).periodCount",
      "An offer lasts for 1 to 999 periods, not \(offer.periodCount).")
    let pricePath = "\(path).price"
    try checkPrice(offer.price, at: pricePath)
    let isFree = offer.paymentMode == .freeTrial
    try CatalogError.require(
      !isFree || offer.price == 0, .invalidPrice, at: pricePath,
      "A free trial costs nothing; remove the price, or change the payment mode.")
    try CatalogError.require(
      isFree || offer.price != 0, .missing, at: pricePath, "An offer that is no free trial needs a price.")
  }

  private func checkPrice(_ price: Decimal, at path: String) throws(CatalogError) {
    _ = try PriceText.milliunits(price.description, at: path)
  }
}

/// Checks an identifier: at most 255 bytes without control characters, because it is shown, logged and compared.
func checkIdentifier(_ identifier: String, _ what: String, at path: String) throws(CatalogError) {
  try CatalogError.require(
    1...255 ~= identifier.utf8.count && identifier.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }),
    .invalidValue, at: path, "The identifier of a \(what) has 1 to 255 bytes and no control characters.")
}

/// The end of a sentence that lists names.
func quoted(_ names: [String]) -> String { names.map { "\"\($0)\"" }.joined(separator: ", ") + "." }

extension ProductType {
  static let known: [ProductType] = [
    .consumable, .nonConsumable, .nonRenewingSubscription, .autoRenewableSubscription,
  ]
}

extension CatalogError {
  package var path: String { place }

  /// Converts an error of the JSON reader. Its place is always a JSON path, even if the reader states a byte offset.
  init(_ error: MalformedReceipt, in bytes: [UInt8]) {
    switch error.place {
    case .jsonPath(let path): self.init(Self.code(of: error.code, at: path), at: path, error.message)
    case .byteOffset(let offset, _):
      let isTooLarge = error.code == .tooLarge || error.code == .tooDeep
      self.init(
        isTooLarge ? .tooLarge : .notJSON, at: JSONPathFinder.path(at: offset, in: bytes), error.message,
        byteOffset: offset)
    default: self.init(.notJSON, at: "$", error.message)
    }
  }

  private static func code(of code: MalformedReceipt.Code, at path: String) -> Code {
    switch code {
    case .missing: .missing
    case .wrongType: .wrongType
    case .duplicate: path.hasSuffix("]") && !path.hasSuffix("\"]") ? .duplicateIdentifier : .duplicateMember
    case .tooLarge, .tooDeep: .tooLarge
    case .unexpected: .unknownMember
    case .outOfRange, .invalidValue:
      switch path.split(separator: ".").last {
      case "type": .unknownType
      case "price": .invalidPrice
      case "period": .invalidPeriod
      case "sha256": .invalidDownload
      default: .invalidValue
      }
    default: .notJSON
    }
  }
}

/// Finds the JSON value that contains a byte, in a document that is JSON up to that byte.
///
/// It only follows brackets, commas and strings, so it works up to a syntax error. If the document is malformed before
/// the byte, the path is a guess.
enum JSONPathFinder {
  /// A depth that no reader reaches.
  private static let greatestDepth = 512

  static func path(at offset: Int, in bytes: [UInt8]) -> String {
    // `nil` is a member whose name has not been read yet.
    var steps: [JSONPath.Step?] = []
    var index = 0
    let end = min(offset, bytes.count)
    while index < end, steps.count <= greatestDepth {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        let close = endOfString(from: index + 1, in: bytes)
        // Only a name that ends before the fault is complete.
        if case .some(.none) = steps.last, close < end {
          let name = try? JSONValue(parsing: Array(bytes[index...close])).string
          steps[steps.count - 1] = .member(name ?? String(decoding: bytes[index + 1..<close], as: UTF8.self))
        }
        index = close
      case UInt8(ascii: "{"): steps.append(nil)
      case UInt8(ascii: "["): steps.append(.index(0))
      case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = steps.popLast()
      case UInt8(ascii: ","):
        if case .index(let count)?? = steps.last {
          steps[steps.count - 1] = .index(count + 1)
        } else if !steps.isEmpty {
          steps[steps.count - 1] = nil
        }
      default: break
      }
      index += 1
    }
    return JSONPath.text(steps.compactMap(\.self))
  }

  /// The index of the closing quotation mark, or the count if it is missing.
  private static func endOfString(from start: Int, in bytes: [UInt8]) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(index, bytes.count)
  }
}
