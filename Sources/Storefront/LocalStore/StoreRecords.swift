// SPDX-License-Identifier: Apache-2.0

internal import ReceiptCodec

extension RecordCollection {
  /// What is not of one account: one record, `store`, and how many notifications were delivered.
  static let storeHeader = RecordCollection(rawValue: "store-header")
  /// What was answered to a payment, by account and request.
  static let storeRequests = RecordCollection(rawValue: "store-requests")
  /// Payments that wait for an approval, by account and request.
  static let storePending = RecordCollection(rawValue: "store-pending")
  /// Every transaction, by its identifier.
  static let storeSales = RecordCollection(rawValue: "store-sales")
  /// Which transactions are an account's.
  static let storeAccounts = RecordCollection(rawValue: "store-accounts")
  /// Which of them are not finished.
  static let storeUnfinished = RecordCollection(rawValue: "store-unfinished")
  /// Which transactions belong to one that was bought once: restorations, repurchases, those of the family.
  static let storeLines = RecordCollection(rawValue: "store-lines")
  /// Which non-consumables an account owns.
  static let storeOwned = RecordCollection(rawValue: "store-owned")
  /// Restorations, by account and request.
  static let storeRestorations = RecordCollection(rawValue: "store-restorations")
  /// Subscriptions, by original transaction.
  static let storeSubscriptions = RecordCollection(rawValue: "store-subscriptions")
  /// Nonces of promotional offers, and until when they could be used again.
  static let storeNonces = RecordCollection(rawValue: "store-nonces")
  /// Notifications, by number.
  static let storeOutbox = RecordCollection(rawValue: "store-outbox")
}

/// Keys of several parts.
enum StoreKey {
  /// The parts with a slash between; whatever is not a letter, digit, hyphen, dot or underscore is escaped, so that no
  /// part can pass for two.
  static func joined(_ parts: String...) -> String { parts.map { escaped($0) }.joined(separator: "/") }

  /// What all keys with these first parts begin with.
  static func prefix(_ part: String) -> String { escaped(part) + "/" }

  /// 16 digits, so that keys sort as the numbers do.
  static func number(_ number: Int64) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 16 - digits.utf8.count)) + digits
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
  /// Of the records' format.
  static let currentVersion: Int64 = 1

  var version = currentVersion
  /// In decimal: a JSON number would not hold it everywhere.
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

/// A transaction and what became of it.
struct StoreSaleRecord: JSONObject, Sendable {
  var account = ""
  var payment = PaymentRecord()
  /// The request that it answers; absent for what the store began by itself.
  var requestIdentifier: String?
  /// As it is now: revoked, for example.
  var transaction = JWSTransaction()
  /// As it was issued, byte for byte.
  var receipt = ""
  var isFinished = false
  /// A finished purchase that was given again.
  var isRestoration = false
  /// The other member's transaction that is shared with this account.
  var sharedFrom: String?
  var unknownFields: [JSONMember] = []

  var identifier: String { transaction.transactionId ?? "" }
  var originalIdentifier: String { transaction.originalTransactionId ?? "" }

  enum Field: String, CaseIterable {
    case account, payment, requestIdentifier, transaction, receipt, isFinished, isRestoration, sharedFrom
  }
  static let fieldNames = JSONFieldNames<Field>(required: [.account, .payment, .transaction, .receipt])
  mutating func code(_ field: Field, with coder: inout some JSONFieldCoder) throws(MalformedReceipt) {
    switch field {
    case .account: try coder.code(&account)
    case .payment: try coder.code(&payment)
    case .requestIdentifier: try coder.code(&requestIdentifier)
    case .transaction: try coder.code(&transaction)
    case .receipt: try coder.code(&receipt)
    case .isFinished: try coder.code(&isFinished)
    case .isRestoration: try coder.code(&isRestoration)
    case .sharedFrom: try coder.code(&sharedFrom)
    }
  }
}

/// What was answered to a payment.
struct StoreRequestRecord: JSONObject, Sendable, Hashable {
  /// If it was sold.
  var transactionIdentifier: String?
  /// If it was not.
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

/// A payment that waits for an approval.
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

/// Which purchases a restoration gives again, and the transactions that were made for them so far.
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
