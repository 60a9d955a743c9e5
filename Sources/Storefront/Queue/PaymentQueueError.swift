// SPDX-License-Identifier: Apache-2.0

public import ReceiptBytes

/// Why an operation of a queue failed. Nothing was changed, unless the code says otherwise.
public struct PaymentQueueError: PlacedError, Error, Sendable, Hashable, CustomStringConvertible {
  /// What kind of fault it is, in a word that stays stable.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The payment's quantity is less than 1.
    case invalidQuantity = "invalid-quantity"
    /// The payment has `requestData`, which is reserved.
    case requestDataReserved = "request-data-reserved"
    /// The payment's product is not among the registered identifiers.
    case unknownProduct = "unknown-product"
    /// The user may not authorise payments.
    case paymentsNotAllowed = "payments-not-allowed"
    /// The transaction cannot be finished: the store has not decided.
    case stillPurchasing = "still-purchasing"
    /// The queue never had such a transaction.
    case unknownTransaction = "unknown-transaction"
    /// The store did not answer. The queue tries again later.
    case storeUnavailable = "store-unavailable"
    /// The storage failed; ``PaymentQueueError/storageError`` says how. After `sync-failed` and `corrupt` the queue
    /// stops; open the storage and the queue again.
    case storage
    /// A record is damaged: restore the storage from a backup. The queue stops.
    case corrupt
    /// The records are of a later version: use the build that wrote them.
    case unsupported
    /// The queue was closed.
    case closed
  }

  /// The kind of fault.
  public let code: Code
  /// Where: a product, a transaction, a record.
  public let place: String
  /// What happened and what to do, on one line.
  public let message: String
  /// The storage's error, for ``Code/storage``.
  public let storageError: RecordStorageError?

  /// Creates an error.
  package init(_ code: Code, at place: String = "", _ message: String) {
    self.code = code
    self.place = place
    self.message = message
    storageError = nil
  }

  /// The code, the place and the message, on one line.
  public var description: String { line }

  /// A damaged record.
  init(damage: String, at place: String) {
    self.init(.corrupt, at: place, "A record is damaged: \(damage). Restore it from a backup.")
  }

  /// Wraps an error of the storage.
  package init(_ fault: RecordStorageError) {
    code = .storage
    place = fault.place
    message = "\(fault.code.rawValue): \(fault.message)"
    storageError = fault
  }

  /// Whether the queue must stop: memory may differ from the storage, or the storage cannot be read.
  var isFatal: Bool {
    switch (code, storageError?.code) {
    case (.storage, .full), (.storage, .busy), (.storage, .inputOutput): false
    case (.storage, _), (.corrupt, _), (.unsupported, _), (.closed, _): true
    default: false
    }
  }
}
