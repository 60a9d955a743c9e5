// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import AppStoreServer
import RemoteChecks
import ReceiptSigning
import ReceiptVerification

/// The option groups with the connections of ``CheckerOptions`` to remote sources. They are groups of the command
/// itself and not of ``CheckerOptions``: a debug build of the argument parser validates each group again at every
/// enclosing level, which took most of the time of a verification.
struct CheckerAccess {
  let credentials: CredentialOptions
  let play: PlayAccountOptions
  let huawei: HuaweiOptions
  let servers: ServerOptions
}

extension CheckerOptions {
  func validate() throws {
    for specification in specifications {
      guard
        ["app-store", "google-play", "huawei", "verify-receipt", "ocsp"].contains(specification)
          || specification.hasPrefix("receiptkit=")
      else {
        throw ValidationError(
          "--check takes app-store, google-play, huawei, verify-receipt, ocsp or receiptkit=URL, not "
            + "\"\(specification)\".")
      }
    }
  }

  func validate(_ access: CheckerAccess) throws {
    let (credentials, servers) = (access.credentials, access.servers)
    let (asksAPI, asksOCSP) = (asks("app-store"), asks("ocsp"))
    let asksStore = asksAPI || asks("verify-receipt")
    try refuse(["--soft-ocsp": softOCSP], unless: asksOCSP, "needs --check ocsp")
    try refuse(
      [
        "--api-key": credentials.keyFile != nil, "--key-id": credentials.keyId != nil,
        "--issuer-id": credentials.issuerId != nil,
      ], unless: asksAPI, "needs --check app-store")
    try refuse(
      ["--credentials": credentials.credentialsFile != nil],
      unless: asksStore || asks("huawei") || serviceCount > 0,
      "needs --check app-store, verify-receipt, huawei or receiptkit=URL")
    try refuse(
      ["--sandbox-base-url": servers.sandboxBase != nil], unless: asksStore,
      "needs --check app-store or verify-receipt")
    try refuse(access.play.given, unless: asks("google-play"), "needs --check google-play")
    try refuse(access.huawei.given, unless: asks("huawei"), "needs --check huawei")
    try refuse(
      ["--base-url": servers.base != nil], unless: asksStore || asksOCSP,
      "needs --check app-store, verify-receipt or ocsp")
    try refuse(
      [
        "--offline-suffices": offlineSuffices, "--allow-plain-http": servers.allowsPlainHTTP,
        "--ca-file": servers.certificateAuthorities != nil, "--deadline": servers.deadline != nil,
      ], unless: !specifications.isEmpty, "needs --check")
  }

  func asks(_ source: String) -> Bool { specifications.contains(source) }

  private var serviceCount: Int { specifications.count { $0.hasPrefix("receiptkit=") } }

  /// Requires a UUID, as every appAccountToken is, unless purchases of other stores are accepted, which identify
  /// accounts by any text.
  func requireAccountToken(isText: Bool) throws {
    guard let accountToken, !isText, UUIDString(rawValue: accountToken).uuid == nil else { return }
    throw ValidationError(
      "--account-token takes a UUID, as every appAccountToken is one; with --play-key any text.")
  }

  private var requirements: PurchaseRequirements {
    PurchaseRequirements(
      appAccountToken: accountToken.map { UUIDString(rawValue: $0) },
      requiresCurrentSubscription: requiresCurrent)
  }

  /// The checker of the receipt's own content against the requirements, if no store is asked; `nil` without
  /// requirements.
  func signedContentChecker(_ policy: VerificationPolicy) -> SignedContentChecker? {
    let asksNoStore = !["app-store", "google-play", "huawei"].contains(where: asks)
    guard asksNoStore, accountToken != nil || requiresCurrent else { return nil }
    return SignedContentChecker(requirements: requirements, clock: Self.clock(policy))
  }

  private static func clock(_ policy: VerificationPolicy) -> @Sendable () -> Timestamp {
    { policy.instant }
  }

  func checkers(
    _ access: CheckerAccess, over transport: any HTTPTransport, policy: VerificationPolicy,
    trust: TrustOptions.Resolved
  ) throws -> [any RemoteChecker] {
    let (credentials, servers) = (access.credentials, access.servers)
    return try specifications.map { specification in
      switch specification {
      case "app-store": return try appStore(access, over: transport, policy: policy, trust: trust)
      case "google-play":
        // The checker names the app of each receipt.
        let client = try access.play.client(
          packageName: "", over: transport, retry: servers.retry, allowsPlainHTTP: servers.allowsPlainHTTP)
        return GooglePlayChecker(client: client, requirements: requirements)
      case "huawei":
        return try access.huawei.checker(
          over: transport, servers: servers, credentials: credentials, policy: policy,
          requirements: requirements)
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
        let key = try credentials.serviceKey()
        guard key == nil || serviceCount == 1 else {
          throw ToolExit.failure(
            .usage, "--check takes receiptkit=URL once where there is a key, which each would be sent"
          )
        }
        return ReceiptServiceChecker(url, transport: transport, token: key, retry: servers.retry)
      }
    }
  }

  private func appStore(
    _ access: CheckerAccess, over transport: any HTTPTransport, policy: VerificationPolicy,
    trust: TrustOptions.Resolved
  ) throws -> AppStoreServerChecker {
    var onlyBundle: String?
    if case .oneOf(let bundleIds) = policy.bundleIds {
      guard bundleIds.count == 1 else {
        throw ToolExit.failure(.usage, "--check app-store asks about one app: name one --bundle-id")
      }
      onlyBundle = bundleIds.first
    }
    let signer = try access.credentials.signer(bundleId: onlyBundle)
    let clients = try policy.environments.intersection([.production, .sandbox])
      .map { environment in
        var partPolicy = VerificationPolicy(bundleIds: .oneOf([signer.bundleId]), environments: [environment])
        partPolicy.markers = policy.markers
        return AppStoreServerClient(
          transport: transport, signer: signer, address: try access.servers.address(environment),
          verifier: ReceiptVerifier(
            trust: trust.anchors, policy: partPolicy, intermediates: trust.intermediates),
          retry: access.servers.retry)
      }
    var checker = AppStoreServerChecker(clients: clients, requirements: requirements)
    if offlineSuffices {
      checker.whileUnreachable = SignedContentChecker(requirements: requirements, clock: Self.clock(policy))
    }
    return checker
  }
}
