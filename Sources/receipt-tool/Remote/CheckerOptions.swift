// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import ReceiptRemote
import ReceiptRemoteCurl
import ReceiptSigning
import ReceiptVerification

/// Which sources are asked after the local checks.
struct CheckerOptions: ParsableArguments {
  @Option(
    name: .customLong("check"),
    help: ArgumentHelp(
      "Also ask: app-store, verify-receipt, ocsp, or receiptkit=URL. May be repeated; all must confirm.",
      discussion: """
        app-store: the App Store Server API, which knows refunds and revocations; needs credentials. \
        verify-receipt: the store's older service, for app receipts and transaction receipts. \
        ocsp: whether the certificates of the signer were revoked. \
        receiptkit=URL: another ReceiptKit service. \
        A source that cannot be reached makes the verdict undetermined.
        """, valueName: "SPEC"))
  var specifications: [String] = []

  @Flag(
    name: .customLong("offline-suffices"),
    help: "Take the signature for enough while a source of --check cannot be reached.")
  var offlineSuffices = false

  @Option(
    name: .customLong("account-token"),
    help: ArgumentHelp(
      "With app-store: the account (appAccountToken) that must own the purchase.", valueName: "UUID"))
  var accountToken: String?

  @Flag(
    name: .customLong("require-current"),
    help: "With app-store: a subscription must be active or in its grace period now.")
  var requiresCurrent = false

  @Flag(
    name: .customLong("soft-ocsp"),
    help: "With ocsp: confirm though a responder cannot be reached, and say so in the verdict.")
  var softOCSP = false

  @OptionGroup(title: "Credentials") var credentials: CredentialOptions
  @OptionGroup(title: "Servers") var servers: ServerOptions

  func validate() throws {
    for specification in specifications {
      guard
        ["app-store", "verify-receipt", "ocsp"].contains(specification)
          || specification.hasPrefix("receiptkit=")
      else {
        throw ValidationError(
          "--check takes app-store, verify-receipt, ocsp or receiptkit=URL, not \"\(specification)\".")
      }
    }
  }

  /// The checkers, in the order named.
  func checkers(
    over transport: any HTTPTransport, policy: VerificationPolicy, trust: TrustOptions.Resolved
  ) throws -> [any RemoteChecker] {
    try specifications.map { specification in
      switch specification {
      case "app-store": return try appStore(over: transport, policy: policy, trust: trust)
      case "verify-receipt":
        return VerifyReceiptChecker(
          transport: transport, endpoints: try servers.verifyReceiptEndpoints(),
          environments: policy.environments, sharedSecret: try credentials.sharedSecret(),
          retry: servers.retry)
      case "ocsp":
        var options = RevocationOptions()
        options.responderURL = try servers.responder()
        options.retryPolicy = servers.retry
        if softOCSP { options.unreachable = .softFailure }
        return RevocationChecker(transport: transport, options: options)
      default:
        let url = try servers.url(String(specification.dropFirst("receiptkit=".count)))
        return ReceiptServiceChecker(url, transport: transport, retry: servers.retry)
      }
    }
  }

  private func appStore(
    over transport: any HTTPTransport, policy: VerificationPolicy, trust: TrustOptions.Resolved
  ) throws -> AppStoreServerChecker {
    var onlyBundle: String?
    if case .oneOf(let bundleIds) = policy.bundleIds {
      guard bundleIds.count == 1 else {
        throw ToolExit.failure(ToolExit.usage, "--check app-store asks about one app: name one --bundle-id")
      }
      onlyBundle = bundleIds.first
    }
    let signer = try credentials.signer(bundleId: onlyBundle)
    let clients = try policy.environments.intersection([.production, .sandbox])
      .map { environment in
        var partPolicy = VerificationPolicy(bundleIds: .oneOf([signer.bundleId]), environments: [environment])
        partPolicy.markers = policy.markers
        return AppStoreServerClient(
          transport: transport, signer: signer, address: try servers.address(environment),
          verifier: ReceiptVerifier(
            trust: trust.anchors, policy: partPolicy, intermediates: trust.intermediates),
          retry: servers.retry)
      }
    let token = accountToken.map { UUIDString(rawValue: $0) }
    return AppStoreServerChecker(
      clients: clients,
      demands: AppStoreServerChecker.Demands(
        appAccountToken: token, demandsCurrentSubscription: requiresCurrent))
  }
}
