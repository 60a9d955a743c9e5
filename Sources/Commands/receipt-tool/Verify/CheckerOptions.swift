// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptCodec
import ReceiptCrypto
import AppStoreServer
import RemoteChecks
import ReceiptSigning
import ReceiptVerification

extension CheckerOptions {
  private static let sources: Set = ["app-store", "google-play", "huawei", "verify-receipt", "ocsp"]

  func validate() throws {
    for specification in specifications {
      guard Self.sources.contains(specification) || specification.hasPrefix("receiptkit=") else {
        throw ValidationError(
          "--check takes app-store, google-play, huawei, verify-receipt, ocsp or receiptkit=URL, not "
            + "\"\(specification)\".")
      }
    }
  }

  func asks(_ source: String) -> Bool {
    source == "receiptkit=URL" ? serviceCount > 0 : specifications.contains(source)
  }

  fileprivate var serviceCount: Int { specifications.count { $0.hasPrefix("receiptkit=") } }

  /// Requires a UUID, as every appAccountToken is, unless purchases of other stores are accepted, which identify
  /// accounts by any text.
  func requireAccountToken(isText: Bool) throws {
    guard let accountToken, !isText, !UUIDString(rawValue: accountToken).isUUID else { return }
    throw ValidationError(
      "--account-token takes a UUID, as every appAccountToken is one; with --play-key any text.")
  }

  fileprivate var requirements: PurchaseRequirements {
    PurchaseRequirements(
      appAccountToken: accountToken.map { UUIDString(rawValue: $0) },
      requiresCurrentSubscription: requiresCurrent)
  }

  /// The checker of the receipt's own content against the requirements, if no store is asked; `nil` without
  /// requirements.
  func signedContentChecker(_ policy: VerificationPolicy) -> SignedContentChecker? {
    let asksNoStore = !["app-store", "google-play", "huawei"].contains(where: asks)
    guard asksNoStore, accountToken != nil else { return nil }
    return contentChecker(policy)
  }

  fileprivate func contentChecker(_ policy: VerificationPolicy) -> SignedContentChecker {
    SignedContentChecker(requirements: requirements, clock: { policy.instant })
  }
}

extension HuaweiOptions {
  /// The options that have no effect unless Huawei is asked, each with whether it was given.
  var given: KeyValuePairs<String, Bool> {
    [
      "--huawei-client-id": clientId != nil, "--huawei-site": siteName != nil,
      "--huawei-base-url": base != nil,
    ]
  }

  /// The checker that asks Huawei. It verifies the purchase in an answer with the app's keys.
  func checker(
    over transport: any HTTPTransport, policy: VerificationPolicy, credentials: CredentialOptions,
    servers: ServerOptions, requirements: PurchaseRequirements
  ) throws -> HuaweiChecker {
    let (id, secret) = try credentials.huawei(clientId: clientId)
    let address: HuaweiAddress
    if let base = try base.map({ try servers.url($0) }) {
      address = HuaweiAddress(base: base)
    } else if let site {
      address = HuaweiAddress(site)
    } else {
      throw ToolExit.failure(
        .usage, "--check huawei needs --huawei-site SITE: china, germany, singapore or russia")
    }
    return HuaweiChecker(
      transport: transport, address: address, clientId: id, clientSecret: secret,
      verifier: ReceiptVerifier(trust: TrustAnchors(), policy: policy), requirements: requirements,
      retry: servers.retry)
  }

  fileprivate var site: HuaweiAddress.Site? { siteName.flatMap { HuaweiAddress.Site(rawValue: $0) } }

  func validate() throws {
    guard siteName == nil || site != nil else {
      throw ValidationError("--huawei-site takes china, germany, singapore or russia.")
    }
    try refuse(["--huawei-base-url": base != nil], unless: siteName == nil, "cannot go with --huawei-site")
  }
}

