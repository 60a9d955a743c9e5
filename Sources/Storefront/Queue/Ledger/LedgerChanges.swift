// SPDX-License-Identifier: Apache-2.0

/// The changes of one commit to a ledger, collected from the store's answers.
struct LedgerChanges {
  /// A transaction that is not in the queue yet.
  struct Added {
    let payment: Payment
    let request: String?
    let outcome: PaymentTransaction.Outcome
    /// The original sale of a restoration.
    var original: StoreTransaction?

    func outcome(as number: SequenceNumber) -> PaymentTransaction.Outcome {
      guard let original, case .purchased(let sale) = outcome else { return outcome }
      return .restored(
        sale,
        original: PaymentTransaction(
          id: number.originalID, payment: original.payment, outcome: .purchased(original)))
    }
  }

  private(set) var added: [Added] = []
  /// The outcomes of transactions in the state `purchasing`.
  private(set) var outcomes:
    [(SequenceNumber, payment: Payment, outcome: PaymentTransaction.Outcome, request: String?)] = []
  private var answered: Set<SequenceNumber> = []
  private var sales: Set<String> = []
  private var originals: Set<String> = []

  var isEmpty: Bool { added.isEmpty && outcomes.isEmpty }

  /// Adds a payment.
  mutating func add(_ payment: Payment, request: String) {
    added.append(Added(payment: payment, request: request, outcome: .purchasing))
  }

  /// Applies the store's answer to a payment, unless the payment has an outcome already.
  mutating func complete(
    _ number: SequenceNumber, _ outcome: PaymentTransaction.Outcome, in ledger: TransactionLedger
  ) {
    guard let transaction = ledger.transactions[number], transaction.transactionState == .purchasing,
      answered.insert(number).inserted
    else { return }
    outcomes.append((number, transaction.payment, outcome, nil))
    if case .purchased(let sale) = outcome { sales.insert(sale.transactionIdentifier) }
  }

  /// Applies an unfinished sale: it completes a payment of this queue, or is known already, or makes a new transaction.
  mutating func take(_ sale: StoreTransaction, in ledger: TransactionLedger) {
    if let request = sale.requestIdentifier, let number = ledger.transaction(purchasing: request),
      !answered.contains(number)
    {
      return complete(number, .purchased(sale), in: ledger)
    }
    guard !ledger.contains(sale: sale.transactionIdentifier),
      sales.insert(sale.transactionIdentifier).inserted
    else { return }
    added.append(Added(payment: sale.payment, request: nil, outcome: .purchased(sale)))
  }

  /// Adds a restored purchase, unless it is already in the queue, restored and not finished.
  mutating func restore(_ restored: RestoredTransaction, in ledger: TransactionLedger) {
    let sale = restored.transaction
    let original = restored.original.transactionIdentifier
    guard !ledger.contains(sale: sale.transactionIdentifier), !ledger.hasRestored(original: original),
      !sales.contains(sale.transactionIdentifier), originals.insert(original).inserted
    else { return }
    sales.insert(sale.transactionIdentifier)
    added.append(
      Added(payment: sale.payment, request: nil, outcome: .purchased(sale), original: restored.original))
  }
}

extension PaymentTransaction.Outcome {
  /// The same with empty receipts.
  var withoutReceipts: PaymentTransaction.Outcome {
    switch self {
    case .purchasing, .failed: return self
    case .purchased(var sale):
      sale.receipt = []
      return .purchased(sale)
    case .restored(var sale, let original):
      sale.receipt = []
      return .restored(
        sale,
        original: PaymentTransaction(
          id: original.id, payment: original.payment, outcome: original.outcome.withoutReceipts))
    }
  }
}
