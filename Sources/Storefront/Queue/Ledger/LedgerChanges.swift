// SPDX-License-Identifier: Apache-2.0

/// What is to change in a ledger with one commit: put together from what the store says.
struct LedgerChanges {
  /// A transaction that is not in the queue yet.
  struct Added {
    let payment: Payment
    let request: String?
    let outcome: PaymentTransaction.Outcome
    /// What was restored, where it is a restoration.
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
  /// What has become of transactions in Purchasing.
  private(set) var outcomes:
    [(SequenceNumber, payment: Payment, outcome: PaymentTransaction.Outcome, request: String?)] = []
  private var answered: Set<SequenceNumber> = []
  private var sales: Set<String> = []
  private var originals: Set<String> = []

  var isEmpty: Bool { added.isEmpty && outcomes.isEmpty }

  /// A payment that was added.
  mutating func add(_ payment: Payment, request: String) {
    added.append(Added(payment: payment, request: request, outcome: .purchasing))
  }

  /// The store's answer to a payment; without effect where the payment has had one.
  mutating func complete(
    _ number: SequenceNumber, _ outcome: PaymentTransaction.Outcome, in ledger: TransactionLedger
  ) {
    guard let transaction = ledger.transactions[number], transaction.transactionState == .purchasing,
      answered.insert(number).inserted
    else { return }
    outcomes.append((number, transaction.payment, outcome, nil))
    if case .purchased(let sale) = outcome { sales.insert(sale.transactionIdentifier) }
  }

  /// A sale that the store has not been told to be finished: the answer to a payment here, or known, or new.
  mutating func take(_ sale: StoreTransaction, in ledger: TransactionLedger) {
    if let request = sale.requestIdentifier, let number = ledger.transaction(purchasing: request),
      !answered.contains(number)
    {
      return complete(number, .purchased(sale), in: ledger)
    }
    guard !ledger.knows(sale: sale.transactionIdentifier),
      sales.insert(sale.transactionIdentifier).inserted
    else { return }
    added.append(Added(payment: sale.payment, request: nil, outcome: .purchased(sale)))
  }

  /// A purchase that the store gives again. One that stands here already is not added.
  mutating func restore(_ restored: RestoredTransaction, in ledger: TransactionLedger) {
    let sale = restored.transaction
    let original = restored.original.transactionIdentifier
    guard !ledger.knows(sale: sale.transactionIdentifier), !ledger.hasRestored(original: original),
      !sales.contains(sale.transactionIdentifier), originals.insert(original).inserted
    else { return }
    sales.insert(sale.transactionIdentifier)
    added.append(
      Added(payment: sale.payment, request: nil, outcome: .purchased(sale), original: restored.original))
  }
}

extension PaymentTransaction.Outcome {
  /// The same with the receipts left empty.
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
