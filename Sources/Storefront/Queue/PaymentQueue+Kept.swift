// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// What finished transactions leave to a ``QueuePurchaseRecord``, until it has verified their receipts.
extension PaymentQueue {
  /// Keeps purchased and restored transactions with their receipts when they are finished.
  nonisolated func keepPurchases() { keepsPurchases.withLock { $0 = true } }

  nonisolated var isKeepingPurchases: Bool { keepsPurchases.withLock { $0 } }

  /// Transactions that are kept, oldest first, with their receipts.
  nonisolated func kept(
    after id: PaymentTransaction.ID?, limit: Int
  ) throws(PaymentQueueError) -> [PaymentTransaction] {
    let page: [StoredRecord]
    do { page = try storage.records(in: .queueKept, after: id?.rawValue, limit: limit) } catch {
      throw PaymentQueueError(error)
    }
    var found: [PaymentTransaction] = []
    for stored in page {
      guard let number = SequenceNumber(key: stored.key) else {
        throw RecordFault.error("its key is no number", at: "\(RecordCollection.queueKept) \(stored.key)")
      }
      let transaction = try TransactionRecord(stored).transaction(number)
      let receipt: [UInt8]?
      do { receipt = try storage.value(of: number.key, in: .queueReceipts) } catch {
        throw PaymentQueueError(error)
      }
      guard case .purchased(var sale) = transaction.outcome, let receipt else {
        throw RecordFault.error("it has no receipt", at: "\(RecordCollection.queueKept) \(stored.key)")
      }
      sale.receipt = receipt
      found.append(
        PaymentTransaction(id: transaction.id, payment: transaction.payment, outcome: .purchased(sale)))
    }
    return found
  }

  /// Removes a transaction that was kept.
  static func forgetKept(_ id: PaymentTransaction.ID) -> [RecordChange] {
    [.remove(.queueKept, key: id.rawValue), .remove(.queueReceipts, key: id.rawValue)]
  }
}
