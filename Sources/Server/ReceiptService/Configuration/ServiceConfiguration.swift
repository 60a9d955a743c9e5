// SPDX-License-Identifier: Apache-2.0

#if Server
  public import AuditTrail
  public import Entitlements
  public import GooglePlay
  internal import ReceiptBytes
  internal import ReceiptHTTP
  public import ReceiptVerification

  /// The configuration of a service: its apps, its limits and its audit trail.
  public struct ServiceConfiguration: Sendable {
    /// The apps, by their names in URLs and keys.
    public var apps: [AppConfiguration]
    /// The limits on requests.
    public var limits = ServiceLimits()
    /// The audit trail for apps that record their verdicts; `nil` without a trail.
    public var auditLog: AuditLog?
    /// The server's own address for others, such as `https://receipts.example.com`.
    ///
    /// Links, the API description and the console's cookies use it.
    public var publicURL: String?
    /// A Boolean value that indicates whether browsers may reach the console over `http://`.
    ///
    /// If it is `false`, or if ``publicURL`` begins with `https://`, the console's cookies are sent only over
    /// `https://`. TLS may end at a proxy.
    public var allowsPlainHTTP = false
    /// A Boolean value that indicates whether the console is served, under `/console`.
    public var servesConsole = true

    /// The number of days for which notifications and changes are kept, at least 30; 0 keeps them
    /// forever.
    ///
    /// Changes still queued for a webhook, or given up, are kept.
    public var retentionDays = 0

    /// The minimum of ``retentionDays``: stores repeat notifications, and webhooks are retried, for several days.
    package static let minimumRetentionDays = 30

    /// Creates a configuration with default values for everything except the apps.
    public init(apps: [AppConfiguration]) { self.apps = apps }

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

  /// Limits on requests.
  public struct ServiceLimits: Sendable, Hashable {
    /// The maximum length of a request body with one receipt, in bytes.
    public var maximumBodyByteCount = 1 << 20
    /// The maximum length of a batch's line, in bytes.
    ///
    /// The batch as a whole is streamed and has no limit.
    public var maximumLineByteCount = 1 << 20
    /// The maximum number of requests with a key that are served at once; the same number applies to requests without a
    /// key.
    ///
    /// Further requests get 503.
    public var maximumConcurrentRequests = 1024
    /// The deadline, in seconds, for receiving a request, for a client that stops reading its response, and for an idle
    /// connection.
    public var requestDeadline = 30
    /// The maximum number of batches that are served at once.
    public var maximumConcurrentBatches = 8
    /// The maximum number of event streams of one app that are served at once.
    public var maximumEventStreamsPerApp = 100
    /// The time, in seconds, within which a webhook endpoint must answer.
    ///
    /// A delivery belongs to the process that began it for twice this time plus four seconds. Then another process
    /// takes it over.
    public var webhookTimeout = 15

    /// Creates the default limits.
    public init() {}
  }

  /// An app whose receipts are verified, with its policies, notifications and webhooks.
  ///
  /// The key of another app gives no access to it.
  public struct AppConfiguration: Sendable {
    /// The name in URLs and keys: 1 to 64 letters, digits, `-` and `_`.
    public var name: String
    /// The verifiers by the names of their policies.
    ///
    /// Requests select one by name; the default is `default`.
    public var policies: [String: ReceiptVerifier]
    /// The remote checkers to ask after the local checks, in this order.
    public var checkers: [any RemoteChecker] = []
    /// A Boolean value that indicates whether verdicts are recorded in the audit trail before they are answered.
    public var recordsVerdicts = false
    /// The options of the recording.
    public var recording = RecordingOptions()
    /// The receiver of the App Store's notifications; `nil` if the app does not receive them.
    public var appStoreNotifications: NotificationReceiver?
    /// The receiver of Google Play's notifications; `nil` if the app does not receive them.
    public var googlePlayNotifications: DeveloperNotificationReceiver?
    /// The endpoints that changes of entitlements are posted to.
    public var webhooks: [WebhookEndpoint] = []
    /// Asks the store about a silent subscription; `nil` if the app's store cannot be asked.
    package var storeQuestion: StoreQuestion?

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
      self.name = name
      self.policies = policies
    }

    /// The name of the policy for requests that do not name one.
    package static let defaultPolicy = "default"

    fileprivate func validate() throws(ServiceConfigurationError) {
      for policy in policies.keys.sorted() {
        try Self.requireName(policy, of: "a policy", at: "app.\(name).policies")
      }
      var names: Set<String> = []
      for webhook in webhooks {
        try Self.requireName(webhook.name, of: "a webhook", at: "app.\(name).webhooks")
        guard names.insert(webhook.name).inserted else {
          throw ServiceConfigurationError(
            "app.\(name).webhooks", "Two webhooks have the name \(webhook.name).")
        }
        if let obstacle = webhook.obstacle {
          throw ServiceConfigurationError("app.\(name).webhook.\(webhook.name).url", obstacle)
        }
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

  /// An endpoint that changes of an app's entitlements are posted to, signed according to Standard Webhooks
  /// (<https://github.com/standard-webhooks/standard-webhooks>).
  public struct WebhookEndpoint: Sendable {
    /// The name in lists and commands: 1 to 64 letters, digits, `-` and `_`.
    package var name: String
    /// The URL: `https://`, or `http://` if ``allowsPrivateNetworks`` is set.
    package var url: String
    /// The signing secrets, each 24 to 64 bytes; during a change of secrets each of several signs.
    package var secrets: [[UInt8]]
    /// A Boolean value that indicates whether the URL may lead to private networks and to this machine.
    package var allowsPrivateNetworks: Bool

    /// Creates an endpoint.
    public init(name: String, url: String, secrets: [[UInt8]], allowsPrivateNetworks: Bool = false) {
      self.name = name
      self.url = url
      self.secrets = secrets
      self.allowsPrivateNetworks = allowsPrivateNetworks
    }

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

  /// A setting that cannot take effect.
  public struct ServiceConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The setting, such as `app.shop.webhooks`.
    public let setting: String
    /// The error and its remedy.
    public let message: String

    package init(_ setting: String, _ message: String) {
      self.setting = setting
      self.message = message
    }

    /// The setting and the message.
    public var description: String { "\(setting): \(message)" }
  }
#endif
