// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec

extension ProductCatalog {
  /// The product with this identifier.
  public func product(_ productIdentifier: String) -> CatalogProduct? {
    products.first { $0.productIdentifier == productIdentifier }
  }

  /// The products by identifier. Only a catalogue built in code can have duplicates; the first one is used.
  var productsByIdentifier: [String: CatalogProduct] {
    Dictionary(products.map { ($0.productIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension CatalogProduct {
  /// `true` if a finished purchase can be restored; by default only non-consumables can.
  package var isRestorable: Bool {
    get { restorability ?? (type == .nonConsumable) }
    set { restorability = newValue }
  }
}

extension OfferEligibility: Comparable {
  /// Orders types by their names.
  public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension Product {
  /// The product without its offer codes, as customers see it. Anyone who knows a code may redeem it.
  var withoutCodes: Product {
    with { product in
      for index in (product.subscription?.offers ?? []).indices {
        product.subscription?.offers[index].codes = []
      }
    }
  }
}

extension CatalogProduct: Identifiable {
  /// The ``productIdentifier``.
  public var id: String { productIdentifier }
}

extension Product: Identifiable {
  /// The ``productIdentifier``.
  public var id: String { productIdentifier }
}

extension SubscriptionGroup: Identifiable {}

extension ProductCatalog {
  private static let format = "receiptkit-catalog"
  private static let version: Int64 = 1

  /// Reads a catalogue file in the format that <doc:Catalog> describes.
  ///
  /// People write this file, so unknown members are errors: with a misspelt `isForSale` the product would be sold. The
  /// first fault, syntactic or semantic, is thrown.
  public init(json: [UInt8], limits: ReceiptLimits = .standard) throws(CatalogError) {
    // Editors may begin a file with a byte order mark.
    let json = ByteOrderMark.dropped(from: json)
    let document: CatalogDocument
    do throws(MalformedReceipt) {
      document = try CatalogDocument(json: json, part: "catalogue", limits: limits, isStrict: true)
    } catch {
      // A fault in format or version is reported first, because it explains any other.
      if let value = try? JSONValue(parsing: json, limits: limits), let format = value["format"]?.string,
        let version = value["version"]?.int64
      {
        try Self.check(format: format, version: version)
      }
      throw CatalogError(error, in: json)
    }
    try Self.check(format: document.format, version: document.version)
    self.init(products: document.products, subscriptionGroups: document.subscriptionGroups)
    try validate()
  }

  /// The catalogue in the format that <doc:Catalog> describes, compact. Reading it back gives an equal catalogue.
  ///
  /// - Returns: The whole file, in UTF-8.
  /// - Throws: ``CatalogError`` if it is not valid, with the path that the fault would have in the file.
  public func encodedJSON() throws(CatalogError) -> [UInt8] {
    try validate()
    return CatalogDocument(
      format: Self.format, version: Self.version, subscriptionGroups: subscriptionGroups, products: products
    ).encodedJSON()
  }

  /// Validates identifiers, types, prices, periods, groups, offers and content. The first fault is thrown.
  package func validate() throws(CatalogError) { try CatalogChecker(catalog: self).check() }

  private static func check(format: String, version: Int64) throws(CatalogError) {
    try CatalogError.require(
      format == Self.format, .unsupportedVersion, at: "$.format",
      "\"\(format)\" is not \"\(Self.format)\", the format of catalogues.")
    try CatalogError.require(
      version == Self.version, .unsupportedVersion, at: "$.version",
      "This is version \(version) of the format; this build reads version \(Self.version).")
  }
}
