// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

extension StoreKitConfiguration {
  /// Reads a file. Unknown members are kept; known ones must have the right type.
  ///
  /// - Parameters:
  ///   - json: The whole file.
  ///   - limits: Bounds on its size.
  /// - Throws: ``CatalogError`` with the place of the first fault.
  public init(parsing json: [UInt8], limits: ReceiptLimits = .standard) throws(CatalogError) {
    do throws(MalformedReceipt) {
      try self.init(json: json, part: ".storekit file", limits: limits)
    } catch {
      throw CatalogError(error, in: json)
    }
    guard version.major >= 1, version.minor >= 0 else {
      throw CatalogError(
        .unsupportedVersion, at: "$.version",
        "There is no version \(version.major).\(version.minor) of .storekit files; they begin with 1.1.")
    }
  }

  /// The file, compact. Read back, it is equal to this one. Members that are `null` in a file are left out.
  public func encoded() -> [UInt8] { encodedJSON() }

  /// The country of the store: the settings' storefront, else their locale's region, else the United States.
  ///
  /// - Throws: ``CatalogError`` where the settings name a storefront that does not exist.
  public func storefront() throws(CatalogError) -> StorefrontRegion {
    if let code = settings?.storefront, !code.isEmpty {
      guard let region = StorefrontRegion(countryCode: code) else {
        throw CatalogError(
          .invalidValue, at: "$.settings._storefront",
          "There is no storefront \"\(code)\"; it is three capital letters of ISO 3166-1, such as \"USA\".")
      }
      return region
    }
    return settings?.locale.flatMap(StorefrontRegion.init(localeIdentifier:)) ?? .unitedStates
  }
}

extension StoreKitConfiguration: CustomStringConvertible, CustomReflectable {
  /// Identifier and version; no key.
  public var description: String {
    "StoreKitConfiguration(\(identifier), \(version.major).\(version.minor))"
  }

  /// Identifier and version alone.
  public var customMirror: Mirror {
    Mirror(self, children: ["identifier": identifier, "version": "\(version.major).\(version.minor)"])
  }
}
