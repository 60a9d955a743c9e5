// SPDX-License-Identifier: Apache-2.0

/// The changes of one commit to a ledger, collected from the store's answers.
struct LedgerChanges {
  /// Transactions that are not in the queue yet. A payment has its request identifier.
  private(set) var added: [(payment: Payment, outcome: PaymentTransaction.Outcome, request: String?)] = []
  /// Transactions that were in the state `purchasing`, with their outcomes.
  private(set) var outcomes: [(number: SequenceNumber, transaction: PaymentTransaction)] = []
  private var answered: Set<SequenceNumber> = []
  private var sales: Set<String> = []
  private var originals: Set<String> = []

  var isEmpty: Bool { added.isEmpty && outcomes.isEmpty }

  /// Adds a payment.
  mutating func add(_ payment: Payment, request: String) { added.append((payment, .purchasing, request)) }

  /// Applies the store's answer to a payment, unless the payment already has an outcome.
  mutating func complete(
    _ number: SequenceNumber, _ outcome: PaymentTransaction.Outcome, in ledger: TransactionLedger
  ) {
    guard var transaction = ledger.transactions[number], transaction.transactionState == .purchasing,
      answered.insert(number).inserted
    else { return }
    transaction.outcome = outcome
    outcomes.append((number, transaction))
    if case .purchased(let sale) = outcome { sales.insert(sale.transactionIdentifier) }
  }

  /// Applies an unfinished sale. If it does not complete a payment of this queue and is not known, it makes a new
  /// transaction.
  mutating func take(_ sale: StoreTransaction, in ledger: TransactionLedger) {
    if let request = sale.requestIdentifier, let number = ledger.transaction(purchasing: request),
      !answered.contains(number)
    {
      return complete(number, .purchased(sale), in: ledger)
    }
    guard !ledger.contains(sale: sale.transactionIdentifier),
      sales.insert(sale.transactionIdentifier).inserted
    else { return }
    added.append((sale.payment, .purchased(sale), nil))
  }

  /// Adds a restored purchase, unless it is already in the queue, restored and not finished.
  mutating func restore(_ restored: RestoredTransaction, in ledger: TransactionLedger) {
    let sale = restored.transaction
    let original = restored.original.transactionIdentifier
    guard !ledger.contains(sale: sale.transactionIdentifier), !ledger.hasRestored(original: original),
      !sales.contains(sale.transactionIdentifier), originals.insert(original).inserted
    else { return }
    sales.insert(sale.transactionIdentifier)
    added.append((sale.payment, .restored(sale, original: restored.original), nil))
  }
}
