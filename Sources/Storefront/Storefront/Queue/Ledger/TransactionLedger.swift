// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The transactions of a queue, in memory and stored. Each change is one commit; memory is updated after it.
///
/// Receipts are only in the storage. So a hundred thousand unfinished transactions need some tens of megabytes, and
/// are read in one second.
struct TransactionLedger {
  let storage: any RecordStorage
  /// The unfinished transactions, without receipts.
  private(set) var transactions: [SequenceNumber: PaymentTransaction] = [:]
  /// The request identifiers of payments in the state `purchasing`.
  private(set) var requests: [SequenceNumber: String] = [:]
  /// The inverse of `requests`.
  private var purchasing: [String: SequenceNumber] = [:]
  /// Finished sales that were not reported to the store yet.
  private(set) var finishes: [SequenceNumber: String] = [:]
  /// The number of unfinished transactions and unreported finishes per sale, by the store's identifier.
  private var sales: [String: Int] = [:]
  /// The number of restored transactions per original sale, by the store's identifier.
  private var originals: [String: Int] = [:]
  private var next = SequenceNumber(value: 1)
  /// Numbers below this one can be assigned without a write to the storage.
  private var reserved = SequenceNumber(value: 0)

  /// The number of sequence numbers that are reserved at once. After a crash, the unused ones are never assigned.
  private static let reservation: Int64 = 1024

  init(storage: any RecordStorage) { self.storage = storage }

  /// The numbers of unfinished transactions, oldest first.
  var order: [SequenceNumber] { transactions.keys.sorted() }

  /// Returns `true` if a transaction has, or had, this number.
  func hasAssigned(_ number: SequenceNumber) -> Bool { number.value >= 1 && number < next }

  /// Returns `true` if a sale is known: its transaction is in the queue, or was finished and not reported yet.
  func contains(sale identifier: String) -> Bool { sales[identifier] != nil }

  /// Returns `true` if a purchase is already in the queue, restored and not finished.
  func hasRestored(original identifier: String) -> Bool { originals[identifier] != nil }

  func transaction(purchasing request: String) -> SequenceNumber? { purchasing[request] }

  // MARK: Changing

  /// Assigns numbers to new transactions, stores the changes, and then applies them in memory. Returns the new and
  /// changed transactions.
  mutating func commit(_ changes: LedgerChanges) throws(PaymentQueueError) -> [SequenceNumber] {
    guard !changes.isEmpty else { return [] }
    var records: [RecordChange] = []
    let last = next.value + Int64(changes.added.count)
    var reserved = reserved
    if last > reserved.value {
      reserved = SequenceNumber(value: min(last + Self.reservation, SequenceNumber.greatest.value))
      try PaymentQueueError.require(
        last <= reserved.value, .unsupported, at: "\(RecordCollection.queueTransactions)",
        "All numbers of transactions are used up.")
      records.append(
        .put(.queue, key: QueueRecord.key, value: QueueRecord(reserved: reserved.value).encodedJSON()))
    }
    var given = changes.outcomes.map {
      (number: $0.number, transaction: $0.transaction, request: String?.none)
    }
    for (offset, added) in changes.added.enumerated() {
      let number = SequenceNumber(value: next.value + Int64(offset))
      let transaction = PaymentTransaction(id: number.id, payment: added.payment, outcome: added.outcome)
      given.append((number, transaction, added.request))
    }
    for (number, transaction, request) in given {
      let record = TransactionRecord(transaction, request: request)
      records.append(.put(.queueTransactions, key: number.key, value: record.encodedJSON()))
      for (key, sale) in zip(number.receiptKeys, transaction.outcome.sales) {
        records.append(.put(.queueReceipts, key: key, value: sale.receipt))
      }
    }
    try PaymentQueueError.wrapping(try storage.commit(records))
    next = SequenceNumber(value: last)
    self.reserved = reserved
    for (number, transaction, request) in given { index(number, transaction, request) }
    return given.map(\.number)
  }

  /// Adds a transaction to memory, without receipts.
  private mutating func index(_ number: SequenceNumber, _ transaction: PaymentTransaction, _ request: String?)
  {
    var transaction = transaction
    transaction.outcome = transaction.outcome.withReceipts { _ in [] }
    transactions[number] = transaction
    if let answered = requests.removeValue(forKey: number) { purchasing[answered] = nil }
    switch transaction.outcome {
    case .purchasing:
      requests[number] = request
      if let request { purchasing[request] = number }
    case .failed: break
    case .purchased(let sale): sales.count(sale.transactionIdentifier)
    case .restored(let sale, let original):
      sales.count(sale.transactionIdentifier)
      originals.count(original.transactionIdentifier)
    }
  }

