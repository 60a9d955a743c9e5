// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import AuditTrail
import ReceiptCodec

/// Options that select one of several purchases with the same identifier: identifiers are unique within an app and an
/// environment.
struct ScopeOptions: ParsableArguments {
  @Option("bundle-id", "Only entries of this app, or that name none.", value: "ID") var bundle: String?

  @Option("environment", "Only entries of this environment, or that name none.")
  var environment: ReceiptEnvironment.Category?

  /// The scope; `nil` if no option is given.
  var scope: PurchaseScope? {
    guard bundle != nil || environment != nil else { return nil }
    return PurchaseScope(bundle: bundle, environment: environment)
  }

  /// Refuses the options if they have no effect.
  func validate(isByPurchase: Bool, _ needs: String) throws {
    try refuse(
      ["--bundle-id": bundle != nil, "--environment": environment != nil], unless: isByPurchase, needs)
  }
}
