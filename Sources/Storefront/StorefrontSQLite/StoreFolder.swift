// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import ReceiptCodec
package import Storefront

/// The files of a store.
package struct StoreFolder {
  package let path: String

  package init(_ path: String) { self.path = path }

  package var settingsFile: String { path + "/store.json" }
  package var ledgerFile: String { path + "/store.sqlite" }
  package var playLedgerFile: String { path + "/play.sqlite" }
  package var ownCatalogFile: String { path + "/products.json" }
  package var storeKitCatalogFile: String { path + "/products.storekit" }
  package func queueFile(_ account: String) -> String { "\(path)/queue-\(account).sqlite" }

  /// Reads a catalogue: our own JSON, or an Xcode `.storekit` file.
  package static func catalog(_ contents: [UInt8], isStoreKit: Bool) throws(CatalogError) -> ProductCatalog {
    isStoreKit ? try ProductCatalog(storeKitConfiguration: contents) : try ProductCatalog(json: contents)
  }
}

extension StoreSettings {
  package init(decoding json: [UInt8]) throws(MalformedReceipt) {
    try self.init(json: json, part: "store settings", limits: .standard)
  }

  package func options() -> LocalStore.Options {
    var engine = SubscriptionEngine.Options(bundleIdentifier: bundleId)
    engine.environment = environment
    engine.storefront = storefront
    engine.seed = UInt64(bitPattern: seed)
    engine.gracePeriodDays = gracePeriodDays.map { Int($0) }
    var options = LocalStore.Options(engine: engine)
    options.appAppleId = appAppleId
    options.authorization = asks ? .ask : .approve
    return options
  }

  package func encoded() -> [UInt8] { encodedJSON() + [UInt8(ascii: "\n")] }
}
