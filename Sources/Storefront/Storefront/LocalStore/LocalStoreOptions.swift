// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
public import ReceiptSigning

extension LocalStore.Options {
  /// Creates options for an app, with the defaults for everything else.
  public init(bundleIdentifier: String) {
    self.init(engine: SubscriptionEngine.Options(bundleIdentifier: bundleIdentifier))
  }

  /// The reason that an account cannot be used at this store; `nil` if it can.
  func signInRefusal(of account: String) -> StoreError? {
    if account.isEmpty { return StoreError(.clientInvalid, "Nobody is signed in to the store.") }
    guard engine.environment.category == .production, testAccounts.contains(account) else { return nil }
    return StoreError(.clientInvalid, "\"\(account)\" is a test account: sign in with another in production.")
  }

  /// The reason that an account cannot pay; `nil` if it can.
  func refusal(of account: String) -> StoreError? {
    if let refusal = signInRefusal(of: account) { return refusal }
    guard restrictedAccounts.contains(account) else { return nil }
    return StoreError(.paymentNotAllowed, "\"\(account)\" may not authorise payments.")
  }
}

extension LocalStore {
  /// The format of receipts.
  public enum ReceiptFormat: Sendable {
    /// A signed transaction: a JWS.
    case signedTransaction
    /// The property list of a transaction receipt, signed by an RSA identity of 2048 bits.
    case transactionReceipt(SigningIdentity)
  }
}

extension PurchasePrompt {
  /// A notice such as `[Environment: Sandbox]`; `nil` in production.
  package var environmentNotice: String? {
    switch environment.category {
    case .production: nil
    case .sandbox: "[Environment: \(ReceiptEnvironment.sandbox.rawValue)]"
    default: "[Environment: \(environment.rawValue)]"
    }
  }

  /// The question. Outside production, a line with the environment follows.
  public var description: String {
    let count = quantity == 1 ? "one \(product.localizedTitle)" : "\(quantity) × \(product.localizedTitle)"
    let question = "Do you want to buy \(count) for \(product.localizedPrice)\(quantity == 1 ? "" : " each")?"
    return [question, environmentNotice].compactMap { $0 }.joined(separator: "\n")
  }
}
