// SPDX-License-Identifier: Apache-2.0

internal import ReceiptBytes
internal import ReceiptCodec
internal import ReceiptCrypto
internal import ReceiptVerification

/// What a trail is asked about a receipt before it is granted; each answer can show that it is a replay.
enum ReplayQuestion: Sendable, Hashable {
  /// Whether the receipt, by what was signed, was accepted before.
  case receipt(SHA256Digest)
  /// Whether the consumable of a transaction was granted before.
  case consumable(transaction: String)
  /// Whether a purchase, of the transaction `name`, was granted first to a customer other than `customer`.
  case customer(Purchase, name: String, customer: String)

  /// How a trail names a purchase.
  enum Purchase: Sendable, Hashable {
    case original(String)
    case transaction(String)
  }

  /// The questions that rules ask about a receipt.
  static func questions(
    about receipt: VerifiedReceipt, _ rules: Set<ReplayRule>, customer: String?, consumables: Set<String>
  ) -> [ReplayQuestion] {
    var questions: [ReplayQuestion] = []
    if rules.contains(.sameReceipt) { questions.append(.receipt(SHA256Digest(identityOf: receipt))) }
    if rules.contains(.consumableAgain) {
      questions += consumableTransactions(of: receipt, consumables).map { .consumable(transaction: $0) }
    }
    let customer = customer ?? receipt.appAccountToken.map(RecordingOptions.canonicalCustomer)
    if rules.contains(.anotherCustomer), let customer {
      for line in PurchaseLine.lines(receipt) {
        let purchase =
          line.newest.originalTransactionId.map(Purchase.original)
          ?? line.newest.transactionId.map(Purchase.transaction)
        let name = line.newest.transactionId ?? line.newest.originalTransactionId ?? ""
        if let purchase { questions.append(.customer(purchase, name: name, customer: customer)) }
      }
    }
    return questions
  }

  private static func consumableTransactions(
    of receipt: VerifiedReceipt, _ consumables: Set<String>
  ) -> [String] {
    var identifiers: [String] = []
    switch receipt.content {
    case .jws(.transaction(let transaction)) where transaction.type == .consumable:
      identifiers = [transaction.transactionId].compactMap { $0 }
    case .jws(.notification):
      identifiers = receipt.nested.flatMap { consumableTransactions(of: $0, consumables) }
    case .appReceipt(let payload):
      identifiers = payload.inAppPurchases.filter { $0.productType == .consumable }.compactMap(
        \.transactionId)
    case .jws(.transaction), .jws(.renewalInfo), .jws(.appTransaction), .jws(.realtimeRequest),
      .transactionReceipt:
      break
    }
    let named = receipt.transactions.filter { transaction in
      consumables.contains { UTF8Text.isIdentical($0, transaction.productId ?? "") }
    }
    return identifiers + named.compactMap(\.transactionId)
  }

  /// Why an earlier grant makes the receipt a replay.
  ///
  /// - Parameters:
  ///   - index: The entry of the grant.
  ///   - owner: Its customer, where the question is about one.
  /// - Returns: `nil` if it does not.
  func replay(grantedIn index: UInt64, to owner: String? = nil) -> String? {
    switch self {
    case .receipt: return "This receipt was accepted before, in entry \(index)."
    case .consumable(let transaction):
      return "The consumable of transaction \(transaction) was granted before, in entry \(index)."
    case .customer(_, let name, let customer):
      guard let owner, !UTF8Text.isIdentical(owner, customer) else { return nil }
      return "The purchase of transaction \(name) was granted to another customer, in entry \(index)."
    }
  }
}
