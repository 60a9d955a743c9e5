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
  /// The receipts as they were issued, packed, by transaction. An import has none.
  static let storeReceipts = RecordCollection(rawValue: "store-receipts")
  /// The texts that packed ones have in common, by number.
  static let storeTexts = RecordCollection(rawValue: "store-texts")
  /// The transactions of each account.
  static let storeAccounts = RecordCollection(rawValue: "store-accounts")
  /// The unfinished transactions of each account.
  static let storeUnfinished = RecordCollection(rawValue: "store-unfinished")
  /// The transactions of each one-time purchase besides the first: repurchases, restorations and shares.
  static let storeLines = RecordCollection(rawValue: "store-lines")
  /// The non-consumables that each account owns.
  static let storeOwned = RecordCollection(rawValue: "store-owned")
  /// Restorations, by account and request.
  static let storeRestorations = RecordCollection(rawValue: "store-restorations")
  /// Subscriptions, by original transaction.
  static let storeSubscriptions = RecordCollection(rawValue: "store-subscriptions")
  /// The subscriptions of each account.
  static let storeSubscribers = RecordCollection(rawValue: "store-subscribers")
  /// The subscriptions that have something due, by date and original transaction.
  static let storeDue = RecordCollection(rawValue: "store-due")
  /// The family of each account that has one.
  static let storeFamilies = RecordCollection(rawValue: "store-families")
  /// The accounts whose charges fail.
  static let storeDeclined = RecordCollection(rawValue: "store-declined")
  /// Redeemed nonces of promotional offers, with the date from which they may be forgotten.
  static let storeNonces = RecordCollection(rawValue: "store-nonces")
  /// Notifications, by number, with the signed text packed.
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
      .storeHeader, .storeRequests, .storePending, .storeSales, .storeReceipts, .storeTexts, .storeAccounts,
      .storeUnfinished, .storeLines, .storeOwned, .storeRestorations, .storeSubscriptions, .storeSubscribers,
      .storeDue, .storeFamilies, .storeDeclined, .storeNonces, .storeOutbox, .storeOutboxDates,
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

  /// Sorts by date, in milliseconds from 1970 on, and then by subscription.
  static func due(_ date: Timestamp, _ subscription: String) -> String {
    joined(number(Int64(max(0, date.wholeMilliseconds))), subscription)
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

extension StoreHeader {
  static let key = "store"
  /// The version of the records' format.
  static let currentVersion: Int64 = 3
}

extension StoreSaleRecord {
  package var identifier: String { transaction.transactionId ?? "" }
  package var originalIdentifier: String { transaction.originalTransactionId ?? "" }
}

extension SignedNotification: Identifiable {
  /// ``number``.
  public var id: Int64 { number }

  /// The record in the outbox: JSON, a zero byte, and the packed text. `receipt` is kept with the transaction.
  func record(_ texts: inout SharedTexts, receipt: String? = nil) -> [UInt8] {
    var fields = self
    fields.signedPayload = ""
    return fields.encodedJSON() + [0] + PackedText.pack(signedPayload, &texts, known: receipt)
  }
}
