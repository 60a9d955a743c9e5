// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The transactions of a queue, in memory and stored. Each change is one commit; memory is updated after it.
///
/// Receipts are only in the storage, so that a hundred thousand unfinished transactions need some tens of megabytes and
/// are read in a second.
struct TransactionLedger {
  let storage: any RecordStorage
  /// The unfinished transactions, without receipts.
  private(set) var transactions: [SequenceNumber: PaymentTransaction] = [:]
  /// The request identifiers of payments in the state `purchasing`.
  private(set) var requests: [SequenceNumber: String] = [:]
  /// The inverse of `requests`.
  private var purchasing: [String: SequenceNumber] = [:]
  /// The number of unfinished transactions per sale, by the store's identifier.
  private var sales: [String: Int] = [:]
  /// The number of restored transactions per original sale, by the store's identifier.
  private var originals: [String: Int] = [:]
  /// Finished sales that were not reported to the store yet.
  private(set) var finishes: [SequenceNumber: String] = [:]
  private var finishing: [String: Int] = [:]
  /// The number of the next transaction.
  private var next = SequenceNumber(value: 1)
  /// Numbers below this one may be assigned without a write to the storage.
  private var reserved = SequenceNumber(value: 0)

  /// The number of sequence numbers that are reserved at once. A crash leaves unused ones unassigned for ever.
  private static let reservation: Int64 = 1024

  init(storage: any RecordStorage) { self.storage = storage }

  /// The numbers of unfinished transactions, oldest first.
  var order: [SequenceNumber] { transactions.keys.sorted() }

  /// Whether a transaction has, or had, this number.
  func hasAssigned(_ number: SequenceNumber) -> Bool { number.value >= 1 && number < next }

  /// Whether a sale is known: its transaction is in the queue, or was finished and not reported yet.
  func contains(sale identifier: String) -> Bool { sales[identifier] != nil || finishing[identifier] != nil }

  /// Whether a purchase is already in the queue, restored and not finished.
  func hasRestored(original identifier: String) -> Bool { originals[identifier] != nil }

  /// The transaction in the state `purchasing` that a request belongs to.
  func transaction(purchasing request: String) -> SequenceNumber? { purchasing[request] }

  // MARK: Changing

  /// Assigns numbers to new transactions, stores the changes, and then applies them in memory.
  ///
  /// - Returns: The transactions that are new or have changed.
  mutating func commit(_ changes: LedgerChanges) throws(PaymentQueueError) -> [SequenceNumber] {
    guard !changes.isEmpty else { return [] }
    var records: [RecordChange] = []
    let last = next.value + Int64(changes.added.count)
    var reserved = reserved
    if last > reserved.value {
      reserved = SequenceNumber(value: min(last + Self.reservation, SequenceNumber.greatest.value))
      guard last <= reserved.value else {
        throw PaymentQueueError(
          .unsupported, at: "\(RecordCollection.queueTransactions)",
          "All numbers of transactions are used up.")
      }
      records.append(
        .put(.queue, key: QueueRecord.key, value: QueueRecord(reserved: reserved.value).encodedJSON()))
    }
    var given = changes.outcomes
    for (offset, added) in changes.added.enumerated() {
      let number = SequenceNumber(value: next.value + Int64(offset))
      given.append((number, added.payment, added.outcome(as: number), added.request))
    }
    for (number, payment, outcome, request) in given {
      let transaction = PaymentTransaction(id: number.id, payment: payment, outcome: outcome)
      let record = TransactionRecord(transaction, request: request)
      records.append(.put(.queueTransactions, key: number.key, value: record.encodedJSON()))
      records += Self.receipts(of: outcome, number)
    }
    try storage.commitQueue(records)
    next = SequenceNumber(value: last)
    self.reserved = reserved
    for (number, payment, outcome, request) in given {
      index(number, payment, outcome.withoutReceipts, request)
    }
    return given.map { $0.0 }
  }

  private static func receipts(
    of outcome: PaymentTransaction.Outcome, _ number: SequenceNumber
  ) -> [RecordChange] {
    switch outcome {
    case .purchasing, .failed: return []
    case .purchased(let sale): return [.put(.queueReceipts, key: number.key, value: sale.receipt)]
    case .restored(let sale, let original):
      let receipt = original.storeTransaction?.receipt ?? []
      return [
        .put(.queueReceipts, key: number.key, value: sale.receipt),
        .put(.queueReceipts, key: number.originalKey, value: receipt),
      ]
    }
  }

  private mutating func index(
    _ number: SequenceNumber, _ payment: Payment, _ outcome: PaymentTransaction.Outcome, _ request: String?
  ) {
    transactions[number] = PaymentTransaction(id: number.id, payment: payment, outcome: outcome)
    if let answered = requests.removeValue(forKey: number) { purchasing[answered] = nil }
    switch outcome {
    case .purchasing:
      requests[number] = request
      if let request { purchasing[request] = number }
    case .failed: break
    case .purchased(let sale): sales.count(sale.transactionIdentifier)
    case .restored(let sale, let original):
      sales.count(sale.transactionIdentifier)
      if let identifier = original.transactionIdentifier { originals.count(identifier) }
    }
  }

