// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

extension CatalogDocument {
  /// The document of a valid catalogue: empty members are omitted, sets are sorted.
  init(_ catalog: ProductCatalog) {
    subscriptionGroups = catalog.subscriptionGroups.map { group in
      Group(
        id: group.id, referenceName: nonempty(group.referenceName),
        localizations: Self.localizations(group.localizations))
    }
    products = catalog.products.map(Product.init)
  }

  fileprivate static func localizations(_ localizations: [ProductLocalization]) -> [Localization]? {
    nonempty(
      localizations.map {
        Localization(locale: $0.locale, title: $0.title, description: nonempty($0.description))
      })
  }
}

extension CatalogDocument.Product {
  fileprivate init(_ product: CatalogProduct) {
    productIdentifier = product.productIdentifier
    type = product.type.rawValue
    price = PriceText.text(milliunits: product.price.priceMilliunits ?? 0)
    currency = product.currency
    referenceName = nonempty(product.referenceName)
    localizations = CatalogDocument.localizations(product.localizations)
    isFamilyShareable = product.isFamilyShareable
    isRestorable = product.isRestorable
    isForSale = product.isForSale
    relatedProductIdentifiers = nonempty(product.relatedProductIdentifiers.sorted())
    downloads = nonempty(
      product.downloads.map { content in
        CatalogDocument.Download(
          contentIdentifier: content.contentIdentifier, contentVersion: nonempty(content.contentVersion),
          url: content.url, contentLength: content.contentLength, sha256: Hexadecimal.encode(content.sha256))
      })
    subscription = product.subscription.map(CatalogDocument.Subscription.init)
  }
}

extension CatalogDocument.Subscription {
  fileprivate init(_ terms: SubscriptionTerms) {
    groupIdentifier = terms.groupIdentifier
    level = Int64(terms.level)
    period = terms.period.description
    offers = nonempty(terms.offers.map(CatalogDocument.Offer.init))
  }
}

extension CatalogDocument.Offer {
  fileprivate init(_ offer: SubscriptionOffer) {
    type = OfferTypeName.name(of: offer.type) ?? ""
    identifier = offer.identifier
    paymentMode = offer.paymentMode.rawValue
    period = offer.period.description
    periodCount = Int64(offer.periodCount)
    price = PriceText.text(milliunits: offer.price.priceMilliunits ?? 0)
    codes = nonempty(offer.codes.sorted())
    eligibility = offer.eligibility.map(\.rawValue).sorted()
  }
}

private func nonempty<Value: Collection>(_ value: Value) -> Value? { value.isEmpty ? nil : value }
