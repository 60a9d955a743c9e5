// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec
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
  /// The decision about payments.
  public enum AuthorizationPolicy: Sendable, Hashable {
    /// All are approved.
    case approve
    /// All are declined with this error.
    case decline(StoreError)
    /// A payment waits until the operator approves or declines it.
    case ask
  }

  /// The format of receipts.
  public enum ReceiptFormat: Sendable {
    /// A signed transaction: a JWS.
    case signedTransaction
    /// The property list of a transaction receipt, signed by an RSA identity of 2048 bits.
    case transactionReceipt(SigningIdentity)
  }
}

extension LocalStore.Fault {
  /// A call to the store.
  public enum Call: String, Sendable, Hashable, CaseIterable {
    /// ``Store/products(for:preferredLocales:)``.
    case products
    /// ``Store/purchase(_:)``.
    case purchase
    /// ``Store/unfinishedTransactions(after:limit:)``.
    case unfinished
    /// ``Store/finish(transactionIdentifier:)``.
    case finish
    /// ``Store/restore(_:after:limit:)``.
    case restore
  }

  /// The kind of failure.
  public enum Failure: Sendable, Hashable {
    /// The store refuses: the payment fails permanently. A call without such a result reports the store as
    /// unavailable.
    case error(StoreError)
    /// The store does nothing and does not answer.
    case unavailable(retryAfter: Duration?)
    /// The store performs the call, and its answer is lost.
    case answerLost
  }
}

/// The question to a customer before a purchase is authorised. Outside production it names the environment as StoreKit
/// does: `[Environment: Sandbox]`.
public struct PurchasePrompt: Sendable, Hashable, CustomStringConvertible {
  /// The product.
  public let product: Product
  /// The quantity.
  public let quantity: Int
  package let environment: ReceiptEnvironment

  package init(product: Product, quantity: Int = 1, environment: ReceiptEnvironment) {
    self.product = product
    self.quantity = quantity
    self.environment = environment
  }

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
