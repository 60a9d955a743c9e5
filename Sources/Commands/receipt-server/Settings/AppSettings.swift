// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import Configuration
  import Entitlements
  import Foundation
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptService
  import ReceiptSigning
  import ReceiptVerification

  extension SettingsGroup {
    /// The app whose settings are in this group.
    func app(named name: String) throws -> AppConfiguration {
      var policies: [String: ReceiptVerifier] = [:]
      let asksGooglePlay = try names("checkers").contains("google-play")
      for policy in try names("policies") {
        policies[policy] = try group("policy", policy).verifier(asksGooglePlay: asksGooglePlay)
      }
      var app = try AppConfiguration(name: name, policies: policies)
      app.clientProtocols = Set(try values("clientProtocols", ClientProtocol.self) ?? [])
      app.consumables = Set(try names("consumables"))
      if !app.consumables.isEmpty, !app.clientProtocols.contains(.openIAP) {
        throw error("consumables", "It has no effect unless \(self.name("clientProtocols")) names openiap.")
      }
      app.recordsVerdicts = bool("record")
      app.recording.keepsReceipt = bool("keepReceipts")
      if let verifier = policies[AppConfiguration.defaultPolicy] {
        if bool("notifications") { app.appStoreNotifications = NotificationReceiver(verifier: verifier) }
        try addStores(to: &app, verifier)
      }
      try addEntitlements(to: &app)
      app.webhooks = try names("webhooks").map { try group("webhook", $0).webhook(named: $0) }
      app.forwarding = try group("forwarding").forwardingTarget
      if app.forwarding != nil, app.appStoreNotifications == nil, app.googlePlayNotifications == nil {
        throw error(
          "forwarding.url",
          "It has no effect: the app receives no notifications. Set \(self.name("notifications")) to true, or "
            + "\(self.name("googlePlay.pushAudience")).")
      }
      return app
    }

    // MARK: Entitlements

    private func addEntitlements(to app: inout AppConfiguration) throws {
      app.transfers = try value("transfers", TransferRule.self) ?? .move
      app.entitlements = try names("entitlements").map { name in
        NamedEntitlement(name: name, products: Set(try group("entitlement", name).names("products")))
      }
      app.entitlementRules = try entitlementRules(of: app)
      app.entitlementSigners = try names("signingKeys").map { file in
        try naming("signingKeys", "\(file): ") {
          try EntitlementSigner(
            privateKey: try SigningIdentity.privateKey(inFile: try FileStore.read(settings.path(file))))
        }
      }
      app.entitlementTokenLifetime = try integer("entitlementTokenLifetime")
      let ineffective: [(setting: String, isSet: Bool)] = [
        ("familySharing", reader.bool(forKey: "familySharing") != nil),
        ("testPurchases", given("testPurchases") != nil),
        ("testCustomers", app.entitlementRules.testCustomers != nil),
        ("signingKeys", !app.entitlementSigners.isEmpty),
      ]
      if app.entitlements.isEmpty, let first = ineffective.first(where: \.isSet) {
        throw error(first.setting, "It has no effect unless \(name("entitlements")) names one.")
      }
      if app.entitlementSigners.isEmpty, reader.int(forKey: "entitlementTokenLifetime") != nil {
        throw error("entitlementTokenLifetime", "It has no effect without \(name("signingKeys")).")
      }
    }

    private func entitlementRules(of app: AppConfiguration) throws -> EntitlementRules {
      var rules = EntitlementRules()
      rules.acceptsFamilySharing = bool("familySharing")
      let choice = try value("testPurchases", TestPurchases.self)
      switch choice ?? .policy {
      case .accept: break
      case .refuse: rules.environments = [.appStore: [.production], .googlePlay: [.production]]
      case .policy:
        guard let policy = app.policies[AppConfiguration.defaultPolicy]?.policy else { break }
        rules.environments = [
          .appStore: policy.environments,
          .googlePlay: policy.otherStores[.googlePlay] ?? policy.environments,
        ]
      }
      let customers = try names("testCustomers")
      guard !customers.isEmpty else { return rules }
      guard choice != .refuse else {
        throw error("testCustomers", "It has no effect while \(name("testPurchases")) is refuse.")
      }
      rules.testCustomers = Set(customers.map(RecordingOptions.canonicalCustomer))
      return rules
    }

    /// The old system in the group `forwarding`.
    private var forwardingTarget: PostTarget? {
      get throws {
        guard let url = string("url") else {
          guard reader.bool(forKey: "allowPrivateNetworks") == nil else {
            throw error("allowPrivateNetworks", "It has no effect without \(name("url")).")
          }
          return nil
        }
        return PostTarget(url: url, allowsPrivateNetworks: bool("allowPrivateNetworks"))
      }
    }

    private func webhook(named name: String) throws -> WebhookEndpoint {
      guard let url = string("url") else {
        throw error("url", "Name the URL that changes are posted to.")
      }
      let secrets = try strings("secrets").map { text in
        guard let secret = StandardWebhookSigner.secret(text) else {
          throw error(
            "secrets", "A secret is whsec_ and 24 to 64 bytes in base64, as Standard Webhooks says.")
        }
        return secret
      }
      let format = try value("format", WebhookFormat.self) ?? .standard
      let authorization = string("authorization")
      if let authorization, authorization.isEmpty || !authorization.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }) {
        throw error("authorization", "It takes visible ASCII characters and spaces.")
      }
      guard !secrets.isEmpty || format == .revenueCat && authorization != nil else {
        throw error("secrets", "Name at least one secret to sign with.")
      }
      return WebhookEndpoint(
        name: name, url: url, secrets: secrets, allowsPrivateNetworks: bool("allowPrivateNetworks"),
        format: format, authorization: authorization)
    }

    // MARK: Policies

    /// Creates a policy's verifier. If Google Play is asked about the app's purchases, it states their environment.
    private func verifier(asksGooglePlay: Bool) throws -> ReceiptVerifier {
      let bundleIds = strings("bundleIds")
      guard !bundleIds.isEmpty else {
        throw error("bundleIds", "Name the bundle identifiers whose receipts are accepted.")
      }
      var policy = VerificationPolicy(
        bundleIds: .oneOf(Set(bundleIds)),
        environments: Set(try values("environments", ReceiptEnvironment.Category.self) ?? [.production]))
      policy.appAppleId = reader.int(forKey: "appAppleId").map(Int64.init)
      policy.maximumAge = double("maximumAge")
      policy.allowedClockSkew = double("allowedClockSkew") ?? policy.allowedClockSkew
      policy.requiresCurrentPurchase = bool("requireCurrent")
      if let kinds = try values("kinds", ReceiptKind.self) { policy.kinds = Set(kinds) }
      if let algorithms = try values("algorithms", ReceiptAlgorithm.self) {
        policy.algorithms = Set(algorithms)
      }
      for (name, store) in [("playKeys", PurchaseStore.googlePlay), ("huaweiKeys", .huawei)] {
        for entry in strings(name) {
          let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
          guard parts.count == 2 else { throw error(name, "A key is given as PACKAGE=FILE.") }
          let key = try reading(parts[1], name) { try PublicKey(inFile: $0) }
          policy.appKeys.insert(AppKey(store, package: parts[0], publicKey: key))
        }
      }
      for (name, store) in [("playEnvironments", PurchaseStore.googlePlay), ("huaweiEnvironments", .huawei)] {
        if let accepted = try values(name, ReceiptEnvironment.Category.self) {
          policy.otherStores[store] = Set(accepted)
        }
      }
      let rule =
        try value("unstatedEnvironment", UnstatedEnvironmentRule.self) ?? (asksGooglePlay ? .ask : .accept)
      let hasPlayKeys = policy.appKeys.all.contains { $0.store == .googlePlay }
      let accepted = policy.otherStores[.googlePlay] ?? policy.environments
      guard
        rule != .ask || !hasPlayKeys || asksGooglePlay || accepted.isSuperset(of: [.production, .sandbox])
      else {
        throw error(
          "unstatedEnvironment",
          "Without google-play among the checkers of the app, ask leaves every purchase of Google Play undetermined."
        )
      }
      policy.unstatedEnvironment = rule
      let xcode = try strings("xcodeCertificates").flatMap { name in
        try reading(name, "xcodeCertificates") { try Certificate.certificates(in: $0) }
      }
      if !xcode.isEmpty {
        guard !policy.environments.isDisjoint(with: [.xcode, .localTesting]) else {
          throw error(
            "xcodeCertificates",
            "It has no effect unless \(name("environments")) names xcode or local-testing.")
        }
        policy.selfSignedTesting = .pinned(certificates: xcode)
      }
      var anchors = TrustAnchors()
      var intermediates: [Certificate] = []
      for name in strings("trust") {
        guard name != "apple" else {
          anchors = anchors.union(.apple)
          intermediates += TrustAnchors.appleIntermediates
          continue
        }
        let certificates = try reading(name, "trust") { try Certificate.certificates(in: $0) }
        let roots = certificates.filter { $0.isSelfIssued && $0.isCertificateAuthority }
        guard !roots.isEmpty else { throw error("trust", "\(name) has no root certificate in it.") }
        anchors = anchors.union(TrustAnchors(certificates: roots))
        intermediates += certificates.filter { !$0.isSelfIssued }
      }
      return ReceiptVerifier(trust: anchors, policy: policy, intermediates: intermediates)
    }

    /// Reads a file that a setting names among others.
    private func reading<Value>(
      _ file: String, _ name: String, _ parse: ([UInt8]) throws -> Value
    ) throws -> Value {
      try naming(name, "\(file): ") {
        try parse([UInt8](try Data(contentsOf: URL(filePath: settings.path(file)))))
      }
    }
  }
#endif
