// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
package import ReceiptCodec
package import Storefront

/// The files of a store.
package struct StoreFolder {
  /// The folder.
  package let path: String

  package init(_ path: String) { self.path = path }

  package var settingsFile: String { path + "/store.json" }
  package var ledgerFile: String { path + "/store.sqlite" }
  package var playLedgerFile: String { path + "/play.sqlite" }
  package var ownCatalogFile: String { path + "/products.json" }
  package var storeKitCatalogFile: String { path + "/products.storekit" }
  package func queueFile(_ account: String) -> String { "\(path)/queue-\(account).sqlite" }

  /// A catalogue: our own JSON, or an Xcode `.storekit` file.
  package static func catalog(_ contents: [UInt8], isStoreKit: Bool) throws(CatalogError) -> ProductCatalog {
    isStoreKit ? try ProductCatalog(storeKitConfiguration: contents) : try ProductCatalog(json: contents)
  }
}

/// The settings of a store in its folder: `store.json`.
package struct StoreSettings: JSONObject {
  /// The app.
  package var bundleId = "com.example.app"
  package var environment = ReceiptEnvironment.sandbox
  /// The three-letter country code.
  package var storefront = "USA"
  /// Whether each purchase needs approval.
  package var asks = false
  /// The grace period of failed renewals in days; `nil` for none.
  package var gracePeriodDays: Int64?
  /// The seed of identifiers.
  package var seed: Int64 = 0
  /// The app's identifier, which notifications of production state.
  package var appAppleId: Int64?
  /// The offset of the store's clock from the wall clock, in milliseconds.
  package var clockOffset: Double = 0
  package var unknownFields: [JSONMember] = []

  package init() {}

  package init(decoding json: [UInt8]) throws(MalformedReceipt) {
    try self.init(json: json, part: "store settings", limits: .standard)
  }

  /// How the store does its business.
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

  package enum Field: String, CaseIterable {
    case bundleId, environment, storefront, asks, gracePeriodDays, seed, appAppleId, clockOffset
  }
  package static let fieldNames = JSONFieldNames<Field>(required: [.bundleId, .environment, .seed])
  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .bundleId: try coder.code(&bundleId)
    case .environment: try coder.code(&environment)
    case .storefront: try coder.code(&storefront)
    case .asks: try coder.code(&asks)
    case .gracePeriodDays: try coder.code(&gracePeriodDays)
    case .seed: try coder.code(&seed)
    case .appAppleId: try coder.code(&appAppleId)
    case .clockOffset: try coder.code(&clockOffset)
    }
  }
}
