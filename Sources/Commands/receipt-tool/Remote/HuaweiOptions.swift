// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ReceiptVerification
import RemoteChecks

extension HuaweiOptions {
  /// The options that have no effect unless Huawei is asked, each with whether it was given.
  var given: KeyValuePairs<String, Bool> {
    [
      "--huawei-client-id": clientId != nil, "--huawei-site": siteName != nil,
      "--huawei-base-url": base != nil,
    ]
  }

  private var site: HuaweiAddress.Site? { siteName.flatMap { HuaweiAddress.Site(rawValue: $0) } }

  func validate() throws {
    guard siteName == nil || site != nil else {
      throw ValidationError("--huawei-site takes china, germany, singapore or russia.")
    }
    try refuse(["--huawei-base-url": base != nil], unless: siteName == nil, "cannot go with --huawei-site")
  }

  /// The checker that asks Huawei. It verifies the purchase in an answer with the app's keys.
  func checker(
    over transport: any HTTPTransport, servers: ServerOptions, credentials: CredentialOptions,
    policy: VerificationPolicy, requirements: PurchaseRequirements
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
}
