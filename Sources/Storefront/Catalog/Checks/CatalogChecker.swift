// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptCodec
internal import ReceiptHTTP

/// Validates a catalogue, whichever format it was read from. The first fault is thrown.
struct CatalogChecker {
  let catalog: ProductCatalog
  let paths: CatalogPaths

  func check() throws(CatalogError) {
    var groups: Set<String> = []
    for (index, group) in catalog.subscriptionGroups.enumerated() {
      let path = "\(paths.groups[index]).\(paths.names.groupID)"
      try checkIdentifier(group.id, "group", at: path)
      guard groups.insert(group.id).inserted else {
        throw CatalogError(
          .duplicateIdentifier, at: path, "There is another group \"\(group.id)\"; identifiers are unique.")
      }
    }
    var identifiers: Set<String> = []
    for (index, product) in catalog.products.enumerated() {
      let path = "\(paths.products[index].product).\(paths.names.productIdentifier)"
      try checkIdentifier(product.productIdentifier, "product", at: path)
      guard identifiers.insert(product.productIdentifier).inserted else {
        throw CatalogError(
          .duplicateIdentifier, at: path,
          "There is another product \"\(product.productIdentifier)\"; identifiers are unique.")
      }
      try check(product, at: paths.products[index], groups: groups)
    }
  }

  private func check(
    _ product: CatalogProduct, at productPaths: CatalogPaths.ProductPaths, groups: Set<String>
  ) throws(CatalogError) {
    guard ProductType.known.contains(product.type) else {
      throw CatalogError(
        .unknownType, at: "\(productPaths.product).type",
        "There is no product type \"\(product.type.rawValue)\"; the types are "
          + ProductType.known.map { "\"\($0.rawValue)\"" }.joined(separator: ", ") + ".")
    }
    try checkPrice(product.price, at: "\(productPaths.product).\(paths.names.price)")
    try Self.checkCurrency(product.currency, at: "\(productPaths.product).currency")
    for (index, localization) in product.localizations.enumerated() where localization.locale.isEmpty {
      throw CatalogError(
        .invalidValue, at: "\(productPaths.product).localizations[\(index)].locale",
        "The language is empty; write one such as \"en_US\".")
    }
    for (index, related) in product.relatedProductIdentifiers.sorted().enumerated() {
      try checkIdentifier(
        related, "product", at: "\(productPaths.product).relatedProductIdentifiers[\(index)]")
    }
    try DownloadChecker(path: "\(productPaths.product).downloads").check(product.downloads)
    guard let subscription = product.subscription else {
      guard product.type != .autoRenewableSubscription else {
        throw CatalogError(
          .missingSubscription, at: productPaths.subscription,
          "\"\(product.productIdentifier)\" renews itself, so it needs a group and a period.")
      }
      return
    }
    guard product.type == .autoRenewableSubscription else {
      throw CatalogError(
        .unexpectedSubscription, at: productPaths.subscription,
        "A product of the type \"\(product.type.rawValue)\" does not renew itself and has no such terms.")
    }
    guard groups.contains(subscription.groupIdentifier) else {
      throw CatalogError(
        .unknownGroup, at: "\(productPaths.subscription).\(paths.names.groupIdentifier)",
        "There is no subscription group \"\(subscription.groupIdentifier)\"; add it to the groups.")
    }
    guard subscription.level >= 1 else {
      throw CatalogError(
        .invalidLevel, at: "\(productPaths.subscription).\(paths.names.level)",
        "The level \(subscription.level) is below 1, the highest service.")
    }
    try OfferChecker(names: paths.names, paths: productPaths.offers).check(subscription.offers)
  }

  static func checkCurrency(_ currency: String, at path: String) throws(CatalogError) {
    guard currency.utf8.count == 3, currency.utf8.allSatisfy({ UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 })
    else {
      throw CatalogError(
        .invalidCurrency, at: path,
        "\"\(currency)\" is not a currency; write the three capital letters of ISO 4217, such as \"EUR\".")
    }
  }
}

/// Identifiers are shown, logged and compared: at most 255 bytes, without control characters.
func checkIdentifier(_ identifier: String, _ what: String, at path: String) throws(CatalogError) {
  guard 1...255 ~= identifier.utf8.count, identifier.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
    throw CatalogError(
      .invalidValue, at: path, "The identifier of a \(what) has 1 to 255 bytes and no control characters.")
  }
}

func checkPrice(_ price: Decimal, at path: String) throws(CatalogError) {
  let text = price.description
  do throws(PriceText.Fault) {
    _ = try PriceText.milliunits(text)
  } catch {
    throw CatalogError(.invalidPrice, at: path, error.message(text))
  }
}

extension ProductType {
  /// The types that a store sells.
  static let known: [ProductType] = [
    .consumable, .nonConsumable, .nonRenewingSubscription, .autoRenewableSubscription,
  ]
}

/// Checks the content that a store hosts for a product.
struct DownloadChecker {
  let path: String

  func check(_ downloads: [DownloadableContent]) throws(CatalogError) {
    var identifiers: Set<String> = []
    for (index, content) in downloads.enumerated() {
      let path = "\(path)[\(index)]"
      try checkIdentifier(content.contentIdentifier, "content", at: "\(path).contentIdentifier")
      guard identifiers.insert(content.contentIdentifier).inserted else {
        throw CatalogError(
          .duplicateIdentifier, at: "\(path).contentIdentifier",
          "The product has other content \"\(content.contentIdentifier)\"; identifiers are unique.")
      }
      try CatalogAddress.check(content.url, at: "\(path).url")
      guard content.contentLength >= 0 else {
        throw CatalogError(.invalidDownload, at: "\(path).contentLength", "A length is not negative.")
      }
      guard content.sha256.count == 32 else {
        throw CatalogError(
          .invalidDownload, at: "\(path).sha256",
          "A SHA-256 has 32 bytes, not \(content.sha256.count); write 64 hexadecimal digits.")
      }
    }
  }
}

/// The addresses of content. Whether an unencrypted one is used is decided when it is fetched.
enum CatalogAddress {
  static func check(_ url: String, at path: String) throws(CatalogError) {
    do throws(RemoteURL.Failure) {
      _ = try RemoteURL(url, allowsPlainHTTP: true)
    } catch {
      throw CatalogError(.invalidDownload, at: path, error.description)
    }
  }
}
