// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec
internal import ReceiptVerification

extension VerifiedReceipt {
  /// The lines of purchases, each represented by the newest transaction of one original transaction (and product, of an
  /// order at Google Play), in the order in which each is first named.
  var purchaseLines: [Transaction] {
    var lines: [Transaction] = []
    var places: [[[UInt8]]: Int] = [:]
    let isDetached = kind.isDetached
    for transaction in statedTransactions {
      // Strings are compared by canonical equivalence, but identifiers by their bytes.
      let identifier = Array((transaction.lineIdentifier ?? transaction.eventIdentifier ?? "").utf8)
      // The products of one order at Google Play share its identifiers.
      let product = isDetached ? Array((transaction.productId ?? "").utf8) : []
      if let place = places[[identifier, product]], !identifier.isEmpty {
        if Self.isNewer(transaction, than: lines[place]) { lines[place] = transaction }
      } else {
        places[[identifier, product]] = lines.count
        lines.append(transaction)
      }
    }
    return lines
  }

  /// The transactions, or those of the renewal information in a notification that contains no transaction.
  private var statedTransactions: [Transaction] {
    let transactions = self.transactions
    if !transactions.isEmpty { return transactions }
    return nested.first { $0.kind == .signedRenewalInfo }?.transactions ?? []
  }

  private static func isNewer(_ transaction: Transaction, than other: Transaction) -> Bool {
    func order(_ transaction: Transaction) -> (Double, Double) {
      (
        transaction.purchaseDate?.millisecondsSince1970 ?? -.infinity,
        transaction.expiresDate?.millisecondsSince1970 ?? -.infinity
      )
    }
    return order(other) < order(transaction)
  }
}

extension Transaction {
  /// The identifier of the purchase and its renewals in a trail: the purchase token of other stores, or Apple's
  /// original transaction identifier.
  var lineIdentifier: String? { purchaseToken ?? originalTransactionId }
  /// The identifier of this event: the order or transaction, or the purchase token of a test purchase without an order.
  var eventIdentifier: String? { transactionId ?? purchaseToken }
  /// `true` if the receipt identifies the purchase.
  var isNamed: Bool { lineIdentifier?.isEmpty == false || eventIdentifier?.isEmpty == false }
}
