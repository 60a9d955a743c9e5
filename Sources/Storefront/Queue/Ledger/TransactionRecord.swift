// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

/// The stored form of a transaction, without receipts.
///
/// ```json
/// {"state":"purchased","payment":{"productIdentifier":"coins","quantity":1},
///  "sale":{"transaction":"2000000001","original":"2000000001","date":1760000000000,"request":"5F0C…"}}
/// ```
struct TransactionRecord: JSONObject {
  var state = ""
  var payment = PaymentRecord()
  /// The request identifier, in the state `purchasing`.
  var request: String?
  /// The sale, in the states `purchased` and `restored`.
  var sale: SaleRecord?
  /// The code and message, in the state `failed`.
  var errorCode: Int64?
  var errorMessage: String?
  /// The original sale with its payment, in the state `restored`.
  var originalSale: SaleRecord?
  var originalPayment: PaymentRecord?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable {
    case state, payment, request, sale, errorCode, errorMessage, originalSale, originalPayment
  }

  static let fieldNames = JSONFieldNames<Field>(required: [.state, .payment])

  init() {}

  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .state: try coder.code(&state)
    case .payment: try coder.code(&payment)
    case .request: try coder.code(&request)
    case .sale: try coder.code(&sale)
    case .errorCode: try coder.code(&errorCode)
    case .errorMessage: try coder.code(&errorMessage)
    case .originalSale: try coder.code(&originalSale)
    case .originalPayment: try coder.code(&originalPayment)
    }
  }
}

extension TransactionRecord {
  init(_ transaction: PaymentTransaction, request: String?) {
    payment = PaymentRecord(transaction.payment)
    switch transaction.outcome {
    case .purchasing:
      state = "purchasing"
      self.request = request
    case .purchased(let sold):
      state = "purchased"
      sale = SaleRecord(sold, of: transaction.payment)
    case .failed(let error):
      state = "failed"
      errorCode = Int64(error.code.rawValue)
      errorMessage = error.message
    case .restored(let sold, let original):
      state = "restored"
      sale = SaleRecord(sold, of: transaction.payment)
      originalPayment = PaymentRecord(original.payment)
      originalSale = original.storeTransaction.map { SaleRecord($0, of: original.payment) }
    }
  }

  /// Reads a record.
  ///
  /// - Throws: ``PaymentQueueError`` with `corrupt` and the JSON path.
  init(_ stored: StoredRecord) throws(PaymentQueueError) {
    // Our own records need no limits.
    let limits = ReceiptLimits(maximumByteCount: .max, maximumDepth: 32, maximumElementCount: .max)
    do {
      try self.init(json: stored.value, part: "record", limits: limits)
    } catch {
      throw RecordFault.error(error.description, at: "\(RecordCollection.queueTransactions) \(stored.key)")
    }
  }

  /// The place of an error; only formatted if there is one.
  private static func place(_ sequence: SequenceNumber) -> String {
    "\(RecordCollection.queueTransactions) \(sequence.key)"
  }

  func transaction(_ sequence: SequenceNumber) throws(PaymentQueueError) -> PaymentTransaction {
    let payment = try payment.payment(of: Self.place(sequence))
    return PaymentTransaction(
      id: sequence.id, payment: payment, outcome: try outcome(sequence, of: payment))
  }

  private func outcome(
    _ sequence: SequenceNumber, of payment: Payment
  ) throws(PaymentQueueError) -> PaymentTransaction.Outcome {
    switch (state, sale) {
    case ("purchasing", nil) where request != nil: return .purchasing
    case ("purchased", let sale?): return .purchased(try sale.sale(of: payment, at: Self.place(sequence)))
    case ("failed", nil):
      guard let code = errorCode.flatMap({ Int(exactly: $0) }), let errorMessage else { break }
      return .failed(StoreError(StoreError.Code(rawValue: code), errorMessage))
    case ("restored", let sale?):
      guard let originalSale, let originalPayment else { break }
      let earlier = try originalPayment.payment(of: Self.place(sequence))
      let original = PaymentTransaction(
        id: sequence.originalID, payment: earlier,
        outcome: .purchased(try originalSale.sale(of: earlier, at: Self.place(sequence))))
      return .restored(try sale.sale(of: payment, at: Self.place(sequence)), original: original)
    default: break
    }
    throw RecordFault.error(
      "$.state is \"\(state)\", and what belongs to that is not there", at: Self.place(sequence))
  }
}

/// The collections of a queue.
extension RecordCollection {
  /// A ``TransactionRecord`` for each unfinished transaction, by number.
  static let queueTransactions = RecordCollection(rawValue: "queue-transactions")
  /// The receipts of those that have one, and of their originals.
  static let queueReceipts = RecordCollection(rawValue: "queue-receipts")
  /// The store's identifiers of finished sales that were not reported yet, by number.
  static let queueFinishes = RecordCollection(rawValue: "queue-finishes")
  /// A ``TransactionRecord`` in the state `purchased` for each finished sale whose receipt, still among the receipts, a
  /// ``QueuePurchaseRecord`` has to verify.
  static let queueKept = RecordCollection(rawValue: "queue-kept")
  /// One ``QueueRecord``.
  static let queue = RecordCollection(rawValue: "queue")
}

extension RecordCollection: CustomStringConvertible {
  /// The name.
  public var description: String { rawValue }
}
