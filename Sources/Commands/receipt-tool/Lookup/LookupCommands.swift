// SPDX-License-Identifier: Apache-2.0

import AppStoreServer
import ArgumentParser
import CommandOutput
import ReceiptCodec
import ReceiptHTTPCurl
import ReceiptInspection
import ReceiptSigning
import ReceiptVerification
import RemoteChecks

extension LookupOptions {
  /// Prints the answer of a store, and returns with the exit code of its verdict.
  fileprivate func show(_ answer: StoreAnswer, about reference: String) throws {
    let now = SystemClock.now()
    if json {
      try writeAll(JSONWriter.line("lookup") { answer.write(to: &$0, at: now) })
    } else {
      try writeAll(answer.text(about: reference, at: now))
    }
    guard answer.reason != nil else { return }
    throw answer.isUndetermined ? ExitCode.undetermined : ExitCode.invalid
  }
}

extension StoreAnswer {
  fileprivate func text(about reference: String, at now: Timestamp) -> String {
    var report = ReportText("\(VerdictReport.words(word, standing(at: now)))  \(store)  \(reference)")
    if let reason {
      report.add("reason", reason.code.rawValue)
      report.add("", reason.message)
      if isUndetermined { report.add("retry", isRetryable ? "may help" : "will not help") }
    }
    report.add("app", bundleId)
    report.add("environment", environment?.plainName)
    for purchase in purchases { report.add("transaction", purchase.text(at: now)) }
    return report.text
  }
}

extension LookupAppStoreCommand {
  func run() async throws {
    let signer = try credentials.signer(bundleId: bundleId)
    let resolved = try trust.resolve()
    let environments = environments.isEmpty ? [.production, .sandbox] : environments
    let transport = servers.transport()
    defer { transport.shutdown() }
    func verifier(
      _ environments: Set<ReceiptEnvironment.Category>, requiresCurrent: Bool = false
    ) -> ReceiptVerifier {
      var policy = VerificationPolicy(bundleIds: .oneOf([signer.bundleId]), environments: environments)
      policy.requiresCurrentPurchase = requiresCurrent
      return ReceiptVerifier(
        trust: resolved.anchors, policy: policy, intermediates: resolved.intermediates)
    }
    let clients = try environments.map { environment in
      AppStoreServerClient(
        transport: transport, signer: signer, address: try servers.address(environment),
        verifier: verifier([environment]), retry: servers.retry)
    }
    let lookup = PurchaseLookup(
      verifier: verifier(Set(environments), requiresCurrent: lookup.requiresCurrent), appStore: clients)
    let answer = await lookup.answer(
      about: isOrder ? .appStoreOrder(reference) : .appStoreTransaction(reference))
    try self.lookup.show(answer, about: reference)
  }
}

extension LookupGooglePlayCommand {
  func run() async throws {
    let transport = servers.transport()
    defer { transport.shutdown() }
    var policy = VerificationPolicy(
      bundleIds: .oneOf([packageName]),
      environments: environments.isEmpty ? [.production, .sandbox] : Set(environments))
    policy.requiresCurrentPurchase = lookup.requiresCurrent
    let lookup = PurchaseLookup(
      verifier: ReceiptVerifier(trust: TrustAnchors(), policy: policy),
      googlePlay: try account.client(packageName: packageName, over: transport, servers: servers))
    try self.lookup.show(
      await lookup.answer(about: .googlePlay(purchaseToken: token, productId: product)), about: token)
  }
}

extension LookupHuaweiCommand {
  func validate() throws {
    guard (product == nil) != (subscription == nil) else {
      throw ValidationError("Name the purchase by one of --product and --subscription.")
    }
  }

  func run() async throws {
    let transport = servers.transport()
    defer { transport.shutdown() }
    var policy = VerificationPolicy(bundleIds: .oneOf([bundleId]), environments: [.production, .sandbox])
    try keys.apply(to: &policy, kinds: [])
    policy.requiresCurrentPurchase = lookup.requiresCurrent
    let lookup = PurchaseLookup(
      verifier: ReceiptVerifier(trust: TrustAnchors(), policy: policy),
      huawei: try huawei.checker(
        over: transport, policy: policy, credentials: credentials, servers: servers,
        requirements: PurchaseRequirements()))
    let answer = await lookup.answer(
      about: .huawei(purchaseToken: token, productId: product, subscriptionId: subscription))
    try self.lookup.show(answer, about: token)
  }
}
