// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import Configuration
  import ReceiptCodec
  import ReceiptService
  import ReceiptSigning
  import ReceiptVerification
  import Storefront
  import StorefrontSQLite

  /// The settings of an emulated App Store in the server's process: its listener, and the app that it sells for.
  struct EmulatorSettings {
    /// The store's own listener; `nil` if it shares the verification listener.
    let listener: ServerSettings.Listener?
    /// The app whose products it sells, and which gets its notifications.
    let app: String
    let bundleId: String
    let environment: ReceiptEnvironment
    /// The folder of the signing identity.
    let identity: String
    /// The database of its sales.
    let ledger: String
    /// The catalogue file, JSON or `.storekit`; `nil` for the sample catalogue.
    let catalog: String?
    /// The error that prevents serving the store, if any.
    let obstacle: ServiceConfigurationError?

    init(_ reader: ConfigReader, _ settings: SettingsReader, apps: [AppConfiguration]) throws {
      let port = reader.int(forKey: "port")
      let own = try ServerSettings.listener(reader, settings, named: "emulator", defaultPort: 8090)
      let sharesListener = reader.bool(forKey: "shareListener", default: false)
      guard port == nil || !sharesListener else {
        throw ServiceConfigurationError(
          "emulator.port",
          "It has no effect: emulator.shareListener has the store on the port of verification.")
      }
      listener = sharesListener ? nil : own
      identity = settings.path(reader.string(forKey: "identity", default: "identity"))
      ledger = settings.path(reader.string(forKey: "ledger", default: "emulator.sqlite"))
      catalog = reader.string(forKey: "catalog").map(settings.path)
      let name = reader.string(forKey: "app")
      guard let app = name == nil && apps.count == 1 ? apps.first : apps.first(where: { $0.name == name })
      else {
        // The app must be named only if the emulator is served.
        obstacle = ServiceConfigurationError(
          "emulator.app", "Name the app that the emulated store sells for.")
        (self.app, bundleId, environment) = ("", "", .sandbox)
        return
      }
      self.app = app.name
      obstacle =
        app.appStoreNotifications == nil
        ? ServiceConfigurationError(
          "app.\(app.name).notifications",
          "The app of an emulated store takes its notifications: set it to true.") : nil
      let policy = app.policies[AppConfiguration.defaultPolicy]?.policy
      environment = policy?.environments.contains(.sandbox) ?? true ? .sandbox : .production
      if case .oneOf(let bundles) = policy?.bundleIds, let first = bundles.min() {
        bundleId = first
      } else {
        bundleId = DevelopmentSetup.bundleId
      }
    }

    /// Checks that the store can be served, and creates nothing.
    ///
    /// - Throws: `ServiceConfigurationError`.
    func check() throws {
      if let obstacle { throw obstacle }
      _ = try signing()
      _ = try products()
      try ServerSettings.requireFolder(of: ledger, "emulator.ledger")
    }

    /// The signing identity of the store.
    ///
    /// - Throws: `ServiceConfigurationError`.
    func signing() throws -> EmulatorSigning {
      do throws(SigningError) {
        return try EmulatorSigning(jws: IdentityDirectory(identity).load())
      } catch {
        throw ServiceConfigurationError(
          "emulator.identity",
          "\(error) Make one with receipt-tool identity create, and name its root.cer in the app's trust.")
      }
    }

    /// The catalogue of the store.
    ///
    /// - Throws: `ServiceConfigurationError`.
    func products() throws -> ProductCatalog {
      guard let catalog else { return .sample }
      do {
        return try StoreFolder.catalog(FileStore.read(catalog), isStoreKit: catalog.hasSuffix(".storekit"))
      } catch {
        throw ServiceConfigurationError("emulator.catalog", "\(catalog): \(error)")
      }
    }
  }
#endif