// The groups of options with the connections to sources are the command's own and not parts of CheckerOptions: a debug
// build of the argument parser validates each group again at every enclosing level, which took most of the time of a
// verification.
extension VerifyCommand {
  /// Refuses options of sources that `--check` does not name.
  func validateChecks() throws {
    func require(_ sources: String..., for options: KeyValuePairs<String, Bool>) throws {
      let names = sources.count > 1 ? sources.dropLast().joined(separator: ", ") + " or " : ""
      try refuse(
        options, unless: sources.contains(where: checks.asks), "needs --check \(names)\(sources.last ?? "")")
    }
    try require("ocsp", for: ["--soft-ocsp": checks.softOCSP])
    try refuse(
      ["--accept-signed-before-revocation": acceptsEarlierSignatures],
      unless: checks.asks("ocsp") || !revocationLists.isEmpty, "needs --crl or --check ocsp")
    try require(
      "app-store",
      for: [
        "--api-key": credentials.keyFile != nil, "--key-id": credentials.keyId != nil,
        "--issuer-id": credentials.issuerId != nil,
      ])
    try require(
      "app-store", "verify-receipt", "huawei", "receiptkit=URL",
      for: ["--credentials": credentials.credentialsFile != nil])
    try require("app-store", "verify-receipt", for: ["--sandbox-base-url": servers.sandboxBase != nil])
    try require("google-play", for: play.given)
    try require("huawei", for: huawei.given)
    try require("app-store", "verify-receipt", "ocsp", for: ["--base-url": servers.base != nil])
    try refuse(
      [
        "--offline-suffices": checks.offlineSuffices, "--allow-plain-http": servers.allowsPlainHTTP,
        "--ca-file": servers.certificateAuthorities != nil, "--deadline": servers.deadline != nil,
      ], unless: !checks.specifications.isEmpty, "needs --check")
  }

  func checkers(
    over transport: any HTTPTransport, policy: VerificationPolicy, trust: TrustOptions.Resolved
  ) throws -> [any RemoteChecker] {
    try checks.specifications.map { specification in
      switch specification {
      case "app-store": return try appStore(over: transport, policy: policy, trust: trust)
      case "google-play":
        // The checker names the app of each receipt.
        let client = try play.client(packageName: "", over: transport, servers: servers)
        return GooglePlayChecker(client: client, requirements: checks.requirements)
      case "huawei":
        return try huawei.checker(
          over: transport, policy: policy, credentials: credentials, servers: servers,
          requirements: checks.requirements)
      case "verify-receipt":
        return VerifyReceiptChecker(
          transport: transport, endpoints: try servers.verifyReceiptEndpoints(),
          environments: policy.environments, sharedSecret: try credentials.sharedSecret(),
          retry: servers.retry)
      case "ocsp":
        var options = RevocationOptions()
        options.responderURL = try servers.responder()
        options.retryPolicy = servers.retry
        if checks.softOCSP { options.unreachable = .softFailure }
        if acceptsEarlierSignatures { options.revoked = .acceptSignedBeforeBenignRevocation }
        return RevocationChecker(transport: transport, options: options)
      default:
        let url = try servers.url(String(specification.dropFirst("receiptkit=".count)))
        let key = try credentials.serviceKey()
        guard key == nil || checks.serviceCount == 1 else {
          throw ToolExit.failure(
            .usage, "--check takes receiptkit=URL once where there is a key, which each would be sent"
          )
        }
        return ReceiptServiceChecker(url, transport: transport, token: key, retry: servers.retry)
      }
    }
  }

  /// The checker of the lists of `--crl`; `nil` without them.
  func revocationListChecker() throws -> RevocationChecker? {
    guard !revocationLists.isEmpty else { return nil }
    var options = RevocationOptions()
    if acceptsEarlierSignatures { options.revoked = .acceptSignedBeforeBenignRevocation }
    let lists = try revocationLists.map { path in
      let contents = try InputFile.contents(of: path)
      do throws(CryptoError) {
        _ = try CertificateRevocationList(inFile: contents)
      } catch {
        throw ToolExit.failure(
          .unreadableInput, "--crl \(path): \(error.description)", code: error.code.rawValue)
      }
      return contents
    }
    return try RevocationChecker(lists: lists, options: options)
  }

  private func appStore(
    over transport: any HTTPTransport, policy: VerificationPolicy, trust: TrustOptions.Resolved
  ) throws -> AppStoreServerChecker {
    var onlyBundle: String?
    if case .oneOf(let bundleIds) = policy.bundleIds {
      guard bundleIds.count == 1 else {
        throw ToolExit.failure(.usage, "--check app-store asks about one app: name one --bundle-id")
      }
      onlyBundle = bundleIds.first
    }
    let signer = try credentials.signer(bundleId: onlyBundle)
    let clients = try policy.environments.intersection([.production, .sandbox]).map { environment in
      var partPolicy = VerificationPolicy(bundleIds: .oneOf([signer.bundleId]), environments: [environment])
      partPolicy.markers = policy.markers
      return AppStoreServerClient(
        transport: transport, signer: signer, address: try servers.address(environment),
        verifier: ReceiptVerifier(
          trust: trust.anchors, policy: partPolicy, intermediates: trust.intermediates),
        retry: servers.retry)
    }
    var checker = AppStoreServerChecker(clients: clients, requirements: checks.requirements)
    if checks.offlineSuffices { checker.whileUnreachable = checks.contentChecker(policy) }
    return checker
  }
}
