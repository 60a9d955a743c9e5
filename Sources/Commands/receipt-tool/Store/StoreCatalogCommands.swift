// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandOutput
import FoundationEssentials
import ReceiptCodec
import ReceiptSigning
import ReceiptVerification
import Storefront
import StorefrontSQLite

extension StoreInitCommand {
  func validate() throws {
    guard gracePeriod.map({ 1...60 ~= $0 }) ?? true else {
      throw ValidationError("--grace-period takes 1 to 60 days.")
    }
    guard storefront.utf8.count == 3, storefront.utf8.allSatisfy({ 0x41...0x5A ~= $0 }) else {
      throw ValidationError("--storefront takes three capital letters, such as USA or DEU.")
    }
  }

  func run() async throws {
    let folder = StoreFolder(directory)
    let isStoreKit = catalog?.hasSuffix(".storekit") == true
    let products = try catalog.map { try InputFile.contents(of: $0, limit: 64 << 20) } ?? SampleCatalog.json()
    _ = try StoreFolder.catalog(products, isStoreKit: isStoreKit, path: catalog ?? "the samples")
    try NewFile.requireAbsent(folder.settingsFile, folder.ledgerFile)
    let settings = try settings()
    var authority = CertificateAuthority.Options(
      organization: bundle, algorithm: .es256, start: SystemClock.now(), days: 3650)
    // As with `identity create`, the certificates are valid from an earlier date, so that receipts verify even if the
    // clock is set back.
    authority.validFrom = Timestamp(secondsSince1970: 1_199_145_600)
    try IdentityDirectory(directory).write(SigningIdentity.create(authority))
    try NewFile.write(products, to: isStoreKit ? folder.storeKitCatalogFile : folder.ownCatalogFile)
    try SQLiteRecordStorage(at: folder.ledgerFile).close()
    // The settings are written last: a folder without them is not a store.
    try NewFile.write(settings.encoded(), to: folder.settingsFile)
    let count = try folder.catalog().products.count
    try output.write(
      Output.Store(
        store: directory, products: Int64(count), rootFile: "\(directory)/\(IdentityDirectory.rootFileName)"),
      "\(directory) sells \(count) products for \(bundle).",
      "Buy one:        receipt-tool store buy --store \(directory) PRODUCT -o receipt.jws",
      "Verify it:      receipt-tool verify --trust \(directory)/root.cer receipt.jws")
  }

  private func settings() throws -> StoreSettings {
    var settings = StoreSettings()
    settings.bundleId = bundle
    settings.environment = ReceiptEnvironment(rawValue: environment.plainName)
    settings.storefront = storefront
    settings.asks = asks
    settings.gracePeriodDays = gracePeriod.map(Int64.init)
    settings.appAppleId = appAppleId
    settings.seed = seed ?? Int64.random(in: 0...(1 << 53))
    if let clock {
      let instant = try parseInstant(clock, "--clock")
      settings.clockOffset = instant.millisecondsSince1970 - SystemClock.now().millisecondsSince1970
    }
    return settings
  }
}

enum SampleCatalog {
  static func json() throws -> [UInt8] {
    let group = SubscriptionGroup(id: "plans", referenceName: "Plans")
    let catalog = ProductCatalog(
      products: [
        product("com.example.coins", .consumable, "0.99", "100 coins"),
        product("com.example.pro", .nonConsumable, "9.99", "Pro features"),
        subscription("com.example.plan.monthly", "4.99", "Monthly plan", level: 2, .month),
        subscription("com.example.plan.yearly", "39.99", "Yearly plan", level: 1, .year),
      ], subscriptionGroups: [group])
    return try catalog.encodedJSON()
  }

  private static func product(
    _ identifier: String, _ type: ProductType, _ price: String, _ title: String
  ) -> CatalogProduct {
    CatalogProduct(
      productIdentifier: identifier, type: type, price: Decimal(string: price) ?? 0,
      localizations: [ProductLocalization(locale: "en_US", title: title)])
  }

  private static func subscription(
    _ identifier: String, _ price: String, _ title: String, level: Int, _ unit: SubscriptionPeriod.Unit
  ) -> CatalogProduct {
    var product = product(identifier, .autoRenewableSubscription, price, title)
    guard let period = SubscriptionPeriod(1, unit), let week = SubscriptionPeriod(1, .week) else {
      return product
    }
    product.subscription = SubscriptionTerms(
      groupIdentifier: "plans", level: level, period: period,
      offers: [SubscriptionOffer(type: .introductory, paymentMode: .freeTrial, period: week)])
    return product
  }
}

extension StoreProductsCommand {
  func run() async throws {
    let invalid = try await OpenStore.with(options.folder) { open in
      let wanted =
        identifiers.isEmpty ? open.store.catalog.products.map(\.productIdentifier) : identifiers
      let response = try await open.store.session(account: options.account).products(
        for: Set(wanted), preferredLocales: locale.map { Locale(identifier: $0) })
      for product in response.products { try write(product) }
      for identifier in response.invalidProductIdentifiers.sorted() {
        try output.write(Output.StoreInvalidProduct(productId: identifier), "\(identifier)  INVALID")
      }
      return response.invalidProductIdentifiers
    }
    if !invalid.isEmpty { throw ExitCode.invalid }
  }

  private func write(_ product: Product) throws {
    let (title, price) = (product.localizedTitle, product.localizedPrice)
    let period = product.subscription?.period.description
    try output.write(
      Output.StoreProduct(
        productId: product.productIdentifier, productType: product.type.rawValue, displayName: title,
        description: product.localizedDescription, price: Int64((product.price * 1000).description),
        currency: product.currency, displayPrice: price, period: period),
      "\(product.productIdentifier)  \(price)\(period.map { " / \($0)" } ?? "")  \(title)  "
        + "(\(product.type.rawValue))")
  }
}
