// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

extension CatalogDocument {
  /// The catalogue of the document. Only the form of each value has been checked; see ``CatalogChecker``.
  func catalog() throws(CatalogError) -> ProductCatalog {
    try refuseUnknown(unknownFields, at: "$")
    var catalog = ProductCatalog()
    for (index, group) in (subscriptionGroups ?? []).enumerated() {
      let path = "$.subscriptionGroups[\(index)]"
      try refuseUnknown(group.unknownFields, at: path)
      catalog.subscriptionGroups.append(
        SubscriptionGroup(
          id: group.id, referenceName: group.referenceName ?? "",
          localizations: try Self.localizations(group.localizations, at: path)))
    }
    for (index, product) in products.enumerated() {
      catalog.products.append(try product.product(at: "$.products[\(index)]"))
    }
    return catalog
  }

  fileprivate static func localizations(
    _ localizations: [Localization]?, at path: String
  ) throws(CatalogError) -> [ProductLocalization] {
    var result: [ProductLocalization] = []
    for (index, localization) in (localizations ?? []).enumerated() {
      try refuseUnknown(localization.unknownFields, at: "\(path).localizations[\(index)]")
      result.append(
        ProductLocalization(
          locale: localization.locale, title: localization.title, description: localization.description ?? "")
      )
    }
    return result
  }
}

extension CatalogDocument.Product {
  fileprivate func product(at path: String) throws(CatalogError) -> CatalogProduct {
    try refuseUnknown(unknownFields, at: path)
    var product = CatalogProduct(
      productIdentifier: productIdentifier, type: ProductType(rawValue: type),
      referenceName: referenceName ?? "", price: try catalogPrice(price, at: "\(path).price"),
      currency: currency, localizations: try CatalogDocument.localizations(localizations, at: path),
      isFamilyShareable: isFamilyShareable ?? false, isRestorable: isRestorable,
      isForSale: isForSale ?? true)
    product.relatedProductIdentifiers = try catalogSet(
      relatedProductIdentifiers ?? [], of: "product", at: "\(path).relatedProductIdentifiers")
    for (index, download) in (downloads ?? []).enumerated() {
      product.downloads.append(try download.content(at: "\(path).downloads[\(index)]"))
    }
    product.subscription = try subscription?.terms(at: "\(path).subscription")
    return product
  }
}

extension CatalogDocument.Download {
  fileprivate func content(at path: String) throws(CatalogError) -> DownloadableContent {
    try refuseUnknown(unknownFields, at: path)
    guard let digest = Hexadecimal.decode(sha256) else {
      throw CatalogError(
        .invalidDownload, at: "\(path).sha256", "A SHA-256 is written as 64 hexadecimal digits.")
    }
    return DownloadableContent(
      contentIdentifier: contentIdentifier, contentVersion: contentVersion ?? "", url: url,
      contentLength: contentLength, sha256: digest)
  }
}

extension CatalogDocument.Subscription {
  fileprivate func terms(at path: String) throws(CatalogError) -> SubscriptionTerms {
    try refuseUnknown(unknownFields, at: path)
    var terms = SubscriptionTerms(
      groupIdentifier: groupIdentifier, level: catalogCount(level ?? 1),
      period: try catalogPeriod(period, at: "\(path).period"))
    for (index, offer) in (offers ?? []).enumerated() {
      terms.offers.append(try offer.offer(at: "\(path).offers[\(index)]"))
    }
    return terms
  }
}

extension CatalogDocument.Offer {
  fileprivate func offer(at path: String) throws(CatalogError) -> SubscriptionOffer {
    try refuseUnknown(unknownFields, at: path)
    guard let type = OfferTypeName.type(type) else {
      throw CatalogError(
        .unknownType, at: "\(path).type",
        "There is no type of offer \"\(type)\"; the types are \(OfferTypeName.all).")
    }
    let paymentMode = OfferDiscountType(rawValue: paymentMode)
    // An unknown mode is refused by the checker; no price is required for it here.
    guard price != nil || paymentMode != .payAsYouGo && paymentMode != .payUpFront else {
      throw CatalogError(.missing, at: "\(path).price", "An offer that is no free trial needs a price.")
    }
    var offer = SubscriptionOffer(
      type: type, identifier: identifier, paymentMode: paymentMode,
      period: try catalogPeriod(period, at: "\(path).period"),
      periodCount: catalogCount(periodCount ?? 1), price: try catalogPrice(price ?? "0", at: "\(path).price"))
    offer.codes = try catalogSet(codes ?? [], of: "code", at: "\(path).codes")
    if let eligibility { offer.eligibility = Set(eligibility.map(SubscriptionOffer.Eligibility.init)) }
    return offer
  }
}
