// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto

extension StoreKitConfiguration {
  /// Reads a `.storekit` file. Unknown members are kept; known ones must have the right type.
  init(parsing json: [UInt8], limits: ReceiptLimits = .standard) throws(CatalogError) {
    do throws(MalformedReceipt) { try self.init(json: json, part: ".storekit file", limits: limits) } catch {
      throw CatalogError(error, in: json)
    }
    try CatalogError.require(
      version.major >= 1 && version.minor >= 0, .unsupportedVersion, at: "$.version",
      "There is no version \(version.major).\(version.minor) of .storekit files; they begin with 1.0.")
    try CatalogError.require(
      identifier != nil || version.major == 1 && version.minor == 0, .missing, at: "$.identifier",
      "A file of version \(version.major).\(version.minor) has an identifier; only those of version 1.0 have none."
    )
  }

  /// The country of the store: the settings' storefront, else their locale's region, else the United States.
  func storefront() throws(CatalogError) -> StorefrontRegion {
    guard let code = settings?.storefront, !code.isEmpty else {
      return settings?.locale.flatMap(StorefrontRegion.init(localeIdentifier:)) ?? .unitedStates
    }
    guard let region = StorefrontRegion(countryCode: code) else {
      throw CatalogError(
        .invalidValue, at: "$.settings._storefront",
        "There is no such storefront; it is three capital letters of ISO 3166-1, such as \"USA\".")
    }
    return region
  }
}

extension StoreKitConfiguration: CustomStringConvertible, CustomReflectable {
  /// The identifier and the version, without the key.
  var description: String { "StoreKitConfiguration(\(identifier ?? "-"), \(version.major).\(version.minor))" }

  var customMirror: Mirror {
    Mirror(self, children: ["identifier": identifier ?? "-", "version": "\(version.major).\(version.minor)"])
  }
}

extension StoreKitKeyPair: CustomStringConvertible, CustomReflectable {
  /// The private key that signs promotional offers: P-256, in PKCS#8 and base64.
  func signingKey() throws(CatalogError) -> PrivateKey {
    let path = "$.subscriptionOffersKeyPair.privateKey"
    let key: PrivateKey
    do {
      key = try PrivateKey(der: try Base64.decode(Array(privateKey.utf8), allowingWhitespace: true))
    } catch {
      throw CatalogError(.invalidValue, at: path, "The key is not PKCS#8 in base64: \(error)")
    }
    guard key.publicKey.kind == .p256 else {
      throw CatalogError(.invalidValue, at: path, "Promotional offers are signed by a key on P-256.")
    }
    return key
  }

  /// The key's identifier, without the key.
  var description: String { "StoreKitKeyPair(\(id))" }

  var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
