// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import Entitlements
  internal import ReceiptBytes
  internal import ReceiptHTTP
  public import ReceiptVerification

  extension ServiceConfiguration {
    /// The minimum of ``retentionDays``: stores repeat notifications, and webhooks are retried, for several days.
    package static let minimumRetentionDays = 30

    /// `true` if the console's cookies are sent only over `https://`.
    var securesCookies: Bool {
      !allowsPlainHTTP || publicURL.flatMap { try? RemoteURL($0, allowsPlainHTTP: true) }?.isSecure == true
    }

    /// - Throws: ``ServiceConfigurationError`` for a setting that cannot take effect.
    package func validate() throws(ServiceConfigurationError) {
      guard retentionDays == 0 || Self.minimumRetentionDays...36_500 ~= retentionDays else {
        throw ServiceConfigurationError(
          "retention.days", "It takes 0, for ever, or \(Self.minimumRetentionDays) to 36500.")
      }
      if let publicURL {
        do throws(RemoteURL.Failure) {
          _ = try RemoteURL(publicURL, allowsPlainHTTP: true)
        } catch {
          throw ServiceConfigurationError("public.url", error.description)
        }
      }
      var names: Set<String> = []
      for app in apps {
        guard names.insert(app.name).inserted else {
          throw ServiceConfigurationError("app.\(app.name)", "Two apps have this name.")
        }
        try app.validate()
      }
    }

    /// Fails if two apps accept receipts of one bundle identifier.
    ///
    /// Entries of the audit trail belong to an app by their bundle identifier. The key of one such app could see, prove
    /// and erase the records of the other.
    ///
    /// - Throws: ``ServiceConfigurationError``, which names both apps.
    package func requireSeparateApps() throws(ServiceConfigurationError) {
      var owners: [String: String] = [:]
      for app in apps {
        var bundles: Set<String> = []
        for verifier in app.policies.values {
          switch verifier.policy.bundleIds {
          case .oneOf(let some): bundles.formUnion(some)
          case .any:
            guard apps.count == 1 else {
              throw ServiceConfigurationError(
                "app.\(app.name)", "It accepts the receipts of all apps, and is not the only one.")
            }
          }
        }
        for bundle in bundles.sorted() {
          if let owner = owners.updateValue(app.name, forKey: bundle) {
            throw ServiceConfigurationError(
              "app.\(app.name)",
              "It accepts receipts of \(ShownText.plain(bundle)), and so does the app \(owner): with the keys of one, the "
                + "entries of the other in the audit trail could be seen and erased. Set allowSharedBundleIds to true if "
                + "that is meant.")
          }
        }
      }
    }
  }

  extension AppConfiguration {
    /// Creates an app.
    ///
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `-` and `_`.
    ///   - policies: The verifiers by the names of their policies, `default` among them.
    /// - Throws: ``ServiceConfigurationError``.
    public init(name: String, policies: [String: ReceiptVerifier]) throws(ServiceConfigurationError) {
      try Self.requireName(name, of: "an app", at: "app")
      guard policies[Self.defaultPolicy] != nil else {
        throw ServiceConfigurationError(
          "app.\(name)", "The app has no policy named \"\(Self.defaultPolicy)\".")
      }
      self.init(checked: name, policies: policies)
    }

    /// The name of the policy for requests that do not name one.
    package static let defaultPolicy = "default"

    fileprivate func validate() throws(ServiceConfigurationError) {
      for policy in policies.keys.sorted() {
        try Self.requireName(policy, of: "a policy", at: "app.\(name).policies")
      }
      var named: Set<String> = []
      for entitlement in entitlements {
        try Self.requireName(entitlement.name, of: "an entitlement", at: "app.\(name).entitlements")
        guard named.insert(entitlement.name).inserted else {
          throw ServiceConfigurationError(
            "app.\(name).entitlements", "Two entitlements have the name \(entitlement.name).")
        }
      }
      var names: Set<String> = []
      for webhook in webhooks {
        try Self.requireName(webhook.name, of: "a webhook", at: "app.\(name).webhooks")
        guard names.insert(webhook.name).inserted else {
          throw ServiceConfigurationError(
            "app.\(name).webhooks", "Two webhooks have the name \(webhook.name).")
        }
        if let obstacle = webhook.target.obstacle {
          throw ServiceConfigurationError("app.\(name).webhook.\(webhook.name).url", obstacle)
        }
      }
      if let obstacle = forwarding?.obstacle {
        throw ServiceConfigurationError("app.\(name).forwarding.url", obstacle)
      }
    }

    private static func requireName(
      _ name: String, of object: String, at setting: String
    ) throws(ServiceConfigurationError) {
      let isName =
        1...64 ~= name.utf8.count
        && name.utf8.allSatisfy {
          $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
        }
      guard isName else {
        throw ServiceConfigurationError(
          setting,
          "The name of \(object) has 1 to 64 letters, digits, - and _, not \"\(ShownText.plain(name))\".")
      }
    }
  }

  extension PostTarget {
    /// The reason why nothing can be posted to the URL, regardless of its host's addresses; `nil` if posting is
    /// possible.
    var obstacle: String? {
      let parsed: RemoteURL
      do throws(RemoteURL.Failure) {
        parsed = try RemoteURL(url, allowsPlainHTTP: true)
      } catch {
        return error.description
      }
      guard !allowsPrivateNetworks else { return nil }
      guard parsed.isSecure else {
        return
          "The URL is not https://. Plain HTTP is for private networks alone: set allowPrivateNetworks to true."
      }
      let addresses = IPAddress.resolve(parsed.host, isNumeric: true)
      guard !parsed.isLoopback, addresses.allSatisfy(\.isGlobalUnicast) else {
        return "\(parsed.host) is not in the Internet. Set allowPrivateNetworks to true to post to it."
      }
      return nil
    }
  }

  extension ServiceConfigurationError {
    /// The setting and the message.
    public var description: String { "\(setting): \(message)" }
  }
#endif