  /// Removes transactions, and records that their finishes must be reported to the store.
  ///
  /// - Parameters:
  ///   - numbers: Which.
  ///   - isKept: Whether sales and their receipts are kept for a ``QueuePurchaseRecord``.
  /// - Returns: Those that were in the queue, oldest first and without receipts.
  /// - Throws: ``PaymentQueueError`` with `storage`; then nothing was changed.
  mutating func finish(
    _ numbers: [SequenceNumber], isKept: Bool = false
  ) throws(PaymentQueueError) -> [(SequenceNumber, PaymentTransaction)] {
    let finished = Set(numbers).sorted().compactMap { number in transactions[number].map { (number, $0) } }
    guard !finished.isEmpty else { return [] }
    var changes: [RecordChange] = []
    for (number, transaction) in finished {
      changes.append(.remove(.queueTransactions, key: number.key))
      if isKept, let sale = transaction.storeTransaction {
        let kept = PaymentTransaction(
          id: transaction.id, payment: transaction.payment, outcome: .purchased(sale))
        changes.append(
          .put(
            .queueKept, key: number.key, value: TransactionRecord(kept, request: nil).encodedJSON()))
      } else {
        changes.append(.remove(.queueReceipts, key: number.key))
      }
      if let sale = transaction.transactionIdentifier {
        changes.append(.put(.queueFinishes, key: number.key, value: Array(sale.utf8)))
      }
      if transaction.originalTransaction != nil {
        changes.append(.remove(.queueReceipts, key: number.originalKey))
      }
    }
    try storage.commitQueue(changes)
    for (number, transaction) in finished {
      transactions[number] = nil
      if let original = transaction.originalTransaction?.transactionIdentifier {
        originals.discount(original)
      }
      guard let sale = transaction.transactionIdentifier else { continue }
      sales.discount(sale)
      finishes[number] = sale
      finishing.count(sale)
    }
    return finished
  }

  /// Removes a finish that was reported to the store. The next commit syncs it: one that is lost is reported again.
  mutating func forgetFinish(_ number: SequenceNumber) throws(PaymentQueueError) {
    guard let sale = finishes[number] else { return }
    do { try storage.append([.remove(.queueFinishes, key: number.key)]) } catch {
      throw PaymentQueueError(error)
    }
    finishes[number] = nil
    finishing.discount(sale)
  }
}

// MARK: Reading

extension TransactionLedger {
  /// Reads all stored records but the receipts.
  static func read(from storage: any RecordStorage) throws(PaymentQueueError) -> TransactionLedger {
    var ledger = TransactionLedger(storage: storage)
    let record = try QueueRecord.read(from: storage)
    ledger.reserved = SequenceNumber(value: record?.reserved ?? 0)
    // Numbers up to the reserved one may have been assigned and finished.
    ledger.next = SequenceNumber(value: max(1, ledger.reserved.value))
    // Collects all first, to create the tables with their final capacity: growing them costs as much as reading.
    var found: [(SequenceNumber, PaymentTransaction, request: String?)] = []
    try ledger.forEach(in: .queueTransactions) { (_, number, stored) throws(PaymentQueueError) in
      let record = try TransactionRecord(stored)
      found.append((number, try record.transaction(number), record.request))
    }
    ledger.transactions.reserveCapacity(found.count)
    ledger.sales.reserveCapacity(found.count)
    for (number, transaction, request) in found {
      ledger.index(number, transaction.payment, transaction.outcome, request)
    }
    try ledger.forEach(in: .queueFinishes) { (ledger, number, stored) throws(PaymentQueueError) in
      guard let sale = String(validating: stored.value, as: UTF8.self) else {
        throw PaymentQueueError(
          damage: "it is no text", at: "\(RecordCollection.queueFinishes) \(stored.key)")
      }
      ledger.finishes[number] = sale
      ledger.finishing.count(sale)
    }
    return ledger
  }

  /// Reads the records of a collection whose keys are numbers of transactions.
  private mutating func forEach(
    in collection: RecordCollection,
    _ body: (inout TransactionLedger, SequenceNumber, StoredRecord) throws(PaymentQueueError) -> Void
  ) throws(PaymentQueueError) {
    try storage.forEachRecord(in: collection, limit: 10_000, wrapping: { PaymentQueueError($0) }) {
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
    guard let transaction = transactions[number] else { return nil }
    switch transaction.outcome {
    case .purchasing, .failed: return transaction
    case .purchased(var sale):
      sale.receipt = try receipt(number.key)
      return PaymentTransaction(id: transaction.id, payment: transaction.payment, outcome: .purchased(sale))
    case .restored(var sale, let original):
      sale.receipt = try receipt(number.key)
      guard var earlier = original.storeTransaction else { return transaction }
      earlier.receipt = try receipt(number.originalKey)
      let whole = PaymentTransaction(
        id: original.id, payment: original.payment, outcome: .purchased(earlier))
      return PaymentTransaction(
        id: transaction.id, payment: transaction.payment, outcome: .restored(sale, original: whole))
    }
  }

  private func receipt(_ key: String) throws(PaymentQueueError) -> [UInt8] {
    guard let receipt = try storage.queueValue(of: key, in: .queueReceipts) else {
      throw PaymentQueueError(
        .corrupt, at: "\(RecordCollection.queueReceipts) \(key)",
        "The receipt of this transaction is missing. Restore the records from a backup.")
    }
    return receipt
  }
}

extension [String: Int] {
  fileprivate mutating func count(_ key: String) { self[key, default: 0] += 1 }

  fileprivate mutating func discount(_ key: String) {
    guard let count = self[key] else { return }
    self[key] = count > 1 ? count - 1 : nil
  }
}
