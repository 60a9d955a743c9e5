// SPDX-License-Identifier: Apache-2.0

package import ReceiptCodec

extension RecordCollection {
  /// State of the whole store: one record, `store`, and the number of delivered notifications.
  static let storeHeader = RecordCollection(rawValue: "store-header")
  /// The answers to payments, by account and request.
  static let storeRequests = RecordCollection(rawValue: "store-requests")
  /// Payments that are waiting for approval, by account and request.
  static let storePending = RecordCollection(rawValue: "store-pending")
  /// Every transaction, by its identifier.
  static let storeSales = RecordCollection(rawValue: "store-sales")
  /// The transactions of each account.
  static let storeAccounts = RecordCollection(rawValue: "store-accounts")
  /// The unfinished transactions of each account.
  static let storeUnfinished = RecordCollection(rawValue: "store-unfinished")
  /// The transactions of each one-time purchase: repurchases, restorations and shares.
  static let storeLines = RecordCollection(rawValue: "store-lines")
  /// The non-consumables that each account owns.
  static let storeOwned = RecordCollection(rawValue: "store-owned")
  /// Restorations, by account and request.
  static let storeRestorations = RecordCollection(rawValue: "store-restorations")
  /// Subscriptions, by original transaction.
  static let storeSubscriptions = RecordCollection(rawValue: "store-subscriptions")
  /// Redeemed nonces of promotional offers, with the date from which they may be forgotten.
  static let storeNonces = RecordCollection(rawValue: "store-nonces")
  /// Notifications, by number.
  static let storeOutbox = RecordCollection(rawValue: "store-outbox")
  /// The numbers of notifications, by the date of their signature and number.
  static let storeOutboxDates = RecordCollection(rawValue: "store-outbox-dates")
  /// The attempts to send notifications, by number.
  static let storeDeliveries = RecordCollection(rawValue: "store-deliveries")
  /// The notifications to be sent, by the date of the next attempt and number.
  static let storeDueDeliveries = RecordCollection(rawValue: "store-due-deliveries")
  /// The transactions of each account, in the order of their last modification.
  static let storeHistory = RecordCollection(rawValue: "store-history")
  /// The accounts by other names: identifiers of app transactions, and those that an import brings.
  static let storeNames = RecordCollection(rawValue: "store-names")
  /// The app transaction of each account.
  static let storeAppTransactions = RecordCollection(rawValue: "store-app-transactions")
  /// The transactions of imported orders.
  static let storeOrders = RecordCollection(rawValue: "store-orders")
  /// The consumption information that the developer sent, by transaction and number.
  static let storeConsumption = RecordCollection(rawValue: "store-consumption")

  /// All collections of a store.
  static let ofStore: [RecordCollection] =
    [
      .storeHeader, .storeRequests, .storePending, .storeSales, .storeAccounts, .storeUnfinished, .storeLines,
      .storeOwned, .storeRestorations, .storeSubscriptions, .storeNonces, .storeOutbox, .storeOutboxDates,
      .storeDeliveries, .storeDueDeliveries, .storeHistory, .storeNames, .storeAppTransactions, .storeOrders,
      .storeConsumption,
    ] + ofPlay
}

/// Compound keys.
package enum StoreKey {
  /// The parts, separated by slashes. Everything but letters, digits, hyphens, dots and underscores is escaped, so that
  /// different parts never give the same key.
  package static func joined(_ parts: String...) -> String {
    parts.map { escaped($0) }.joined(separator: "/")
  }

  /// The prefix of all keys with this first part.
  package static func prefix(_ part: String) -> String { escaped(part) + "/" }

  /// 16 digits, so that keys sort by number.
  package static func number(_ number: Int64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 16 - digits.utf8.count)) + digits
  }

  /// Sorts by date, in milliseconds, and then by number.
  package static func dated(_ date: Timestamp, _ number: Int64) -> String {
    joined(Self.number(Int64(date.wholeMilliseconds)), Self.number(number))
  }

  private static func escaped(_ part: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(part.utf8.count)
    for byte in part.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
        text.append(byte)
      default: text += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}

/// The one record of a whole store.
struct StoreHeader: JSONObject, Sendable, Hashable {
  static let key = "store"
  /// The version of the records' format.
  static let currentVersion: Int64 = 2

  var version = currentVersion
  /// In decimal: a JSON number cannot represent every 64-bit integer exactly.
  var seed = ""
  var ledger = EngineLedger()
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case version, seed, ledger }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .version: try coder.code(&version)
    case .seed: try coder.code(&seed)
    case .ledger: try coder.code(&ledger)
    }
  }
}

