// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
package import ReceiptCrypto
internal import ReceiptVerification

/// A question to a trail about a receipt before it is granted; each answer can show that the receipt is a replay.
package enum ReplayQuestion: Sendable, Hashable {
  /// Asks if the receipt, identified by its signed content, was accepted before.
  case receipt(SHA256Digest)
  /// Asks if the consumable of a purchase was granted before.
  case consumable(Purchase, in: PurchaseScope)
  /// Asks if a purchase, of the transaction `name`, was first granted to a customer other than `customer`.
  case customer(Purchase, in: PurchaseScope, name: String, customer: String)

  /// The identifier of a purchase in a trail, within its scope.
  package enum Purchase: Sendable, Hashable {
    case original(String)
    case transaction(String)

    var name: String {
      switch self {
      case .original(let name), .transaction(let name): name
      }
    }

    /// Identifiers are compared byte for byte: two that are canonically equivalent name two purchases.
    package static func == (lhs: Purchase, rhs: Purchase) -> Bool {
      switch (lhs, rhs) {
      case (.original(let one), .original(let other)), (.transaction(let one), .transaction(let other)):
        UTF8Text.isIdentical(one, other)
      default: false
      }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
  }

  static func questions(
    about receipt: VerifiedReceipt, _ rules: Set<ReplayRule>, customer: String?, consumables: Set<String>
  ) -> [ReplayQuestion] {
    let scope = PurchaseScope(of: receipt)
    var questions: [ReplayQuestion] = []
    if rules.contains(.sameReceipt) { questions.append(.receipt(SHA256Digest(identityOf: receipt))) }
    if rules.contains(.consumableAgain) {
      questions += consumablePurchases(of: receipt, consumables).map { .consumable($0, in: scope) }
    }
    let customer = customer ?? receipt.appAccountToken.map(RecordingOptions.canonicalCustomer)
    if rules.contains(.anotherCustomer), let customer {
      for line in receipt.purchaseLines {
        let purchase =
          line.lineIdentifier.map(Purchase.original)
          ?? line.eventIdentifier.map(Purchase.transaction)
        let name = line.eventIdentifier ?? line.lineIdentifier ?? ""
        if let purchase { questions.append(.customer(purchase, in: scope, name: name, customer: customer)) }
      }
    }
    // The products of one order share its order identifier and purchase token.
    var asked: Set<ReplayQuestion> = []
    return questions.filter { asked.insert($0).inserted }
  }

  /// The scope in which the purchase is searched for; `nil` for a question about a receipt, whose identity is the same
  /// everywhere.
  package var scope: PurchaseScope? {
    switch self {
    case .receipt: nil
    case .consumable(_, let scope), .customer(_, let scope, _, _): scope
    }
  }

  /// Returns the purchases of consumables in a receipt.
  ///
  /// A consumable of another store is searched for by its order and by its purchase token, since an earlier receipt may
  /// have only one of them.
  private static func consumablePurchases(
    of receipt: VerifiedReceipt, _ consumables: Set<String>
  ) -> [Purchase] {
    var identifiers: [String] = []
    var isConsumable = false
    switch receipt.content {
    case .jws(.transaction(let transaction)) where transaction.type == .consumable:
      identifiers = [transaction.transactionId].compactMap { $0 }
    case .jws(.notification):
      return receipt.nested.flatMap { consumablePurchases(of: $0, consumables) }
        + named(receipt, consumables).compactMap(\.transactionId).map { .transaction($0) }
    case .appReceipt(let payload):
      identifiers = payload.inAppPurchases.filter { $0.productType == .consumable }.compactMap(
        \.transactionId)
    case .jws(.transaction), .jws(.renewalInfo), .jws(.appTransaction), .jws(.realtimeRequest),
      .transactionReceipt:
      break
    case .detached(.huaweiPurchase(let purchase)): isConsumable = purchase.kind == .consumable
    case .detached: break
    }
    let named = isConsumable ? receipt.transactions : named(receipt, consumables)
    return identifiers.map { .transaction($0) }
      + named.flatMap { transaction in
        [
          transaction.eventIdentifier.map(Purchase.transaction),
          transaction.purchaseToken.map(Purchase.original),
        ].compactMap { $0 }
      }
  }

  /// Returns the purchases of products that the caller names as consumables.
  private static func named(_ receipt: VerifiedReceipt, _ consumables: Set<String>) -> [Transaction] {
    receipt.transactions.filter { transaction in
      consumables.contains { UTF8Text.isIdentical($0, transaction.productId ?? "") }
    }
  }

  /// Returns the reason that an earlier grant, to `owner` if the question is about one, makes the receipt a replay.
  func replay(grantedIn index: UInt64, _ entry: AuditEntry, to owner: String? = nil) -> String? {
    let finding: String
    switch self {
    case .receipt: finding = "This receipt was accepted before, in entry \(index)."
    case .consumable(let purchase, _):
      finding = "The consumable of transaction \(purchase.name) was granted before, in entry \(index)."
    case .customer(_, _, let name, let customer):
      guard let owner, !UTF8Text.isIdentical(owner, customer) else { return nil }
      finding = "The purchase of transaction \(name) was granted to another customer, in entry \(index)."
    }
    guard let unstated = scope?.unstated(in: entry) else { return finding }
    return finding + " The entry does not state its \(unstated), so it may be of another one."
  }
}
