// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
public import ReceiptCodec

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

  /// Validates identifiers, types, prices, periods, groups, offers and content.
  ///
  /// - Throws: ``CatalogError`` with the first fault and its path in our own format.
  package func validate() throws(CatalogError) {
    try CatalogChecker(catalog: self).check()
  }

  private static func check(format: String, version: Int64) throws(CatalogError) {
    guard format == Self.format else {
      throw CatalogError(
        .unsupportedVersion, at: "$.format",
        "\"\(format)\" is not \"\(Self.format)\", the format of catalogues.")
    }
    guard version == Self.version else {
      throw CatalogError(
        .unsupportedVersion, at: "$.version",
        "This is version \(version) of the format; this build reads version \(Self.version).")
    }
  }
}