  /// Removes transactions, and records that their finishes must be reported to the store. `isKept` keeps sales and
  /// their receipts for a ``QueuePurchaseRecord``. Returns the transactions that were in the queue, oldest first and
  /// without receipts.
  mutating func finish(
    _ numbers: [SequenceNumber], isKept: Bool = false
  ) throws(PaymentQueueError) -> [(SequenceNumber, PaymentTransaction)] {
    let finished = Set(numbers).sorted().compactMap { number in transactions[number].map { (number, $0) } }
    guard !finished.isEmpty else { return [] }
    var changes: [RecordChange] = []
    for (number, transaction) in finished {
      changes.append(.remove(.queueTransactions, key: number.key))
      for (key, _) in zip(number.receiptKeys, transaction.outcome.sales).dropFirst(isKept ? 1 : 0) {
        changes.append(.remove(.queueReceipts, key: key))
      }
      guard let sale = transaction.storeTransaction else { continue }
      if isKept {
        let kept = PaymentTransaction(
          id: transaction.id, payment: transaction.payment, outcome: .purchased(sale))
        changes.append(
          .put(.queueKept, key: number.key, value: TransactionRecord(kept, request: nil).encodedJSON()))
      }
      changes.append(.put(.queueFinishes, key: number.key, value: Array(sale.transactionIdentifier.utf8)))
    }
    try PaymentQueueError.wrapping(try storage.commit(changes))
    for (number, transaction) in finished {
      transactions[number] = nil
      if case .restored(_, let original) = transaction.outcome {
        originals.discount(original.transactionIdentifier)
      }
      finishes[number] = transaction.transactionIdentifier
    }
    return finished
  }

  /// Removes a finish that was reported to the store. The next commit syncs the removal. If it is lost, the finish is
  /// reported again.
  mutating func forgetFinish(_ number: SequenceNumber) throws(PaymentQueueError) {
    guard let sale = finishes[number] else { return }
    try PaymentQueueError.wrapping(try storage.append([.remove(.queueFinishes, key: number.key)]))
    finishes[number] = nil
    sales.discount(sale)
  }
}

// MARK: Reading

extension TransactionLedger {
  /// Reads all stored records except the receipts.
  static func read(from storage: any RecordStorage) throws(PaymentQueueError) -> TransactionLedger {
    var ledger = TransactionLedger(storage: storage)
    let record = try QueueRecord.read(from: storage)
    ledger.reserved = SequenceNumber(value: record?.reserved ?? 0)
    // Numbers up to the reserved one may have been assigned and finished.
    ledger.next = SequenceNumber(value: max(1, ledger.reserved.value))
    // All are collected first, so that the tables get their final capacity. Growing them costs as much as reading.
    var found: [(SequenceNumber, PaymentTransaction, request: String?)] = []
    try ledger.forEach(in: .queueTransactions) { (_, number, stored) throws(PaymentQueueError) in
      let record = try TransactionRecord(stored)
      found.append((number, try record.transaction(number), record.request))
    }
    ledger.transactions.reserveCapacity(found.count)
    ledger.sales.reserveCapacity(found.count)
    for (number, transaction, request) in found { ledger.index(number, transaction, request) }
    try ledger.forEach(in: .queueFinishes) { (ledger, number, stored) throws(PaymentQueueError) in
      guard let sale = String(validating: stored.value, as: UTF8.self) else {
        throw PaymentQueueError(
          damage: "it is no text", at: "\(RecordCollection.queueFinishes) \(stored.key)")
      }
      ledger.finishes[number] = sale
      ledger.sales.count(sale)
    }
    return ledger
  }

  /// Reads the records of a collection whose keys are numbers of transactions.
  private mutating func forEach(
    in collection: RecordCollection,
    _ body: (inout TransactionLedger, SequenceNumber, StoredRecord) throws(PaymentQueueError) -> Void
  ) throws(PaymentQueueError) {
    try storage.forEachRecord(in: collection, limit: 10_000) {
      (record) throws(PaymentQueueError) in
      guard let number = SequenceNumber(key: record.key), hasAssigned(number) else {
        throw PaymentQueueError(
          damage: "no transaction can have this number", at: "\(collection) \(record.key)")
      }
      try body(&self, number, record)
    }
  }

  /// A transaction with its receipts; `nil` if it is not in the queue.
  func withReceipts(_ number: SequenceNumber) throws(PaymentQueueError) -> PaymentTransaction? {
    guard var transaction = transactions[number] else { return nil }
    transaction.outcome = try transaction.outcome.withReceipts { (index) throws(PaymentQueueError) in
      let key = number.receiptKeys[index]
      if let receipt = try PaymentQueueError.wrapping(try storage.value(of: key, in: .queueReceipts)) {
        return receipt
      }
      throw PaymentQueueError(
        .corrupt, at: "\(RecordCollection.queueReceipts) \(key)",
        "The receipt of this transaction is missing. Restore the records from a backup.")
    }
    return transaction
  }
}

extension PaymentTransaction.Outcome {
  /// The same outcome with other receipts, given by their index in ``sales``.
  fileprivate func withReceipts<Failure: Error>(
    _ receipt: (Int) throws(Failure) -> [UInt8]
  ) throws(Failure) -> PaymentTransaction.Outcome {
    switch self {
    case .purchasing, .failed: return self
    case .purchased(var sale):
      sale.receipt = try receipt(0)
      return .purchased(sale)
    case .restored(var sale, var original):
      sale.receipt = try receipt(0)
      original.receipt = try receipt(1)
      return .restored(sale, original: original)
    }
  }
}

extension [String: Int] {
  fileprivate mutating func count(_ key: String) { self[key, default: 0] += 1 }

  fileprivate mutating func discount(_ key: String) {
    guard let count = self[key] else { return }
    self[key] = count > 1 ? count - 1 : nil
  }
}

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
