// SPDX-License-Identifier: Apache-2.0

#if Server
  import Configuration
  import ReceiptCodec
  import ReceiptService
  import ReceiptVerification

  /// An emulated App Store beside a server: where it is served, and for which app it sells.
  struct EmulatorSettings {
    /// `nil` for the listener of verification.
    let listener: ServerSettings.Listener?
    /// The app whose products it sells, and which is notified.
    let app: String
    let bundleId: String
    let environment: ReceiptEnvironment
    /// The folder of the identity that signs.
    let identity: String
    /// The file with what was sold.
    let ledger: String
    /// What is sold: JSON, or a `.storekit` file; `nil` for samples.
    let catalog: String?
    /// Why it cannot be served, if so.
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
        // Without the emulator nobody needs to name one.
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
  }
#endif
