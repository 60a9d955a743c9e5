// SPDX-License-Identifier: Apache-2.0

#if Server
  import AuditTrail
  import Configuration
  import Entitlements
  import Foundation
  import ReceiptCodec
  import ReceiptCrypto
  import ReceiptHTTP
  import ReceiptService
  import ReceiptVerification

  extension ServerSettings {
    /// Reads the settings of an app.
    static func app(
      _ name: String, _ reader: ConfigReader, _ settings: SettingsReader, _ transport: any HTTPTransport
    ) throws -> AppConfiguration {
      let place = "app.\(name)"
      var policies: [String: ReceiptVerifier] = [:]
      let names = reader.stringArray(forKey: "policies", default: [AppConfiguration.defaultPolicy])
      try requireDifferent(names, "\(place).policies")
      for policy in names {
        policies[policy] = try verifier(
          reader.scoped(to: ConfigKey(["policy", policy])), settings, at: "\(place).policy.\(policy)")
      }
      var app = try AppConfiguration(name: name, policies: policies)
      app.recordsVerdicts = reader.bool(forKey: "record", default: false)
      app.recording.keepsReceipt = reader.bool(forKey: "keepReceipts", default: true)
      if let verifier = policies[AppConfiguration.defaultPolicy] {
        if reader.bool(forKey: "notifications", default: false) {
          app.appStoreNotifications = NotificationReceiver(verifier: verifier)
        }
        try StoreSettings(reader: reader, settings: settings, place: place, transport: transport).apply(
          to: &app, verifier)
      }
      let webhooks = reader.stringArray(forKey: "webhooks", default: [])
      try requireDifferent(webhooks, "\(place).webhooks")
      app.webhooks = try webhooks.map { endpoint in
        try webhook(
          endpoint, reader.scoped(to: ConfigKey(["webhook", endpoint])), at: "\(place).webhook.\(endpoint)")
      }
      return app
    }

    private static func webhook(_ name: String, _ reader: ConfigReader, at place: String) throws
      -> WebhookEndpoint
    {
      guard let url = reader.string(forKey: "url", isSecret: true) else {
        throw ServiceConfigurationError("\(place).url", "Name the URL that changes are posted to.")
      }
      let secrets = try reader.stringArray(forKey: "secrets", isSecret: true, default: []).map { text in
        guard let secret = StandardWebhookSigner.secret(text) else {
          throw ServiceConfigurationError(
            "\(place).secrets", "A secret is whsec_ and 24 to 64 bytes in base64, as Standard Webhooks says.")
        }
        return secret
      }
      guard !secrets.isEmpty else {
        throw ServiceConfigurationError("\(place).secrets", "Name at least one secret to sign with.")
      }
      return WebhookEndpoint(
        name: name, url: url, secrets: secrets,
        allowsPrivateNetworks: reader.bool(forKey: "allowPrivateNetworks", default: false))
    }

    private static func verifier(_ reader: ConfigReader, _ settings: SettingsReader, at place: String) throws
      -> ReceiptVerifier
    {
      guard let bundleIds = reader.stringArray(forKey: "bundleIds"), !bundleIds.isEmpty else {
        throw ServiceConfigurationError(
          "\(place).bundleIds", "Name the bundle identifiers whose receipts are accepted.")
      }
      func values<Value: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Value.Type
      ) throws -> [Value]? {
        try reader.stringArray(forKey: ConfigKey([name]))?.map { text in
          guard let value = Value(rawValue: text) else {
            let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
            throw ServiceConfigurationError(
              "\(place).\(name)", "\"\(text)\" is unknown. Use one of: \(known).")
          }
          return value
        }
      }
      var policy = VerificationPolicy(
        bundleIds: .oneOf(Set(bundleIds)),
        environments: Set(try values("environments", ReceiptEnvironment.Category.self) ?? [.production]))
      policy.appAppleId = reader.int(forKey: "appAppleId").map(Int64.init)
      policy.maximumAge = reader.double(forKey: "maximumAge")
      policy.allowedClockSkew = reader.double(forKey: "allowedClockSkew", default: policy.allowedClockSkew)
      if let kinds = try values("kinds", ReceiptKind.self) { policy.kinds = Set(kinds) }
      if let algorithms = try values("algorithms", ReceiptAlgorithm.self) {
        policy.algorithms = Set(algorithms)
      }
      for (name, store) in [("playKeys", PurchaseStore.googlePlay), ("huaweiKeys", .huawei)] {
        for entry in reader.stringArray(forKey: ConfigKey([name]), default: []) {
          let parts = entry.split(separator: "=", maxSplits: 1).map(String.init)
          guard parts.count == 2 else {
            throw ServiceConfigurationError("\(place).\(name)", "A key is given as PACKAGE=FILE.")
          }
          do {
            let file = [UInt8](try Data(contentsOf: URL(filePath: settings.path(parts[1]))))
            policy.appKeys.insert(AppKey(store, package: parts[0], publicKey: try PublicKey(inFile: file)))
          } catch {
            throw ServiceConfigurationError("\(place).\(name)", "\(parts[1]): \(error)")
          }
        }
      }
      var anchors = TrustAnchors()
      var intermediates: [Certificate] = []
      for name in reader.stringArray(forKey: "trust", default: ["apple"]) {
        guard name != "apple" else {
          anchors = anchors.union(.apple)
          intermediates += TrustAnchors.appleIntermediates
          continue
        }
        do {
          let certificates = try Certificate.certificates(
            in: [UInt8](Data(contentsOf: URL(filePath: settings.path(name)))))
          let roots = certificates.filter { $0.isSelfIssued && $0.isCertificateAuthority }
          guard !roots.isEmpty else {
            throw ServiceConfigurationError("\(place).trust", "\(name) has no root certificate in it.")
          }
          anchors = anchors.union(TrustAnchors(certificates: roots))
          intermediates += certificates.filter { !$0.isSelfIssued }
        } catch let error as ServiceConfigurationError {
          throw error
        } catch {
          throw ServiceConfigurationError("\(place).trust", "\(name): \(error)")
        }
      }
      return ReceiptVerifier(trust: anchors, policy: policy, intermediates: intermediates)
    }
  }
#endif
