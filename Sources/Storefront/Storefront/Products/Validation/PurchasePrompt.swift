// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

/// The question to a customer before a purchase is authorised. Outside production it names the environment as StoreKit
/// does: `[Environment: Sandbox]`.
public struct PurchasePrompt: Sendable, Hashable, CustomStringConvertible {
  /// The product.
  public let product: Product
  /// The quantity.
  public let quantity: Int
  /// The environment of the purchase.
  package let environment: ReceiptEnvironment

  /// Creates a prompt.
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