/// A transaction and its current state.
package struct StoreSaleRecord: JSONObject, Sendable {
  package var account = ""
  var payment = PaymentRecord()
  /// The request that it answers; absent for transactions without a request, such as renewals.
  var requestIdentifier: String?
  /// Its current state, such as revoked.
  package var transaction = JWSTransaction()
  /// The receipt exactly as issued; empty for an import that nobody asked for yet.
  var receipt = ""
  package var isFinished = false
  /// Whether it restores an earlier purchase.
  var isRestoration = false
  /// The family member's transaction that it is shared from.
  var sharedFrom: String?
  /// The place in the history of the account; 0 for a transaction that is not in it.
  package var modification: Int64 = 0
  package var unknownFields: [JSONMember] = []

  package init() {}

  package var identifier: String { transaction.transactionId ?? "" }
  package var originalIdentifier: String { transaction.originalTransactionId ?? "" }

  package enum Field: String, CaseIterable {
    case account, payment, requestIdentifier, transaction, receipt, isFinished, isRestoration, sharedFrom,
      modification
  }
  package static let fieldNames = JSONFieldNames<Field>(
    required: [.account, .payment, .transaction, .receipt])
  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .account: try coder.code(&account)
    case .payment: try coder.code(&payment)
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .transaction: try coder.code(&transaction)
    case .receipt: try coder.code(&receipt)
    case .isFinished: try coder.code(&isFinished)
    case .isRestoration: try coder.code(&isRestoration)
    case .sharedFrom: try coder.code(&sharedFrom)
    case .modification: try coder.code(&modification)
    }
  }
}

/// The attempts to send a notification to the developer's server.
package struct DeliveryRecord: JSONObject, Sendable, Hashable {
  /// One attempt.
  package struct Attempt: JSONObject, Sendable, Hashable {
    package var attemptDate = Timestamp(millisecondsSince1970: 0)
    /// Apple's `sendAttemptResult`, such as `SUCCESS`.
    package var sendAttemptResult = ""
    package var unknownFields: [JSONMember] = []

    package init() {}

    package enum Field: String, CaseIterable { case attemptDate, sendAttemptResult }
    package static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)
    package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt)
    {
      switch field {
      case .attemptDate: try coder.code(&attemptDate)
      case .sendAttemptResult: try coder.code(&sendAttemptResult)
      }
    }
  }

  /// In order.
  package var attempts: [Attempt] = []
  /// When it is sent next, if it is.
  package var nextAttempt: Timestamp?
  package var unknownFields: [JSONMember] = []

  package init() {}

  package enum Field: String, CaseIterable { case attempts, nextAttempt }
  package static let fieldNames = JSONFieldNames<Field>(required: [.attempts])
  package mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .attempts: try coder.code(&attempts)
    case .nextAttempt: try coder.code(&nextAttempt)
    }
  }
}

/// What was answered to a payment.
struct StoreRequestRecord: JSONObject, Sendable, Hashable {
  /// The transaction, if the product was sold.
  var transactionIdentifier: String?
  /// The error, if it was not.
  var errorCode: Int64?
  var errorMessage: String?
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case transactionIdentifier, errorCode, errorMessage }
  static let fieldNames = JSONFieldNames<Field>()
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .transactionIdentifier: try coder.code(&transactionIdentifier)
    case .errorCode: try coder.code(&errorCode)
    case .errorMessage: try coder.code(&errorMessage)
    }
  }
}

/// A payment that is waiting for approval.
struct StorePendingRecord: JSONObject, Sendable {
  var account = ""
  var requestIdentifier = ""
  var payment = PaymentRecord()
  var date = Timestamp(millisecondsSince1970: 0)
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case account, requestIdentifier, payment, date }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .account: try coder.code(&account)
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .payment: try coder.code(&payment)
    case .date: try coder.code(&date)
    }
  }
}

/// The purchases that a restoration covers, and the transactions that were created for them so far.
struct StoreRestorationRecord: JSONObject, Sendable, Hashable {
  var originals: [String] = []
  var made: [String] = []
  var unknownFields: [JSONMember] = []

  enum Field: String, CaseIterable { case originals, made }
  static let fieldNames = JSONFieldNames<Field>(required: Field.allCases)
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .originals: try coder.code(&originals)
    case .made: try coder.code(&made)
    }
  }
}
