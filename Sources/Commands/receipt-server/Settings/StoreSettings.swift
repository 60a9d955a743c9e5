// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreServer
  import Configuration
  import Entitlements
  import GooglePlay
  import ReceiptCodec
  import ReceiptHTTP
  import ReceiptService
  import ReceiptSigning
  import ReceiptVerification
  import RemoteChecks

  /// The stores of an app: their credentials, and addresses for requests and for notifications.
  extension SettingsGroup {
    /// Adds the checkers, the receiver of Google Play's notifications and the query of entitlements to an app.
    func addStores(to app: inout AppConfiguration, _ verifier: ReceiptVerifier) throws {
      let appStore = try appStoreClients(verifier)
      let googlePlay = try googlePlayClient()
      let huawei = try huaweiChecker(verifier)
      let serviceURL = try url("receiptKit.url")
      let serviceKey = try secret("receiptKit.keyFile")
      if serviceURL == nil, serviceKey != nil {
        throw error("receiptKit.keyFile", "It needs receiptKit.url.")
      }
      let checkers = try names("checkers").map { try value($0, "checkers", Checker.self) }
      // For other stores, credentials have a second use: asking the store about entitlements.
      for (checker, setting, isSet) in [
        (Checker.huawei, "huawei", huawei != nil), (.receiptKit, "receiptKit", serviceURL != nil),
      ] where isSet && !checkers.contains(checker) {
        throw error(setting, "It has no effect unless \(name("checkers")) names \"\(checker.rawValue)\".")
      }
      for checker in checkers {
        func required<Client>(_ client: Client?, _ setting: String) throws -> Client {
          guard let client else { throw error("checkers", "\"\(checker.rawValue)\" needs \(name(setting)).") }
          return client
        }
        switch checker {
        case .appStore:
          let clients = try required(appStore.isEmpty ? nil : appStore, "appStore.keyFile")
          app.checkers.append(AppStoreServerChecker(clients: clients))
        case .googlePlay:
          app.checkers.append(
            GooglePlayChecker(client: try required(googlePlay, "googlePlay.serviceAccount")))
        case .huawei: app.checkers.append(try required(huawei, "huawei.clientID"))
        case .receiptKit:
          let service = try required(serviceURL, "receiptKit.url")
          app.checkers.append(ReceiptServiceChecker(service, transport: transport, token: serviceKey))
        case .ledger: app.consultsLedger = true
        case .ocsp: app.checkers.append(RevocationChecker(transport: transport))
        }
      }
      app.lookup = PurchaseLookup(
        verifier: verifier, appStore: appStore, googlePlay: googlePlay, huawei: huawei)
      app.googlePlayNotifications = try pushReceiver(googlePlay)
      guard !appStore.isEmpty || googlePlay != nil else { return }
      app.refundAnswers = RefundAnswerSender(appStore: appStore, googlePlay: googlePlay)
      app.storeQuestion = { entitlement in
        for client in appStore {
          if let answer = try await entitlement.ask(client) { return answer }
        }
        guard let googlePlay else { return nil }
        return try await entitlement.ask(googlePlay)
      }
    }

    private func appStoreClients(_ verifier: ReceiptVerifier) throws -> [AppStoreServerClient] {
      let names = ["appStore.keyID", "appStore.issuerID", "appStore.bundleID"]
      let values = names.map(string)
      let base = try url("appStore.url")
      guard let key = try contents("appStore.keyFile") else {
        let given = zip(names, values).first { $0.1 != nil }?.0 ?? (base == nil ? nil : "appStore.url")
        guard let given else { return [] }
        throw error(given, "It needs appStore.keyFile.")
      }
      guard let keyID = values[0], let issuerID = values[1] else {
        throw error("appStore.keyFile", "It needs appStore.keyID and appStore.issuerID.")
      }
      var bundle = values[2]
      if bundle == nil, case .oneOf(let bundles) = verifier.policy.bundleIds, bundles.count == 1 {
        bundle = bundles.first
      }
      guard let bundle else { throw error("appStore.bundleID", "Name the app that is asked about.") }
      return try naming("appStore.keyFile") {
        let signer = try DeveloperSigner(
          privateKey: SigningIdentity.privateKey(inFile: key), keyId: keyID, issuerId: issuerID,
          bundleId: bundle)
        return verifier.policy.environments.intersection([.production, .sandbox]).map { environment in
          var policy = VerificationPolicy(bundleIds: .oneOf([bundle]), environments: [environment])
          policy.markers = verifier.policy.markers
          let usual: AppStoreServerAddress = environment == .production ? .production : .sandbox
          return AppStoreServerClient(
            transport: transport, signer: signer,
            address: base.map { AppStoreServerAddress(environment, at: $0) } ?? usual,
            verifier: ReceiptVerifier(
              trust: verifier.trust, policy: policy, intermediates: verifier.intermediates))
        }
      }
    }

    private func googlePlayClient() throws -> GooglePlayClient? {
      let package = string("googlePlay.package")
      let tokenURL = try url("googlePlay.tokenURL")
      let base = try url("googlePlay.url")
      guard let account = try contents("googlePlay.serviceAccount") else {
        guard package == nil, tokenURL == nil, base == nil else {
          throw error("googlePlay", "It needs googlePlay.serviceAccount.")
        }
        return nil
      }
      guard let package else { throw error("googlePlay.package", "Name the app, by its package name.") }
      return GooglePlayClient(
        transport: transport,
        account: try naming("googlePlay.serviceAccount") { try ServiceAccount(keyFile: account) },
        packageName: package,
        address: base.map { GooglePlayAddress(at: $0, tokenURL: tokenURL) }
          ?? GooglePlayAddress.google(tokenURL: tokenURL))
    }

    private func huaweiChecker(_ verifier: ReceiptVerifier) throws -> HuaweiChecker? {
      let site = string("huawei.site")
      let base = try url("huawei.url")
      let secret = try secret("huawei.clientSecretFile")
      guard let clientID = string("huawei.clientID") else {
        guard site == nil, base == nil, secret == nil else {
          throw error("huawei", "It needs huawei.clientID.")
        }
        return nil
      }
      guard let secret else {
        throw error("huawei.clientSecretFile", "Name the file with the client's secret.")
      }
      let address: HuaweiAddress
      switch (site, base) {
      case (nil, let base?): address = HuaweiAddress(base: base)
      case (let site?, nil):
        address = HuaweiAddress(try value(site, "huawei.site", HuaweiAddress.Site.self))
      default:
        throw error("huawei.site", "Name the region, or another server's huawei.url, and not both.")
      }
      return HuaweiChecker(
        transport: transport, address: address, clientId: clientID, clientSecret: secret,
        verifier: ReceiptVerifier(trust: TrustAnchors(), policy: verifier.policy))
    }

    private func pushReceiver(_ client: GooglePlayClient?) throws -> DeveloperNotificationReceiver? {
      let audience = string("googlePlay.pushAudience")
      let email = string("googlePlay.pushEmail")
      let keys = try url("googlePlay.pushKeysURL")
      switch (audience, email) {
      case (nil, nil):
        guard keys == nil else {
          throw error("googlePlay.pushKeysURL", "It needs googlePlay.pushAudience.")
        }
        return nil
      case (let audience?, let email?):
        guard let client else {
          throw error("googlePlay.pushAudience", "It needs googlePlay.serviceAccount.")
        }
        return DeveloperNotificationReceiver(
          verifier: PushTokenVerifier(
            audience: audience, email: email, transport: transport,
            keys: keys ?? PushTokenVerifier.googleKeys), client: client)
      default:
        throw error("googlePlay", "Pushes need both googlePlay.pushAudience and googlePlay.pushEmail.")
      }
    }
  }
#endif
