// SPDX-License-Identifier: Apache-2.0

public import ReceiptCodec

/// What a customer is asked before a purchase is authorised. Outside production it says so, in the words that testers
/// look for: `[Environment: Sandbox]`.
public struct PurchasePrompt: Sendable, Hashable, CustomStringConvertible {
  /// What is bought.
  public let product: Product
  /// How many of it.
  public let quantity: Int
  /// Where it is bought.
  public let environment: ReceiptEnvironment

  /// Creates a prompt.
  public init(product: Product, quantity: Int = 1, environment: ReceiptEnvironment) {
    self.product = product
    self.quantity = quantity
    self.environment = environment
  }

  /// `[Environment: Sandbox]` and the like; `nil` in production.
  public var environmentNotice: String? {
    switch environment.category {
    case .production: nil
    case .sandbox: "[Environment: \(ReceiptEnvironment.sandbox.rawValue)]"
    default: "[Environment: \(environment.rawValue)]"
    }
  }

  /// The question, and on a line of its own the environment.
  public var description: String {
    let count = quantity == 1 ? "one \(product.localizedTitle)" : "\(quantity) × \(product.localizedTitle)"
    let question = "Do you want to buy \(count) for \(product.localizedPrice)\(quantity == 1 ? "" : " each")?"
    return [question, environmentNotice].compactMap { $0 }.joined(separator: "\n")
  }
}
