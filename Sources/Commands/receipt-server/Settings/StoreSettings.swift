// SPDX-License-Identifier: Apache-2.0

#if Server
  import AppStoreServer
  import Configuration
  import Entitlements
  import Foundation
  import GooglePlay
  import ReceiptCodec
  import ReceiptHTTP
  import ReceiptService
  import ReceiptSigning
  import ReceiptVerification
  import RemoteChecks

  /// Reads the stores of an app: their credentials, and addresses for requests and for notifications.
  struct StoreSettings {
    let reader: ConfigReader
    let settings: SettingsReader
    let place: String
    let transport: any HTTPTransport

    /// Adds the checkers, the receiver of Google Play's notifications and the query of entitlements to an app.
    func apply(to app: inout AppConfiguration, _ verifier: ReceiptVerifier) throws {
      let appStore = try appStoreClients(verifier)
      let googlePlay = try googlePlayClient()
      let huawei = try huaweiChecker(verifier)
      let serviceURL = try url("receiptKit.url")
      let serviceKey = try secret("receiptKit.keyFile")
      if serviceURL == nil, serviceKey != nil {
        throw ServiceConfigurationError("\(place).receiptKit.keyFile", "It needs receiptKit.url.")
      }
      let checkers = reader.stringArray(forKey: "checkers", default: [])
      try ServerSettings.requireDifferent(checkers, "\(place).checkers")
      // For other stores, credentials have a second use: asking the store about entitlements.
      for (name, setting, isSet) in [
        ("huawei", "huawei", huawei != nil), ("receiptkit", "receiptKit", serviceURL != nil),
      ] where isSet && !checkers.contains(name) {
        throw ServiceConfigurationError(
          "\(place).\(setting)", "It has no effect unless \(place).checkers names \"\(name)\".")
      }
      for name in checkers {
        switch name {
        case "app-store":
          guard !appStore.isEmpty else {
            throw ServiceConfigurationError(
              "\(place).checkers", "\"app-store\" needs \(place).appStore.keyFile.")
          }
          app.checkers.append(AppStoreServerChecker(clients: appStore))
        case "google-play":
          guard let googlePlay else {
            throw ServiceConfigurationError(
              "\(place).checkers", "\"google-play\" needs \(place).googlePlay.serviceAccount.")
          }
          app.checkers.append(GooglePlayChecker(client: googlePlay))
        case "huawei":
          guard let huawei else {
            throw ServiceConfigurationError(
              "\(place).checkers", "\"huawei\" needs \(place).huawei.clientID.")
          }
          app.checkers.append(huawei)
        case "receiptkit":
          guard let service = serviceURL else {
            throw ServiceConfigurationError(
              "\(place).checkers", "\"receiptkit\" needs \(place).receiptKit.url.")
          }
          app.checkers.append(ReceiptServiceChecker(service, transport: transport, token: serviceKey))
        case "ocsp": app.checkers.append(RevocationChecker(transport: transport))
        default:
          throw ServiceConfigurationError(
            "\(place).checkers",
            "\"\(name)\" is unknown. Use app-store, google-play, huawei, ocsp or receiptkit.")
        }
      }
      try receivePushes(app: &app, googlePlay)
      guard !appStore.isEmpty || googlePlay != nil else { return }
      app.storeQuestion = { entitlement in
        for client in appStore {
          if let answer = try await entitlement.ask(client) { return answer }
        }
        guard let googlePlay else { return nil }
        return try await entitlement.ask(googlePlay)
      }
    }

    private func url(_ name: String) throws -> RemoteURL? {
      try reader.string(forKey: ConfigKey(name)).map { text in
        do throws(RemoteURL.Failure) {
          return try RemoteURL(text)
        } catch {
          throw ServiceConfigurationError("\(place).\(name)", error.description)
        }
      }
    }

    private func contents(_ name: String) throws -> [UInt8]? {
      try reader.string(forKey: ConfigKey(name)).map { path in
        do {
          return try FileStore.read(settings.path(path))
        } catch {
          throw ServiceConfigurationError("\(place).\(name)", "\(error)")
        }
      }
    }

    /// The text of a file, without white space around it.
    private func secret(_ name: String) throws -> Secret? {
      try contents(name).map {
        Secret(String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
      }
    }

    private func appStoreClients(_ verifier: ReceiptVerifier) throws -> [AppStoreServerClient] {
      let names = ["appStore.keyID", "appStore.issuerID", "appStore.bundleID"]
      let values = names.map { reader.string(forKey: ConfigKey($0)) }
      let base = try url("appStore.url")
      guard let key = try contents("appStore.keyFile") else {
        guard let index = values.firstIndex(where: { $0 != nil }) else {
          if base == nil { return [] }
          throw ServiceConfigurationError("\(place).appStore.url", "It needs appStore.keyFile.")
        }
        throw ServiceConfigurationError("\(place).\(names[index])", "It needs appStore.keyFile.")
      }
      guard let keyID = values[0], let issuerID = values[1] else {
        throw ServiceConfigurationError(
          "\(place).appStore.keyFile", "It needs appStore.keyID and appStore.issuerID.")
      }
      var bundle = values[2]
      if bundle == nil, case .oneOf(let bundles) = verifier.policy.bundleIds, bundles.count == 1 {
        bundle = bundles.first
      }
      guard let bundle else {
        throw ServiceConfigurationError("\(place).appStore.bundleID", "Name the app that is asked about.")
      }
      do {
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
      } catch {
        throw ServiceConfigurationError("\(place).appStore.keyFile", "\(error)")
      }
    }

    private func googlePlayClient() throws -> GooglePlayClient? {
      let package = reader.string(forKey: "googlePlay.package")
      let tokenURL = try url("googlePlay.tokenURL")
      let base = try url("googlePlay.url")
      guard let account = try contents("googlePlay.serviceAccount") else {
        guard package == nil, tokenURL == nil, base == nil else {
          throw ServiceConfigurationError("\(place).googlePlay", "It needs googlePlay.serviceAccount.")
        }
        return nil
      }
      guard let package else {
        throw ServiceConfigurationError("\(place).googlePlay.package", "Name the app, by its package name.")
      }
      do {
        return GooglePlayClient(
          transport: transport, account: try ServiceAccount(keyFile: account), packageName: package,
          address: base.map { GooglePlayAddress(at: $0, tokenURL: tokenURL) }
            ?? GooglePlayAddress.google(tokenURL: tokenURL))
      } catch {
        throw ServiceConfigurationError("\(place).googlePlay.serviceAccount", "\(error)")
      }
    }

    private func huaweiChecker(_ verifier: ReceiptVerifier) throws -> HuaweiChecker? {
      let siteName = reader.string(forKey: "huawei.site")
      let base = try url("huawei.url")
      let secret = try secret("huawei.clientSecretFile")
      guard let clientID = reader.string(forKey: "huawei.clientID") else {
        guard siteName == nil, base == nil, secret == nil else {
          throw ServiceConfigurationError("\(place).huawei", "It needs huawei.clientID.")
        }
        return nil
      }
      guard let secret else {
        throw ServiceConfigurationError(
          "\(place).huawei.clientSecretFile", "Name the file with the client's secret.")
      }
      let address: HuaweiAddress
      switch (siteName, base) {
      case (nil, let base?):
        address = HuaweiAddress(base: base)
      case (let name?, nil):
        guard let site = HuaweiAddress.Site(rawValue: name) else {
          let known = HuaweiAddress.Site.allCases.map(\.rawValue).joined(separator: ", ")
          throw ServiceConfigurationError(
            "\(place).huawei.site", "\"\(name)\" is unknown. Use one of: \(known).")
        }
        address = HuaweiAddress(site)
      default:
        throw ServiceConfigurationError(
          "\(place).huawei.site", "Name the region, or another server's huawei.url, and not both.")
      }
      return HuaweiChecker(
        transport: transport, address: address, clientId: clientID,
        clientSecret: secret,
        verifier: ReceiptVerifier(trust: TrustAnchors(), policy: verifier.policy))
    }

    private func receivePushes(app: inout AppConfiguration, _ client: GooglePlayClient?) throws {
      let audience = reader.string(forKey: "googlePlay.pushAudience")
      let email = reader.string(forKey: "googlePlay.pushEmail")
      let keys = try url("googlePlay.pushKeysURL")
      switch (audience, email) {
      case (nil, nil):
        guard keys == nil else {
          throw ServiceConfigurationError(
            "\(place).googlePlay.pushKeysURL", "It needs googlePlay.pushAudience.")
        }
      case (let audience?, let email?):
        guard let client else {
          throw ServiceConfigurationError(
            "\(place).googlePlay.pushAudience", "It needs googlePlay.serviceAccount.")
        }
        app.googlePlayNotifications = DeveloperNotificationReceiver(
          verifier: PushTokenVerifier(
            audience: audience, email: email, transport: transport,
            keys: keys ?? PushTokenVerifier.googleKeys), client: client)
      default:
        throw ServiceConfigurationError(
          "\(place).googlePlay", "Pushes need both googlePlay.pushAudience and googlePlay.pushEmail.")
      }
    }
  }
#endif
