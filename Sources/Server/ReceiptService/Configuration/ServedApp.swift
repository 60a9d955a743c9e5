// SPDX-License-Identifier: Apache-2.0

#if Server
  internal import AuditTrail
  internal import ReceiptCrypto
  internal import ReceiptVerification

  struct ServedApps: Sendable {
    /// The apps, in the order of the configuration.
    let all: [ServedApp]
    private let byName: [String: ServedApp]

    /// - Throws: ``ServiceConfigurationError`` if an app records verdicts and there is no trail; an error of the trail.
    init(_ configuration: ServiceConfiguration) throws {
      all = try configuration.apps.map { try ServedApp($0, configuration.auditLog) }
      byName = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })
    }

    subscript(name: String) -> ServedApp? { byName[name] }
  }

  /// An app with values that are computed once from its configuration.
  final class ServedApp: Sendable {
    let configuration: AppConfiguration
    let policies: [String: ServedPolicy]

    init(_ configuration: AppConfiguration, _ log: AuditLog?) throws {
      self.configuration = configuration
      policies = try configuration.policies.mapValues { verifier in
        guard configuration.recordsVerdicts else { return ServedPolicy(verifier, recorder: nil) }
        guard let log else {
          throw ServiceConfigurationError(
            "app.\(configuration.name).audit",
            "The verdicts cannot be recorded: the service has no audit trail.")
        }
        try log.keep(policy: verifier.policy)
        return ServedPolicy(verifier, recorder: (log, SHA256Digest(of: verifier.policy)))
      }
    }

    var name: String { configuration.name }
    /// `true` if the App Store tells the app's ledger of refunds and renewals.
    var hearsOfAppStore: Bool { configuration.appStoreNotifications != nil }
    /// `true` if Google Play tells the app's ledger of refunds.
    var hearsOfGooglePlay: Bool { configuration.googlePlayNotifications != nil }
  }

  final class ServedPolicy: Sendable {
    let verifier: ReceiptVerifier
    /// The log that records the verdicts, and the digest of the policy; `nil` if the app does not record verdicts.
    let recorder: (log: AuditLog, policyDigest: SHA256Digest)?

    init(_ verifier: ReceiptVerifier, recorder: (AuditLog, SHA256Digest)?) {
      self.verifier = verifier
      self.recorder = recorder
    }
  }
#endif
