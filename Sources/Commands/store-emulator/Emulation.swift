// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreEmulator
  import ArgumentParser
  import Foundation
  import GooglePlay
  import GooglePlayEmulator
  import Hummingbird
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptHTTP
  import ReceiptHTTPAsyncHTTPClient
  import ReceiptSigning
  import ReceiptTesting
  import ReceiptVerification
  import Storefront
  import StorefrontSQLite
  import UnixSignals

  /// The stores and ports of one process.
  struct Emulation {
    let options: StoreEmulatorTool
    let end: EndSignal

    init(options: StoreEmulatorTool) async {
      self.options = options
      end = await EndSignal(endsWithInput: !options.keepRunning)
    }

    func run() async throws {
      let developerKey = try developerKey()
      let tlsFailure = "the TLS certificates could not be made: "
      let certificates = try ToolFailure.exiting(ToolFailure.unavailable, tlsFailure) {
        try ServerCertificates(
          now: Int64(SystemClock.now().millisecondsSince1970 / 1000), host: options.serving.reachableHost)
      }
      // Everything that can fail comes before opening the ports. The roots do not depend on the port.
      let files = StateDirectory(path: options.state)
      let folders = try folders()
      try files.write(
        signing: try signing(folders.first?.folder, ocspPort: 0), settings: folders.first?.settings,
        tlsAuthority: certificates.authority, developerKey: developerKey,
        options: options)
      defer { if options.removeState { files.remove() } }

      // Certificates contain the port of their OCSP responder.
      let ports = try await ServedPort.open(options.serving, certificates)
      let transport = try transport(certificates)
      let ocspPort = ports[0].listener.port
      // Stores without an identity of their own share an identity and its OCSP responder.
      let signing = try signing(folders.first?.folder, ocspPort: ocspPort)
      var accounts = try serviceAccounts(port: ocspPort)
      let intake =
        options.withServer
        ? try ToolFailure.exiting(ToolFailure.unavailable, tlsFailure) { try IntakeTransport() } : nil
      if let intake { accounts.append(intake.account) }
      /// The environment whose apps the server serves.
      let servedEnvironment = folders.first?.settings.environment ?? .sandbox
      var places: [Place] = []
      for (environment, port) in [(ReceiptEnvironment.sandbox, ports[0]), (.production, ports[1])] {
        let own: [StoreInFolder?] = folders.filter { $0.settings.environment == environment }
        let receiver = environment == servedEnvironment ? intake : nil
        var pairs: [StorePair] = []
        for folder in own.isEmpty ? [nil] : own {
          let signing = try folder.map { try self.signing($0.folder, ocspPort: ocspPort) } ?? signing
          var pair = try await pair(
            environment, folder, signing, developerKey.publicKey, isFirst: pairs.isEmpty)
          let local = options.serving.localURL(port: port.listener.port) + "/_emulator/receiver"
          await pair.store.sendNotifications(
            to: receiver.map { _ in pair.intakeURL } ?? options.notificationURL ?? local,
            over: receiver ?? transport, timeout: .seconds(options.notificationTimeout),
            retries: environment == .production || options.sandboxRetries)
          try await prepare(pair.store)
          pairs.append(pair)
        }
        let play = EmulatedPlay(
          pairs.map(\.play), accounts: accounts, checksTokens: !options.noTokenChecks,
          clock: { SystemClock.now() })
        let urls = Dictionary(uniqueKeysWithValues: pairs.map { ($0.play.packageName, $0.intakeURL) })
        play.pushNotifications(
          to: { receiver == nil ? options.play.playPushURL : urls[$0.packageName] },
          audience: receiver == nil ? options.play.playPushAudience : nil,
          email: receiver == nil ? options.play.playPushEmail : IntakeTransport.pushEmail,
          over: receiver ?? transport, timeout: .seconds(options.notificationTimeout))
        places.append(Place(environment: environment, stores: pairs.map(\.store), play: play))
      }
      let stores = places.flatMap(\.stores)
      if stores.contains(where: { $0.signing.responder == nil }) {
        ToolFailure.write("store-emulator: note: \(EmulatedResponder.absence)\n")
      }
      let named = ports.map { ($0.name, $0.listener.port) }
      let server = try await mount(places.first { $0.environment == servedEnvironment }, intake, files)
      let serving = Task { try await server?.run() }
      let address = await server?.address(options.serving)
      if server != nil, address == nil {
        _ = try await serving.value
        return
      }
      ToolFailure.write(files.readyLine(ports: named, server: address), to: .standardOutput)
      // Another catalogue has other products, and a store in a folder may have sold before.
      if let address, options.store.isEmpty, options.catalog == nil {
        ToolFailure.write(Self.purchase(at: options.serving.url(port: named[0].1), address))
      }
      await withTaskGroup(of: Void.self) { group in
        for place in places {
          let apps = EmulatedApps(place.stores, beside: place.play.deliver, shutdown: { end.fire() })
          for port in ports where port.isProduction == (place.environment == .production) {
            group.addTask { [options] in try? await port.listener.serve(apps, options.serving) }
          }
          for store in place.stores {
            group.addTask { await store.run { ToolFailure.write("store-emulator: \($0)\n") } }
          }
          for store in place.play.stores { group.addTask { await store.run() } }
        }
        // A server that fails ends the process.
        if server != nil { group.addTask { try? await serving.value } }
        group.addTask { [end] in await end.wait() }
        // Serving never ends by itself, so the first task to end is the one that waits for the signal.
        await group.next()
        await server?.shutDown()
        group.cancelAll()
      }
      try? await transport.shutdown()
      for folder in folders {
        // The other environment may have a store of the same app in memory.
        let store = stores.first {
          $0.configuration.bundleId == folder.settings.bundleId
            && $0.configuration.environment == folder.settings.environment
        }
        if let store { try? folder.save(store.configuration.clock()) }
      }
      // The error of a server that failed.
      _ = try await serving.value
    }

    /// The stores of one environment.
    private struct Place {
      let environment: ReceiptEnvironment
      let stores: [EmulatedAppStore]
      let play: EmulatedPlay
    }

    /// An app at both stores.
    private struct StorePair {
      var store: EmulatedAppStore
      let play: EmulatedPlayStore

      /// The URL at which the mounted server receives the app's notifications.
      var intakeURL: String { IntakeTransport.url(MountedServer.app(store.configuration.bundleId)) }
    }

    /// Opens the server over the stores; `nil` if it is not to be served.
    private func mount(
      _ served: Place?, _ intake: IntakeTransport?, _ files: StateDirectory
    ) async throws -> MountedServer? {
      guard let served, let intake else { return nil }
      return try await ToolFailure.exiting(ToolFailure.cannotCreate, "the server cannot be opened: ") {
        try await MountedServer(
          files, keepsDatabase: !options.store.isEmpty,
          at: .hostname(options.serving.bind, port: Int(options.serverPort ?? 0)), served.stores, served.play,
          intake)
      }
    }

    /// Shell commands that buy a product, refund it, and show the entitlement.
    private static func purchase(at store: String, _ server: (url: String, key: String)) -> String {
      let customer = "7e3fb204-2b3a-4c8f-9d5e-6a1b2c3d4e5f"
      return """
        Buy, see what the customer is entitled to, and refund:

          curl \(store)/_emulator/buy -d '{"account": "alice", "productId": "com.example.app.monthly", "appAccountToken": "\(customer)"}'
          curl -H "Authorization: Bearer \(server.key)" \(server.url)/v1/customers/\(customer)/entitlements
          curl \(store)/_emulator/refund -d '{"transactionId": "2000000000000001"}'

        The console is at \(server.url)/console; log in with the key.

        """
    }

    private struct StoreInFolder {
      let folder: StoreFolder
      var settings: StoreSettings

      init(_ folder: StoreFolder) throws {
        self.folder = folder
        settings = try StoreSettings(decoding: FileStore.read(folder.settingsFile))
      }

      /// Saves the offset of the store's clock.
      func save(_ time: Timestamp) throws {
        var settings = settings
        settings.billingIssueOf = nil
        settings.clockOffset = time.millisecondsSince1970 - SystemClock.now().millisecondsSince1970
        try FileStore.replace(folder.settingsFile, mode: 0o644, contents: settings.encoded())
      }
    }

    private func folders() throws -> [StoreInFolder] {
      try ToolFailure.exiting(ToolFailure.noInput) {
        let folders = try options.store.map { try StoreInFolder(StoreFolder($0)) }
        let apps = Set(folders.map { "\($0.settings.environment.rawValue) \($0.settings.bundleId)" })
        guard apps.count == folders.count else {
          throw ToolFailure.exit(
            ToolFailure.usage, "two stores are of the same app: give each its own --bundle")
        }
        return folders
      }
    }

    /// An HTTP client that also trusts the emulator's own TLS certificates, so that it can notify a server that uses
    /// them.
    private func transport(_ certificates: ServerCertificates) throws -> AsyncHTTPClientTransport {
      try ToolFailure.exiting(ToolFailure.noInput) {
        var roots = [certificates.authority.pem]
        if let file = options.notificationCertificates {
          roots.append(String(decoding: try FileStore.read(file), as: UTF8.self))
        }
        return try AsyncHTTPClientTransport(.init(additionalTrustRoots: roots))
      }
    }

    private func pair(
      _ environment: ReceiptEnvironment, _ stored: StoreInFolder?, _ signing: EmulatorSigning,
      _ developerKey: PublicKey, isFirst: Bool
    ) async throws -> StorePair {
      let key = DeveloperKey(keyId: options.keyId, issuerId: options.issuerId, publicKey: developerKey)
      var configuration = EmulatedAppStore.Configuration(
        environment: environment, bundleId: options.bundleId, appAppleId: options.appAppleId,
        developerKeys: options.noTokenChecks ? nil : [key], sharedSecret: options.sharedSecret)
      var storeOptions = LocalStore.Options(bundleIdentifier: options.bundleId)
      storeOptions.engine.gracePeriodDays = options.gracePeriod
      if options.sandboxRates { storeOptions.engine.calendar = .sandbox }
      var storage: any RecordStorage = MemoryRecordStorage()
      var playStorage: any RecordStorage = MemoryRecordStorage()
      // A killed `receipt-tool store advance` may have left this set.
      var billingIssueOf: String?
      var start = SystemClock.now()
      if let text = options.clock {
        guard let time = try? Timestamp(iso8601: text) else {
          throw ToolFailure.exit(ToolFailure.usage, "--clock takes a time such as 2026-01-31T12:00:00Z.")
        }
        start = time
      }
      return try await ToolFailure.exiting(ToolFailure.noInput) {
        if let stored {
          storeOptions = stored.settings.options()
          configuration.bundleId = stored.settings.bundleId
          if let appAppleId = stored.settings.appAppleId { configuration.appAppleId = appAppleId }
          storage = try SQLiteRecordStorage(openingAt: stored.folder.ledgerFile)
          playStorage = try SQLiteRecordStorage(at: stored.folder.playLedgerFile)
          // Read the settings again now: the storage is open, so no other process can change them.
          let settings = try StoreInFolder(stored.folder).settings
          start = SystemClock.now().addingSeconds(settings.clockOffset / 1000)
          billingIssueOf = settings.billingIssueOf
        }
        let clock = EmulatorClock(at: start, rate: options.clockRate)
        let store = try EmulatedAppStore(
          configuration, signing: signing, clock: clock, catalog: try catalog(stored?.folder),
          storage: storage, options: storeOptions)
        let name = isFirst ? options.play.playPackage : nil
        let playStore = try EmulatedPlayStore(
          packageName: name ?? configuration.bundleId, isTest: environment == .sandbox, signing: signing,
          clock: clock, clientClock: { SystemClock.now() }, catalog: store.purchases.catalog,
          storage: playStorage, options: storeOptions)
        clock.advance(to: max(try await store.purchases.lastEventDate(), try await playStore.lastEventDate()))
        if let billingIssueOf {
          try await store.purchases.perform(.setBillingIssue(false, of: billingIssueOf))
        }
        return StorePair(store: store, play: playStore)
      }
    }

    /// Lets a store that sends notifications follow its clock, and adds the sample.
    private func prepare(_ store: EmulatedAppStore) async throws {
      store.clock?.add(store)
      guard options.sample else { return }
      try await ToolFailure.exiting(ToolFailure.noInput) {
        let seed = try EmulatorSeed(
          json: .object([JSONMember(name: "sample", value: .bool(true))]), configuration: store.configuration)
        try await seed.apply(to: store)
      }
    }

    /// The service account in the given file. A file that does not exist is created.
    private func serviceAccounts(port: Int) throws -> [PlayServiceAccount] {
      guard let file = options.play.playServiceAccount else { return [] }
      if let contents = try? FileStore.read(file) {
        return try ToolFailure.exiting(ToolFailure.noInput, "\(file): ") {
          [try PlayServiceAccount(keyFile: contents)]
        }
      }
      return try ToolFailure.exiting(ToolFailure.cannotCreate, "\(file): ") {
        let (account, contents) = try PlayServiceAccount.make(
          tokenURI: options.serving.url(port: port) + "/token")
        try FileStore.replace(file, mode: 0o600, contents: contents)
        return [account]
      }
    }

    private func catalog(_ folder: StoreFolder?) throws -> ProductCatalog {
      let files = folder.map { [$0.storeKitCatalogFile, $0.ownCatalogFile] } ?? []
      guard let file = options.catalog ?? files.first(where: FileManager.default.fileExists) ?? files.last
      else { return .sample }
      return try StoreFolder.catalog(FileStore.read(file), isStoreKit: file.hasSuffix(".storekit"))
    }

    private func signing(_ folder: StoreFolder?, ocspPort: Int) throws -> EmulatorSigning {
      try ToolFailure.exiting(ToolFailure.noInput) {
        let receipts =
          if options.receiptAuthority == "test" { try TestAuthority.rsa().identity } else {
            try IdentityDirectory(options.receiptAuthority).load()
          }
        if folder == nil, options.authority == "test" {
          return try EmulatorSigning(serverURL: options.serving.url(port: ocspPort), appReceipts: receipts)
        }
        return try EmulatorSigning(
          jws: IdentityDirectory(folder?.path ?? options.authority).load(), appReceipts: receipts)
      }
    }

    private func developerKey() throws -> PrivateKey {
      try ToolFailure.exiting(ToolFailure.noInput) {
        guard let path = options.developerKey else { return try TestKeys.developer() }
        return try SigningIdentity.privateKey(inFile: FileStore.read(path))
      }
    }
  }

  /// The event that ends the process: SIGTERM, SIGINT, the end of standard input, or a request to shut down.
  final class EndSignal: Sendable {
    private let (events, source) = AsyncStream.makeStream(of: Void.self)

    /// Starts to catch signals and the end of the input. Events before ``wait()`` are not lost.
    init(endsWithInput: Bool) async {
      let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
      Task { [self] in
        for await _ in signals { fire() }
      }
      guard endsWithInput else { return }
      // Reading blocks.
      Thread.detachNewThread { [self] in
        while let bytes = try? FileHandle.standardInput.read(upToCount: 1024), !bytes.isEmpty {}
        fire()
      }
    }

    func fire() { source.yield() }

    func wait() async {
      for await _ in events { return }
    }
  }
#endif
