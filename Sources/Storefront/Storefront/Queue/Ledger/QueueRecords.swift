// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension JSONRecord {
  /// Reads a record of a queue. If it is `corrupt`, the error has the JSON path.
  init(record value: [UInt8], at place: @autoclosure () -> String) throws(PaymentQueueError) {
    // Our own records need no limits.
    let limits = ReceiptLimits(maximumByteCount: .max, maximumDepth: 32, maximumElementCount: .max)
    do { try self.init(json: value, part: "record", limits: limits) } catch {
      throw PaymentQueueError(damage: error.description, at: place())
    }
  }
}

extension QueueRecord {
  static let key = "queue"
  /// The version of the records. Version 1 has other names for the members of a sale.
  static let presentVersion: Int64 = 2

  /// Reads the record; `nil` if the storage is empty.
  static func read(from storage: any RecordStorage) throws(PaymentQueueError) -> QueueRecord? {
    guard let value = try PaymentQueueError.wrapping(try storage.value(of: key, in: .queue)) else {
      return nil
    }
    let place = "\(RecordCollection.queue) \(key)"
    let record = try QueueRecord(record: value, at: place)
    guard record.version == presentVersion else {
      let build = record.version < presentVersion ? "an older" : "a later"
      throw PaymentQueueError(
        .unsupported, at: place,
        "The records were written by \(build) build: they are of version \(record.version), this build reads version "
          + "\(presentVersion). Nothing was changed: finish the transactions with the build that wrote them.")
    }
    guard (0...SequenceNumber.greatest.value).contains(record.reserved) else {
      throw PaymentQueueError(damage: "$.reserved is no number of a transaction", at: place)
    }
    return record
  }
}

/// ```json
/// {"state":"purchased","payment":{"productIdentifier":"coins","quantity":1},
///  "sale":{"transactionIdentifier":"2000000001","originalTransactionIdentifier":"2000000001",
///  "transactionDate":1760000000000,"payment":{…},"requestIdentifier":"5F0C…","receipt":""}}
/// ```
extension TransactionRecord {
  init(_ transaction: PaymentTransaction, request: String?) {
    let payment = transaction.payment
    switch transaction.outcome {
    case .purchasing: self.init(state: "purchasing", payment: payment, request: request)
    case .failed(let error): self.init(state: "failed", payment: payment, error: error)
    case .purchased(let sale): self.init(state: "purchased", payment: payment, sale: Self.storable(sale))
    case .restored(let sale, let original):
      self.init(
        state: "restored", payment: payment, sale: Self.storable(sale), original: Self.storable(original))
    }
  }

  /// The sale without its receipt, which is stored separately and read only for delivery. A date that cannot be
  /// represented is clamped, because the sale must not be lost.
  private static func storable(_ sale: StoreTransaction) -> StoreTransaction {
    let time = sale.transactionDate.millisecondsSince1970
    let limit = Timestamp.greatestMagnitude
    return sale.with {
      $0.receipt = []
      $0.transactionDate = Timestamp(millisecondsSince1970: time.isNaN ? 0 : min(max(time, -limit), limit))
    }
  }

  init(_ stored: StoredRecord) throws(PaymentQueueError) {
    try self.init(record: stored.value, at: "\(RecordCollection.queueTransactions) \(stored.key)")
  }

  func transaction(_ number: SequenceNumber) throws(PaymentQueueError) -> PaymentTransaction {
    let outcome: PaymentTransaction.Outcome
    switch (state, sale, error, original) {
    case ("purchasing", nil, nil, nil) where request != nil: outcome = .purchasing
    case ("purchased", let sale?, nil, nil): outcome = .purchased(sale)
    case ("failed", nil, let error?, nil): outcome = .failed(error)
    case ("restored", let sale?, nil, let original?): outcome = .restored(sale, original: original)
    default:
      throw PaymentQueueError(
        damage: "$.state is \"\(state)\", and what belongs to that is not there",
        at: "\(RecordCollection.queueTransactions) \(number.key)")
    }
    return PaymentTransaction(id: number.id, payment: payment, outcome: outcome)
  }
}

/// The number of a transaction in its queue. Numbers are never reused, so finishing a transaction twice cannot finish
/// another one.
struct SequenceNumber: Sendable, Hashable, Comparable {
  let value: Int64

  /// The number of digits. Keys of equal length sort by number, and Swift stores strings of up to 15 bytes without an
  /// allocation.
  private static let digits = 15
  static let greatest = SequenceNumber(value: 999_999_999_999_999)

  init(value: Int64) { self.value = value }

  init?(key: String) {
    guard key.utf8.count == Self.digits, key.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let value = Int64(key)
    else { return nil }
    self.value = value
  }

  var key: String { StoreKey.number(value, digits: Self.digits) }
  /// The keys of the receipts of its sale and of the original.
  var receiptKeys: [String] { [key, "\(key)-original"] }

  var id: PaymentTransaction.ID { PaymentTransaction.ID(rawValue: key) }

  static func < (left: SequenceNumber, right: SequenceNumber) -> Bool { left.value < right.value }
}
